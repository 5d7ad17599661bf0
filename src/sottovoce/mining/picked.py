"""Intervals of what was picked out of many: each at the level that keeps the list's promise.

A list that begins with the highest estimates begins with the luckiest, and 95 % intervals around them miss far more
often than in 5 % of the cases. If m of n estimates are picked, by whatever rule, and each has an interval of level

    1 - (m / n) (1 - level),

the expected share of the list's intervals that miss is at most `1 - level`: the false coverage rate (Y. Benjamini & D.
Yekutieli 2005, JASA 100, 71-81, for independent and positively dependent estimates). What was picked on the reports of
other respondents needs no adjustment.
"""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal, get_args

import numpy as np

from sottovoce.checks import Array, one_of
from sottovoce.checks import level as checked_level
from sottovoce.estimates.cell_tests import Ends

IntervalKind = Literal["default", "wald"]
"""Adjusted for having been picked and cut to what is possible, or for a row that was given in advance."""


@dataclass(frozen=True)
class Picked:
    """So many rows picked out of so many searched; `elsewhere` is the number of other reports that picked them, if any.

    >>> Picked(10, 5000).level(0.95)
    0.9999
    >>> print(Picked(10, 5000).note(0.95))
    Each interval is at 99.99 %, so that 95 % of a list of 10 picked out of 5,000 hold (false coverage rate).
    """

    rows: int
    searched: int
    elsewhere: int = 0

    @property
    def share(self) -> float:
        """Share of what was searched that was picked; one where other reports picked."""
        return 1.0 if self.elsewhere else max(self.rows, 1) / max(self.searched, self.rows, 1)

    def level(self, level: float) -> float:
        """Return the level of each interval, for a level of the list."""
        return 1 - self.share * (1 - checked_level(level))

    def deviations(self, level: float, kind: str = "default") -> float:
        """Return the number of standard errors on either side; for `kind="wald"`, those of a row given in advance.

        >>> round(Picked(10, 5000).deviations(0.95), 3), round(Picked(10, 5000).deviations(0.95, "wald"), 3)
        (3.891, 1.96)
        """
        return _deviations(level, 1.0 if kind == "wald" else self.share)

    def note(self, level: float) -> str:
        """Return a sentence about the intervals."""
        if self.elsewhere:
            return f"Picked on {self.elsewhere:,} other reports: {100 * level:g} % intervals need no adjustment."
        if self.share == 1:
            return f"Intervals are at {100 * level:g} %: everything that was searched is listed."
        return (
            f"Each interval is at {100 * self.level(level):.6g} %, so that {100 * level:g} % of a list of "
            f"{self.rows:,} picked out of {self.searched:,} hold (false coverage rate)."
        )

    def to_json(self, level: float) -> dict[str, Any]:
        """Return what the intervals are, for programs."""
        method = "wald, picked on other reports" if self.elsewhere else "wald, adjusted by the false coverage rate"
        described = {"method": method, "level": level, "level_of_each": self.level(level)}
        return described | {"picked": self.rows, "searched": self.searched, "picked_on": self.elsewhere or None}


def checked_kind(kind: Any, kinds: Any = IntervalKind) -> str:
    """Return the kind of an interval."""
    return one_of("kind", kind, get_args(kinds))


@dataclass(frozen=True, eq=False)
class Unresolved:
    """Half-widths of intervals where the standard error is zero only because all reports that matter are alike.

    Of a proportion of `reports` that is found to be 0 or 1, Wilson's interval (1927) has the width
    `z^2 / (reports + z^2)`; `scale` is the derivative of what is estimated by that proportion. In a table without noise
    (`exact`), possible estimates are the truth.
    """

    reports: Array
    scale: Array
    exact: bool

    def half(self, value: Array, nearest: Array, deviations: float) -> Array:
        """Return the half-width; the distance of an impossible estimate from what is possible comes on top."""
        wilson = self.scale * deviations**2 / (self.reports + deviations**2)
        return np.where(self.exact & (value == nearest), 0, wilson + np.abs(value - nearest))


def possible_interval(
    estimate: tuple[Array, Array], picked: Picked, level: float, ends: tuple[float, float], unresolved: Unresolved
) -> Ends:
    """Return `value +- z se` cut to the `ends`, z of the adjusted level; `estimate` are values and standard errors.

    Around an impossible estimate, as a confidence of 1.3, that may be short or empty. So the interval has at least what
    an unadjusted one around the nearest possible value has, which is nearer to any truth than the estimate. An
    undefined estimate, of a ratio whose denominator is not positive, says nothing: the whole range.

    >>> estimate = np.array([0.9, 1.3, np.nan, 1.0]), np.array([0.1, 0.1, np.nan, 0.0])
    >>> unresolved = Unresolved(np.full(4, 100), np.ones(4), exact=False)
    >>> lower, upper = possible_interval(estimate, Picked(1, 5000), 0.95, (0, 1), unresolved)
    >>> lower.round(3), upper
    (array([0.458, 0.804, 0.   , 0.837]), array([1., 1., 1., 1.]))
    """
    value, error = estimate
    nearest = np.clip(value, *ends)
    half, least = (
        np.where(error == 0, unresolved.half(value, nearest, z), z * error)
        for z in (picked.deviations(level), _deviations(level))
    )
    lower = np.clip(np.minimum(value - half, nearest - least), *ends)
    upper = np.clip(np.maximum(value + half, nearest + least), *ends)
    return np.where(np.isnan(lower), ends[0], lower), np.where(np.isnan(upper), ends[1], upper)


def _deviations(level: float, share: float = 1.0) -> float:
    return -NormalDist().inv_cdf((1 - checked_level(level)) * share / 2)
