"""Privacy of a mined data set: by its definition, from transactions of any kind, and what is refused."""

from itertools import combinations

import numpy as np
import pytest

from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.errors import SottovoceError
from sottovoce.mining.itemsets.evaluation import itemset_privacy
from sottovoce.mining.itemsets.frequent import frequent_itemsets
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.cut_and_paste import CutAndPaste
from sottovoce.schemes.emask import Emask

ITEMS = ["ale", "bread", "cheese", "dates"]
SCHEMA = Schema([ItemSet("basket", ITEMS)])
P, Q = (0.7, 0.8, 0.6, 0.9), (0.9, 0.95, 0.8, 0.9)
PLAN = Plan.of(SCHEMA, {"basket": Emask(p=P, q=Q)})
EXACT = Plan.of(SCHEMA, {"basket": Emask(p=1, q=1)})
TRUTHS = np.random.default_rng(1).random((500, 4)) < [0.5, 0.4, 0.3, 0.1]
REPORTS = disguise_transactions(TRUTHS, PLAN, rng=2)


def by_hand(known: list[tuple[int, ...]]) -> tuple[float, float]:
    """Eq. 3.2 and section 2.2 of the thesis, one after the other."""
    supports, lost = TRUTHS.mean(axis=0), 0.0
    for s, p, q in zip(supports, P, Q, strict=True):
        lost += s * (p**2 * s / (s * p + (1 - s) * (1 - q)) + (1 - p) ** 2 * s / (s * (1 - p) + (1 - s) * q))
    basic = 1 - lost / supports.sum()
    left = []
    for row, item in np.argwhere(TRUTHS):
        sets = [c for c in known if item in c and REPORTS[row, list(c)].all()]
        breaches = [TRUTHS[REPORTS[:, list(c)].all(axis=1), item].mean() for c in sets]
        left.append(1 - max(breaches) if breaches else basic)
    return basic, float(np.mean(left))


def test_both_are_those_of_the_thesis():
    known = [c for k in (1, 2) for c in combinations(range(3), k)]
    found = itemset_privacy(TRUTHS, REPORTS, PLAN, [[ITEMS[i] for i in c] for c in known])
    assert (found.basic, found.reinterrogation) == pytest.approx(by_hand(known))


@pytest.mark.parametrize("kind", ["lists", "csr", "matrix", "bitsets"])
def test_transactions_and_found_sets_of_any_kind(kind):
    mined = frequent_itemsets(TRUTHS, EXACT, 0.1, target="table")
    truths, reports = (disguise_transactions(sets, EXACT, kind=kind) for sets in (TRUTHS, REPORTS))
    known = [tuple(row) for level in mined.levels for row in level.items.tolist()]
    found = itemset_privacy(truths, reports, PLAN, mined, attribute="basket")
    assert (found.basic, found.reinterrogation) == pytest.approx(by_hand(known))


def test_refused():
    others = Plan.of(Schema([ItemSet("basket", ["a", "b", "c", "d"])]), {"basket": Emask(p=1, q=1)})
    with pytest.raises(SottovoceError, match=r"^known must be sets of the items of 'basket'"):
        itemset_privacy(TRUTHS, REPORTS, PLAN, frequent_itemsets(TRUTHS, others, 0.1, target="table"))
    narrow = Plan.of(Schema([ItemSet("basket", ITEMS[:3])]), {"basket": Emask(p=0.8, q=0.9)})
    reports = disguise_transactions(REPORTS, EXACT, kind="bitsets")
    with pytest.raises(SottovoceError, match=r"^reports must have 3 items, as the plan has\. Got 4"):
        itemset_privacy(TRUTHS[:, :3], reports, narrow, [["ale"]])
    pasted = Plan.of(SCHEMA, {"basket": CutAndPaste(2, 0.3)})
    with pytest.raises(SottovoceError, match=r"^basket must be disguised item by item\. Got cut_and_paste"):
        itemset_privacy(TRUTHS, REPORTS, pasted, [["ale"]])
    with pytest.raises(SottovoceError, match=r"^basket must be one of its categories"):
        itemset_privacy(TRUTHS, REPORTS, PLAN, [["beer"]])


def test_in_a_notebook():
    found = itemset_privacy(TRUTHS, REPORTS, PLAN, [["ale"]])
    assert found._repr_html_() == f"<pre>{found}</pre>"
