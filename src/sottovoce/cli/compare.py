"""`sottovoce compare`: schemes side by side over epsilon, as a table, JSON or a picture."""

from typing import Annotated, Any

import typer

from sottovoce.cli.design import prior_asked
from sottovoce.cli.output import JsonOption, LevelOption, emit, names, numbers, progress_bar, say, table

USUAL = "randomized_response,subset_selection,optimized_unary"
"""Schemes that are compared if none are named."""

MOST_ROWS = 60
"""Rows of the table for people; the JSON has all."""


def compare(
    respondents: Annotated[float, typer.Option(help="Number of respondents.")],
    schemes: Annotated[str, typer.Argument(metavar="[SCHEME,SCHEME,...]", help="Schemes by name.")] = USUAL,
    prior: Annotated[str | None, typer.Option(help="Expected shares of the categories: .5,.3,.2")] = None,
    prior_name: Annotated[
        str | None, typer.Option(help="normal, gamma, beta, uniform, t, chi2, binomial or zipf.")
    ] = None,
    categories: Annotated[int | None, typer.Option(min=2, help="Categories of a named prior.")] = None,
    measures: Annotated[
        str,
        typer.Option(
            help="mse, standard_error, interval_width, respondents_needed, entropy_error, adversary_accuracy, "
            "worst_posterior, reconstruction, mutual_information or distortion, with commas between them."
        ),
    ] = "interval_width,adversary_accuracy",
    epsilons: Annotated[str | None, typer.Option(help="Epsilons: E,E,...; quarters up to 4 if not given.")] = None,
    certified: Annotated[bool, typer.Option("--certified", help="Also the proven optimum.")] = False,
    width: Annotated[float, typer.Option(help="Width of intervals that respondents_needed is for.")] = 0.05,
    level: LevelOption = 0.95,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Draw the schemes: .png, .svg or .pdf.")] = None,
    json: JsonOption = None,
) -> None:
    """Compare schemes over epsilon, by any measure."""
    from sottovoce.designs.compare import CERTIFIED, EPSILONS
    from sottovoce.designs.compare import compare as measure

    asked = [*names(schemes), *([CERTIFIED] if certified else [])]
    with progress_bar("comparing") as progress:
        found = measure(
            asked,
            prior_asked(prior, prior_name, categories),
            respondents,
            names(measures),
            epsilons=numbers("epsilons", epsilons) or EPSILONS,
            width=width,
            level=level,
            progress=progress,
        )
    if plot is not None:
        found.plot(plot)
    emit(found.to_json(), json)
    if json == "-":
        return
    shown = found.rows[:MOST_ROWS]
    rows = [(row["scheme"], *(_number(row[name]) for name in ("epsilon", *found.measures))) for row in shown]
    table(("scheme", "epsilon", *(name.replace("_", " ") for name in found.measures)), rows)
    if len(found.rows) > MOST_ROWS:
        say(f"{len(found.rows) - MOST_ROWS} more rows are in the JSON.")


def _number(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.5g}"
