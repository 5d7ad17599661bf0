"""`sottovoce survey demo`: a survey from its definition to live estimates, on this machine, with made-up people."""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.output import JsonOption, emit, say
from sottovoce.cli.survey.live import LiveEstimates

if TYPE_CHECKING:
    from sottovoce.survey.links import Link
    from sottovoce.survey.survey import Survey

LAW = {
    "sick": {"no": 0.66, "yes": 0.3, "no answer": 0.04},
    "days": {"[1, 3)": 0.6, "[3, 6)": 0.3, "[6, inf)": 0.1},
    "drink": {"never": 0.7, "once or twice": 0.18, "monthly": 0.08, "weekly": 0.04},
    "harassment": {"words": 0.35, "touch": 0.12, "threats": 0.08},
    "theft": {"no": 0.6, "yes": 0.4},
}
"""Proportions of the made-up population, among those asked."""


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
    from sottovoce.survey.installed import check_installed

    check_installed()
    import numpy as np

    from sottovoce.survey.definition import survey_from_text
    from sottovoce.survey.desk import today
    from sottovoce.survey.links import Link
    from sottovoce.survey.people import make_people
    from sottovoce.survey.running import listen, running
    from sottovoce.survey.samples import sample
    from sottovoce.survey.server import make_app
    from sottovoce.survey.simulate import send_reports
    from sottovoce.survey.store import Store

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
