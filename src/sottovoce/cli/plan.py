"""`sottovoce plan`, `audit` and `disguise`: make, read and test plans, and disguise files under them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.options import (
    DisguiseSeedOption,
    EpsilonOption,
    ForceOption,
    JsonOption,
    OddsOption,
    PlanArgument,
    option_errors,
    parse_bins,
    split_names,
)
from sottovoce.cli.output import print_table, progress_bar, say, write_json
from sottovoce.errors import SottovoceError, Words

if TYPE_CHECKING:
    from sottovoce.disguises.audit.result import GroupAudit
    from sottovoce.plans.guarantee import Guarantee
    from sottovoce.plans.plan import Plan
    from sottovoce.schemas.schema import Schema

MOST_ITEMS = 62
"""Most items of a set over whose subsets a budget can be divided: the subsets have to be numbered."""

app = typer.Typer(help="Make plans, show what they promise, and audit them.", no_args_is_help=True)


@app.command()
@option_errors(edges="bins", labels="bins", p="coins", q="coins", sets="items")
def new(
    source: Annotated[str, typer.Argument(metavar="TABLE", help="CSV or Parquet file; - for CSV on standard input.")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="File for the plan.")],
    epsilon: EpsilonOption = None,
    odds: OddsOption = None,
    purpose: Annotated[
        str | None,
        typer.Option(help="What to estimate: marginals, pairs (the default), triples or joint; or split the budget."),
    ] = None,
    mining: Annotated[
        bool, typer.Option("--mining", help="Report a few random columns of each record jointly, for mining.")
    ] = False,
    coins: Annotated[
        str | None,
        typer.Option(
            metavar="P,Q", help="For sets: keep each present item with probability P, each absent one with Q."
        ),
    ] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Columns to plan for; all if not given.")
    ] = None,
    public: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...", help="Columns that are not sensitive, passed on as they are and not protected."
        ),
    ] = None,
    items: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Columns of a CSV file that contain sets, such as ale;bread.")
    ] = None,
    bins: Annotated[
        list[str] | None, typer.Option(metavar="NAME=18,40,65,inf", help="Edges of bins for a number. Repeatable.")
    ] = None,
    missing: Annotated[str | None, typer.Option(help="Category of missing values.")] = None,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Make a plan for a table: its columns, their categories, and schemes within a budget."""
    from sottovoce.tables.infer import infer_columns
    from sottovoce.tables.plan_file import write_plan

    edges, wanted = dict(map(parse_bins, bins or [])), split_names(columns) or None
    schema, passed_on = infer_columns(
        source, public=split_names(public), columns=wanted, bins=edges, sets=split_names(items), missing=missing
    )
    plan = _plan_within_budget(schema, epsilon, odds, coins, purpose, mining=mining).with_public(passed_on)
    write_plan(plan, output, overwrite=force)
    _present(plan, json)
    say(f"\nWritten to {output}. Its categories are public: check that no label names a person.", json)


def _plan_within_budget(
    schema: "Schema", epsilon: str | None, odds: str | None, coins: str | None, purpose: str | None, *, mining: bool
) -> "Plan":
    """Return a plan for a purpose, for mining, or with coins for each item."""
    from sottovoce.exact import odds_asked
    from sottovoce.plans.purpose_plan import plan_for_purpose

    if purpose is not None and mining:
        raise SottovoceError("purpose and mining", "must not be used together", Words("both"))
    if coins is not None:
        if epsilon or odds or purpose or mining:
            raise SottovoceError("coins", "must be given without a budget: the odds follow from the coins", coins)
        return _item_plan(schema, coins)
    _check_small(schema)
    if mining:
        from sottovoce.mining.small_set_plan import mining_plan

        return mining_plan(schema, odds_asked(epsilon=epsilon, odds=odds))
    return plan_for_purpose(schema, epsilon=epsilon, odds=odds, purpose=purpose or "pairs")


def _item_plan(schema: "Schema", coins: str) -> "Plan":
    """Return a plan with EMASK for every column, all of which must be sets."""
    from sottovoce.plans.plan import Plan
    from sottovoce.schemas.item_set import ItemSet
    from sottovoce.schemes.emask import Emask

    others = [variable.name for variable in schema if not isinstance(variable, ItemSet)]
    if others:
        raise SottovoceError("coins", "must be for columns of sets (see --items and --columns)", others)
    probabilities = split_names(coins)
    if len(probabilities) != 2:
        raise SottovoceError("coins", "must be two probabilities, P,Q", coins)
    return Plan.of(schema, {name: Emask(*probabilities) for name in schema.names})


def _check_small(schema: "Schema") -> None:
    """Refuse to divide a budget over all subsets of many items, and name the alternative."""
    from sottovoce.schemas.item_set import ItemSet

    for variable in schema:
        if isinstance(variable, ItemSet) and len(variable.items) > MOST_ITEMS:
            rule = f"must be given for {variable.name!r}, which has {len(variable.items)} items; see design goals"
            raise SottovoceError("coins", rule, Words("none"))


@app.command()
@option_errors(plan="path")
def show(path: PlanArgument, json: JsonOption = None) -> None:
    """Show what a plan promises, for the whole record and for each attribute."""
    from sottovoce.tables.plan_file import read_plan

    _present(read_plan(path), json)


def _present(plan: "Plan", target: str | None) -> None:
    from sottovoce.plans.plan import size_text

    document = describe(plan)
    write_json(document, target)
    if target == "-":
        return
    say(f"Whole record: {plan.guarantee}\n{plan.guarantee.in_words()}\n")
    if len(plan.schema.sizes) > 1:
        say(f"Records that differ in one answer, or in one item of a set: {plan.guarantee_within(1)}\n")
    rows = [
        (
            ", ".join(group.attributes),
            " x ".join(size_text(plan.schema[name]) for name in group.attributes),
            group.scheme,
            str(group.guarantee),
        )
        for group in plan.groups
    ]
    print_table(("attributes", "categories", "scheme", "odds"), rows)
    if plan.sampling_text:
        say(plan.sampling_text)
    if plan.public:
        say(f"Public, not protected: {', '.join(plan.public_names)}")
    if plan.prior is not None:
        say(f"Designed for a prior from a {plan.prior.source} source: {plan.prior.note}")
    say(f"sha256 {document['sha256']}")


def describe(plan: "Plan") -> dict[str, Any]:
    """Return what `plan show` prints as JSON; unbounded odds and epsilon are null."""
    from sottovoce.plans.document import plan_hash, plan_to_json

    return {
        "sha256": plan_hash(plan),
        **_numbers(plan.guarantee),
        "deniable": plan.guarantee.deniable,
        "one_answer": _numbers(plan.guarantee_within(1)),
        "promise": plan.guarantee.in_words(),
        "answers_per_report": list(plan.answers_per_report),
        "public": [column.to_json() for column in plan.public],
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


def _numbers(guarantee: "Guarantee") -> dict[str, str | float | None]:
    """Return exact odds as text, and epsilon; both are null if the odds are unbounded."""
    return {"odds": guarantee.exact, "epsilon": guarantee.epsilon if guarantee.deniable else None}


@app.command()
@option_errors(plan="path")
def audit(
    path: PlanArgument,
    samples: Annotated[
        int | None, typer.Option(min=1, help="Reports drawn for each truth; as many as needed if not given.")
    ] = None,
    level: Annotated[float, typer.Option(help="Confidence level of all bounds together.")] = 0.99,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable samples.")] = None,
    json: JsonOption = None,
) -> None:
    """Test from samples whether a plan keeps its odds; exit with 1 if it exceeds them."""
    from sottovoce.disguises.audit.run import audit
    from sottovoce.tables.plan_file import read_plan

    plan = read_plan(path)
    with progress_bar("drawing reports") as progress:
        result = audit(plan, samples=samples, level=level, rng=seed, progress=progress)
    write_json(result.to_json(), json)
    headers = ("group", "stated epsilon", "lower bound", "share", "verdict")
    print_table(headers, map(_audit_row, result.groups), json)
    for group in result.groups:
        for violation in group.violations:
            say(f"{group.name}: {violation}.", json)
    say(str(result).splitlines()[0], json)
    if not result.passed:
        raise typer.Exit(1)


def _audit_row(group: "GroupAudit") -> tuple[str, ...]:
    share = "" if group.share is None else f"{group.share:.1%}"
    return group.name, f"{group.epsilon:.6g}", f"{group.lower_bound:.6g}", share, group.verdict


@option_errors(table="source")
def disguise(
    source: Annotated[str, typer.Argument(metavar="IN", help="CSV or Parquet file of true answers; - for CSV.")],
    output: Annotated[str, typer.Argument(metavar="OUT", help="CSV or Parquet file of reports; - for CSV.")],
    plan: Annotated[str, typer.Option(metavar="PLAN", help="Plan to disguise under.")],
    drop: Annotated[str | None, typer.Option(metavar="A,B,...", help="Columns to leave out.")] = None,
    drop_others: Annotated[
        bool, typer.Option("--drop-others", help="Leave out all columns that are not in the plan.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Disguise a file that carries a plan once more.")] = False,
    seed: DisguiseSeedOption = None,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Disguise a table under a plan; the disguised file carries the plan."""
    from sottovoce.disguises.tables import write_disguised
    from sottovoce.plans.document import plan_hash
    from sottovoce.tables.plan_file import read_plan
    from sottovoce.tables.source import Drop

    agreed = read_plan(plan)
    dropped: Drop = "others" if drop_others else split_names(drop)
    with progress_bar("disguising") as progress:
        written = write_disguised(
            source, output, agreed, rng=seed, drop=dropped, overwrite=force, again=again, progress=progress
        )
    document = {"rows": written.rows, "output": output, "sha256": plan_hash(agreed), "seeded": seed is not None}
    write_json(document | {"small_combinations": written.small_combinations}, json)
    taken = "-" if "-" in (output, json) else None
    say(f"{written.rows} records disguised into {output}; whole record {agreed.guarantee}.", taken)
    if agreed.public:
        say(f"Passed on as they are, not protected: {', '.join(agreed.public_names)}.", taken)
    if written.small_combinations:
        say(f"warning: {written.small_combinations_text}", "-")
    if seed is not None:
        say("A seeded disguise protects nobody: anyone who knows the seed knows the answers.", "-")
