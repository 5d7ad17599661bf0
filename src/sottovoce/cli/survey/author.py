"""`sottovoce survey new`, `preview` and `freeze`: a survey before it is open."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.options import ForceOption, JsonOption, LevelOption, option_errors
from sottovoce.cli.output import print_table, say, write_json
from sottovoce.cli.survey.options import DATABASE, URL, DatabaseOption, UrlOption, check_open, open_store

if TYPE_CHECKING:
    from sottovoce.surveys.definition.preview import QuestionPreview
    from sottovoce.surveys.definition.survey import Survey

DraftArgument = Annotated[str, typer.Argument(metavar="DRAFT", help="Definition of the survey: a YAML or JSON file.")]


@option_errors()
def new(
    output: Annotated[str, typer.Argument(metavar="DRAFT", help="YAML file to write.")],
    sample: Annotated[str, typer.Option(help="Sample to start from: minimal or workplace.")] = "workplace",
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Write a sample definition of a survey, to be edited."""
    from sottovoce.surveys.collect.app_state import today
    from sottovoce.surveys.definition import definition
    from sottovoce.tables.sink import check_new, new_file

    text = definition.sample_definition(sample, today())
    check_new(output, overwrite=force)
    with new_file(output) as hidden:
        hidden.write_text(text, encoding="utf-8")
    write_json({"draft": output, "sample": sample}, json)
    say(f"Written to {output}. Edit it, then: sottovoce survey preview {output}", json)


@option_errors(survey="draft")
def preview(
    draft: DraftArgument,
    respondents: Annotated[int, typer.Option(min=1, help="Planned number of respondents.")] = 1000,
    margin: Annotated[float, typer.Option(help="Also show how many respondents this margin of error needs.")] = 0.05,
    level: LevelOption = 0.95,
    browse: Annotated[
        bool, typer.Option("--browse", help="Serve the draft's page on this machine; nothing is stored.")
    ] = False,
    json: JsonOption = None,
) -> None:
    """Show the odds and margins of error of a draft, before anyone is asked."""
    from sottovoce.surveys.definition.preview import preview as preview_survey
    from sottovoce.surveys.definition.preview import respondents_needed

    survey = _read(draft)
    shown = preview_survey(survey, respondents, level)
    needed = respondents_needed(survey, margin, level)
    whole = survey.plan.guarantee
    document: dict[str, Any] = {
        "odds": whole.exact,
        "epsilon": whole.epsilon,
        "respondents": respondents,
        "questions": [each.to_json() | {"respondents_for_margin": needed[each.question.id]} for each in shown],
        "margin": margin,
        "respondents_for_margin": max(needed.values()),
        "hash": survey.hash,
    }
    write_json(document, json)
    say(f"All answers together: {whole}\n{whole.in_words()}\n", json)
    _show_questions(shown, respondents, margin, needed, json)
    say(f"Margins of error are at the {100 * level:g}% level, if all answers are equally frequent.", json)
    say(f"For margins of {margin:.1%} in every question: {max(needed.values())} respondents.", json)
    if browse:
        _browse(survey, json)
    say(f"Nothing is frozen yet. To freeze the draft: sottovoce survey freeze {draft}", json)


@option_errors(survey="draft")
def freeze(draft: DraftArgument, db: DatabaseOption = DATABASE, url: UrlOption = URL, json: JsonOption = None) -> None:
    """Freeze a draft: it gets a hash, and can no longer be changed."""
    survey = _read(draft)
    from sottovoce.surveys.links import Link, server_address

    link = Link(server_address(url), survey.hash)
    check_open(survey)
    with open_store(db, create=True) as store:
        store.freeze(survey)
    write_json({"id": survey.id, "hash": survey.hash, "link": str(link), "audit": f"{link.address}/audit"}, json)
    say(f"Frozen as {survey.id}, sha256 {survey.hash}. All answers together: {survey.plan.guarantee}", json)
    if survey.invitation == "open":
        say(f"Link for all respondents: {link}", json)
    else:
        say(f"Next: sottovoce survey invite {survey.id} --count 100 --db {db}", json)
    say(f"Then: sottovoce survey serve --db {db}", json)


def _show_questions(
    shown: "list[QuestionPreview]", respondents: int, margin: float, needed: dict[str, int], target: str | None
) -> None:
    """Print scheme, odds and margin of error of each question, and the respondents that another margin needs."""
    from sottovoce.plans.guarantee import odds_text

    rows = [
        (
            each.question.id,
            each.question.kind,
            str(len(each.question.labels)),
            each.scheme.replace("_", " "),
            odds_text(each.guarantee.odds or Fraction(1)),
            f"{each.margin:.1%}",
            str(needed[each.question.id]),
        )
        for each in shown
    ]
    margins = (f"margin with {respondents} respondents", f"respondents for {margin:.1%}")
    headers = ("question", "kind", "answers", "scheme", "odds", *margins)
    print_table(headers, rows, target)


def _browse(survey: "Survey", target: str | None) -> None:
    """Serve a draft until interrupted, as an open survey in a temporary database."""
    from sottovoce.surveys.collect.server import address_of, listen, make_app, serve
    from sottovoce.surveys.collect.store import Store
    from sottovoce.surveys.links import Link

    trial = replace(survey, invitation="open")
    with TemporaryDirectory() as folder:
        store = Store(str(Path(folder, "trial.db")))
        store.freeze(trial)
        listening = listen("127.0.0.1", 0)
        say(f"\nTry it: {Link(address_of(listening), trial.hash)}\nCtrl-C stops it and deletes all reports.", target)
        serve(make_app(store), listening)


def _read(draft: str) -> "Survey":
    from sottovoce.surveys.definition.definition import read_definition

    return read_definition(Path(draft))
