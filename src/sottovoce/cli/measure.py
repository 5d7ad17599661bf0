"""`sottovoce measure` and `sottovoce compare`: what a plan's reports reveal, and schemes side by side."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.design import CategoriesOption, PriorNameOption, PriorOption, parse_prior
from sottovoce.cli.options import (
    JsonOption,
    LevelOption,
    PlanArgument,
    option_errors,
    parse_measure,
    parse_priors,
    split_names,
    split_numbers,
)
from sottovoce.cli.output import print_table, progress_bar, say, write_json

if TYPE_CHECKING:
    from sottovoce.measures.summary import ColumnMeasures

MOST_ROWS = 40
"""Most rows of the printed table; the JSON has all."""
DEFAULT_SCHEMES = "randomized_response,subset_selection,optimized_unary"

MOST_COMPARED = 60
"""Most rows of the printed table; the JSON has all."""


@option_errors(plan="path", priors="prior", name="prior")
def measure(
    path: PlanArgument,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=P,P,...",
            help="Prior of an attribute (of a set: the frequency of each item). Repeatable; uniform if not given.",
        ),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Measure what a report reveals under a prior: an adversary's accuracy, posteriors and mutual information."""
    from sottovoce.measures.summary import measure_columns
    from sottovoce.tables.plan_file import read_plan

    plan = read_plan(path)
    columns = measure_columns(plan, parse_priors(plan.schema, prior or []))
    promise = plan.guarantee
    numbers = {"odds": promise.exact, "epsilon": promise.epsilon if promise.deniable else None}
    write_json({**numbers, "attributes": [column.to_json() for column in columns]}, json)
    say(f"Whole record: {promise}", json)
    headers = ("attribute", "accuracy", "worst posterior", "mutual information", "reconstruction", "distortion")
    print_table(headers, map(_row, columns[:MOST_ROWS]), json)
    for remark in _remarks(columns):
        say(remark, json)


def _row(column: "ColumnMeasures") -> tuple[str, ...]:
    name = column.name if column.item is None else f"{column.name}: {column.item}"
    reconstruction = column.individual_reconstruction
    between = "" if reconstruction is None else f"{min(reconstruction):.4f} to {max(reconstruction):.4f}"
    numbers = (column.accuracy, column.worst_posterior, column.mutual_information)
    return (f"{name}{'' if column.prior_given else ' *'}", *map(_number, numbers), between, _number(column.distortion))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _remarks(columns: "list[ColumnMeasures]") -> list[str]:
    from sottovoce.measures.summary import OWN

    remarks = ["Accuracy: of an adversary's best guess. Mutual information: in bits."]
    if len(columns) > MOST_ROWS:
        remarks.append(f"{len(columns) - MOST_ROWS} more rows are in the JSON.")
    if not all(column.prior_given for column in columns):
        remarks.append("* no prior was given: uniform.")
    if any(column.seen == OWN for column in columns):
        remarks.append("Some groups are too large to compute: only the attribute's own columns; the others may add.")
    if any(column.seen is None for column in columns):
        remarks.append("Empty rows: the group is too large to compute, and its report cannot be split; see its odds.")
    return remarks


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
    shown = comparison.rows[:MOST_COMPARED]
    rows = [(row["scheme"], *(_value(row[name]) for name in ("epsilon", *comparison.measures))) for row in shown]
    print_table(("scheme", "epsilon", *(name.replace("_", " ") for name in comparison.measures)), rows)
    if len(comparison.rows) > MOST_COMPARED:
        say(f"{len(comparison.rows) - MOST_COMPARED} more rows are in the JSON.")


def _value(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.5g}"
