"""`sottovoce plan`: make a plan from a table, and show what a plan promises."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.audit import audit
from sottovoce.cli.output import ForceOption, JsonOption, edges, emit, names, say, table
from sottovoce.cli.plan_coins import CoinsOption, budgeted

if TYPE_CHECKING:
    from sottovoce.plan.guarantee import Guarantee
    from sottovoce.plan.plan import Plan
    from sottovoce.schema.variable import Variable

app = typer.Typer(help="Make plans and show what they promise.", no_args_is_help=True)
app.command()(audit)


@app.command()
def new(
    source: Annotated[
        str, typer.Argument(metavar="TABLE", help="CSV or Parquet file, or - for CSV on standard input.")
    ],
    output: Annotated[str, typer.Option("-o", "--output", help="Where to write the plan.")],
    epsilon: Annotated[str | None, typer.Option(help="Budget of the whole record.")] = None,
    odds: Annotated[str | None, typer.Option(help="Budget of the whole record as odds, a:b.")] = None,
    joint: Annotated[bool, typer.Option("--joint", help="One coin for the whole record.")] = False,
    mining: Annotated[
        bool, typer.Option("--mining", help="A few columns of each record, at random: for what goes together.")
    ] = False,
    coins: CoinsOption = None,
    columns: Annotated[str | None, typer.Option(help="Plan for these columns only: a,b,c.")] = None,
    items: Annotated[str | None, typer.Option(help="Columns of a CSV file that hold sets, as ale;bread.")] = None,
    bins: Annotated[list[str] | None, typer.Option(help="Cut a number at these edges: NAME=18,40,65,inf.")] = None,
    missing: Annotated[str | None, typer.Option(help="Category for missing values.")] = None,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Make a plan for a table: its columns, their categories, and coins within a budget."""
    from sottovoce.table.infer import infer_schema
    from sottovoce.table.plan_file import write_plan

    cut, wanted = dict(map(edges, bins or [])), names(columns) or None
    schema = infer_schema(source, columns=wanted, bins=cut, sets=names(items), missing=missing)
    plan = budgeted(schema, epsilon, odds, coins, joint=joint, mining=mining)
    write_plan(plan, output, overwrite=force)
    _present(plan, json)
    say(f"\nWritten to {output}. The categories are public from now on: see that no label names a person.", json)


@app.command()
def show(
    path: Annotated[str, typer.Argument(metavar="PLAN", help="Plan, or a disguised file that carries one.")],
    json: JsonOption = None,
) -> None:
    """Show what a plan promises: for the whole record first, then attribute by attribute."""
    from sottovoce.table.plan_file import read_plan

    _present(read_plan(path), json)


def _present(plan: "Plan", target: str | None) -> None:
    document = describe(plan)
    emit(document, target)
    if target == "-":
        return
    say(f"Whole record: {plan.guarantee}\n{plan.guarantee.in_words()}\n")
    if len(plan.schema.sizes) > 1:
        say(f"Records that differ in one answer, or one item of a set: {plan.guarantee_within(1)}\n")
    rows = [
        (
            ", ".join(group.attributes),
            " x ".join(_size(plan.schema[name]) for name in group.attributes),
            group.scheme,
            str(group.guarantee),
        )
        for group in plan.groups
    ]
    table(("attributes", "categories", "scheme", "odds"), rows)
    if plan.prior is not None:
        say(f"Designed for a prior from a {plan.prior.source} source: {plan.prior.note}")
    say(f"sha256 {document['sha256']}")


def describe(plan: "Plan") -> dict[str, Any]:
    """What `plan show` says, for programs; unbounded odds and epsilon are null."""
    from sottovoce.plan.document import plan_hash, plan_to_json

    return {
        "sha256": plan_hash(plan),
        **_numbers(plan.guarantee),
        "deniable": plan.guarantee.deniable,
        "one_answer": _numbers(plan.guarantee_within(1)),
        "promise": plan.guarantee.in_words(),
        "groups": [
            {
                "attributes": list(group.attributes),
                "sizes": [size for name in group.attributes for size in plan.schema[name].sizes],
                "scheme": group.scheme,
                **_numbers(group.guarantee),
            }
            for group in plan.groups
        ],
        "plan": plan_to_json(plan),
    }


def _size(variable: "Variable") -> str:
    """Number of categories, or of items."""
    return str(variable.sizes[0]) if len(variable.sizes) == 1 else f"{len(variable.sizes)} items"


def _numbers(guarantee: "Guarantee") -> dict[str, str | float | None]:
    """Exact odds as text, and epsilon; both null where the odds are unbounded."""
    return {"odds": guarantee.exact, "epsilon": guarantee.epsilon if guarantee.deniable else None}
