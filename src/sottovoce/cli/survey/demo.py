"""`sottovoce survey demo` and `simulate`: made-up people answer over HTTP, with live estimates."""

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.output import JsonOption, emit, progress_bar, say
from sottovoce.cli.survey.results import result_rows
from sottovoce.errors import SottovoceError, Words

if TYPE_CHECKING:
    from sottovoce.surveys.client.simulate import People
    from sottovoce.surveys.collect.store import Store
    from sottovoce.surveys.definition.survey import Survey
    from sottovoce.surveys.links import Link
    from sottovoce.surveys.results import Result

SECONDS = 0.5
"""Between two looks at the store."""

Work = Callable[[Callable[[int, int | None], None]], object]
"""Long work that says how far it is."""
LAW = {
    "sick": {"no": 0.66, "yes": 0.3, "no answer": 0.04},
    "days": {"[1, 3)": 0.6, "[3, 6)": 0.3, "[6, inf)": 0.1},
    "drink": {"never": 0.7, "once or twice": 0.18, "monthly": 0.08, "weekly": 0.04},
    "harassment": {"words": 0.35, "touch": 0.12, "threats": 0.08},
    "theft": {"no": 0.6, "yes": 0.4},
}
"""Proportions of the made-up population, among those asked."""


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
        from sottovoce.surveys.results import Reports

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


def simulate(
    link: Annotated[str, typer.Argument(metavar="LINK|FILE", help="Open link, or a file of single-use links.")],
    respondents: Annotated[
        int, typer.Option(min=1, help="People to make up; at most one for each single link.")
    ] = 1000,
    connections: Annotated[int, typer.Option(min=1, max=256, help="Connections at once.")] = 8,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the people; the coins are always secure.")] = None,
    json: JsonOption = None,
) -> None:
    """Send made-up respondents' reports to a running server."""
    from sottovoce.surveys.installed import check_installed

    check_installed()
    import numpy as np

    from sottovoce.surveys.client.client import Client
    from sottovoce.surveys.client.simulate import make_people, send_reports
    from sottovoce.surveys.links import read_link

    texts = [link] if "#" in link else Path(link).read_text(encoding="utf-8", errors="replace").split()
    links = [read_link(text) for text in texts]
    if len({each.address for each in links}) != 1:
        raise SottovoceError("link", "must be of one survey", Words(f"{len(links)} links in {link}"))
    client = Client(links[0].server)
    survey = client.survey(links[0])
    client.close()
    if survey.invitation == "open":
        links = links[:1] * respondents
    people = make_people(survey, min(respondents, len(links)), np.random.default_rng(seed))
    with progress_bar("sending reports") as progress:
        done = send_reports(links, people.reports(), connections=connections, progress=progress)
    emit({"survey": survey.id, "acknowledged": done}, json)
    say(f"{done} reports of made-up people were acknowledged by {links[0].server}.", json)


def demo(
    respondents: Annotated[int, typer.Option(min=200, help="Made-up people who answer.")] = 3000,
    stay: Annotated[
        bool | None, typer.Option("--stay/--exit", help="Keep serving until Ctrl-C; as the terminal is, if not given.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the made-up people; the coins are always secure.")] = 1,
    json: JsonOption = None,
) -> None:
    """Freeze a sample survey, serve it, let made-up people answer it over HTTP, and watch the estimates."""
    from sottovoce.surveys.installed import check_installed

    check_installed()
    import numpy as np

    from sottovoce.surveys.client.simulate import make_people, send_reports
    from sottovoce.surveys.collect.app_state import today
    from sottovoce.surveys.collect.server import listen, make_app, running
    from sottovoce.surveys.collect.store import Store
    from sottovoce.surveys.definition.definition import sample, survey_from_text
    from sottovoce.surveys.links import Link

    survey = survey_from_text(sample("workplace", today()))
    people = make_people(survey, respondents, np.random.default_rng(seed), LAW)
    with TemporaryDirectory() as folder:
        database = str(Path(folder, "surveys.db"))
        store = Store(database)
        store.freeze(survey)
        with running(make_app(Store(database), per_window=None), listen("127.0.0.1", port)) as address:
            link = Link(address, survey.hash)
            _introduce(survey, link, json)
            reports = people.reports()
            stays = _stays(stay)
            if stays:
                say("   Answer it yourself in a browser; Ctrl-C ends the demo, and forgets everything.\n", json)
            watch = LiveEstimates(store, survey, people, json)
            found = watch.during(
                lambda progress: send_reports([link] * respondents, reports, progress=progress), stays=stays
            )
        store.close()
    emit({"survey": survey.id, "respondents": respondents, "results": [result.to_json() for result in found]}, json)
    say("\nNext: sottovoce survey new DRAFT.yaml", json)


def _introduce(survey: "Survey", link: "Link", target: str | None) -> None:
    say(f"1. A sample survey is frozen: {len(survey.questions)} questions, sha256 {survey.hash}", target)
    say(f"   All answers together: {survey.plan.guarantee}\n", target)
    say(f"2. It is served, on this machine only, from SQLite.\n   Answer it: {link}", target)
    say(f"   Check it:  {link.address}/audit\n", target)
    say("3. Made-up people answer over HTTP. Only what their coins left of it is stored:", target)


def _stays(wish: bool | None) -> bool:
    """Whether somebody is there to look: a terminal, and no automation."""
    return (sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI")) if wish is None else wish
