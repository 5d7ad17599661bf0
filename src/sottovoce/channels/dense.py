"""Any matrix, as integers over a common denominator."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from sottovoce.channels.channel import MatrixChannel, checked_axes, checked_shape, checked_vector
from sottovoce.checks import Array
from sottovoce.errors import SottovoceError


@dataclass(frozen=True)
class Dense(MatrixChannel):
    """`A[y, x] = numerators[y][x] / denominator`, for any numbers of reports y and truths x.

    >>> Dense([[3, 1], [1, 3]], 4).odds
    Fraction(3, 1)
    >>> Dense([[3, 0], [1, 4]], 4).odds is None
    True
    """

    numerators: tuple[tuple[int, ...], ...]
    denominator: int
    shape_in: tuple[int, ...] = ()
    shape_out: tuple[int, ...] = ()

    def __init__(
        self,
        numerators: Iterable[Iterable[int]],
        denominator: int,
        shape_in: Iterable[int] | None = None,
        shape_out: Iterable[int] | None = None,
    ) -> None:
        """Check that the entries are integers, not negative, and that each column sums to the denominator."""
        rows = tuple(tuple(row) for row in numerators)
        if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
            raise SottovoceError("numerators", "must be rows of equal length", rows)
        _check_columns(rows, denominator)
        object.__setattr__(self, "numerators", rows)
        object.__setattr__(self, "denominator", denominator)
        object.__setattr__(self, "shape_in", _shape("shape_in", shape_in, len(rows[0])))
        object.__setattr__(self, "shape_out", _shape("shape_out", shape_out, len(rows)))

    @cached_property
    def odds(self) -> Fraction | None:
        """Largest ratio within a row; a row of zeros is a report that is never sent."""
        worst = Fraction(1)
        for row in self.numerators:
            low, high = min(row), max(row)
            if low == 0 < high:
                return None
            worst = max(worst, Fraction(high, low)) if low else worst
        return worst

    def entry(self, report: int, truth: int) -> Fraction:
        """Numerator over the denominator."""
        return Fraction(self.numerators[report][truth], self.denominator)

    def matvec(self, truths: Any) -> Array:
        """Matrix times vector."""
        return np.asarray(np.tensordot(self._matrix, checked_vector("truths", self.n_in, truths), axes=1))

    def rmatvec(self, reports: Any) -> Array:
        """Transposed matrix times vector."""
        return np.asarray(np.tensordot(self._matrix.T, checked_vector("reports", self.n_out, reports), axes=1))

    def marginal(self, axes: Sequence[int]) -> "Dense":
        """Marginal channel; an error unless the kept reports depend on the kept truths alone."""
        kept = checked_axes(axes, len(self.shape_in))
        if len(kept) == len(self.shape_in):
            return self
        if self.shape_in != self.shape_out:
            raise SottovoceError("axes", "must keep all attributes, since the report does not split into them", kept)
        shape = tuple(self.shape_in[a] for a in kept)
        return Dense(self._marginal_numerators(kept), self.denominator, shape, shape)

    @classmethod
    def cases(cls) -> Iterator["Dense"]:
        """Square, more reports than truths, singular, with a zero, a product, one report for several attributes."""
        yield cls([[3, 1], [1, 3]], 4)
        yield cls([[5, 1, 1], [1, 5, 1], [1, 1, 5], [2, 2, 2]], 9)
        yield cls([[1, 1], [1, 1]], 2)
        yield cls([[3, 0], [1, 4], [0, 0]], 4)
        product = [[3 * 2, 3, 2, 1], [3, 3 * 2, 1, 2], [2, 1, 3 * 2, 3], [1, 2, 3, 3 * 2]]
        yield cls(product, 12, (2, 2), (2, 2))
        yield cls([[4, 1, 1, 1], [3, 6, 6, 6]], 7, (2, 2))

    @cached_property
    def _matrix(self) -> Array:
        return np.array([[n / self.denominator for n in row] for row in self.numerators])

    def _marginal_numerators(self, kept: tuple[int, ...]) -> list[list[int]]:
        dimensions = len(self.shape_in)
        table = np.array(self.numerators, dtype=object).reshape(self.shape_out + self.shape_in)
        dropped = tuple(a for a in range(dimensions) if a not in kept)
        table = table.sum(axis=dropped)
        order = (*range(len(kept)), *(len(kept) + a for a in kept), *(len(kept) + a for a in dropped))
        cells = prod(self.shape_in[a] for a in kept)
        table = table.transpose(order).reshape(cells, cells, -1)
        if (table != table[:, :, :1]).any():
            raise SottovoceError("axes", "must keep all attributes, since the report depends on the others", kept)
        rows: list[list[int]] = table[:, :, 0].tolist()
        return rows


def _shape(parameter: str, shape: Iterable[int] | None, cells: int) -> tuple[int, ...]:
    sizes = (cells,) if shape is None else checked_shape(shape)
    if prod(sizes) != cells:
        raise SottovoceError(parameter, f"must have {cells} cells", sizes)
    return sizes


def _check_columns(rows: Sequence[Sequence[int]], denominator: int) -> None:
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for row in rows for n in row):
        raise SottovoceError("numerators", "must be integers that are not negative", rows)
    for truth, column in enumerate(zip(*rows, strict=True)):
        if sum(column) != denominator:
            raise SottovoceError("numerators", f"must sum to {denominator} in column {truth}", sum(column))
