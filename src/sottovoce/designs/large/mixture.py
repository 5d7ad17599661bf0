"""Mixtures of weighted sets under bounds on the odds and on the adversary's accuracy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sottovoce.checks import Array
from sottovoce.designs.exact_scheme import SetComponent, SetDesign
from sottovoce.designs.large.bound import Certificate
from sottovoce.designs.large.set_distribution import ConditionalPoisson, conditional_poisson
from sottovoce.designs.large.set_measures import BestGuess
from sottovoce.errors import check_installed

Differentiable = Callable[[Array], tuple[float, Array]]
"""Returns value and gradient."""

Support = tuple[Array, int]
"""Lengths and size: the sets of one component."""

ROUNDS = 5
"""Updates of the multipliers of `J p = 1`."""

RESIDUAL = 1e-9
"""Largest deviation of a column's sum from one that is accepted."""

_LARGEST_LOG_WEIGHT = 8.0  # weights have to become whole numbers of 32 bits
_LONGEST = 40
_ROUNDS = 7
_SIZES = 5
_SHARES = (1.0, 0.9, 0.8)
"""Shares of epsilon that are tried until the accuracy is kept; smaller ones have larger errors."""

_MARGIN = 1e-6
"""Share of the accuracy reserved for rounding."""


@dataclass(frozen=True)
class SetMixture:
    """`A(S|x) = m_S (u_S . p) u_S(x)`, m a mixture and `u = 1 + (odds - 1) z`, so that `J = sum_S m_S u u^T`.

    Parameters are the log-weights of each component, one after another, and the components' log-masses. Columns sum
    to one where `J p = 1`.
    """

    prior: Array
    odds: float
    supports: Sequence[Support]

    def components(self, parameters: Array) -> tuple[list[ConditionalPoisson], Array]:
        """Distributions of the components, and their masses."""
        n = len(self.prior)
        rows = parameters[: n * len(self.supports)].reshape(-1, n)
        components = [
            conditional_poisson(row, lengths, size) for row, (lengths, size) in zip(rows, self.supports, strict=True)
        ]
        return components, np.exp(parameters[n * len(self.supports) :])

    def information(self, components: list[ConditionalPoisson], masses: Array) -> Array:
        """`J = a^2 E[z z^T] + a (E[z] 1^T + 1 E[z]^T) + c`, a = odds - 1, c the total mass."""
        rise = self.odds - 1
        single = sum(mass * sets.inclusion for sets, mass in zip(components, masses, strict=True))
        double = sum(mass * sets.pairs for sets, mass in zip(components, masses, strict=True))
        return np.asarray(rise**2 * double + rise * np.add.outer(single, single) + masses.sum())

    def lagrangian(self, parameters: Array, price: Array, penalty: float) -> tuple[float, Array]:
        """`tr J^-1 + price . r + penalty |r|^2 / 2`, `r = J p - 1`, and its gradient."""
        components, masses = self.components(parameters)
        values, vectors = np.linalg.eigh(self.information(components, masses))
        if values[0] <= 1e-12:
            return 1e12, np.zeros_like(parameters)
        excess = (vectors * values) @ (vectors.T @ self.prior) - 1
        value = float((1 / values).sum() + price @ excess + penalty * (excess @ excess) / 2)
        half = np.outer(price + penalty * excess, self.prior) / 2
        slopes = half + half.T - (vectors / values**2) @ vectors.T
        parts = [self._slope(sets, slopes) for sets in components]
        rows = [mass * row for mass, (row, _) in zip(masses, parts, strict=True)]
        return value, np.concatenate([*rows, masses * [total for _, total in parts]])

    def _slope(self, sets: ConditionalPoisson, slopes: Array) -> tuple[Array, float]:
        """`Cov(u^T G u, z)` and `E[u^T G u]` under one component, for G the slopes by J."""
        rise = self.odds - 1
        linear = 2 * rise * slopes.sum(axis=1) + rise**2 * np.diag(slopes)
        square = rise**2 * (slopes - np.diag(np.diag(slopes)))
        chances, shares = sets.chances, sets.shares
        through = chances @ square
        form = chances @ linear + (through * chances).sum(axis=1)
        mean = sets.mean(form)
        direct = shares[:, None] * chances * (1 - chances) * (linear + 2 * through)
        row = ((shares * form) @ chances).real - sets.inclusion * mean + direct.sum(axis=0).real
        return np.asarray(row), mean + float(slopes.sum())

    def jacobian(self, components: list[ConditionalPoisson], masses: Array) -> Array:
        """Derivatives of `J p` by all parameters."""
        blocks = [mass * self._columns(sets) for sets, mass in zip(components, masses, strict=True)]
        return np.hstack([block[:, :-1] for block in blocks] + [block[:, -1:] for block in blocks])

    def _columns(self, sets: ConditionalPoisson) -> Array:
        """Derivatives of a component's `E[u (u . p)]` by its log-weights, and the mean itself as last column."""
        p, rise, chances = self.prior, self.odds - 1, sets.chances
        shared, variances = sets.shares[:, None] * chances, chances * (1 - chances)
        hits = (chances @ p)[:, None]
        centred = chances - sets.inclusion
        joint = hits + p * (1 - chances)
        single = (shared.T @ centred).real + np.diag((sets.shares @ variances).real)
        double = ((shared * joint).T @ centred).real + (shared.T @ (variances * p)).real
        double += np.diag((sets.shares @ (variances * (hits + p * (1 - 2 * chances)))).real)
        slopes = rise**2 * double + rise * (single + p @ single)
        means = rise**2 * (sets.pairs @ p) + rise * (sets.inclusion + sets.inclusion @ p) + 1
        return np.column_stack([slopes, means])

    def normalised(
        self, parameters: Array, also: Differentiable | None = None, *, most: int = 60
    ) -> tuple[Array, float]:
        """Return nearby parameters with `J p = 1`, by minimum-norm Newton steps, and the largest residual left.

        `also` is a further function that must be zero.
        """
        excess = self._excess(parameters, also)
        for _ in range(most):
            if np.abs(excess).max() < 1e-12:
                break
            step = np.linalg.lstsq(self._slopes(parameters, also), -excess, rcond=1e-9)[0]
            length = min(1.0, 1 / np.abs(step).max())
            while length > 1e-4:
                new = self._excess(parameters + length * step, also)
                if np.linalg.norm(new) < np.linalg.norm(excess) * (1 - 0.1 * length):
                    break
                length /= 2
            else:
                break
            parameters, excess = parameters + length * step, new
        return parameters, float(np.abs(excess).max())

    def _excess(self, parameters: Array, also: Differentiable | None) -> Array:
        """Residuals of the conditions."""
        excess = self.information(*self.components(parameters)) @ self.prior - 1
        return excess if also is None else np.append(excess, also(parameters)[0])

    def _slopes(self, parameters: Array, also: Differentiable | None) -> Array:
        """Derivatives of the residuals."""
        slopes = self.jacobian(*self.components(parameters))
        return slopes if also is None else np.vstack([slopes, also(parameters)[1]])

    def error(self, parameters: Array) -> float:
        """`(tr J^-1 - |p|^2) / n`."""
        inverse = np.linalg.inv(self.information(*self.components(parameters)))
        return float((np.trace(inverse) - self.prior @ self.prior) / len(self.prior))

    def design(self, parameters: Array) -> SetDesign:
        """Return the set design, with the prior as tilt: `t_S = u_S . p`."""
        n = len(self.prior)
        rows = parameters[: n * len(self.supports)].reshape(-1, n)
        masses = np.exp(parameters[n * len(self.supports) :])
        parts = [
            SetComponent(float(mass), size, np.exp(row), lengths)
            for row, mass, (lengths, size) in zip(rows, masses, self.supports, strict=True)
        ]
        return SetDesign(tuple(parts), self.odds, self.prior)


def best_mixture(certificate: Certificate, progress: Callable[[int], object]) -> tuple[SetDesign, float] | None:
    """Return a mixture with columns that sum to one, and its error; None if Newton's method finds none nearby."""
    prior, n = certificate.prior, len(certificate.prior)
    mixture = SetMixture(prior, certificate.odds, _supports(certificate))
    parameters, _ = mixture.normalised(start(mixture, certificate.multipliers[:n]))
    price, penalty = certificate.multipliers[n : 2 * n], 0.3 * n * mixture.error(parameters)
    for step in range(ROUNDS):
        objective = partial(mixture.lagrangian, price=price, penalty=penalty)
        parameters = descend(objective, parameters, len(mixture.supports))
        excess = mixture.information(*mixture.components(parameters)) @ prior - 1
        progress(step)
        price, penalty = price + penalty * excess, 2 * penalty
    parameters, residual = mixture.normalised(parameters)
    return (mixture.design(parameters), mixture.error(parameters)) if residual < RESIDUAL else None


def _supports(certificate: Certificate) -> list[Support]:
    """Return supports of two or three sizes, and of two total lengths.

    At the optimum of the relaxation `a . z` is near `1.a / (odds + 1)` for its multipliers a, so lengths in proportion
    to these keep the sets near it.
    """
    n = len(certificate.prior)
    agreement, ones = certificate.multipliers[:n], np.ones(n)
    middle = int(n / (certificate.odds + 1))
    sizes = (middle, middle + 1) if middle > 2 else (1, 2, 3)
    lengths = np.clip(np.round(agreement / np.quantile(agreement, 0.25)), 1, _LONGEST)
    total = int(lengths.sum() / (certificate.odds + 1))
    longer = [(lengths, max(1, total)), (lengths, total + 1)] if lengths.max() > 1 and total else []
    return [(ones, size) for size in sizes] + longer


def start(mixture: SetMixture, agreement: Array) -> Array:
    """Start with weights that fall with the multipliers, so that `a . z` has its mean, and favour sizes near it."""
    n = len(agreement)
    relative, target = agreement / agreement.mean(), n / (mixture.odds + 1)
    rows, masses = [], []
    for lengths, size in mixture.supports:
        plain = lengths.max() == 1
        rows.append(_tilted(relative, lengths, size, target) if plain else np.zeros(n))
        masses.append(np.exp(-abs(size - target) / max(1, np.sqrt(target))) if plain else 2.0)
    parameters = np.concatenate([*rows, np.log(masses)])
    information = mixture.information(*mixture.components(parameters))
    parameters[-len(masses) :] -= np.log(mixture.prior @ information @ mixture.prior)
    return parameters


def _tilted(relative: Array, lengths: Array, size: int, target: float) -> Array:
    low, high = -2.0, 2.0
    for _ in range(30):
        middle = (low + high) / 2
        above = conditional_poisson(-middle * relative, lengths, size).inclusion @ relative > target
        low, high = (middle, high) if above else (low, middle)
    return np.clip(-low * relative, -_LARGEST_LOG_WEIGHT, _LARGEST_LOG_WEIGHT)


def descend(objective: Differentiable, parameters: Array, masses: int) -> Array:
    """Minimise by a limited number of L-BFGS steps; log-weights are bounded, the log-masses at the end are not."""
    check_installed("designing mixtures of sets", "design", "scipy.optimize")
    from scipy.optimize import minimize

    reach = (-_LARGEST_LOG_WEIGHT, _LARGEST_LOG_WEIGHT)
    result = minimize(
        objective,
        parameters,
        jac=True,
        method="L-BFGS-B",
        bounds=[reach] * (len(parameters) - masses) + [(None, None)] * masses,
        options={"maxiter": 150, "maxcor": 30, "ftol": 1e-9, "gtol": 1e-9},
    )
    return np.asarray(result.x)


def accuracy_bounded_mixture(
    certificate: Certificate, accuracy: float, progress: Callable[[int, int], Any]
) -> tuple[SetDesign, float] | None:
    """Return a mixture within the certificate's odds and this accuracy, and its error; None if none is found."""
    for attempt, share in enumerate(_SHARES):
        bounded = _AccuracyBounded.of(certificate, share, accuracy)
        parameters = bounded.search(certificate)
        progress(attempt + 1, len(_SHARES))
        parameters, residual = bounded.mixture.normalised(parameters, bounded.above)
        if residual < RESIDUAL:
            return bounded.mixture.design(parameters), bounded.mixture.error(parameters)
    return None


@dataclass(frozen=True)
class _AccuracyBounded:
    """A mixture whose adversary's accuracy is bounded by a target."""

    mixture: SetMixture
    guess: BestGuess
    target: float

    @staticmethod
    def of(certificate: Certificate, share: float, accuracy: float) -> "_AccuracyBounded":
        """Take sets of sizes from that of the odds to half of all categories, which hide more."""
        prior, n = certificate.prior, len(certificate.prior)
        odds = certificate.odds**share
        sizes = np.unique(np.geomspace(max(1, n / (odds + 1)), n / 2, _SIZES).round().astype(int))
        mixture = SetMixture(prior, odds, [(np.ones(n), int(size)) for size in sizes])
        return _AccuracyBounded(
            mixture, BestGuess.of(prior, 1.0, odds - 1, (1.0, (odds - 1) * prior)), accuracy * (1 - _MARGIN)
        )

    def accuracy(self, parameters: Array) -> tuple[float, Array]:
        """Chance of a right guess, and its gradient."""
        supports, n = self.mixture.supports, len(self.mixture.prior)
        masses = np.exp(parameters[n * len(supports) :])
        parts = list(zip(parameters[: n * len(supports)].reshape(-1, n), supports, strict=True))
        pairs = [self.guess.chance_and_slopes(row, *support) for row, support in parts]
        chances = masses * [chance for chance, _ in pairs]
        slopes = [mass * row for mass, (_, row) in zip(masses, pairs, strict=True)]
        return float(chances.sum()), np.concatenate([*slopes, chances])

    def above(self, parameters: Array) -> tuple[float, Array]:
        """Excess of the accuracy over its target, if any, and its gradient."""
        accuracy, slopes = self.accuracy(parameters)
        return max(0.0, accuracy - self.target), slopes

    def search(self, certificate: Certificate) -> Array:
        """Minimise an augmented Lagrangian with multipliers of `J p = 1` and, not negative, of the accuracy."""
        mixture, n = self.mixture, len(certificate.prior)
        parameters, _ = mixture.normalised(start(mixture, certificate.multipliers[:n]))
        scale = n * mixture.error(parameters)
        price, penalty, accuracy_price, weight = (
            certificate.multipliers[n : 2 * n],
            0.3 * scale,
            0.0,
            scale / self.target**2,
        )
        for _ in range(_ROUNDS):
            objective = _Objective(self, price, penalty, accuracy_price, weight)
            parameters = descend(objective, parameters, len(mixture.supports))
            excess = mixture.information(*mixture.components(parameters)) @ mixture.prior - 1
            accuracy_price = max(0.0, accuracy_price + weight * (self.accuracy(parameters)[0] - self.target))
            price, penalty, weight = price + penalty * excess, 2 * penalty, 2 * weight
        return parameters


@dataclass(frozen=True)
class _Objective:
    bounded: _AccuracyBounded
    price: Array
    penalty: float
    accuracy_price: float
    weight: float

    def __call__(self, parameters: Array) -> tuple[float, Array]:
        """Lagrangian plus `(max(0, a + w (A - target))^2 - a^2) / (2 w)`, a the accuracy_price and w the weight."""
        value, slopes = self.bounded.mixture.lagrangian(parameters, self.price, self.penalty)
        accuracy, rises = self.bounded.accuracy(parameters)
        charge = max(0.0, self.accuracy_price + self.weight * (accuracy - self.bounded.target))
        return value + (charge**2 - self.accuracy_price**2) / (2 * self.weight), slopes + charge * rises
