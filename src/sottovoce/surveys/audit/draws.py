"""What many reports say: whether they follow the plan's coins, how much they tell, and when they were sent.

All tests are exact or conservative, and share a small risk among everything that is looked at (Bonferroni): bounds on
proportions are those of Clopper and Pearson, and those on distributions of times are those of Dvoretzky, Kiefer and
Wolfowitz with the constants of P. Massart (1990), Annals of Probability 18, 1269-1283, for one sample, and of F. Wei &
R. M. Dudley (2012), Statistics & Probability Letters 82, 636-644, for two.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import e, log, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array
from sottovoce.disguises.audit.evidence import log_ratio, lower_bound, suspects, upper_bound
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Columns, ravel
from sottovoce.surveys.audit.report import Bound

LARGEST_TABLE = 256
"""Most cells of columns that are counted together."""

MOST_COLUMNS = 40
"""Most columns of which all pairs are counted; of more, only neighbours."""

LOOKS_WRONG = 4.0
"""Standard errors by which a count must deviate for its exact bounds to be computed."""


@dataclass(frozen=True)
class Deviation:
    """A report, or a part of one, that came too often or too seldom: its columns, codes and both shares."""

    columns: tuple[int, ...]
    codes: tuple[int, ...]
    seen: float
    expected: float

    @property
    def size(self) -> float:
        """Difference of the shares."""
        return abs(self.seen - self.expected)


def tables_of(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the columns that are counted together: each by itself, and pairs.

    >>> tables_of([2, 3, 200])
    [(0,), (1,), (2,), (0, 1)]
    """
    columns = range(len(sizes))
    pairs = combinations(columns, 2) if len(sizes) <= MOST_COLUMNS else pairwise(columns)
    return [(column,) for column in columns] + [pair for pair in pairs if prod(sizes[c] for c in pair) <= LARGEST_TABLE]


def counts_of(columns: Columns, table: tuple[int, ...], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return how often each combination of codes came."""
    shape = [sizes[column] for column in table]
    return np.bincount(ravel([columns[column] for column in table], shape), minlength=prod(shape))


def deviations(
    seen: Columns, expected: Columns, sizes: Sequence[int], risk: float, tables: Sequence[tuple[int, ...]] | None = None
) -> list[Deviation]:
    """Compare two samples, cell by cell; the largest deviations come first.

    A cell deviates if the bounds of its two shares exclude each other.
    """
    listed = tables_of(sizes) if tables is None else tables
    cells = sum(prod(sizes[column] for column in table) for table in listed)
    share = risk / (4 * max(cells, 1))
    found = []
    n, m = len(seen[0]), len(expected[0])
    for table in listed:
        shape = [sizes[column] for column in table]
        ours, theirs = counts_of(seen, table, sizes), counts_of(expected, table, sizes)
        for cell in _suspicious(ours, theirs, n, m):
            k, j = int(ours[cell]), int(theirs[cell])
            low, high = lower_bound(k, n, share), upper_bound(k, n, share)
            if low > upper_bound(j, m, share) or high < lower_bound(j, m, share):
                codes = tuple(int(code) for code in np.unravel_index(cell, shape))
                found.append(Deviation(table, codes, k / n, j / m))
    return sorted(found, key=lambda deviation: -deviation.size)


def _suspicious(ours: NDArray[np.int64], theirs: NDArray[np.int64], n: int, m: int) -> list[int]:
    """Return the cells that look wrong, or that are sent although they never should be."""
    pooled = (ours + theirs + 1) / (n + m + 2)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    return [int(cell) for cell in np.flatnonzero(np.abs(ours / n - theirs / m) > LOOKS_WRONG * error)]


def epsilon_bounds(
    plan: Plan, seen: tuple[Columns, Columns], expected: tuple[Columns, Columns], risk: float
) -> list[Bound]:
    """Return lower bounds on the epsilon of every group, and of all answers together, from reports of two truths.

    Both truths have equally many reports. A group whose reports are too many to be counted is looked at in its columns
    and their pairs, each of which tells no more than the whole. All answers together are looked at in one event: every
    group's report points to the first truth, as those that are `expected` say.
    """
    samples, sizes = len(seen[0][0]), plan.report_schema.sizes
    share = risk / (len(plan.groups) + 1)
    bounds, points = [], [np.ones(samples, np.bool_) for _ in seen]
    for group in plan.groups:
        tables = list(_group_tables(plan.report_columns(group), sizes))
        counted = [_by_truth(seen, table, sizes) for table in tables]
        found = [finding.bound for counts in counted for finding in suspects(counts, samples, share / len(tables))]
        bounds.append(Bound(", ".join(group.attributes), group.guarantee.epsilon, max(0.0, *found)))
        shape, usual = [sizes[column] for column in tables[0]], _by_truth(expected, tables[0], sizes)
        telling = usual[:, 0] > usual[:, 1]
        pointing = (telling[ravel([reports[column] for column in tables[0]], shape)] for reports in seen)
        points = [before & now for before, now in zip(points, pointing, strict=True)]
    if len(plan.groups) > 1:
        bound = log_ratio(int(points[0].sum()), int(points[1].sum()), samples, share / 2)
        bounds.append(Bound("all answers together", plan.guarantee.epsilon, max(0.0, bound)))
    return bounds


def _by_truth(reports: tuple[Columns, Columns], table: tuple[int, ...], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return counts of reports (rows) by truth (columns)."""
    return np.stack([counts_of(columns, table, sizes) for columns in reports], axis=1)


def _group_tables(columns: Sequence[int], sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield all columns of a group together, if they are few, and each by itself and in pairs otherwise."""
    if prod(sizes[column] for column in columns) <= LARGEST_TABLE:
        yield tuple(columns)
        return
    for table in tables_of([sizes[column] for column in columns]):
        yield tuple(columns[index] for index in table)


def two_sample_distance(first: Array, second: Array) -> float:
    """Return the Kolmogorov-Smirnov distance of two samples.

    >>> two_sample_distance(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    0.0
    """
    everything = np.sort(np.concatenate([first, second]))
    below = [np.searchsorted(np.sort(sample), everything, side="right") / len(sample) for sample in (first, second)]
    return float(np.abs(below[0] - below[1]).max())


def two_sample_limit(samples: int, risk: float) -> float:
    """Return the distance that two samples of the same distribution exceed with probability `risk` at most."""
    return sqrt(log(e / risk) / samples)


def uniform_distance(sample: Array) -> float:
    """Return the Kolmogorov-Smirnov distance of a sample from the uniform distribution between 0 and 1.

    >>> uniform_distance(np.array([0.25, 0.75]))
    0.25
    """
    ordered, steps = np.sort(sample), np.arange(len(sample) + 1) / len(sample)
    return float(max(np.abs(ordered - steps[:-1]).max(), np.abs(ordered - steps[1:]).max()))


def uniform_limit(samples: int, risk: float) -> float:
    """Return the distance that a uniform sample exceeds with probability `risk` at most."""
    return sqrt(log(2 / risk) / (2 * samples))
