"""A plan for mining tables of categories: small sets of attributes, each with the whole budget."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import prod

from sottovoce.errors import SottovoceError
from sottovoce.estimates.covariance import MOST_CELLS
from sottovoce.exact import OddsLike
from sottovoce.exact import odds as exact_odds
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.attribute_sampling import AttributeSampling

LARGEST = Fraction(13, 10)
"""Joint cells of a set of attributes, in multiples of gamma + 1, up to which it is asked as one."""

ALWAYS = 25
"""Joint cells up to which it is asked as one whatever gamma: measured at gamma = 3 (docs/mining.md)."""

MOST_SETS = 400
"""Sets that are all asked; where there are more, a few that hold every pair are, since each costs a coin."""

Axes = tuple[int, ...]


def mining_plan(schema: Schema, gamma: OddsLike) -> Plan:
    """Ask each respondent one small set of attributes, drawn at random, with odds of exactly gamma for the record.

    On n joint cells a gamma-diagonal matrix keeps the truth with `(gamma - 1) / (gamma + n - 1)`; what it tells, the
    square of that for each of n - 1 contrasts, is most near `n = gamma + 1`, where it reaches the limit
    `(gamma - 1)^2 / (4 gamma)` that no mechanism passes. So the sets are the largest ones of at most 1.3 (gamma + 1)
    cells, or 25, and the pairs that none of them holds: what goes together is seen pair by pair at least. Where the
    cells are many more than gamma + 1 reports are spread over sets of truths, unless there are too many attributes
    to be modelled at once. From such reports `estimate_covered` gives unbiased proportions of what was asked
    together, `estimate_joint` those of all joint cells by a model, `modelled_itemsets` what is frequent.

    >>> from sottovoce.schemas.attribute import Attribute, boolean
    >>> schema = Schema([boolean("smokes"), boolean("drinks"), Attribute("age", ["young", "middle", "old"])])
    >>> plan = mining_plan(schema, gamma=4)
    >>> print(plan.guarantee)
    4 : 1 (epsilon 1.3863)
    >>> [axes for axes, _ in plan.groups[0].mechanism.parts]
    [(0, 1, 2)]
    """
    odds = exact_odds("gamma", gamma)
    if odds == 1:
        raise SottovoceError("gamma", "must be above 1, where reports say nothing", gamma)
    if len(schema.names) < 2:
        raise SottovoceError("schema", "must have at least two attributes for anything to go together", schema.names)
    sets_of_items = [variable.name for variable in schema if isinstance(variable, ItemSet)]
    if sets_of_items:
        rule = "must have only attributes of categories; for sets of items see emask"
        raise SottovoceError("schema", rule, sets_of_items)
    sets = small_sets(schema.sizes, max(LARGEST * (odds + 1), Fraction(ALWAYS)))
    scheme = AttributeSampling(odds=odds, subsets=sets, spread=schema.cells <= MOST_CELLS)
    return Plan.of(schema, {schema.names: scheme}, odds=odds)


def small_sets(sizes: Sequence[int], most_cells: Fraction) -> list[Axes]:
    """Largest sets of attributes with at most so many joint cells, and the pairs that none of them holds.

    Where there are too many to be asked, sets that hold every pair at least once are chosen one after the other.

    >>> small_sets((2, 2, 2, 9), Fraction(8))
    [(0, 1, 2), (0, 3), (1, 3), (2, 3)]
    """
    found: list[Axes] = []
    for axes in _largest(sizes, most_cells):
        found.append(axes)
        if len(found) > MOST_SETS:
            found = _covering(sizes, most_cells)
            break
    held = {pair for axes in found for pair in combinations(axes, 2)}
    return found + [pair for pair in combinations(range(len(sizes)), 2) if pair not in held]


def _largest(sizes: Sequence[int], most_cells: Fraction, start: Axes = ()) -> Iterator[Axes]:
    """Sets of two attributes at least that fit, and into which no other attribute fits."""
    cells = prod(sizes[a] for a in start)
    further = range(start[-1] + 1 if start else 0, len(sizes))
    for a in further:
        if cells * sizes[a] <= most_cells:
            yield from _largest(sizes, most_cells, (*start, a))
    others = (size for a, size in enumerate(sizes) if a not in start)
    if len(start) > 1 and cells * min(others, default=most_cells + 1) > most_cells:
        yield start


def _covering(sizes: Sequence[int], most_cells: Fraction) -> list[Axes]:
    """Sets that fit and hold every pair that fits: each begins with a pair left over, and takes in what adds most."""
    left = {pair for pair in combinations(range(len(sizes)), 2) if prod(sizes[a] for a in pair) <= most_cells}
    found = []
    while left:
        axes: Axes = min(left)
        while True:
            cells = prod(sizes[a] for a in axes)
            fitting = [a for a in range(len(sizes)) if a not in axes and cells * sizes[a] <= most_cells]
            if not fitting:
                break
            gains = {a: sum(_pair(a, b) in left for b in axes) / sizes[a] for a in fitting}
            axes = (*axes, max(fitting, key=gains.__getitem__))
        found.append(tuple(sorted(axes)))
        left -= {_pair(a, b) for a, b in combinations(axes, 2)}
    return found


def _pair(a: int, b: int) -> Axes:
    return (a, b) if a < b else (b, a)
