"""Past one machine: counts by every back end, the face beside the kernels, and itemsets by Spark."""

from collections.abc import Iterator

from benchmarks.measure import Row
from benchmarks.scale import counts, face, spark, units


def rows() -> Iterator[Row]:
    """Rows of every part."""
    yield from face.rows()
    yield from counts.rows()
    yield from spark.rows()
    yield from units.rows()
