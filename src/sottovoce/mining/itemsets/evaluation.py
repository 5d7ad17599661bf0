"""What mined itemsets are worth: errors against the true ones, and privacy of the items that respondents hold."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.display import html_text
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.itemsets import encode_itemsets, item_attribute
from sottovoce.measures.item_privacy import basic_privacy, reinterrogation_privacy
from sottovoce.mining.itemsets.reconstruct import item_coins
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.bitsets import Bitsets
from sottovoce.tables.sparse_rows import transactions_to_csr


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
    the mean of `|found - true| / true` over the estimates (not shrunk) of sets in both, and
    `F1 = 2 |R and F| / (|R| + |F|)`; all times 100.

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
    estimated = dict(zip(found.itemsets, found.estimate.tolist(), strict=True))
    actual = dict(zip(truth.itemsets, truth.estimate.tolist(), strict=True))
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


@dataclass(frozen=True)
class ItemsetPrivacy:
    """Average privacy of a held item, from 0 to 1: `basic`, and `reinterrogation` with known itemsets."""

    basic: float
    reinterrogation: float

    def __str__(self) -> str:
        """Return both in percent.

        >>> print(ItemsetPrivacy(0.925, 0.713))
        basic privacy 92.5 %, with the frequent itemsets known 71.3 %
        """
        return (
            f"basic privacy {100 * self.basic:.1f} %, "
            f"with the frequent itemsets known {100 * self.reinterrogation:.1f} %"
        )

    def _repr_html_(self) -> str:
        return html_text(str(self))


def itemset_privacy(
    truths: Any, reports: Any, plan: Plan, known: Itemsets | Iterable[Any], *, attribute: str | None = None
) -> ItemsetPrivacy:
    """Return the privacy of a data set whose truths are at hand (Agrawal 2004, 2.1 and 2.2).

    Basic privacy is `1 - sum_j s_j R1_j / sum_j s_j` over the items, with their true supports s_j and the coins of the
    plan; reinterrogation privacy is what remains of it once the itemsets `known`, mined ones or sets of labels, are
    published (`measures.item_privacy`). `truths` and `reports` are transactions of any kind that
    `disguise_transactions` takes, in the same order. Both are averages over people: the odds hold for everyone.

    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.emask import Emask
    >>> plan = Plan.of(Schema([ItemSet("basket", ["ale", "bread"])]), {"basket": Emask(p=0.5, q=0.9)})
    >>> truths = [["ale", "bread"], ["ale"], [], ["bread"]]
    >>> reports = [["ale", "bread"], ["ale"], ["ale"], []]
    >>> print(itemset_privacy(truths, reports, plan, [["ale"], ["ale", "bread"]]))  # of the four: 0, 0, 1/3, basic
    basic privacy 40.5 %, with the frequent itemsets known 18.5 %
    """
    variable = item_attribute(plan, attribute)
    true, reported = (_bitsets(name, sets, variable) for name, sets in (("truths", truths), ("reports", reports)))
    coins = item_coins(plan, variable)
    supports = np.bitwise_count(true.words).sum(axis=(0, 2)) / true.count
    basic = basic_privacy(coins.ones, coins.zeros, supports)
    return ItemsetPrivacy(basic, reinterrogation_privacy(true, reported, _indices(known, variable), basic))


def _bitsets(parameter: str, sets: Any, variable: ItemSet) -> Bitsets:
    items = len(variable.items)
    bitsets = sets if isinstance(sets, Bitsets) else Bitsets.from_csr(*transactions_to_csr(sets, variable), items)
    if bitsets.items != items:
        raise SottovoceError(parameter, f"must have {items} items, as the plan has", bitsets.items)
    return bitsets


def _indices(known: Itemsets | Iterable[Any], variable: ItemSet) -> list[Any]:
    if isinstance(known, Itemsets):
        if known.labels != variable.items:
            raise SottovoceError("known", f"must be sets of the items of {variable.name!r}", Words("others"))
        return [row for level in known.levels for row in level.items.tolist()]
    return list(encode_itemsets(variable, known)[1])
