"""Mixtures of weighted sets that keep a bound on the adversary's accuracy as well as the odds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.large.guess import Guess
from sottovoce.design.large.mixture_search import RESIDUAL, descend, start
from sottovoce.design.large.relaxation import Certificate
from sottovoce.design.large.set_mixture import SetMixture
from sottovoce.design.solution import SetDesign

_ROUNDS = 7
_SIZES = 5
_SHARES = (1.0, 0.9, 0.8)
"""Shares of epsilon that are tried until the accuracy can be kept: the less is used, the larger is the error."""

_MARGIN = 1e-6
"""Share of the accuracy that is left for rounding."""


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
