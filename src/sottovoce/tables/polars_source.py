"""Polars LazyFrames: counted by their own group-by, and read in batches by the streaming engine."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sottovoce.errors import SottovoceError, Words, check_installed
from sottovoce.tables.arrow_source import MOST_GROUPS, ArrowSource, GroupedSource, different_names
from sottovoce.tables.source import TIMES
from sottovoce.tables.values import pyarrow


class LazyFrameSource(ArrowSource):
    """A Polars LazyFrame, which is never collected as a whole.

    Its rows need not come in the same order twice: that depends on the query.
    """

    rows = None
    ordered = False

    def __init__(self, frame: Any) -> None:
        """Ask for the types of the columns."""
        check_installed("a Polars LazyFrame", "polars", "pyarrow")
        self._frame = frame
        with _polars_errors():
            self._kinds = frame.collect_schema()
        self.types = pyarrow().schema([(name, _arrow_type(name, kind)) for name, kind in self._kinds.items()])
        self.names = different_names("table", self.types.names)

    def record_batches(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Run the query, a batch at a time."""
        with _polars_errors():
            columns = self._columns(names)
            for frame in columns.collect_batches(chunk_size=rows, maintain_order=True, engine="streaming"):
                yield from frame.to_arrow().combine_chunks().to_batches(max_chunksize=rows)

    def grouped(self, names: Sequence[str]) -> GroupedSource | None:
        """Group by these columns, unless they hold lists or there are too many combinations."""
        if not self.is_flat(names):
            return None
        with _polars_errors():
            groups = self._columns(names).group_by(self._exactly(names)).len(name=TIMES).head(MOST_GROUPS + 1)
            table = groups.collect(engine="streaming").to_arrow()
        return None if len(table) > MOST_GROUPS else GroupedSource(table)

    def count_rows(self) -> int:
        """Let Polars count."""
        import polars

        with _polars_errors():
            return int(self._frame.select(polars.len()).collect(engine="streaming").item())

    def declared(self, name: str) -> tuple[str, ...] | None:
        """Categories of an Enum."""
        kind = self._kinds[name]
        return tuple(kind.categories) if hasattr(kind, "categories") and type(kind).__name__ == "Enum" else None

    def _columns(self, names: Sequence[str]) -> Any:
        return self._frame.select(self._exactly(names))

    def _exactly(self, names: Sequence[str]) -> Any:
        """Columns with these names: as plain text, some would be taken for patterns."""
        import polars.selectors

        return polars.selectors.by_name(*names)


def _arrow_type(name: str, kind: Any) -> Any:
    """Arrow type of a column; raise for one that Arrow does not have, such as 128-bit integers."""
    import polars

    try:
        return polars.DataFrame(schema={name: kind}).to_arrow().schema.field(0).type
    except pyarrow().ArrowInvalid:
        rule = f"must have columns of types that Arrow has; cast or drop {name!r}"
        raise SottovoceError("table", rule, Words(str(kind))) from None


@contextmanager
def _polars_errors() -> Iterator[None]:
    """Turn what Polars says about a query that fails into an error of the table."""
    import polars

    try:
        yield
    except polars.exceptions.PolarsError as reason:
        message = next(iter(str(reason).splitlines()), type(reason).__name__)
        rule = f"must be a LazyFrame that Polars can collect ({message})"
        raise SottovoceError("table", rule, Words("another")) from None
