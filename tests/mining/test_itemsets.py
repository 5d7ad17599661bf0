"""The result: labels in and out, frames that mlxtend's users know, maximal and closed sets by definition."""

import json

import numpy as np
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.mining.itemsets.frequent import frequent_itemsets
from sottovoce.mining.itemsets.selection import Recall
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.emask import Emask

SCHEMA = Schema([ItemSet("basket", ["ale", "bread", "cheese", "dates"])])
PLAIN = Plan.of(SCHEMA, {"basket": Emask(p=1, q=1)})
BASKETS = [["ale", "bread", "cheese"]] * 4 + [["ale", "bread"]] * 2 + [["ale"]] * 2 + [["dates"]] * 2


@pytest.fixture(scope="module")
def found():
    return frequent_itemsets(BASKETS, PLAIN, 0.2, target="table")


def test_maximal_sets(found):
    assert found.maximal().itemsets == (("dates",), ("ale", "bread", "cheese"))


def test_closed_sets_tell_all_supports(found):
    """The support of any frequent set is the highest of the closed sets that contain it (Pasquier et al. 1999)."""
    closed = found.closed()
    assert closed.itemsets == (("ale",), ("dates",), ("ale", "bread"), ("ale", "bread", "cheese"))
    told = list(zip(closed.itemsets, closed.support, strict=True))
    for items, support in zip(found.itemsets, found.support, strict=True):
        assert support == max(s for other, s in told if set(items) <= set(other))


def test_a_set_without_its_subsets_is_maximal(found):
    """Filtering may take subsets away; what is left is compared with what is left."""
    only = found.closed().closed()
    assert only.itemsets == found.closed().itemsets


def test_likely_sets():
    noisy = Plan.of(SCHEMA, {"basket": Emask(p=0.9, q=0.9)})
    found = frequent_itemsets(BASKETS * 50, noisy, 0.63, selection=Recall(0.99), target="table")
    assert 0 < found.probability.min() < 0.9
    sure = found.likely(0.9)
    assert 0 < len(sure) < len(found)
    assert (sure.estimate > 0.63).all()
    with pytest.raises(SottovoceError, match=r"^probability must be from 0 to 1\. Got 95"):
        found.likely(95)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames(found, backend):
    frame = found.to_frame(backend)
    names = ["support", "itemsets", "standard_error", "low", "high", "length", "probability"]
    assert (list(frame.columns) if backend != "pyarrow" else frame.column_names) == names
    if backend == "pandas":
        assert frame["itemsets"][0] == frozenset({"ale"})


def test_mlxtend_takes_the_frame(found):
    rules = pytest.importorskip("mlxtend.frequent_patterns").association_rules(
        found.to_frame(), metric="confidence", min_threshold=0.9
    )
    assert len(rules) > 0


def test_json(found):
    document = json.loads(json.dumps(found.to_json()))
    first = document["itemsets"][0]
    assert first == {
        "items": ["ale"],
        "length": 1,
        "support": 0.8,
        "standard_error": 0.0,
        "low": 0.8,
        "high": 0.8,
        "probability": 1.0,
    }
    assert (document["respondents"], document["min_support"], document["target"]) == (10, 0.2, "table")


def test_text(found):
    text = str(found)
    assert text.startswith("10 reports, min_support 0.2, supports in the table: 4 of length 1, 3 of length 2, 1 of")
    assert "shrunken" not in text
    people = frequent_itemsets(BASKETS * 9, PLAIN, 0.2, target="population")
    assert "Supports are shrunken estimates" in str(people)
    assert people.standard_error[0] == pytest.approx(np.sqrt(0.8 * 0.2 / 90))
    low, high = people.interval(kind="posterior")
    assert (low + high)[0] / 2 == pytest.approx(0.8 - people.bias[0])


def test_summaries():
    found = frequent_itemsets(BASKETS * 9, PLAIN, 0.2)
    assert repr(found) == f"<Itemsets {found.headline}>"
    page = found._repr_html_()
    assert page.startswith(f"<div><b>{found.headline}</b><table>")
    assert "<td>ale, bread</td>" in page
    assert "Supports are shrunken estimates" in page
    assert "shrunken" not in found.select([level.support > 1 for level in found.levels])._repr_html_()
