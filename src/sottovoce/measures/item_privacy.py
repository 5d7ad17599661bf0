"""Basic and reinterrogation privacy of the ones in a table of items."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, probability
from sottovoce.measures.matrices import real_array
from sottovoce.tables.bitsets import Bitsets

Packed = NDArray[np.uint8]
"""Eight records a byte."""


def reconstruction_of_ones(p: Any, q: Any, supports: Any) -> Array:
    """`R1 = p^2 s / (s p + (1-s)(1-q)) + (1-p)^2 s / (s (1-p) + (1-s) q)` for each item.

    The probability that a true 1, kept with p among zeros kept with q, is reconstructed from its report
    by a draw from the posterior, s being the item's support (Agrawal 2004, eq. 2.1 and 3.2; the line
    Pr(V=0|U=1) = q before it should read 1 - p). MASK is q = p.

    >>> round(float(reconstruction_of_ones(0.5051, 0.9696, 0.01)), 4)
    0.0751
    """
    one, zero, share = _of_equal_length(_shares("p", p), _shares("q", q), _shares("supports", supports))
    kept, lost = one * share, (1 - one) * share
    found = kept + (1 - share) * (1 - zero), lost + (1 - share) * zero
    return _ratio(one * kept, found[0]) + _ratio((1 - one) * lost, found[1])


def basic_privacy(p: Any, q: Any, supports: Any) -> float:
    """`BP = 1 - sum_j s_j R1_j / sum_j s_j`, averaged over the ones of all items (Agrawal 2004, 3.3.2).

    `supports` is one average support, or one for each item; p and q likewise.

    >>> round(basic_privacy(0.5051, 0.9696, 0.01), 3)  # 92.5 % in the thesis
    0.925
    """
    found = reconstruction_of_ones(p, q, supports)
    weights = np.broadcast_to(_shares("supports", supports), found.shape)
    if weights.sum() == 0:
        raise SottovoceError("supports", "must not all be 0: there would be no ones to protect", supports)
    return float(1 - (weights * found).sum() / weights.sum())


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
    """Zero over a report that never comes."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


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
