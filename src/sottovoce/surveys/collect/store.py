"""The database: frozen surveys, unspent invitations and disguised reports.

No table has a time, an address or a running number. Rows are stored in the order of their random keys (SQLite) or
can be found by these keys only. A spent invitation is deleted and overwritten, and nothing links it to its report.
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
"""Hashes of the invitations that are not spent yet; spending one removes it."""

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
BATCH_SIZE = 512
"""Most entries of one commit: few enough for every database's limit of bound values in a statement."""

TRIES = 5
"""How often a commit is tried while another server stores the same reports."""


def open_engine(database: str) -> Engine:
    """Open a database by its URL, or an SQLite file by its path, and create missing tables."""
    try:
        url = make_url(database) if "://" in database else URL.create("sqlite", database=database)
        engine = create_engine(url, hide_parameters=True)  # no error message repeats a report
        if engine.dialect.name == "sqlite":
            if url.database:
                Path(url.database).touch(mode=0o600)  # only the owner may read a new file
            event.listen(engine, "connect", _prepare)
            event.listen(engine, "begin", _begin)
        metadata.create_all(engine)
    except (SQLAlchemyError, ImportError, OSError) as reason:
        raise _database_error(database, "opened", reason) from None
    return engine


def _database_error(database: str, wanted: str, reason: Exception) -> SottovoceError:
    """Return an error with the driver's message, without the statement and the links that SQLAlchemy adds."""
    kind, separator, _ = database.rpartition("://")
    shown = f"{kind}{separator}..." if separator else database  # a URL may contain a password
    message = str(getattr(reason, "orig", reason)).partition("\n")[0]
    return SottovoceError("db", f"must be a database that can be {wanted} ({message})", shown)


def _prepare(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin when SQLAlchemy begins them, not later
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Any) -> None:
    """Take the write lock at the beginning of a writing transaction: later it may be refused."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


class Outcome(Enum):
    """Outcome of an entry."""

    STORED = "stored"
    REPEATED = "repeated"
    OTHER_REPORT = "other_report"
    NO_INVITATION = "invitation"


@dataclass(frozen=True)
class Entry:
    """A report to be stored: hash of its key, report, and hash of the invitation if the survey needs one."""

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
    """Store the entries of one survey, in their order, with a few statements for all of them."""
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
    """Delete invitations, and return those that existed: two servers cannot both delete the same one."""
    if not tokens:
        return set()
    # Sorted, so that two servers that delete the same rows cannot deadlock.
    return {bytes(token) for token in connection.scalars(_SPEND, {"survey": survey, "tokens": sorted(tokens)})}


class Store:
    """The database of surveys, invitations and reports: an SQLite file, or another database by its URL."""

    def __init__(self, database: str) -> None:
        """Open or create the database."""
        self._engine = open_engine(database)

    def close(self) -> None:
        """Close all connections; SQLite then moves its log of recent commits into the database, and deletes it."""
        self._engine.dispose()

    def freeze(self, survey: Survey) -> None:
        """Store a survey for good; freezing the same survey again changes nothing."""
        with self._writing() as connection:
            stored = connection.scalar(select(surveys.c.document).where(surveys.c.id == survey.id))
            if stored is None:
                connection.execute(insert(surveys), {"id": survey.id, "document": survey.document, "issued": 0})
            elif bytes(stored) != survey.document:
                rule = "must have an id that no other survey in the database has; change a word of it"
                raise SottovoceError("survey", rule, survey.id)

    def survey(self, name: str) -> Survey | None:
        """Return the frozen survey with this id, checked again, or None."""
        with self._reading() as connection:
            document = connection.scalar(select(surveys.c.document).where(surveys.c.id == name))
        return None if document is None else survey_from_bytes(bytes(document))

    def select(self, name: str | None = None) -> Survey:
        """Return the survey with an id, or with the beginning of one; without an id, the only survey."""
        ids = [known for known in self.surveys() if known.startswith(name or "")]
        survey = self.survey(ids[0]) if len(ids) == 1 else None
        if survey is None:
            known = ", ".join(self.surveys()) or "none; freeze one first"
            raise SottovoceError("survey", f"must be one of those in the database ({known})", name)
        return survey

    def surveys(self) -> list[str]:
        """Return the ids of all frozen surveys."""
        with self._reading() as connection:
            return list(connection.scalars(select(surveys.c.id).order_by(surveys.c.id)))

    def invite(self, survey: Survey, count: int) -> list[str]:
        """Issue invitations: return tokens to hand out, of which the database stores hashes only."""
        if survey.invitation == "open":
            rule = "must be single to make invitations; this survey has one open link for everyone"
            raise SottovoceError("invitation", rule, survey.invitation)
        tokens = [new_token() for _ in range(count)]
        hashes = [{"survey": survey.id, "token": token_hash(survey.hash, token)} for token in tokens]
        with self._writing() as connection:
            connection.execute(insert(invitations), hashes)
            issued = {"issued": surveys.c.issued + count}
            connection.execute(update(surveys).where(surveys.c.id == survey.id).values(issued))
        return tokens

    def counts(self, name: str) -> dict[str, int]:
        """Return the numbers of invitations issued, of unspent ones, and of reports of a survey."""
        with self._reading() as connection:
            return {
                "issued": int(connection.scalar(select(surveys.c.issued).where(surveys.c.id == name)) or 0),
                "unspent": _count(connection, invitations, name),
                "reports": _count(connection, reports, name),
            }

    def reports(self, name: str) -> list[bytes]:
        """Return all reports of a survey, in the order of their random keys."""
        query = select(reports.c.report).where(reports.c.survey == name).order_by(reports.c.key)
        with self._reading() as connection:
            return [bytes(report) for report in connection.scalars(query)]

    def has(self, entry: Entry) -> bool:
        """Return whether exactly this report is stored."""
        query = select(reports.c.report).where(reports.c.survey == entry.survey, reports.c.key == entry.key)
        with self._reading() as connection:
            stored = connection.scalar(query)
        return stored is not None and bytes(stored) == entry.report

    def commit(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Spend invitations and store reports in one transaction, which is on disk when this returns."""
        for _ in range(TRIES - 1):
            try:
                return self._commit(entries)
            except IntegrityError:
                continue  # another server has stored the same report meanwhile
        return self._commit(entries)

    def _commit(self, entries: Sequence[Entry]) -> list[Outcome]:
        indices_of: dict[str, list[int]] = defaultdict(list)
        for index, entry in enumerate(entries):
            indices_of[entry.survey].append(index)
        outcomes: dict[int, Outcome] = {}
        with self._writing() as connection:
            for name, indices in indices_of.items():
                stored = store_entries(connection, name, [entries[index] for index in indices])
                outcomes |= zip(indices, stored, strict=True)
        return [outcomes[index] for index in range(len(entries))]

    def tidy(self) -> bool:
        """Empty SQLite's log of recent commits, which shows what was written together; return whether it is empty.

        The log cannot be emptied while somebody reads. This does not wait for readers, so reports are not held up.
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


@contextmanager
def opened(database: str) -> Iterator[Store]:
    """Open a database while the block runs; errors of the database become a `SottovoceError`."""
    store = Store(database)
    try:
        yield store
    except SQLAlchemyError as reason:
        raise _database_error(database, "used", reason) from None
    finally:
        store.close()


def _count(connection: Connection, table: Table, survey: str) -> int:
    query = select(func.count()).select_from(table).where(table.c.survey == survey)
    return int(connection.scalar(query) or 0)
