"""`sottovoce survey estimate`, `export` and `report`: the results of a survey."""

from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.options import ForceOption, JsonOption, LevelOption, option_errors, split_names
from sottovoce.cli.output import print_table, progress_bar, say, write_json
from sottovoce.cli.survey.options import DATABASE, DatabaseOption, SurveyArgument, open_store
from sottovoce.errors import SottovoceError, renamed_parameters

if TYPE_CHECKING:
    from sottovoce.surveys.definition.survey import Survey
    from sottovoce.surveys.results import QuestionResult


@option_errors()
def estimate(
    survey: SurveyArgument = None,
    cross: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Also a table of two questions, with a test of independence. Repeatable."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="A[,B]", help="Also the protected questions for each answer to these public ones."),
    ] = None,
    level: LevelOption = 0.95,
    db: DatabaseOption = DATABASE,
    json: JsonOption = None,
) -> None:
    """Estimate the answers to every question from the reports stored so far."""
    pairs = [_pair(text) for text in cross or []]
    with open_store(db) as store:
        from sottovoce.surveys.results import cross_table, results_by, survey_results

        frozen = store.select(survey)
        reports, replaced = store.reports(frozen.id), store.counts(frozen.id)["replaced"]
    with progress_bar("estimating") as progress:
        results = survey_results(frozen, reports, level=level, progress=progress)
    results += [cross_table(frozen, reports, *pair, level=level) for pair in pairs]
    groups, small = results_by(frozen, reports, split_names(by), level=level) if by else ([], {})
    results += groups
    too_few = [{"group": list(group), "reports": count} for group, count in small.items()]
    document = {
        "survey": frozen.id,
        "rehearsal": frozen.rehearsal,
        "replaced": replaced,
        "results": [result.to_json() for result in results],
        "too_few": too_few,
    }
    write_json(document, json)
    say(f"{'Rehearsal of ' * frozen.rehearsal}{frozen.default_title}: {len(reports)} reports", json)
    show_results(frozen, results, level, json)
    for result in results:
        if result.missing is not None:
            say(f"{', '.join((*result.questions, *(result.group or ())))}: {result.missing}", json)
        if result.test is not None:
            say(str(result.test), json)
        if result.untested is not None:
            say(f"{' and '.join(result.questions)} are not tested for independence: {result.untested}", json)
    for group, count in small.items():
        say(f"{', '.join(group)}: {count} reports, fewer than the minimum of {frozen.minimum}; not estimated.", json)
    if replaced:
        say(f"{replaced} replacement invitations were issued: as many people may have answered twice.", json)
    say("Forged reports: how many added by somebody would move the estimate out of its interval.", json)


@option_errors()
def export(
    output: Annotated[
        str,
        typer.Argument(
            metavar="OUT", help="File to write: .csv or .parquet with its plan, .zip, .sav (SPSS), .dta (Stata)."
        ),
    ],
    survey: SurveyArgument = None,
    db: DatabaseOption = DATABASE,
    codebook: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also a CSV file with the meaning of all columns and labels.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Write the disguised reports and their plan, in random order, for `sottovoce estimate` and other programs.

    A .zip archive holds a CSV file, its plan and its codebook. SPSS and Stata files have labels, and no plan.
    """
    with open_store(db) as store:
        from sottovoce.surveys.codebook import write_codebook
        from sottovoce.surveys.publications import export_reports
        from sottovoce.tables.sink import check_new

        frozen = store.select(survey)
        if codebook is not None:
            with renamed_parameters({"output": "--codebook"}):
                check_new(codebook, overwrite=force)
        rows = export_reports(store, frozen, output, overwrite=force)
    document = {"survey": frozen.id, "reports": rows, "output": output}
    if codebook is not None:
        write_codebook(frozen, codebook, overwrite=force)
        document["codebook"] = codebook
    write_json(document, json)
    labelled = output.lower().endswith((".sav", ".dta"))
    say(f"{rows} reports {'with labels' if labelled else 'and their plan'} written to {output}.", json)


@option_errors()
def report(
    output: Annotated[str, typer.Argument(metavar="OUT", help="HTML file to write.")],
    survey: SurveyArgument = None,
    level: LevelOption = 0.95,
    db: DatabaseOption = DATABASE,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Write all estimates with charts, tables and a methods paragraph as one HTML file to read, send or print."""
    with open_store(db) as store:
        from sottovoce.surveys.dashboard.report import html_report
        from sottovoce.surveys.publications import check_output
        from sottovoce.surveys.results import survey_results
        from sottovoce.tables.sink import new_file

        frozen = store.select(survey)
        check_output(frozen, output, (".html",), overwrite=force)
        results, counts = survey_results(frozen, store.reports(frozen.id), level=level), store.counts(frozen.id)
    with new_file(output) as hidden:
        hidden.write_text(html_report(frozen, results, counts, level=level), encoding="utf-8")
    write_json({"survey": frozen.id, "reports": counts["reports"], "level": level, "output": output}, json)
    say(f"Report of {counts['reports']} reports written to {output}.", json)


def show_results(survey: "Survey", results: "list[QuestionResult]", level: float, target: str | None = None) -> None:
    """Print a table of all answers, and explain unusual entries."""
    rows = [row for result in results for row in (*result_rows(survey, result), *_scale_rows(result))]
    headers = ("question", "answer", "estimate", f"{100 * level:g}% interval", "forged reports")
    print_table(headers, rows, target)
    lines = [line for result in results for line in result.lines]
    if any(line.forged is None for line in lines):
        say("-: the number of forged reports is not known, or no number would be enough.", target)
    if any(line.estimate < 0 for line in lines):
        say("A negative estimate is noise around a small proportion; it is shown as it is.", target)


def result_rows(survey: "Survey", result: "QuestionResult") -> list[tuple[str, ...]]:
    """Return the rows of one question or cross table, with answers in the survey's first language."""
    questions = [survey.question(name) for name in result.questions]
    language = survey.languages[0]
    title = " x ".join(result.questions) + ("" if result.group is None else f" ({', '.join(result.group)})")
    return [
        (
            title if index == 0 else "",
            ", ".join(q.words(label, language) for q, label in zip(questions, line.labels, strict=True)),
            f"{line.estimate:.1%}",
            f"{line.low:.1%} to {line.high:.1%}",
            "-" if line.forged is None else str(line.forged),
        )
        for index, line in enumerate(result.lines)
    ]


def _scale_rows(result: "QuestionResult") -> list[tuple[str, ...]]:
    """Return the mean of a scale, or its shares up to each step."""
    rows: list[tuple[str, ...]] = []
    for name, each in result.scale_lines:
        form = ".2f" if result.mean is not None else ".1%"
        rows.append(("", name, f"{each.value:{form}}", f"{each.low:{form}} to {each.high:{form}}", "-"))
    return rows


def _pair(text: str) -> tuple[str, str]:
    pair = split_names(text)
    if len(pair) != 2:
        raise SottovoceError("cross", "must name two questions: A,B", text)
    return pair[0], pair[1]
