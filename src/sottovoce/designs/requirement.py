"""Requirements on a design: the prior it is made for, and bounds on privacy, checked before any work."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from functools import cache
from math import atan, erf, exp, log, log1p, pi, sqrt
from typing import Any

import numpy as np

from sottovoce.checks import Array, number, one_of, whole_number
from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import fraction, odds_asked
from sottovoce.measures.matrices import as_prior, real_array

LARGEST_CERTIFIED = 150
"""Most categories of a certified design; gaps and run times beyond have not been examined."""

LEAST_DIFFERENCE = 1e-9
"""Least relevant difference of probabilities: priors are given, and rounded, no more exactly."""

BINOMIAL_TRIALS, BINOMIAL_PROBABILITY = 10_000, 0.3


def rounded_up(bound: float) -> str:
    """Return a lower bound with six digits, rounded up: the number that is printed is itself feasible.

    A value that was refused for being smaller never prints the same.

    >>> rounded_up(1 / 3), rounded_up(0.4), rounded_up(0.4 + 1e-16)
    ('0.333334', '0.4', '0.4')
    """
    digits = Decimal(f"{bound:.9g}")
    last = Decimal(1).scaleb(digits.adjusted() - 5)
    return f"{float(digits.quantize(last, ROUND_CEILING)):.6g}"


def checked_prior(prior: Any) -> Array:
    """Return a prior over at least two categories, all positive, normalised if its sum is within 1e-9 of one.

    >>> checked_prior([0.5, 0.5, 0])
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: prior must be positive in every category; leave out category 2. Got 0.0 instead.
    """
    given = real_array("prior", prior)
    if given.ndim != 1 or len(given) < 2:
        raise SottovoceError("prior", "must be the probabilities of two categories or more", prior)
    shares = as_prior(given, len(given))
    if not shares.min() > 0:
        rule = f"must be positive in every category; leave out category {shares.argmin()}"
        raise SottovoceError("prior", rule, 0.0)
    return shares


def named_prior(name: str, categories: int) -> Array:
    """Return a named prior on bins of equal width, as in Huang & Du (2008) and Gao et al. (2018).

    normal: the standard normal on +-3; gamma: shape 1, scale 2, on [0, 8]; beta: (1, 2) on [0, 1]; t: 3 degrees of
    freedom on +-4; chi2: 8 degrees on [0, 24]; binomial: 10,000 trials of .3 on +-3.5 standard deviations; uniform;
    zipf: category k in proportion to 1/k. Probability outside the range is dropped.

    >>> named_prior("normal", 10).round(4)
    array([0.0069, 0.0278, 0.0794, 0.1596, 0.2264, 0.2264, 0.1596, 0.0794,
           0.0278, 0.0069])
    >>> named_prior("zipf", 3)
    array([0.54545455, 0.27272727, 0.18181818])
    """
    one_of("prior_name", name, NAMES)
    categories = whole_number("categories", categories, least=2)
    if name == "zipf":
        masses = 1 / np.arange(1, categories + 1)
    else:
        low, high, cumulative = _CUMULATIVE[name]
        masses = np.diff([cumulative(edge) for edge in np.linspace(low, high, categories + 1)])
    if not masses.min() > 0:
        rule = f"must be few enough for the outermost bins of the {name} prior not to be empty"
        raise SottovoceError("categories", rule, Words(f"{categories} bins"))
    return np.asarray(masses / masses.sum())


def _normal(x: float) -> float:
    return (1 + erf(x / sqrt(2))) / 2


def _exponential(x: float) -> float:
    return 1 - exp(-x / 2)


def _beta(x: float) -> float:
    return 1 - (1 - x) ** 2


def _t(x: float) -> float:
    """Student's t with 3 degrees of freedom."""
    return 0.5 + (atan(x / sqrt(3)) + sqrt(3) * x / (3 + x * x)) / pi


def _chi2(x: float) -> float:
    """Chi-squared with 8 degrees of freedom: four events of a Poisson process by time x / 2."""
    return 1 - exp(-x / 2) * (1 + x / 2 + (x / 2) ** 2 / 2 + (x / 2) ** 3 / 6)


def _binomial(x: float) -> float:
    return float(_binomial_cumulative()[int(x)])


@cache
def _binomial_cumulative() -> Array:
    """`P(successes <= k)` for each k."""
    counts = np.arange(BINOMIAL_TRIALS + 1)
    factorials = np.cumsum(np.log(np.maximum(counts, 1)))
    ways = factorials[-1] - factorials - factorials[::-1]
    return np.cumsum(np.exp(ways + counts * log(BINOMIAL_PROBABILITY) + counts[::-1] * log1p(-BINOMIAL_PROBABILITY)))


_BINOMIAL_MEAN = BINOMIAL_TRIALS * BINOMIAL_PROBABILITY
_BINOMIAL_REACH = 3.5 * sqrt(BINOMIAL_TRIALS * BINOMIAL_PROBABILITY * (1 - BINOMIAL_PROBABILITY))

_CUMULATIVE: dict[str, tuple[float, float, Callable[[float], float]]] = {
    "normal": (-3, 3, _normal),
    "gamma": (0, 8, _exponential),
    "beta": (0, 1, _beta),
    "uniform": (0, 1, float),
    "t": (-4, 4, _t),
    "chi2": (0, 24, _chi2),
    "binomial": (_BINOMIAL_MEAN - _BINOMIAL_REACH, _BINOMIAL_MEAN + _BINOMIAL_REACH, _binomial),
}

NAMES = (*_CUMULATIVE, "zipf")
"""Names of the priors that `named_prior` knows."""


@dataclass(frozen=True)
class Requirement:
    """Bounds that a design must keep; None means unbounded.

    `accuracy` bounds how often an adversary who knows the prior guesses right, `delta` the posterior probability of any
    category given any report, `odds` the likelihood ratio of any report for any two truths (e^epsilon), `distortion`
    the probability that the report differs from the truth.

    >>> Requirement.of([0.7, 0.3], accuracy=0.6)
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: accuracy contradicts the prior: a guess without any report is right with
    probability 0.7, the nearest feasible value. Got 0.6 instead.
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
        """Check the prior and parse the bounds; odds are exact, and rounded down where they come from an epsilon."""
        exact_odds = None if odds is None and epsilon is None else odds_asked(odds=odds, epsilon=epsilon)
        bounds = (_probability("accuracy", accuracy), _probability("delta", delta))
        return cls(tuple(checked_prior(prior).tolist()), *bounds, exact_odds, _probability("distortion", distortion))

    def __post_init__(self) -> None:
        """Refuse bounds that are no probabilities, and those that contradict the prior."""
        for name in ("accuracy", "delta", "distortion"):
            _probability(name, getattr(self, name))
        likeliest = max(self.prior)
        if self.accuracy is not None and self.accuracy < likeliest - LEAST_DIFFERENCE:
            rule = "contradicts the prior: a guess without any report is right with probability"
            nearest = f"{rounded_up(likeliest)}, the nearest feasible value"
            raise SottovoceError("accuracy", f"{rule} {nearest}", self.accuracy)
        if self.delta is not None and self.delta <= likeliest + LEAST_DIFFERENCE:
            rule = f"must be above {rounded_up(likeliest)}, the largest probability of the prior"
            why = "some report always leaves the likeliest category at least that probable"
            raise SottovoceError("delta", f"{rule}: {why}", self.delta)

    @property
    def prior_array(self) -> Array:
        """Prior as an array."""
        return np.array(self.prior)

    @property
    def float_odds(self) -> float | None:
        """Odds in floating point, for optimisers."""
        return None if self.odds is None else float(self.odds)

    @property
    def unbounded(self) -> bool:
        """Whether the truth itself may be reported."""
        return self.accuracy is None and self.delta is None and self.odds is None

    def for_error(self) -> "Requirement":
        """Return the requirement; raise if the mean squared error cannot be minimised under it."""
        if self.distortion is not None:
            raise SottovoceError("distortion", "must be left out where the error is the objective", self.distortion)
        if self.odds == 1:
            raise SottovoceError("odds", "must be above 1 : 1 for anything to be estimated", Words("1 : 1"))
        if self.unbounded:
            rule = "must be given, at least one of them: without any bound, reporting the truth is best"
            raise SottovoceError("accuracy or delta or odds", rule, Words("none"))
        likeliest, second = sorted(self.prior)[:-3:-1]
        if self.accuracy is not None and self.accuracy <= likeliest + LEAST_DIFFERENCE:
            if second > likeliest - LEAST_DIFFERENCE:
                rule = f"must be above {rounded_up(likeliest)}, the probability of the two likeliest categories"
                raise SottovoceError("accuracy", f"{rule}: at that, no report may tell them apart", self.accuracy)
            # One that is smaller by rounding, such as the prior's before it was normalised, means the prior's.
            return replace(self, accuracy=max(self.accuracy, likeliest))
        return self

    def for_information(self) -> "Requirement":
        """Return the requirement; raise if mutual information cannot be minimised under it."""
        for name in ("accuracy", "delta"):
            if getattr(self, name) is not None:
                rule = "must be left out where mutual information is the objective"
                raise SottovoceError(name, rule, getattr(self, name))
        return self

    def certifiable(self) -> "Requirement":
        """Return the requirement; raise if it has too many categories for a certificate."""
        if len(self.prior) > LARGEST_CERTIFIED:
            rule = f"must have at most {LARGEST_CERTIFIED} categories to be certified; use the method subset or warner"
            raise SottovoceError("prior", rule, Words(f"{len(self.prior)} categories"))
        return self


def _probability(parameter: str, value: Any) -> float | None:
    return None if value is None else number(parameter, float(fraction(parameter, value)), 0, 1)
