"""Supports of item sets and their covariance, from means of products over all reports.

An unbiased estimate of the support of an item set I is a mean over the reports: each counts for `f_I(y)`, a function
of the bits y that it has for the items of I. Written in products of bits,
`f(y) = sum_J w_J prod_{j in J} y_j` over the subsets J of the items, its sum over the reports needs the number of
reports with all of J, for each J, and nothing else. The covariance of two estimates needs the same for `f_I f_J`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.counts.protocol import Counter, padded
from sottovoce.errors import SottovoceError
from sottovoce.estimates.counted import check_number
from sottovoce.estimates.covariance import MatrixSpread, Spread, Target
from sottovoce.estimates.intervals import Ends, critical_value, wald
from sottovoce.estimates.presentation import Backend, row_lines, rows_to_frame
from sottovoce.schemas.attribute import Label
from sottovoce.schemas.schema import Schema

Items = tuple[int, ...]
"""A set of items by number, in ascending order."""

Pair = tuple[Items, Items]

Weigh = Callable[[Items], Array]
"""`f_I` as an array with an axis of two for each item of I; that of the empty set is one."""
NEGATIVE = "A negative support is noise around a small one; it is shown, not hidden."
MOST_COUNTED = 2**16
"""Subsets of all unions of two sets, up to which covariances are computed."""

Part = tuple[Counter, Weigh]
"""Reports, and what each of them counts for."""


def sums_of_products(counter: Counter, schema: Schema, weigh: Weigh, pairs: Sequence[Pair]) -> tuple[Array, int]:
    """Sum of `f_I f_J` over the reports, for each pair (I, J); and the number of reports."""
    unions = [union(*pair) for pair in pairs]
    family = sorted({subset for items in unions for subset in subsets(items) if subset})
    counts = dict(zip(family, counter.all_ones(schema, padded(family)).tolist(), strict=True))
    counts[()] = counter.rows()
    functions = {items: weigh(items) for items in set(chain.from_iterable(pairs))}
    sums = []
    for (left, right), items in zip(pairs, unions, strict=True):
        product = _spread_out(functions[left], left, items) * _spread_out(functions[right], right, items)
        held = np.array([counts[subset] for subset in subsets(items)], dtype=np.float64)
        sums.append(in_products_of_bits(product).ravel() @ held)
    return np.array(sums), counts[()]


def in_products_of_bits(function: Array) -> Array:
    """Weight of each product of bits in a function of bits: along each axis, `f(0)` and `f(1) - f(0)`.

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
    """Items of either set, in ascending order."""
    return tuple(sorted({*left, *right}))


def subsets(items: Items) -> list[Items]:
    """All subsets, in the order of the cells of as many bits.

    >>> subsets((3, 5))
    [(), (5,), (3,), (3, 5)]
    """
    found: list[Items] = [()]
    for item in reversed(items):
        found += [(item, *subset) for subset in found]
    return found


def _spread_out(function: Array, own: Items, items: Items) -> Array:
    """The same function of more bits, on which it does not depend."""
    return function.reshape([2 if item in own else 1 for item in items])


@dataclass(frozen=True)
class VariancesOnly:
    """Variances of sets whose covariances were not computed, and why they were not."""

    variances: Array
    reason: str

    def covariance(self, cells: Sequence[int] | NDArray[np.intp]) -> Array:
        """Refuse: what was not counted cannot be had afterwards."""
        raise SottovoceError("itemsets", f"must be fewer or shorter for covariances: {self.reason}", len(cells))


@dataclass(frozen=True)
class Supports:
    """Share of the transactions that hold all items of a set, for each of some sets of one attribute's items.

    Supports are unbiased and never clipped: noise may carry one below zero. Sets overlap, so they do
    not sum to one; that is what tells them from an `Estimate`. `target` names what they are supports in.
    """

    attribute: str
    itemsets: tuple[tuple[Label, ...], ...]
    value: Array
    spread: Spread
    respondents: int
    target: Target
    method: str

    @cached_property
    def standard_error(self) -> Array:
        """Square roots of the variances."""
        return np.asarray(np.sqrt(np.maximum(self.spread.variances, 0)))

    @cached_property
    def covariance(self) -> Array:
        """Covariance matrix of all sets, where it was computed."""
        return self.spread.covariance(np.arange(len(self.value)))

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Ends:
        """Ends of each set's Wald interval at this confidence, or of all of them at once if `simultaneous`."""
        return wald(self.value, self.spread, critical_value(level, len(self.value) if simultaneous else 1))

    def to_rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Items, length, support, standard error and interval of each set, as plain Python."""
        numbers = zip(*(a.tolist() for a in (self.value, self.standard_error, *self.interval(level))), strict=True)
        names = ("support", "standard_error", "low", "high")
        return [
            {"items": list(items), "length": len(items), **dict(zip(names, row, strict=True))}
            for items, row in zip(self.itemsets, numbers, strict=True)
        ]

    def to_json(self, level: float = 0.95) -> dict[str, Any]:
        """Everything, for programs."""
        return {
            "attribute": self.attribute,
            "target": self.target,
            "method": self.method,
            "respondents": self.respondents,
            "level": level,
            "itemsets": self.to_rows(level),
        }

    def to_frame(self, backend: Backend = "pandas", level: float = 0.95) -> Any:
        """Data frame with a row for each set, of the library named: "pandas", "polars" or "pyarrow"."""
        return rows_to_frame([{"values": {"items": row["items"]}, **row} for row in self.to_rows(level)], backend)

    def __str__(self) -> str:
        """Readable table, with a word about negative supports where there are any."""
        head = f"{self.attribute}: {self.respondents} reports, supports in the {self.target} by {self.method}"
        lines = [
            head,
            *row_lines([{"values": dict(enumerate(row["items"])), **row} for row in self.to_rows()], "support"),
        ]
        return "\n".join([*lines, f"  {NEGATIVE}"] if (self.value < 0).any() else lines)


def pooled(
    parts: Sequence[Part], schema: Schema, sets: Sequence[Items], target: Target, longest: int
) -> tuple[Array, Spread, int]:
    """Mean over all reports of what each counts for, its covariance, and the number of reports.

    With `f_I` what a report counts for, the covariance is `(mean f_I f_J - s_I s_J) / N` for the population, and for
    the table `(mean f_I f_J - s_(I and J)) / N`: given the truth, the mean of `f_I` is one or zero, so that only
    transactions with all items of both sets add to the product of means. Where such a union is longer than
    `longest` its support is not to be had, and neither is that covariance.
    """
    if target not in get_args(Target):
        raise SottovoceError("target", f"must be one of {', '.join(get_args(Target))}", target)
    crossed, reason = _crossed(sets, longest if target == "table" else None)
    singles: list[Pair] = [(items, ()) for items in sets]
    squares = [(items, items) for items in sets]
    unions: list[Pair] = [(union(*pair), ()) for pair in crossed] if target == "table" else []
    pairs = [*singles, *squares, *crossed, *unions]
    found = [sums_of_products(counter, schema, weigh, pairs) for counter, weigh in parts]
    rows = sum(number for _, number in found)
    check_number(rows)
    means = np.sum([sums for sums, _ in found], axis=0) / rows
    value, second, products, both = np.split(means, np.cumsum([len(sets), len(sets), len(crossed)]))
    variances = (second - (value if target == "table" else value**2)) / rows
    if reason:
        return value, VariancesOnly(variances, reason), rows
    left, right = np.triu_indices(len(sets), 1)
    matrix = np.diag(variances)
    matrix[left, right] = (products - (both if target == "table" else value[left] * value[right])) / rows
    matrix[right, left] = matrix[left, right]
    return value, MatrixSpread(matrix), rows


def _crossed(sets: Sequence[Items], longest: int | None) -> tuple[list[Pair], str]:
    """Every two sets once; or none, and the reason."""
    if len(sets) ** 2 > 2 * MOST_COUNTED:
        return [], f"{len(sets)} sets have too many pairs"
    crossed = list(combinations(sets, 2))
    lengths = [len(union(*pair)) for pair in crossed]
    if longest is not None and max(lengths, default=0) > longest:
        return [], f"two sets together have more than {longest} items, whose support cannot be estimated"
    if sum(2**length for length in lengths) > MOST_COUNTED:
        return [], f"unions of two sets have more than {MOST_COUNTED} subsets"
    return crossed, ""
