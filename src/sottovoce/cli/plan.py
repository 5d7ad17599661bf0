"""`sottovoce plan`: make a plan from a table, show what it promises, and audit it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.output import ForceOption, JsonOption, edges, emit, names, progress_bar, say, table

if TYPE_CHECKING:
    from sottovoce.disguises.audit.result import GroupAudit
    from sottovoce.plans.guarantee import Guarantee
    from sottovoce.plans.plan import Plan
    from sottovoce.schemas.attribute import Variable
    from sottovoce.schemas.schema import Schema

MOST_ITEMS = 62
"""Items whose subsets, all of them, can be numbered, for a budget to be spread over."""

CoinsOption = Annotated[
    str | None,
    typer.Option(metavar="P,Q", help="Sets of items: each item that is there kept with P, each that is not with Q."),
]


def budgeted(
    schema: "Schema", epsilon: str | None, odds: str | None, coins: str | None, *, joint: bool, mining: bool
) -> "Plan":
    """Coins by column, for the record, for small sets of columns, or for items."""
    from sottovoce.errors import SottovoceError, Words
    from sottovoce.plans.budget import new_plan
    from sottovoce.schemes.scheme import odds_asked

    if joint and mining:
        raise SottovoceError("joint or mining", "must be given, not both of them", Words("--joint --mining"))
    if coins is not None:
        if epsilon or odds or joint or mining:
            raise SottovoceError("coins", "must be given without a budget: the odds follow from them", coins)
        return _by_item(schema, coins)
    _check_small(schema)
    if mining:
        from sottovoce.mining.mining_plan import mining_plan

        return mining_plan(schema, odds_asked(epsilon=epsilon, odds=odds))
    return new_plan(schema, epsilon=epsilon, odds=odds, joint=joint)


def _by_item(schema: "Schema", coins: str) -> "Plan":
    """EMASK for every column; all of them have to be sets."""
    from sottovoce.errors import SottovoceError
    from sottovoce.plans.plan import Plan
    from sottovoce.schemas.item_set import ItemSet
    from sottovoce.schemes.emask import Emask

    others = [variable.name for variable in schema if not isinstance(variable, ItemSet)]
    if others:
        raise SottovoceError("coins", "must be for columns of sets (see --items, --columns)", others)
    parts = names(coins)
    if len(parts) != 2:
        raise SottovoceError("coins", "must be two probabilities, P,Q", coins)
    return Plan.of(schema, {name: Emask(*parts) for name in schema.names})


def _check_small(schema: "Schema") -> None:
    """Refuse to share a budget over all combinations of many items, and say what is there for them."""
    from sottovoce.errors import SottovoceError, Words
    from sottovoce.schemas.item_set import ItemSet

    for variable in schema:
        if isinstance(variable, ItemSet) and len(variable.items) > MOST_ITEMS:
            rule = f"must be given for {variable.name!r}, which has {len(variable.items)} items; see design goals"
            raise SottovoceError("coins", rule, Words("none"))


def audit(
    path: Annotated[str, typer.Argument(metavar="PLAN", help="Plan, or a disguised file that carries one.")],
    samples: Annotated[
        int | None, typer.Option(min=1, help="Reports drawn of each truth; as needed if not given.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="Probability that all bounds hold at once.")] = 0.99,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable coins.")] = None,
    json: JsonOption = None,
) -> None:
    """Prove from samples that a plan keeps its odds; exit with 1 if it was seen to exceed them."""
    from sottovoce.disguises.audit.run import audit_plan
    from sottovoce.tables.plan_file import read_plan

    plan = read_plan(path)
    with progress_bar("drawing reports") as progress:
        found = audit_plan(plan, samples=samples, confidence=confidence, rng=seed, progress=progress)
    emit(found.to_json(), json)
    table(("group", "stated epsilon", "lower bound", "share", "verdict"), map(_row, found.groups), json)
    for group in found.groups:
        for violation in group.violations:
            say(f"{group.name}: {violation}.", json)
    say(str(found).splitlines()[0], json)
    if not found.passed:
        raise typer.Exit(1)


def _row(group: "GroupAudit") -> tuple[str, ...]:
    share = "" if group.share is None else f"{group.share:.1%}"
    return group.name, f"{group.epsilon:.6g}", f"{group.lower_bound:.6g}", share, group.verdict


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
    from sottovoce.tables.infer import infer_schema
    from sottovoce.tables.plan_file import write_plan

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
    from sottovoce.tables.plan_file import read_plan

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
    from sottovoce.plans.document import plan_hash, plan_to_json

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
