"""Basic and reinterrogation privacy of the ones in a table of items."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, probability
from sottovoce.measure.reals import real_array


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


def reinterrogation_privacy(truths: Any, reports: Any, itemsets: Iterable[Iterable[int]], basic: Number) -> float:
    """Average privacy of the true ones once frequent itemsets are known (Agrawal 2004, 2.2).

    An itemset F that holds item b breaches b by the share of true b among the records whose REPORT holds
    all of F. A true 1 that is reported as 1 loses the worst breach among the itemsets that hold b and
    appear in its record's report. A 1 reported as 0, a 1 of an item in no itemset, and one that no
    itemset reaches keep `basic`, the average basic privacy.

    `truths` and `reports` are tables of zeros and ones, records by items; the itemsets are those
    frequent in the truth, by the numbers of their items (the thesis lets the miner know them exactly).

    >>> truths = [[1, 1], [1, 0], [0, 0], [0, 1]]
    >>> reports = [[1, 1], [1, 0], [1, 0], [0, 0]]
    >>> round(reinterrogation_privacy(truths, reports, [[0], [0, 1]], basic=0.9), 6)  # breaches 1, 2/3, 1, none
    0.308333
    """
    true, seen = _bits("truths", truths), _bits("reports", reports)
    if true.shape != seen.shape:
        raise SottovoceError("reports", f"must have the shape of the truths, {true.shape}", seen.shape)
    if not true.any():
        raise SottovoceError("truths", "must hold a one to protect", true.shape)
    floor = float(probability("basic", basic))
    columns = _itemsets_of(itemsets, true.shape[1])
    lost = [_privacy_of_kept(true, seen, item, columns.get(item, []), floor) for item in range(true.shape[1])]
    return sum(lost) / int(true.sum())


def _privacy_of_kept(
    true: NDArray[np.bool_], seen: NDArray[np.bool_], item: int, itemsets: Sequence[list[int]], basic: float
) -> float:
    """Sum over the ones of one item; only records whose report holds the item can hold an itemset with it."""
    holders = seen[:, item]
    own, rows = true[holders, item], seen[holders]
    breach = np.zeros(len(own))
    for itemset in itemsets:
        present = rows[:, itemset].all(axis=1)
        if present.any():
            breach[present] = np.maximum(breach[present], own[present].mean())
    # A breach of a true one is never zero, for that one is counted in it: zero means no itemset was there.
    kept = np.where(breach > 0, 1 - breach, basic)[own].sum()
    flipped = int(true[~holders, item].sum())
    return float(kept + flipped * basic)


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


def _bits(parameter: str, table: Any) -> NDArray[np.bool_]:
    array = np.asarray(table)
    if array.ndim != 2 or not np.isin(array, (0, 1)).all():
        raise SottovoceError(parameter, "must be a table of zeros and ones, records by items", array.shape)
    return array.astype(bool)


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
