"""Supports and their covariance from the means of what reports count for, over all reports together."""

from collections.abc import Sequence
from itertools import combinations
from typing import get_args

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.count.protocol import Counter
from sottovoce.errors import SottovoceError
from sottovoce.estimate.enough import check_number
from sottovoce.estimate.moments import Items, Pair, Weigh, sums_of_products, union
from sottovoce.estimate.spread import MatrixSpread, Spread, Target
from sottovoce.estimate.supports import VariancesOnly
from sottovoce.schema.schema import Schema

MOST_COUNTED = 2**16
"""Subsets of all unions of two sets, up to which covariances are computed."""

Part = tuple[Counter, Weigh]
"""Reports, and what each of them counts for."""


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
