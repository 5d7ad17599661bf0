"""Tables of the store, and how a database is opened so that what is acknowledged stays.

No table has a time, an address or a running number. Rows are kept in the order of their random keys (SQLite) or
found only by them, a spent invitation is deleted and overwritten, and nothing says which invitation a report came by.
"""

from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Column,
    Engine,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.exc import SQLAlchemyError

from sottovoce.errors import SottovoceError

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
