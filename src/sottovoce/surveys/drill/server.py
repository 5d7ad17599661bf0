"""The private server: the survey's application in a process of its own, which can be killed, stopped and frozen.

Lines on its standard input change what a server cannot change itself: its clock, the room on its disk, and whether the
disk can be written. They are no part of the application, and the process ends when its input ends, so it does not
outlive a drill that is killed.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import msgspec
from sqlalchemy import Engine, event

from sottovoce.errors import SottovoceError, Words
from sottovoce.surveys.collect import writer
from sottovoce.surveys.collect.app_state import utc_now
from sottovoce.surveys.collect.forwarded import THIS_MACHINE, Forwarded, TrustedProxies
from sottovoce.surveys.collect.server import address_of, listen, serve
from sottovoce.surveys.collect.store import Store

APPLICATION = "sottovoce.surveys.collect.server:make_app"
"""Module and function that makes the application; tests name others, with a bug each."""

SAID = b"drill "
"""Beginning of the lines in which the process answers the drill, among whatever the server writes."""

TIDY_SECONDS = 0.2
"""Pause after which reports are moved: often, so that kills hit moves, too."""

BATCH = 16
"""Fewest reports that are moved."""

START_SECONDS = 60.0
"""Time within which the process must start or obey."""

STOP_SECONDS = 60.0
"""Time within which it must have stopped: longer than requests are given to finish."""


class Settings(msgspec.Struct, frozen=True):
    """First line of the process's input: a database, whose URL may have a password, and the application."""

    database: str
    application: str


class Controls:
    """The clock and the disk of the server, as the drill wants them."""

    def __init__(self) -> None:
        """Begin with the real ones."""
        self._ahead = timedelta()
        self._read_only = False

    def now(self) -> datetime:
        """Return the server's time."""
        return utc_now() + self._ahead

    def attach(self, engine: Engine) -> None:
        """Let an SQLite database fail like one on a read-only disk when it is told to."""
        if engine.dialect.name == "sqlite":
            event.listen(engine, "checkout", self._set_read_only)

    def _set_read_only(self, connection: Any, _record: Any, _proxy: Any) -> None:
        connection.execute(f"PRAGMA query_only={'ON' if self._read_only else 'OFF'}")

    def obey(self, line: str) -> None:
        """Do what a line says: `clock SECONDS` ahead, files of at most `room BYTES` (-1: any), `read_only 0|1`."""
        name, value = line.split()
        if name == "clock":
            self._ahead = timedelta(seconds=float(value))
        elif name == "room":
            import resource

            # A soft limit: Python ignores the signal, so writes fail as on a full disk, for root, too.
            _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard if int(value) < 0 else int(value), hard))
        else:
            self._read_only = value == "1"

    def follow(self, lines: Iterable[str], answer: Callable[[str], object], end: Callable[[int], object]) -> None:
        """Obey line after line, and end the process when there are no more."""
        for line in lines:
            self.obey(line)
            answer("done")
        end(1)


def find_application(name: str) -> Callable[..., Any]:
    """Return the function that makes the application, by `module:function`."""
    module, _, function = name.partition(":")
    made: Callable[..., Any] = getattr(import_module(module), function)
    return made


def main() -> None:  # pragma: no cover  # in the other process
    """Serve the database of the first line of the input, and obey the others."""
    settings = msgspec.json.decode(sys.stdin.readline(), type=Settings)
    writer.IDLE_SECONDS = writer.UNTIDY_SECONDS = TIDY_SECONDS
    controls, store = Controls(), Store(settings.database, batch=BATCH)
    controls.attach(store.engine)
    app = find_application(settings.application)(store, now=controls.now, respondents_only=True)
    listening = listen("127.0.0.1", 0)

    def answer(words: str) -> None:
        os.write(1, SAID + words.encode() + b"\n")

    threading.Thread(target=controls.follow, args=(sys.stdin, answer, os._exit), daemon=True).start()
    answer(address_of(listening))
    serve(Forwarded(app, TrustedProxies(THIS_MACHINE)), listening)  # the drill's respondents have made-up addresses


class Server:
    """A process that serves a database, and everything that it has written."""

    def __init__(self, database: str, folder: Path, application: str = APPLICATION) -> None:
        """Start the process, with a folder for its temporary files, and wait until it listens."""
        self._said: Queue[str | None] = Queue()
        self._output = bytearray()
        self._process = subprocess.Popen(  # noqa: S603  # this very module
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"SQLITE_TMPDIR": str(folder), "TMPDIR": str(folder)},
        )
        if self._process.stdin is None or self._process.stdout is None:  # pragma: no cover  # both were asked for
            raise TypeError("the process must have pipes")
        self._input, self._lines = self._process.stdin, self._process.stdout
        self._reader = threading.Thread(target=self._read, name="drill server", daemon=True)
        self._reader.start()
        self._write(msgspec.json.encode(Settings(database, application)).decode())
        self.address = self._hear()

    @property
    def output(self) -> bytes:
        """What the process has written to its standard output and standard error."""
        return bytes(self._output)

    @property
    def runs(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def tell(self, words: str) -> None:
        """Let the process obey a line (`Controls.obey`), and wait until it has."""
        self._write(words)
        self._hear()

    def freeze(self) -> None:
        """Stop the process where it is, until `thaw`."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen process go on."""
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End the process where it is."""
        self._process.kill()
        self._ended()

    def ask_to_stop(self) -> None:
        """Ask the process to stop in good order, without waiting for it."""
        self._process.terminate()

    def stop(self) -> bool:
        """Stop the process in good order; return whether it did so in time. One that does not is killed."""
        self.ask_to_stop()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        self._ended()
        return True

    def _ended(self) -> None:
        self._process.wait()
        self._reader.join()
        self._input.close()
        self._lines.close()

    def _write(self, line: str) -> None:
        with suppress(BrokenPipeError):  # the process has ended, as `_hear` will say
            self._input.write(f"{line}\n".encode())
            self._input.flush()

    def _read(self) -> None:
        for line in self._lines:
            self._output += line
            if line.startswith(SAID):
                self._said.put(line.removeprefix(SAID).decode().strip())
        self._said.put(None)

    def _hear(self) -> str:
        """Return the next answer of the process; refuse one that has ended or says nothing."""
        try:
            said = self._said.get(timeout=START_SECONDS)
        except Empty:
            said = None
        if said is None:
            self.kill()
            last = self.output.decode(errors="replace").strip().rpartition("\n")[2]
            raise SottovoceError("server", "must run and obey the drill", Words(last or "nothing"))
        return said


if __name__ == "__main__":  # pragma: no cover  # in the other process
    main()
