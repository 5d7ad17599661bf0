"""Privacy of the items that people hold: from their own reports alone, and when what goes together is known."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.itemsets import item_attribute, looked_up
from sottovoce.measures.item_privacy import basic_privacy, reinterrogation_privacy
from sottovoce.mining.itemsets.reconstruct import coins_of
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.bitsets import Bitsets
from sottovoce.tables.sparse_rows import listed_transactions


@dataclass(frozen=True)
class ItemsetPrivacy:
    """How private a held item is on the average, from 0 to 1: `basic`, and `reinterrogation`, with known itemsets."""

    basic: float
    reinterrogation: float

    def __str__(self) -> str:
        """Both in percent.

        >>> print(ItemsetPrivacy(0.925, 0.713))
        basic privacy 92.5 %, with the frequent itemsets known 71.3 %
        """
        return (
            f"basic privacy {100 * self.basic:.1f} %, "
            f"with the frequent itemsets known {100 * self.reinterrogation:.1f} %"
        )


def itemset_privacy(
    truths: Any, reports: Any, plan: Plan, known: Itemsets | Iterable[Any], *, attribute: str | None = None
) -> ItemsetPrivacy:
    """Privacy of a mined data set, by whoever has the truth as well (Agrawal 2004, 2.1 and 2.2).

    Basic privacy is `1 - sum_j s_j R1_j / sum_j s_j` over the items, with their true supports s_j and the coins of the
    plan; reinterrogation privacy is what is left of it once the itemsets `known` are: what was found, or sets of labels
    (`measures.item_privacy`, `measures.item_privacy`). `truths` and `reports` are transactions of any kind that
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
    true, seen = (_bits(parameter, sets, variable) for parameter, sets in (("truths", truths), ("reports", reports)))
    coins = coins_of(plan, variable)
    basic = basic_privacy(coins.ones, coins.zeros, _supports(true))
    return ItemsetPrivacy(basic, reinterrogation_privacy(true, seen, _numbers(known, variable), basic))


def _bits(parameter: str, sets: Any, variable: ItemSet) -> Bitsets:
    universe = len(variable.items)
    found = sets if isinstance(sets, Bitsets) else Bitsets.from_csr(*listed_transactions(sets, variable), universe)
    if found.items != universe:
        raise SottovoceError(parameter, f"must have {universe} items, as the plan", found.items)
    return found


def _supports(true: Bitsets) -> Array:
    return np.asarray(np.bitwise_count(true.words).sum(axis=(0, 2)) / true.count)


def _numbers(known: Itemsets | Iterable[Any], variable: ItemSet) -> list[Any]:
    if isinstance(known, Itemsets):
        if known.labels != variable.items:
            raise SottovoceError("known", f"must be sets of the items of {variable.name!r}", Words("others"))
        return [row for level in known.levels for row in level.items.tolist()]
    return list(looked_up(variable, known)[1])
