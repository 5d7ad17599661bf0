"""Independent channels, one for each group of attributes: their Kronecker product, which is never built."""

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

from sottovoce.channels.channel import Channel, checked_axes, checked_vector, kron
from sottovoce.channels.dense import Dense
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.mixture import Mixture
from sottovoce.checks import Array
from sottovoce.errors import SottovoceError

Operation = Literal["matvec", "rmatvec", "solve", "solve_squared"]
Block = tuple[int, Callable[[Array], Array]]
"""Input size and action of neighbouring factors."""

BLOCK_SIZE = 32
"""Neighbouring factors are multiplied out up to this size, to replace several passes over memory by one of BLAS."""


@dataclass(frozen=True)
class Kronecker(Channel):
    """`A = A_1 x ... x A_d`: odds and condition numbers multiply, marginals are products of marginals.

    >>> coin = KeepOrUniform((2,), Fraction(1, 2))
    >>> both = Kronecker([coin, coin])
    >>> both.odds, both.marginal([1]).odds
    (Fraction(9, 1), Fraction(3, 1))
    """

    factors: tuple[Channel, ...] = ()
    shape_in: tuple[int, ...] = field(default=(), repr=False, compare=False)
    shape_out: tuple[int, ...] = field(default=(), repr=False, compare=False)

    def __init__(self, factors: Iterable[Channel]) -> None:
        """Flatten nested products."""
        flat = tuple(part for factor in factors for part in factor.factors)
        if not flat:
            raise SottovoceError("factors", "must be at least one channel", flat)
        object.__setattr__(self, "factors", flat)
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
        """Product of the largest odds of `changes` factors, which is exact if each factor has one attribute.

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
        """Worst cases of all factors together; the numbers of joint cells may exceed 64 bits."""
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
        """Apply each factor along its axis."""
        return self._along(checked_vector("truths", self.n_in, truths), "matvec")

    def rmatvec(self, reports: Any) -> Array:
        """Apply each factor's adjoint along its axis."""
        return self._along(checked_vector("reports", self.n_out, reports), "rmatvec")

    def solve(self, reports: Any) -> Array:
        """Apply each factor's left inverse along its axis."""
        return self._along(checked_vector("reports", self.n_out, reports), "solve")

    def solve_squared(self, reports: Any) -> Array:
        """Apply each factor's squared left inverse along its axis."""
        return self._along(checked_vector("reports", self.n_out, reports), "solve_squared")

    def marginal(self, axes: Sequence[int]) -> Channel:
        """Product of the marginals of the factors that have a kept attribute."""
        kept = checked_axes(axes, len(self.shape_in))
        starts = list(accumulate((len(f.shape_in) for f in self.factors), initial=0))
        local: dict[int, list[int]] = {}
        for axis in kept:
            index = bisect_right(starts, axis) - 1
            local.setdefault(index, []).append(axis - starts[index])
        parts = [self.factors[index].marginal(local[index]) for index in sorted(local)]
        return parts[0] if len(parts) == 1 else Kronecker(parts)

    @property
    def condition_number(self) -> float:
        """Product of the factors' condition numbers."""
        return prod(f.condition_number for f in self.factors)

    def column(self, truth: int) -> Array:
        """Product of the factors' columns."""
        columns = []
        for factor in reversed(self.factors):
            truth, x = divmod(truth, factor.n_in)
            columns.append(factor.column(x))
        return kron(reversed(columns))

    @classmethod
    def cases(cls) -> Iterator["Kronecker"]:
        """Square, rectangular, a factor of several attributes, many bits, a factor with unbounded odds."""
        bit = KeepOrUniform((2,), Fraction(4, 5))
        yield cls([bit, KeepOrUniform((3,), Fraction(2, 5))])
        yield cls([bit, next(c for c in Dense.cases() if c.n_out > c.n_in), bit])
        yield cls([KeepOrUniform((2, 3), Fraction(1, 4)), bit, next(iter(Mixture.cases()))])
        yield cls([bit] * 7)
        yield cls([Dense([[3, 0], [1, 4]], 4), KeepOrUniform((40,), Fraction(1, 3))])

    def _along(self, vector: Array, operation: Operation) -> Array:
        """Apply each block to the leading axis, which then moves to the end, until all axes had their turn."""
        tail = vector.shape[1:]
        for size, apply in self._blocks(operation):
            vector = np.ascontiguousarray(apply(vector.reshape(size, -1)).T)
        return np.ascontiguousarray(vector.reshape(prod(tail), -1).T).reshape(-1, *tail)

    def _blocks(self, operation: Operation) -> list[Block]:
        """Blocks of neighbouring factors, small ones multiplied out."""
        if operation not in self._block_cache:
            self._block_cache[operation] = [_block(run, operation) for run in _runs(self.factors)]
        return self._block_cache[operation]

    @cached_property
    def _block_cache(self) -> dict[Operation, list[Block]]:
        return {}


def _runs(factors: Sequence[Channel]) -> list[list[Channel]]:
    """Split the factors into runs whose product is at most `BLOCK_SIZE`."""
    runs: list[list[Channel]] = [[]]
    for factor in factors:
        extended = [*runs[-1], factor]
        fits = max(prod(f.n_in for f in extended), prod(f.n_out for f in extended)) <= BLOCK_SIZE
        if runs[-1] and not fits:
            runs.append([factor])
        else:
            runs[-1] = extended
    return runs


def _block(run: Sequence[Channel], operation: Operation) -> Block:
    sizes = [f.n_in if operation == "matvec" else f.n_out for f in run]
    actions: list[Callable[[Any], Array]] = [getattr(f, operation) for f in run]
    if len(run) == 1:
        return sizes[0], actions[0]
    matrix = kron(act(np.eye(size)) for act, size in zip(actions, sizes, strict=True))
    return prod(sizes), partial(np.matmul, matrix)
