"""Estimates of a running survey, drawn again and again while reports come in."""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sottovoce.cli.survey.results import result_rows

if TYPE_CHECKING:
    from sottovoce.survey.people import People
    from sottovoce.survey.results import Result
    from sottovoce.survey.store import Store
    from sottovoce.survey.survey import Survey

SECONDS = 0.5
"""Between two looks at the store."""

Work = Callable[[Callable[[int, int | None], None]], object]
"""Long work that says how far it is."""


def pause() -> None:
    """Let some reports come in."""
    time.sleep(SECONDS)


class LiveEstimates:
    """A table in the terminal, beside what is true of the made-up people; once only where there is no terminal."""

    def __init__(self, store: "Store", survey: "Survey", people: "People", target: str | None) -> None:
        """Draw on standard output, or on standard error where that is taken."""
        from rich.console import Console

        self._store, self._survey, self._people = store, survey, people
        self._console = Console(stderr=target == "-")

    def during(self, work: Work, *, stays: bool) -> "list[Result]":
        """Show the estimates while some work is done, and on if `stays`, until an interrupt; returns the last ones."""
        from rich.live import Live

        worker = _Worker(work)
        worker.start()
        with Live(console=self._console, auto_refresh=False) as live:
            try:
                while worker.is_alive() or stays:
                    pause()
                    if self._console.is_terminal:
                        live.update(self._table(self.found()), refresh=True)
            except KeyboardInterrupt:
                worker.stop()
            worker.join()
            found = self.found()
            live.update(self._table(found), refresh=True)
        if worker.failure is not None:
            raise worker.failure
        return found

    def found(self) -> "list[Result]":
        """Estimates so far; none before there are enough reports."""
        from sottovoce.survey.results import Reports

        reports = Reports(self._survey, self._store.reports(self._survey.id))
        return reports.results() if len(reports) >= self._survey.minimum else []

    def _table(self, found: "list[Result]") -> Any:
        from rich.table import Table

        reports = found[0].respondents if found else 0
        drawn = Table("question", "answer", "estimate", "95 % interval", "truth", "forged", title=f"{reports} reports")
        for result in found:
            for line, row in zip(result.lines, result_rows(self._survey, result), strict=True):
                truth = self._people.share(result.questions[0], line.labels[0])
                drawn.add_row(*row[:4], f"{truth:.1%}", row[4])
        return drawn


class _Worker(threading.Thread):
    """A thread that can be told to stop, and whose failure is handed to the one that waits for it."""

    def __init__(self, work: Work) -> None:
        super().__init__(name="made-up people")
        self._work = work
        self._stopped = False
        self.failure: Exception | None = None

    def stop(self) -> None:
        """End the work at its next step."""
        self._stopped = True

    def run(self) -> None:
        try:
            self._work(self._step)
        except InterruptedError:
            return  # as it was told
        except Exception as reason:
            self.failure = reason

    def _step(self, _done: int, _all: int | None) -> None:
        if self._stopped:
            raise InterruptedError
