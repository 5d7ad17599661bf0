"""Keep the truth or report a uniform value: Warner, uniform perturbation, gamma-diagonal, k-ary randomized response."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.channels.channel import Channel, checked_axes, checked_shape, checked_vector, ratio
from sottovoce.checks import Array
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.exact import fraction


@dataclass(frozen=True)
class KeepOrUniform(Channel):
    """`A = keep I + (1 - keep) / n 1 1^T` over the n joint cells of `shape_in`.

    `keep` may be negative, down to -1/(n-1), where the truth is never reported. Marginals have the same `keep` (FRAPP,
    Agrawal 2004, eq. 4.28), the odds are `1 + n keep / (1 - keep)`, the condition number is `1 / |keep|`.

    >>> channel = KeepOrUniform((2, 3), Fraction(1, 2))
    >>> channel.odds, channel.marginal([1]).odds
    (Fraction(7, 1), Fraction(4, 1))
    """

    shape_in: tuple[int, ...]
    keep: Fraction

    def __init__(self, shape_in: Iterable[int], keep: Any) -> None:
        """Check that the entries are probabilities."""
        object.__setattr__(self, "shape_in", checked_shape(shape_in))
        object.__setattr__(self, "keep", fraction("keep", keep))
        if not self.keep * max(self.n_in - 1, 1) >= -1 or self.keep > 1:
            raise SottovoceError("keep", f"must be between -1/{self.n_in - 1} and 1", keep)

    @property
    def odds(self) -> Fraction | None:
        """Diagonal over off-diagonal entry, or the inverse if that is larger."""
        diagonal, other = self.keep + self._noise, self._noise
        low, high = sorted((diagonal, other)) if self.n_in > 1 else (diagonal, diagonal)
        return None if low == 0 else high / low

    def worst_case(self) -> tuple[int, int, int]:
        """Any report: most likely if it is the truth, or least likely if `keep` is negative."""
        other = min(1, self.n_in - 1)
        return (0, 0, other) if self.keep >= 0 else (0, other, 0)

    def entry(self, report: int, truth: int) -> Fraction:
        """Diagonal or off-diagonal entry."""
        return self._noise + (self.keep if report == truth else 0)

    def matvec(self, truths: Any) -> Array:
        """Shrink towards the uniform distribution: O(n)."""
        return self._shrink(checked_vector("truths", self.n_in, truths))

    def rmatvec(self, reports: Any) -> Array:
        """The same operator: the matrix is symmetric."""
        return self._shrink(checked_vector("reports", self.n_out, reports))

    def solve(self, reports: Any) -> Array:
        """Subtract the uniform part and rescale: O(n)."""
        vector = checked_vector("reports", self.n_out, reports)
        self._check_identified()
        return np.asarray((vector - float(self._noise) * vector.sum(axis=0)) / float(self.keep))

    def solve_squared(self, reports: Any) -> Array:
        """`((1 - 2 u) r + u^2 sum r) / keep^2` with the off-diagonal entry u: O(n)."""
        vector = checked_vector("reports", self.n_out, reports)
        self._check_identified()
        noise = float(self._noise)
        return np.asarray(((1 - 2 * noise) * vector + noise**2 * vector.sum(axis=0)) / float(self.keep) ** 2)

    def second_moments(self, distribution: Array) -> Array:
        """Those of plain inversion: O(n)."""
        return self.solve_squared(self.matvec(distribution))

    @property
    def replacement(self) -> tuple[float, tuple[Array, ...]]:
        """`keep`, and uniform distributions."""
        return float(self.keep), tuple(np.full(size, 1 / size) for size in self.shape_in)

    def marginal(self, axes: Sequence[int]) -> "KeepOrUniform":
        """Same `keep`, over fewer attributes."""
        kept = checked_axes(axes, len(self.shape_in))
        if len(kept) == len(self.shape_in):
            return self
        return KeepOrUniform((self.shape_in[a] for a in kept), self.keep)

    @property
    def condition_number(self) -> float:
        """The eigenvalues are 1 (once) and keep."""
        return ratio(1.0, abs(float(self.keep))) if self.n_in > 1 else 1.0

    @classmethod
    def cases(cls) -> Iterator["KeepOrUniform"]:
        """One attribute, several, uninformative, one category, noiseless, with a negative `keep`."""
        yield cls((7,), Fraction(3, 10))
        yield cls((2, 3, 4), Fraction(1, 4))
        yield cls((3,), 0)
        yield cls((1,), Fraction(1, 2))
        yield cls((2, 2), 1)
        yield cls((4,), Fraction(-1, 5))
        yield cls((2, 2), Fraction(-1, 3))

    def _check_identified(self) -> None:
        if self.keep == 0:
            raise SingularChannelError("keep", "must not be 0 for truths to be estimated from reports", 0)

    def _shrink(self, vector: Array) -> Array:
        return np.asarray(float(self.keep) * vector + float(self._noise) * vector.sum(axis=0))

    @cached_property
    def _noise(self) -> Fraction:
        """Probability of each other value."""
        return (1 - self.keep) / self.n_in
