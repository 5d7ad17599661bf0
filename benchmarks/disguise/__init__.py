"""Disguising: single values and joint records, transactions, and a stream larger than memory."""

from benchmarks.disguise import stream, transactions, values
from benchmarks.measure import Row


def rows() -> list[Row]:
    """All of it, in one run."""
    return [*values.rows(), *transactions.rows(), *stream.rows()]
