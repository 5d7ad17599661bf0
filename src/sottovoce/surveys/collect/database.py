"""The database: its tables, its connections, its transactions and its locks.

No table has a time, an address or a running number, and no transaction touches both an invitation and a report (but
for surveys frozen by 0.1). Reports arrive in the inbox, from which they are moved in batches (`inbox`).
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import (
    URL,
    Boolean,
    Column,
    Connection,
    Engine,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
    make_url,
    select,
    text,
)
from sqlalchemy.exc import ArgumentError, OperationalError

from sottovoce.errors import SottovoceError, Words, check_installed

metadata = MetaData()

layout = Table(
    "sottovoce",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("levels", Integer, nullable=False),
)
"""Version of the layout, and number of tables of reports: one row."""

surveys = Table(
    "surveys",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("document", LargeBinary, nullable=False),
    Column("definition", LargeBinary(32), nullable=False, unique=True),
    Column("secret", LargeBinary),
    Column("logo", LargeBinary),
    Column("issued", Integer, nullable=False),
    Column("replaced", Integer, nullable=False),
    Column("closed", Boolean, nullable=False),
    sqlite_with_rowid=False,
)
"""Frozen surveys, by the first digits of their hash.

`definition` is the hash of the document without its admission key, `secret` the secret key (PKCS#8), `logo` the picture
whose hash the document has, `issued` the number of invitations ever issued, `replaced` how many replace lost ones.
"""

invitations = Table(
    "invitations",
    metadata,
    Column("survey", String(16), ForeignKey("surveys.id"), primary_key=True),
    Column("token", LargeBinary(32), primary_key=True),
    Column("blinded", LargeBinary(32)),
    sqlite_with_rowid=False,
)
"""Hashes of invitations, and of the blinded message that each was spent for; null while it is not spent."""

accounts = Table(
    "accounts",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("password", String(128), nullable=False),
    Column("role", String(8), nullable=False),
    Column("failures", Integer, nullable=False),
    sqlite_with_rowid=False,
)
"""Researchers: the Argon2id hash of the password, what they may do, and failed attempts since the last login."""

sessions = Table(
    "sessions",
    metadata,
    Column("hash", LargeBinary(32), primary_key=True),
    Column("account", String(64), ForeignKey("accounts.name", ondelete="CASCADE"), nullable=False),
    Column("ends", Integer, nullable=False),
    sqlite_with_rowid=False,
)
"""Sessions of researchers by the hash of their random id, with the second at which they end."""

account_links = Table(
    "account_links",
    metadata,
    Column("hash", LargeBinary(32), primary_key=True),
    Column("role", String(8), nullable=False),
    Column("account", String(64)),
    Column("ends", Integer, nullable=False),
    sqlite_with_rowid=False,
)
"""One-time links by the hash of their token: to create an account with a role, or to set the password of `account`."""

drafts = Table(
    "drafts",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("definition", Text, nullable=False),
    Column("logo", LargeBinary),
    Column("planned", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("editor", String(64), nullable=False),
    Column("frozen", String(16)),
    sqlite_with_rowid=False,
)
"""Definitions of surveys that researchers edit, as YAML; `editor` saved the `revision`, and `frozen` is the survey.

`planned` is the number of respondents for whom margins of error are shown.
"""

truths = Table(
    "truths",
    metadata,
    Column("survey", String(16), primary_key=True),
    Column("shares", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""True shares of the simulated respondents of rehearsals, as JSON: an answer's share, by question and answer."""


def _table_of_reports(name: str) -> Table:
    return Table(
        name,
        MetaData(),
        Column("survey", String(16), primary_key=True),
        Column("key", LargeBinary(16), primary_key=True),
        Column("report", LargeBinary, nullable=False),
        Column("receipt", LargeBinary(8)),
        sqlite_with_rowid=False,
    )


inbox = _table_of_reports("inbox")
"""Disguised reports that have arrived and were not moved yet, by the hash of the random key they were sent with."""


@cache
def level(number: int) -> Table:
    """Table of reports that were moved: `reports_0`, `reports_1` and so on, each twice as large as the one before."""
    return _table_of_reports(f"reports_{number}")


BUSY_SECONDS = 10
"""Seconds to wait for the lock of another thread or process."""

BUSY_TIMEOUT = f"busy_timeout={1000 * BUSY_SECONDS}"

PRAGMAS = (
    "synchronous=FULL",  # a commit is on disk before it returns
    "secure_delete=ON",  # what is deleted is overwritten, not just forgotten
    "foreign_keys=ON",
    BUSY_TIMEOUT,
)

NO_FILES = ("", ".", ":memory:")
"""Paths of SQLite databases that would be lost when they are closed, or are none."""

CONNECT_SECONDS = 10
"""Seconds to wait for a PostgreSQL server to answer."""

LOCK = int.from_bytes(b"sottovo")
"""Number of PostgreSQL's advisory lock: shared by those who read or write reports, exclusive for the mover."""


def new_engine(url: URL) -> Engine:
    """Return connections to a database, without looking into it; a missing SQLite file is created empty."""
    return _sqlite(url) if url.get_backend_name() == "sqlite" else _postgres(url)


def database_url(database: str | Path) -> URL:
    """Return the URL of a database; no message repeats one, nor a part of it."""
    rule = "must be an SQLite file or the URL of a PostgreSQL database, postgresql://USER:PASSWORD@HOST/NAME"
    if not isinstance(database, str | Path) or str(database) in NO_FILES:
        raise SottovoceError("db", rule, database)
    if "://" not in str(database):
        return URL.create("sqlite", database=str(database))
    try:
        url = make_url(str(database))
    except (ValueError, ArgumentError):
        raise SottovoceError("db", f"{rule} (with %40 for @ and %3A for : in it)", Words("another URL")) from None
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise SottovoceError("db", rule, Words(shown(str(database))))
    return url


def _sqlite(url: URL) -> Engine:
    settings = {"line": Lock()}
    engine = create_engine(url, hide_parameters=True, execution_options=settings)  # no error repeats a report
    if url.database and not url.database.startswith("file:") and not Path(url.database).exists():
        Path(url.database).touch(mode=0o600)  # only the owner may read a new file
    event.listen(engine, "connect", _set_pragmas)
    event.listen(engine, "begin", _begin)
    return engine


def _postgres(url: URL) -> Engine:
    """Connect through psycopg 3; a commit is on disk before it returns, whatever the server's default is."""
    check_installed("a PostgreSQL database", "postgres", "psycopg")
    driver = url if "+" in url.drivername else url.set(drivername="postgresql+psycopg")
    settings = {"options": "-c synchronous_commit=on", "connect_timeout": CONNECT_SECONDS}
    return create_engine(driver, hide_parameters=True, pool_pre_ping=True, connect_args=settings)


def _set_pragmas(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin when SQLAlchemy begins them, not later
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Any) -> None:
    """Take the write lock at the beginning of a writing transaction: later it may be refused."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Transaction that reads."""
    with engine.begin() as connection:
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Transaction that writes."""
    with _in_line(engine), engine.connect().execution_options(writes=True) as connection, connection.begin():
        yield connection


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """Transaction that reads everything as it was at one moment, while reports go on arriving.

    No table of reports is replaced meanwhile. PostgreSQL would show a table that was replaced after the snapshot
    without its rows. So the snapshot has to begin after the last move: LOCK TABLE waits for it without taking a
    snapshot, which a SELECT that waits would have taken before. SQLite keeps what its readers see.
    """
    with engine.connect() as connection:
        if is_postgres(engine):
            connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            if is_postgres(engine):
                connection.execute(text(f"LOCK TABLE {layout.name} IN SHARE MODE"))
            yield connection


@contextmanager
def _in_line(engine: Engine) -> Iterator[None]:
    """Let this process's threads wait for SQLite's lock one after the other.

    SQLite itself asks again and again with growing pauses, in which others come first: some would wait for seconds.
    """
    line: Lock | None = engine.get_execution_options().get("line")
    with ExitStack() as stack:
        if line is not None and line.acquire(timeout=BUSY_SECONDS):  # if not, SQLite will say that it is busy
            stack.callback(line.release)
        yield


def is_postgres(connection: Connection | Engine) -> bool:
    """Whether this is PostgreSQL, which needs a lock where SQLite has one writer at a time."""
    return connection.dialect.name == "postgresql"


def lock_reports(connection: Connection, *, exclusive: bool = False) -> None:
    """Keep the mover away until this transaction ends; `exclusive` keeps everybody else away from the reports.

    Without it, a writer that looks for a report and finds none could wait for the mover, and store it a second time;
    a reader could miss the reports that are being moved.
    """
    if is_postgres(connection):
        kind = "" if exclusive else "_shared"
        connection.execute(text(f"SELECT pg_advisory_xact_lock{kind}(:key)"), {"key": LOCK})


def lock_tables(connection: Connection, *, wait: bool) -> bool:
    """Begin to replace tables of reports; return False if a backup reads them, unless this has to `wait` for its end.

    Taken before `lock_reports`: waiting for a backup must not keep others from their reports meanwhile.
    """
    if is_postgres(connection):
        lock = f"LOCK TABLE {layout.name} IN ROW EXCLUSIVE MODE"
        if wait:
            connection.execute(text(lock))
            return True
        try:
            with connection.begin_nested():
                connection.execute(text(f"{lock} NOWAIT"))
        except OperationalError:  # or the connection is lost, of which the end of the transaction tells
            return False
    return True


def limit_waiting(connection: Connection) -> None:
    """Let this transaction fail on PostgreSQL if it must wait for a lock for a second, while others wait for it.

    `pg_dump` locks all tables against changes of their layout for as long as it takes.
    """
    if is_postgres(connection):
        connection.execute(text("SET LOCAL lock_timeout = '1s'"))


def levels_of(connection: Connection) -> int:
    """Return the number of tables of reports."""
    return int(connection.scalar(select(layout.c.levels)) or 0)


def check_database(connection: Connection) -> list[str]:
    """Return which settings of PostgreSQL break what the server promises; refuse a damaged SQLite file."""
    if is_postgres(connection):
        remarks = {
            "fsync": ("off", "acknowledged reports may be lost if the machine fails"),
            "archive_mode": ("on", "the archive keeps the order in which reports arrive"),
        }
        return [
            f"PostgreSQL has {name} = {bad}: {effect}."
            for name, (bad, effect) in remarks.items()
            if connection.exec_driver_sql(f"SHOW {name}").scalar() == bad
        ]
    found = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar())
    if found != "ok":
        raise SottovoceError("db", "must be intact; restore a backup", Words(found))
    return []


def shown(database: str) -> str:
    """Return a database as messages may name it: a URL may contain a password."""
    kind, separator, _ = database.rpartition("://")
    return f"{kind}{separator}..." if separator else database


def database_error(database: str, wanted: str, reason: Exception) -> SottovoceError:
    """Return an error of a database with the driver's message."""
    return SottovoceError("db", f"must be a database that can be {wanted} ({driver_message(reason)})", shown(database))


def driver_message(reason: Exception) -> str:
    """Return what the driver said, without the statement and the links that SQLAlchemy adds."""
    return str(getattr(reason, "orig", reason)).partition("\n")[0]
