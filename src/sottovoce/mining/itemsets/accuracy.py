"""Errors of mined itemsets against the true ones: false and missed sets, and supports."""

from dataclasses import dataclass

import numpy as np

from sottovoce.mining.itemsets.result import Itemsets


@dataclass(frozen=True)
class LengthErrors:
    """Errors at one length, in % of the true sets there; `support_error` is nan if none of them was found.

    `f1` is the harmonic mean of precision and recall of the sets, in %.
    """

    length: int
    frequent: int
    false_positives: float
    false_negatives: float
    support_error: float
    f1: float


def mining_errors(found: Itemsets, truth: Itemsets) -> list[LengthErrors]:
    """Return identity errors and support error at each length (S. J. Rizvi & J. R. Haritsa 2002, Proc. VLDB).

    With F the true sets of a length and R those found, `sigma+ = |R - F| / |F|`, `sigma- = |F - R| / |F|`, rho is
    the mean of `|found - true| / true` over the supports of sets in both, and `F1 = 2 |R and F| / (|R| + |F|)`; all
    times 100.

    >>> from sottovoce.mining.itemsets.frequent import frequent_itemsets
    >>> from sottovoce.plans.plan import Plan
    >>> from sottovoce.schemas.item_set import ItemSet
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.emask import Emask
    >>> plan = Plan.of(Schema([ItemSet("basket", ["ale", "bread"])]), {"basket": Emask(p=1, q=1)})
    >>> truth = frequent_itemsets([["ale"], ["ale", "bread"], [], []], plan, 0.25, target="table")
    >>> found = frequent_itemsets([["ale"], ["ale"], ["ale"], []], plan, 0.25, target="table")
    >>> (single, _) = mining_errors(found, truth)
    >>> single.frequent, single.false_positives, single.false_negatives, single.support_error, round(single.f1, 1)
    (2, 0.0, 50.0, 50.0, 66.7)
    """
    estimated = dict(zip(found.itemsets, found.support.tolist(), strict=True))
    actual = dict(zip(truth.itemsets, truth.support.tolist(), strict=True))
    errors = []
    for length, frequent in truth.by_length.items():
        true = {items: support for items, support in actual.items() if len(items) == length}
        ratios = [abs(estimated[items] / support - 1) for items, support in true.items() if items in estimated]
        false = sum(len(items) == length and items not in true for items in estimated)
        missed = 100 * (frequent - len(ratios)) / frequent
        rho = 100 * float(np.mean(ratios)) if ratios else float("nan")
        f1 = 200 * len(ratios) / (frequent + len(ratios) + false)
        errors.append(LengthErrors(length, frequent, 100 * false / frequent, missed, rho, f1))
    return errors
