"""Independent channels side by side, one a group of attributes; the product is never built."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from heapq import nlargest
from itertools import accumulate
from math import prod
from typing import Any, Literal

import numpy as np

from sottovoce.channels.channel import Array, Channel, checked_axes, checked_vector, kron
from sottovoce.channels.dense import Dense
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.mixture import Mixture
from sottovoce.errors import SottovoceError

Operation = Literal["matvec", "rmatvec", "solve", "solve_squared"]

BLOCK = 32
"""Neighbouring factors are multiplied out up to this size: one pass of BLAS instead of several over memory."""


@dataclass(frozen=True)
class Kronecker(Channel):
    """`A = A_1 x ... x A_d`: odds and condition numbers multiply, marginals are products of marginals.

    >>> coin = KeepOrUniform((2,), Fraction(1, 2))
    >>> both = Kronecker([coin, coin])
    >>> both.odds, both.marginal([1]).odds
    (Fraction(9, 1), Fraction(3, 1))
    """

    factors: tuple[Channel, ...]
    shape_in: tuple[int, ...] = field(repr=False, compare=False)
    shape_out: tuple[int, ...] = field(default=(), repr=False, compare=False)

    def __init__(self, factors: Iterable[Channel]) -> None:
        """Flatten products of products."""
        flat: list[Channel] = []
        for factor in factors:
            flat.extend(factor.factors if isinstance(factor, Kronecker) else [factor])
        if not flat:
            raise SottovoceError("factors", "must be at least one channel", flat)
        object.__setattr__(self, "factors", tuple(flat))
        object.__setattr__(self, "shape_in", tuple(size for f in flat for size in f.shape_in))
        object.__setattr__(self, "shape_out", tuple(size for f in flat for size in f.shape_out))

    @property
    def odds(self) -> Fraction | None:
        """Product of the factors' odds."""
        worst = Fraction(1)
        for factor in self.factors:
            if factor.odds is None:
                return None
            worst *= factor.odds
        return worst

    def odds_within(self, changes: int) -> Fraction | None:
        """Product of the largest odds of so many factors: for items with coins of their own, exact.

        >>> item = Dense([[3, 1], [1, 3]], 4)
        >>> Kronecker([item] * 1000).odds_within(2)
        Fraction(9, 1)
        """
        within = [factor.odds_within(changes) for factor in self.factors]
        bounded = [odds for odds in within if odds is not None]
        if len(bounded) < len(within):
            return None
        return prod(nlargest(changes, bounded), start=Fraction(1))

    def worst_case(self) -> tuple[int, int, int]:
        """Worst cases of all factors at once; the numbers of joint cells outgrow 64 bits."""
        report = most = least = 0
        for factor in self.factors:
            y, high, low = factor.worst_case()
            report = report * factor.n_out + y
            most, least = most * factor.n_in + high, least * factor.n_in + low
        return report, most, least

    def entry(self, report: int, truth: int) -> Fraction:
        """Product of the factors' entries."""
        product = Fraction(1)
        for factor in reversed(self.factors):
            report, y = divmod(report, factor.n_out)
            truth, x = divmod(truth, factor.n_in)
            product *= factor.entry(y, x)
        return product

    def matvec(self, truths: Any) -> Array:
        """Apply each factor along its own axis."""
        return self._along(checked_vector("truths", self.n_in, truths), "matvec")

    def rmatvec(self, reports: Any) -> Array:
        """Apply each factor's adjoint along its own axis."""
        return self._along(checked_vector("reports", self.n_out, reports), "rmatvec")

    def solve(self, reports: Any) -> Array:
        """Undo each factor along its own axis."""
        return self._along(checked_vector("reports", self.n_out, reports), "solve")

    def solve_squared(self, reports: Any) -> Array:
        """Squares of a product are the product of squares."""
        return self._along(checked_vector("reports", self.n_out, reports), "solve_squared")

    def marginal(self, axes: Sequence[int]) -> Channel:
        """Product of the marginals of those factors that keep an attribute."""
        kept = checked_axes(axes, len(self.shape_in))
        starts = list(accumulate((len(f.shape_in) for f in self.factors), initial=0))
        local: dict[int, list[int]] = {}
        for axis in kept:
            place = bisect_right(starts, axis) - 1
            local.setdefault(place, []).append(axis - starts[place])
        parts = [self.factors[place].marginal(local[place]) for place in sorted(local)]
        return parts[0] if len(parts) == 1 else Kronecker(parts)

    @property
    def condition_number(self) -> float:
        """Product of the factors' condition numbers."""
        return prod(f.condition_number for f in self.factors)

    def column(self, truth: int) -> Array:
        """Product of the factors' columns."""
        codes = []
        for factor in reversed(self.factors):
            truth, x = divmod(truth, factor.n_in)
            codes.append(factor.column(x))
        return kron(reversed(codes))

    @classmethod
    def cases(cls) -> Iterator["Kronecker"]:
        """Square, rectangular, a joint factor, many bits, one factor that is not deniable."""
        bit = KeepOrUniform((2,), Fraction(4, 5))
        yield cls([bit, KeepOrUniform((3,), Fraction(2, 5))])
        yield cls([bit, next(c for c in Dense.cases() if c.n_out > c.n_in), bit])
        yield cls([KeepOrUniform((2, 3), Fraction(1, 4)), bit, next(iter(Mixture.cases()))])
        yield cls([bit] * 7)
        yield cls([Dense([[3, 0], [1, 4]], 4), KeepOrUniform((40,), Fraction(1, 3))])

    def _along(self, vector: Array, operation: Operation) -> Array:
        """Cycle through the axes: each block acts on the leading axis, which then moves to the end."""
        tail = vector.shape[1:]
        for size, apply in self._blocks(operation):
            done = apply(vector.reshape(size, -1))
            vector = np.ascontiguousarray(done.T)
        return np.ascontiguousarray(vector.reshape(prod(tail), -1).T).reshape(-1, *tail)

    def _blocks(self, operation: Operation) -> list[tuple[int, Callable[[Array], Array]]]:
        """Size and action of each run of neighbouring factors, small ones multiplied out."""
        if operation not in self._memory:
            runs = _runs(self.factors)
            self._memory[operation] = [_block(run, operation) for run in runs]
        return self._memory[operation]

    @cached_property
    def _memory(self) -> dict[Operation, list[tuple[int, Callable[[Array], Array]]]]:
        return {}


def _runs(factors: Sequence[Channel]) -> list[list[Channel]]:
    """Cut into runs whose product stays within a block."""
    runs: list[list[Channel]] = [[]]
    for factor in factors:
        extended = [*runs[-1], factor]
        fits = max(prod(f.n_in for f in extended), prod(f.n_out for f in extended)) <= BLOCK
        if runs[-1] and not fits:
            runs.append([factor])
        else:
            runs[-1] = extended
    return runs


def _block(run: Sequence[Channel], operation: Operation) -> tuple[int, Callable[[Array], Array]]:
    sizes = [f.n_in if operation == "matvec" else f.n_out for f in run]
    actions: list[Callable[[Any], Array]] = [getattr(f, operation) for f in run]
    if len(run) == 1:
        return sizes[0], actions[0]
    matrix = kron(act(np.eye(size)) for act, size in zip(actions, sizes, strict=True))
    return prod(sizes), partial(np.matmul, matrix)
