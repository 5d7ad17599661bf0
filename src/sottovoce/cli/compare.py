"""`sottovoce compare`: schemes side by side over epsilon, as a table, JSON or a picture."""

from typing import Annotated, Any

import typer

from sottovoce.cli.design import CategoriesOption, PriorNameOption, PriorOption, parse_prior
from sottovoce.cli.options import (
    JsonOption,
    LevelOption,
    option_errors,
    parse_measure,
    split_names,
    split_numbers,
)
from sottovoce.cli.output import print_table, progress_bar, say, write_json

DEFAULT_SCHEMES = "randomized_response,subset_selection,optimized_unary"

MOST_ROWS = 60
"""Most rows of the printed table; the JSON has all."""


@option_errors(epsilon="epsilons")
def compare(
    respondents: Annotated[float, typer.Option(help="Number of respondents.")],
    schemes: Annotated[str, typer.Argument(metavar="[SCHEME,SCHEME,...]", help="Names of schemes.")] = DEFAULT_SCHEMES,
    prior: PriorOption = None,
    prior_name: PriorNameOption = None,
    categories: CategoriesOption = None,
    measures: Annotated[
        str,
        typer.Option(
            metavar="M,M,...",
            help="mse, standard-error, interval-width, respondents-needed, entropy-error, adversary-accuracy, "
            "worst-posterior, reconstruction, mutual-information or distortion.",
        ),
    ] = "interval-width,adversary-accuracy",
    epsilons: Annotated[
        str | None, typer.Option(metavar="E,E,...", help="Values of epsilon; if not given, from 0.25 to 4.")
    ] = None,
    certified: Annotated[bool, typer.Option("--certified", help="Also show the proven optimum.")] = False,
    width: Annotated[float, typer.Option(help="Width of intervals for respondents-needed.")] = 0.05,
    level: LevelOption = 0.95,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Plot the schemes: .png, .svg or .pdf.")] = None,
    json: JsonOption = None,
) -> None:
    """Compare schemes over epsilon by privacy and error."""
    from sottovoce.designs.compare import CERTIFIED, EPSILONS
    from sottovoce.designs.compare import compare as compare_schemes
    from sottovoce.designs.compare_measures import NAMES

    with progress_bar("comparing") as progress:
        comparison = compare_schemes(
            [*split_names(schemes), *([CERTIFIED] if certified else [])],
            parse_prior(prior, prior_name, categories),
            respondents,
            [parse_measure("measures", name, NAMES) for name in split_names(measures)],
            epsilons=split_numbers("epsilons", epsilons) or EPSILONS,
            width=width,
            level=level,
            progress=progress,
        )
    if plot is not None:
        comparison.plot(plot)
    write_json(comparison.to_json(), json)
    if json == "-":
        return
    shown = comparison.rows[:MOST_ROWS]
    rows = [(row["scheme"], *(_number(row[name]) for name in ("epsilon", *comparison.measures))) for row in shown]
    print_table(("scheme", "epsilon", *(name.replace("_", " ") for name in comparison.measures)), rows)
    if len(comparison.rows) > MOST_ROWS:
        say(f"{len(comparison.rows) - MOST_ROWS} more rows are in the JSON.")


def _number(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.5g}"
