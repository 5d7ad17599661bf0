"""Any matrix of the user: reports by truths, with columns that sum to one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.exact import distribution
from sottovoce.mechanisms.matrix import Listed
from sottovoce.schemas.attribute import Label, checked_labels
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields

Rows = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Matrix(Scheme):
    """`A[y, x]` as given, rounded to integers whose odds do not exceed the matrix's.

    There may be more reports than truths; `reports` names them. If a row has both zero and positive entries, its report
    rules out a truth, and the odds are unbounded: the design is not deniable.

    >>> Matrix([[0.8, 0.3], [0.2, 0.7]]).mechanism((2,)).channel.odds
    Fraction(7, 2)
    """

    name = "matrix"
    citation = "A. Chaudhuri & R. Mukerjee (1988), Randomized Response"
    identified = "its columns must be linearly independent"

    matrix: Rows
    reports: tuple[Label, ...] | None

    def __init__(self, matrix: Iterable[Iterable[Any]], reports: Iterable[Label] | None = None) -> None:
        """Read every entry exactly; each column must be a distribution."""
        rows = [list(row) for row in matrix]
        if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
            raise SottovoceError("matrix", "must have rows of equal length", rows)
        columns = [distribution("matrix", column) for column in zip(*rows, strict=True)]
        names = None if reports is None else checked_labels("reports", reports, at_least=2)
        set_fields(self, matrix=tuple(zip(*columns, strict=True)), reports=names)

    def mechanism(self, sizes: Sizes) -> Listed:
        """One coin."""
        return Listed.near(sizes, self.matrix, self.reports)

    @classmethod
    def cases(cls) -> Iterator[tuple["Matrix", Sizes]]:
        """Exact decimals, more reports than truths, rounded entries, zeros, joint, constant, fewer reports."""
        yield cls([[0.8, 0.3], [0.2, 0.7]]), (2,)
        yield cls([[0.5, 0.25], [0.25, 0.5], [0.25, 0.25]], reports=["a", "b", "either"]), (2,)
        third = [1 / 3, 0.25, 0.31415926535]
        yield cls([third, [1 / 2, 1 / 2, 0.5], [1 - 1 / 3 - 1 / 2, 0.25, 0.5 - 0.31415926535]]), (3,)
        yield cls([[1 / 3, 0], [2 / 3, 1]]), (2,)
        yield cls([[0.4, 0.2, 0.2, 0.2], [0.2, 0.4, 0.2, 0.2], [0.2, 0.2, 0.4, 0.2], [0.2, 0.2, 0.2, 0.4]]), (2, 2)
        yield cls([[1 / 3, 1 / 3], [2 / 3, 2 / 3]]), (2,)
        yield cls([[0.5, 0.4, 0.1], [0.5, 0.6, 0.9]]), (3,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Columns that do not sum to one, negative or NaN entries, rows of unequal length, repeated names."""
        yield "matrix", {"matrix": [[0.5, 0.5], [0.5, 0.6]]}
        yield "matrix", {"matrix": [[1.5, 0.5], [-0.5, 0.5]]}
        yield "matrix", {"matrix": [[0.5, float("nan")], [0.5, 0.5]]}
        yield "matrix", {"matrix": [[1, 0], [1]]}
        yield "matrix", {"matrix": []}
        yield "reports", {"matrix": [[0.5, 0.5], [0.5, 0.5]], "reports": ["a", "a"]}
