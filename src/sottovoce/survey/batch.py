"""One batch of reports inside one transaction: what is new is stored, and its invitations are gone."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from sqlalchemy import Connection, bindparam, delete, insert, select

from sottovoce.survey.tables import invitations, reports

MOST = 512
"""Entries of one batch: below every database's limit of bound values in a statement."""


class Outcome(Enum):
    """What became of an entry."""

    STORED = "stored"
    REPEATED = "repeated"
    OTHER_REPORT = "other_report"
    NO_INVITATION = "invitation"


@dataclass(frozen=True)
class Entry:
    """A report on its way into the store: hashed key, report, hashed invitation if the survey needs one."""

    survey: str
    key: bytes
    report: bytes
    token: bytes | None = None


_KNOWN = select(reports.c.key, reports.c.report).where(
    reports.c.survey == bindparam("survey"), reports.c.key.in_(bindparam("keys", expanding=True))
)
_SPEND = (
    delete(invitations)
    .where(invitations.c.survey == bindparam("survey"), invitations.c.token.in_(bindparam("tokens", expanding=True)))
    .returning(invitations.c.token)
)
_INSERT = insert(reports)


def store_entries(connection: Connection, survey: str, entries: Sequence[Entry]) -> list[Outcome]:
    """Decide on the entries of one survey in their order, with a handful of statements for all of them."""
    rows = connection.execute(_KNOWN, {"survey": survey, "keys": [entry.key for entry in entries]})
    known = {bytes(key): bytes(report) for key, report in rows}
    fresh = {entry.key: entry.token for entry in reversed(entries) if entry.key not in known}
    spent = _spend(connection, survey, {token for token in fresh.values() if token is not None})
    stored: list[dict[str, object]] = []
    outcomes = []
    for entry in entries:
        if entry.key in known:
            outcomes.append(Outcome.REPEATED if known[entry.key] == entry.report else Outcome.OTHER_REPORT)
        elif entry.token is not None and entry.token not in spent:
            outcomes.append(Outcome.NO_INVITATION)
        else:
            spent.discard(entry.token or b"")
            known[entry.key] = entry.report
            stored.append({"survey": survey, "key": entry.key, "report": entry.report})
            outcomes.append(Outcome.STORED)
    if stored:
        connection.execute(_INSERT, stored)
    return outcomes


def _spend(connection: Connection, survey: str, tokens: set[bytes]) -> set[bytes]:
    """Remove invitations, and say which there were: two servers cannot both remove the same one."""
    if not tokens:
        return set()
    # Sorted, so that two servers that want the same rows wait for each other instead of forever.
    return {bytes(token) for token in connection.scalars(_SPEND, {"survey": survey, "tokens": sorted(tokens)})}
