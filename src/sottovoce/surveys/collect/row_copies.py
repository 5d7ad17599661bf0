"""Rows on their way between databases: read in the order of their keys, written, and counted with a digest.

The digest of a table is the sum modulo 2^256 of the SHA-256 of every row as a MessagePack array. It depends neither on
the order of rows nor on how a database sorts texts. A million rows need no more memory than a thousand.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import (
    URL,
    Boolean,
    Connection,
    Engine,
    Integer,
    Row,
    Select,
    Table,
    cast,
    column,
    insert,
    select,
    union_all,
)
from sqlalchemy import table as table_without_types
from sqlalchemy.exc import SQLAlchemyError

from sottovoce.checks import Progress
from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect.database import new_engine

CHUNK = 1000
"""Rows that are held in memory at a time."""

Write: TypeAlias = Callable[[str, Sequence[Row[Any]]], None]
"""Adds rows to the table of a name."""

Advance: TypeAlias = Callable[[int], object]
"""Is told how many rows were read."""

ErrorOf: TypeAlias = Callable[[Exception], SottovoceError]
"""Makes an error that names a file or database of an error of SQLAlchemy."""


class Digest(NamedTuple):
    """Number of rows of a table, and the sum of their hashes."""

    rows: int
    digest: bytes


@dataclass(frozen=True)
class Place:
    """Where rows are read: a connection, the tables that hold the rows of each name, and how its errors are told."""

    connection: Connection
    tables: Mapping[str, Sequence[Table]]
    error: ErrorOf


def read_rows(place: Place, advance: Advance, write: Write | None = None) -> dict[str, Digest]:
    """Read all rows, in the order of their keys, and hand them on; return the digest of each table."""
    found = {}
    for name, tables in place.tables.items():
        rows = total = 0
        for chunk in _chunks(place, tables):
            if write is not None:
                write(name, chunk)
            rows += len(chunk)
            total += sum(int.from_bytes(sha256(msgspec.msgpack.encode(tuple(row))).digest()) for row in chunk)
            advance(len(chunk))
        found[name] = Digest(rows, (total % 2**256).to_bytes(32))
    return found


def _chunks(place: Place, tables: Sequence[Table]) -> Iterator[Sequence[Row[Any]]]:
    """Yield the rows of all tables together, some at a time, in the order of their keys."""
    key = [each.name for each in tables[0].primary_key]
    query = union_all(*map(untyped, tables)).order_by(*key)
    with named_errors(place.error), place.connection.execute(query, execution_options={"yield_per": CHUNK}) as result:
        yield from result.partitions()


def untyped(table: Table) -> Select[Any]:
    """Select all columns as the driver returns them: in a damaged file, a value may not have its column's type.

    Truth values, which only PostgreSQL has, become 0 and 1.
    """
    plain = table_without_types(table.name, *(column(each.name) for each in table.c))
    return select(
        *(
            cast(plain.c[each.name], Integer).label(each.name) if isinstance(each.type, Boolean) else plain.c[each.name]
            for each in table.c
        )
    )


def row_writer(connection: Connection, tables: Mapping[str, Table]) -> Write:
    """Return a function that adds rows to a table, by its name."""

    def write(name: str, rows: Sequence[Row[Any]]) -> None:
        connection.execute(insert(tables[name]), [dict(row._mapping) for row in rows])

    return write


def sqlite_url(path: Path) -> URL:
    """Return the URL of an SQLite file."""
    return URL.create("sqlite", database=str(path))


@contextmanager
def connected(url: URL) -> Iterator[Engine]:
    """Connect to a database while the block runs."""
    engine = new_engine(url)
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def named_errors(error: ErrorOf) -> Iterator[None]:
    """Replace an error of SQLAlchemy, or of a text that is none, by one that names a file or database."""
    try:
        yield
    except (SQLAlchemyError, UnicodeError) as reason:
        raise error(reason) from None


def row_counter(progress: Progress | None, total: int) -> Advance:
    """Return a function that adds rows to those that `progress` was told of."""
    done = 0

    def advance(rows: int) -> None:
        nonlocal done
        done += rows
        if progress is not None:
            progress(done, total)

    return advance
