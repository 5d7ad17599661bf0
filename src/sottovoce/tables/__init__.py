"""Read frames and files as coded batches, and write reports; the only room that knows kinds of frames and files.

This room may import from plans and every room below it, and uses narwhals; pyarrow only where Arrow data are read or
written.
"""
