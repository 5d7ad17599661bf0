"""Supports of item sets and their covariance, from means of products over all reports.

An unbiased estimate of the support of an item set I is a mean over the reports: each contributes `f_I(y)`, a function
of the bits y that it has for the items of I. Written in products of bits,
`f(y) = sum_J w_J prod_{j in J} y_j` over the subsets J of the items, its sum over the reports needs only the number of
reports with all items of J, for each J. The covariance of two estimates needs the same for `f_I f_J`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import Any, ClassVar, Literal

import numpy as np

from sottovoce.checks import Array, Target, one_of
from sottovoce.checks import target as checked_target
from sottovoce.counts.protocol import Counter, padded
from sottovoce.errors import SottovoceError
from sottovoce.estimates.cell_tests import CellTests, Ends
from sottovoce.estimates.counted import check_number
from sottovoce.estimates.covariance import Cells, Covariance, MatrixCovariance
from sottovoce.estimates.intervals import interval_ends, interval_method, standard_errors
from sottovoce.estimates.presentation import IntervalTable, json_rows, row_lines
from sottovoce.schemas.attribute import Label
from sottovoce.schemas.schema import Schema

Items = tuple[int, ...]
"""A set of items by index, in ascending order."""

Pair = tuple[Items, Items]

Weigh = Callable[[Items], Array]
"""Returns `f_I` as an array with an axis of two for each item of I; that of the empty set is one."""

Part = tuple[Counter, Weigh]
"""Some reports, and what each of them contributes."""

NEGATIVE = "A negative support is noise around a small one; it is shown, not hidden."

MOST_COUNTED = 2**16
"""Most subsets of all unions of two sets for which covariances are computed."""


@dataclass(frozen=True)
class VariancesOnly:
    """Variances of sets whose covariances were not computed, and the reason."""

    variances: Array
    reason: str

    def block(self, cells: Cells) -> Array:
        """Raise: the covariances were not computed."""
        raise SottovoceError("itemsets", f"must be fewer or shorter for covariances: {self.reason}", len(cells))


@dataclass(frozen=True, repr=False)
class Supports(IntervalTable):
    """Share of the transactions that hold all items of a set, for each of some sets of one attribute's items.

    Supports are unbiased and never clipped: noise may push one below zero. Sets overlap, so they do
    not sum to one, as the cells of an `Estimate` do. `target` says what they are supports in.
    """

    shown: ClassVar[str] = "support"

    attribute: str
    itemsets: tuple[tuple[Label, ...], ...]
    value: Array
    covariances: Covariance
    respondents: int
    target: Target
    method: str
    tests: CellTests | None = None

    @cached_property
    def standard_error(self) -> Array:
        """Standard error of each support."""
        return standard_errors(self.covariances)

    @cached_property
    def covariance(self) -> Array:
        """Covariance matrix of all sets, where it was computed."""
        return self.covariances.block(np.arange(len(self.value)))

    def interval(
        self, level: float = 0.95, *, simultaneous: bool = False, kind: Literal["default", "wald"] = "default"
    ) -> Ends:
        """Return the ends of each support's interval, or of all at once if `simultaneous` (Bonferroni).

        By default those of single items are exact and others are score intervals, all within [0, 1]; of kind `wald`,
        `value +- z standard_error`.
        """
        one_of("kind", kind, ("default", "wald"))
        return interval_ends(self, level, kind=kind, simultaneous=simultaneous)

    def to_rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Return items, length, support, standard error and interval of each set, as plain Python."""
        numbers = zip(*(a.tolist() for a in (self.value, self.standard_error, *self.interval(level))), strict=True)
        names = ("support", "standard_error", "low", "high")
        return [
            {"items": list(items), "length": len(items), **dict(zip(names, row, strict=True))}
            for items, row in zip(self.itemsets, numbers, strict=True)
        ]

    def to_json(self, level: float = 0.95) -> dict[str, Any]:
        """Return everything as plain Python, for programs."""
        return {
            "attribute": self.attribute,
            "target": self.target,
            "method": self.method,
            "respondents": self.respondents,
            "level": level,
            "interval": interval_method(self),
            "itemsets": json_rows(self.to_rows(level)),
        }

    def to_lines(self, level: float = 0.95) -> list[str]:
        """Return a line for each set."""
        return row_lines([{"values": dict(enumerate(row["items"])), **row} for row in self.to_rows(level)], self.shown)

    @property
    def headline(self) -> str:
        """What is estimated, from how many reports, and how."""
        return f"{self.attribute}: {self.respondents} reports, supports in the {self.target} by {self.method}"

    @property
    def notes(self) -> list[str]:
        """Remark about negative supports, where there are any."""
        return [NEGATIVE] if (self.value < 0).any() else []


def pooled_supports(
    parts: Sequence[Part], schema: Schema, sets: Sequence[Items], target: Target, longest: int
) -> tuple[Array, Covariance, dict[Items, int]]:
    """Return the mean contribution of all reports to each set, its covariance, and how many have all items of subsets.

    The number of reports is that of the empty set.

    With `f_I` the contribution of a report, the covariance is `(mean f_I f_J - s_I s_J) / N` for the population, and
    `(mean f_I f_J - s_(I and J)) / N` for the table: given the truth, the mean of `f_I` is one or zero, so that only
    transactions with all items of both sets add to the product of means. Where such a union is longer than
    `longest` its support cannot be estimated, and neither can that covariance.
    """
    checked_target(target)
    crossed, reason = _set_pairs(sets, longest if target == "table" else None)
    singles: list[Pair] = [(items, ()) for items in sets]
    squares = [(items, items) for items in sets]
    unions: list[Pair] = [(union(*pair), ()) for pair in crossed] if target == "table" else []
    pairs = [*singles, *squares, *crossed, *unions]
    sums = [sums_of_products(counter, schema, weigh, pairs) for counter, weigh in parts]
    counts = {items: sum(numbers[items] for _, numbers in sums) for items in sums[0][1]}
    rows = counts[()]
    check_number(rows)
    means = np.sum([total for total, _ in sums], axis=0) / rows
    value, second, products, both = np.split(means, np.cumsum([len(sets), len(sets), len(crossed)]))
    variances = (second - (value if target == "table" else value**2)) / rows
    if reason:
        return value, VariancesOnly(variances, reason), counts
    left, right = np.triu_indices(len(sets), 1)
    matrix = np.diag(variances)
    matrix[left, right] = (products - (both if target == "table" else value[left] * value[right])) / rows
    matrix[right, left] = matrix[left, right]
    return value, MatrixCovariance(matrix), counts


def _set_pairs(sets: Sequence[Items], longest: int | None) -> tuple[list[Pair], str]:
    """Return every pair of sets once, or none and the reason."""
    if len(sets) ** 2 > 2 * MOST_COUNTED:
        return [], f"{len(sets)} sets have too many pairs"
    crossed = list(combinations(sets, 2))
    lengths = [len(union(*pair)) for pair in crossed]
    if longest is not None and max(lengths, default=0) > longest:
        return [], f"two sets together have more than {longest} items, whose support cannot be estimated"
    if sum(2**length for length in lengths) > MOST_COUNTED:
        return [], f"unions of two sets have more than {MOST_COUNTED} subsets"
    return crossed, ""


def sums_of_products(
    counter: Counter, schema: Schema, weigh: Weigh, pairs: Sequence[Pair]
) -> tuple[Array, dict[Items, int]]:
    """Return the sum of `f_I f_J` over the reports for each pair (I, J), and how many have all items of subsets."""
    unions = [union(*pair) for pair in pairs]
    family = sorted({subset for items in unions for subset in subsets(items) if subset})
    counts = dict(zip(family, counter.all_ones(schema, padded(family)).tolist(), strict=True))
    counts[()] = counter.rows()
    functions = {items: weigh(items) for items in set(chain.from_iterable(pairs))}
    sums = []
    for (left, right), items in zip(pairs, unions, strict=True):
        product = _on_more_items(functions[left], left, items) * _on_more_items(functions[right], right, items)
        subset_counts = np.array([counts[subset] for subset in subsets(items)], dtype=np.float64)
        sums.append(in_products_of_bits(product).ravel() @ subset_counts)
    return np.array(sums), counts


def in_products_of_bits(function: Array) -> Array:
    """Return the coefficients of a function of bits in products of bits: along each axis, `f(0)` and `f(1) - f(0)`.

    >>> in_products_of_bits(np.array([[1.0, 2.0], [4.0, 8.0]]))  # 1 + 3 a + b + 3 a b
    array([[1., 1.],
           [3., 3.]])
    """
    weights = np.array(function, dtype=np.float64)
    for axis in range(weights.ndim):
        along = np.moveaxis(weights, axis, 0)
        along[1] -= along[0]
    return weights


def union(left: Items, right: Items) -> Items:
    """Return the items of either set, in ascending order."""
    return tuple(sorted({*left, *right}))


def subsets(items: Items) -> list[Items]:
    """Return all subsets, in the order of the cells of as many bits.

    >>> subsets((3, 5))
    [(), (5,), (3,), (3, 5)]
    """
    listed: list[Items] = [()]
    for item in reversed(items):
        listed += [(item, *subset) for subset in listed]
    return listed


def _on_more_items(function: Array, members: Items, items: Items) -> Array:
    """Return a function of the members' bits as one of the bits of all items."""
    return function.reshape([2 if item in members else 1 for item in items])
