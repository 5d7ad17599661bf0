"""Results as rows, frames, lines and HTML: one base for all of them."""

import json

import numpy as np
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.estimates import presentation
from sottovoce.estimates.derived import derive
from sottovoce.estimates.groups import compare_estimates
from sottovoce.estimates.independence import independence_test
from sottovoce.estimates.itemsets import estimate_supports
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.estimates.two_samples import estimate_two_samples
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.unrelated_question import UnrelatedQuestion
from sottovoce.schemes.warner import Warner

PLAN = Plan.of(Schema([boolean("a"), boolean("b & c")]), {"a": Warner(p=0.75), "b & c": Warner(p=0.8)})
REPORTS = {"a": [True] * 20 + [False] * 80, "b & c": [True, False] * 50}
BASKETS = Plan.of(Schema([ItemSet("basket", ["ale", "bread"])]), {"basket": Emask(p=0.9, q=0.8)})


def results():
    table = estimate_proportions(REPORTS, PLAN, ["a", "b & c"])
    yield table, "Estimate a x b & c: 100 reports, proportions in the population by inversion", "noise"
    other = estimate_proportions(REPORTS, PLAN, "a")
    yield compare_estimates(other, other), "Comparison a: differences in the population", "all alike"
    supports = estimate_supports({"basket": [["ale"], [], ["ale", "bread"]]}, BASKETS, [["ale"], ["ale", "bread"]])
    yield supports, "Supports basket: 3 reports, supports in the population by inversion", "[&#x27;ale&#x27;, "
    yield derive(other, "entropy"), "Derived entropy: ", "<pre>entropy"
    yield independence_test(REPORTS, PLAN, "a", "b & c"), "IndependenceTest independence of a and b & c", "b &amp; c"
    plans = [Plan.of(Schema([boolean("a")]), {"a": UnrelatedQuestion(theta)}) for theta in (0.75, 0.25)]
    yield (
        estimate_two_samples({"a": [True, False] * 10}, plans[0], {"a": [True] * 20}, plans[1], "a"),
        "TwoSamples sensitive a: 40 reports",
        "<pre>",
    )


def test_results_are_read_at_a_glance():
    for result, summary, shown in results():
        assert repr(result).startswith(f"<{summary}")
        assert "\n" not in repr(result)
        html = result._repr_html_()
        assert shown in html
        assert "b & c" not in html
        json.dumps(result.to_json() if hasattr(result, "to_json") else {})


def test_frames_and_lines_are_of_the_same_rows():
    for result, *_ in results():
        if isinstance(result, presentation.ResultTable):
            frame = result.to_frame("polars", 0.9)
            rows = result.to_rows(0.9)
            assert frame["low"].to_list() == [row["low"] for row in rows]
            assert len(result.to_lines(0.9)) == len(rows) == len(frame)


class Measured(presentation.ResultTable):
    """A table without cells and intervals."""

    def __init__(self, rows):
        self.rows = rows

    @property
    def headline(self):
        return "schemes"

    def to_rows(self):
        return [{"scheme": "warner", "mse": 1 / 3, "odds": None}] * self.rows


def test_plain_tables(monkeypatch):
    monkeypatch.setattr(presentation, "MOST_LINES", 2)
    assert str(Measured(1)) == "schemes\n  scheme  mse     odds\n  warner  0.3333"
    assert str(Measured(3)).splitlines()[-1] == "  ... and 1 more rows"
    assert str(Measured(0)) == "schemes"
    assert Measured(1).to_frame("pandas").columns.tolist() == ["scheme", "mse", "odds"]
    assert "<td>warner</td>" in Measured(1)._repr_html_()


def test_json_has_no_infinite_numbers():
    assert presentation.json_rows([{"a": np.inf, "b": float("nan"), "c": 1, "d": 0.5}]) == [
        {"a": None, "b": None, "c": 1, "d": 0.5}
    ]


def test_margins_by_name():
    table = estimate_proportions(REPORTS, PLAN, ["a", "b & c"])
    assert table.marginal("b & c").attributes == ("b & c",)
    np.testing.assert_allclose(table.marginal(["a"]).value, estimate_proportions(REPORTS, PLAN, "a").value)


def test_a_library_that_is_not_installed_is_named(monkeypatch):
    def missing(columns, backend):
        raise ModuleNotFoundError(backend)

    monkeypatch.setattr(presentation.nw, "from_dict", missing)
    with pytest.raises(
        SottovoceError, match=r"^backend must be the name of a library that is installed\. Got 'polars'"
    ):
        presentation.new_frame({"a": [1]}, "polars")
