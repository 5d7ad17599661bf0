"""Patterns: the different rows of coded columns, and how many reports have each.

They hold all that can be learned from reports of these columns, whatever their order and wherever they were counted:
sums over patterns, in their order, are the same to the last digit from every back end.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sottovoce.counts.protocol import Counter, Counts
from sottovoce.schemas.attribute import LARGEST_DOMAIN, Codes, Columns, narrow, ravel, unravel
from sottovoce.schemas.schema import Schema

FEW_CELLS = 2**16
"""Joint cells up to which patterns are counted in a table of all of them."""

HELD_ROWS = 2**20
"""Rows that are held before equal ones are joined."""

Batch = tuple[Columns, Counts | None]
"""Coded columns of some rows, and how many reports each row stands for; None: one."""

Keys = NDArray[Any]
"""A sortable key of each row: the number of its joint cell, or its codes as bytes."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """Different rows in lexicographic order, and how many reports have each.

    >>> found = Patterns.of([((np.array([1, 0, 1]), np.array([2, 0, 2])), None)], (2, 3))
    >>> found.columns, found.times
    ((array([0, 1], dtype=uint8), array([0, 2], dtype=uint8)), array([1, 2]))
    """

    columns: Columns
    times: Counts

    @classmethod
    def of(cls, batches: Iterable[Batch], sizes: Sequence[int]) -> "Patterns":
        """Count the patterns of all batches; memory grows with the patterns, not with the rows."""
        if not sizes:
            return cls((), np.zeros(0, np.int64))
        keys, times = _keys([np.zeros(0, np.int64)] * len(sizes), sizes), np.zeros(0, np.int64)
        held: list[tuple[Keys, Counts]] = [(keys, times)]
        waiting = 0
        for columns, counts in batches:
            key = _keys(columns, sizes)
            held.append(_joined([(key, np.ones(len(key), np.int64) if counts is None else counts)], sizes))
            waiting += len(held[-1][0])
            if waiting > HELD_ROWS:
                held, waiting = [_joined(held, sizes)], 0
        keys, times = _joined(held, sizes)
        return cls(_columns(keys, sizes), times)

    @classmethod
    def joined(cls, several: Iterable["Patterns"], sizes: Sequence[int]) -> "Patterns":
        """Count the reports of several tables together."""
        return cls.of(((each.columns, each.times) for each in several), sizes)

    @property
    def reports(self) -> int:
        """Number of reports."""
        return int(self.times.sum())


@runtime_checkable
class PatternCounter(Counter, Protocol):
    """Protocol for counters that also know the patterns of reports."""

    def patterns(self, schema: Schema) -> Patterns:
        """Different rows of these columns, and how many reports have each."""


def _keys(columns: Sequence[Codes], sizes: Sequence[int]) -> Keys:
    """Return keys in the order of the rows' codes."""
    if prod(sizes) <= LARGEST_DOMAIN:
        return ravel(columns, sizes)
    kind = np.dtype(f">u{np.min_scalar_type(max(sizes) - 1).itemsize}")  # bytes sort as the numbers do
    rows = np.ascontiguousarray(np.stack(columns, axis=1).astype(kind))
    return rows.view(np.dtype((np.void, rows.shape[1] * kind.itemsize)))[:, 0]


def _columns(keys: Keys, sizes: Sequence[int]) -> Columns:
    """Codes of the rows with these keys."""
    if prod(sizes) <= LARGEST_DOMAIN:
        return unravel(keys, sizes)
    kind = np.dtype(f">u{np.min_scalar_type(max(sizes) - 1).itemsize}")
    rows = keys.view(kind).reshape(len(keys), len(sizes))
    return tuple(narrow(rows[:, column], size) for column, size in enumerate(sizes))


def _joined(held: Sequence[tuple[Keys, Counts]], sizes: Sequence[int]) -> tuple[Keys, Counts]:
    """Sort keys and add the counts of equal ones; keys that no report has are left out."""
    keys = np.concatenate([key for key, _ in held])
    times = np.concatenate([counts for _, counts in held])
    if prod(sizes) <= FEW_CELLS:
        cells = np.zeros(prod(sizes), np.int64)
        np.add.at(cells, keys, times)
        present = np.flatnonzero(cells)
        return present, cells[present]
    distinct, inverse = np.unique(keys, return_inverse=True)
    counts = np.zeros(len(distinct), np.int64)
    np.add.at(counts, inverse.ravel(), times)
    return distinct[counts > 0], counts[counts > 0]
