"""Recommend a plan: the simplest design for a budget that no other beats by more than 15 %."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import prod
from typing import Any, TypedDict, Unpack

import numpy as np

from sottovoce.checks import Array, Progress, number, one_of
from sottovoce.checks import level as checked_level
from sottovoce.designs.recommend.alternatives import (
    Alternative,
    Candidate,
    candidates,
    certified_candidate,
    evaluate,
    reliances,
    sampling_considered,
)
from sottovoce.designs.recommend.expected_error import Columns
from sottovoce.designs.recommend.recommendation import LEVEL, WORTHWHILE_GAIN, Recommendation
from sottovoce.designs.requirement import checked_prior, rounded_up
from sottovoce.errors import MissingExtraError, SottovoceError, Words
from sottovoce.estimates.intervals import critical_value
from sottovoce.exact import Number, OddsLike, odds_asked
from sottovoce.measures.matrices import real_array
from sottovoce.measures.utility import checked_respondents
from sottovoce.plans.plan import Plan, PriorSource
from sottovoce.plans.purpose_plan import ORDERS, PURPOSES
from sottovoce.schemas.attribute import LARGEST_DOMAIN, Variable
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema

RECOMMENDED_FOR = ("marginals", "pairs", "triples", "joint")
"""Purposes that designs are compared for; "split" names a structure, not a purpose."""

LARGEST_JOINT = 2**20
"""Most joint cells that can be estimated together."""

WORST = "worst"
"""Prior that stands for the distribution at which an interval is widest."""

EPSILONS = tuple(
    digits / scale
    for scale, most in ((10_000, 999), (1000, 999), (100, 999), (10, 160))
    for digits in range(100, most + 1)
)
"""Values of epsilon that are tried for a margin of error: three digits, from 0.01 to 16."""

MOST_PAIRED = 200
"""Most columns of which all pairs are examined; beyond, pairs of neighbours stand for all."""

MOST_TRIPLED = 24
"""Most columns of which all triples are examined; beyond, neighbours stand for all."""


def expected_distributions(schema: Schema, prior: Any) -> dict[str, tuple[Array, ...]]:
    """Return the expected distribution of every coded column, by attribute; uniform without a prior.

    `prior` maps names to shares of the categories, or to item frequencies for an item set; for a single attribute its
    shares alone suffice.

    >>> from sottovoce.schemas.attribute import Attribute, boolean
    >>> expected_distributions(Schema([boolean("tax"), Attribute("b", [1, 2])]), {"tax": [0.9, 0.1]})
    {'tax': (array([0.9, 0.1]),), 'b': (array([0.5, 0.5]),)}
    """
    given = prior if isinstance(prior, Mapping) else _of_single_attribute(schema, prior)
    for name in given:
        if name not in schema.names:
            raise SottovoceError("prior", f"must name attributes of the schema ({', '.join(schema.names)})", name)
    return {variable.name: _distributions(variable, given.get(variable.name)) for variable in schema}


def checked_prior_source(prior: Any, source: Any) -> PriorSource | None:
    """Return the source of a prior, given as a `PriorSource` or text such as "public: census 2021, table 4".

    >>> checked_prior_source([0.9, 0.1], "pilot: May, 400 reports")
    PriorSource(source='pilot', note='May, 400 reports', forced=False)
    """
    if prior is None:
        if source is not None:
            raise SottovoceError("prior_source", "must be left out where no prior is given", source)
        return None
    if isinstance(source, PriorSource):
        return source
    if not isinstance(source, str):
        rule = "must say where the prior is from, such as public: census 2021"
        raise SottovoceError("prior_source", rule, Words("none") if source is None else source)
    kind, _, note = source.partition(":")
    return PriorSource(kind.strip(), note.strip())


def _of_single_attribute(schema: Schema, prior: Any) -> dict[str, Any]:
    if prior is None:
        return {}
    if len(schema.names) > 1:
        raise SottovoceError("prior", "must map names to shares where there are several attributes", prior)
    return {schema.names[0]: prior}


def _distributions(variable: Variable, prior: Any) -> tuple[Array, ...]:
    if prior is None:
        return tuple(np.full(size, 1 / size) for size in variable.sizes)
    parameter = f"prior of {variable.name}"
    shares = real_array(parameter, prior)
    sets = isinstance(variable, ItemSet)
    wanted = len(variable.sizes) if sets else variable.sizes[0]
    if shares.shape != (wanted,):
        each = "a frequency for each item" if sets else "a share for each category"
        raise SottovoceError(parameter, f"must have {each}, {wanted}", shares.shape)
    try:
        return tuple(checked_prior(p) for p in (((1 - share, share) for share in shares) if sets else [shares]))
    except SottovoceError as error:
        raise SottovoceError(parameter, error.rule, error.value) from None


def checked_purpose(purpose: Any) -> str:
    """Return the name of a purpose that designs can be compared for.

    >>> checked_purpose("pairs")
    'pairs'
    """
    return one_of("purpose", purpose, RECOMMENDED_FOR)


def targets(columns: int, purpose: str) -> list[Columns]:
    """Return the sets of columns whose joint cells are estimated.

    >>> targets(3, "pairs"), targets(3, "joint"), targets(1, "pairs")
    ([(0, 1), (0, 2), (1, 2)], [(0, 1, 2)], [(0,)])
    """
    order = min(ORDERS.get(purpose, columns), columns)
    if columns > {2: MOST_PAIRED, 3: MOST_TRIPLED}.get(order, columns):
        return [tuple(range(column, column + order)) for column in range(columns - order + 1)]
    return list(combinations(range(columns), order))


def cells_together(schema: Schema, purpose: str) -> int:
    """Number of cells of the largest table that is estimated for a purpose.

    >>> from sottovoce.schemas.attribute import Attribute
    >>> three = Schema([Attribute(name, range(size)) for name, size in (("a", 2), ("b", 5), ("c", 3))])
    >>> cells_together(three, "pairs"), cells_together(three, "joint")
    (15, 30)
    """
    return prod(sorted(schema.sizes)[-ORDERS.get(purpose, len(schema.sizes)) :])


def column_names(schema: Schema) -> list[str]:
    """Return the name of each coded column: an attribute, or an item after the name of its set.

    >>> from sottovoce.schemas.attribute import boolean
    >>> column_names(Schema([boolean("tax"), ItemSet("drugs", ["x", "y"])]))
    ['tax', 'drugs: x', 'drugs: y']
    """
    names: list[str] = []
    for variable in schema:
        items = [f"{variable.name}: {item}" for item in variable.items] if isinstance(variable, ItemSet) else []
        names += items or [variable.name]
    return names


@dataclass(frozen=True)
class _Task:
    """What a plan is wanted for, without the budget."""

    schema: Schema
    respondents: float
    purpose: str
    expected: Mapping[str, tuple[Array, ...]]
    wanted: tuple[Columns, ...]
    source: PriorSource | None
    level: float
    worst: bool
    progress: Progress | None

    @property
    def distributions(self) -> tuple[Array, ...]:
        """Expected distribution of each coded column."""
        return tuple(each for name in self.schema.names for each in self.expected[name])

    def at(self, odds: Fraction, promise: Fraction | None = None) -> Recommendation:
        """Return the recommendation for a budget; the plan states the odds that were asked for as its promise."""
        if self.purpose != "marginals" and cells_together(self.schema, self.purpose) > LARGEST_JOINT:
            raise _too_large(self.schema, self.purpose, self.respondents, odds)
        evaluated = [self._evaluated(each, promise) for each in candidates(self.schema, odds, self.purpose)]
        notes = _notes(self.schema, self.purpose)
        if self.source is not None:
            try:
                certified = certified_candidate(self.schema, odds, self.expected, self.progress)
                evaluated.append(self._evaluated(certified, promise))
            except MissingExtraError as missing:
                notes.append(f"Certified designs were not considered: {missing}")
        alternatives = tuple(each for each in evaluated if each is not None)
        chosen = simplest(alternatives)
        reliance = reliances(chosen.plan, alternatives[0].plan, self.expected) if chosen.relies_on_prior else ()
        notes += _caution(chosen.width(self.respondents, critical_value(LEVEL)), self.distributions, self.wanted)
        names = tuple(column_names(self.schema))
        context = (self.purpose, self.respondents, names, self.wanted, reliance, tuple(notes), self.level, self.worst)
        return Recommendation(chosen, alternatives, *context)

    def _evaluated(self, candidate: Candidate, promise: Fraction | None) -> Alternative | None:
        plan = Plan.of(self.schema, candidate.schemes, odds=promise, prior=self.source)
        return evaluate(candidate, plan, self.distributions, self.wanted)


class Budget(TypedDict, total=False):
    """How private or how precise: exactly one of the three."""

    odds: OddsLike | None
    epsilon: Number | None
    margin: float | None


def recommend(
    schema: Schema,
    respondents: float,
    *,
    prior: Any = None,
    prior_source: PriorSource | str | None = None,
    purpose: str = "marginals",
    level: float = LEVEL,
    progress: Progress | None = None,
    **budget: Unpack[Budget],
) -> Recommendation:
    """Recommend a plan for these attributes under one budget for the WHOLE record, and show the alternatives.

    The budget is `odds` or `epsilon`; or `margin`, for the smallest epsilon with that margin of error. `purpose` is
    what the answers are wanted for: the "marginals" of each attribute, tables of all "pairs" or "triples", or the
    "joint" table of all, as in `plan_for_purpose`, whose design is among those compared. Designs are compared by the
    error variance of an estimated proportion, averaged over all that the purpose wants, if attributes are independent
    and distributed as in `prior` (shares by name of the attribute; uniform by default). The simplest design that no
    other beats by more than 15 % is recommended, so plain randomized response unless another gains more.
    Certified designs are considered if there is a prior, whose origin `prior_source` must name.

    The margin of error is half the width of the widest interval. `prior="worst"`, the default with a margin, states
    the widest interval for any true distribution. All designs that need no prior treat categories alike, so that
    their average error is largest for the uniform distribution, at which they are compared.

    >>> from sottovoce.schemas.attribute import Attribute
    >>> recommendation = recommend(Schema([Attribute("drug", range(8))]), respondents=5000, odds=3)
    >>> recommendation.chosen.name, round(recommendation.chosen.gain(recommendation.plain), 2)
    ('subset selection', 0.19)
    >>> enough = recommend(Schema([Attribute("evaded tax", ["no", "yes"])]), respondents=5000, margin=0.03)
    >>> round(enough.plan.guarantee.epsilon, 3), round(enough.margin, 4)
    (1.0, 0.03)
    """
    goal, size = checked_purpose(purpose), checked_respondents(respondents)
    goal = "marginals" if len(schema.sizes) == 1 else goal
    odds, margin = _odds_or_margin(**budget)
    worst = (isinstance(prior, str) and prior == WORST) or (prior is None and margin is not None)
    given = None if worst else prior
    source, expected = checked_prior_source(given, prior_source), expected_distributions(schema, given)
    wanted = tuple(targets(len(schema.sizes), goal))
    task = _Task(schema, size, goal, expected, wanted, source, checked_level(level), worst, progress)
    return (
        task.at(odds, None if budget.get("odds") is None else odds)
        if margin is None
        else _at_smallest_epsilon(task, margin)
    )


def _odds_or_margin(
    *, odds: OddsLike | None = None, epsilon: Number | None = None, margin: float | None = None
) -> tuple[Fraction, float | None]:
    """Return checked odds and margin; with a margin, odds do not matter."""
    if margin is not None:
        if odds is not None or epsilon is not None:
            raise SottovoceError("margin", "must be left out where odds or epsilon are given", margin)
        return Fraction(1), number("margin", margin, 0, 1, open_ends=True)
    whole = odds_asked(odds=odds, epsilon=epsilon)
    if whole == 1:
        raise SottovoceError("odds", "must be above 1 : 1 for anything to be estimated", odds or epsilon)
    return whole, None


def _at_smallest_epsilon(task: _Task, margin: float) -> Recommendation:
    """Return the recommendation with the smallest epsilon, of three digits, whose widest interval is narrow enough.

    The margin of the best design falls with epsilon, so that bisection finds the epsilon below which no design is
    precise enough. The simplest design within 15 % may need a little more, and is found by bisection from there.
    """

    @cache
    def at(step: int) -> Recommendation:
        return task.at(odds_asked(epsilon=EPSILONS[step]))

    last = len(EPSILONS) - 1
    if at(last).margin > margin:
        rule = f"must be at least {rounded_up(at(last).margin)} with {task.respondents:,.0f} respondents, which epsilon"
        raise SottovoceError("margin", f"{rule} {EPSILONS[last]:g} attains; ask more people", margin)
    least = _first(0, last, lambda step: min(map(at(step).margin_of, at(step).alternatives)) <= margin)
    return at(_first(least, last, lambda step: at(step).margin <= margin))


def _first(low: int, high: int, attains: Callable[[int], bool]) -> int:
    """Return the first step that attains what is wanted, by bisection; the last one does."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if attains(middle) else (middle + 1, high)
    return low


def simplest(alternatives: Sequence[Alternative]) -> Alternative:
    """Return the first of the alternatives, the simplest first, that no other beats by more than 15 %."""
    least = min(each.error for each in alternatives)
    return next(each for each in alternatives if each.error <= (1 + WORTHWHILE_GAIN) * least)


def _caution(width: float, distributions: Sequence[Array], wanted: Sequence[Columns]) -> list[str]:
    """Note of caution if intervals are wide compared with the proportions."""
    share = sum(1 / prod(len(distributions[axis]) for axis in axes) for axes in wanted) / len(wanted)
    if width <= 2 * share:
        return []
    return [
        f"Expect little: a typical interval reaches {width / 2:.2g} either way, the mean proportion is {share:.2g}. "
        "Ask more people, or fewer questions, or for a coarser table."
    ]


def _notes(schema: Schema, purpose: str) -> list[str]:
    notes = []
    if schema.cells > LARGEST_DOMAIN:
        notes.append(
            f"One coin for whole records was not considered: about {float(schema.cells):.2g} joint cells are more than "
            "can be numbered."
        )
    order = ORDERS.get(purpose, len(schema.names))
    if order < len(schema.names) and not sampling_considered(schema, purpose):
        notes.append("Sampling of attributes was not considered: there are too many tables, or too large ones.")
    if len(schema.sizes) > {2: MOST_PAIRED, 3: MOST_TRIPLED}.get(order, len(schema.sizes)):
        notes.append(f"Tables of neighbouring columns stand for all {purpose}.")
    return notes


def _too_large(schema: Schema, goal: str, respondents: float, odds: Fraction) -> SottovoceError:
    """Error for a table too large to estimate, naming what is recommended instead."""
    small = cells_together(schema, "pairs") <= LARGEST_JOINT
    other = "pairs" if small and sampling_considered(schema, "pairs") else "marginals"
    instead = recommend(schema, respondents, odds=odds, purpose=other)
    rule = (
        f"must be marginals{' or pairs' if small else ''} where there are more than {LARGEST_JOINT} joint cells; "
        f"for {PURPOSES[other]} {instead.chosen.name} is recommended, with intervals about "
        f"{instead.chosen.width(respondents, instead.deviations):.2g} wide"
    )
    return SottovoceError("purpose", rule, Words(f"{goal}, of about {float(cells_together(schema, goal)):.2g} cells"))
