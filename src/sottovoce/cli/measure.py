"""`sottovoce measure`: what a plan's reports reveal about each attribute under a prior."""

from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.options import JsonOption, PlanArgument, option_errors, parse_priors
from sottovoce.cli.output import print_table, say, write_json

if TYPE_CHECKING:
    from sottovoce.measures.summary import ColumnMeasures

MOST_ROWS = 40
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
