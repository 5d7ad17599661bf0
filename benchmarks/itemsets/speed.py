"""A million transactions: disguised ones beside our own miner of the original, and beside pyfim's eclat.

Everything is timed from sparse rows to the result, on as many threads as there are cores (eclat has one); building
the bits that are counted on is timed apart as well. The goals: at most 1.5 times our own, at most .4 times eclat.
"""

from functools import partial

import numpy as np

import sottovoce as sv
from benchmarks.itemsets.data import Case, case, lists
from benchmarks.measure import Row, best_seconds
from sottovoce.counts.all_ones import chosen_bits

CASES = (
    ("T10I4D1M", 1, (0.005, 0.003)),
    ("T10I4D100K", 10, (0.005, 0.003)),
    ("BMS-WebView-1", 10, (0.005, 0.003)),
    ("BMS-WebView-2", 50, (0.005, 0.003)),
)


def rows() -> list[Row]:
    """Three rows for each data set and threshold; ratios are peer over ours."""
    found = []
    for name, repeated, supports in CASES:
        data = case(name, repeated)
        listed = lists(data.original)
        for support in supports:
            found += _rows(data, listed, support)
    return found


def _rows(data: Case, listed: list[list[int]], support: float) -> list[Row]:
    import fim

    ours = partial(sv.Reports(data.disguised, data.coins).itemsets, support, target="table")
    own = partial(sv.Reports(data.original, data.certain).itemsets, support, target="table")
    chosen = np.unique(own().levels[0].items)
    assert len(own()) == len(fim.eclat(listed, supp=100 * support))
    build = partial(chosen_bits, data.disguised, len(data.items.items), chosen)
    eclat = partial(fim.eclat, listed, supp=100 * support)
    disguised, original, built = best_seconds(ours, own, build)
    (peer,) = best_seconds(eclat, rounds=3)
    name = f"{data.name}, {100 * support:g} %"
    return [
        Row(f"{name}, EMASK, ours on the original", "ours, exact", disguised, original, "seconds"),
        Row(f"{name}, EMASK, eclat on the original", "pyfim eclat", disguised, peer, "seconds"),
        Row(f"{name}, original, eclat likewise", "pyfim eclat", original, peer, "seconds"),
        Row(f"{name}, EMASK, building its bits alone", None, built, None, "seconds"),
        Row(f"{name}, EMASK, mining without building", None, disguised - built, None, "seconds"),
    ]
