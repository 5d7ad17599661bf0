"""Channels: column-stochastic operators `A[report, truth]` with exact entries."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from itertools import pairwise
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.exact import epsilon_of_odds

Array = NDArray[np.float64]

LARGEST_DENSE = 2**26
"""Entries that `dense` will build; beyond, ask the channel its small questions instead."""

LARGEST_SEARCH = 2**20
"""Entries that `worst_case` will look through, one exact rational at a time."""
LARGEST_CONDITION = 1e12
"""Beyond this condition number double precision cannot tell a channel from a singular one."""


class Channel(ABC):
    """`A[y, x] = P(report y | truth x)`, a frozen value; reports may outnumber truths.

    Truths and reports of several attributes are numbered as `schemas.cells` numbers joint cells.
    Vectors may carry further axes behind the first: each column is treated alike. `shape_in` has the
    number of categories of each attribute of the truth.
    """

    shape_in: tuple[int, ...]

    @property
    def shape_out(self) -> tuple[int, ...]:
        """Number of categories of each column of the report: the truth's, unless a channel says otherwise."""
        return self.shape_in

    @property
    @abstractmethod
    def odds(self) -> Fraction | None:
        """Largest ratio in a row, `max_y max_x A[y,x] / min_x A[y,x]`; None where it is unbounded."""

    @abstractmethod
    def entry(self, report: int, truth: int) -> Fraction:
        """Exact probability of one report given one truth."""

    @abstractmethod
    def matvec(self, truths: Any) -> Array:
        """Law of the reports from the law of the truths, `A p`."""

    @abstractmethod
    def rmatvec(self, reports: Any) -> Array:
        """Adjoint, `A^T r`: the mean of a function of the report given each truth."""

    @abstractmethod
    def solve(self, reports: Any) -> Array:
        """Left inverse: the law of the truths whose reports these are; unbiased on frequencies."""

    def solve_squared(self, reports: Any) -> Array:
        """`(B * B) r`, B the left inverse that `solve` applies, squared entry by entry.

        For frequencies r of the reports this is the diagonal of `B diag(r) B^T`: the second moments of
        the estimate, without its covariance matrix.
        """
        vector = checked_vector("reports", self.n_out, reports)
        return np.asarray(np.tensordot(self.solve(np.eye(self.n_out)) ** 2, vector, axes=1))

    @abstractmethod
    def marginal(self, axes: Sequence[int]) -> "Channel":
        """Channel from the truth's attributes at these increasing positions to their reports."""

    @property
    @abstractmethod
    def condition_number(self) -> float:
        """Largest over smallest singular value; infinite where the channel is singular."""

    @classmethod
    @abstractmethod
    def cases(cls) -> Iterable["Channel"]:
        """Examples on which the laws of channels are checked."""

    def odds_within(self, changes: int) -> Fraction | None:
        """Largest odds between truths that differ in at most so many attributes, or a bound on them."""
        return Fraction(1) if checked_changes(changes) == 0 else self.odds

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
        """Local differential privacy: the natural logarithm of the odds."""
        return epsilon_of_odds(self.odds)

    def worst_case(self) -> tuple[int, int, int]:
        """Report, and the truths under which it is most and least likely, that attain the odds.

        Where the odds are unbounded, the report is possible under the first truth and impossible under
        the second. Among equals it is the likeliest report, which needs the fewest samples to be seen.
        """
        if self.n_in * self.n_out > LARGEST_SEARCH:
            rule = f"must have at most {LARGEST_SEARCH} entries for its worst case to be searched"
            raise SottovoceError("channel", rule, Words(f"{self.n_out} x {self.n_in}"))
        rows = ([self.entry(report, truth) for truth in range(self.n_in)] for report in range(self.n_out))
        report, row = max(enumerate(rows), key=lambda numbered: _severity(numbered[1]))
        return report, row.index(max(row)), self.n_in - 1 - row[::-1].index(min(row))

    def column(self, truth: int) -> Array:
        """Law of the report of one truth."""
        unit = np.zeros(self.n_in)
        unit[truth] = 1
        return self.matvec(unit)

    def dense(self) -> Array:
        """Matrix of all entries, for tests and small problems."""
        if self.n_in * self.n_out > LARGEST_DENSE:
            rule = f"must have at most {LARGEST_DENSE} entries to be written out"
            raise SottovoceError("channel", rule, f"{self.n_out} x {self.n_in}")
        return self.matvec(np.eye(self.n_in))


def checked_changes(changes: int) -> int:
    """A number of attributes that may differ."""
    if isinstance(changes, bool) or not isinstance(changes, int) or changes < 0:
        raise SottovoceError("changes", "must be a whole number that is not negative", changes)
    return changes


def _severity(row: Sequence[Fraction]) -> tuple[bool, Fraction, Fraction]:
    """Order of rows from the most harmless: never seen, by ratio, with a zero; then by probability."""
    high, low = max(row), min(row)
    return low == 0 < high, high / low if low else Fraction(0), high


def checked_axes(axes: Sequence[int], dimensions: int) -> tuple[int, ...]:
    """Positions to keep: at least one, increasing, and there."""
    kept = tuple(axes)
    increasing = all(low < high for low, high in pairwise(kept))
    if not kept or not increasing or kept[0] < 0 or kept[-1] >= dimensions:
        raise SottovoceError("axes", f"must be increasing positions below {dimensions}", kept)
    return kept


def checked_vector(parameter: str, size: int, vector: Any) -> Array:
    """Floating-point array whose first axis has this size."""
    array = np.asarray(vector, dtype=np.float64)
    if array.ndim == 0 or array.shape[0] != size:
        raise SottovoceError(parameter, f"must have length {size}", array.shape)
    return array


def checked_shape(shape: Iterable[int]) -> tuple[int, ...]:
    """Numbers of categories: integers of at least one, and at least one of them."""
    sizes = tuple(shape)
    if not sizes or any(isinstance(k, bool) or not isinstance(k, int) or k < 1 for k in sizes):
        raise SottovoceError("shape_in", "must be at least one positive integer", sizes)
    return sizes


def kron(parts: Iterable[Array]) -> Array:
    """Kronecker product of several vectors, or of several matrices.

    >>> kron([np.array([0.5, 0.5]), np.array([0.1, 0.9])])
    array([0.05, 0.45, 0.05, 0.45])
    """
    product: Array = reduce(lambda left, right: np.asarray(np.kron(left, right)), parts)
    return product


def ratio(largest: float, smallest: float) -> float:
    """Quotient that is infinite over zero."""
    return largest / smallest if smallest > 0 else inf


class WrittenOut(Channel):
    """Weighted least squares over the dense matrix; plain inversion where it is square.

    Each report is weighed by the inverse of its probability under uniform truths: `B = J^-1 A^T D^-1`,
    `J = A^T D^-1 A`, D the diagonal of `A 1 / n`. For those truths no unbiased estimate is better, for any it is
    unbiased, and a report that is split in two by a coin changes nothing, as it would in plain least squares.
    """

    def solve(self, reports: Any) -> Array:
        """Weighted least squares; plain inversion where the matrix is square."""
        vector = checked_vector("reports", self.n_out, reports)
        if self.condition_number > LARGEST_CONDITION:
            rule = "must tell every truth from every other for truths to be estimated; its condition number is inf"
            raise SingularChannelError(
                "channel", rule, Words(f"a matrix of rank {np.linalg.matrix_rank(self._matrix)}")
            )
        return np.asarray(np.tensordot(self._left_inverse, vector, axes=1))

    @cached_property
    def condition_number(self) -> float:
        """By singular values; infinite beyond double precision."""
        values = np.linalg.svd(self._matrix, compute_uv=False)
        enough = self.n_out >= self.n_in and values[-1] * LARGEST_CONDITION > values[0]
        return float(values[0] / values[-1]) if enough else inf

    @cached_property
    def _matrix(self) -> Array:
        return self.dense()

    @cached_property
    def _left_inverse(self) -> Array:
        if self.n_in == self.n_out:
            return np.asarray(np.linalg.pinv(self._matrix), dtype=np.float64)
        seen = self._matrix.sum(axis=1)
        weight = 1 / np.sqrt(np.where(seen > 0, seen, 1))
        return np.asarray(np.linalg.pinv(self._matrix * weight[:, None]) * weight, dtype=np.float64)
