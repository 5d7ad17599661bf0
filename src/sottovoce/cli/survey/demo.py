"""`sottovoce survey demo` and `simulate`: simulated respondents answer over HTTP, with live estimates."""

import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.options import JsonOption, option_errors
from sottovoce.cli.output import progress_bar, say, write_json
from sottovoce.cli.survey.results import result_rows
from sottovoce.errors import SottovoceError, Words

if TYPE_CHECKING:
    from sottovoce.checks import Progress
    from sottovoce.surveys.client.simulate import SimulatedRespondents
    from sottovoce.surveys.collect.store import Store
    from sottovoce.surveys.definition.survey import Survey
    from sottovoce.surveys.links import Link
    from sottovoce.surveys.results import QuestionResult

SECONDS = 0.5
"""Time between two updates of the estimates."""

Work = Callable[["Progress"], object]
"""Work that reports its progress."""

SHARES = {
    "sick": {"no": 0.66, "yes": 0.3, "no answer": 0.04},
    "days": {"[1, 3)": 0.6, "[3, 6)": 0.3, "[6, inf)": 0.1},
    "drink": {"never": 0.7, "once or twice": 0.18, "monthly": 0.08, "weekly": 0.04},
    "harassment": {"words": 0.35, "touch": 0.12, "threats": 0.08},
    "theft": {"no": 0.6, "yes": 0.4},
}
"""Proportions of the answers in the simulated population, among those asked."""


def pause() -> None:
    """Wait until the next update."""
    time.sleep(SECONDS)


class LiveEstimates:
    """A table of estimates and true proportions, updated in a terminal; printed once elsewhere."""

    def __init__(
        self, store: "Store", survey: "Survey", respondents: "SimulatedRespondents", target: str | None
    ) -> None:
        """Print to standard output, or to standard error if standard output is for JSON."""
        from rich.console import Console

        self._store, self._survey, self._respondents = store, survey, respondents
        self._console = Console(stderr=target == "-")

    def show_during(self, work: Work, *, stays: bool) -> "list[QuestionResult]":
        """Show the estimates during some work, and afterwards until an interrupt if `stays`; return the last ones."""
        from rich.live import Live

        worker = _Worker(work)
        worker.start()
        with Live(console=self._console, auto_refresh=False) as live:
            try:
                while worker.is_alive() or stays:
                    pause()
                    if self._console.is_terminal:
                        live.update(self._table(self.results()), refresh=True)
            except KeyboardInterrupt:
                worker.stop()
            worker.join()
            results = self.results()
            live.update(self._table(results), refresh=True)
        if worker.failure is not None:
            raise worker.failure
        return results

    def results(self) -> "list[QuestionResult]":
        """Return the estimates so far; none before the survey's minimum of reports is reached."""
        from sottovoce.surveys.results import survey_results

        reports = self._store.reports(self._survey.id)
        return survey_results(self._survey, reports) if len(reports) >= self._survey.minimum else []

    def _table(self, results: "list[QuestionResult]") -> Any:
        from rich.table import Table

        reports = results[0].respondents if results else 0
        headers = ("question", "answer", "estimate", "95% interval", "truth", "forged reports")
        table = Table(*headers, title=f"{reports} reports")
        for result in results:
            for line, row in zip(result.lines, result_rows(self._survey, result), strict=True):
                truth = self._respondents.share(result.questions[0], line.labels[0])
                table.add_row(*row[:4], f"{truth:.1%}", row[4])
        return table


class _Worker(threading.Thread):
    """A thread that can be stopped, and that keeps its exception for the thread that waits for it."""

    def __init__(self, work: Work) -> None:
        super().__init__(name="simulated respondents")
        self._work = work
        self._stopped = False
        self.failure: Exception | None = None

    def stop(self) -> None:
        """Stop the work at its next step."""
        self._stopped = True

    def run(self) -> None:
        try:
            self._work(self._step)
        except InterruptedError:
            return
        except Exception as reason:
            self.failure = reason

    def _step(self, _done: int, _all: int | None) -> None:
        if self._stopped:
            raise InterruptedError


@option_errors()
def simulate(
    link: Annotated[str, typer.Argument(metavar="LINK|FILE", help="Open link, or a file of single-use links.")],
    respondents: Annotated[
        int, typer.Option(min=1, help="Number of simulated respondents; at most one for each single-use link.")
    ] = 1000,
    connections: Annotated[int, typer.Option(min=1, max=256, help="Simultaneous connections.")] = 8,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable answers; the disguise is always secure.")] = None,
    json: JsonOption = None,
) -> None:
    """Send reports of simulated respondents to a running server, into a rehearsal (`survey rehearse`)."""
    import numpy as np

    from sottovoce.surveys.client.client import Client
    from sottovoce.surveys.client.simulate import send_reports, simulate_respondents
    from sottovoce.surveys.links import read_link

    texts = [link] if "#" in link else Path(link).read_text(encoding="utf-8", errors="replace").split()
    links = [read_link(text) for text in texts]
    if len({each.address for each in links}) != 1:
        raise SottovoceError("link", "must lead to one survey", Words(f"{len(links)} links in {link}"))
    client = Client(links[0].server)
    survey = client.survey(links[0])
    client.close()
    if survey.invitation == "open":
        links = links[:1] * respondents
    simulated = simulate_respondents(survey, min(respondents, len(links)), np.random.default_rng(seed))
    with progress_bar("sending reports") as progress:
        done = send_reports(survey, links, simulated.reports(), connections=connections, progress=progress)
    write_json({"survey": survey.id, "acknowledged": done}, json)
    say(f"{done} reports of simulated respondents were acknowledged by {links[0].server}.", json)


@option_errors()
def demo(
    respondents: Annotated[int, typer.Option(min=200, help="Number of simulated respondents.")] = 3000,
    stay: Annotated[
        bool | None,
        typer.Option(
            "--stay/--exit", help="Keep serving until Ctrl-C, or end at once; if not given, stay in a terminal."
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the answers; the disguise is always secure.")] = 1,
    json: JsonOption = None,
) -> None:
    """Freeze a sample survey, serve it, let simulated respondents answer over HTTP, and show live estimates."""
    import numpy as np

    from sottovoce.surveys.client.simulate import send_reports, simulate_respondents
    from sottovoce.surveys.collect.app_state import today
    from sottovoce.surveys.collect.server import listen, make_app, running
    from sottovoce.surveys.collect.store import Store
    from sottovoce.surveys.definition.definition import sample_definition, survey_from_text
    from sottovoce.surveys.links import Link

    survey = replace(survey_from_text(sample_definition("workplace", today())), send_interval=0, rehearsal=True)
    simulated = simulate_respondents(survey, respondents, np.random.default_rng(seed), SHARES)
    with TemporaryDirectory() as folder:
        database = str(Path(folder, "surveys.db"))
        store = Store(database)
        store.freeze(survey)
        with running(make_app(Store(database), per_window=None), listen("127.0.0.1", port)) as address:
            link = Link(address, survey.hash)
            _introduce(survey, link, json)
            reports = simulated.reports()
            stays = _stays(stay)
            if stays:
                say("   Answer it yourself in a browser. Ctrl-C ends the demo and deletes all reports.\n", json)
            results = LiveEstimates(store, survey, simulated, json).show_during(
                lambda progress: send_reports(survey, [link] * respondents, reports, progress=progress), stays=stays
            )
        store.close()
    write_json(
        {"survey": survey.id, "respondents": respondents, "results": [result.to_json() for result in results]}, json
    )
    say("\nNext: sottovoce survey new DRAFT.yaml", json)


def _introduce(survey: "Survey", link: "Link", target: str | None) -> None:
    say(
        f"1. A sample survey is frozen, as a rehearsal: {len(survey.questions)} questions, sha256 {survey.hash}", target
    )
    say(f"   All answers together: {survey.plan.guarantee}\n", target)
    say(f"2. It is served on this machine, with an SQLite database.\n   Answer it: {link}", target)
    say(f"   Audit it:  {link.address}/audit\n", target)
    say("3. Simulated respondents answer over HTTP. Only their disguised responses are stored:", target)


def _stays(wish: bool | None) -> bool:
    """Return what was asked for, or else whether this is a terminal and not an automated run."""
    return (sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI")) if wish is None else wish
