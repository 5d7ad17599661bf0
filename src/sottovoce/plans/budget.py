"""Make a plan from a budget for the whole record."""

from collections.abc import Iterable

from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike, odds_asked, odds_of_epsilon, root_of_odds
from sottovoce.exact import odds as exact_odds
from sottovoce.plans.plan import Plan
from sottovoce.plans.public import PublicColumn, split_public
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.randomized_response import RandomizedResponse


def new_plan(
    schema: Schema,
    *,
    epsilon: Number | None = None,
    odds: OddsLike | None = None,
    joint: bool = False,
    public: Iterable[str | PublicColumn] = (),
) -> Plan:
    """Make a plan that spends a budget for the WHOLE record equally on its attributes, or jointly.

    By default each attribute has coins of its own and can be estimated on its own. With `joint`, a gamma-diagonal
    matrix spends the whole budget on the record at once, which is better while the joint cells are few. Columns in
    `public`, given by their names in the schema or as columns, are passed on as they are and cost nothing.

    >>> from sottovoce.schemas.attribute import boolean
    >>> schema = Schema([boolean("a"), boolean("b")])
    >>> plan = new_plan(schema, odds=9)
    >>> print(plan.guarantee, "=", plan.guarantee_of("a"), "twice")
    9 : 1 (epsilon 2.19723) = 3 : 1 (epsilon 1.09862) twice
    """
    whole = odds_asked(epsilon=epsilon, odds=odds)
    if whole == 1:
        name, even, given = ("epsilon", "0", epsilon) if odds is None else ("odds", "1 : 1", odds)
        rule = f"must be above {even}, at which reports say nothing about the answers and nothing can be learned"
        raise SottovoceError(name, rule, given)
    schema, passed_on = split_public(schema, public)
    if joint:
        return Plan.of(schema, {schema.names: GammaDiagonal(whole)}, odds=odds, public=passed_on)
    count = len(schema.names)
    each = (
        root_of_odds(exact_odds("odds", odds), count) if epsilon is None else odds_of_epsilon("epsilon", epsilon, count)
    )
    return Plan.of(schema, {name: RandomizedResponse(odds=each) for name in schema.names}, odds=odds, public=passed_on)
