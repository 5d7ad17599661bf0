"""`sottovoce survey estimate` and `export`: what a survey has found."""

from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.output import ForceOption, JsonOption, LevelOption, emit, names, progress_bar, say, table
from sottovoce.cli.survey.options import DATABASE, DatabaseOption, SurveyArgument, chosen, open_store
from sottovoce.errors import SottovoceError

if TYPE_CHECKING:
    from sottovoce.surveys.definition.survey import Survey
    from sottovoce.surveys.results import Reports, Result


def estimate(
    survey: SurveyArgument = None,
    cross: Annotated[
        list[str] | None, typer.Option(help="Also a table of two questions, and whether they are independent: a,b.")
    ] = None,
    level: LevelOption = 0.95,
    db: DatabaseOption = DATABASE,
    json: JsonOption = None,
) -> None:
    """Estimate every question from the reports stored so far, also while the survey runs."""
    reports = _reports(db, survey)
    pairs = [_pair(text) for text in cross or []]
    with progress_bar("estimating") as progress:
        found = reports.results(level=level, progress=progress)
    found += [reports.cross(*pair, level=level) for pair in pairs]
    emit({"survey": reports.survey.id, "results": [result.to_json() for result in found]}, json)
    say(f"{reports.survey.default_title}: {len(reports)} reports", json)
    show_results(reports.survey, found, level, json)
    for result in found:
        if result.test is not None:
            say(str(result.test), json)
        if result.untested is not None:
            say(f"{' and '.join(result.questions)} are not tested for independence: {result.untested}", json)
    say("Forged reports: as many as that, added by somebody, would move a result out of its interval.", json)


def export(
    output: Annotated[str, typer.Argument(metavar="OUT", help="CSV or Parquet file for the reports and their plan.")],
    survey: SurveyArgument = None,
    db: DatabaseOption = DATABASE,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Write the disguised reports with their plan, shuffled, for `sottovoce estimate` and other programs."""
    reports = _reports(db, survey)
    from sottovoce.surveys.results import export_reports

    rows = export_reports(reports, output, overwrite=force)
    emit({"survey": reports.survey.id, "reports": rows, "output": output}, json)
    say(f"{rows} reports in {output}, with their plan.", json)


def show_results(survey: "Survey", found: "list[Result]", level: float, target: str | None = None) -> None:
    """A table of all answers; negative estimates stay what they are."""
    rows = [row for result in found for row in result_rows(survey, result)]
    headers = ("question", "answer", "estimate", f"{level:.0%} interval", "forged reports")
    table(headers, rows, target)
    lines = [line for result in found for line in result.lines]
    if any(line.forged is None for line in lines):
        say("-: how many forged reports it takes is not known, or no number of them would do.", target)
    if any(line.estimate < 0 for line in lines):
        say("A negative estimate is noise around a small proportion; it is shown, not hidden.", target)


def result_rows(survey: "Survey", result: "Result") -> list[tuple[str, ...]]:
    """Lines of one question, or of a table of two, in the words of the survey's first language."""
    questions = [survey.question(name) for name in result.questions]
    language = survey.languages[0]
    return [
        (
            " x ".join(result.questions) if place == 0 else "",
            ", ".join(q.words(label, language) for q, label in zip(questions, line.labels, strict=True)),
            f"{line.estimate:.1%}",
            f"{line.low:.1%} to {line.high:.1%}",
            "-" if line.forged is None else str(line.forged),
        )
        for place, line in enumerate(result.lines)
    ]


def _reports(database: str, name: str | None) -> "Reports":
    with open_store(database) as store:
        from sottovoce.surveys.results import Reports

        survey = chosen(store, name)
        return Reports(survey, store.reports(survey.id))


def _pair(text: str) -> tuple[str, str]:
    pair = names(text)
    if len(pair) != 2:
        raise SottovoceError("cross", "must name two questions: a,b", text)
    return pair[0], pair[1]
