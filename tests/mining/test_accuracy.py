"""Errors of mined itemsets: by hand, and none where nothing is hidden."""

from math import isnan

import numpy as np

from sottovoce.mining.itemsets.evaluation import LengthErrors, mining_errors
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.mining.itemsets.selection import Level


def of(sets: dict[tuple[int, ...], float]) -> Itemsets:
    lengths = sorted({len(items) for items in sets})
    levels = []
    for length in lengths:
        own = {items: support for items, support in sets.items() if len(items) == length}
        levels.append(Level(np.array(list(own)), np.array(list(own.values())), np.zeros(len(own))))
    return Itemsets(tuple("abcd"), tuple(levels), 100, 0.1, "table")


TRUTH = of({(0,): 0.5, (1,): 0.4, (2,): 0.2, (0, 1): 0.2})


def test_by_hand():
    found = mining_errors(of({(0,): 0.6, (1,): 0.36, (3,): 0.2, (0, 3): 0.3}), TRUTH)
    assert found[0] == LengthErrors(1, 3, 100 / 3, 100 / 3, 15.000000000000002, 400 / 6)
    assert (found[1].false_positives, found[1].false_negatives, found[1].f1) == (100, 100, 0)
    assert isnan(found[1].support_error)


def test_the_truth_has_no_errors():
    assert mining_errors(TRUTH, TRUTH) == [LengthErrors(1, 3, 0, 0, 0, 100), LengthErrors(2, 1, 0, 0, 0, 100)]
