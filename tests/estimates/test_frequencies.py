"""Rows that stand for several equal reports: the estimates of the expanded table, to the last digit."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sottovoce.counts.counter import as_counter
from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SottovoceError
from sottovoce.estimates.asked_together import estimate_asked_together
from sottovoce.estimates.independence import independence_test
from sottovoce.estimates.itemsets import estimate_supports
from sottovoce.estimates.log_linear import estimate_joint, most_likely_joint
from sottovoce.estimates.proportions import estimate_by, estimate_proportions
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.attribute_sampling import AttributeSampling
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.subset_selection import SubsetSelection
from sottovoce.schemes.warner import Warner
from sottovoce.tables.bitsets import Bitsets

SCHEMA = Schema([boolean("tax"), boolean("drug")])
PLAN = Plan.of(SCHEMA, {"tax": Warner(p=0.75), "drug": Warner(p=0.8)})
JOINED = Plan.of(SCHEMA, {("tax", "drug"): SubsetSelection(odds=3)})
FREQUENCIES = [17, 3, 0, 40, 9, 31]
TABLE = {
    "tax": [True, True, False, False, True, False],
    "drug": [True, False, True, False, True, True],
    "town": ["Ulm", "Bonn", "Ulm", "Ulm", "Bonn", "Bonn"],
    "year": [1, 1, 2, 2, 2, 1],
    "weight": [0.5, 1.25, 2.0, 0.75, 3.0, 1.5],  # sums of these are exact
    "n": FREQUENCIES,
}


def expanded(table, frequencies=FREQUENCIES):
    return {
        name: [v for v, n in zip(values, frequencies, strict=True) for _ in range(n)] for name, values in table.items()
    }


def assert_equal(one, other):
    np.testing.assert_array_equal(one.value, other.value)
    np.testing.assert_array_equal(one.standard_error, other.standard_error)
    assert one.to_json() == other.to_json()


@pytest.mark.parametrize("frequencies", ["n", FREQUENCIES, np.array(FREQUENCIES), pd.Series(FREQUENCIES)])
@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize("method", ["inversion", "blue", "simplex"])
def test_proportions(method, weights, frequencies):
    options = {"method": method, "weights": weights}
    found = estimate_proportions(TABLE, PLAN, ["drug", "tax"], frequencies=frequencies, **options)
    assert_equal(found, estimate_proportions(expanded(TABLE), PLAN, ["drug", "tax"], **options))
    assert found.respondents == 100


def test_proportions_by_em():
    found = estimate_proportions(TABLE, PLAN, "tax", method="em", frequencies="n")
    assert_equal(found, estimate_proportions(expanded(TABLE), PLAN, "tax", method="em"))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize("by", ["town", ["town"], ["town", "year"]])
def test_groups(by, weights, frame):
    groups = estimate_by(frame(TABLE), PLAN, "tax", by, weights=weights, frequencies="n")
    expected = estimate_by(expanded(TABLE), PLAN, "tax", by, weights=weights)
    assert list(groups) == list(expected)
    assert sum(found.respondents for found in groups.values()) == 100
    for group, found in groups.items():
        assert_equal(found, expected[group])
    if isinstance(by, list):
        assert all(isinstance(group, tuple) and len(group) == len(by) for group in groups)


def test_groups_are_in_order_and_named_in_errors():
    groups = estimate_by(TABLE, PLAN, "drug", ["town", "year"], frequencies=[5, 5, 5, 5, 5, 5])
    assert list(groups) == [("Bonn", 1), ("Bonn", 2), ("Ulm", 1), ("Ulm", 2)]
    rule = r"^reports must be at least 2 for a standard error, where town, year is Bonn, 2\. Got 1 instead"
    with pytest.raises(SottovoceError, match=rule):
        estimate_by(TABLE, PLAN, "drug", ["town", "year"], frequencies=[5, 5, 5, 5, 1, 5])


def test_an_indivisible_report():
    reports = disguise_frame({"tax": TABLE["tax"], "drug": TABLE["drug"]}, JOINED, rng=1) | {"town": TABLE["town"]}
    whole = expanded(reports)
    assert_equal(
        estimate_proportions(reports, JOINED, "tax", frequencies=FREQUENCIES),
        estimate_proportions(whole, JOINED, "tax"),
    )
    groups, expected = (
        estimate_by(reports, JOINED, "tax", "town", frequencies=FREQUENCIES),
        estimate_by(whole, JOINED, "tax", "town"),
    )
    for group, found in groups.items():
        assert_equal(found, expected[group])


def test_sets_of_many_categories():
    values = list(range(14))
    schema = Schema([Attribute("a", values)])
    plan = Plan.of(schema, {"a": SubsetSelection(odds=9)})
    reports, frequencies = disguise_frame({"a": values}, plan, rng=1), [3, 0, 2, 1] * 3 + [5, 4]
    found = estimate_proportions(reports, plan, "a", frequencies=frequencies)
    assert_equal(found, estimate_proportions(expanded(reports, frequencies), plan, "a"))
    with pytest.raises(SottovoceError, match=r"^reports must be at least 2"):
        estimate_proportions(reports, plan, "a", frequencies=[0] * 13 + [1])


def test_tests_models_and_supports():
    whole = expanded(TABLE)
    test = independence_test(TABLE, PLAN, "tax", "drug", frequencies="n")
    assert test.to_json() == independence_test(whole, PLAN, "tax", "drug").to_json()
    assert_equal(estimate_joint(TABLE, PLAN, frequencies="n"), estimate_joint(whole, PLAN))
    found, expected = most_likely_joint(TABLE, PLAN, frequencies="n"), most_likely_joint(whole, PLAN)
    np.testing.assert_array_equal(found.value, expected.value)
    sampled = Plan.of(SCHEMA, {("tax", "drug"): AttributeSampling(odds=3)})
    reports = disguise_frame({name: TABLE[name] for name in SCHEMA.names}, sampled, rng=3)
    for plan, table in ((PLAN, TABLE), (sampled, reports)):
        assert_equal(
            estimate_asked_together(table, plan, "tax", frequencies=FREQUENCIES),
            estimate_asked_together(expanded(table), plan, "tax"),
        )
    basket = Plan.of(Schema([ItemSet("basket", ["ale", "bread"])]), {"basket": Emask(p=0.9, q=0.8)})
    baskets = {"basket": [["ale"], ["ale", "bread"], [], ["bread"], ["ale"], ["bread", "ale"]], "n": FREQUENCIES}
    wanted = [["ale"], ["ale", "bread"]]
    assert_equal(
        estimate_supports(baskets, basket, wanted, frequencies="n"),
        estimate_supports(expanded(baskets), basket, wanted),
    )


def test_a_counter_of_frequencies_counts_reports():
    for frequencies in ("n", FREQUENCIES):
        assert as_counter(TABLE, frequencies).rows() == 100
        counter = as_counter(TABLE, frequencies)
        assert counter.all_ones(SCHEMA, np.array([[0, 1], [1, 1]])).tolist() == [26, 57]
        assert counter.rows() == 100


def test_a_file(tmp_path):
    path = tmp_path / "reports.csv"
    path.write_text("tax,n\nTrue,40\nFalse,60\n")
    found = estimate_proportions(path, PLAN, "tax", frequencies="n")
    assert_equal(found, estimate_proportions({"tax": [True] * 40 + [False] * 60}, PLAN, "tax"))


@pytest.mark.parametrize("by", [None, "town"])
@pytest.mark.parametrize(
    ("frequencies", "message"),
    [
        ([1, 2, -3, 4, 5, 6], r"whole numbers from 0 to 2\^53; row 3\. Got -3 instead"),
        ([1, 2.5, 3, 4, 5, 6], r"whole numbers from 0 to 2\^53; row 2\. Got 2\.5 instead"),
        ([1, 2, 3, None, 5, 6], r"whole numbers from 0 to 2\^53; row 4\. Got a missing one"),
        ([1, 2, 3, True, 5, 6], r"whole numbers from 0 to 2\^53; row 4\. Got True"),
        (["", 2, 3, 4, 5, 6], r"whole numbers from 0 to 2\^53; row 1\. Got a missing one"),
        ([1, 2, 3, 4, 5, 1e16], r"whole numbers from 0 to 2\^53; row 6\. Got 1e\+16"),
        ([1, 2], r"as many as the reports, of which there are at least 6\. Got 2 instead"),
        ([1] * 7, r"as many as the 6 reports\. Got 7 instead"),
    ],
)
def test_frequencies_that_are_none(frequencies, message, by):
    estimate = estimate_proportions if by is None else partial(estimate_by, by=by)
    with pytest.raises(SottovoceError, match=rf"^frequencies must be {message}"):
        estimate(TABLE, PLAN, "tax", frequencies=frequencies)


def test_where_frequencies_are_refused():
    with pytest.raises(SottovoceError, match=r"^frequencies must be a column that was not disguised\. Got 'drug'"):
        estimate_proportions(TABLE, PLAN, "tax", frequencies="drug")
    for counted in (as_counter(TABLE), Bitsets.from_csr([0, 1], [0], items=2)):
        with pytest.raises(SottovoceError, match=r"^frequencies must be left out unless reports are a table or a file"):
            estimate_proportions(counted, PLAN, "tax", frequencies=[1])
    with pytest.raises(SottovoceError, match=r"^reports must be at least 2"):
        estimate_proportions(TABLE, PLAN, "tax", frequencies=[0] * 6)
    with pytest.raises(SottovoceError, match=r"^weights must not all be zero"):
        estimate_proportions(TABLE, PLAN, "tax", frequencies=[0] * 6, weights="weight")


@pytest.mark.parametrize("by", [[], [1], 3.5])
def test_groups_by_what_is_no_column(by):
    with pytest.raises(SottovoceError, match=r"^by must be the name of a column, or a list of names"):
        estimate_by(TABLE, PLAN, "tax", by)
