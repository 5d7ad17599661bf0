"""Basic and reinterrogation privacy of the ones in a table of items."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, whole_number
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, probability
from sottovoce.measures.matrices import real_array
from sottovoce.tables.bitsets import Bitsets

Packed = NDArray[np.uint8]
"""Bits of eight records in each byte."""


def reconstruction_of_ones(p: Any, q: Any, supports: Any) -> Array:
    """Return `R1 = p^2 s / (s p + (1-s)(1-q)) + (1-p)^2 s / (s (1-p) + (1-s) q)` for each item.

    The probability that a true 1, kept with p among zeros kept with q, is reconstructed from its report
    by a draw from the posterior, s being the item's support (Agrawal 2004, eq. 2.1 and 3.2; the line
    Pr(V=0|U=1) = q before it should read 1 - p). MASK is q = p.

    >>> round(float(reconstruction_of_ones(0.5051, 0.9696, 0.01)), 4)
    0.0751
    """
    one, zero, share = _of_equal_length(_shares("p", p), _shares("q", q), _shares("supports", supports))
    kept, lost = one * share, (1 - one) * share
    reported_one, reported_zero = kept + (1 - share) * (1 - zero), lost + (1 - share) * zero
    # Posteriors first: of the smallest floats, products with them would be rounded up to the whole.
    return one * _ratio(kept, reported_one) + (1 - one) * _ratio(lost, reported_zero)


def basic_privacy(p: Any, q: Any, supports: Any) -> float:
    """Return `BP = 1 - sum_j s_j R1_j / sum_j s_j`, averaged over the ones of all items (Agrawal 2004, 3.3.2).

    `supports` is one average support, or one for each item; p and q likewise.

    >>> round(basic_privacy(0.5051, 0.9696, 0.01), 3)  # 92.5 % in the thesis
    0.925
    """
    reconstructed = reconstruction_of_ones(p, q, supports)
    weights = np.broadcast_to(_shares("supports", supports), reconstructed.shape)
    if weights.sum() == 0:
        raise SottovoceError("supports", "must not all be 0: there would be no ones to protect", supports)
    return float(1 - (weights * reconstructed).sum() / weights.sum())


def _shares(parameter: str, values: Any) -> Array:
    array = real_array(parameter, values)
    if not ((array >= 0) & (array <= 1)).all():
        raise SottovoceError(parameter, "must be between 0 and 1", array.tolist())
    return array


def _of_equal_length(*shares: Array) -> tuple[Array, ...]:
    try:
        return np.broadcast_arrays(*shares)
    except ValueError:
        rule = "must be one number each or one for each item"
        raise SottovoceError("p, q and supports", rule, [share.shape for share in shares]) from None


def _ratio(part: Array, whole: Array) -> Array:
    """Return the ratio, and zero for a report that has probability zero."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def reinterrogation_privacy(truths: Any, reports: Any, itemsets: Iterable[Iterable[int]], basic: Number) -> float:
    """Return the average privacy of the true ones once frequent itemsets are known (Agrawal 2004, 2.2).

    An itemset F that contains item b breaches b by the share of true b among the records whose report contains
    all of F. A true 1 that is reported as 1 loses the worst breach among the itemsets that contain b and
    appear in its record's report. A 1 reported as 0, a 1 of an item in no itemset, and one whose report contains no
    such itemset keep `basic`, the average basic privacy.

    `truths` and `reports` are tables of zeros and ones, records by items, or bitsets; the itemsets are those
    frequent in the truth, by the indices of their items (in the thesis the miner knows them exactly). Breaches
    are counted, so give all records: in a small sample, rarely reported itemsets seem to breach too much.

    >>> truths = [[1, 1], [1, 0], [0, 0], [0, 1]]
    >>> reports = [[1, 1], [1, 0], [1, 0], [0, 0]]
    >>> round(reinterrogation_privacy(truths, reports, [[0], [0, 1]], basic=0.9), 6)  # breaches 1, 2/3, 1, none
    0.308333
    """
    true, reported = _bitsets("truths", truths), _bitsets("reports", reports)
    if (true.count, true.items) != (reported.count, reported.items):
        shape = (true.count, true.items)
        raise SottovoceError("reports", f"must have the shape of the truths, {shape}", (reported.count, reported.items))
    ones = int(np.bitwise_count(true.words).sum())
    if not ones:
        raise SottovoceError("truths", "must hold a one to protect", (true.count, true.items))
    floor = float(probability("basic", basic))
    lost = 0.0
    for item, sets in _itemsets_of(itemsets, true.items).items():
        holders = np.flatnonzero(_column(reported, item))
        truly = np.packbits(_column(true, item)[holders])
        columns = {
            each: np.packbits(_column(reported, each)[holders]) for each in {b for members in sets for b in members}
        }
        present = [np.bitwise_and.reduce([columns[b] for b in members]) for members in sets]
        lost += _lost_privacy(truly, present, floor)
    return floor - lost / ones


def _lost_privacy(truly: Packed, present: Sequence[Packed], basic: float) -> float:
    """Return the privacy that the ones of an item lose, each by the worst breach of the itemsets in its record."""
    breaches = [_ones(there & truly) / max(_ones(there), 1) for there in present]
    left, lost = truly, 0.0
    for worst in np.argsort(breaches)[::-1]:
        lost += _ones(left & present[worst]) * (breaches[worst] + basic - 1)
        left = left & ~present[worst]
    return lost


def _ones(packed: Packed) -> int:
    return int(np.bitwise_count(packed).sum())


def _column(sets: Bitsets, item: int) -> NDArray[np.bool_]:
    """Return whether each record contains the item."""
    words = np.ascontiguousarray(sets.words[:, item]).astype("<u8", copy=False)
    return np.unpackbits(words.view(np.uint8).ravel(), count=sets.count, bitorder="little").view(bool)


def _itemsets_of(itemsets: Iterable[Iterable[int]], items: int) -> dict[int, list[list[int]]]:
    """Return the itemsets that contain each item."""
    by_item: dict[int, list[list[int]]] = {}
    for itemset in itemsets:
        members = [whole_number("itemsets", item, least=0, most=items - 1) for item in itemset]
        if not members:
            raise SottovoceError("itemsets", "must have at least one item each", members)
        for item in members:
            by_item.setdefault(item, []).append(members)
    return by_item


def _bitsets(parameter: str, table: Any) -> Bitsets:
    if isinstance(table, Bitsets):
        return table
    array = np.asarray(table)
    if array.ndim != 2 or not np.isin(array, (0, 1)).all():
        raise SottovoceError(parameter, "must be a table of zeros and ones, records by items", array.shape)
    return Bitsets.from_matrix(array.astype(bool))
