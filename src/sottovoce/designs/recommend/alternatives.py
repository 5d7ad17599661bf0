"""Designs that keep one budget over all attributes, and what each gives for what is wanted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import ceil, prod, sqrt
from typing import Any

import numpy as np

from sottovoce.channels.channel import LARGEST_DENSE, Array, Channel
from sottovoce.designs.certified import least_error_design
from sottovoce.designs.measures import guesses_of
from sottovoce.designs.recommend.expected_error import Columns, Scatter, second_moments
from sottovoce.designs.requirement import LARGEST_CERTIFIED
from sottovoce.estimates.covariance import MOST_CELLS
from sottovoce.estimates.likelihood import Progress
from sottovoce.exact import root_of_odds
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import LARGEST_DOMAIN, Variable
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.attribute_sampling import AttributeSampling
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.mask import Mask
from sottovoce.schemes.optimized_unary import OptimizedUnary
from sottovoce.schemes.randomized_response import RandomizedResponse
from sottovoce.schemes.scheme import Scheme
from sottovoce.schemes.subset_selection import SubsetSelection, best_size

Schemes = Mapping[str | tuple[str, ...], Scheme]

PLAIN = "randomized response"
CERTIFIED = "certified design"

MOST_SET_CELLS = 1000
"""Joint cells that a reported set may be drawn from: a report has a bit for each."""

MOST_WHOLE_ITEMS = 10
"""Items whose sets one coin disguises together; beyond, coins of their own always win."""

MOST_PAIRED_BY_SAMPLING = 32
"""Attributes of which every pair may be the one that is asked: the plan lists all pairs."""
MOST_REPORTS = 2**22
"""Joint reports that are counted together."""


@dataclass(frozen=True)
class Candidate:
    """Schemes by attribute, or by attributes that share their coins, and what they are called."""

    name: str
    structure: str
    schemes: Schemes
    relies_on_prior: bool = False


def candidates(schema: Schema, odds: Fraction, purpose: str) -> Iterator[Candidate]:
    """Designs that need no prior, with these odds for the whole record, in order of how plain they are.

    >>> from sottovoce.schemas.attribute import boolean
    >>> [found.name for found in candidates(Schema([boolean("a"), boolean("b")]), Fraction(9), "each")]
    ['randomized response', 'attribute sampling', 'joint gamma-diagonal', 'optimized unary']
    """
    plain = _shared(schema, odds, RandomizedResponse)
    yield Candidate(PLAIN, "split", plain)
    if _whole_sets(schema):
        each = root_of_odds(odds, len(schema.names))
        whole = dict(plain)
        whole.update((variable.name, RandomizedResponse(odds=each)) for variable in schema if _small_set(variable))
        yield Candidate("whole sets", "split", whole)
    yield from _together(schema, odds, purpose)
    for name, make in (("subset selection", _subset), ("optimized unary", OptimizedUnary)):
        schemes = _shared(schema, odds, make)
        if schemes != plain:
            yield Candidate(name, "split", schemes)


def certified_candidate(
    schema: Schema, odds: Fraction, laws: Mapping[str, tuple[Array, ...]], progress: Progress | None = None
) -> Candidate:
    """Least error that its share of the odds allows for each attribute, proven, for the laws expected.

    Item sets keep their plain coins, and attributes of too many categories for a proof have subset selection.
    """
    plain, sets = _shared(schema, odds, RandomizedResponse), _shared(schema, odds, _subset)
    each = root_of_odds(odds, len(schema.names))
    solved: dict[bytes, Scheme] = {}
    schemes: dict[str | tuple[str, ...], Scheme] = {}
    for variable in schema:
        if isinstance(variable, ItemSet):
            schemes[variable.name] = plain[variable.name]
        elif variable.sizes[0] > LARGEST_CERTIFIED:
            schemes[variable.name] = sets[variable.name]
        else:
            (law,) = laws[variable.name]
            if law.tobytes() not in solved:
                solved[law.tobytes()] = least_error_design(law, 1, odds=each, progress=progress).scheme
            schemes[variable.name] = solved[law.tobytes()]
    return Candidate(CERTIFIED, "split", schemes, relies_on_prior=True)


def _together(schema: Schema, odds: Fraction, purpose: str) -> Iterator[Candidate]:
    """Designs with one coin for all attributes, or for those that are drawn."""
    names = schema.names
    size = {"each": 1, "pairs": 2}.get(purpose)
    most = MOST_PAIRED_BY_SAMPLING if size == 2 else LARGEST_DOMAIN
    listed = not any(isinstance(variable, ItemSet) for variable in schema)
    if size is not None and listed and size < len(names) <= most:
        yield Candidate("attribute sampling", "sample", {names: AttributeSampling(odds=odds, size=size)})
    if len(names) > 1 and schema.cells <= LARGEST_DOMAIN:
        yield Candidate("joint gamma-diagonal", "joint", {names: GammaDiagonal(odds)})
        # A set of joint cells does not split: single attributes cannot be read from it.
        if purpose == "joint" and schema.cells <= MOST_SET_CELLS and best_size(schema.cells, odds) > 1:
            yield Candidate("joint subset selection", "joint", {names: SubsetSelection(odds=odds)})


def _shared(schema: Schema, odds: Fraction, make: Callable[..., Scheme]) -> dict[str | tuple[str, ...], Scheme]:
    """An equal share of the budget for each attribute; a coin for each item of a set."""
    each = root_of_odds(odds, len(schema.names))
    return {v.name: _masked(v, each) if isinstance(v, ItemSet) else _fitting(make, v, each) for v in schema}


def _fitting(make: Callable[..., Scheme], variable: Variable, odds: Fraction) -> Scheme:
    """Sets of one category are no sets: that is randomized response."""
    if make is _subset and best_size(variable.sizes[0], odds) == 1:
        return RandomizedResponse(odds=odds)
    return make(odds=odds)


def _subset(*, odds: Fraction) -> Scheme:
    return SubsetSelection(odds=odds)


def _masked(variable: ItemSet, odds: Fraction) -> Scheme:
    item = root_of_odds(odds, len(variable.items))
    return Mask(p=item / (1 + item))


def _small_set(variable: Variable) -> bool:
    return isinstance(variable, ItemSet) and 1 < len(variable.items) <= MOST_WHOLE_ITEMS


def _whole_sets(schema: Schema) -> bool:
    return any(_small_set(variable) for variable in schema)


@dataclass(frozen=True)
class Alternative:
    """`error` is the variance of an estimated proportion with one respondent, averaged over all that are wanted.

    With N of them the mean squared error is `error / N`. `estimator` is the method of `estimate_proportions` that
    attains it.
    """

    name: str
    structure: str
    plan: Plan
    scatter: Scatter
    error: float
    estimator: str
    relies_on_prior: bool

    def mse(self, respondents: float) -> float:
        """Mean squared error of an estimated proportion."""
        return self.error / respondents

    def width(self, respondents: float, deviations: float) -> float:
        """Width of a typical interval: the root mean square over all that are wanted, `2 z sqrt(mse)`."""
        return 2 * deviations * sqrt(self.mse(respondents))

    def gain(self, other: "Alternative") -> float:
        """How many more respondents the other one needs for the same error, as a share: `error' / error - 1`."""
        return other.error / self.error - 1

    def matching(self, other: "Alternative", respondents: float) -> int:
        """Respondents with whom this one is as precise as the other is with so many."""
        return ceil(respondents * self.error / other.error * (1 - 1e-12))

    def to_json(self, plain: "Alternative", chosen: "Alternative", respondents: float, deviations: float) -> Any:
        """Numbers, and how it compares with the plain and with the chosen one."""
        return {
            "name": self.name,
            "structure": self.structure,
            "schemes": [group.scheme for group in self.plan.groups],
            "estimator": self.estimator,
            "mse": self.mse(respondents),
            "typical_width": self.width(respondents, deviations),
            "gain_over_plain": self.gain(plain),
            "error_over_recommended": self.error / chosen.error,
            "respondents_for_the_same_precision": self.matching(chosen, respondents),
            "relies_on_prior": self.relies_on_prior,
        }


def measured(
    candidate: Candidate, plan: Plan, laws: tuple[Array, ...], wanted: Sequence[Columns]
) -> Alternative | None:
    """Mean error over the targets; None of a design whose reports are too many to be counted together."""
    scatter = Scatter(plan.channel(), laws)
    if not all(_countable(scatter, axes) for axes in wanted if len(axes) > 1):
        return None
    error = sum(scatter.mean(axes) for axes in wanted) / len(wanted)
    own = candidate.relies_on_prior
    return Alternative(candidate.name, candidate.structure, plan, scatter, error, scatter.estimator, own)


def _countable(scatter: Scatter, axes: Columns) -> bool:
    """Whether reports of these columns can be counted together, and weighed where they have to be."""
    cells, reports = prod(len(scatter.laws[axis]) for axis in axes), scatter.reports(axes)
    weighable = cells <= MOST_CELLS and cells * reports <= LARGEST_DENSE
    return reports <= MOST_REPORTS and (scatter.estimator == "inversion" or weighable)


@dataclass(frozen=True)
class Reliance:
    """Of one attribute: how often the best adversary is right, and the error, if the prior holds and if all is uniform.

    `error_if_uniform` is relative to plain randomized response's at the same odds, likewise if the truth is uniform.
    """

    attribute: str
    accuracy: float
    accuracy_if_uniform: float
    plain_accuracy: float
    plain_accuracy_if_uniform: float
    error_if_uniform: float

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self)

    def __str__(self) -> str:
        """The warning, in words."""
        return (
            f"{self.attribute!r} relies on the prior. If the prior is right, the best guess from a report is right in "
            f"{self.accuracy:.1%} of all cases; if the truth is uniform, in {self.accuracy_if_uniform:.1%} "
            f"(randomized response: {self.plain_accuracy:.1%} and {self.plain_accuracy_if_uniform:.1%}), and its error "
            f"variance is then {self.error_if_uniform:.2f} times that of randomized response. "
            "The odds hold whatever the truth is."
        )


def reliances(plan: Plan, plain: Plan, laws: Mapping[str, tuple[Array, ...]]) -> tuple[Reliance, ...]:
    """Attributes whose coins were made for a prior, compared with their plain coins."""
    made = [v.name for v in plan.schema if not isinstance(v, ItemSet) and plan.group_of(v.name).scheme in MADE_FOR]
    return tuple(_reliance(name, plan.channel([name]), plain.channel([name]), laws[name][0]) for name in made)


MADE_FOR = ("matrix", "random_set")
"""Schemes that a certified design becomes."""


def _reliance(name: str, channel: Channel, plain: Channel, law: Array) -> Reliance:
    uniform = np.full(len(law), 1 / len(law))
    accuracy, flat = (guesses_of(channel, truth)[0] for truth in (law, uniform))
    plain_accuracy, plain_flat = (guesses_of(plain, truth)[0] for truth in (law, uniform))
    error = _error(channel, uniform) / _error(plain, uniform)
    return Reliance(name, accuracy, flat, plain_accuracy, plain_flat, error)


def _error(channel: Channel, law: Array) -> float:
    return float((second_moments(channel, law) - law**2).mean())
