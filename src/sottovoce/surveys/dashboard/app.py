"""The dashboard as part of the web application: its routes, and what its requests share."""

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cached_property
from multiprocessing import parent_process
from multiprocessing.connection import wait
from multiprocessing.context import SpawnContext, SpawnProcess
from signal import SIG_IGN, SIGINT, signal
from threading import Lock, Thread
from types import ModuleType
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sottovoce.surveys.collect.app_state import RateLimit, Refusal, RefusedError
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.dashboard import (
    account_pages,
    draft_pages,
    preview_pages,
    publish_pages,
    rehearsal_pages,
    result_pages,
    survey_pages,
)
from sottovoce.surveys.dashboard.accounts import Accounts
from sottovoce.surveys.dashboard.live_results import LiveResults
from sottovoce.surveys.dashboard.visit import HOME, files, release

Found = TypeVar("Found")

NICENESS = 5
"""By how much the process for estimates gives way to others."""

LOGINS_PER_WINDOW = 5
"""Attempts to log in from one address within ten seconds."""

THREADS = 8
"""Requests of researchers that are handled at once, beside those of respondents."""

DOORS = 2
"""Attempts to log in that are handled at once: each takes 64 MiB and a third of a second."""

MOST_WAITING = 20
"""Attempts to log in that may wait for others; more are refused."""


class Dashboard:
    """Accounts, limits, threads, and a process for estimates: collecting reports is not held up by any of them."""

    def __init__(
        self,
        store: Store,
        logins_per_window: int | None = LOGINS_PER_WINDOW,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Use a database, and a clock for sessions and links."""
        self.accounts = Accounts(store.engine, clock)
        self._logins, self._counting = RateLimit(logins_per_window), Lock()

    def check_rate(self, address: str) -> None:
        """Count an attempt to log in, or to use a one-time link; refuse one of too many from one address."""
        with self._counting:
            allowed = self._logins.allows(address)
        if not allowed:
            raise RefusedError(Refusal.slow_down)

    async def in_thread(self, function: Callable[..., Found], *arguments: Any, door: bool = False) -> Found:
        """Call a function in a thread; `door` is for attempts to log in, which wait for each other."""
        limiter = self._doors if door else self._threads
        if door and limiter.statistics().tasks_waiting >= MOST_WAITING:
            raise RefusedError(Refusal.slow_down)
        return await to_thread.run_sync(function, *arguments, limiter=limiter)

    @cached_property
    def _threads(self) -> CapacityLimiter:
        return CapacityLimiter(THREADS)

    @cached_property
    def _doors(self) -> CapacityLimiter:
        return CapacityLimiter(DOORS)

    @cached_property
    def results(self) -> LiveResults:
        """Results that were computed, and those that are being computed."""
        return LiveResults(self.submit)

    def submit(self, function: Callable[..., Found], *arguments: Any) -> "Future[Found]":
        """Run a function in the process for estimates; if that was ended, in a new one."""
        try:
            return self.worker.submit(function, *arguments)
        except BrokenProcessPool:
            self.__dict__.pop("worker", None)  # another thread may have found out first
            return self.worker.submit(function, *arguments)

    @cached_property
    def worker(self) -> ProcessPoolExecutor:
        """Process for estimates, started at their first request."""
        return ProcessPoolExecutor(1, mp_context=_NewProcesses(), initializer=stay_with_server)

    def close(self) -> None:
        """End the process for estimates."""
        if "worker" in self.__dict__:
            self.worker.shutdown(cancel_futures=True)


class _NewProcess(SpawnProcess):
    """A new process, in which the script of this one is not run again, as it would be without its `__file__`.

    Those who serve surveys from a script need not know that results are computed in another process.
    """

    @staticmethod
    def _Popen(process: Any) -> Any:  # noqa: N802  # as multiprocessing calls it
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            return SpawnProcess._Popen(process)
        finally:
            sys.modules["__main__"] = script


class _NewProcesses(SpawnContext):
    Process = _NewProcess


def stay_with_server() -> None:
    """Let a process end with the server that started it, also if that was killed, and not by an interrupt of both.

    It gives way to the server: collecting reports goes before.
    """
    os.nice(NICENESS)
    signal(SIGINT, SIG_IGN)
    server = parent_process()
    if server is not None:
        Thread(target=_end_with, args=(server.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:  # pragma: no cover  # ends the process that it runs in
    wait([sentinel])
    os._exit(1)


async def show_file(request: Request) -> Response:
    """Return a style sheet, a script or a picture of the dashboard, which browsers may cache for good."""
    file = files().get(request.path_params["name"])
    if file is None or request.path_params["release"] != release():
        raise RefusedError(Refusal.not_found)
    kept = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(file.content, headers=kept, media_type=file.media_type)


def dashboard_routes() -> list[Route]:
    """Return the routes of the dashboard: those of all its pages."""
    return [
        Route(f"{HOME}/files/{{release}}/{{name}}", show_file),
        *account_pages.ROUTES,
        *draft_pages.ROUTES,
        *preview_pages.ROUTES,
        *rehearsal_pages.ROUTES,
        *survey_pages.ROUTES,
        *result_pages.ROUTES,
        *publish_pages.ROUTES,
    ]
