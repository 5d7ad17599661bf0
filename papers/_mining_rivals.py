"""The thesis' disguises of single items beside the mining plan: MASK and cut-and-paste, at any odds of the record."""

import warnings
from typing import Any

from papers._frapp import CUTOFF, Data
from sottovoce.disguises.tables import disguise_frame
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.mining.itemsets.frequent import ResolutionWarning, frequent_itemsets
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.schemes.cut_and_paste import pairs_meeting
from sottovoce.schemes.emask import Emask


def mined_by_mask(data: Data, gamma: int, min_support: float, seed: int) -> Itemsets:
    """Each bit of a record of M attributes kept with p, `(p / (1 - p))^2M = gamma`."""
    root = gamma ** (1 / (2 * _size(data)))
    plan = data.items_under(Emask(p=root / (1 + root), q=root / (1 + root)))
    reports = disguise_transactions(data.transactions, plan, rng=seed, kind="bitsets")
    return _possible(data, reports, plan, min_support)


def mined_by_cut_and_paste(data: Data, gamma: int, min_support: float, seed: int) -> Itemsets:
    """The thesis' cutoff, or the largest that can meet the odds, which exceed the cutoff by more than one."""
    plan = data.items_under(pairs_meeting(gamma, CUTOFF)[-1])
    labels = data.labels
    lists = [[labels[item] for item in row] for row in data.transactions[1].reshape(-1, _size(data)).tolist()]
    reports = disguise_frame({"items": lists}, plan, rng=seed)
    return _possible(data, {_size(data): reports}, plan, min_support)


def _size(data: Data) -> int:
    return len(data.table[0].names)


def _possible(data: Data, reports: Any, plan: Any, min_support: float) -> Itemsets:
    """Sets with at most one value of each attribute, by the bare threshold; noise may be all there is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResolutionWarning)
        found = frequent_itemsets(
            reports, plan, min_support, selection="threshold", longest=_size(data), target="table"
        )
        return data.possible(found)
