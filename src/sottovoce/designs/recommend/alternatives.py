"""Candidate designs under one budget for all attributes, and their errors for a purpose."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import ceil, comb, prod
from typing import Any

import numpy as np

from sottovoce.channels.channel import LARGEST_DENSE, Channel
from sottovoce.checks import Array, Progress
from sottovoce.designs.certified import design
from sottovoce.designs.front import accuracy_and_posterior
from sottovoce.designs.recommend.expected_error import Columns, ExpectedErrors, second_moments
from sottovoce.designs.requirement import LARGEST_CERTIFIED
from sottovoce.estimates.covariance import MOST_CELLS
from sottovoce.estimates.sample_size import expected_widths
from sottovoce.exact import root_of_odds
from sottovoce.plans.plan import Plan
from sottovoce.plans.purpose_plan import LARGEST_TABLE, ORDERS, best_design, sampling_designs
from sottovoce.schemas.attribute import LARGEST_DOMAIN, Variable
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
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
"""Most joint cells of subset selection: a report has a bit for each."""

MOST_WHOLE_ITEMS = 10
"""Most items of a set that is disguised as a whole; beyond, a coin for each item always has less error."""

MOST_SAMPLED_TABLES = 500
"""Most wanted tables for which sampling is considered: all pairs of 32 attributes, all triples of 15."""

MADE_FOR_A_PRIOR = ("matrix", "random_set")
"""Schemes of certified designs."""

MOST_REPORTS = 2**22
"""Most distinct joint reports that are counted together."""


@dataclass(frozen=True)
class Candidate:
    """A design by name: schemes by attribute, or by attributes that are disguised together."""

    name: str
    structure: str
    schemes: Schemes
    relies_on_prior: bool = False


def candidates(schema: Schema, odds: Fraction, purpose: str) -> Iterator[Candidate]:
    """Yield designs that need no prior, with these odds for the whole record, the simplest first.

    >>> from sottovoce.schemas.attribute import boolean
    >>> [candidate.name for candidate in candidates(Schema([boolean("a"), boolean("b")]), Fraction(9), "marginals")]
    ['randomized response', 'attribute sampling', 'joint gamma-diagonal', 'optimized unary']
    """
    plain = _split(schema, odds, RandomizedResponse)
    yield Candidate(PLAIN, "split", plain)
    if any(map(_small_set, schema)):
        each = root_of_odds(odds, len(schema.names))
        whole = dict(plain)
        whole.update((variable.name, RandomizedResponse(odds=each)) for variable in schema if _small_set(variable))
        yield Candidate("whole sets", "split", whole)
    yield from _joint_candidates(schema, odds, purpose)
    for name, make in (("subset selection", _subset), ("optimized unary", OptimizedUnary)):
        schemes = _split(schema, odds, make)
        if schemes != plain:
            yield Candidate(name, "split", schemes)


def certified_candidate(
    schema: Schema, odds: Fraction, expected: Mapping[str, tuple[Array, ...]], progress: Progress | None = None
) -> Candidate:
    """Return certified designs of least error for the expected distributions, each with an equal share of the odds.

    Item sets keep their plain coins, and attributes of too many categories for a certificate have subset selection.
    """
    plain, sets = _split(schema, odds, RandomizedResponse), _split(schema, odds, _subset)
    each = root_of_odds(odds, len(schema.names))
    solved: dict[bytes, Scheme] = {}
    schemes: dict[str | tuple[str, ...], Scheme] = {}
    for variable in schema:
        if isinstance(variable, ItemSet):
            schemes[variable.name] = plain[variable.name]
        elif variable.sizes[0] > LARGEST_CERTIFIED:
            schemes[variable.name] = sets[variable.name]
        else:
            (prior,) = expected[variable.name]
            if prior.tobytes() not in solved:
                solved[prior.tobytes()] = design(prior, 1, odds=each, progress=progress).scheme
            schemes[variable.name] = solved[prior.tobytes()]
    return Candidate(CERTIFIED, "split", schemes, relies_on_prior=True)


def _joint_candidates(schema: Schema, odds: Fraction, purpose: str) -> Iterator[Candidate]:
    """Designs that disguise all attributes, or those that are sampled, together."""
    names, categorical = schema.names, not any(isinstance(variable, ItemSet) for variable in schema)
    if categorical and sampling_considered(schema, purpose):
        sampled = [design for design in sampling_designs(schema.sizes, odds, purpose) if len(design.subsets or ()) > 1]
        best = min(sampled, key=lambda design: design.variance)
        yield Candidate("attribute sampling", "sample", best.schemes(names, odds))
    if len(names) > 1 and schema.cells <= LARGEST_DOMAIN:
        yield Candidate("joint gamma-diagonal", "joint", {names: GammaDiagonal(odds)})
        if categorical and purpose == "joint" and best_design(schema, odds, purpose).spread:
            yield Candidate("joint spread matrix", "joint", best_design(schema, odds, purpose).schemes(names, odds))
        # Single attributes cannot be estimated from sets of joint cells.
        if purpose == "joint" and schema.cells <= MOST_SET_CELLS and best_size(schema.cells, odds) > 1:
            yield Candidate("joint subset selection", "joint", {names: SubsetSelection(odds=odds)})


def sampling_considered(schema: Schema, purpose: str) -> bool:
    """Whether sampling a few attributes can serve a purpose, and its tables are few and small enough."""
    order = ORDERS.get(purpose, len(schema.names))
    small = prod(sorted(schema.sizes)[-order:]) <= LARGEST_TABLE
    return order < len(schema.names) and comb(len(schema.names), order) <= MOST_SAMPLED_TABLES and small


def _split(schema: Schema, odds: Fraction, make: Callable[..., Scheme]) -> dict[str | tuple[str, ...], Scheme]:
    """Schemes with an equal share of the budget for each attribute, and a coin for each item of a set."""
    each = root_of_odds(odds, len(schema.names))
    return {v.name: _masked(v, each) if isinstance(v, ItemSet) else _fitting(make, v, each) for v in schema}


def _fitting(make: Callable[..., Scheme], variable: Variable, odds: Fraction) -> Scheme:
    """Return the scheme, or randomized response where subset selection has sets of one category."""
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


@dataclass(frozen=True)
class Alternative:
    """A candidate as a plan, with its error for a purpose.

    `error` is the variance of an estimated proportion from one respondent, averaged over all that the purpose wants;
    with N respondents the mean squared error is `error / N`, and `share` the mean of these proportions. `estimator` is
    the method of `estimate_proportions` that attains it.
    """

    name: str
    structure: str
    plan: Plan
    errors: ExpectedErrors
    error: float
    share: float
    estimator: str
    relies_on_prior: bool

    def mse(self, respondents: float) -> float:
        """Mean squared error of an estimated proportion."""
        return self.error / respondents

    def width(self, respondents: float, deviations: float) -> float:
        """Width of a typical interval: `2 z sqrt(mse)`, less where it would reach beyond 0 or 1."""
        return float(expected_widths([self.share], [self.mse(respondents)], deviations)[0])

    def gain(self, other: "Alternative") -> float:
        """Share of additional respondents that the other needs for the same error, `error' / error - 1`."""
        return other.error / self.error - 1

    def matching(self, other: "Alternative", respondents: float) -> int:
        """Respondents with whom this one is as precise as the other with `respondents`."""
        return ceil(respondents * self.error / other.error * (1 - 1e-12))

    def to_json(self, plain: "Alternative", chosen: "Alternative", respondents: float, deviations: float) -> Any:
        """Errors, and comparisons with the plain and with the chosen alternative, as JSON."""
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


def evaluate(
    candidate: Candidate, plan: Plan, distributions: tuple[Array, ...], wanted: Sequence[Columns]
) -> Alternative | None:
    """Return the candidate with its mean error over the wanted columns; None if its reports are too many to count."""
    errors = ExpectedErrors(plan.channel(), distributions)
    if not all(_countable(errors, axes) for axes in wanted if len(axes) > 1):
        return None
    error = sum(errors.mean_variance(axes) for axes in wanted) / len(wanted)
    name, structure, relies = candidate.name, candidate.structure, candidate.relies_on_prior
    share = sum(1 / prod(len(distributions[axis]) for axis in axes) for axes in wanted) / len(wanted)
    return Alternative(name, structure, plan, errors, error, share, errors.estimator, relies)


def _countable(errors: ExpectedErrors, axes: Columns) -> bool:
    """Whether joint reports on these columns can be counted and, if the estimator needs it, weighted."""
    cells, reports = prod(len(errors.distributions[axis]) for axis in axes), errors.reports(axes)
    weightable = cells <= MOST_CELLS and cells * reports <= LARGEST_DENSE
    return reports <= MOST_REPORTS and (errors.estimator == "inversion" or weightable)


@dataclass(frozen=True)
class Reliance:
    """How a design made for a prior behaves if the prior holds, and if the truth is uniform, for one attribute.

    `accuracy` is how often the best adversary guesses right; `error_if_uniform` is the error relative to randomized
    response at the same odds.
    """

    attribute: str
    accuracy: float
    accuracy_if_uniform: float
    plain_accuracy: float
    plain_accuracy_if_uniform: float
    error_if_uniform: float

    def to_json(self) -> dict[str, Any]:
        """All fields, as JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """Return a warning in a sentence."""
        return (
            f"{self.attribute!r} relies on the prior. If the prior is right, the best guess from a report is right in "
            f"{self.accuracy:.1%} of all cases; if the truth is uniform, in {self.accuracy_if_uniform:.1%} "
            f"(randomized response: {self.plain_accuracy:.1%} and {self.plain_accuracy_if_uniform:.1%}), and its error "
            f"variance is then {self.error_if_uniform:.2f} times that of randomized response. "
            "The odds hold whatever the truth is."
        )


def reliances(plan: Plan, plain: Plan, expected: Mapping[str, tuple[Array, ...]]) -> tuple[Reliance, ...]:
    """Return how each attribute whose scheme was made for a prior relies on it, compared with the plain plan."""
    names = [
        v.name for v in plan.schema if not isinstance(v, ItemSet) and plan.group_of(v.name).scheme in MADE_FOR_A_PRIOR
    ]
    return tuple(_reliance(name, plan.channel([name]), plain.channel([name]), expected[name][0]) for name in names)


def _reliance(name: str, channel: Channel, plain: Channel, prior: Array) -> Reliance:
    uniform = np.full(len(prior), 1 / len(prior))
    accuracy, if_uniform = (accuracy_and_posterior(channel, truth)[0] for truth in (prior, uniform))
    plain_accuracy, plain_if_uniform = (accuracy_and_posterior(plain, truth)[0] for truth in (prior, uniform))
    error = _error(channel, uniform) / _error(plain, uniform)
    return Reliance(name, accuracy, if_uniform, plain_accuracy, plain_if_uniform, error)


def _error(channel: Channel, prior: Array) -> float:
    return float((second_moments(channel, prior) - prior**2).mean())
