"""Randomized response compared with the Laplace mechanism at equal epsilon, in exact expectations.

Y. Wang, X. Wu & D. Hu (2016), Proc. EDBT/ICDT Workshops.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from sottovoce.channels.kronecker import Kronecker
from sottovoce.checks import Array, Target, one_of, whole_number
from sottovoce.errors import SottovoceError
from sottovoce.estimates.derived import delta_method, functional_named
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.sample_size import expected_estimate
from sottovoce.measures.functionals import Functional
from sottovoce.measures.matrices import real_array
from sottovoce.measures.privacy import individual_reconstruction
from sottovoce.mechanisms.coins import Randomness
from sottovoce.schemes.laplace import Laplace, nominal_epsilon
from sottovoce.schemes.randomized_response import RandomizedResponse
from sottovoce.schemes.scheme import Scheme

Spent = Literal["nominal", "actual"]
"""Which epsilon of Laplace noise is equal: that of the noise itself, or that of the reports after they are clipped."""


@dataclass(frozen=True)
class DerivedCost:
    """A measure and the standard error of its estimate by the delta method; None where it has no gradient.

    `reason` says why the delta method is not valid here, if it is not.
    """

    value: float
    error: float | None
    reason: str | None


@dataclass(frozen=True)
class Cost:
    """Errors of a mechanism: epsilon and reconstruction by attribute, errors by cell, and derived measures by name."""

    epsilons: tuple[float, ...]
    reconstruction: tuple[Array, ...]
    errors: Array
    derived: Mapping[str, DerivedCost]

    @property
    def average_error(self) -> float:
        """Mean squared error of a proportion, averaged over the cells."""
        return float(self.errors.mean())


def mechanism_costs(
    table: Any,
    epsilon: float,
    respondents: int | None = None,
    *,
    target: Target = "population",
    spent: Spent = "nominal",
) -> dict[str, Cost]:
    """Return the costs of both mechanisms for a table of one or two attributes, each disguised with this epsilon.

    `table` has counts, or proportions and the number of respondents. `reconstruction` is each category's probability of
    being reconstructed from its report (Q1, eq. 14), `errors` the mean squared error of each proportion (Q2, eq.
    18), and `derived` has entropy, and for two attributes chi-square, mutual information and correlation, by the
    delta method (eq. 24), or the reason why it is not valid.

    >>> costs = mechanism_costs([16, 64, 103, 50, 12, 3], epsilon=5, target="table")
    >>> [(name, f"{cost.average_error:.2e}") for name, cost in costs.items()]
    [('randomized_response', '4.65e-05'), ('laplace', '1.26e-02')]
    """
    cells = real_array("table", table)
    if cells.ndim not in (1, 2) or not (cells >= 0).all() or not cells.sum() > 0:
        raise SottovoceError("table", "must have counts or proportions of one or two attributes", table)
    count = round(float(cells.sum())) if respondents is None else respondents
    proportions = cells / cells.sum()
    laplace = [_laplace(epsilon, size, spent) for size in proportions.shape]
    coins = [RandomizedResponse(epsilon=epsilon) for _ in proportions.shape]
    named: dict[str, Sequence[Scheme]] = {"randomized_response": coins, "laplace": laplace}
    return {name: _cost(schemes, proportions, count, target) for name, schemes in named.items()}


@dataclass(frozen=True)
class Failures:
    """How often Laplace noise reconstructs better than randomized response, which Theorem 4 rules out.

    `priors` is the share of priors for which this holds for some category, `categories` the share of all their
    categories, `averages` the share of priors for which it holds on average; `worst` is the largest difference.
    """

    priors: float
    categories: float
    averages: float
    worst: float


def reconstruction_failures(epsilon: float, categories: int, priors: int = 1000, rng: Randomness = None) -> Failures:
    """Check Theorem 4 of Wang, Wu & Hu (2016), "Error_rr <= Error_lm" for each category, on random priors.

    Priors are uniform on the simplex. For two categories it holds (Theorem 2).

    >>> reconstruction_failures(0.2214, 2, rng=1).priors
    0.0
    """
    drawn = np.random.default_rng(rng).dirichlet(np.ones(categories), size=whole_number("priors", priors))
    coin, noise = (
        individual_reconstruction(scheme.mechanism((categories,)).channel, drawn)
        for scheme in (RandomizedResponse(epsilon=epsilon), Laplace(epsilon=epsilon))
    )
    excess = noise - coin
    worse = excess > 1e-9  # probabilities of coins are rounded to whole sides
    average = (drawn * excess).sum(axis=-1) > 1e-9
    some, every, mean = (float(failed.mean()) for failed in (worse.any(axis=-1), worse, average))
    return Failures(some, every, mean, max(float(excess.max()), 0.0))


def _laplace(epsilon: float, size: int, spent: Spent) -> Laplace:
    one_of("spent", spent, get_args(Spent))
    return Laplace(epsilon=epsilon if spent == "nominal" else nominal_epsilon(epsilon, size))


def _cost(schemes: Sequence[Scheme], table: Array, respondents: int, target: Target) -> Cost:
    channels = [scheme.mechanism((size,)).channel for scheme, size in zip(schemes, table.shape, strict=True)]
    margins = [table.sum(axis=tuple(a for a in range(table.ndim) if a != axis)) for axis in range(table.ndim)]
    whole = channels[0] if len(channels) == 1 else Kronecker(channels)
    expected = expected_estimate(whole, table, respondents, target)
    wanted = ("entropy",) if table.ndim == 1 else ("entropy", "chi_squared", "mutual_information", "correlation")
    return Cost(
        tuple(channel.epsilon for channel in channels),
        tuple(individual_reconstruction(*pair) for pair in zip(channels, margins, strict=True)),
        expected.standard_error**2,
        {name: _derived_cost(expected, functional_named(name, expected)) for name in wanted},
    )


def _derived_cost(expected: Estimate, functional: Functional) -> DerivedCost:
    value, reason = functional.value(expected.value), delta_method(expected, functional).reason
    try:
        gradient = functional.gradient(expected.value)
    except SottovoceError:
        return DerivedCost(value, None, reason)
    return DerivedCost(value, float(gradient @ expected.covariance @ gradient) ** 0.5, reason)
