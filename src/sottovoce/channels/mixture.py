"""Report the truth or a draw from a known distribution: the unrelated question."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from sottovoce.channels.channel import Channel, checked_axes, checked_shape, checked_vector, kron, ratio
from sottovoce.checks import Array
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.exact import distribution, probability
from sottovoce.schemas.attribute import check_domain

Distribution = tuple[Fraction, ...]
"""Exact probabilities that sum to one."""


@dataclass(frozen=True)
class Mixture(Channel):
    """`A = keep I + (1 - keep) known 1^T` over the joint cells of `shape_in`.

    `known` is one distribution for each attribute, drawn independently, or a single one over the joint cells. The odds
    are `1 + keep / ((1 - keep) min known)`: a report that the known distribution never makes proves its truth.

    >>> Mixture((2,), Fraction(1, 2), [[Fraction(1, 2), Fraction(1, 2)]]).odds
    Fraction(3, 1)
    """

    shape_in: tuple[int, ...]
    keep: Fraction
    known: tuple[Distribution, ...]

    def __init__(self, shape_in: Iterable[int], keep: Any, known: Iterable[Iterable[Any]]) -> None:
        """Check that `keep` is a probability, and each distribution's length and sum."""
        sizes = checked_shape(shape_in)
        distributions = tuple(distribution("known", given) for given in known)
        lengths = tuple(map(len, distributions))
        if lengths not in (sizes, (prod(sizes),)):
            raise SottovoceError("known", f"must have lengths {sizes}, or one list of {prod(sizes)}", lengths)
        object.__setattr__(self, "shape_in", sizes)
        object.__setattr__(self, "keep", probability("keep", keep))
        object.__setattr__(self, "known", distributions)

    @property
    def odds(self) -> Fraction | None:
        """Odds of the report that the known distribution makes least often."""
        rarest = prod(min(known) for known in self.known) * (1 - self.keep)
        if self.keep == 0 or self.n_in == 1:
            return Fraction(1)
        return None if rarest == 0 else 1 + self.keep / rarest

    def worst_case(self) -> tuple[int, int, int]:
        """Report that the known distribution makes least often, if it is the truth and if another value is.

        If `keep` is 0 all truths have the same reports, and the report is the one made most often.
        """
        extreme = min if self.keep else max
        report = 0
        for known in self.known:
            report = report * len(known) + known.index(extreme(known))
        return report, report, (0 if report else min(1, self.n_in - 1))

    def entry(self, report: int, truth: int) -> Fraction:
        """Probability that the truth is kept plus probability that the report is drawn."""
        kept = self.keep if report == truth else 0
        drawn = 1 - self.keep
        for known in reversed(self.known):
            report, code = divmod(report, len(known))
            drawn *= known[code]
        return kept + drawn

    def matvec(self, truths: Any) -> Array:
        """Mix with the known distribution: O(n)."""
        vector = checked_vector("truths", self.n_in, truths)
        return np.asarray(float(self.keep) * vector + self._noise(vector.sum(axis=0)))

    def rmatvec(self, reports: Any) -> Array:
        """Mix the function's value at the truth with its mean under the known distribution: O(n)."""
        vector = checked_vector("reports", self.n_out, reports)
        mean = np.tensordot(self._joint, vector, axes=1)
        return np.asarray(float(self.keep) * vector + float(1 - self.keep) * mean)

    def solve(self, reports: Any) -> Array:
        """Subtract the known noise: `(r - (1 - keep) known sum r) / keep`."""
        vector = checked_vector("reports", self.n_out, reports)
        self._check_identified()
        return np.asarray((vector - self._noise(vector.sum(axis=0))) / float(self.keep))

    def solve_squared(self, reports: Any) -> Array:
        """`((1 - 2 u) r + u^2 sum r) / keep^2` with the noise `u = (1 - keep) known`: O(n)."""
        vector = checked_vector("reports", self.n_out, reports)
        self._check_identified()
        noise = np.multiply.outer(float(1 - self.keep) * self._joint, np.ones(vector.shape[1:]))
        return np.asarray(((1 - 2 * noise) * vector + noise**2 * vector.sum(axis=0)) / float(self.keep) ** 2)

    @property
    def replacement(self) -> tuple[float, tuple[Array, ...]]:
        """`keep` and the known distributions."""
        return float(self.keep), self._known

    def marginal(self, axes: Sequence[int]) -> "Mixture":
        """Same `keep`, with the marginal of the known distribution."""
        kept = checked_axes(axes, len(self.shape_in))
        shape = tuple(self.shape_in[a] for a in kept)
        if len(self.known) == len(self.shape_in):
            return Mixture(shape, self.keep, (self.known[a] for a in kept))
        dropped = tuple(a for a in range(len(self.shape_in)) if a not in kept)
        table = np.array(self.known[0], dtype=object).reshape(self.shape_in)
        return Mixture(shape, self.keep, [table.sum(axis=dropped).ravel().tolist()])

    @property
    def condition_number(self) -> float:
        """Ratio of singular values, from a 2 x 2 problem: the operator is keep I plus a rank-one matrix."""
        return _condition_of_rank_one_update(float(self.keep), float(1 - self.keep), self._joint)

    @classmethod
    def cases(cls) -> Iterator["Mixture"]:
        """One attribute, several, a joint distribution, one with zeros, uninformative."""
        half, third = Fraction(1, 2), Fraction(1, 3)
        yield cls((3,), Fraction(2, 5), [[half, third, Fraction(1, 6)]])
        yield cls((2, 3), Fraction(3, 10), [[half, half], [third, third, third]])
        yield cls((2, 2), half, [[Fraction(k, 10) for k in (1, 2, 3, 4)]])
        yield cls((3,), half, [[half, half, 0]])
        yield cls((2,), 0, [[half, half]])

    @cached_property
    def _known(self) -> tuple[Array, ...]:
        return tuple(np.array([float(v) for v in known]) for known in self.known)

    @cached_property
    def _joint(self) -> Array:
        """Known distribution over the joint cells."""
        check_domain(self.shape_in)
        return kron(self._known)

    def _check_identified(self) -> None:
        if self.keep == 0:
            raise SingularChannelError("keep", "must not be 0 for truths to be estimated from reports", 0)

    def _noise(self, total: Any) -> Array:
        return np.asarray(float(1 - self.keep) * np.multiply.outer(self._joint, total))


def _condition_of_rank_one_update(keep: float, weight: float, known: Array) -> float:
    """Condition number of `M = keep I + weight u 1^T`, u the known distribution.

    On the orthogonal complement of span(u, 1) M is keep times the identity; on that span it is a 2 x 2 matrix in an
    orthonormal basis.
    """
    ones = np.ones_like(known)
    basis, triangle = np.linalg.qr(np.column_stack([ones, known]))
    rank = 1 + int(abs(triangle[1, 1]) > 1e-14) if len(known) > 1 else 1
    basis = basis[:, :rank]
    small = keep * np.eye(rank) + weight * np.outer(basis.T @ known, basis.T @ ones)
    values = np.linalg.svd(small, compute_uv=False).tolist() + [keep] * (len(known) > rank)
    return ratio(max(values), min(values) if min(values) > 1e-15 else 0)
