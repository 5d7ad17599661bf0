"""Report a set of fixed size that contains the truth more often than any other category."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from sottovoce.channels.set_valued import SetValued, membership
from sottovoce.checks import Array, whole_number
from sottovoce.exact import probability


@dataclass(frozen=True)
class SubsetSelection(SetValued):
    """A set of `size` w: with probability `include` the truth and w - 1 uniform others, else w uniform others.

    `A[S, x] = include / C(n-1, w-1)` if x is in S, `(1 - include) / C(n-1, w)` if not, for |S| = w.
    The odds are `include (n - w) / ((1 - include) w)`, or the inverse.

    >>> SubsetSelection((6,), 2, Fraction(3, 5)).odds
    Fraction(3, 1)
    """

    shape_in: tuple[int, ...]
    size: int
    include: Fraction

    def __init__(self, shape_in: tuple[int, ...], size: int, include: Any) -> None:
        """Check that sets of this size contain some categories and leave some out."""
        object.__setattr__(self, "shape_in", shape_in)
        object.__setattr__(self, "size", whole_number("size", size, most=self.n_in - 1))
        object.__setattr__(self, "include", probability("include", include))

    @property
    def inside(self) -> Fraction:
        """Probability that the truth is in the set."""
        return self.include

    @property
    def outside(self) -> Fraction:
        """Probability that another category is in the set: w - include members, shared among n - 1 categories."""
        return (self.size - self.include) / (self.n_in - 1)

    @property
    def odds(self) -> Fraction | None:
        """Odds of a set with the truth against one without it, or the inverse."""
        if self.include in (0, 1):
            return None
        ratio = self.include * (self.n_in - self.size) / ((1 - self.include) * self.size)
        return max(ratio, 1 / ratio)

    @property
    def gains_by_weighting(self) -> bool:
        """No: the estimate from inclusions has the least variance for uniform truths."""
        return False

    def worst_case(self) -> tuple[int, int, int]:
        """Set of the first categories, for the first and the last category as the truth."""
        n, w = self.n_in, self.size
        first = (2**w - 1) << (n - w)
        likelier_in = self.include * (n - w) >= (1 - self.include) * w
        return (first, 0, n - 1) if likelier_in else (first, n - 1, 0)

    def entry(self, report: int, truth: int) -> Fraction:
        """Depends on whether the truth is in the set; zero for sets of another size."""
        n, w = self.n_in, self.size
        if report.bit_count() != w:
            return Fraction(0)
        contained = report >> (n - 1 - truth) & 1
        return self.include / comb(n - 1, w - 1) if contained else (1 - self.include) / comb(n - 1, w)

    def columns(self) -> Array:
        """Distribution of the set for each truth."""
        n, w = self.n_in, self.size
        members = membership(n)
        possible = members.sum(axis=0) == w
        with_truth, without = float(self.include) / comb(n - 1, w - 1), float(1 - self.include) / comb(n - 1, w)
        return np.where(possible, np.where(members == 1, with_truth, without), 0.0).T

    def overlap(self) -> tuple[float, float]:
        """Sums over the sets that contain both of two truths, one of them, or neither."""
        n, w = self.n_in, self.size
        a, b = float(self.include) / comb(n - 1, w - 1), float(1 - self.include) / comb(n - 1, w)
        same = comb(n - 1, w - 1) * a**2 + comb(n - 1, w) * b**2
        both, one = comb(n - 2, w - 2) if w > 1 else 0, 2 * comb(n - 2, w - 1)
        return same, both * a**2 + one * a * b + comb(n - 2, w) * b**2

    @classmethod
    def cases(cls) -> Iterator["SubsetSelection"]:
        """Single categories, pairs, large sets, joint truths, the truth always included."""
        yield cls((4,), 1, Fraction(1, 2))
        yield cls((6,), 2, Fraction(3, 5))
        yield cls((5,), 4, Fraction(9, 10))
        yield cls((2, 3), 3, Fraction(1, 2))
        yield cls((4,), 2, 1)
