"""A set of fixed size that holds the truth more often than any other category."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.channels.set_valued import SetValued, membership
from sottovoce.errors import SottovoceError
from sottovoce.exact import probability


@dataclass(frozen=True)
class SubsetSelection(SetValued):
    """With probability `include` the truth and w - 1 others alike, else w others alike.

    `A[S, x] = include / C(n-1, w-1)` if x is in S, `(1 - include) / C(n-1, w)` if not, for |S| = w.
    The odds are `include (n - w) / ((1 - include) w)`, or the inverse.

    >>> SubsetSelection((6,), 2, Fraction(3, 5)).odds
    Fraction(3, 1)
    """

    shape_in: tuple[int, ...]
    size: int
    include: Fraction

    def __init__(self, shape_in: tuple[int, ...], size: int, include: Any) -> None:
        """Check that sets of this size hold some categories and leave some out."""
        object.__setattr__(self, "shape_in", shape_in)
        object.__setattr__(self, "size", checked_set_size(size, self.n_in))
        object.__setattr__(self, "include", probability("include", include))

    @property
    def inside(self) -> Fraction:
        """Truth."""
        return self.include

    @property
    def outside(self) -> Fraction:
        """The other places of the set, shared among the other categories."""
        return (self.size - self.include) / (self.n_in - 1)

    @property
    def odds(self) -> Fraction | None:
        """A set with the truth against one without."""
        if self.include in (0, 1):
            return None
        ratio = self.include * (self.n_in - self.size) / ((1 - self.include) * self.size)
        return max(ratio, 1 / ratio)

    def worst_case(self) -> tuple[int, int, int]:
        """First categories as the set, against a truth that is the last one."""
        n, w = self.n_in, self.size
        first = (2**w - 1) << (n - w)
        likelier_in = self.include * (n - w) >= (1 - self.include) * w
        return (first, 0, n - 1) if likelier_in else (first, n - 1, 0)

    def entry(self, report: int, truth: int) -> Fraction:
        """Sets of another size never come."""
        n, w = self.n_in, self.size
        if report.bit_count() != w:
            return Fraction(0)
        held = report >> (n - 1 - truth) & 1
        return self.include / comb(n - 1, w - 1) if held else (1 - self.include) / comb(n - 1, w)

    def columns(self) -> Array:
        """Two different entries among the sets of the right size."""
        n, w = self.n_in, self.size
        held = membership(n)
        right = held.sum(axis=0) == w
        with_truth, without = float(self.include) / comb(n - 1, w - 1), float(1 - self.include) / comb(n - 1, w)
        return np.where(right, np.where(held == 1, with_truth, without), 0.0).T

    def overlap(self) -> tuple[float, float]:
        """Count the sets that hold both of two truths, one of them, or neither."""
        n, w = self.n_in, self.size
        a, b = float(self.include) / comb(n - 1, w - 1), float(1 - self.include) / comb(n - 1, w)
        own = comb(n - 1, w - 1) * a**2 + comb(n - 1, w) * b**2
        both, one = comb(n - 2, w - 2) if w > 1 else 0, 2 * comb(n - 2, w - 1)
        return own, both * a**2 + one * a * b + comb(n - 2, w) * b**2

    @classmethod
    def cases(cls) -> Iterator["SubsetSelection"]:
        """Single categories, pairs, large sets, joint truths, saying nothing, certain."""
        yield cls((4,), 1, Fraction(1, 2))
        yield cls((6,), 2, Fraction(3, 5))
        yield cls((5,), 4, Fraction(9, 10))
        yield cls((2, 3), 3, Fraction(1, 2))
        yield cls((4,), 2, 1)


def checked_set_size(size: Any, categories: int) -> int:
    """Size of a reported set: at least one, and less than all categories."""
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size < categories:
        raise SottovoceError("size", f"must be a whole number from 1 to {categories - 1}", size)
    return size
