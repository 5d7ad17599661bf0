"""`sottovoce recommend`: a plan for some attributes under one budget, in words and numbers."""

from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.design import PriorSourceOption
from sottovoce.cli.options import (
    EpsilonOption,
    ForceOption,
    JsonOption,
    LevelOption,
    OddsOption,
    option_errors,
    parse_bins,
    parse_priors,
    split_names,
)
from sottovoce.cli.output import print_table, progress_bar, say, write_json
from sottovoce.errors import SottovoceError, Words

if TYPE_CHECKING:
    from sottovoce.designs.recommend.recommendation import Recommendation
    from sottovoce.schemas.attribute import Variable
    from sottovoce.schemas.schema import Schema


@option_errors(source="prior_source", categories="attribute", edges="bins", labels="bins", output="plan")
def recommend(
    respondents: Annotated[float, typer.Option(help="Number of respondents.")],
    table: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="CSV or Parquet file whose columns are the attributes.")
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=A,B,...", help="Attribute with its categories, or their number: NAME=8. Repeatable."
        ),
    ] = None,
    items: Annotated[
        list[str] | None, typer.Option(metavar="NAME=A,B,...", help="Set with its possible items. Repeatable.")
    ] = None,
    epsilon: EpsilonOption = None,
    odds: OddsOption = None,
    margin: Annotated[
        float | None,
        typer.Option(help="Wanted margin of error, such as .03: find the smallest epsilon. Instead of a budget."),
    ] = None,
    purpose: Annotated[
        str,
        typer.Option(help="What to estimate: marginals (each attribute), pairs, triples or joint."),
    ] = "marginals",
    prior: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=P,P,...|worst",
            help="Expected proportions (of a set: each item's frequency), repeatable; or worst, for intervals that are "
            "wide enough for any. Uniform if not given, but worst with --margin.",
        ),
    ] = None,
    prior_source: PriorSourceOption = None,
    level: LevelOption = 0.95,
    columns: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Columns of TABLE to use; all if not given.")
    ] = None,
    bins: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=18,40,inf", help="Edges of bins for a number of TABLE. Repeatable."),
    ] = None,
    plan: Annotated[str | None, typer.Option("-o", "--plan", metavar="FILE", help="Write the plan.")] = None,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Plot the alternatives: .png, .svg, .pdf.")] = None,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Recommend what to ask under a budget, or the smallest epsilon for a margin of error, and write the plan.

    Plain randomized response, unless another scheme has at least 15 % less variance.
    """
    from sottovoce.designs.recommend.recommend import WORST
    from sottovoce.designs.recommend.recommend import recommend as recommend_plan
    from sottovoce.tables.plan_file import write_plan

    schema = _schema(table, attribute or [], items or [], columns, bins or [])
    with progress_bar("designing") as progress:
        recommendation = recommend_plan(
            schema,
            respondents,
            odds=odds,
            epsilon=epsilon,
            margin=margin,
            prior=WORST if prior == [WORST] else parse_priors(schema, prior) if prior else None,
            prior_source=prior_source,
            purpose=purpose,
            level=level,
            progress=progress,
        )
    if plan is not None:
        write_plan(recommendation.plan, plan, overwrite=force)
    if plot is not None:
        recommendation.plot(path=plot)
    write_json(recommendation.to_json(), json)
    _present(recommendation, json)


def _schema(
    table: str | None, attributes: list[str], items: list[str], columns: str | None, bins: list[str]
) -> "Schema":
    """Return the schema of the given attributes and sets, or of a table's columns."""
    from sottovoce.schemas.schema import Schema

    if (table is None) == (not attributes and not items):
        rule = "must be given: a table, or attributes with their categories, but not both"
        raise SottovoceError("table or attribute", rule, table or Words("neither"))
    if table is None:
        return Schema([*map(_attribute, attributes), *map(_item_set, items)])
    from sottovoce.tables.infer import infer_schema

    return infer_schema(table, columns=split_names(columns) or None, bins=dict(map(parse_bins, bins)))


def _attribute(text: str) -> "Variable":
    """Return an attribute with the given categories, or with as many as a given number."""
    from sottovoce.schemas.attribute import Attribute

    name, labels = _name_and_labels("attribute", text)
    if len(labels) == 1 and labels[0].isdecimal():
        return Attribute(name, [str(number) for number in range(1, int(labels[0]) + 1)])
    return Attribute(name, labels)


def _item_set(text: str) -> "Variable":
    from sottovoce.schemas.item_set import ItemSet

    return ItemSet(*_name_and_labels("items", text))


def _name_and_labels(parameter: str, text: str) -> tuple[str, list[str]]:
    name, separator, labels = text.partition("=")
    if not separator or not name or not labels:
        raise SottovoceError(parameter, "must look like NAME=A,B,...", text)
    return name, split_names(labels)


def _present(recommendation: "Recommendation", target: str | None) -> None:
    """Print the recommendation in words, the alternatives, warnings and notes."""
    if target == "-":
        return
    say(recommendation.words + "\n")
    rows = [
        (
            f"{row['name']}{' *' if row['recommended'] else ''}",
            f"{row['mse']:.4g}",
            f"{row['error_over_recommended']:.2f}",
            f"{row['typical_width']:.3g}",
            f"{row['respondents_for_the_same_precision']:,}",
        )
        for row in recommendation.rows()
    ]
    headers = ("scheme", "mean squared error", "relative", "typical width", "respondents for the same precision")
    print_table(headers, rows)
    for line in (*(f"Warning: {warning}" for warning in recommendation.warnings), *recommendation.notes):
        say(line)
