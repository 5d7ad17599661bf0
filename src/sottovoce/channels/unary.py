"""Unary encoding: a category coded as one bit among n, and every bit kept or flipped."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sottovoce.channels.channel import kron
from sottovoce.channels.set_valued import SetValued
from sottovoce.checks import Array, whole_number
from sottovoce.exact import probability


@dataclass(frozen=True)
class Unary(SetValued):
    """The bit of the truth is reported as 1 with probability `one`, that of any other category with `zero`.

    `A[S, x] = prod_j P(j in S | x)`; with two or more categories the odds are
    `one (1 - zero) / (zero (1 - one))`, or the inverse.

    >>> Unary(3, Fraction(1, 2), Fraction(1, 4)).odds
    Fraction(3, 1)
    """

    shape_in: tuple[int, ...]
    one: Fraction
    zero: Fraction

    def __init__(self, categories: int, one: Any, zero: Any) -> None:
        """Check the number of categories and both probabilities."""
        object.__setattr__(self, "shape_in", (whole_number("categories", categories, least=2),))
        object.__setattr__(self, "one", probability("one", one))
        object.__setattr__(self, "zero", probability("zero", zero))

    @property
    def inside(self) -> Fraction:
        """Probability that the truth is in the set."""
        return self.one

    @property
    def outside(self) -> Fraction:
        """Probability that another category is in the set."""
        return self.zero

    @property
    def odds(self) -> Fraction | None:
        """Two truths differ in two bits: the product of both bits' ratios."""
        same, swapped = self.one * (1 - self.zero), self.zero * (1 - self.one)
        if self.one == self.zero:
            return Fraction(1)
        return None if 0 in (same, swapped) else max(same / swapped, swapped / same)

    def worst_case(self) -> tuple[int, int, int]:
        """Set of the first category alone, for that and another category as the truth."""
        alone = 1 << (self.n_in - 1)
        return (alone, 0, 1) if self.one > self.zero else (alone, 1, 0)

    def entry(self, report: int, truth: int) -> Fraction:
        """Product over the bits of the report."""
        product = Fraction(1)
        for category in range(self.n_in):
            chance = self.one if category == truth else self.zero
            contained = report >> (self.n_in - 1 - category) & 1
            product *= chance if contained else 1 - chance
        return product

    def columns(self) -> Array:
        """Products of the distributions of the bits."""
        truth, other = ([1 - float(chance), float(chance)] for chance in (self.one, self.zero))
        bits = [[np.array(truth if j == x else other) for j in range(self.n_in)] for x in range(self.n_in)]
        return np.stack([kron(column) for column in bits], axis=1)

    def overlap(self) -> tuple[float, float]:
        """Bit by bit: `<a, b> = a_0 b_0 + a_1 b_1`, multiplied."""
        one, zero = float(self.one), float(self.zero)
        ones, zeros = one**2 + (1 - one) ** 2, zero**2 + (1 - zero) ** 2
        mixed = one * zero + (1 - one) * (1 - zero)
        return ones * zeros ** (self.n_in - 1), mixed**2 * zeros ** (self.n_in - 2)

    @classmethod
    def cases(cls) -> Iterator["Unary"]:
        """Symmetric, optimised, mostly flipped, uninformative, one-sided."""
        yield cls(3, Fraction(3, 4), Fraction(1, 4))
        yield cls(5, Fraction(1, 2), Fraction(1, 4))
        yield cls(2, Fraction(1, 5), Fraction(3, 5))
        yield cls(3, Fraction(1, 3), Fraction(1, 3))
        yield cls(3, Fraction(1, 2), 0)
