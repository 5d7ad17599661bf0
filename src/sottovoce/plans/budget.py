"""A plan from one number: the budget of the whole record, shared among its attributes."""

from sottovoce.exact import Number, OddsLike, odds_of_epsilon, root_of_odds
from sottovoce.exact import odds as exact_odds
from sottovoce.plans.plan import Plan
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.randomized_response import RandomizedResponse
from sottovoce.schemes.scheme import odds_asked


def new_plan(
    schema: Schema, *, epsilon: Number | None = None, odds: OddsLike | None = None, joint: bool = False
) -> Plan:
    """Share a budget for the WHOLE record: equally, each attribute with its own coins, or jointly.

    Separate coins let every attribute be read on its own; a joint gamma-diagonal matrix spends the
    whole budget on the record at once, which pays while the joint cells are few.

    >>> from sottovoce.schemas.attribute import boolean
    >>> schema = Schema([boolean("a"), boolean("b")])
    >>> plan = new_plan(schema, odds=9)
    >>> print(plan.guarantee, "=", plan.guarantee_of("a"), "twice")
    9 : 1 (epsilon 2.19723) = 3 : 1 (epsilon 1.09862) twice
    """
    whole = odds_asked(epsilon=epsilon, odds=odds)
    if joint:
        return Plan.of(schema, {schema.names: GammaDiagonal(whole)}, odds=odds)
    count = len(schema.names)
    each = (
        root_of_odds(exact_odds("odds", odds), count) if epsilon is None else odds_of_epsilon("epsilon", epsilon, count)
    )
    return Plan.of(schema, {name: RandomizedResponse(odds=each) for name in schema.names}, odds=odds)
