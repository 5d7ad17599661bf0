"""Base classes of channels, the column-stochastic operators `A[report, truth]` with exact entries, and their checks."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import pairwise
from math import inf, prod
from typing import Any, ClassVar

import numpy as np

from sottovoce.checks import Array, whole_number
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.exact import epsilon_of_odds

LARGEST_DENSE = 2**26
"""Largest number of entries that `dense` builds."""

LARGEST_SEARCH = 2**20
"""Largest number of entries that `worst_case` searches, one exact rational at a time."""

LARGEST_CONDITION = 1e12
"""Beyond this condition number double precision cannot tell a channel from a singular one."""


class Channel(ABC):
    """`A[y, x] = P(report y | truth x)`. Immutable; there may be more reports than truths.

    `shape_in` holds the number of categories of each attribute of the truth. Truths and reports of several attributes
    are numbered as joint cells (`schemas.attribute.ravel`). Operators act on the first axis of an array; further axes
    are treated alike.
    """

    samples: ClassVar[bool] = False
    """Whether respondents are asked a random part of the attributes; a column's last code is then "not asked"."""

    shape_in: tuple[int, ...]

    @property
    def shape_out(self) -> tuple[int, ...]:
        """Number of categories of each column of the report; by default those of the truth."""
        return self.shape_in

    @property
    @abstractmethod
    def odds(self) -> Fraction | None:
        """Largest ratio in a row, `max_y max_x A[y,x] / min_x A[y,x]`; None if it is unbounded."""

    @abstractmethod
    def entry(self, report: int, truth: int) -> Fraction:
        """Exact probability of one report given one truth."""

    @abstractmethod
    def matvec(self, truths: Any) -> Array:
        """Distribution of the reports from that of the truths, `A p`."""

    @abstractmethod
    def rmatvec(self, reports: Any) -> Array:
        """Adjoint, `A^T r`: the expected value of a function of the report given each truth."""

    @abstractmethod
    def solve(self, reports: Any) -> Array:
        """Left inverse: distribution of the truths from that of the reports; unbiased on observed frequencies."""

    def solve_squared(self, reports: Any) -> Array:
        """`(B * B) r`, where B is the left inverse that `solve` applies, squared entry by entry.

        For frequencies r of the reports this is the diagonal of `B diag(r) B^T`: the second moments of the estimate,
        without building its covariance matrix.
        """
        vector = checked_vector("reports", self.n_out, reports)
        return np.asarray(np.tensordot(self.solve(np.eye(self.n_out)) ** 2, vector, axes=1))

    @abstractmethod
    def marginal(self, axes: Sequence[int]) -> "Channel":
        """Channel from the truth's attributes at these increasing positions to their reports."""

    @property
    @abstractmethod
    def condition_number(self) -> float:
        """Largest over smallest singular value; infinite if the channel is singular."""

    @classmethod
    @abstractmethod
    def cases(cls) -> Iterable["Channel"]:
        """Examples that the tests of all channels run on."""

    def odds_within(self, changes: int) -> Fraction | None:
        """Largest odds, or a bound on them, between truths that differ in at most `changes` attributes."""
        return Fraction(1) if whole_number("changes", changes, least=0) == 0 else self.odds

    @property
    def factors(self) -> tuple["Channel", ...]:
        """Independent channels, each of neighbouring attributes, whose product this is; itself if it is no product."""
        return (self,)

    @property
    def parts(self) -> tuple["Part", ...]:
        """Sets of attributes of which each respondent is asked one: all attributes, unless the channel samples."""
        return (Part(tuple(range(len(self.shape_in))), self),)

    @property
    def replacement(self) -> tuple[float, tuple[Array, ...]] | None:
        """Probability of reporting the truth, and the distributions of the record that is reported otherwise.

        There is one distribution for each attribute, or one over the joint cells. None for channels of other kinds.
        """
        return None

    @property
    def inclusion(self) -> tuple[Fraction, Fraction] | None:
        """Probabilities that the truth and that another category is in the reported set.

        None if reports are not sets, or if the probabilities depend on the category.
        """
        return None

    def second_moments(self, distribution: Array) -> Array | None:
        """`E[b_x(Y)^2]` for every truth x, b the estimate that `solve` makes from one report; None if not closed form.

        `distribution` is that of the truths. The variance from N respondents is `(E[b_x^2] - p_x^2) / N`.
        """
        return None

    @property
    def gains_by_weighting(self) -> bool:
        """Whether the best linear unbiased estimate is preferable to `solve`: computable, and of less variance."""
        return len(self.shape_out) == 1 and self.n_in != self.n_out

    @property
    def n_in(self) -> int:
        """Number of truths."""
        return prod(self.shape_in)

    @property
    def n_out(self) -> int:
        """Number of reports."""
        return prod(self.shape_out)

    @property
    def epsilon(self) -> float:
        """Epsilon of local differential privacy: the natural logarithm of the odds."""
        return epsilon_of_odds(self.odds)

    def worst_case(self) -> tuple[int, int, int]:
        """Report with the largest odds, and the truths under which it is most and least likely.

        If the odds are unbounded, the report is possible under the first truth and impossible under the second. Among
        reports with the same odds it is the likeliest, which an audit needs the fewest samples to see.
        """
        if self.n_in * self.n_out > LARGEST_SEARCH:
            rule = f"must have at most {LARGEST_SEARCH} entries for its worst case to be searched"
            raise SottovoceError("channel", rule, Words(f"{self.n_out} x {self.n_in}"))
        rows = ([self.entry(report, truth) for truth in range(self.n_in)] for report in range(self.n_out))
        report, row = max(enumerate(rows), key=lambda numbered: _severity(numbered[1]))
        return report, row.index(max(row)), self.n_in - 1 - row[::-1].index(min(row))

    def column(self, truth: int) -> Array:
        """Distribution of the report given one truth."""
        unit = np.zeros(self.n_in)
        unit[truth] = 1
        return self.matvec(unit)

    def dense(self) -> Array:
        """Matrix of all entries, for tests and small problems."""
        if self.n_in * self.n_out > LARGEST_DENSE:
            rule = f"must have at most {LARGEST_DENSE} entries to be written out"
            raise SottovoceError("channel", rule, Words(f"{self.n_out} x {self.n_in}"))
        return self.matvec(np.eye(self.n_in))


@dataclass(frozen=True)
class Part:
    """Attributes asked together, the channel of their answers (None if nothing is asked), and a weight."""

    axes: tuple[int, ...]
    channel: Channel | None
    weight: int = 1


class MatrixChannel(Channel):
    """A channel whose left inverse is computed from its dense matrix.

    It is the plain inverse if the matrix is square, and weighted least squares otherwise: each report is weighted by
    the inverse of its probability under uniform truths, `B = J^-1 A^T D^-1` with `J = A^T D^-1 A` and D the diagonal of
    `A 1 / n`. B is unbiased for any truths and has the least variance for uniform ones. Unlike plain least squares it
    does not change if a report is split in two by a coin.
    """

    def solve(self, reports: Any) -> Array:
        """Weighted least squares; plain inversion if the matrix is square."""
        vector = checked_vector("reports", self.n_out, reports)
        if self.condition_number > LARGEST_CONDITION:
            rule = "must tell every truth from every other for truths to be estimated; its condition number is inf"
            raise SingularChannelError(
                "channel", rule, Words(f"a matrix of rank {np.linalg.matrix_rank(self._matrix)}")
            )
        return np.asarray(np.tensordot(self._left_inverse, vector, axes=1))

    @cached_property
    def condition_number(self) -> float:
        """Ratio of singular values; infinite beyond double precision."""
        values = np.linalg.svd(self._matrix, compute_uv=False)
        invertible = self.n_out >= self.n_in and values[-1] * LARGEST_CONDITION > values[0]
        return float(values[0] / values[-1]) if invertible else inf

    @cached_property
    def _matrix(self) -> Array:
        return self.dense()

    @cached_property
    def _left_inverse(self) -> Array:
        if self.n_in == self.n_out:
            return np.asarray(np.linalg.pinv(self._matrix), dtype=np.float64)
        frequency = self._matrix.sum(axis=1)
        weight = 1 / np.sqrt(np.where(frequency > 0, frequency, 1))
        return np.asarray(np.linalg.pinv(self._matrix * weight[:, None]) * weight, dtype=np.float64)


def checked_axes(axes: Sequence[int], dimensions: int) -> tuple[int, ...]:
    """Return positions of attributes, which must be increasing and below `dimensions`; at least one."""
    kept = tuple(axes)
    increasing = all(low < high for low, high in pairwise(kept))
    if not kept or not increasing or kept[0] < 0 or kept[-1] >= dimensions:
        raise SottovoceError("axes", f"must be increasing positions below {dimensions}", kept)
    return kept


def checked_vector(parameter: str, size: int, vector: Any) -> Array:
    """Return a float array whose first axis must have this size."""
    array = np.asarray(vector, dtype=np.float64)
    if array.ndim == 0 or array.shape[0] != size:
        raise SottovoceError(parameter, f"must have length {size}", array.shape)
    return array


def checked_shape(shape: Iterable[int], parameter: str = "shape_in") -> tuple[int, ...]:
    """Return numbers of categories, which must be positive integers; at least one."""
    sizes = tuple(whole_number(parameter, size) for size in shape)
    if not sizes:
        raise SottovoceError(parameter, "must have at least one number of categories", sizes)
    return sizes


def kron(parts: Iterable[Array]) -> Array:
    """Kronecker product of vectors or of matrices.

    >>> kron([np.array([0.5, 0.5]), np.array([0.1, 0.9])])
    array([0.05, 0.45, 0.05, 0.45])
    """
    return reduce(_kron_of_two, parts)


def _kron_of_two(left: Array, right: Array) -> Array:
    if left.ndim == right.ndim == 1:  # by far the most, and np.kron takes ten times as long
        return np.multiply.outer(left, right).ravel()
    return np.asarray(np.kron(left, right))


def ratio(largest: float, smallest: float) -> float:
    """Quotient of two numbers; infinite if the second is zero."""
    return largest / smallest if smallest > 0 else inf


def _severity(row: Sequence[Fraction]) -> tuple[bool, Fraction, Fraction]:
    """Sort key of reports by how much they reveal: whether a truth is ruled out, then the ratio, the probability."""
    high, low = max(row), min(row)
    return low == 0 < high, high / low if low else Fraction(0), high
