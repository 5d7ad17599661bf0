"""`sottovoce survey drill`: a private copy of a survey goes through crashes, races and outages."""

from pathlib import Path
from secrets import randbelow
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.options import JsonOption, option_errors
from sottovoce.cli.output import print_table, say, write_json
from sottovoce.cli.survey.options import database_name
from sottovoce.errors import SottovoceError

if TYPE_CHECKING:
    from sottovoce.surveys.definition.survey import Survey
    from sottovoce.surveys.drill.drill import DrillResult, ScenarioOutcome


@option_errors(database="db")
def drill(
    survey: Annotated[
        str | None, typer.Option(metavar="FILE", help="Definition to drill with; a sample if not given.")
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(
            "--db",
            metavar="URL|@FILE",
            help="URL of a PostgreSQL server's database, beside which a scratch database is created; SQLite if not "
            "given. @FILE reads it from a file.",
        ),
    ] = None,
    folder: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Folder for temporary files: the disk to drill with.")
    ] = None,
    respondents: Annotated[int, typer.Option(min=8, help="Number of simulated respondents of each scenario.")] = 200,
    only: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Run only this scenario. Repeatable.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="The same seed gives the same faults; a random one if not given.")
    ] = None,
    minutes: Annotated[float, typer.Option(min=0, help="Repeat all scenarios until so much time has passed.")] = 0,
    outage: Annotated[float, typer.Option(min=0.1, help="Seconds for which the database is out of reach.")] = 60,
    json: JsonOption = None,
) -> None:
    """Try out what can go wrong: crashes, replays, races, clocks, full disks, bad connections, a database outage.

    Runs a private copy with a database, a process and a port of its own; no existing survey is touched. Exits with 1
    if anything that was acknowledged is lost, anything leaks, or any other rule is broken.
    """
    from sottovoce.surveys.drill.drill import Course, run_drill

    chosen = randbelow(10**6) if seed is None else seed
    where = "a new SQLite database" if db is None else "a scratch PostgreSQL database"
    say(f"Drill with seed {chosen} over {where}. No existing survey is touched.", json)
    result = run_drill(
        _definition(survey),
        Course(chosen, respondents, only or (), minutes, outage),
        database=None if db is None else database_name(db),
        folder=folder,
        progress=lambda outcome: say(f"{outcome.name}: {outcome.sentence} {_verdict(outcome)}", json),
    )
    write_json(result.to_json(), json)
    _show(result, json)
    if not result.passed:
        raise typer.Exit(1)


def _definition(path: str | None) -> "Survey":
    from sottovoce.surveys.collect.app_state import today
    from sottovoce.surveys.definition.definition import read_definition, sample_definition, survey_from_text

    if path is None:
        return survey_from_text(sample_definition("exams", today()))
    if not Path(path).is_file():
        raise SottovoceError("survey", "must be the file of a definition", path)
    return read_definition(path)


def _verdict(outcome: "ScenarioOutcome") -> str:
    """Return the numbers of findings of each kind, in words."""
    from sottovoce.surveys.drill.drill import KINDS

    counts = {kind: sum(finding.kind == kind for finding in outcome.findings) for kind in KINDS}
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count) or "ok"


def _show(result: "DrillResult", target: str | None) -> None:
    rows = [
        (
            outcome.name,
            str(len(outcome.faults)),
            str(outcome.acknowledged),
            str(outcome.retries),
            f"{outcome.seconds:.1f}",
            _verdict(outcome),
        )
        for outcome in result.outcomes
    ]
    print_table(("scenario", "faults", "acknowledged", "sent again", "seconds", "verdict"), rows, target)
    for finding in result.findings:
        say(str(finding), target)
    if result.passed:
        say(f"All {result.acknowledged} acknowledged reports are stored, once each, and nothing leaked.", target)
    else:
        numbers = f"{result.count('lost')} lost, {result.count('leaked')} leaked, {result.count('broken')} broken"
        say(f"Failed: {numbers}. The same faults again: sottovoce survey drill --seed {result.seed}", target)
