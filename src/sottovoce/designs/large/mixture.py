"""Mixtures of weighted sets under a bound on the odds, and on the adversary's accuracy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.designs.exact_scheme import SetComponent, SetDesign
from sottovoce.designs.large.bound import Certificate
from sottovoce.designs.large.set_distribution import Slab, slab
from sottovoce.designs.large.set_measures import Guess
from sottovoce.errors import MissingExtraError

Condition = Callable[[Array], tuple[float, Array]]
"""Value and gradient."""

Support = tuple[Array, int]
"""Lengths and size: the sets of one component."""
ROUNDS = 5
"""Updates of the prices on `J p = 1`."""

RESIDUAL = 1e-9
"""Largest deviation of a column's sum from one."""

_LARGEST_LOG_WEIGHT = 8.0  # weights have to become whole numbers of 32 bits
_LONGEST = 40
_ROUNDS = 7
_SIZES = 5
_SHARES = (1.0, 0.9, 0.8)
"""Shares of epsilon that are tried until the accuracy can be kept: the less is used, the larger is the error."""

_MARGIN = 1e-6
"""Share of the accuracy that is left for rounding."""


@dataclass(frozen=True)
class SetMixture:
    """`A(S|x) = m_S (u_S . p) u_S(x)`, m a mixture of slabs and `u = 1 + (odds - 1) z`, so that `J = sum_S m_S u u^T`.

    Parameters are the log-weights of each component, one after another, and the components' log-masses. Columns sum
    to one where `J p = 1`.
    """

    prior: Array
    odds: float
    supports: Sequence[Support]

    def laws(self, parameters: Array) -> tuple[list[Slab], Array]:
        """Components and masses."""
        n = len(self.prior)
        rows = parameters[: n * len(self.supports)].reshape(-1, n)
        laws = [slab(row, lengths, size) for row, (lengths, size) in zip(rows, self.supports, strict=True)]
        return laws, np.exp(parameters[n * len(self.supports) :])

    def information(self, laws: list[Slab], masses: Array) -> Array:
        """`J = a^2 E[z z^T] + a (E[z] 1^T + 1 E[z]^T) + c`, a = odds - 1, c the total mass."""
        rise = self.odds - 1
        single = sum(mass * law.inclusion for law, mass in zip(laws, masses, strict=True))
        double = sum(mass * law.pairs for law, mass in zip(laws, masses, strict=True))
        return np.asarray(rise**2 * double + rise * np.add.outer(single, single) + masses.sum())

    def lagrangian(self, parameters: Array, price: Array, penalty: float) -> tuple[float, Array]:
        """`tr J^-1 + price . r + penalty |r|^2 / 2`, `r = J p - 1`, and its gradient."""
        laws, masses = self.laws(parameters)
        values, vectors = np.linalg.eigh(self.information(laws, masses))
        if values[0] <= 1e-12:
            return 1e12, np.zeros_like(parameters)
        excess = (vectors * values) @ (vectors.T @ self.prior) - 1
        worth = float((1 / values).sum() + price @ excess + penalty * (excess @ excess) / 2)
        half = np.outer(price + penalty * excess, self.prior) / 2
        slopes = half + half.T - (vectors / values**2) @ vectors.T
        by_law = [self._slope(law, slopes) for law in laws]
        rows = [mass * row for mass, (row, _) in zip(masses, by_law, strict=True)]
        return worth, np.concatenate([*rows, masses * [total for _, total in by_law]])

    def _slope(self, law: Slab, slopes: Array) -> tuple[Array, float]:
        """`Cov(u^T G u, z)` and `E[u^T G u]` under one law, for G the slopes by J."""
        rise = self.odds - 1
        linear = 2 * rise * slopes.sum(axis=1) + rise**2 * np.diag(slopes)
        square = rise**2 * (slopes - np.diag(np.diag(slopes)))
        chances, shares = law.chances, law.shares
        through = chances @ square
        form = chances @ linear + (through * chances).sum(axis=1)
        mean = law.mean(form)
        own = shares[:, None] * chances * (1 - chances) * (linear + 2 * through)
        row = ((shares * form) @ chances).real - law.inclusion * mean + own.sum(axis=0).real
        return np.asarray(row), mean + float(slopes.sum())

    def jacobian(self, laws: list[Slab], masses: Array) -> Array:
        """Derivatives of `J p` by all parameters."""
        blocks = [mass * self._columns(law) for law, mass in zip(laws, masses, strict=True)]
        return np.hstack([block[:, :-1] for block in blocks] + [block[:, -1:] for block in blocks])

    def _columns(self, law: Slab) -> Array:
        """Derivatives of one law's `E[u (u . p)]` by its log-weights, and the mean itself as last column."""
        p, rise, chances = self.prior, self.odds - 1, law.chances
        shared, own = law.shares[:, None] * chances, chances * (1 - chances)
        hits = (chances @ p)[:, None]
        centred = chances - law.inclusion
        joint = hits + p * (1 - chances)
        single = (shared.T @ centred).real + np.diag((law.shares @ own).real)
        double = ((shared * joint).T @ centred).real + (shared.T @ (own * p)).real
        double += np.diag((law.shares @ (own * (hits + p * (1 - 2 * chances)))).real)
        slopes = rise**2 * double + rise * (single + p @ single)
        means = rise**2 * (law.pairs @ p) + rise * (law.inclusion + law.inclusion @ p) + 1
        return np.column_stack([slopes, means])

    def normalised(self, parameters: Array, also: Condition | None = None, *, most: int = 60) -> tuple[Array, float]:
        """Nearby parameters with `J p = 1`, by Newton steps of least length; and the largest residual left.

        `also` is a further condition: what is to become zero, and its gradient.
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

    def _excess(self, parameters: Array, also: Condition | None) -> Array:
        """What should be zero."""
        excess = self.information(*self.laws(parameters)) @ self.prior - 1
        return excess if also is None else np.append(excess, also(parameters)[0])

    def _slopes(self, parameters: Array, also: Condition | None) -> Array:
        """Derivatives of what should be zero."""
        slopes = self.jacobian(*self.laws(parameters))
        return slopes if also is None else np.vstack([slopes, also(parameters)[1]])

    def error(self, parameters: Array) -> float:
        """`(tr J^-1 - |p|^2) / n`."""
        inverse = np.linalg.inv(self.information(*self.laws(parameters)))
        return float((np.trace(inverse) - self.prior @ self.prior) / len(self.prior))

    def design(self, parameters: Array) -> SetDesign:
        """The design, with the prior as tilt: `t_S = u_S . p`."""
        n = len(self.prior)
        rows = parameters[: n * len(self.supports)].reshape(-1, n)
        masses = np.exp(parameters[n * len(self.supports) :])
        parts = [
            SetComponent(float(mass), size, np.exp(row), lengths)
            for row, mass, (lengths, size) in zip(rows, masses, self.supports, strict=True)
        ]
        return SetDesign(tuple(parts), self.odds, self.prior)


def best_mixture(certificate: Certificate, progress: Callable[[int], object]) -> tuple[SetDesign, float] | None:
    """A mixture with columns that sum to one, and its error; None where Newton's method finds none nearby."""
    prior, n = certificate.prior, len(certificate.prior)
    mixture = SetMixture(prior, certificate.odds, _supports(certificate))
    parameters, _ = mixture.normalised(start(mixture, certificate.multipliers[:n]))
    price, penalty = certificate.multipliers[n : 2 * n], 0.3 * n * mixture.error(parameters)
    for step in range(ROUNDS):
        objective = partial(mixture.lagrangian, price=price, penalty=penalty)
        parameters = descend(objective, parameters, len(mixture.supports))
        excess = mixture.information(*mixture.laws(parameters)) @ prior - 1
        progress(step)
        price, penalty = price + penalty * excess, 2 * penalty
    parameters, residual = mixture.normalised(parameters)
    return (mixture.design(parameters), mixture.error(parameters)) if residual < RESIDUAL else None


def _supports(certificate: Certificate) -> list[Support]:
    """Two or three sizes, and two total lengths.

    At the relaxation's optimum `a . z` is near `1.a / (odds + 1)` for its multipliers a, so lengths in proportion to
    these hold the sets near it.
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
    """Weights that fall with the multipliers until `a . z` has its mean, and masses that favour sizes near it."""
    n = len(agreement)
    relative, target = agreement / agreement.mean(), n / (mixture.odds + 1)
    rows, masses = [], []
    for lengths, size in mixture.supports:
        plain = lengths.max() == 1
        rows.append(_tilted(relative, lengths, size, target) if plain else np.zeros(n))
        masses.append(np.exp(-abs(size - target) / max(1, np.sqrt(target))) if plain else 2.0)
    parameters = np.concatenate([*rows, np.log(masses)])
    information = mixture.information(*mixture.laws(parameters))
    parameters[-len(masses) :] -= np.log(mixture.prior @ information @ mixture.prior)
    return parameters


def _tilted(relative: Array, lengths: Array, size: int, target: float) -> Array:
    low, high = -2.0, 2.0
    for _ in range(30):
        middle = (low + high) / 2
        above = slab(-middle * relative, lengths, size).inclusion @ relative > target
        low, high = (middle, high) if above else (low, middle)
    return np.clip(-low * relative, -_LARGEST_LOG_WEIGHT, _LARGEST_LOG_WEIGHT)


def descend(objective: Condition, parameters: Array, masses: int) -> Array:
    """A limited number of quasi-Newton steps, with bounded log-weights; the masses, at the end, are free."""
    try:
        minimize = import_module("scipy.optimize").minimize
    except ImportError:
        raise MissingExtraError("designing mixtures of sets", "scipy", "design") from None
    reach = (-_LARGEST_LOG_WEIGHT, _LARGEST_LOG_WEIGHT)
    found = minimize(
        objective,
        parameters,
        jac=True,
        method="L-BFGS-B",
        bounds=[reach] * (len(parameters) - masses) + [(None, None)] * masses,
        options={"maxiter": 150, "maxcor": 30, "ftol": 1e-9, "gtol": 1e-9},
    )
    return np.asarray(found.x)


def guarded_mixture(
    certificate: Certificate, accuracy: float, progress: Callable[[int, int], Any]
) -> tuple[SetDesign, float] | None:
    """A mixture within the certificate's odds and with this accuracy, and its error; None if none is found."""
    for attempt, share in enumerate(_SHARES):
        guarded = _Guarded.of(certificate, share, accuracy)
        parameters = guarded.search(certificate)
        progress(attempt + 1, len(_SHARES))
        parameters, residual = guarded.mixture.normalised(parameters, guarded.above)
        if residual < RESIDUAL:
            return guarded.mixture.design(parameters), guarded.mixture.error(parameters)
    return None


@dataclass(frozen=True)
class _Guarded:
    mixture: SetMixture
    guess: Guess
    target: float

    @staticmethod
    def of(certificate: Certificate, share: float, accuracy: float) -> "_Guarded":
        """Sets of sizes from those of the odds, which hold little, to half of all categories, which hide more."""
        prior, n = certificate.prior, len(certificate.prior)
        odds = certificate.odds**share
        sizes = np.unique(np.geomspace(max(1, n / (odds + 1)), n / 2, _SIZES).round().astype(int))
        mixture = SetMixture(prior, odds, [(np.ones(n), int(size)) for size in sizes])
        return _Guarded(mixture, Guess.of(prior, 1.0, odds - 1, (1.0, (odds - 1) * prior)), accuracy * (1 - _MARGIN))

    def accuracy(self, parameters: Array) -> tuple[float, Array]:
        """Chance of a right guess and its gradient."""
        supports, n = self.mixture.supports, len(self.mixture.prior)
        masses = np.exp(parameters[n * len(supports) :])
        parts = list(zip(parameters[: n * len(supports)].reshape(-1, n), supports, strict=True))
        found = [self.guess.chance_and_slopes(row, *support) for row, support in parts]
        chances = masses * [chance for chance, _ in found]
        slopes = [mass * row for mass, (_, row) in zip(masses, found, strict=True)]
        return float(chances.sum()), np.concatenate([*slopes, chances])

    def above(self, parameters: Array) -> tuple[float, Array]:
        """Excess of the accuracy over its target, if any, and its gradient."""
        accuracy, slopes = self.accuracy(parameters)
        return max(0.0, accuracy - self.target), slopes

    def search(self, certificate: Certificate) -> Array:
        """Augmented Lagrangian, with a price on `J p = 1` and one, not negative, on the accuracy."""
        mixture, n = self.mixture, len(certificate.prior)
        parameters, _ = mixture.normalised(start(mixture, certificate.multipliers[:n]))
        worth = n * mixture.error(parameters)
        price, penalty, toll, weight = certificate.multipliers[n : 2 * n], 0.3 * worth, 0.0, worth / self.target**2
        for _ in range(_ROUNDS):
            objective = _Objective(self, price, penalty, toll, weight)
            parameters = descend(objective, parameters, len(mixture.supports))
            excess = mixture.information(*mixture.laws(parameters)) @ mixture.prior - 1
            toll = max(0.0, toll + weight * (self.accuracy(parameters)[0] - self.target))
            price, penalty, weight = price + penalty * excess, 2 * penalty, 2 * weight
        return parameters


@dataclass(frozen=True)
class _Objective:
    guarded: _Guarded
    price: Array
    penalty: float
    toll: float
    weight: float

    def __call__(self, parameters: Array) -> tuple[float, Array]:
        """The mixture's Lagrangian, and `(max(0, toll + weight (A - target))^2 - toll^2) / (2 weight)`."""
        worth, slopes = self.guarded.mixture.lagrangian(parameters, self.price, self.penalty)
        accuracy, rises = self.guarded.accuracy(parameters)
        charge = max(0.0, self.toll + self.weight * (accuracy - self.guarded.target))
        return worth + (charge**2 - self.toll**2) / (2 * self.weight), slopes + charge * rises
