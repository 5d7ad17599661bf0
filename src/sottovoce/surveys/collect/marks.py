"""Marks: what tells, without reading them, whether the reports of a survey have changed.

Pages of results ask for a mark whenever they are loaded, and counting 100,000 rows takes longer than all the rest of
such a page. Tables of levels never change, they are only replaced (`inbox`), so that their part of a mark is kept until
then, and only the inbox is counted each time.
"""

from threading import Lock
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, Table, func, select, text

from sottovoce.surveys.collect.database import inbox, is_postgres, level, levels_of


class Mark(NamedTuple):
    """What tells whether reports have come or gone: their number, and the first and last of their random keys."""

    reports: int
    first: bytes
    last: bytes


NO_REPORTS = Mark(0, b"", b"")


class Marks:
    """Marks of the surveys of a database."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._of_levels: dict[str, Mark] = {}
        self._generation: tuple[int, ...] = ()
        self._lock = Lock()

    def of(self, connection: Connection, survey: str) -> Mark:
        """Return the mark of a survey's reports, in a transaction during which no table is replaced."""
        generation, levels = _generation(connection), levels_of(connection)
        with self._lock:
            if generation != self._generation:
                self._generation, self._of_levels = generation, {}
            kept = self._of_levels
        if survey not in kept:
            kept[survey] = _joined([_read(connection, level(number), survey) for number in range(levels)])
        return _joined([_read(connection, inbox, survey), kept[survey]])


def _generation(connection: Connection) -> tuple[int, ...]:
    """Return numbers that are others once a table of reports has been replaced."""
    if is_postgres(connection):
        return tuple(connection.scalars(text("SELECT oid::bigint FROM pg_class WHERE relkind = 'r' ORDER BY oid")))
    return (int(connection.exec_driver_sql("PRAGMA schema_version").scalar() or 0),)


def _read(connection: Connection, table: Table, survey: str) -> Mark:
    reports, first, last = connection.execute(_query(table, survey)).one()
    return Mark(reports, bytes(first), bytes(last)) if reports else NO_REPORTS


def _query(table: Table, survey: str) -> Select[Any]:
    mine = select(table.c.key).where(table.c.survey == survey).limit(1)
    number = select(func.count()).select_from(table).where(table.c.survey == survey)
    ends = mine.order_by(table.c.key), mine.order_by(table.c.key.desc())
    return select(*(query.scalar_subquery() for query in (number, *ends)))


def _joined(marks: list[Mark]) -> Mark:
    """Return the mark of the reports of several tables."""
    some = [mark for mark in marks if mark.reports]
    if not some:
        return NO_REPORTS
    first, last = min(mark.first for mark in some), max(mark.last for mark in some)
    return Mark(sum(mark.reports for mark in some), first, last)
