"""Reinterrogation privacy: what is left of the ones' privacy when the frequent itemsets are known."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, probability
from sottovoce.table.bitsets import Bitsets

Packed = NDArray[np.uint8]
"""Eight records a byte."""


def reinterrogation_privacy(truths: Any, reports: Any, itemsets: Iterable[Iterable[int]], basic: Number) -> float:
    """Average privacy of the true ones once frequent itemsets are known (Agrawal 2004, 2.2).

    An itemset F that holds item b breaches b by the share of true b among the records whose REPORT holds
    all of F. A true 1 that is reported as 1 loses the worst breach among the itemsets that hold b and
    appear in its record's report. A 1 reported as 0, a 1 of an item in no itemset, and one that no
    itemset reaches keep `basic`, the average basic privacy.

    `truths` and `reports` are tables of zeros and ones, records by items, or bitsets; the itemsets are those
    frequent in the truth, by the numbers of their items (the thesis lets the miner know them exactly). Breaches
    are counted, so give all records: of a few, an itemset that is rarely reported would seem to prove too much.

    >>> truths = [[1, 1], [1, 0], [0, 0], [0, 1]]
    >>> reports = [[1, 1], [1, 0], [1, 0], [0, 0]]
    >>> round(reinterrogation_privacy(truths, reports, [[0], [0, 1]], basic=0.9), 6)  # breaches 1, 2/3, 1, none
    0.308333
    """
    true, seen = _bitsets("truths", truths), _bitsets("reports", reports)
    if (true.count, true.items) != (seen.count, seen.items):
        shape = (true.count, true.items)
        raise SottovoceError("reports", f"must have the shape of the truths, {shape}", (seen.count, seen.items))
    ones = int(np.bitwise_count(true.words).sum())
    if not ones:
        raise SottovoceError("truths", "must hold a one to protect", (true.count, true.items))
    floor = float(probability("basic", basic))
    lost = 0.0
    for item, sets in _itemsets_of(itemsets, true.items).items():
        holders = np.flatnonzero(_column(seen, item))
        own = np.packbits(_column(true, item)[holders])
        reported = {
            each: np.packbits(_column(seen, each)[holders]) for each in {b for members in sets for b in members}
        }
        lost += _lost(own, [np.bitwise_and.reduce([reported[b] for b in members]) for members in sets], floor)
    return floor - lost / ones


def _lost(own: Packed, present: Sequence[Packed], basic: float) -> float:
    """Privacy that the ones of an item lose: each by the worst breach of the itemsets present in its record."""
    breaches = [_ones(there & own) / max(_ones(there), 1) for there in present]
    left, lost = own, 0.0
    for worst in np.argsort(breaches)[::-1]:
        lost += _ones(left & present[worst]) * (breaches[worst] + basic - 1)
        left = left & ~present[worst]
    return lost


def _ones(packed: Packed) -> int:
    return int(np.bitwise_count(packed).sum())


def _column(sets: Bitsets, item: int) -> NDArray[np.bool_]:
    """Whether each record holds the item."""
    words = np.ascontiguousarray(sets.words[:, item]).astype("<u8", copy=False)
    return np.unpackbits(words.view(np.uint8).ravel(), count=sets.count, bitorder="little").view(bool)


def _itemsets_of(itemsets: Iterable[Iterable[int]], items: int) -> dict[int, list[list[int]]]:
    """Itemsets that hold each item."""
    found: dict[int, list[list[int]]] = {}
    for itemset in itemsets:
        members = list(itemset)
        if not members or not all(isinstance(b, int | np.integer) and 0 <= b < items for b in members):
            raise SottovoceError("itemsets", f"must hold whole numbers from 0 to {items - 1}", members)
        for item in members:
            found.setdefault(int(item), []).append(members)
    return found


def _bitsets(parameter: str, table: Any) -> Bitsets:
    if isinstance(table, Bitsets):
        return table
    array = np.asarray(table)
    if array.ndim != 2 or not np.isin(array, (0, 1)).all():
        raise SottovoceError(parameter, "must be a table of zeros and ones, records by items", array.shape)
    return Bitsets.from_matrix(array.astype(bool))
