"""`sottovoce recommend`: what to use for some questions under one budget, in words and numbers."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.design import PriorSourceOption
from sottovoce.cli.output import (
    ForceOption,
    JsonOption,
    LevelOption,
    edges,
    emit,
    names,
    priors_given,
    progress_bar,
    say,
    table,
)
from sottovoce.errors import SottovoceError, Words

if TYPE_CHECKING:
    from sottovoce.designs.recommend.recommendation import Recommendation
    from sottovoce.schemas.attribute import Variable
    from sottovoce.schemas.schema import Schema

RespondentsOption = Annotated[float, typer.Option(help="Number of respondents.")]
TableArgument = Annotated[
    str | None, typer.Argument(metavar="[TABLE]", help="CSV or Parquet file whose columns are the attributes.")
]
AttributesOption = Annotated[
    list[str] | None,
    typer.Option(help="Attribute with its categories, or how many: NAME=a,b,c or NAME=8. Once for each."),
]
ItemsOption = Annotated[list[str] | None, typer.Option(help="Set of items: NAME=a,b,c.")]
EpsilonOption = Annotated[str | None, typer.Option(help="Budget of the whole record.")]
OddsOption = Annotated[str | None, typer.Option(help="Budget of the whole record as odds, a:b.")]
PurposeOption = Annotated[str, typer.Option(help="What is wanted: each (attribute), pairs (also: mining), or joint.")]
PriorsOption = Annotated[
    list[str] | None, typer.Option(help="Expected shares: NAME=.7,.2,.1 (of a set: each item's frequency).")
]
ColumnsOption = Annotated[str | None, typer.Option(help="Of a table, these columns only: a,b,c.")]
BinsOption = Annotated[list[str] | None, typer.Option(help="Of a table, cut a number at edges: NAME=18,40,inf.")]
PlanOption = Annotated[str | None, typer.Option("-o", "--plan", metavar="FILE", help="Write the plan.")]
PlotOption = Annotated[str | None, typer.Option(metavar="FILE", help="Draw the alternatives: .png, .svg, .pdf.")]


def schema_asked(
    source: str | None, attributes: list[str], items: list[str], columns: str | None, bins: list[str]
) -> "Schema":
    """Schema of the attributes and items given, or of a table's columns."""
    from sottovoce.schemas.schema import Schema

    if (source is None) == (not attributes and not items):
        rule = "must be given: a table, or attributes with their categories, not both"
        raise SottovoceError("TABLE or --attribute", rule, source or Words("none"))
    if source is None:
        return Schema([*map(_attribute, attributes), *map(_item_set, items)])
    from sottovoce.tables.infer import infer_schema

    return infer_schema(source, columns=names(columns) or None, bins=dict(map(edges, bins)))


def _attribute(text: str) -> "Variable":
    """Attribute of named categories, or of so many."""
    from sottovoce.schemas.attribute import Attribute

    name, labels = _named("attribute", text)
    if len(labels) == 1 and labels[0].isdecimal():
        return Attribute(name, [str(number) for number in range(1, int(labels[0]) + 1)])
    return Attribute(name, labels)


def _item_set(text: str) -> "Variable":
    from sottovoce.schemas.item_set import ItemSet

    return ItemSet(*_named("items", text))


def _named(parameter: str, text: str) -> tuple[str, list[str]]:
    name, separator, labels = text.partition("=")
    if not separator or not name or not labels:
        raise SottovoceError(parameter, "must look like NAME=a,b,c", text)
    return name, names(labels)


def recommend(
    respondents: RespondentsOption,
    source: TableArgument = None,
    attribute: AttributesOption = None,
    items: ItemsOption = None,
    epsilon: EpsilonOption = None,
    odds: OddsOption = None,
    purpose: PurposeOption = "each",
    prior: PriorsOption = None,
    prior_source: PriorSourceOption = None,
    level: LevelOption = 0.95,
    columns: ColumnsOption = None,
    bins: BinsOption = None,
    plan: PlanOption = None,
    plot: PlotOption = None,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Recommend a plan: plain randomized response, unless something else gains more than 15 %."""
    from sottovoce.designs.recommend.recommend import recommend as find
    from sottovoce.tables.plan_file import write_plan

    schema = schema_asked(source, attribute or [], items or [], columns, bins or [])
    with progress_bar("designing") as progress:
        found = find(
            schema,
            respondents,
            odds=odds,
            epsilon=epsilon,
            prior=priors_given(schema, prior) if prior else None,
            prior_source=prior_source,
            purpose=purpose,
            progress=progress,
        )
    found = replace(found, level=level)
    if plan is not None:
        write_plan(found.plan, plan, overwrite=force)
    if plot is not None:
        found.plot(path=plot)
    emit(found.to_json(), json)
    _present(found, json)


def _present(found: "Recommendation", target: str | None) -> None:
    """Words, the alternatives, and what whoever uses the plan has to know."""
    if target == "-":
        return
    say(found.words + "\n")
    rows = [
        (
            f"{row['name']}{' *' if row['recommended'] else ''}",
            f"{row['mse']:.4g}",
            f"{row['error_over_recommended']:.2f}",
            f"{row['typical_width']:.3g}",
            f"{row['respondents_for_the_same_precision']:,}",
        )
        for row in found.rows()
    ]
    table(("design", "error variance", "relative", "typical width", "respondents for the same precision"), rows)
    for line in (*(f"Warning: {warning}" for warning in found.warnings), *found.notes):
        say(line)
