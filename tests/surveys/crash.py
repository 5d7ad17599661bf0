"""Crashes after which the disk has lost what it was not asked to keep.

A killed process leaves its writes to the operating system, a power failure does not. `synced.c` writes down what a
server writes and syncs; `tear` then destroys what was written after the last sync of each file.
"""

import os
import shutil
import signal
import subprocess
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.surveys.postgres import send_signal

SOURCE = Path(__file__).with_name("synced.c")
SECTOR = 512
TRIES = 2000


class Recorder:
    """What servers write and sync, as long as they run in this environment."""

    def __init__(self, folder):
        compiler = shutil.which("cc")
        if compiler is None:
            assert os.environ.get("CI") != "true", "a C compiler must be installed"
            pytest.skip("no C compiler is installed")
        library = folder / "synced.so"
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
        self._log = folder / "synced.log"
        self._log.touch()
        self._log.chmod(0o666)  # PostgreSQL is another user
        self.environment = {"LD_PRELOAD": str(library), "SYNCED_LOG": str(self._log)}

        self._read, self._writes = 0, defaultdict(list)

    def forget(self):
        """Begin anew, before a server is started."""
        os.truncate(self._log, 0)
        self._read, self._writes = 0, defaultdict(list)

    def unsynced(self):
        """Return what the disk could lose now: for each file, where writes began and ended, and what they replaced."""
        with self._log.open("rb") as log:
            log.seek(self._read)
            content, at = log.read(), 0
        while (end := content.find(b"\n", at)) >= 0:
            kind, start, length, replaced, name = content[at:end].decode().split(" ")
            path, at = Path(name), end + 1 + int(replaced)
            if kind == "s":
                self._writes.pop(path, None)
            else:
                self._writes[path].append(Write(int(start), int(start) + int(length), content[end + 1 : at]))
        self._read += at
        return {path: found for path, found in self._writes.items() if path.exists()}

    def freeze(self, processes):
        """Stop processes, given by a function, at a moment when they have written something and not yet synced it."""
        for _ in range(TRIES):
            send_signal(processes()[:1], signal.SIGSTOP)  # the first starts no others meanwhile
            stopped = processes()
            send_signal(stopped, signal.SIGSTOP)
            if self.unsynced():
                return
            send_signal(stopped, signal.SIGCONT)
            time.sleep(0.003)
        pytest.fail("nothing was written without being synced")


class Write(NamedTuple):
    """A write to a file, and the bytes that it replaced, fewer if the file ended there."""

    start: int
    end: int
    old: bytes


def tear(path, writes, rng):
    """Undo unsynced writes to some sectors of a file, and lose some of its end if it became longer."""
    content = bytearray(path.read_bytes())
    for write in reversed(writes):
        for start in range(write.start - write.start % SECTOR, write.end, SECTOR):
            first, last = max(start, write.start), min(start + SECTOR, write.end, len(content))
            if rng.random() < 0.5 and first < last:
                old = write.old[first - write.start : last - write.start]
                unknown = last - first - len(old)  # a new part of a file is whatever it was before
                content[first:last] = old + rng.choice((bytes, rng.randbytes))(unknown)
    size = min(
        [len(content), *(write.start + len(write.old) for write in writes if len(write.old) < write.end - write.start)]
    )
    if size < len(content):
        del content[rng.randrange(size, len(content)) :]
    with path.open("r+b") as file:  # owner and rights stay as they are
        file.write(content)
        file.truncate(len(content))
