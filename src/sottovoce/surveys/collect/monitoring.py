"""What operators see of a running server: its health and its metrics, without anything about a respondent.

Someone who asks every few seconds and keeps the answers writes down when a number changes. So numbers that respondents
drive are rounded down to multiples of 64: a single admission, report or refusal changes nothing. What is exact are
failures of the machine and of the program.
"""

import asyncio
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

if TYPE_CHECKING:
    from sottovoce.surveys.collect.app_state import AppState

HEALTH_SECONDS = 2.0
"""Time within which the database must answer."""

FRESH_SECONDS = 1.0
"""Time for which the database's answer is told again."""

CROWD = 64
"""Multiples to which numbers that respondents drive are rounded down: as many as reports are moved together."""

MEMORY_STEP = 16 * 2**20
HOUR = 3600

_STATM = Path("/proc/self/statm")


class Health:
    """Asks the database whether it answers, once at a time, however many want to know.

    A database that hangs holds one thread, which does not keep the server from ending.
    """

    def __init__(self, ask: Callable[[], object], clock: Callable[[], float] = time.monotonic) -> None:
        """Take a question that raises if the database fails."""
        self._ask, self._clock = ask, clock
        self._asking: asyncio.Future[bool] | None = None
        self._answered_at = 0.0

    async def answers(self, seconds: float = HEALTH_SECONDS) -> bool:
        """Return whether the database answers in time; the answer may be a moment old."""
        asking = self._asking
        if asking is None or (asking.done() and self._clock() - self._answered_at > FRESH_SECONDS):
            loop = asyncio.get_running_loop()
            asking = self._asking = loop.create_future()
            threading.Thread(target=self._run, args=(loop, asking), name="survey health", daemon=True).start()
        await asyncio.wait({asking}, timeout=seconds)
        return asking.done() and asking.result()

    def _run(self, loop: asyncio.AbstractEventLoop, asking: "asyncio.Future[bool]") -> None:
        try:
            self._ask()
            answers = True
        except Exception:  # databases raise many types
            answers = False
        self._answered_at = self._clock()
        with suppress(RuntimeError):  # the server has ended meanwhile
            loop.call_soon_threadsafe(asking.set_result, answers)


class Metrics:
    """Counts what happens, and tells it in the text format of Prometheus.

    >>> metrics = Metrics(clock=lambda: 0.0)
    >>> metrics.count("reports", 127)
    >>> [line for line in metrics.text().splitlines() if line.startswith("sottovoce_reports")]
    ['sottovoce_reports_total 64']
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with zeros."""
        self._clock = clock
        self._began = clock()
        self._counts: Counter[str] = Counter()
        self._refusals: Counter[int] = Counter()

    def count(self, name: str, by: int = 1) -> None:
        """Count `admissions`, `reports` or `faults`."""
        self._counts[name] += by

    def refuse(self, status: int) -> None:
        """Count a refusal."""
        self._refusals[status] += 1

    def text(self, *, database_answers: bool = True, storing_fails: bool = False, waiting: int = 0) -> str:
        """Return all metrics."""
        rows = [
            ("database_up", "gauge", "1 if the database answers.", int(database_answers)),
            ("storing_fails", "gauge", "1 if the last commit of reports failed.", int(storing_fails)),
            ("faults_total", "counter", "Requests that failed by a fault of the program.", self._counts["faults"]),
            ("uptime_hours", "gauge", "Whole hours since the start.", int(self._clock() - self._began) // HOUR),
            ("memory_bytes", "gauge", "Resident memory, in steps of 16 MiB.", _rounded(_memory(), MEMORY_STEP)),
            ("waiting", "gauge", "Reports that wait for a commit, in steps of 64.", _rounded(waiting)),
            ("admissions_total", "counter", "Admissions, in steps of 64.", _rounded(self._counts["admissions"])),
            ("reports_total", "counter", "Reports stored, in steps of 64.", _rounded(self._counts["reports"])),
        ]
        lines = [line for row in rows for line in _metric(*row)]
        lines += _heading("refusals_total", "counter", "Refused requests by their status, in steps of 64.")
        lines += [
            f'sottovoce_refusals_total{{status="{status}"}} {_rounded(count)}'
            for status, count in sorted(self._refusals.items())
            if count >= CROWD  # a line that appears would tell of a single refusal
        ]
        return "\n".join(lines) + "\n"


def _rounded(number: int, step: int = CROWD) -> int:
    """Return the largest multiple of a step that is not larger."""
    return number - number % step


def _memory() -> int:
    """Return the bytes of memory that this process uses; 0 where the system does not tell."""
    try:
        return int(_STATM.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _heading(name: str, kind: str, help_text: str) -> list[str]:
    return [f"# HELP sottovoce_{name} {help_text}", f"# TYPE sottovoce_{name} {kind}"]


def _metric(name: str, kind: str, help_text: str, value: int) -> list[str]:
    return [*_heading(name, kind, help_text), f"sottovoce_{name} {value}"]


async def show_health(request: Request) -> Response:
    """Say whether the server can work: whether its database answers."""
    state: AppState = request.state.app_state
    answers = await state.health.answers()
    return JSONResponse({"status": "ok" if answers else "database"}, 200 if answers else 503)


async def show_metrics(request: Request) -> Response:
    """Return the metrics of this process."""
    state: AppState = request.state.app_state
    text = state.metrics.text(
        database_answers=await state.health.answers(),
        storing_fails=state.writer.failing,
        waiting=state.writer.waiting,
    )
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")
