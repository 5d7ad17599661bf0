"""Invitations within a transaction: they are issued, looked at, spent for a blinded message, and withdrawn.

The database has hashes of invitations and of blinded messages only, and no transaction that touches them touches a
report.
"""

from collections.abc import Sequence
from enum import Enum

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, true, update

from sottovoce.surveys.collect.database import invitations, surveys
from sottovoce.surveys.collect.entries import CLOSED
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.links import new_token, token_hash

PART = 512
"""Most invitations that one statement names: few enough for every database's limit of bound values."""


class Admission(Enum):
    """State of an invitation, or outcome of an attempt to spend it."""

    UNSPENT = "unspent"
    ADMITTED = "admitted"
    SPENT = "spent"
    UNKNOWN = "unknown_invitation"
    CLOSED = "closed"


def issue(connection: Connection, survey: Survey, count: int, *, replacing: bool) -> list[str]:
    """Store hashes of new invitations, count them, and return their tokens."""
    tokens = [new_token() for _ in range(count)]
    hashes = [{"survey": survey.id, "token": token_hash(survey.hash, token)} for token in tokens]
    connection.execute(insert(invitations), hashes)
    issued = {"issued": surveys.c.issued + count, "replaced": surveys.c.replaced + count * replacing}
    connection.execute(update(surveys).where(surveys.c.id == survey.id).values(issued))
    return tokens


def state_of(connection: Connection, name: str, token: bytes) -> Admission:
    """Return the state of an invitation of a survey, by its hash."""
    if connection.scalar(CLOSED, {"survey": name}) is not False:
        return Admission.CLOSED
    row = connection.execute(select(invitations.c.blinded).where(*_named(name, token))).one_or_none()
    if row is None:
        return Admission.UNKNOWN
    return Admission.UNSPENT if row.blinded is None else Admission.SPENT


def spend(connection: Connection, name: str, token: bytes, blinded: bytes) -> Admission:
    """Spend an invitation for a blinded message. The same message again is admitted again, another one is not."""
    mine = _named(name, token)
    if connection.scalar(CLOSED, {"survey": name}) is not False:
        return Admission.CLOSED
    unspent = update(invitations).where(*mine, invitations.c.blinded.is_(None)).values(blinded=blinded)
    if connection.execute(unspent).rowcount:
        return Admission.ADMITTED
    stored = connection.scalar(select(invitations.c.blinded).where(*mine))
    return Admission.ADMITTED if stored == blinded else state_of(connection, name, token)


def withdraw(connection: Connection, survey: Survey, tokens: Sequence[str] | None) -> tuple[int, int]:
    """Delete unspent invitations, all of a survey if none are named; return how many, and how many were spent."""
    mine = invitations.c.survey == survey.id
    parts: list[ColumnElement[bool]] = [true()]
    if tokens is not None:
        hashes = [token_hash(survey.hash, token) for token in dict.fromkeys(tokens)]
        parts = [invitations.c.token.in_(hashes[start : start + PART]) for start in range(0, len(hashes), PART)]
    withdrawn = spent = 0
    for part in parts:
        unspent = delete(invitations).where(mine, part, invitations.c.blinded.is_(None))
        withdrawn += connection.execute(unspent).rowcount
        spent += connection.scalar(select(func.count()).select_from(invitations).where(mine, part)) or 0
    return withdrawn, spent


def _named(name: str, token: bytes) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return invitations.c.survey == name, invitations.c.token == token
