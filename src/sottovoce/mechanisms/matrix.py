"""Any matrix of integers: one coin, whose sides are assigned to the reports, differently for each truth."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from sottovoce.channels.channel import checked_shape
from sottovoce.channels.dense import Dense
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.bulk import join, kernels, read_only, reciprocal, split
from sottovoce.mechanisms.coins import MOST_SIDES, Blocks, Coin, Coins
from sottovoce.mechanisms.mechanism import Mechanism, integer
from sottovoce.mechanisms.rounding import in_lowest_terms, matrix_odds, matrix_sides
from sottovoce.schemas.attribute import (
    Attribute,
    Codes,
    Columns,
    Label,
    check_domain,
    checked_labels,
    narrow,
    ravel,
    unravel,
)
from sottovoce.schemas.schema import Schema

LARGEST_GUIDE = 2**20
"""Entries of a matrix up to which a guide table is used; larger ones would not fit into the processor's cache."""


@dataclass(frozen=True)
class Listed(Mechanism):
    """`matrix[y][x]` of the coin's sides make truth x report y; sides are assigned in the order of y.

    `reports` names the reports if they are not categories of the truth.

    >>> Listed((2,), [[3, 1], [1, 3]]).channel.odds
    Fraction(3, 1)
    """

    kind = "listed"

    sizes: tuple[int, ...]
    matrix: tuple[tuple[int, ...], ...]
    reports: tuple[Label, ...] | None = None

    def __init__(
        self, sizes: Iterable[int], matrix: Iterable[Iterable[int]], reports: Iterable[Label] | None = None
    ) -> None:
        """Check that all columns have one sum, in lowest terms, and that `reports` names every row."""
        object.__setattr__(self, "sizes", checked_shape(sizes, "sizes"))
        object.__setattr__(self, "matrix", tuple(tuple(row) for row in matrix))
        names = None if reports is None else checked_labels("reports", reports, at_least=2)
        object.__setattr__(self, "reports", names)
        cells = check_domain(self.sizes)
        if not self.matrix or any(len(row) != cells for row in self.matrix):
            raise SottovoceError("matrix", f"must have {cells} columns, one for each truth", self.matrix)
        sums = {sum(column) for column in zip(*self.matrix, strict=True)}
        if len(sums) > 1:
            rule = "must have columns with the same sum, the number of the coin's sides"
            raise SottovoceError("matrix", rule, sorted(sums))
        self.coins, self.channel  # noqa: B018  # check the number of sides and the entries
        if in_lowest_terms(self.matrix) != [list(row) for row in self.matrix]:
            raise SottovoceError("matrix", "must be in lowest terms", self.matrix)
        if names is not None and len(names) != len(self.matrix):
            raise SottovoceError("reports", f"must name the {len(self.matrix)} rows of the matrix", names)

    @classmethod
    def near(
        cls, sizes: Iterable[int], rows: Sequence[Sequence[Fraction]], reports: Iterable[Label] | None = None
    ) -> "Listed":
        """Mechanism nearest to a matrix of probabilities whose odds do not exceed the matrix's."""
        return cls(sizes, matrix_sides(rows, matrix_odds(rows)), reports)

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """One coin, the same for every truth."""
        return (Coin(sum(row[0] for row in self.matrix)),)

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Report to which the shown side is assigned in the column of the truth."""
        report = self._look_up(ravel(truth, self.sizes), flips[0])
        if self.channel.shape_out == self.sizes:
            return unravel(report, self.sizes)
        return (narrow(report, len(self.matrix)),)

    def respond_in_bulk(self, truth: Columns, blocks: Blocks) -> Columns:
        """The same in one compiled loop, if a coin takes one word and the guide table is small."""
        narrow_coin = self.coins[0].width == 1 and len(self.matrix) * len(self.matrix[0]) <= LARGEST_GUIDE
        loops = kernels() if narrow_coin else None
        if loops is None:
            return super().respond_in_bulk(truth, blocks)
        joint = join(loops, truth, self.sizes)
        loops.matrix_reports(read_only(blocks[:, 0]), *self._kernel_arguments, joint)
        return split(loops, joint, self.channel.shape_out)

    @cached_property
    def channel(self) -> Dense:
        """Matrix over the number of sides."""
        square = self.reports is None and len(self.matrix) == len(self.matrix[0])
        return Dense(self.matrix, self.coins[0].sides, self.sizes, self.sizes if square else None)

    def report_schema(self, truths: Schema) -> Schema:
        """Columns of the truth, or one column whose categories are the names of the reports."""
        if self.reports is None:
            return super().report_schema(truths)
        return Schema([Attribute.trusted("+".join(truths.names), self.reports)])

    def to_json(self) -> dict[str, Any]:
        """Matrix of reports by truths and, if given, the names of the reports."""
        json = {"kind": self.kind, "matrix": [[str(sides) for sides in row] for row in self.matrix]}
        return json if self.reports is None else json | {"reports": list(self.reports)}

    @classmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "Listed":
        """Read the matrix and the names."""
        matrix = [[integer("matrix", sides) for sides in row] for row in json["matrix"]]
        return cls(sizes, matrix, json.get("reports"))

    def _look_up(self, truth: Codes, side: Any) -> Codes:
        """Report of each truth and side: a binary search in the cumulative sums of all columns, laid end to end."""
        reports, truths, sides = len(self.matrix), len(self.matrix[0]), self.coins[0].sides
        if truths * sides < MOST_SIDES:
            key = truth.astype(np.uint64) * np.uint64(sides) + side
            return np.asarray(np.searchsorted(self._ends, key, side="right") - truth * reports)
        report = np.zeros(len(truth), np.int64)
        for x in range(truths):
            rows = truth == x
            column = np.array([end for end in self._cumulative[x] if end < sides], np.uint64)
            report[rows] = np.searchsorted(column, side[rows], side="right")
        return report

    @cached_property
    def _cumulative(self) -> list[list[int]]:
        """Cumulative sums of each column."""
        return [list(accumulate(column)) for column in zip(*self.matrix, strict=True)]

    @cached_property
    def _ends(self) -> Any:
        """Cumulative sums of all columns, laid end to end."""
        sides = self.coins[0].sides
        return np.array([x * sides + end for x, ends in enumerate(self._cumulative) for end in ends], np.uint64)

    @cached_property
    def _kernel_arguments(self) -> tuple[tuple[np.uint64, ...], Any, Any]:
        """Coin, guide table and ends; the guide holds the first report of each run of sides, for each truth.

        Runs are 2^coarse sides long, short enough that there are at least twice as many runs as reports.
        """
        reports, truths, coin = len(self.matrix), len(self.matrix[0]), self.coins[0]
        coarse = max((coin.sides - 1).bit_length() - (2 * reports).bit_length(), 0)
        runs = np.arange(((coin.sides - 1) >> coarse) + 1, dtype=np.uint64) << np.uint64(coarse)
        starts = np.arange(truths, dtype=np.uint64)[:, None] * np.uint64(coin.sides) + runs
        guide = np.searchsorted(self._ends, starts, side="right") - np.arange(truths)[:, None] * reports
        numbers = (np.uint64(number) for number in (coin.sides, coarse, reports))
        return (*reciprocal(coin.step), *numbers), guide.astype(np.uint32), self._ends
