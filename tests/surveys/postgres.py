"""A PostgreSQL server of the tests' own: Debian's programs, a temporary directory, and another user if this is root.

PostgreSQL refuses to run as root, and its user cannot enter pytest's directories, so the cluster has one of its own.
Everything that could lose or hide a row stays as PostgreSQL ships it, above all `fsync`; `autovacuum` is off, so that
old row versions stay for whoever looks for them.
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

PROGRAMS = "/usr/lib/postgresql"
"""Where Debian keeps the programs, by version and outside the path."""

SYSTEM_USER = "postgres"
SUPERUSER = "postgres"
ROLE = "surveyor"
"""Owner of the databases: what a survey's server logs in as."""

SETTINGS = {
    "autovacuum": "off",
    "listen_addresses": "127.0.0.1",
    "log_min_messages": "warning",
    "max_connections": "200",
    "shared_buffers": "32MB",
}
SIGNALS = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT, "kill": signal.SIGKILL}
TRIES = 5


def find_programs() -> Path | None:
    """Folder of the newest PostgreSQL on this machine."""
    debian = sorted(Path(PROGRAMS).glob("*/bin/initdb"), key=lambda path: int(path.parts[-3].partition(".")[0]))
    found = debian[-1] if debian else shutil.which("initdb")
    return None if found is None else Path(found).parent


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def send_signal(processes: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to processes, some of which may have ended."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def _runs(process: int) -> bool:
    """Return whether a process runs; one that has ended may still be listed until its parent takes note."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Cluster:
    """A running PostgreSQL server. Its URL stays the same when it is stopped and started again."""

    def __init__(self, programs: Path, home: Path) -> None:
        self._programs = programs
        self._home = home
        self._user: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._user = {"user": SYSTEM_USER, "group": SYSTEM_USER, "extra_groups": []}
            shutil.chown(home, SYSTEM_USER, SYSTEM_USER)
        self._password = secrets.token_urlsafe()
        self._numbers = count(1)
        self.port = 0
        self.data = home / "data"
        self.environment: dict[str, str] = {}
        self._log = home / "log"
        self._process: subprocess.Popen[bytes] | None = None

    def create(self) -> None:
        """Make the cluster, start it, and add the role of survey servers."""
        # Passwords over TCP, as in real life; the socket's directory is closed to everybody but its owner and root.
        options = ["--auth-local=trust", "--auth-host=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"]
        self._run("initdb", "-D", self.data, "-U", SUPERUSER, *options)
        for attempt in range(TRIES):
            self.port = _free_port()
            try:
                self.start()
                break
            except RuntimeError:  # another process may have taken the port meanwhile
                if attempt == TRIES - 1:
                    raise
        with self.superuser("postgres") as connection:
            connection.execute(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{self._password}'")

    def start(self, **changes: str) -> None:
        """Start the server, which after a crash repeats its log first, and wait until it takes connections."""
        settings = SETTINGS | {"port": str(self.port), "unix_socket_directories": str(self._home)} | changes
        command = [str(self._programs / "postgres"), "-D", str(self.data)]
        command += [f"--{name}={value}" for name, value in settings.items()]
        with self._log.open("a") as log:
            # A child of ours, so that it is gone when it has ended, and does not hear the keyboard's interrupts.
            self._process = subprocess.Popen(
                command,
                **self._user,
                cwd="/",
                env=os.environ | self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        ready = ["-h", self._home, "-p", self.port, "-t", "1", "-q"]
        while self._try("pg_isready", *ready).returncode:
            if self._process.poll() is not None:
                raise RuntimeError(f"PostgreSQL does not start.\n{self._log.read_text()[-2000:]}")
            time.sleep(0.02)

    def stop(self, mode: str = "fast") -> None:
        """Stop the server as `pg_ctl stop` does: `fast` in good order, `immediate` without writing anything more.

        `kill` ends all its processes where they are.
        """
        if self._process is not None:
            if mode == "kill":
                self._process.send_signal(signal.SIGSTOP)  # it starts no others meanwhile
            _, *others = self.processes()
            send_signal(others if mode == "kill" else [], signal.SIGKILL)
            self._process.send_signal(SIGNALS[mode])
            self._process.wait(60)
            self._process = None
            while any(map(_runs, others)):
                time.sleep(0.01)

    def processes(self) -> list[int]:
        """Return the ids of the server's processes, the first of which starts the others."""
        if self.process is None:
            return []
        children = Path(f"/proc/{self.process}/task/{self.process}/children").read_text().split()
        return [self.process, *map(int, children)]

    @property
    def process(self) -> int | None:
        """Id of the server's first process, if it runs."""
        return None if self._process is None or self._process.poll() is not None else self._process.pid

    def database(self) -> str:
        """Return the URL of a new, empty database, as survey servers take it."""
        name = f"survey_{next(self._numbers)}"
        with self.superuser("postgres") as connection:
            connection.execute(f"CREATE DATABASE {name} OWNER {ROLE} TEMPLATE template0")
        return f"postgresql+psycopg://{ROLE}:{self._password}@127.0.0.1:{self.port}/{name}"

    def superuser(self, database: str) -> Any:
        """Return a connection of the superuser to a database, by its URL or name; each statement is a transaction."""
        import psycopg

        name = database.rpartition("/")[2]
        return psycopg.connect(host=str(self._home), port=self.port, user=SUPERUSER, dbname=name, autocommit=True)

    def dump(self, database: str) -> str:
        """Return what pg_dump writes about a database: rows in the order in which they lie on disk."""
        where = ["-h", str(self._home), "-p", str(self.port), "-U", SUPERUSER]
        return self._run("pg_dump", *where, database.rpartition("/")[2])

    def _try(self, program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        command = [str(self._programs / program), *map(str, arguments)]
        return subprocess.run(command, **self._user, cwd="/", capture_output=True, text=True, check=False)

    def _run(self, program: str, *arguments: object) -> str:
        done = self._try(program, *arguments)
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr}")
        return done.stdout


@contextmanager
def new_cluster(programs: Path) -> Iterator[Cluster]:
    """Run a new cluster while the block runs; whatever happens, it stops and its files are deleted."""
    home = Path(mkdtemp(prefix="sv-pg-", dir="/tmp"))  # a socket's path must be short; mkdtemp is private
    cluster = Cluster(programs, home)
    try:
        cluster.create()
        yield cluster
    finally:
        cluster.stop("immediate")
        shutil.rmtree(home, ignore_errors=True)
