"""The writer, which commits all entries that arrived during the previous commit as one batch.

One commit for many reports is faster, and hides which invitation belongs to which report.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sottovoce.surveys.collect.entries import Entry, Outcome
from sottovoce.surveys.collect.log import LOG
from sottovoce.surveys.collect.store import BATCH_SIZE

MOST_WAITING = 20_000
"""Most entries that wait for a commit; further ones are refused until the disk has caught up."""

IDLE_SECONDS = 2.0
"""Pause after which the database is tidied up."""

UNTIDY_SECONDS = 10.0
"""Time after which the database is tidied up even without a pause."""

GATHER_SECONDS = 2e-4
"""Time for which a commit waits for more entries, for each entry but the first that the last commit had.

A commit costs as much as some fifty entries, so larger ones save processor time under load. A report that comes alone
does not wait.
"""

MOST_GATHER_SECONDS = 3e-3

CLOSE_SECONDS = 20.0
"""Time for the last commits: with the time for open requests, less than systemd waits for a service to stop."""

Commit = Callable[[Sequence[Entry]], list[Outcome]]
Tidy = Callable[[], bool]
"""Tidies up the database, and returns whether nothing is left to do."""


class BusyError(Exception):
    """Raised if an entry was not stored; it may be sent again."""


class _Waiting(NamedTuple):
    entry: Entry
    done: asyncio.Future[Outcome]
    loop: asyncio.AbstractEventLoop


class Writer:
    """A thread that commits entries in batches; `put` returns when the entry's batch is on disk."""

    def __init__(self, commit: Commit, *, most: int = BATCH_SIZE, tidy: Tidy = lambda: True) -> None:
        """Start the thread. `most` is the largest number of entries of a batch; `tidy` is called in pauses."""
        self._commit = commit
        self._tidy = tidy
        self._most = most
        self._waiting: deque[_Waiting] = deque()
        self._wake = threading.Condition()
        self._closed = False
        self._failing = False
        self._last_size = 1
        self._in_commit = 0
        self._tidied_at = time.monotonic()
        # A daemon, so that a process that does not close the writer can end: only stored reports are acknowledged.
        self._thread = threading.Thread(target=self._run, name="survey writer", daemon=True)
        self._thread.start()

    @property
    def failing(self) -> bool:
        """Whether the last commit failed."""
        return self._failing

    @property
    def waiting(self) -> int:
        """Number of entries that wait for a commit."""
        return len(self._waiting)

    async def put(self, entry: Entry) -> Outcome:
        """Queue an entry, and return its outcome when it is on disk or refused."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Outcome] = loop.create_future()
        with self._wake:
            if self._closed or len(self._waiting) >= MOST_WAITING:
                raise BusyError("closed" if self._closed else "full")
            self._waiting.append(_Waiting(entry, done, loop))
            self._wake.notify()
        return await done

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Store the waiting entries, tidy up, then stop the thread.

        A database that neither answers nor fails is not waited for any longer than this. How many entries it leaves
        is logged: nobody was told that they are stored, so their senders send them again.
        """
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join(seconds)
        if self._thread.is_alive():
            left = self._in_commit + len(self._waiting)
            LOG.error("The database has not answered for %g seconds. Reports not acknowledged: %d", seconds, left)

    def _run(self) -> None:
        while batch := self._next_batch():
            self._in_commit = len(batch)
            try:
                outcomes = self._commit([waiting.entry for waiting in batch])
            except Exception as reason:  # databases raise many types; no entry of the batch was acknowledged
                if not self._failing:  # one line for an outage; without details: the log must not contain a report
                    message = str(getattr(reason, "orig", "")).partition("\n")[0]
                    LOG.error("Reports could not be stored: %s %s", type(reason).__name__, message)
                self._failing = True
                _resolve_batch(batch, [BusyError(type(reason).__name__)] * len(batch))
            else:
                self._failing = False
                _resolve_batch(batch, outcomes)
            self._in_commit = 0
            if time.monotonic() - self._tidied_at > UNTIDY_SECONDS:
                self._try_to_tidy()
        self._try_to_tidy()  # there will be no pause any more

    def _next_batch(self) -> list[_Waiting]:
        """Wait for entries, and return at most a batch of them; return an empty list once the writer is closed."""
        tidy = False
        while True:
            with self._wake:
                ready = self._wake.wait_for(self._ready, None if tidy else IDLE_SECONDS)
            if ready:
                return self._gathered()
            tidy = self._try_to_tidy()  # without the lock, which every request needs

    def _gathered(self) -> list[_Waiting]:
        """Return the waiting entries and those that come in the next moment, at most a batch."""
        time.sleep(min(GATHER_SECONDS * (self._last_size - 1), MOST_GATHER_SECONDS))
        with self._wake:
            batch = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
        self._last_size = max(len(batch), 1)
        return batch

    def _try_to_tidy(self) -> bool:
        self._tidied_at = time.monotonic()
        try:
            return self._tidy()
        except Exception:  # databases raise many types; nothing depends on it, and the next pause tries again
            return False

    def _ready(self) -> bool:
        return bool(self._waiting) or self._closed


def _resolve_batch(batch: Sequence[_Waiting], outcomes: Sequence[Outcome | BusyError]) -> None:
    """Set the outcomes of a batch, with one call into each event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Outcome], Outcome | BusyError]]] = {}
    for waiting, outcome in zip(batch, outcomes, strict=True):
        by_loop.setdefault(waiting.loop, []).append((waiting.done, outcome))
    for loop, answers in by_loop.items():
        loop.call_soon_threadsafe(_resolve, answers)


def _resolve(answers: Sequence[tuple[asyncio.Future[Outcome], Outcome | BusyError]]) -> None:
    for done, outcome in answers:
        if done.cancelled():
            continue  # the client disconnected; its report is stored nevertheless
        if isinstance(outcome, BusyError):
            done.set_exception(outcome)
        else:
            done.set_result(outcome)
