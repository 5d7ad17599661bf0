"""`sottovoce survey demo` and `simulate`: simulated respondents answer over HTTP."""

import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from secrets import token_urlsafe
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.options import JsonOption, option_errors
from sottovoce.cli.output import print_table, progress_bar, say, write_json
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
"""Time between two parts of the reports."""

PART = 25
"""Reports that are sent at once, so that a few thousand take a minute while somebody watches."""

ACCOUNT = "demo"

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
    """Wait a moment, for an interrupt."""
    time.sleep(SECONDS)


class _Worker(threading.Thread):
    """A thread that pauses between its steps, can be stopped, and keeps its exception for the one who waits for it."""

    def __init__(self, work: Work, seconds: float) -> None:
        super().__init__(name="simulated respondents")
        self._work, self._seconds = work, seconds
        self._stopped = threading.Event()
        self.failure: Exception | None = None

    def stop(self) -> None:
        """Stop the work at its next step."""
        self._stopped.set()

    def run(self) -> None:
        try:
            self._work(self._step)
        except InterruptedError:
            return
        except Exception as reason:
            self.failure = reason

    def _step(self, _done: int, _all: int | None) -> None:
        if self._stopped.wait(self._seconds):
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
    """Rehearse a sample survey on this machine: made-up people answer over HTTP, and a browser shows the results live.

    Prints an account of the researchers' side, and a link to the results. Everything is deleted at the end.
    """
    import numpy as np

    from sottovoce.surveys.client.simulate import simulate_respondents
    from sottovoce.surveys.collect.app_state import today
    from sottovoce.surveys.collect.server import listen, make_app, running
    from sottovoce.surveys.collect.store import Store
    from sottovoce.surveys.dashboard.truths import save_truths
    from sottovoce.surveys.definition.definition import sample_definition, survey_from_text
    from sottovoce.surveys.links import Link

    survey = replace(survey_from_text(sample_definition("workplace", today())), send_interval=0, rehearsal=True)
    simulated = simulate_respondents(survey, respondents, np.random.default_rng(seed), SHARES)
    with TemporaryDirectory() as folder:
        database = str(Path(folder, "surveys.db"))
        store = Store(database)
        survey = store.freeze(survey)
        save_truths(store, simulated)
        with running(make_app(Store(database), per_window=None), listen("127.0.0.1", port)) as address:
            stays = _stays(stay)
            link, password = Link(address, survey.hash), _new_account(store)
            _introduce(survey.id, link, password, respondents, json, stays=stays)
            reports = simulated.reports()
            _answer(lambda step: _send(survey, link, reports, step), stays=stays)
        results = _results(store, survey)
        store.close()
    document = {"survey": survey.id, "respondents": respondents, "results": [each.to_json() for each in results]}
    write_json(document, json)
    if results:
        say(f"\n{results[0].respondents} reports", json)
        _show(survey, results, simulated, json)
    say("\nNext: sottovoce survey serve", json)


def _new_account(store: "Store") -> str:
    """Create the account `demo`, and return its password."""
    from sottovoce.surveys.dashboard.accounts import Accounts, Role

    accounts, password = Accounts(store.engine), token_urlsafe(12)
    accounts.use_link(accounts.new_link(Role.OWNER), ACCOUNT, password)
    return password


def _introduce(survey: str, link: "Link", password: str, respondents: int, target: str | None, *, stays: bool) -> None:
    results = f"/research/surveys/{survey}/results"
    ends = "Ctrl-C ends the demo" if stays else "The demo ends by itself"
    say(f"Account: {ACCOUNT}, password {password}. {ends}, and deletes everything.", target)
    say(f"Rehearsal: {respondents} made-up people answer a sample survey over HTTP. Answer it yourself: {link}", target)
    say("Results, as they come in, beside the truth, which nobody but a rehearsal knows:", target)
    say(f"{link.server}/research/login?next={results}", target)


def _send(survey: "Survey", link: "Link", reports: list[bytes], step: "Progress") -> None:
    """Send reports in parts."""
    from sottovoce.surveys.client.simulate import send_reports

    for start in range(0, len(reports), PART):
        part = reports[start : start + PART]
        send_reports(survey, [link] * len(part), part)
        step(start + len(part), len(reports))


def _answer(work: Work, *, stays: bool) -> None:
    """Let the made-up people answer, and stay until an interrupt if somebody watches."""
    worker = _Worker(work, SECONDS if stays else 0)
    worker.start()
    try:
        while stays and worker.failure is None:
            pause()
    except KeyboardInterrupt:
        worker.stop()
    worker.join()
    if worker.failure is not None:
        raise worker.failure


def _results(store: "Store", survey: "Survey") -> "list[QuestionResult]":
    """Return the estimates; none before the survey's minimum of reports is reached."""
    from sottovoce.surveys.results import survey_results

    reports = store.reports(survey.id)
    return survey_results(survey, reports) if len(reports) >= survey.minimum else []


def _show(
    survey: "Survey", results: "list[QuestionResult]", simulated: "SimulatedRespondents", target: str | None
) -> None:
    """Print estimates beside the truth."""
    rows = [
        (*row[:4], f"{simulated.share(result.questions[0], line.labels[0]):.1%}", row[4])
        for result in results
        for line, row in zip(result.lines, result_rows(survey, result), strict=True)
    ]
    print_table(("question", "answer", "estimate", "95% interval", "truth", "forged reports"), rows, target)


def _stays(wish: bool | None) -> bool:
    """Return what was asked for, or else whether this is a terminal and not an automated run."""
    return (sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI")) if wish is None else wish
