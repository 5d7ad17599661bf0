"""What was leaked: respondents' secrets in files, in the database or in what servers wrote, links and orders.

Secrets are what respondents hold or send and the server must forget: invitations, addresses, browsers, credentials,
blinded messages and signatures. A link is a table that knows an invitation and a report. An order is anything that
tells when reports arrived: the places of rows, or the values of a column.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, inspect, text

from sottovoce.surveys.collect.database import is_postgres, reading
from sottovoce.surveys.drill.state import Drill

PREFIX = 8
"""Bytes by which secrets are looked for first; all have more."""

LEAST = 40
"""Fewest reports whose order is examined."""

MOST_DEVIATION = 5.5
"""Most standard errors by which a rank correlation may differ from zero: of a hundred million orders, some do."""

PAGE = 4096
"""Bytes of a page of SQLite, within which newer rows lie before older ones."""


class Table(NamedTuple):
    """A table with its columns, in the order in which its rows lie."""

    name: str
    columns: dict[str, list[Any]]

    @property
    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows."""
        return zip(*self.columns.values(), strict=True)


class Needles:
    """Byte sequences to look for, with their names, found by their first bytes in one pass over a haystack."""

    def __init__(self, named: Mapping[bytes, str]) -> None:
        """Take sequences of at least eight bytes."""
        self._named = named
        self._by_word: dict[int, list[bytes]] = defaultdict(list)
        for needle in named:
            self._by_word[int.from_bytes(needle[:PREFIX], "little")].append(needle)
        self._words = np.array(sorted(self._by_word), dtype="<u8")

    def places(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield where a needle begins, and the needle."""
        for shift in range(min(PREFIX, max(0, len(data) - PREFIX + 1))):
            words = np.frombuffer(data, "<u8", (len(data) - shift) // PREFIX, shift)
            for place in np.flatnonzero(np.isin(words, self._words)):
                start = shift + PREFIX * int(place)
                for needle in self._by_word[int(words[place])]:
                    if data.startswith(needle, start):
                        yield start, needle

    def within(self, data: bytes) -> set[str]:
        """Return the names of the needles in a haystack."""
        return {self._named[needle] for _, needle in self.places(data)}


def check_leaks(drill: Drill, *, at_rest: bool) -> None:
    """Note every secret that is found anywhere, and every link; `at_rest`, with all servers stopped, every order."""
    needles = Needles(
        {
            secret: f"the {name} of respondent {each.number}"
            for each in drill.respondents
            for name, secret in each.secrets()
        }
    )
    for where, content in _haystacks(drill):
        for found in sorted(needles.within(content)):
            drill.note("leaked", f"{found} is in {where}")
        if where == "what a server wrote" and b"Traceback" in content:
            last = content.decode(errors="replace").strip().rpartition("\n")[2]
            drill.note("leaked", f"a server wrote a traceback, which may show anything: {last[:200]}")
    tables = _tables(drill)
    for table in tables:
        values = b"\xff".join(_as_bytes(value) for row in table.rows for value in row)
        for found in sorted(needles.within(values)):
            drill.note("leaked", f"{found} is in the table {table.name}")
    _check_links(drill, tables)
    if at_rest:
        _check_orders(drill, tables)


def _haystacks(drill: Drill) -> Iterator[tuple[str, bytes]]:
    """Yield everything that servers have written, to files and elsewhere."""
    for server in drill.all_servers:
        yield "what a server wrote", server.output
    for path in sorted(drill.scratch.folder.rglob("*")):
        with suppress(FileNotFoundError, IsADirectoryError):  # a temporary file may be gone meanwhile
            yield f"the file {path.name}", path.read_bytes()


def _tables(drill: Drill) -> list[Table]:
    """Read all tables of the database, whatever they are; of PostgreSQL also the numbers of transactions."""
    with drill.store() as store, reading(store.engine) as connection:
        return [_table(connection, name) for name in inspect(connection).get_table_names()]


def _table(connection: Connection, name: str) -> Table:
    hidden = "xmin::text::bigint AS transaction_number, " if is_postgres(connection) else ""
    found = connection.execute(text(f'SELECT {hidden}* FROM "{name}"'))  # noqa: S608  # a name that the database gave
    columns, rows = list(found.keys()), found.all()
    return Table(name, {column: [row[place] for row in rows] for place, column in enumerate(columns)})


def _as_bytes(value: Any) -> bytes:
    return bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()


def _check_links(drill: Drill, tables: Sequence[Table]) -> None:
    """No table knows both invitations and reports."""
    invitations = {value for each in drill.respondents for value in each.invitation_hashes}
    reports = {value for each in drill.respondents if each.sealed for value in (each.key, bytes.fromhex(each.receipt))}
    for table in tables:
        values = {_as_bytes(value) for column in table.columns.values() for value in column}
        if values & invitations and values & reports:
            drill.note("leaked", f"the table {table.name} holds both invitations and reports")


def _check_orders(drill: Drill, tables: Sequence[Table]) -> None:
    """Nothing tells in which order the reports of the private copy arrived."""
    arrived = sorted(
        (each for each in drill.respondents if each.acknowledged and each.survey.id == drill.survey.id),
        key=lambda each: each.acknowledged_at or 0.0,
    )
    rank = {each.key: place for place, each in enumerate(arrived)}
    for table in tables:
        for trace, values, ranks in _traces(table, rank):
            _check_order(drill, f"{trace} of the table {table.name}", values, ranks)
    if drill.scratch.kind == "sqlite" and rank:
        needles = Needles(dict.fromkeys(rank, ""))
        with open(drill.scratch.url, "rb") as file:  # no store is open in this process now
            seen = sorted((start // PAGE, -(start % PAGE), key) for start, key in needles.places(file.read()))
        for trace, keys in (("first", [key for *_, key in seen]), ("last", [key for *_, key in reversed(seen)])):
            ranks = [rank[key] for key in dict.fromkeys(keys)]
            _check_order(drill, f"the {trace} place in the file", list(range(len(ranks))), ranks)


def _traces(table: Table, rank: Mapping[bytes, int]) -> Iterator[tuple[str, list[Any], list[int]]]:
    """Yield what may tell an order, with the ranks of reports: the order of rows, and every column's values.

    Of a report with several rows, as one has that was sent again, the first and the last row are looked at.
    """
    seen = [
        (rank[value], place) for place, row in enumerate(table.rows) for value in map(_as_bytes, row) if value in rank
    ]
    for which, place_of in (("first", dict(reversed(seen))), ("last", dict(seen))):
        ranks, places = list(place_of), list(place_of.values())
        yield f"the order of {which} rows", places, ranks
        for name, column in table.columns.items():
            yield f"column {name} in {which} rows", [column[place] for place in places], ranks


def _check_order(drill: Drill, trace: str, values: Sequence[Any], ranks: Sequence[int]) -> None:
    deviation = rank_deviation(values, ranks)
    if abs(deviation) > MOST_DEVIATION:
        what = f"{trace} tells the order of arrival of {len(ranks)} reports ({deviation:+.1f} standard errors)"
        drill.note("leaked", what)


def rank_deviation(values: Sequence[Any], ranks: Sequence[int]) -> float:
    """Return Spearman's rank correlation in standard errors of a random order, `r sqrt(n - 1)`; 0 where there is none.

    >>> round(rank_deviation(range(100), range(100)), 2), rank_deviation([1] * 100, range(100))
    (9.95, 0.0)
    """
    if len(values) < LEAST or any(type(value) is not type(values[0]) for value in values):
        return 0.0
    first, second = _ranked(values), _ranked(ranks)
    spread = float(first.std() * second.std())
    if spread == 0.0:
        return 0.0
    correlation = float(((first - first.mean()) * (second - second.mean())).mean()) / spread
    return correlation * sqrt(len(values) - 1)


def _ranked(values: Sequence[Any]) -> NDArray[np.float64]:
    """Return the ranks of values, equal ones with their mean."""
    order = {value: place for place, value in enumerate(sorted(set(values)))}
    codes = np.array([order[value] for value in values])
    counts = np.bincount(codes)
    return np.asarray((counts.cumsum() - (counts + 1) / 2)[codes], np.float64)
