"""`sottovoce survey rehearse`: a survey of its own for simulated respondents and trial answers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.options import JsonOption, LevelOption, option_errors
from sottovoce.cli.output import print_table, say, write_json
from sottovoce.cli.survey.options import DATABASE, URL, DatabaseOption, UrlOption, database_option, open_store
from sottovoce.cli.survey.results import result_rows

if TYPE_CHECKING:
    from sottovoce.surveys.collect.store import Store
    from sottovoce.surveys.definition.survey import Survey
    from sottovoce.surveys.rehearsal import Rehearsal


@option_errors()
def rehearse(
    survey: Annotated[
        str | None,
        typer.Argument(
            metavar="[DRAFT|ID]",
            help="Definition, or id of a frozen survey; not needed if there is only one survey.",
        ),
    ] = None,
    respondents: Annotated[
        int, typer.Option(min=0, help="Number of simulated respondents; 0 for trial answers only.")
    ] = 1000,
    truth: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUESTION=ANSWER:SHARE,...|FILE",
            help="True shares of a question's answers, or a YAML or JSON file of them; others are random. Repeatable.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable answers; the disguise is always secure.")] = None,
    level: LevelOption = 0.95,
    db: DatabaseOption = DATABASE,
    url: UrlOption = URL,
    json: JsonOption = None,
) -> None:
    """Rehearse a survey: a copy of its own, marked as a rehearsal, gets simulated reports; estimates and truths."""
    import numpy as np

    from sottovoce.surveys.links import Link, server_address
    from sottovoce.surveys.rehearsal import read_shares
    from sottovoce.surveys.rehearsal import rehearse as rehearse_survey

    server, drafted = server_address(url), survey is not None and Path(survey).is_file()
    with open_store(db, create=drafted) as store:
        named = _named(store, survey, drafted=drafted)
        shares = read_shares(named, truth or [])
        found = rehearse_survey(store, named, respondents, np.random.default_rng(seed), shares, level=level)
    trial, link = found.survey, Link(server, found.survey.hash)
    results = [result.to_json() | {"truth": found.truth(result)} for result in found.results]
    write_json(
        {"id": trial.id, "rehearsal": True, "link": str(link), "respondents": respondents, "results": results}, json
    )
    say(f"Rehearsal of {trial.default_title!r}, frozen as {trial.id}: nothing in it counts.", json)
    _show(found, level, json)
    if trial.invitation == "open":
        say(f"Answer it yourself: {link}", json)
    else:
        say(f"Answer it yourself: sottovoce survey invite {trial.id}{database_option(db)}", json)
    say(f"Throw it away: sottovoce survey delete {trial.id}{database_option(db)}", json)


def _named(store: "Store", survey: str | None, *, drafted: bool) -> "Survey":
    from sottovoce.surveys.definition.definition import read_definition

    return read_definition(Path(str(survey))) if drafted else store.select(survey)


def _show(found: "Rehearsal", level: float, target: str | None) -> None:
    if not found.results:
        say(f"Results are shown from {found.survey.minimum} reports on, in a rehearsal as when it counts.", target)
        return
    rows = [
        (*row[:4], f"{truth:.1%}")
        for result in found.results
        for row, truth in zip(result_rows(found.survey, result), found.truth(result), strict=True)
    ]
    print_table(("question", "answer", "estimate", f"{100 * level:g}% interval", "truth"), rows, target)
