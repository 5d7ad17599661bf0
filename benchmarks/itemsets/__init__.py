"""Frequent itemsets: from sparse input to result on disguised and original data, beside peers, and from a file."""

from benchmarks.itemsets import accuracy, intervals, peers, picked, speed, stream
from benchmarks.measure import Row


def rows() -> list[Row]:
    """All of it, in one run."""
    return [*speed.rows(), *peers.rows(), *stream.rows(), *accuracy.rows(), *intervals.rows(), *picked.rows()]
