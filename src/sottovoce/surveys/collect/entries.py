"""Entries: reports as they are stored, and how a batch of them is stored with a few statements."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from sqlalchemy import (
    ARRAY,
    Connection,
    LargeBinary,
    Select,
    Table,
    bindparam,
    delete,
    func,
    insert,
    select,
    true,
    union_all,
)

from sottovoce.surveys.collect.database import inbox, invitations, is_postgres, layout, level, surveys


class Outcome(Enum):
    """Outcome of an entry."""

    STORED = "stored"
    REPEATED = "repeated"
    OTHER_REPORT = "other_report"
    NO_INVITATION = "invitation"
    CLOSED = "closed"


@dataclass(frozen=True)
class Entry:
    """A report to be stored: hash of its key, report, hash of the invitation (surveys frozen by 0.1), and receipt."""

    survey: str
    key: bytes
    report: bytes
    token: bytes | None = None
    receipt: bytes | None = None


def known_reports(connection: Connection, levels: int, survey: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    """Return the stored reports of a survey that have one of these keys, by key."""
    query = _one_by_one(levels) if is_postgres(connection) else _all_at_once(levels)
    rows = connection.execute(query, {"survey": survey, "keys": list(keys)})
    return {bytes(key): bytes(report) for key, report in rows}


@cache
def _all_at_once(levels: int) -> Any:
    keys: Any = bindparam("keys", expanding=True)
    return union_all(*(_reports_of(table).where(table.c.key.in_(keys)) for table in tables_of_reports(levels)))


@cache
def _one_by_one(levels: int) -> Any:
    """Look up each key in the index.

    PostgreSQL has no statistics of a table that was just written, and takes the reports of a survey for few: asked for
    all keys at once, it would read every report of the survey for every commit.
    """
    keys = func.unnest(bindparam("keys", type_=ARRAY(LargeBinary))).table_valued("key", name="wanted").render_derived()
    tables = tables_of_reports(levels)
    found = [_reports_of(table).where(table.c.key == keys.c.key).limit(1).lateral() for table in tables]
    return union_all(*(select(one.c.key, one.c.report).select_from(keys).join(one, true()) for one in found))


def _reports_of(table: Table) -> Select[Any]:
    return select(table.c.key, table.c.report).where(table.c.survey == bindparam("survey"))


def tables_of_reports(levels: int) -> list[Table]:
    """Return all tables of reports: the inbox, and one for each level."""
    return [inbox, *(level(number) for number in range(levels))]


CLOSED = select(surveys.c.closed).where(surveys.c.id == bindparam("survey"))
"""Whether a survey is closed; nothing for one that does not exist."""

_STATE = select(select(layout.c.levels).scalar_subquery(), CLOSED.scalar_subquery())
_SPEND = (
    delete(invitations)
    .where(invitations.c.survey == bindparam("survey"), invitations.c.token.in_(bindparam("tokens", expanding=True)))
    .returning(invitations.c.token)
)
_INSERT = insert(inbox)


def store_entries(connection: Connection, survey: str, entries: Sequence[Entry]) -> list[Outcome]:
    """Store the entries of one survey, in their order, with a few statements for all of them."""
    levels, is_closed = connection.execute(_STATE, {"survey": survey}).one()
    known = known_reports(connection, levels, survey, [entry.key for entry in entries])
    closed = is_closed is not False  # a deleted survey takes nothing either
    fresh = {entry.key: entry.token for entry in reversed(entries) if entry.key not in known and not closed}
    spent = _spend(connection, survey, {token for token in fresh.values() if token is not None})
    stored: list[dict[str, object]] = []
    outcomes = []
    for entry in entries:
        if entry.key in known:
            outcomes.append(Outcome.REPEATED if known[entry.key] == entry.report else Outcome.OTHER_REPORT)
        elif closed:
            outcomes.append(Outcome.CLOSED)
        elif entry.token is not None and entry.token not in spent:
            outcomes.append(Outcome.NO_INVITATION)
        else:
            spent.discard(entry.token or b"")
            known[entry.key] = entry.report
            stored.append(
                {"survey": survey, "key": entry.key, "report": entry.report, "receipt": entry.receipt},
            )
            outcomes.append(Outcome.STORED)
    if stored:
        connection.execute(_INSERT, sorted(stored, key=lambda row: row["key"]))  # type: ignore[arg-type,return-value]
    return outcomes


def _spend(connection: Connection, survey: str, tokens: set[bytes]) -> set[bytes]:
    """Delete invitations, and return those that existed: two servers cannot both delete the same one."""
    if not tokens:
        return set()
    # Sorted, so that two servers that delete the same rows cannot deadlock.
    return {bytes(token) for token in connection.scalars(_SPEND, {"survey": survey, "tokens": sorted(tokens)})}
