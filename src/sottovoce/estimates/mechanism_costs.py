"""Randomized response against the Laplace mechanism: what each costs at equal epsilon, in exact expectations.

Y. Wang, X. Wu & D. Hu (2016), Proc. EDBT/ICDT Workshops.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.channels.kronecker import Kronecker
from sottovoce.errors import SottovoceError
from sottovoce.estimates.covariance import Target
from sottovoce.estimates.derived import derive, functional_named
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
"""What of Laplace noise is epsilon: the noise as it is made, or what is left of it where reports are cut."""


@dataclass(frozen=True)
class DerivedCost:
    """Error that a measure of this value is estimated with, by the delta method; None where it has no gradient.

    `reason` says why the delta method cannot be trusted here, if it cannot.
    """

    value: float
    error: float | None
    reason: str | None


@dataclass(frozen=True)
class Cost:
    """What a mechanism costs: one entry for each attribute, for each cell, or for each derived measure."""

    epsilons: tuple[float, ...]
    reconstruction: tuple[Array, ...]
    errors: Array
    derived: Mapping[str, DerivedCost]

    @property
    def average_error(self) -> float:
        """Mean squared error of a proportion, averaged over the cells."""
        return float(self.errors.mean())


def mechanism_costs(
    table: Any, epsilon: float, respondents: int | None = None, *, target: Target = "table", spent: Spent = "nominal"
) -> dict[str, Cost]:
    """Costs of both mechanisms for a table of one or two attributes, each disguised alone with this epsilon.

    `table` has counts, or proportions and the number of respondents. `reconstruction` is each category's chance of
    being reconstructed from its report (Q1, eq. 14), `errors` the mean squared error of each proportion (Q2, eq.
    18), and `derived` has entropy, and of two attributes chi-square, mutual information and correlation, by the
    delta method (eq. 24), or the reason why it cannot be trusted.

    >>> costs = mechanism_costs([16, 64, 103, 50, 12, 3], epsilon=5)
    >>> [(name, f"{cost.average_error:.2e}") for name, cost in costs.items()]
    [('randomized_response', '4.65e-05'), ('laplace', '1.26e-02')]
    """
    cells = real_array("table", table)
    if cells.ndim not in (1, 2) or not (cells >= 0).all() or not cells.sum() > 0:
        raise SottovoceError("table", "must have counts or proportions of one or two attributes", table)
    count = round(float(cells.sum())) if respondents is None else respondents
    law = cells / cells.sum()
    laplace = [_laplace(epsilon, size, spent) for size in law.shape]
    coins = [RandomizedResponse(epsilon=epsilon) for _ in law.shape]
    named: dict[str, Sequence[Scheme]] = {"randomized_response": coins, "laplace": laplace}
    return {name: _cost(schemes, law, count, target) for name, schemes in named.items()}


@dataclass(frozen=True)
class Failures:
    """How often randomized response reconstructs worse than Laplace noise, against Theorem 4.

    Shares of the priors under which some category is worse off, of all their categories, and of the priors
    under which people are worse off on average; and the most by which a category is.
    """

    priors: float
    categories: float
    averages: float
    worst: float


def reconstruction_failures(epsilon: float, categories: int, priors: int = 1000, rng: Randomness = None) -> Failures:
    """Try Theorem 4 of Wang, Wu & Hu (2016), "Error_rr <= Error_lm" for each category, on priors drawn at random.

    Priors are uniform on the simplex. For two categories it holds (Theorem 2).

    >>> reconstruction_failures(0.2214, 2, rng=1).priors
    0.0
    """
    if isinstance(priors, bool) or not isinstance(priors, int) or priors < 1:
        raise SottovoceError("priors", "must be a positive whole number", priors)
    laws = np.random.default_rng(rng).dirichlet(np.ones(categories), size=priors)
    coin, noise = (
        individual_reconstruction(scheme.mechanism((categories,)).channel, laws)
        for scheme in (RandomizedResponse(epsilon=epsilon), Laplace(epsilon=epsilon))
    )
    excess = noise - coin
    worse = excess > 1e-9  # coins of whole sides are that far from the formulas
    average = (laws * excess).sum(axis=-1) > 1e-9
    some, every, mean = (float(found.mean()) for found in (worse.any(axis=-1), worse, average))
    return Failures(some, every, mean, max(float(excess.max()), 0.0))


def _laplace(epsilon: float, size: int, spent: Spent) -> Laplace:
    if spent not in get_args(Spent):
        raise SottovoceError("spent", f"must be one of {', '.join(get_args(Spent))}", spent)
    return Laplace(epsilon=epsilon if spent == "nominal" else nominal_epsilon(epsilon, size))


def _cost(schemes: Sequence[Scheme], law: Array, respondents: int, target: Target) -> Cost:
    channels = [scheme.mechanism((size,)).channel for scheme, size in zip(schemes, law.shape, strict=True)]
    margins = [law.sum(axis=tuple(a for a in range(law.ndim) if a != axis)) for axis in range(law.ndim)]
    whole = channels[0] if len(channels) == 1 else Kronecker(channels)
    found = expected_estimate(whole, law, respondents, target)
    wanted = ("entropy",) if law.ndim == 1 else ("entropy", "chi-squared", "mutual-information", "correlation")
    return Cost(
        tuple(channel.epsilon for channel in channels),
        tuple(individual_reconstruction(*pair) for pair in zip(channels, margins, strict=True)),
        found.standard_error**2,
        {name: _derived(found, functional_named(name, found)) for name in wanted},
    )


def _derived(found: Estimate, functional: Functional) -> DerivedCost:
    value, reason = functional.value(found.value), derive(found, functional).reason
    try:
        gradient = functional.gradient(found.value)
    except SottovoceError:
        return DerivedCost(value, None, reason)
    return DerivedCost(value, float(gradient @ found.covariance @ gradient) ** 0.5, reason)
