"""Moves of reports from the inbox into tables that show no order of arrival.

A database keeps traces of when a row was written: PostgreSQL the number of the transaction (`xmin`) and the row's place
(`ctid`), SQLite the places of rows within a page. Moving rows, CLUSTER or VACUUM FREEZE keep some of these. So a move
writes a table anew, in the order of the random keys, with all its rows in one transaction, and drops the old one:
nothing tells the rows of a table apart.

Rewriting 100,000 reports takes less than a second. Beyond that, tables have levels: level k holds up to 100,000 * 2^k
reports, and a move that does not fit into a level joins it with the next one. When a survey is closed, all are joined.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, MetaData, Select, Table, false, func, insert, select, text, union_all, update

from sottovoce.surveys.collect.database import (
    inbox,
    layout,
    level,
    levels_of,
    limit_waiting,
    lock_reports,
    lock_tables,
)

BATCH = 64
"""Fewest reports of a survey that are moved, unless it is closed."""

CAPACITY = 100_000
"""Most reports of the first level."""


def move_reports(
    connection: Connection, *, batch: int = BATCH, capacity: int = CAPACITY, closing: str | None = None
) -> bool:
    """Move the reports of surveys with at least `batch` in the inbox, and write the rest of the inbox anew.

    `closing` is a survey whose last reports are moved whatever their number; then all levels become one. Return whether
    this was done: nothing is moved while a backup is made on PostgreSQL, for whose end only `closing` waits.
    """
    if closing is None:
        limit_waiting(connection)
    if not lock_tables(connection, wait=closing is not None):
        return False
    lock_reports(connection, exclusive=True)
    waiting = {name: int(number) for name, number in connection.execute(_WAITING)}
    moved = [name for name, number in waiting.items() if number >= batch or name == closing]
    incoming, levels = sum(waiting[name] for name in moved), levels_of(connection)
    if incoming or closing is not None:
        _join_levels(connection, moved, incoming, levels, capacity, all_levels=closing is not None)
    rewrite(connection, inbox, _rows(inbox).where(inbox.c.survey.not_in(moved)))
    return True


_WAITING = select(inbox.c.survey, func.count()).group_by(inbox.c.survey)


def level_with_room(reports: int, capacity: int = CAPACITY) -> int:
    """Return the number of the first level that holds so many reports.

    >>> [level_with_room(reports) for reports in (0, 100_000, 100_001, 1_000_000)]
    [0, 0, 1, 4]
    """
    return (max(reports - 1, 0) // capacity).bit_length()


def _join_levels(
    connection: Connection, moved: Sequence[str], incoming: int, levels: int, capacity: int, *, all_levels: bool
) -> None:
    """Write the moved reports and those of the first levels into the first level that has room for them."""
    target, total = 0, incoming + count(connection, level(0))
    while total > capacity << target or (all_levels and target < levels - 1):
        target += 1
        if target == levels:
            level(target).create(connection)
            levels += 1
            connection.execute(update(layout).values(levels=levels))
        total += count(connection, level(target))
    sources = [_rows(level(number)) for number in range(target + 1)]
    joined = union_all(_rows(inbox).where(inbox.c.survey.in_(moved)), *sources).subquery()
    rewrite(connection, level(target), select(joined))
    for number in range(target):
        rewrite(connection, level(number), _rows(level(number)).where(false()))


def rewrite(connection: Connection, table: Table, rows: Select[Any]) -> None:
    """Replace a table of reports by a new one with these rows, in the order of their keys."""
    fresh = table.to_metadata(MetaData(), name=f"{table.name}_new")
    fresh.create(connection)
    ordered = rows.order_by(*(rows.selected_columns[name] for name in ("survey", "key")))
    connection.execute(insert(fresh).from_select(["survey", "key", "report", "receipt"], ordered))
    table.drop(connection)
    connection.execute(text(f"ALTER TABLE {fresh.name} RENAME TO {table.name}"))


def remove_reports(connection: Connection, survey: str) -> None:
    """Remove the reports of a survey from all tables, which are written anew."""
    lock_tables(connection, wait=True)
    lock_reports(connection, exclusive=True)
    for table in (inbox, *(level(number) for number in range(levels_of(connection)))):
        rewrite(connection, table, _rows(table).where(table.c.survey != survey))


def count(connection: Connection, table: Table) -> int:
    """Return the number of rows of a table."""
    return int(connection.scalar(select(func.count()).select_from(table)) or 0)


def _rows(table: Table) -> Select[Any]:
    return select(table.c.survey, table.c.key, table.c.report, table.c.receipt)
