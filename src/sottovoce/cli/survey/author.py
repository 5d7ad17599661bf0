"""`sottovoce survey new`, `preview` and `freeze`: a survey before it is open."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.options import ForceOption, JsonOption, LevelOption, option_errors
from sottovoce.cli.output import print_table, say, write_json
from sottovoce.cli.survey.options import (
    DATABASE,
    URL,
    DatabaseOption,
    UrlOption,
    check_open,
    database_option,
    open_store,
)

if TYPE_CHECKING:
    from sottovoce.surveys.definition.preview import QuestionPreview
    from sottovoce.surveys.definition.survey import Survey

PLANNED = 1000
"""Respondents for whom definitions are previewed, unless another number is planned."""

DraftArgument = Annotated[str, typer.Argument(metavar="DRAFT", help="Definition of the survey: a YAML or JSON file.")]


@option_errors()
def new(
    output: Annotated[str, typer.Argument(metavar="DRAFT", help="YAML file to write.")],
    sample: Annotated[
        str, typer.Option(help="Sample to start from: doping, exams, health, minimal or workplace.")
    ] = "workplace",
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
    respondents: Annotated[int, typer.Option(min=1, help="Planned number of respondents.")] = PLANNED,
    margin: Annotated[float, typer.Option(help="Also show how many respondents this margin of error needs.")] = 0.05,
    level: LevelOption = 0.95,
    browse: Annotated[
        bool, typer.Option("--browse", help="Serve the draft's page on this machine; nothing is stored.")
    ] = False,
    json: JsonOption = None,
) -> None:
    """Show the odds and margins of error of a draft, before anyone is asked."""
    from sottovoce.surveys.definition.advice import budget_advice
    from sottovoce.surveys.definition.ceilings import ceiling_warnings, protection_in_words
    from sottovoce.surveys.definition.preview import definition_warnings, respondents_needed
    from sottovoce.surveys.definition.preview import preview as preview_survey
    from sottovoce.surveys.timing import timing_statement

    survey = _read(draft)
    shown = preview_survey(survey, respondents, level)
    needed = respondents_needed(survey, margin, level)
    advice = budget_advice(survey, respondents, level)
    whole = survey.plan.guarantee
    document: dict[str, Any] = {
        "odds": whole.exact,
        "epsilon": whole.epsilon,
        "strength": survey.strength,
        "warnings": [*ceiling_warnings(survey.plan), *definition_warnings(survey, respondents)],
        "respondents": respondents,
        "questions": [each.to_json() | {"respondents_for_margin": needed[each.question.id]} for each in shown],
        "margin": margin,
        "respondents_for_margin": max(needed.values()),
        "definition_hash": survey.definition_hash,
        "time": timing_statement(survey.send_interval, len(survey.questions)),
        "public": [question.id for question in survey.public],
        "advice": [each.to_json() for each in advice],
    }
    write_json(document, json)
    _warn(document["warnings"])
    say(f"All answers together: {whole}\n{protection_in_words(whole, all_together=True)}\n", json)
    _show_questions(shown, respondents, margin, needed, json)
    say(f"Margins of error are at the {100 * level:g}% level, if all answers are equally frequent.", json)
    if whole.deniable:
        say(f"Shares of the budget: {', '.join(f'{e.question.id} {e.share:.0%}' for e in shown)}.", json)
    say(f"For margins of {margin:.1%} in every question: {max(needed.values())} respondents.", json)
    if survey.plan.sampling_text:
        say(survey.plan.sampling_text, json)
    if advice:
        say("\n" + "\n".join([advice[0].problem, *(f"- {each}" for each in advice)]), json)
    say("\n" + "\n".join(document["time"]) + "\n", json)
    if browse:
        _browse(survey, json)
    say(f"Nothing is frozen yet. To freeze the draft: sottovoce survey freeze {draft}", json)


@option_errors(survey="draft")
def freeze(draft: DraftArgument, db: DatabaseOption = DATABASE, url: UrlOption = URL, json: JsonOption = None) -> None:
    """Freeze a draft: it gets a hash, and can no longer be changed."""
    definition = _read(draft)
    from sottovoce.surveys.definition.ceilings import ceiling_warnings
    from sottovoce.surveys.definition.preview import definition_warnings
    from sottovoce.surveys.links import Link, server_address

    server = server_address(url)
    check_open(definition)
    with open_store(db, create=True) as store:
        survey = store.freeze(definition)
    link = Link(server, survey.hash)
    warnings = [*ceiling_warnings(survey.plan), *definition_warnings(survey, PLANNED)]
    frozen = {"id": survey.id, "hash": survey.hash, "link": str(link), "audit": f"{link.address}/audit"}
    write_json(frozen | {"strength": survey.strength, "warnings": warnings}, json)
    _warn(warnings)
    say(f"Frozen as {survey.id}, sha256 {survey.hash}. All answers together: {survey.plan.guarantee}", json)
    if survey.invitation == "open":
        say(f"Link for all respondents: {link}", json)
    else:
        say(f"Next: sottovoce survey invite {survey.id} --count 100{database_option(db)}", json)
    say(f"Then: sottovoce survey serve{database_option(db)}", json)


def _warn(warnings: list[str]) -> None:
    for text in warnings:
        typer.echo(f"warning: {text}", err=True)


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
            "unbounded" if each.guarantee.odds is None else odds_text(each.guarantee.odds),
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

    trial = replace(survey, invitation="open", send_interval=0, rehearsal=True)
    with TemporaryDirectory() as folder:
        store = Store(str(Path(folder, "trial.db")))
        store.freeze(trial)
        listening = listen("127.0.0.1", 0)
        say(f"\nTry it: {Link(address_of(listening), trial.hash)}\nCtrl-C stops it and deletes all reports.", target)
        serve(make_app(store), listening)


def _read(draft: str) -> "Survey":
    from sottovoce.surveys.definition.definition import read_definition

    return read_definition(Path(draft))
