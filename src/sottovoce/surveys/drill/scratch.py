"""The private database: an SQLite file in a temporary folder, or a scratch database of a PostgreSQL server.

Each knows how its kind fails: held by somebody else, out of reach, full, or read-only. Nothing that existed before is
touched, and nothing is left.
"""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from random import Random
from secrets import token_hex
from tempfile import TemporaryDirectory

from sqlalchemy import URL, Connection, Engine, create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from sottovoce.errors import SottovoceError, Words, check_installed
from sottovoce.surveys.collect.database import CONNECT_SECONDS, database_error, shown
from sottovoce.surveys.drill.proxy import FAIR, Proxy, Weather
from sottovoce.surveys.drill.server import Server

NAME = "sottovoce_drill_"
"""Beginning of the names of scratch databases and temporary folders."""

SILENT = "silent"
"""An outage in which connections stay open and nothing comes back."""

MOST_ROOM = 20_000
"""Most bytes that a full disk still takes."""

FULL_DISK = """
CREATE OR REPLACE FUNCTION drill_full_disk() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$
"""
FULL_TABLES = ("inbox", "invitations")


class Scratch(ABC):
    """A private database, its URL for the drill (`url`) and for the server (`server_url`), and how it can fail.

    Of its `outages` the last is the longest.
    """

    kind: str
    url: str
    server_url: str
    folder: Path
    outages: tuple[str, ...]

    @abstractmethod
    def held(self) -> "ExitStack":
        """Let everybody who writes wait, until the returned stack is closed."""

    @abstractmethod
    def outage(self, way: str) -> "ExitStack":
        """Put the database out of reach in one of its `outages`, until the returned stack is closed."""

    @abstractmethod
    def full(self, server: Server, rng: Random) -> "ExitStack":
        """Fill the disk, until the returned stack is closed."""

    @abstractmethod
    def read_only(self, server: Server) -> "ExitStack":
        """Let nobody write, until the returned stack is closed."""

    @abstractmethod
    def unsteady(self, weather: Weather) -> "ExitStack":
        """Let connections to the database suffer from the weather, until the returned stack is closed."""


class SqliteScratch(Scratch):
    """A new SQLite file."""

    kind = "sqlite"
    outages = ("locked by another program",)

    def __init__(self, folder: Path) -> None:
        """Name the file; the first store creates it."""
        self.folder = folder
        self.url = self.server_url = str(folder / "surveys.db")

    def held(self) -> ExitStack:
        """Hold the lock of writers, as another program would."""
        with ExitStack() as stack:
            connection = stack.enter_context(closing(_connected(self.url)))
            connection.execute("BEGIN IMMEDIATE")
            return stack.pop_all()

    def outage(self, way: str) -> ExitStack:
        """Hold the lock longer than anybody waits for it: a file has no connection that could fail."""
        del way
        return self.held()

    def full(self, server: Server, rng: Random) -> ExitStack:
        """Let no file of the server grow beyond what its log has now and a few pages."""
        log = Path(f"{self.url}-wal")
        server.tell(f"room {(log.stat().st_size if log.exists() else 0) + rng.randrange(MOST_ROOM)}")
        return _afterwards(lambda: server.tell("room -1"))

    def read_only(self, server: Server) -> ExitStack:
        """Let SQLite refuse every write with the error of a read-only disk."""
        server.tell("read_only 1")
        return _afterwards(lambda: server.tell("read_only 0"))

    def unsteady(self, weather: Weather) -> ExitStack:
        """Do nothing: there is no connection."""
        del weather
        return ExitStack()


class PostgresScratch(Scratch):
    """A scratch database, which the private server reaches through a proxy."""

    kind = "postgresql"
    outages = (SILENT, "out of reach")

    def __init__(self, url: URL, folder: Path, proxy: Proxy) -> None:
        """Take the URL of the scratch database, and a proxy to its server."""
        self.folder, self._proxy = folder, proxy
        self.url = url.render_as_string(hide_password=False)
        near = url.set(port=proxy.port)
        # Certificates are checked against the host's name, wherever the connection goes to.
        socket = _host(url).startswith("/")
        near = near.set(host="127.0.0.1", query={}) if socket else near.update_query_dict({"hostaddr": "127.0.0.1"})
        self.server_url = near.render_as_string(hide_password=False)

    def held(self) -> ExitStack:
        """Lock the tables that are written, as somebody at a prompt would."""
        with ExitStack() as stack:
            connection = self._connection(stack)
            stack.enter_context(connection.begin())
            connection.execute(text(f"LOCK TABLE {', '.join(FULL_TABLES)} IN EXCLUSIVE MODE"))
            return stack.pop_all()

    def outage(self, way: str) -> ExitStack:
        """Stop answering, or refuse every connection."""
        return self._under(Weather(stalls=way == SILENT, refuses=way != SILENT), cut=True)

    def full(self, server: Server, rng: Random) -> ExitStack:
        """Let the tables refuse rows with PostgreSQL's error of a full disk: its disk is not the drill's to fill."""
        del server, rng
        self._run(FULL_DISK)
        for table in FULL_TABLES:
            self._run(
                f"CREATE TRIGGER drill_full_disk BEFORE INSERT OR UPDATE ON {table} "
                "FOR EACH ROW EXECUTE FUNCTION drill_full_disk()"
            )
        return _afterwards(lambda: self._run("DROP FUNCTION drill_full_disk CASCADE"))

    def read_only(self, server: Server) -> ExitStack:
        """Let new connections read only, as after a failover to a replica, and cut those that are there."""
        del server
        self._set_read_only("on")
        return _afterwards(lambda: self._set_read_only("off"))

    def unsteady(self, weather: Weather) -> ExitStack:
        """Let the proxy delay and cut connections of the server."""
        return self._under(weather, cut=False)

    def _under(self, weather: Weather, *, cut: bool) -> ExitStack:
        self._proxy.weather = weather
        if cut and weather.refuses:
            self._proxy.cut_all()

        def clear_up() -> None:
            self._proxy.weather = FAIR
            if cut:
                self._proxy.cut_all()  # what has waited meanwhile is lost, as if the other side had gone

        return _afterwards(clear_up)

    def _set_read_only(self, value: str) -> None:
        # Outside of the proxy, so that this connection is not among those that are cut.
        self._run(f"ALTER DATABASE {make_url(self.url).database} SET default_transaction_read_only = {value}")
        self._proxy.cut_all()

    def _connection(self, stack: ExitStack) -> Connection:
        engine = _engine(make_url(self.url))
        stack.callback(engine.dispose)
        return stack.enter_context(engine.connect())

    def _run(self, statement: str) -> None:
        with ExitStack() as stack:
            connection = self._connection(stack).execution_options(isolation_level="AUTOCOMMIT")
            connection.execute(text("SET default_transaction_read_only = off"))
            connection.execute(text(statement))


def _connected(database: str) -> sqlite3.Connection:
    # Faults begin and end in different threads.
    return sqlite3.connect(database, timeout=60, isolation_level=None, check_same_thread=False)


def _afterwards(undo: Callable[[], object]) -> ExitStack:
    stack = ExitStack()
    stack.callback(undo)
    return stack


def _engine(url: URL) -> Engine:
    return create_engine(url, hide_parameters=True, connect_args={"connect_timeout": CONNECT_SECONDS})


def _host(url: URL) -> str:
    return url.host or str(url.query.get("host", "127.0.0.1"))


@contextmanager
def new_scratch(database: str | None, folder: str | Path | None, rng: Random) -> Iterator[Scratch]:
    """Create a private database while the block runs: in a new folder, or on the PostgreSQL server of a URL."""
    if folder is not None and not Path(folder).is_dir():
        raise SottovoceError("folder", "must be a folder for temporary files", str(folder))
    with TemporaryDirectory(prefix=NAME, dir=folder) as name:
        if database is None:
            yield SqliteScratch(Path(name))
            return
        with _scratch_database(_postgres_url(database)) as url:
            port = url.port or int(str(url.query.get("port", 5432)))
            with Proxy(lambda: (_host(url), port), rng) as proxy:
                yield PostgresScratch(url, Path(name), proxy)


def _postgres_url(database: str) -> URL:
    try:
        url = make_url(database)
    except (ValueError, ArgumentError):
        url = URL.create("none")
    if url.get_backend_name() != "postgresql":
        rule = "must be the URL of a database on a PostgreSQL server, or be left out for SQLite"
        raise SottovoceError("db", rule, Words(shown(database)))
    check_installed("a PostgreSQL database", "postgres", "psycopg")
    return url if "+" in url.drivername else url.set(drivername="postgresql+psycopg")


@contextmanager
def _scratch_database(url: URL) -> Iterator[URL]:
    """Create a database beside that of a URL, and drop it after the block."""
    name = f"{NAME}{token_hex(6)}"
    engine = _engine(url)

    def run(statement: str) -> None:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(statement))

    try:
        try:
            run(f"CREATE DATABASE {name} TEMPLATE template0")
        except SQLAlchemyError as reason:
            given = url.render_as_string(hide_password=False)
            raise database_error(given, "used to create a scratch database beside it", reason) from None
        try:
            yield url.set(database=name)
        finally:
            run(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        engine.dispose()
