"""100,000 baskets at .3 %: mlxtend and efficient-apriori on the original, beside ours on the disguise."""

from functools import partial
from typing import Any

import numpy as np

import sottovoce as sv
from benchmarks.itemsets.data import case, lists
from benchmarks.measure import Row, best_seconds

SUPPORT = 0.003


def rows() -> list[Row]:
    """Ours first; peers take minutes and run once."""
    import pandas as pd
    from efficient_apriori import apriori
    from mlxtend.frequent_patterns import fpgrowth

    data = case("T10I4D100K", 1)
    (ours,) = best_seconds(partial(_quietly, sv.Reports(data.disguised, data.coins).itemsets, SUPPORT, target="table"))
    indptr, indices = data.original
    matrix = np.zeros((len(indptr) - 1, len(data.items.items)), bool)
    matrix[np.repeat(np.arange(len(matrix)), np.diff(indptr)), indices] = True
    frame = pd.DataFrame(matrix)
    (grown,) = best_seconds(partial(fpgrowth, frame, min_support=SUPPORT), rounds=1)
    listed = [tuple(items) for items in lists(data.original)]
    (joined,) = best_seconds(partial(apriori, listed, min_support=SUPPORT, min_confidence=1), rounds=1)
    name = f"{data.name}, {100 * SUPPORT:g} %, EMASK, peer on the original"
    return [
        Row(name, "mlxtend fpgrowth", ours, grown, "seconds"),
        Row(name, "efficient-apriori", ours, joined, "seconds"),
    ]


def _quietly(function: Any, *arguments: Any, **options: Any) -> Any:
    """A tenth of the transactions cannot resolve the longest sets, which is known."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)
