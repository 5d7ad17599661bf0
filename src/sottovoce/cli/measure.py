"""`sottovoce measure`: what a plan's reports give away to someone with a prior, attribute by attribute."""

from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.output import JsonOption, emit, priors_given, say, table

if TYPE_CHECKING:
    from sottovoce.measures.summary import ColumnMeasures

MOST_ROWS = 40
"""Rows of the table for people; the JSON has all."""


def measure(
    path: Annotated[str, typer.Argument(metavar="PLAN", help="Plan, or a disguised file that carries one.")],
    prior: Annotated[
        list[str] | None,
        typer.Option(help="Prior of an attribute: NAME=.7,.2,.1 (of a set: the frequency of each item)."),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Measure what a report gives away: best guesses, posteriors and bits, under a prior."""
    from sottovoce.measures.summary import measure_columns
    from sottovoce.tables.plan_file import read_plan

    plan = read_plan(path)
    columns = measure_columns(plan, priors_given(plan.schema, prior or []))
    promise = plan.guarantee
    numbers = {"odds": promise.exact, "epsilon": promise.epsilon if promise.deniable else None}
    emit({**numbers, "attributes": [column.to_json() for column in columns]}, json)
    say(f"Whole record: {promise}", json)
    headers = ("attribute", "right guesses", "worst posterior", "bits told", "reconstructed", "distortion")
    table(headers, map(_row, columns[:MOST_ROWS]), json)
    for remark in _remarks(columns):
        say(remark, json)


def _row(column: "ColumnMeasures") -> tuple[str, ...]:
    name = column.name if column.item is None else f"{column.name}: {column.item}"
    kept = column.individual_reconstruction
    between = "" if kept is None else f"{min(kept):.4f} to {max(kept):.4f}"
    numbers = (column.accuracy, column.worst_posterior, column.mutual_information)
    return (f"{name}{'' if column.prior_given else ' *'}", *map(_number, numbers), between, _number(column.distortion))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _remarks(columns: "list[ColumnMeasures]") -> list[str]:
    from sottovoce.measures.summary import OWN

    remarks = []
    if len(columns) > MOST_ROWS:
        remarks.append(f"{len(columns) - MOST_ROWS} more rows are in the JSON.")
    if not all(column.prior_given for column in columns):
        remarks.append("* no prior was given: uniform.")
    if any(column.seen == OWN for column in columns):
        remarks.append("Some groups are too large to write out: of those, own columns only; the rest may tell more.")
    if any(column.seen is None for column in columns):
        remarks.append("Empty rows: the group is too large to write out and its report does not split; see its odds.")
    return remarks
