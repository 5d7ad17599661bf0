"""Plans for a purpose: ask each respondent a few attributes jointly, the number chosen by exact variances.

Splitting a budget among attributes wastes most of it. A plan of this module draws one of several sets of attributes for
each respondent, and asks the set jointly with the whole budget. How large the sets should be follows from the variances
of what is wanted, which have a closed form for uniform truths: all channels here depend on truth and report through
their difference only, so that the information matrix is diagonal in the contrasts (Fourier characters) of the joint
cells. A set Q of n_Q joint cells shrinks every contrast by `keep_Q = (odds - 1) / (odds + n_Q - 1)`, or by `(a - b)
D(chi)` for a matrix that favours several truths (`spread_set`). An estimate of the table S sees the attributes `R = Q`
and S in common, so its information about a contrast of the attributes T is

    `I_S(T) = sum_{R contains T} |sum_{Q: Q and S = R} P(Q) keep_Q|^2 / sum_{Q: Q and S = R} P(Q)`,

and the cells of S have, from one respondent, the summed variance `sum_chi (1 / I_S(chi) - 1) / n_S` if the truths are
this table. `estimate_proportions(..., method="blue")` attains it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, inf, prod

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, one_of
from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import Number, OddsLike, odds_asked, root_of_odds
from sottovoce.plans.budget import new_plan
from sottovoce.plans.plan import Plan
from sottovoce.plans.public import PublicColumn, split_public
from sottovoce.schemas.attribute import LARGEST_DOMAIN, check_domain
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.attribute_sampling import MOST_CELLS as LARGEST_SPREAD
from sottovoce.schemes.attribute_sampling import AttributeSampling, spread_set, spread_sets
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.randomized_response import RandomizedResponse
from sottovoce.schemes.scheme import Scheme

PURPOSES = {
    "marginals": "the proportions of each attribute",
    "pairs": "the cells of each pair of attributes",
    "triples": "the cells of each three attributes",
    "joint": "the joint cells of all attributes",
    "split": "each attribute, with an equal share of the budget",
}
"""Purposes by name, and what each asks for."""

ORDERS = {"marginals": 1, "pairs": 2, "triples": 3}
"""Attributes of the tables that a purpose wants."""

LARGEST_TABLE = 4096
"""Most cells of a table that is estimated from sampled attributes (`estimates.covariance.MOST_CELLS`)."""

MOST_SETS = 400
"""Sets of attributes that are all asked; of more, a few that cover all wanted tables are, since each needs a coin."""

MOST_PARTS = 2000
"""Most sets of attributes of a plan."""

MOST_TABLES = 40_000
"""Most wanted tables for which sets that cover them are searched: all triples of 60 attributes, in seconds."""

OVERLAP = 1.4
"""Least ratio of a greedy covering to one without overlaps, for many attributes: hopeless searches are skipped."""

SMALLEST_INFORMATION = 1e-12
"""Information about a contrast below which it counts as never seen."""

SPREAD_GAIN = 0.05
"""Least gain of a spread matrix, whose entries make a plan longer."""

SPREAD_ENTRIES = 2**14
"""Most entries of all spread matrices of a plan."""

SPREAD_WORK = 2**15
"""Most squared cells, summed over different shapes, for which spread matrices are searched: about two seconds."""

Axes = tuple[int, ...]


@dataclass(frozen=True)
class Design:
    """Sets of attributes to draw from, None for splitting the budget; and the summed variance of what is wanted.

    `spread` asks for spread matrices where they are better than gamma-diagonal ones.
    """

    subsets: tuple[Axes, ...] | None
    variance: float
    spread: bool = False

    def schemes(self, names: Sequence[str], odds: Fraction) -> dict[str | tuple[str, ...], Scheme]:
        """Schemes of these attributes, by name or for all of them together."""
        if self.subsets is None:
            return _split(names, root_of_odds(odds, len(names)))
        if self.spread or self.subsets != (tuple(range(len(names))),):
            return {tuple(names): AttributeSampling(odds=odds, subsets=self.subsets, spread=self.spread)}
        return {tuple(names): GammaDiagonal(odds)}


def plan_for_purpose(
    schema: Schema,
    *,
    odds: OddsLike | None = None,
    epsilon: Number | None = None,
    purpose: str = "pairs",
    public: Iterable[str | PublicColumn] = (),
) -> Plan:
    """Make the plan with the least variance for a purpose, under a budget for the WHOLE record.

    The purposes "marginals", "pairs" and "triples" want all tables of one, two or three attributes. Each respondent is
    asked a few attributes, drawn at random, jointly, so that everything wanted can be estimated; the number of
    attributes, or asking the whole record jointly, or splitting the budget, is chosen by the exact variances, summed
    over all wanted cells, for uniform truths. "joint" asks the whole record jointly; "split" gives each attribute an
    equal share of the budget (`new_plan`). A single attribute has plain randomized response. Columns in `public`, given
    by their names in the schema or as columns, are passed on as they are and cost nothing.

    A set of items is always asked as a whole, with an equal share of the budget, except for "joint". The tables of
    "pairs" and "triples" may have at most 4096 cells; "marginals" of an attribute with more categories come from the
    better of splitting and asking jointly.

    >>> from sottovoce.schemas.attribute import boolean
    >>> plan = plan_for_purpose(Schema(map(boolean, "abcd")), epsilon=1, purpose="pairs")
    >>> len(plan.groups[0].mechanism.parts), plan.answers_per_report
    (6, (2, 2))
    """
    goal = one_of("purpose", purpose, list(PURPOSES))
    whole = odds_asked(epsilon=epsilon, odds=odds)
    schema, passed_on = split_public(schema, public)
    others = [variable.name for variable in schema if not isinstance(variable, ItemSet)]
    sets = [name for name in schema.names if name not in others]
    if goal == "split" or len(schema.names) == 1 or (not others and goal != "joint"):
        return new_plan(schema, odds=odds, epsilon=epsilon, public=passed_on)
    if whole == 1:
        raise SottovoceError("odds", "must be above 1 : 1, where reports say nothing", Words("1 : 1"))
    if goal == "joint" and sets:
        return new_plan(schema, odds=odds, epsilon=epsilon, joint=True, public=passed_on)
    each = root_of_odds(whole, len(schema.names))
    rest = whole / each ** len(sets)
    schemes = _split(sets, each) | best_design(schema.project(others), rest, goal).schemes(others, rest)
    return Plan.of(schema, schemes, odds=odds, public=passed_on)


def best_design(schema: Schema, odds: Fraction, purpose: str) -> Design:
    """Return the design of least variance for categorical attributes; raise if a wanted table is too large."""
    if len(schema.names) == 1:
        return Design(None, split_variance(schema.sizes, odds, 1))
    if purpose == "joint":
        return _joint_design(schema.sizes, odds)
    order = min(ORDERS[purpose], len(schema.names))
    largest = sorted(schema, key=lambda variable: variable.sizes[0])[-order:]
    cells = prod(variable.sizes[0] for variable in largest)
    if order > 1 and cells > LARGEST_TABLE:
        names = " x ".join(repr(variable.name) for variable in largest)
        rule = f"must have tables of at most {LARGEST_TABLE} cells; take another one, or merge categories of {names}"
        raise SottovoceError("purpose", rule, Words(f"{purpose}, with a table of {cells} cells"))
    designs = list(sampling_designs(schema.sizes, odds, purpose)) if cells <= LARGEST_TABLE else []
    if not designs and 1 < order < len(schema.names):
        rule = f"must be one for which {MOST_PARTS} sets of attributes suffice; take marginals, or fewer attributes"
        raise SottovoceError("purpose", rule, Words(f"{purpose} of {len(schema.names)} attributes"))
    if schema.cells <= LARGEST_DOMAIN:
        designs.append(_spread_where_better(schema.sizes, odds, order, [tuple(range(len(schema.names)))]))
    designs.append(Design(None, split_variance(schema.sizes, odds, order)))
    return min(designs, key=lambda design: design.variance)


def sampling_designs(sizes: Sequence[int], odds: Fraction, purpose: str) -> Iterator[Design]:
    """Yield designs that draw from all sets of m attributes, or from sets of m that cover all wanted tables.

    For attributes of different sizes, sets of pairs are also limited by their joint cells (`small_sets`). Larger and
    larger m are tried until the variance has risen twice.
    """
    order, count = min(ORDERS[purpose], len(sizes)), len(sizes)
    best, rises = inf, 0
    for size in range(order, count):
        if prod(sorted(sizes)[-size:]) > LARGEST_DOMAIN:
            break
        subsets = _subsets(count, size, order)
        if subsets is not None:
            design = _spread_where_better(sizes, odds, order, subsets)
            yield design
            rises = rises + 1 if design.variance > best else 0
            best = min(best, design.variance)
        if rises == 2:
            break
    if order == 2 and len(set(sizes)) > 1:
        for multiple in (1, 2, 4):
            sets = small_sets(sizes, multiple * (odds + 1))
            if len(sets) <= MOST_PARTS:
                yield _spread_where_better(sizes, odds, order, sets)


def summed_variance(
    sizes: Sequence[int], odds: Fraction, order: int, subsets: Sequence[Axes], *, spread: bool = False
) -> float:
    """Variance from one respondent, summed over the cells of all tables of `order` attributes, for uniform truths.

    One of `subsets` is drawn for each respondent and asked jointly with these odds. Infinite if a table is never asked;
    with N respondents the variance is this over N. For the population `1 - 1/n` is added for each table of n cells.

    >>> round(summed_variance((2, 2, 2), Fraction(271828, 100000), 1, [(0,), (1,), (2,)]), 2)
    19.57
    """
    if not spread:
        return _variance_of_diagonals(sizes, odds, order, subsets)
    shapes = {shape: _shrinkage(shape, odds, found) for shape, found in spread_sets(sizes, subsets, odds).items()}
    parts = [(axes, shapes[tuple(sizes[axis] for axis in axes)]) for axes in subsets]
    return sum(_variance_of_table(sizes, table, parts) for table in combinations(range(len(sizes)), order))


def split_variance(sizes: Sequence[int], odds: Fraction, order: int) -> float:
    """Variance as `summed_variance` of randomized response of each attribute with an equal share of the odds.

    >>> round(split_variance((2, 2, 2), Fraction(271828, 100000), 1) / 19.57, 2)
    2.73
    """
    share = float(odds) ** (1 / len(sizes))
    kept = [((share - 1) / (share + size - 1)) ** 2 for size in sizes]
    total = 0.0
    for table in combinations(range(len(sizes)), order):
        for axes in _nonempty(table):
            contrasts = prod(sizes[axis] - 1 for axis in axes)
            total += contrasts * (1 / prod(kept[axis] for axis in axes) - 1) / prod(sizes[axis] for axis in table)
    return total


def small_sets(sizes: Sequence[int], most_cells: Fraction, most_sets: int = MOST_SETS) -> list[Axes]:
    """Return the largest sets of attributes with at most so many joint cells, and the pairs that none of them contains.

    If there are too many, sets that contain every pair at least once are chosen one after the other.

    >>> small_sets((2, 2, 2, 9), Fraction(8))
    [(0, 1, 2), (0, 3), (1, 3), (2, 3)]
    """
    sets: list[Axes] = []
    for axes in _largest_sets(sizes, most_cells):
        sets.append(axes)
        if len(sets) > most_sets:
            sets = _covering_by_cells(sizes, most_cells)
            break
    contained = {pair for axes in sets for pair in combinations(axes, 2)}
    return sets + [pair for pair in combinations(range(len(sizes)), 2) if pair not in contained]


def _split(names: Iterable[str], odds: Fraction) -> dict[str | tuple[str, ...], Scheme]:
    return {name: RandomizedResponse(odds=odds) for name in names}


def _joint_design(sizes: Sequence[int], odds: Fraction) -> Design:
    """Ask the whole record jointly, by a spread matrix if that gains enough for its joint cells."""
    cells, everything = check_domain(sizes), tuple(range(len(sizes)))
    keep = float((odds - 1) / (odds + cells - 1))
    plain = Design((everything,), (cells - 1) / cells * (1 / keep**2 - 1))
    if cells > LARGEST_SPREAD:
        return plain
    spread = _variance_of_table(
        sizes, everything, [(everything, _shrinkage(tuple(sizes), odds, spread_set(sizes, odds)))]
    )
    return Design((everything,), spread, spread=True) if spread < (1 - SPREAD_GAIN) * plain.variance else plain


def _spread_where_better(sizes: Sequence[int], odds: Fraction, order: int, subsets: Sequence[Axes]) -> Design:
    """Return the design with spread matrices if they gain enough, else with gamma-diagonal ones."""
    plain = Design(tuple(subsets), summed_variance(sizes, odds, order, subsets))
    shapes = [tuple(sizes[axis] for axis in axes) for axes in subsets]
    cells = [prod(shape) for shape in shapes]
    entries, work = sum(n * n for n in cells), sum(prod(shape) ** 2 for shape in set(shapes))
    if max(cells) > LARGEST_SPREAD or entries > SPREAD_ENTRIES or work > SPREAD_WORK:
        return plain
    if all(len(spread_set(shape, odds)) == 1 for shape in set(shapes)):
        return plain
    variance = summed_variance(sizes, odds, order, subsets, spread=True)
    return Design(tuple(subsets), variance, spread=True) if variance < (1 - SPREAD_GAIN) * plain.variance else plain


def _variance_of_diagonals(sizes: Sequence[int], odds: Fraction, order: int, subsets: Sequence[Axes]) -> float:
    """Summed variance for gamma-diagonal matrices, all tables at once: arrays have an axis for each attribute of S."""
    gamma, count = float(odds), len(sizes)
    totals = [(np.zeros((count,) * k), np.zeros((count,) * k)) for k in range(1, order + 1)]
    for axes in subsets:
        keep = (gamma - 1) / (gamma + prod(sizes[axis] for axis in axes) - 1)
        for k, (drawn, kept) in enumerate(totals, start=1):
            drawn[np.ix_(*[axes] * k)] += 1
            kept[np.ix_(*[axes] * k)] += keep
    seen: dict[Axes, Array] = {}  # information of the parts whose attributes in common with S are R, by R
    for r in _nonempty(range(order)):
        drawn, kept = np.zeros((count,) * order), np.zeros((count,) * order)
        for u in _nonempty(range(order)):
            if set(r) <= set(u):  # inclusion and exclusion
                missing = tuple(position for position in range(order) if position not in u)
                sign, (drawn_by_all, kept_by_all) = (-1) ** (len(u) - len(r)), totals[len(u) - 1]
                drawn += sign * np.expand_dims(drawn_by_all, missing)
                kept += sign * np.expand_dims(kept_by_all, missing)
        drawn = np.round(drawn)
        seen[r] = np.divide(kept**2, drawn * len(subsets), out=np.zeros_like(kept), where=drawn > 0)
    return _over_tables(np.array(sizes, float), order, seen)


def _over_tables(sizes: Array, order: int, seen: Mapping[Axes, Array]) -> float:
    """Sum `(1 / I_S(T) - 1) / n_S` over the contrasts of all sets T of attributes of all tables S."""
    tables = np.array(list(combinations(range(len(sizes)), order))).T
    cells, total = np.prod(sizes[tables], axis=0), np.zeros(tables.shape[1])
    for t in _nonempty(range(order)):
        information = sum(values[tuple(tables)] for r, values in seen.items() if set(t) <= set(r))
        if np.min(information) <= 0:
            return inf
        total += np.prod(sizes[tables[list(t)]] - 1, axis=0) * (1 / information - 1) / cells
    return float(total.sum())


def _variance_of_table(
    sizes: Sequence[int], table: Axes, parts: Sequence[tuple[Axes, NDArray[np.complex128]]]
) -> float:
    """Summed variance of the cells of one table, for any matrices that depend on the difference of truth and report."""
    total = 0.0
    for contrast in _nonempty(table):
        shrunk: dict[Axes, list[NDArray[np.complex128]]] = {}
        for axes, values in parts:
            common = tuple(axis for axis in table if axis in axes)
            if set(contrast) <= set(common):
                characters = values[tuple(slice(1, None) if axis in contrast else 0 for axis in axes)]
                shrunk.setdefault(common, []).append(characters)
        information = np.zeros([sizes[axis] - 1 for axis in contrast])
        for alike in shrunk.values():
            information += np.abs(np.sum(alike, axis=0)) ** 2 / len(alike) / len(parts)
        if information.min() < SMALLEST_INFORMATION:
            return inf
        total += float((1 / information - 1).sum()) / prod(sizes[axis] for axis in table)
    return total


def _shrinkage(sizes: tuple[int, ...], odds: Fraction, members: Sequence[int]) -> NDArray[np.complex128]:
    """Factor by which a spread matrix shrinks each character of the joint cells."""
    cells, gamma = prod(sizes), float(odds)
    indicator = np.zeros(cells)
    indicator[list(members)] = (gamma - 1) / (len(members) * gamma + cells - len(members))
    return np.asarray(np.fft.fftn(indicator.reshape(sizes)))


def _nonempty(axes: Iterable[int]) -> Iterator[Axes]:
    """Nonempty subsets of these axes."""
    listed = tuple(axes)
    for size in range(1, len(listed) + 1):
        yield from combinations(listed, size)


def _subsets(count: int, size: int, order: int) -> tuple[Axes, ...] | None:
    """All sets of so many attributes, or some that contain every set of `order`; None if that takes too many."""
    if comb(count, size) <= (MOST_PARTS if size == order else MOST_SETS):
        return tuple(combinations(range(count), size))
    tables = comb(count, order)
    if tables > MOST_TABLES or OVERLAP * tables > MOST_PARTS * comb(size, order):
        return None
    sets = _covering(count, size, order)
    return sets if len(sets) <= MOST_PARTS else None


def _covering(count: int, size: int, order: int) -> tuple[Axes, ...]:
    """Sets of at most `size` attributes that contain every set of `order`, chosen greedily."""
    positions = np.indices((count,) * order)
    left = np.all([positions[i] != positions[j] for i, j in combinations(range(order), 2)], axis=0)
    left = np.broadcast_to(left, (count,) * order).copy()
    sets: list[Axes] = []
    while left.any() and len(sets) <= MOST_PARTS:
        chosen = [int(axis) for axis in np.unravel_index(left.argmax(), left.shape)]
        while len(chosen) < size:
            gains = left[np.ix_(range(count), *[chosen] * (order - 1))].reshape(count, -1).sum(axis=1)
            gains[chosen] = 0
            if not gains.any():
                break
            chosen.append(int(gains.argmax()))
        sets.append(tuple(sorted(chosen)))
        left[np.ix_(*[chosen] * order)] = False
    return tuple(sets)


def _largest_sets(sizes: Sequence[int], most_cells: Fraction, start: Axes = ()) -> Iterator[Axes]:
    """Yield sets of at least two attributes that fit, and to which no other attribute can be added."""
    cells = prod(sizes[a] for a in start)
    further = range(start[-1] + 1 if start else 0, len(sizes))
    for a in further:
        if cells * sizes[a] <= most_cells:
            yield from _largest_sets(sizes, most_cells, (*start, a))
    others = (size for a, size in enumerate(sizes) if a not in start)
    if len(start) > 1 and cells * min(others, default=most_cells + 1) > most_cells:
        yield start


def _covering_by_cells(sizes: Sequence[int], most_cells: Fraction) -> list[Axes]:
    """Sets that fit and contain every pair that fits, each from a pair left over, greedily by what is added."""
    left = {pair for pair in combinations(range(len(sizes)), 2) if prod(sizes[a] for a in pair) <= most_cells}
    sets = []
    while left:
        axes: Axes = min(left)
        while True:
            cells = prod(sizes[a] for a in axes)
            fitting = [a for a in range(len(sizes)) if a not in axes and cells * sizes[a] <= most_cells]
            if not fitting:
                break
            gains = {a: sum(_pair(a, b) in left for b in axes) / sizes[a] for a in fitting}
            axes = (*axes, max(fitting, key=gains.__getitem__))
        sets.append(tuple(sorted(axes)))
        left -= {_pair(a, b) for a, b in combinations(axes, 2)}
    return sets


def _pair(a: int, b: int) -> Axes:
    return (a, b) if a < b else (b, a)
