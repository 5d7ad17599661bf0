"""The store: frozen surveys, unspent invitations and disguised reports in one database.

No table has a time, an address or a running number. Rows are kept in the order of their random keys (SQLite) or
found only by them, a spent invitation is deleted and overwritten, and nothing says which invitation a report came by.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    bindparam,
    create_engine,
    delete,
    event,
    func,
    insert,
    make_url,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from sottovoce.errors import SottovoceError
from sottovoce.surveys.definition.survey import Survey, survey_from_bytes
from sottovoce.surveys.links import new_token, token_hash

metadata = MetaData()

surveys = Table(
    "surveys",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("document", LargeBinary, nullable=False),
    Column("issued", Integer, nullable=False),
    sqlite_with_rowid=False,
)
"""Frozen surveys, by the first digits of their hash, and how many invitations were ever issued."""

invitations = Table(
    "invitations",
    metadata,
    Column("survey", String(16), ForeignKey("surveys.id"), primary_key=True),
    Column("token", LargeBinary(32), primary_key=True),
    sqlite_with_rowid=False,
)
"""Hashes of invitations that are not spent; spending one removes it."""

reports = Table(
    "reports",
    metadata,
    Column("survey", String(16), ForeignKey("surveys.id"), primary_key=True),
    Column("key", LargeBinary(16), primary_key=True),
    Column("report", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
"""Disguised reports, by the hash of the random key they were sent with."""

BUSY_TIMEOUT = "busy_timeout=10000"
"""Milliseconds to wait for the lock of another process."""

PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",  # a commit is on disk before it returns
    "secure_delete=ON",  # a spent invitation is overwritten, not just forgotten
    "foreign_keys=ON",
    BUSY_TIMEOUT,
)
MOST = 512
"""Entries of one batch: below every database's limit of bound values in a statement."""
TRIES = 5
"""How often a batch is tried while another server stores the same reports at the same moment."""


def open_engine(database: str) -> Engine:
    """Open a database by its URL, or an SQLite file by its path, and create what is missing."""
    try:
        url = make_url(database) if "://" in database else URL.create("sqlite", database=database)
        engine = create_engine(url, hide_parameters=True)  # no error message repeats a report
        if engine.dialect.name == "sqlite":
            if url.database:
                Path(url.database).touch(mode=0o600)  # a new file is its owner's alone
            event.listen(engine, "connect", _prepare)
            event.listen(engine, "begin", _begin)
        metadata.create_all(engine)
    except (SQLAlchemyError, ImportError, OSError) as reason:
        raise unusable(database, "opened", reason) from None
    return engine


def unusable(database: str, wanted: str, reason: Exception) -> SottovoceError:
    """What a driver says, without the statement and the links that SQLAlchemy adds."""
    kind, separator, _ = database.rpartition("://")
    shown = f"{kind}{separator}..." if separator else database  # an address may hold a password
    said = str(getattr(reason, "orig", reason)).partition("\n")[0]
    return SottovoceError("db", f"must be a database that can be {wanted} ({said})", shown)


def _prepare(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where SQLAlchemy begins them, not later
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Any) -> None:
    """Take the write lock at once where a write will follow: a lock that comes later may be refused."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


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


class Store:
    """All that is kept, in SQLite by a path or in another database by its URL."""

    def __init__(self, database: str) -> None:
        """Open or create the database."""
        self._engine = open_engine(database)

    def close(self) -> None:
        """Close all connections; SQLite then empties its log of past commits into the database, and removes it."""
        self._engine.dispose()

    def freeze(self, survey: Survey) -> None:
        """Keep a survey for good; freezing the same one again changes nothing."""
        with self._writing() as connection:
            found = connection.scalar(select(surveys.c.document).where(surveys.c.id == survey.id))
            if found is None:
                connection.execute(insert(surveys), {"id": survey.id, "document": survey.document, "issued": 0})
            elif bytes(found) != survey.document:
                raise SottovoceError("survey", "must not begin its hash as another one does; change a word", survey.id)

    def survey(self, name: str) -> Survey | None:
        """Frozen survey with this id, read and checked anew, or None."""
        with self._reading() as connection:
            document = connection.scalar(select(surveys.c.document).where(surveys.c.id == name))
        return None if document is None else survey_from_bytes(bytes(document))

    def surveys(self) -> list[str]:
        """Ids of all frozen surveys."""
        with self._reading() as connection:
            return list(connection.scalars(select(surveys.c.id).order_by(surveys.c.id)))

    def invite(self, survey: Survey, count: int) -> list[str]:
        """Issue invitations: tokens for the caller to hand out, of which the store keeps hashes only."""
        if survey.invitation == "open":
            rule = "must be single for links of their own; the link of this survey is open to all"
            raise SottovoceError("invitation", rule, survey.invitation)
        tokens = [new_token() for _ in range(count)]
        hashes = [{"survey": survey.id, "token": token_hash(survey.hash, token)} for token in tokens]
        with self._writing() as connection:
            connection.execute(insert(invitations), hashes)
            issued = {"issued": surveys.c.issued + count}
            connection.execute(update(surveys).where(surveys.c.id == survey.id).values(issued))
        return tokens

    def counts(self, name: str) -> dict[str, int]:
        """Invitations issued and unspent, and reports, of one survey."""
        with self._reading() as connection:
            return {
                "issued": int(connection.scalar(select(surveys.c.issued).where(surveys.c.id == name)) or 0),
                "unspent": _count(connection, invitations, name),
                "reports": _count(connection, reports, name),
            }

    def reports(self, name: str) -> list[bytes]:
        """All reports of a survey, in the order of their random keys."""
        query = select(reports.c.report).where(reports.c.survey == name).order_by(reports.c.key)
        with self._reading() as connection:
            return [bytes(report) for report in connection.scalars(query)]

    def has(self, entry: Entry) -> bool:
        """Whether this very report is stored."""
        query = select(reports.c.report).where(reports.c.survey == entry.survey, reports.c.key == entry.key)
        with self._reading() as connection:
            found = connection.scalar(query)
        return found is not None and bytes(found) == entry.report

    def commit(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Spend invitations and store reports, all of a batch in one transaction; on disk when this returns."""
        for _ in range(TRIES - 1):
            try:
                return self._commit(entries)
            except IntegrityError:
                continue  # another server stored the same report meanwhile: look again
        return self._commit(entries)

    def _commit(self, entries: Sequence[Entry]) -> list[Outcome]:
        places: dict[str, list[int]] = defaultdict(list)
        for place, entry in enumerate(entries):
            places[entry.survey].append(place)
        outcomes: dict[int, Outcome] = {}
        with self._writing() as connection:
            for name, own in places.items():
                outcomes |= zip(own, store_entries(connection, name, [entries[place] for place in own]), strict=True)
        return [outcomes[place] for place in range(len(entries))]

    def tidy(self) -> bool:
        """Empty SQLite's log of recent commits, which shows what was written together; says whether it is empty.

        It is not while somebody reads, and whoever reads for long must not hold up the reports.
        """
        if self._engine.dialect.name != "sqlite":
            return True
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("PRAGMA busy_timeout=0")
            try:
                busy, _, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
            finally:
                connection.exec_driver_sql(f"PRAGMA {BUSY_TIMEOUT}")
        return not busy

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._engine.connect().execution_options(writes=True) as connection, connection.begin():
            yield connection


def _count(connection: Connection, table: Table, survey: str) -> int:
    query = select(func.count()).select_from(table).where(table.c.survey == survey)
    return int(connection.scalar(query) or 0)
