"""DuckDB relations and tables of DuckDB files: counted by SQL, and read in Arrow record batches."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from sottovoce.errors import SottovoceError, Words, check_installed
from sottovoce.tables.arrow_source import MOST_GROUPS, ArrowSource, GroupedSource
from sottovoce.tables.source import TIMES
from sottovoce.tables.values import pyarrow


class DuckDBSource(ArrowSource):
    """A table that DuckDB reads."""

    rows = None
    _reader: Any = None

    def __init__(self, label: str = "table") -> None:
        """Ask for the types of the columns."""
        self.label = label
        with self.relation() as relation:
            self.types = relation.limit(0).to_arrow_table().schema
            self._kinds = dict(zip(relation.columns, relation.types, strict=True))
            self.names = _different_names(label, relation.columns)

    @abstractmethod
    def relation(self) -> AbstractContextManager[Any]:
        """The relation, as long as it is needed."""

    def record_batches(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Run the query, a batch at a time."""
        with self.relation() as relation:
            query = relation.project(_listed(names))
            read = query.to_arrow_reader if hasattr(query, "to_arrow_reader") else query.fetch_arrow_reader
            self._reader = read(rows)
            try:
                yield from self._reader
            finally:
                self._reader.close()

    def grouped(self, names: Sequence[str]) -> GroupedSource | None:
        """Group by these columns, unless they hold lists or there are too many combinations."""
        if not self.is_flat(names):
            return None
        columns = _listed(names)
        if self._reader is not None:
            self._reader.close()  # a connection answers one query at a time, and this one asks about rows of the last
        with self.relation() as relation:
            groups = relation.aggregate(f"{columns}, count(*) AS {_quoted(TIMES)}", columns)
            table = groups.limit(MOST_GROUPS + 1).to_arrow_table()
        return None if len(table) > MOST_GROUPS else GroupedSource(table)

    def count_rows(self) -> int:
        """Let DuckDB count."""
        with self.relation() as relation:
            return int(relation.aggregate("count(*)").fetchall()[0][0])

    def declared(self, name: str) -> tuple[str, ...] | None:
        """Categories of an ENUM."""
        kind = self._kinds[name]
        return tuple(dict(kind.children)["values"]) if kind.id == "enum" else None


class RelationSource(DuckDBSource):
    """A DuckDB relation.

    Its rows need not come in the same order twice: that depends on the query. While it is read, its connection must
    not be used for anything else.
    """

    ordered = False

    def __init__(self, relation: Any) -> None:
        """Keep the relation."""
        check_installed("a DuckDB relation", "duckdb", "pyarrow")
        self._relation = relation
        super().__init__()

    @contextmanager
    def relation(self) -> Iterator[Any]:
        """The relation itself."""
        with _duckdb_errors(self.label):
            yield self._relation


class DuckDBFileSource(DuckDBSource):
    """A table of a DuckDB file, `FILE::TABLE`, or the only one of the file; its comment may be its plan.

    The file is open only while it is read.
    """

    def __init__(self, path: str) -> None:
        """Find the table."""
        check_installed("a DuckDB file", "duckdb", "duckdb", "pyarrow")
        self._file, _, wanted = path.partition("::")
        if not Path(self._file).is_file():
            raise SottovoceError("table", "must be a DuckDB file that exists", path)
        with _duckdb_errors(path), _connection(self._file) as connection:
            tables = connection.execute(_TABLES).fetchall()
        names = [table if schema == "main" else f"{schema}.{table}" for schema, table, _ in tables]
        if (wanted and wanted not in names) or (not wanted and len(tables) != 1):
            rule = "must name a table of the file, as FILE::TABLE" + ("" if wanted else ", unless it has only one")
            raise SottovoceError(path, rule, Words(f"a file with {', '.join(names) or 'none'}"))
        schema, table, self._comment = tables[names.index(wanted) if wanted else 0]
        self._table = f"{_quoted(schema)}.{_quoted(table)}"
        super().__init__(path)

    @property
    def mark(self) -> bytes | None:
        """Plan document in the comment of the table; a comment in words is none."""
        is_document = self._comment is not None and self._comment.lstrip().startswith("{")
        return self._comment.encode() if is_document else None

    @contextmanager
    def relation(self) -> Iterator[Any]:
        """The table, on a connection of its own."""
        with _duckdb_errors(self.label), _connection(self._file) as connection:
            yield connection.sql(f"SELECT * FROM {self._table}")  # noqa: S608  # quoted


_TABLES = """
    SELECT schema_name, table_name, comment FROM duckdb_tables()
    WHERE database_name = current_database() AND NOT internal ORDER BY ALL
"""


@contextmanager
def _connection(path: str) -> Iterator[Any]:
    """Open a file for reading, also if this process has it open for writing."""
    import duckdb

    try:
        connection = duckdb.connect(path, read_only=True)
    except duckdb.ConnectionException:
        connection = duckdb.connect(path)
    with connection:
        yield connection


@contextmanager
def _duckdb_errors(label: str) -> Iterator[None]:
    """Turn what DuckDB says about a query that fails into an error of the table."""
    import duckdb

    try:
        yield
    except (duckdb.Error, pyarrow().ArrowException, OSError) as reason:
        if getattr(reason, "errno", None) is not None:
            raise
        message = next(iter(str(reason).splitlines()), type(reason).__name__)
        raise SottovoceError(label, f"must be a table that DuckDB can read ({message})", Words("another")) from None


def _different_names(label: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns; of those that differ only in case, DuckDB would read the first."""
    if len({name.encode().lower() for name in names}) < len(names):  # bytes, as DuckDB ignores case in ASCII only
        rule = "must have different column names, of which DuckDB ignores the case"
        raise SottovoceError(label, rule, list(names))
    return tuple(names)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(_quoted, names))


def _quoted(name: str) -> str:
    """Name of a column or table in SQL, in quotation marks."""
    return '"' + name.replace('"', '""') + '"'
