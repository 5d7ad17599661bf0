"""The table room: any frame or file as coded batches, and back; the only room that knows their kinds.

May touch: plan and everything below it, narwhals, files; pyarrow only where Parquet is read or written.
"""
