"""`sottovoce recommend`: what to use for some questions under one budget, in words and numbers."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.design_options import PriorSourceOption
from sottovoce.cli.output import ForceOption, JsonOption, LevelOption, emit, priors_given, progress_bar, say, table
from sottovoce.cli.recommend_schema import schema_asked

if TYPE_CHECKING:
    from sottovoce.design.recommend.recommendation import Recommendation

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
    from sottovoce.design.recommend.recommend import recommend as find
    from sottovoce.table.plan_file import write_plan

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
