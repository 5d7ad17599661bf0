"""Results that keep up with the reports: computed in another process, kept, and computed anew as reports arrive.

The other process keeps the decoded reports of a few surveys, and reads a survey again if its reports have changed
(`Store.mark`). This process keeps what was found. A page waits for a moment at most: if new results take longer, it
shows the last ones, and says of how many reports they are. Results are computed anew no more often than a part of the
time, however many look: collecting reports goes before.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillRunning
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from threading import Lock
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect.app_state import Refusal, RefusedError
from sottovoce.surveys.collect.marks import Mark
from sottovoce.surveys.collect.store import Place, Store
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.results import CodedReports

PATIENCE, BRIEFLY, RECENT = 2.0, 0.1, 10.0
"""Seconds that a page waits for new results: at most, and where there are results of the last so many seconds."""

TRIES = 2
"""How often results are tried, with a new process after the first failure."""

REST = 9.0
"""Time between two computations of the same results, in multiples of what the first of them took."""

MOST_FOUND = 256
"""Results that are kept here."""

MOST_DECODED = 8
"""Surveys whose decoded reports the other process keeps."""


@dataclass(frozen=True)
class Inquiry:
    """What is asked of a survey's reports: an analysis by name, the level of its intervals, and its options."""

    survey: str
    analysis: str
    level: float
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """What an analysis found, or the reason why it found nothing; of how many reports, and in how many seconds."""

    mark: Mark
    value: Any
    reason: str | None
    seconds: float

    @property
    def reports(self) -> int:
        """Number of reports that it is of."""
        return self.mark.reports


@dataclass(frozen=True)
class _Kept:
    found: Found
    at: float


class LiveResults:
    """Asks the other process, and keeps what it found."""

    def __init__(self, submit: Callable[..., "Future[Found | None]"], rest: float = REST) -> None:
        """Ask by `submit`, which runs a function in another process."""
        self._submit, self._rest = submit, rest
        self._kept: OrderedDict[Inquiry, _Kept] = OrderedDict()
        self._running: dict[Inquiry, Future[Found | None]] = {}
        self._lock = Lock()

    def ask(self, store: Store, inquiry: Inquiry, patience: float = PATIENCE) -> Found | None:
        """Return the newest results that there are within a moment; None if there are none yet.

        Who has just seen results waits briefly: while reports arrive, the next page shows those of a moment ago.
        """
        mark = store.mark(inquiry.survey)
        with self._lock:
            kept = self._kept.get(inquiry)
        if kept is not None and kept.found.mark == mark:
            return kept.found
        if kept is not None and not _has_grown(store, inquiry.survey, kept.found.mark, mark):
            kept = None  # the survey was deleted, and begun again
        if kept is not None:
            age = time.monotonic() - kept.at
            if age < self._rest * kept.found.seconds:
                return kept.found
            patience = min(patience, BRIEFLY) if age < RECENT else patience
        for _ in range(TRIES):
            try:
                return self._running_or_new(store, inquiry).result(patience)
            except StillRunning:
                return None if kept is None else kept.found
            except BrokenProcessPool:  # it was ended, perhaps for lack of memory: once more, in a new one
                continue
        raise RefusedError(Refusal.busy)

    def _running_or_new(self, store: Store, inquiry: Inquiry) -> "Future[Found | None]":
        """Return the computation that is under way for the same results, or begin one."""
        with self._lock:
            future = self._running.get(inquiry)
            if future is not None and not future.done():
                return future
            future = self._running[inquiry] = self._submit(answer, store.place, inquiry)
        future.add_done_callback(lambda ended: self._keep(inquiry, ended))
        return future

    def _keep(self, inquiry: Inquiry, ended: "Future[Found | None]") -> None:
        found = None if ended.cancelled() or ended.exception() is not None else ended.result()
        with self._lock:
            if self._running.get(inquiry) is ended:
                del self._running[inquiry]
            if found is not None:
                self._kept[inquiry] = _Kept(found, time.monotonic())
                self._kept.move_to_end(inquiry)
                while len(self._kept) > MOST_FOUND:
                    self._kept.popitem(last=False)


def _has_grown(store: Store, name: str, earlier: Mark, later: Mark) -> bool:
    """Return whether reports were added to those with an earlier mark."""
    return later[1:] == earlier[1:] or store.may_have_grown(name, earlier)


_stores: dict[Place, Store] = {}
_decoded: "OrderedDict[tuple[Place, str], tuple[Mark, Survey, CodedReports]]" = OrderedDict()


def answer(place: Place, inquiry: Inquiry) -> Found | None:
    """Return what an analysis finds in the reports of a survey; None if there is no such survey any more.

    This runs in the other process, which stays: databases stay open, and reports decoded.
    """
    from sottovoce.surveys.dashboard.analyses import ANALYSES

    start = time.perf_counter()
    if place not in _stores:
        _stores[place] = Store(place.url)
    store = _stores[place]
    known = _reports(store, place, inquiry.survey)
    if known is None:
        return None
    mark, survey, reports = known
    try:
        value, reason = ANALYSES[inquiry.analysis](survey, reports, inquiry.level, *inquiry.options), None
    except SottovoceError as mistake:
        value, reason = None, str(mistake)
    return Found(mark, value, reason, time.perf_counter() - start)


def _reports(store: Store, place: Place, name: str) -> tuple[Mark, Survey, CodedReports] | None:
    """Return the reports of a survey with their mark, read again if they have changed."""
    key, mark = (place, name), store.mark(name)
    if key not in _decoded or _decoded[key][0] != mark:
        survey = store.survey(name)
        if survey is None:
            _decoded.pop(key, None)
            return None
        reports = CodedReports.of(survey, [store.joined_reports(name)])
        # Some may have come since the mark was read: they are counted, and read once more the next time.
        _decoded[key] = mark._replace(reports=len(reports)), survey, reports
    _decoded.move_to_end(key)
    while len(_decoded) > MOST_DECODED:
        _decoded.popitem(last=False)
    return _decoded[key]
