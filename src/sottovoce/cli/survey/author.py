"""`sottovoce survey new`, `preview` and `freeze`: a survey before it is asked."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.output import ForceOption, JsonOption, emit, say, table
from sottovoce.cli.survey.options import DATABASE, URL, DatabaseOption, UrlOption, check_open, open_store

if TYPE_CHECKING:
    from sottovoce.surveys.definition.preview import QuestionPreview
    from sottovoce.surveys.definition.survey import Survey

DraftArgument = Annotated[str, typer.Argument(metavar="DRAFT", help="Definition of the survey, YAML or JSON.")]


def new(
    output: Annotated[str, typer.Argument(metavar="DRAFT", help="Where to write the definition.")],
    sample: Annotated[str, typer.Option(help="Sample to start from: minimal or workplace.")] = "workplace",
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Start a survey from a sample."""
    from sottovoce.surveys.installed import check_installed

    check_installed()
    from sottovoce.surveys.collect.app_state import today
    from sottovoce.surveys.definition import definition
    from sottovoce.tables.sink import check_new, new_file

    text = definition.sample(sample, today())
    check_new(output, overwrite=force)
    with new_file(output) as hidden:
        hidden.write_text(text, encoding="utf-8")
    emit({"draft": output, "sample": sample}, json)
    say(f"Written to {output}. Change it, then: sottovoce survey preview {output}", json)


def preview(
    draft: DraftArgument,
    respondents: Annotated[int, typer.Option(min=1, help="Planned number of respondents.")] = 1000,
    margin: Annotated[float, typer.Option(help="Also say how many respondents this margin takes.")] = 0.05,
    browse: Annotated[
        bool, typer.Option("--browse", help="Serve the page of the draft on this machine; nothing is kept.")
    ] = False,
    json: JsonOption = None,
) -> None:
    """Show what a draft promises and how exact it will be, before anyone is asked."""
    from sottovoce.surveys.definition.preview import preview as previewed
    from sottovoce.surveys.definition.preview import respondents_for

    survey = _read(draft)
    shown = previewed(survey, respondents)
    needed = respondents_for(survey, margin)
    whole = survey.plan.guarantee
    document: dict[str, Any] = {
        "odds": whole.exact,
        "epsilon": whole.epsilon,
        "respondents": respondents,
        "questions": [own.to_json() | {"respondents_for_margin": needed[own.question.id]} for own in shown],
        "margin": margin,
        "respondents_for_margin": max(needed.values()),
        "hash": survey.hash,
    }
    emit(document, json)
    say(f"All answers together: {whole}\n{whole.in_words()}\n", json)
    _show_questions(shown, respondents, margin, needed, json)
    say("Half the width of 95 % intervals, if all answers are as frequent.", json)
    say(f"For margins of {margin:.1%} everywhere: {max(needed.values())} respondents.", json)
    if browse:
        _browse(survey, json)
    say(f"Nothing is frozen yet. When all is right: sottovoce survey freeze {draft}", json)


def freeze(draft: DraftArgument, db: DatabaseOption = DATABASE, url: UrlOption = URL, json: JsonOption = None) -> None:
    """Freeze a draft: from now on it has a hash, and nobody can change it unnoticed."""
    survey = _read(draft)
    from sottovoce.surveys.links import Link, server_address

    link = Link(server_address(url), survey.hash)
    check_open(survey)
    with open_store(db, new=True) as store:
        store.freeze(survey)
    emit({"id": survey.id, "hash": survey.hash, "link": str(link), "audit": f"{link.address}/audit"}, json)
    say(f"Frozen as {survey.id}, sha256 {survey.hash}. All answers together: {survey.plan.guarantee}", json)
    if survey.invitation == "open":
        say(f"Open link, for everyone: {link}", json)
    else:
        say(f"Next: sottovoce survey invite {survey.id} --count 100 --db {db}", json)
    say(f"Then: sottovoce survey serve --db {db}", json)


def _show_questions(
    shown: "list[QuestionPreview]", respondents: int, margin: float, needed: dict[str, int], target: str | None
) -> None:
    """Design, odds and margin of each question, and how many respondents another margin takes."""
    from sottovoce.plans.guarantee import odds_text

    rows = [
        (
            own.question.id,
            own.question.kind,
            str(len(own.question.labels)),
            own.scheme.replace("_", " "),
            odds_text(own.guarantee.odds or Fraction(1)),
            f"{own.margin:.1%}",
            str(needed[own.question.id]),
        )
        for own in shown
    ]
    headers = ("question", "kind", "answers", "design", "odds", f"+- with {respondents}", f"needed for +- {margin:.1%}")
    table(headers, rows, target)


def _browse(survey: "Survey", target: str | None) -> None:
    """Serve a draft until interrupted, as an open survey in a database that is thrown away."""
    from sottovoce.surveys.collect.server import address_of, listen, make_app, serve
    from sottovoce.surveys.collect.store import Store
    from sottovoce.surveys.links import Link

    trial = replace(survey, invitation="open")
    with TemporaryDirectory() as folder:
        store = Store(str(Path(folder, "trial.db")))
        store.freeze(trial)
        listening = listen("127.0.0.1", 0)
        say(f"\nTry it: {Link(address_of(listening), trial.hash)}\nCtrl-C ends it, and forgets everything.", target)
        serve(make_app(store), listening)


def _read(draft: str) -> "Survey":
    from sottovoce.surveys.installed import check_installed

    check_installed()
    from sottovoce.surveys.definition.definition import read_definition

    return read_definition(Path(draft))
