"""A published number or claim beside ours, and the verdict that follows from it.

A printed number stands for all numbers that are printed so, and ours is known up to its Monte-Carlo error, at 99 %
confidence. The verdict is `reproduced` if every number that ours may be is printed so, `differs` if none is, and `too
few runs to tell` otherwise. There is no other tolerance. Claims in words are computed, and judged likewise.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from math import hypot, inf, sqrt
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

LEVEL = 0.99
"""Confidence in every statement about a simulated number."""

Verdict = Literal["reproduced", "differs", "too few runs to tell", "claim holds", "claim fails"]
Known = bool | None
"""Whether something is true; None where there are too few runs to tell."""


@dataclass(frozen=True)
class Printed:
    """A number as it is printed; `decimals` if trailing zeros were dropped, `cut` if digits were, instead of rounded.

    >>> Printed("0.0001").ends
    (5e-05, 0.00015)
    >>> Printed("6", decimals=2, cut=True).ends
    (6.0, 6.01)
    """

    text: str
    decimals: int | None = None
    cut: bool = False

    @property
    def value(self) -> float | int:
        """The number: whole if it is printed so."""
        return float(self.text) if "." in self.text or self.decimals else int(self.text)

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest number that is printed so."""
        exact = Decimal(self.text)
        places = max(0, -int(exact.as_tuple().exponent)) if self.decimals is None else self.decimals
        unit = Decimal(1).scaleb(-places)
        low, high = (Decimal(0), unit) if self.cut else (-unit / 2, unit / 2)
        return float(exact + low), float(exact + high)


@dataclass(frozen=True)
class Measured:
    """A number of ours, its Monte-Carlo standard error (0 if it was computed), and the number of runs.

    >>> round(Measured.mean_of([1.0, 2.0, 3.0]).error, 3)
    0.577
    >>> Measured(1.0).below(Measured(2.0)), Measured(1.0, error=1.0, runs=9).below(Measured(2.0))
    (True, None)
    """

    value: float
    error: float = 0.0
    runs: int | None = None
    limits: tuple[float, float] | None = None
    """Confidence limits where they are not Student's."""

    @classmethod
    def mean_of(cls, samples: Any, within: tuple[float, float] | None = None) -> "Measured":
        """Mean over runs; masked ones are left out. One run, or few that are equal, tell nothing about its error.

        Of numbers `within` a range they tell something: other values are not more frequent than would let n equal ones
        happen, and lie within the range.

        >>> [round(end, 1) for end in Measured.mean_of([0.0] * 20, within=(0, 100)).ends]
        [0.0, 23.3]
        """
        known = np.ma.masked_invalid(samples).compressed()
        error = float(known.std(ddof=1)) / sqrt(len(known)) if len(known) > 1 else 0.0
        unknown = error == 0 and not _enough_equal(len(known))
        mean = float(known.mean()) if len(known) else float("nan")
        if unknown and within is not None and len(known):
            others = 1 - ((1 - LEVEL) / 2) ** (1 / len(known))
            low, high = (mean + others * (end - mean) for end in within)
            return cls(mean, 0.0, len(known), (low, high))
        return cls(mean, inf if unknown else error, len(known))

    @classmethod
    def share_of(cls, successes: Any) -> "Measured":
        """Share of runs that succeed; its error is that of one more success and failure, so that it is never 0."""
        count, runs = int(np.sum(successes)), len(successes)
        smoothed = (count + 1) / (runs + 2)
        return cls(count / runs, sqrt(smoothed * (1 - smoothed) / runs), runs)

    @classmethod
    def variance_of(cls, value: float, runs: int) -> "Measured":
        """Variance over runs, that of normal ones: its limits are those of the chi-squared distribution."""
        low, high = ((runs - 1) * value / _chi_squared(runs, tail) for tail in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
        return cls(value, value * sqrt(2 / (runs - 1)), runs, (low, high))

    @property
    def ends(self) -> tuple[float, float]:
        """Confidence limits: Student's, if no others are given."""
        if self.limits is not None:
            return self.limits
        if self.error == 0 or self.runs is None:
            return self.value, self.value
        margin = _student(self.runs) * self.error if self.error < inf else inf
        return self.value - margin, self.value + margin

    def distance(self, other: "Measured | float") -> "Measured":
        """How far it is from another one, of runs of its own."""
        there = other if isinstance(other, Measured) else Measured(other)
        known = [runs for runs in (self.runs, there.runs) if runs is not None]
        return Measured(abs(self.value - there.value), hypot(self.error, there.error), min(known, default=None))

    def below(self, other: "Measured | float") -> Known:
        """Whether the number is below another one, if the limits of both leave no doubt.

        Limits of a difference are made from those of both numbers (Zou & Donner 2008).
        """
        there = other if isinstance(other, Measured) else Measured(other)
        less, first, second = self.value < there.value, self.ends, there.ends
        near = (
            (first[1] - self.value, there.value - second[0])
            if less
            else (self.value - first[0], second[1] - there.value)
        )
        doubt = hypot(*near)
        return less if doubt == 0 or abs(self.value - there.value) > doubt else None

    def reaches(self, other: "Measured | float") -> Known:
        """Whether the number is not below another one."""
        less = self.below(other)
        return None if less is None else not less

    def __str__(self) -> str:
        """With its limits, where there are some."""
        low, high = self.ends
        if low == high:
            return f"{self.value:.5g}"
        if self.limits is None:
            return f"{self.value:.5g} +- {high - self.value:.2g}"
        return f"{self.value:.5g} ({low:.2g} to {high:.2g})"


@dataclass(frozen=True)
class Row:
    """What was printed or what a reference of our own says, ours with its standard error, the verdict and its reason.

    `published` holds only what the paper prints. Exactly one of `published` and `reference` is given.
    """

    name: str
    published: float | int | str | None
    ours: float | int | str | None
    verdict: Verdict
    reason: str
    reference: float | int | str | None = None
    error: float | None = None
    runs: int | None = None

    def to_json(self) -> dict[str, Any]:
        """All columns."""
        keys = ("name", "published", "reference", "ours", "error", "runs", "verdict", "reason")
        return {key: getattr(self, key) for key in keys}

    def of_short_search(self, done: int, whole: int, *, improves: bool = True) -> "Row":
        """The same row from a search that made `done` of `whole` generations.

        What it has found will stay found if more of it only `improves` on that; anything else cannot be told.
        """
        if done >= whole or (improves and self.verdict == "claim holds"):
            return self
        reason = f"{done} of {whole} generations. {self.reason}".rstrip(". ")
        return replace(self, verdict="too few runs to tell", reason=reason)

    def as_reference(self) -> "Row":
        """The same row about a number that is ours and not the paper's."""
        return replace(self, published=None, reference=self.published)


def compare(name: str, printed: Printed, ours: Measured | float, why: str = "") -> Row:
    """Row of a printed number; `why` is the reason of a difference that was found by investigation.

    >>> compare("g", Printed("0.2507"), 0.25068).verdict
    'reproduced'
    >>> compare("g", Printed("0.2507"), 0.2509).reason
    'ours is above: 0.2507 stands for 0.25065 to 0.25075'
    """
    number = ours if isinstance(ours, Measured) else Measured(ours)
    low, high = printed.ends
    least, most = number.ends
    return _row(
        name, printed, number, inside=low <= least <= most <= high, below=most < low, above=least > high, why=why
    )


def compare_draw(name: str, printed: Printed, samples: Any, *, of: int = 1, numbers: int = 1, why: str = "") -> Row:
    """Row of a printed number that is itself the mean of `of` random runs, ours being `samples` of such runs.

    It could be another of ours if it is within Student's prediction limits, or between the least and the largest of
    ours: shares of a few itemsets are nothing like normal. The limits hold for all `numbers` of a table together
    (Bonferroni). It is sure to be within the limits that arbitrarily many runs would give if it is within what is left
    of the normal ones after the doubt about our mean and deviation, or between two of ours.
    """
    known = np.ma.masked_invalid(samples).compressed()
    ours = Measured.mean_of(known)
    outer, inner = _half_ranges(known, of, numbers)
    extremes = of == 1 and len(known) > 0
    lowest, highest = (float(known.min()), float(known.max())) if extremes else (ours.value, ours.value)
    low, high = printed.ends
    inside = low <= max(highest, ours.value + inner) and min(lowest, ours.value - inner) <= high and len(known) > 1
    below, above = max(highest, ours.value + outer) < low, min(lowest, ours.value - outer) > high
    one = "a run" if of == 1 else f"a mean of {of} runs"
    limits = f"{one} has {ours.value - outer:.5g} to {ours.value + outer:.5g}" if outer < inf else "no limits are known"
    seen = f", ours have {lowest:.5g} to {highest:.5g}" if extremes else ""
    return _row(name, printed, ours, inside=inside, below=below, above=above, why=why, spread=limits + seen)


def claim(name: str, words: str, ours: float | int | str, holds: Known, reason: str = "") -> Row:
    """Row of a claim that the paper makes in words: `holds` is computed; `reason` says how the words were read.

    >>> claim("range", "wider than Warner's", "wider", holds=True).verdict
    'claim holds'
    """
    verdicts: dict[Known, Verdict] = {True: "claim holds", False: "claim fails", None: "too few runs to tell"}
    return Row(name, words, ours, verdicts[None if holds is None else bool(holds)], reason)


def all_of(statements: Iterable[Known]) -> Known:
    """Whether all statements are true: not if one is surely false, unknown if one is, otherwise they are.

    >>> all_of([True, None]), all_of([False, None]), all_of([True])
    (None, False, True)
    """
    every = list(statements)
    if any(holds is not None and not holds for holds in every):
        return False
    return None if None in every else True


def unanimous(runs: Iterable[bool]) -> Known:
    """Whether something is so in every run of a random search, or in none; unknown where runs disagree.

    >>> unanimous([True, True]), unanimous([False, False]), unanimous([True, False])
    (True, False, None)
    """
    seen = {bool(run) for run in runs}
    return seen.pop() if len(seen) == 1 else None


def _row(
    name: str,
    printed: Printed,
    ours: Measured,
    *,
    inside: bool,
    below: bool,
    above: bool,
    why: str,
    spread: str = "",
) -> Row:
    """Verdict and reason in one place."""
    low, high = printed.ends
    exactly = isinstance(printed.value, int) and ours.value == printed.value and not ours.error
    stands = "equal" if exactly else f"{printed.text} stands for {low:.7g} to {high:.7g}"
    about = "; ".join(filter(None, [stands, spread or (f"ours is {ours}" if ours.error else "")]))
    verdict: Verdict = "too few runs to tell"
    if below or above:
        verdict, about = "differs", f"ours is {'below' if below else 'above'}: {about}"
    elif inside:
        verdict = "reproduced"
    said = f"{about}. {why}" if why and verdict == "differs" else about
    error = ours.error if ours.runs is not None and ours.error < inf else None
    value = int(ours.value) if isinstance(printed.value, int) and float(ours.value).is_integer() else ours.value
    return Row(name, printed.value, value, verdict, said, error=error, runs=ours.runs)


def _half_ranges(known: Any, of: int, numbers: int) -> tuple[float, float]:
    """Student's prediction limits for a mean of `of` runs, and what they surely keep with arbitrarily many runs."""
    runs = len(known)
    if runs < 2:
        return inf, 0.0
    deviation, tail = float(known.std(ddof=1)), (1 - LEVEL) / (2 * numbers)
    if deviation == 0:
        return (0.0 if _enough_equal(runs) else inf), 0.0
    outer = _student(runs, tail) * deviation * sqrt(1 / of + 1 / runs)
    least = deviation * sqrt((runs - 1) / _chi_squared(runs, (1 - LEVEL) / 2))
    inner = -NormalDist().inv_cdf(tail) * least / sqrt(of) - _student(runs) * deviation / sqrt(runs)
    return outer, inner


def _enough_equal(runs: int) -> bool:
    """Whether so many equal runs make another value unlikely: one of n + 1 is extreme with probability 2 / (n + 1)."""
    return 2 / (runs + 1) <= 1 - LEVEL


@cache
def _student(runs: int, tail: float = (1 - LEVEL) / 2) -> float:
    from scipy.stats import t

    return float(t.isf(tail, runs - 1))


@cache
def _chi_squared(runs: int, tail: float) -> float:
    from scipy.stats import chi2

    return float(chi2.isf(tail, runs - 1))
