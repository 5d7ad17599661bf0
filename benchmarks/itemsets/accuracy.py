"""What significance buys: frequent sets of 4 to 6 items lost, and others found, against the bare threshold."""

import numpy as np

from benchmarks.itemsets.data import Case, case
from benchmarks.measure import Row
from sottovoce.disguise.transactions import disguise_transactions
from sottovoce.mine.frequent import RECALL, frequent_itemsets

CASES = (("T10I4D100K", 10, 0.003), ("BMS-WebView-2", 50, 0.003))
DISGUISES = 4
LENGTHS = (4, 5, 6)


def rows() -> list[Row]:
    """Shares of the truly frequent sets of these lengths, in %, means of a few disguises; peer is recall = .5."""
    found = []
    for name, repeated, support in CASES:
        data = case(name, repeated)
        truth = _long(frequent_itemsets(data.original, data.certain, support).itemsets)
        errors = {recall: _errors(data, support, recall, truth) for recall in (RECALL, 0.5)}
        for place, kind in enumerate(("lost", "found by mistake")):
            title = f"{data.name}, {100 * support:g} %, lengths 4-6, {kind}"
            found.append(Row(title, "bare threshold", errors[RECALL][place], errors[0.5][place], "%"))
    return found


def _errors(data: Case, support: float, recall: float, truth: set[tuple[object, ...]]) -> tuple[float, float]:
    lost, mistaken = [], []
    for seed in range(DISGUISES):
        reports = disguise_transactions(data.original, data.coins, rng=seed)
        found = _long(frequent_itemsets(reports, data.coins, support, recall=recall).itemsets)
        lost.append(len(truth - found) / len(truth))
        mistaken.append(len(found - truth) / len(truth))
    return 100 * float(np.mean(lost)), 100 * float(np.mean(mistaken))


def _long(itemsets: tuple[tuple[object, ...], ...]) -> set[tuple[object, ...]]:
    return {items for items in itemsets if len(items) in LENGTHS}
