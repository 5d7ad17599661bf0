"""One writer for all requests: it commits whatever has come while the last commit was on its way to the disk.

Many reports share one commit, which is faster, and hides which invitation belongs to which report.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sottovoce.surveys.collect.store import MOST, Entry, Outcome

MOST_WAITING = 20_000
"""Entries that may wait; more are turned away until the disk has caught up."""

IDLE_SECONDS = 2.0
"""Pause after which the database may tidy up."""

UNTIDY_SECONDS = 10.0
"""Time after which it tidies up even if there is no pause."""

LOG = logging.getLogger("sottovoce.survey")

Commit = Callable[[Sequence[Entry]], list[Outcome]]
Tidy = Callable[[], bool]
"""Says whether all is tidy now."""


class BusyError(Exception):
    """The entry was not stored, and may be sent again."""


class _Waiting(NamedTuple):
    entry: Entry
    done: asyncio.Future[Outcome]
    loop: asyncio.AbstractEventLoop


class Writer:
    """A thread that commits batches; an entry is answered when its batch is on disk."""

    def __init__(self, commit: Commit, *, most: int = MOST, tidy: Tidy = lambda: True) -> None:
        """Start the thread; `most` is the number of entries of a batch, `tidy` is called in the pauses."""
        self._commit = commit
        self._tidy = tidy
        self._most = most
        self._waiting: deque[_Waiting] = deque()
        self._wake = threading.Condition()
        self._closed = False
        self._tidied_at = time.monotonic()
        # Whoever does not close it must not wait for it: nothing is acknowledged that is not on disk.
        self._thread = threading.Thread(target=self._run, name="survey writer", daemon=True)
        self._thread.start()

    async def put(self, entry: Entry) -> Outcome:
        """Hand an entry in, and wait until it is on disk or refused."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Outcome] = loop.create_future()
        with self._wake:
            if self._closed or len(self._waiting) >= MOST_WAITING:
                raise BusyError("closed" if self._closed else "full")
            self._waiting.append(_Waiting(entry, done, loop))
            self._wake.notify()
        return await done

    def close(self) -> None:
        """Finish what waits, then stop."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join()

    def _run(self) -> None:
        while batch := self._next():
            try:
                outcomes = self._commit([waiting.entry for waiting in batch])
            except Exception as reason:  # whatever a database may raise: nothing was acknowledged
                # Kept short: a disk that is full must be noticed, and no report be repeated in the log.
                LOG.error("Reports could not be stored: %s %s", type(reason).__name__, getattr(reason, "orig", ""))
                _answer(batch, [BusyError(type(reason).__name__)] * len(batch))
            else:
                _answer(batch, outcomes)
            if time.monotonic() - self._tidied_at > UNTIDY_SECONDS:
                self._tidied()

    def _next(self) -> list[_Waiting]:
        """Everything that waits, up to a batch; nothing once it is closed and empty."""
        tidy = False
        while True:
            with self._wake:
                if self._wake.wait_for(self._wanted, None if tidy else IDLE_SECONDS):
                    return [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
            tidy = self._tidied()  # without the lock, for which every request would have to wait

    def _tidied(self) -> bool:
        self._tidied_at = time.monotonic()
        try:
            return self._tidy()
        except Exception:  # whatever a database may raise: nothing depends on it, and the next pause tries again
            return False

    def _wanted(self) -> bool:
        return bool(self._waiting) or self._closed


def _answer(batch: Sequence[_Waiting], outcomes: Sequence[Outcome | BusyError]) -> None:
    """Tell those who wait, with one call into their loop for the whole batch."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Outcome], Outcome | BusyError]]] = {}
    for waiting, outcome in zip(batch, outcomes, strict=True):
        by_loop.setdefault(waiting.loop, []).append((waiting.done, outcome))
    for loop, answers in by_loop.items():
        loop.call_soon_threadsafe(_resolve, answers)


def _resolve(answers: Sequence[tuple[asyncio.Future[Outcome], Outcome | BusyError]]) -> None:
    for done, outcome in answers:
        if done.cancelled():
            continue  # the client went away; its report is stored all the same
        if isinstance(outcome, BusyError):
            done.set_exception(outcome)
        else:
            done.set_result(outcome)
