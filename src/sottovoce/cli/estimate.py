"""`sottovoce estimate`: the group's truth from a disguised file."""

from typing import Annotated, Any

import typer

from sottovoce.cli.output import JsonOption, emit, names, progress_bar, say, table


def estimate(
    path: Annotated[str, typer.Argument(metavar="FILE", help="Disguised CSV or Parquet file, with its plan.")],
    attributes: Annotated[str, typer.Option(help="Attributes, jointly: a,b.")],
    plan: Annotated[str | None, typer.Option(help="Plan, if the file does not carry it.")] = None,
    method: Annotated[str, typer.Option(help="inversion or blue (unbiased), em or simplex.")] = "inversion",
    target: Annotated[str, typer.Option(help="population, or the table itself.")] = "population",
    level: Annotated[float, typer.Option(help="Confidence of the intervals.")] = 0.95,
    derived: Annotated[
        str | None, typer.Option("--derive", help="Also entropy, correlation, mutual-information, odds-ratio ...")
    ] = None,
    json: JsonOption = None,
) -> None:
    """Estimate proportions, with standard errors and intervals, from reports alone."""
    from sottovoce.estimate.derived import derive
    from sottovoce.estimate.named import functional_named
    from sottovoce.estimate.proportions import estimate_proportions
    from sottovoce.table.plan_file import plan_of_reports

    agreed = plan_of_reports(path, plan)
    options: dict[str, Any] = {"method": method, "target": target}
    with progress_bar("estimating") as progress:
        found = estimate_proportions(path, agreed, names(attributes), **options, progress=progress)
    numbers = {name: derive(found, functional_named(name, found), level) for name in names(derived)}
    document = found.to_json(level) | {"derived": {name: number.to_json() for name, number in numbers.items()}}
    emit(document, json)
    if json == "-":
        return
    say(str(found).splitlines()[0])
    rows = [
        (*map(str, cell["values"].values()), f"{cell['estimate']:.4f}", f"{cell['standard_error']:.4f}", _ends(cell))
        for cell in document["cells"]
    ]
    table((*found.attributes, "estimate", "standard error", f"{level:.0%} interval"), rows)
    for number in numbers.values():
        say(str(number))
    if (found.value < 0).any():
        say("A negative estimate is noise around a small proportion; it is shown, not hidden.")


def _ends(cell: dict[str, Any]) -> str:
    return f"{cell['low']:.4f} to {cell['high']:.4f}"
