"""Coins of a new plan: shared from a budget among columns, for the whole record, or those of the items of sets."""

from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.output import names

if TYPE_CHECKING:
    from sottovoce.plan.plan import Plan
    from sottovoce.schema.schema import Schema

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
    from sottovoce.plan.budget import new_plan
    from sottovoce.scheme.scheme import odds_asked

    if joint and mining:
        raise SottovoceError("joint or mining", "must be given, not both of them", Words("--joint --mining"))
    if coins is not None:
        if epsilon or odds or joint or mining:
            raise SottovoceError("coins", "must be given without a budget: the odds follow from them", coins)
        return _by_item(schema, coins)
    _check_small(schema)
    if mining:
        from sottovoce.mine.mining_plan import mining_plan

        return mining_plan(schema, odds_asked(epsilon=epsilon, odds=odds))
    return new_plan(schema, epsilon=epsilon, odds=odds, joint=joint)


def _by_item(schema: "Schema", coins: str) -> "Plan":
    """EMASK for every column; all of them have to be sets."""
    from sottovoce.errors import SottovoceError
    from sottovoce.plan.plan import Plan
    from sottovoce.schema.item_set import ItemSet
    from sottovoce.scheme.emask import Emask

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
    from sottovoce.schema.item_set import ItemSet

    for variable in schema:
        if isinstance(variable, ItemSet) and len(variable.items) > MOST_ITEMS:
            rule = f"must be given for {variable.name!r}, which has {len(variable.items)} items; see design goals"
            raise SottovoceError("coins", rule, Words("none"))
