"""A plan for mining tables of categories: small sets of attributes, each with the whole budget."""

from fractions import Fraction

from sottovoce.errors import SottovoceError
from sottovoce.estimates.covariance import MOST_CELLS
from sottovoce.exact import OddsLike
from sottovoce.exact import odds as exact_odds
from sottovoce.plans.plan import Plan
from sottovoce.plans.purpose_plan import small_sets
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.attribute_sampling import AttributeSampling

LARGEST = Fraction(13, 10)
"""Joint cells of a set of attributes, in multiples of gamma + 1, up to which it is asked as one."""

ALWAYS = 25
"""Joint cells up to which it is asked as one whatever gamma: measured at gamma = 3 (docs/mining.md)."""


def mining_plan(schema: Schema, odds: OddsLike) -> Plan:
    """Ask each respondent one small set of attributes, drawn at random, with odds gamma for the whole record.

    On n joint cells a gamma-diagonal matrix keeps the truth with `(gamma - 1) / (gamma + n - 1)`; what it tells, the
    square of that for each of n - 1 contrasts, is most near `n = gamma + 1`, where it reaches the limit
    `(gamma - 1)^2 / (4 gamma)` that no mechanism passes. So the sets are the largest ones of at most 1.3 (gamma + 1)
    cells, or 25, and the pairs that none of them holds: what goes together is seen pair by pair at least. Where the
    cells are many more than gamma + 1 reports are spread over sets of truths, unless there are too many attributes
    to be modelled at once. From such reports `estimate_asked_together` gives unbiased proportions of what was asked
    together, `estimate_joint` those of all joint cells by a model, `modelled_itemsets` what is frequent.

    >>> from sottovoce.schemas.attribute import Attribute, boolean
    >>> schema = Schema([boolean("smokes"), boolean("drinks"), Attribute("age", ["young", "middle", "old"])])
    >>> plan = mining_plan(schema, odds=4)
    >>> print(plan.guarantee)
    4 : 1 (epsilon 1.3863)
    >>> [axes for axes, _ in plan.groups[0].mechanism.parts]
    [(0, 1, 2)]
    """
    whole = exact_odds("odds", odds)
    if whole == 1:
        raise SottovoceError("odds", "must be above 1 : 1, where nothing can be learned", odds)
    if len(schema.names) < 2:
        raise SottovoceError("schema", "must have at least two attributes for anything to go together", schema.names)
    sets_of_items = [variable.name for variable in schema if isinstance(variable, ItemSet)]
    if sets_of_items:
        rule = "must have only attributes of categories; for sets of items see emask"
        raise SottovoceError("schema", rule, sets_of_items)
    sets = small_sets(schema.sizes, max(LARGEST * (whole + 1), Fraction(ALWAYS)))
    scheme = AttributeSampling(odds=whole, subsets=sets, spread=schema.cells <= MOST_CELLS)
    return Plan.of(schema, {schema.names: scheme}, odds=whole)
