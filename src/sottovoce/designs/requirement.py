"""What a design must keep: bounds on privacy, and the prior it is made for, checked before any work."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import atan, erf, exp, log, log1p, pi, sqrt
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import fraction
from sottovoce.measures.matrices import as_prior, real_array
from sottovoce.schemes.scheme import odds_asked

TRIALS, CHANCE = 10_000, 0.3
"""Of the binomial prior."""
LARGEST_CERTIFIED = 150
"""Categories up to which designs are certified: gaps and times have been looked at no further."""


def checked_prior(prior: Any) -> Array:
    """Probabilities of two categories or more, none of them zero, with a sum put right within 1e-9.

    >>> checked_prior([0.5, 0.5, 0])
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: prior must be positive in every category; leave out category 2. Got 0.0 instead.
    """
    given = real_array("prior", prior)
    if given.ndim != 1 or len(given) < 2:
        raise SottovoceError("prior", "must be the probabilities of two categories or more", prior)
    law = as_prior(given, len(given))
    if not law.min() > 0:
        raise SottovoceError("prior", f"must be positive in every category; leave out category {law.argmin()}", 0.0)
    return law


def named_prior(name: str, categories: int) -> Array:
    """Prior of so many equal bins, as the papers cut them (Huang & Du 2008; Gao et al. 2018).

    normal: the standard normal on +-3; gamma: shape 1, scale 2, on [0, 8]; beta: (1, 2) on [0, 1]; t: 3 degrees of
    freedom on +-4; chi2: 8 degrees on [0, 24]; binomial: 10,000 trials of .3 on +-3.5 standard deviations; uniform;
    zipf: category k in proportion to 1/k. What lies outside is left out.

    >>> named_prior("normal", 10).round(4)
    array([0.0069, 0.0278, 0.0794, 0.1596, 0.2264, 0.2264, 0.1596, 0.0794,
           0.0278, 0.0069])
    >>> named_prior("zipf", 3)
    array([0.54545455, 0.27272727, 0.18181818])
    """
    if name not in NAMES:
        raise SottovoceError("prior_name", f"must be one of {', '.join(NAMES)}", name)
    if isinstance(categories, bool) or not isinstance(categories, int) or categories < 2:
        raise SottovoceError("categories", "must be a whole number of at least 2", categories)
    if name == "zipf":
        masses = 1 / np.arange(1, categories + 1)
    else:
        low, high, law = _CUMULATIVE[name]
        masses = np.diff([law(edge) for edge in np.linspace(low, high, categories + 1)])
    if not masses.min() > 0:
        rule = f"must leave something in every bin of the {name} prior, whose outermost are empty here"
        raise SottovoceError("categories", rule, Words(f"{categories} bins"))
    return np.asarray(masses / masses.sum())


def _normal(x: float) -> float:
    return (1 + erf(x / sqrt(2))) / 2


def _exponential(x: float) -> float:
    return 1 - exp(-x / 2)


def _beta(x: float) -> float:
    return 1 - (1 - x) ** 2


def _t(x: float) -> float:
    """Of 3 degrees of freedom."""
    return 0.5 + (atan(x / sqrt(3)) + sqrt(3) * x / (3 + x * x)) / pi


def _chi2(x: float) -> float:
    """Of 8 degrees of freedom: four events of a Poisson process at time x / 2."""
    return 1 - exp(-x / 2) * (1 + x / 2 + (x / 2) ** 2 / 2 + (x / 2) ** 3 / 6)


def _binomial(x: float) -> float:
    return float(_binomial_law()[int(x)])


@cache
def _binomial_law() -> Array:
    """Probabilities of at most so many successes."""
    counts = np.arange(TRIALS + 1)
    factorials = np.cumsum(np.log(np.maximum(counts, 1)))
    ways = factorials[-1] - factorials - factorials[::-1]
    return np.cumsum(np.exp(ways + counts * log(CHANCE) + counts[::-1] * log1p(-CHANCE)))


_SPREAD = 3.5 * sqrt(TRIALS * CHANCE * (1 - CHANCE))

_CUMULATIVE: dict[str, tuple[float, float, Callable[[float], float]]] = {
    "normal": (-3, 3, _normal),
    "gamma": (0, 8, _exponential),
    "beta": (0, 1, _beta),
    "uniform": (0, 1, float),
    "t": (-4, 4, _t),
    "chi2": (0, 24, _chi2),
    "binomial": (TRIALS * CHANCE - _SPREAD, TRIALS * CHANCE + _SPREAD, _binomial),
}

NAMES = (*_CUMULATIVE, "zipf")
"""Priors that have a name."""


@dataclass(frozen=True)
class Requirement:
    """Bounds that were asked for; None where there is none.

    `accuracy` bounds how often an adversary who knows the prior guesses right, `delta` how sure any report can make
    them, `odds` what a report can do to anyone's odds whatever they know, `distortion` how often reports are wrong.

    >>> Requirement.of([0.7, 0.3], accuracy=0.6)
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: accuracy contradicts the prior, of which a guess without any report is right with
    0.7: the nearest feasible value is 0.7. Got 0.6 instead.
    """

    prior: tuple[float, ...]
    accuracy: float | None = None
    delta: float | None = None
    odds: Fraction | None = None
    distortion: float | None = None

    @classmethod
    def of(
        cls,
        prior: Any,
        *,
        accuracy: Any = None,
        delta: Any = None,
        odds: Any = None,
        epsilon: Any = None,
        distortion: Any = None,
    ) -> "Requirement":
        """Check the prior and read every bound; odds are exact, those of an epsilon rounded down."""
        bound = None if odds is None and epsilon is None else odds_asked(odds=odds, epsilon=epsilon)
        shares = (_share("accuracy", accuracy), _share("delta", delta))
        return cls(tuple(checked_prior(prior).tolist()), *shares, bound, _share("distortion", distortion))

    def __post_init__(self) -> None:
        """Refuse bounds that are none, and those that the prior contradicts."""
        for name in ("accuracy", "delta", "distortion"):
            _share(name, getattr(self, name))
        likeliest = max(self.prior)
        if self.accuracy is not None and self.accuracy < likeliest:
            rule = "contradicts the prior, of which a guess without any report is right with"
            nearest = f"{likeliest:.6g}: the nearest feasible value is {likeliest:.6g}"
            raise SottovoceError("accuracy", f"{rule} {nearest}", self.accuracy)
        if self.delta is not None and self.delta <= likeliest:
            rule = "contradicts the prior, whose likeliest category some report always leaves at least as likely as"
            nearest = f"{likeliest:.6g}: the nearest feasible values are just above it"
            raise SottovoceError("delta", f"{rule} {nearest}", self.delta)

    @property
    def law(self) -> Array:
        """Prior as an array."""
        return np.array(self.prior)

    @property
    def float_odds(self) -> float | None:
        """Odds for optimisers, which calculate in floating point."""
        return None if self.odds is None else float(self.odds)

    @property
    def unbounded(self) -> bool:
        """Whether the truth itself may be reported."""
        return self.accuracy is None and self.delta is None and self.odds is None

    def for_error(self) -> "Requirement":
        """This, if errors can be compared under it."""
        if self.distortion is not None:
            raise SottovoceError("distortion", "must be left out where the error is the objective", self.distortion)
        if self.odds == 1:
            raise SottovoceError("odds", "must be above 1 : 1 for anything to be estimated", Words("1 : 1"))
        if self.unbounded:
            rule = "must be given, at least one of them: without any, telling the truth is best"
            raise SottovoceError("accuracy or delta or odds", rule, Words("none"))
        if self.accuracy == max(self.prior) and self.prior.count(self.accuracy) > 1:
            rule = "contradicts the prior, two of whose categories are as likely and could not be told apart:"
            nearest = f"the nearest feasible values are just above {self.accuracy:.6g}"
            raise SottovoceError("accuracy", f"{rule} {nearest}", self.accuracy)
        return self

    def for_information(self) -> "Requirement":
        """This, if bits told can be compared under it."""
        for name in ("accuracy", "delta"):
            if getattr(self, name) is not None:
                rule = "must be left out where mutual information is the objective"
                raise SottovoceError(name, rule, getattr(self, name))
        return self

    def certifiable(self) -> "Requirement":
        """This, if its optimum can be proven."""
        if len(self.prior) > LARGEST_CERTIFIED:
            rule = f"must have at most {LARGEST_CERTIFIED} categories to be certified; take the method subset or warner"
            raise SottovoceError("prior", rule, Words(f"{len(self.prior)} categories"))
        return self


def _share(parameter: str, value: Any) -> float | None:
    if value is None:
        return None
    share = float(fraction(parameter, value))
    if not 0 <= share <= 1:
        raise SottovoceError(parameter, "must be between 0 and 1", value)
    return share
