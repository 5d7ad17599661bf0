"""A plan measured column by column: the whole group's report, its own column where that is too large, or nothing."""

import numpy as np
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.measures.privacy import mutual_information
from sottovoce.measures.summary import OWN, WHOLE, column_matrix, measure_columns
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import Crosswise, CutAndPaste, Emask, GammaDiagonal, RelatedQuestion, Warner


def test_every_attribute_in_the_order_of_the_schema(plan):
    found = measure_columns(plan, {"drug": [0.7, 0.2, 0.1]})
    assert [column.name for column in found] == ["tax", "drug", "age", "children"]
    assert [column.prior_given for column in found] == [False, True, False, False]
    assert {column.seen for column in found} == {WHOLE}
    tax, drug, age, _ = found
    assert (tax.accuracy, tax.worst_posterior, tax.distortion) == pytest.approx((0.75, 0.75, 0.25))  # Warner, p = 3/4
    assert age.distortion == pytest.approx(1 - 0.5 - 0.5 / 3)  # theta = 1/2, else a bin with mean share 1/3
    group = plan.group_of("drug").mechanism.channel
    whole = column_matrix(group, 0, [[0.7, 0.2, 0.1], [0.25] * 4])
    assert drug.mutual_information == pytest.approx(mutual_information(whole, [0.7, 0.2, 0.1]))


def test_the_rest_of_a_report_may_tell_more_than_its_own_column():
    """Kept whole or replaced: a rare value of b that is reported was probably replaced, and a with it."""
    schema = Schema([boolean("a"), Attribute("b", [0, 1, 2, 3])])
    plan = Plan.of(schema, {("a", "b"): GammaDiagonal(gamma=9)})
    priors = {"a": [0.5, 0.5], "b": [0.97, 0.01, 0.01, 0.01]}
    own = plan.channel(["a"]).dense()
    told = measure_columns(plan, priors)[0].mutual_information
    assert told > 1.3 * mutual_information(own, [0.5, 0.5])


def test_items_are_measured_one_by_one():
    plan = Plan.of(Schema([boolean("tax"), ItemSet("s", ["x", "y"])]), {("tax", "s"): Emask(p=0.5, q=0.9)})
    _, first, second = measure_columns(plan, {"s": [0.1, 0.3]})
    assert (first.item, second.item) == ("x", "y")
    assert (first.prior, second.prior) == ([0.9, 0.1], [0.7, 0.3])
    assert first.individual_reconstruction[1] == pytest.approx(0.5 * 5 / 14 + 0.5 * 5 / 86)  # R1, eq. 3.2
    assert first.distortion == pytest.approx(0.9 * 0.1 + 0.1 * 0.5)
    assert first.to_json()["item"] == "x"


def test_reports_in_other_words_have_no_distortion():
    plan = Plan.of(Schema([boolean("a")]), {"a": Crosswise(q=0.25)})
    (column,) = measure_columns(plan)
    assert column.distortion is None
    assert column.accuracy == pytest.approx(0.75)
    assert "item" not in column.to_json()


def test_a_report_that_does_not_split_is_measured_whole():
    schema = Schema([boolean("a"), boolean("b")])
    plan = Plan.of(schema, {("a", "b"): RelatedQuestion(theta=0.7)})
    first, _ = measure_columns(plan, {"a": [0.5, 0.5], "b": [0.9, 0.1]})
    # b is a no nine times in ten, so a reported pair shows which way the coin fell: .9 x .7 : .1 x .3 = 21 : 1
    assert first.worst_posterior == pytest.approx(21 / 22)


def test_groups_too_large_to_write_out():
    wide = Schema([Attribute("a", range(70)), Attribute("b", range(70))])
    a, b = measure_columns(Plan.of(wide, {("a", "b"): GammaDiagonal(gamma=50)}))
    assert (a.seen, b.seen) == (OWN, OWN)
    own = (50 + 69) / (50 + 70**2 - 1)  # one joint cell, and 69 that agree in a
    assert a.accuracy == pytest.approx(own)
    assert a.distortion == pytest.approx(1 - own)
    basket = Schema([ItemSet("s", range(40))])
    items = measure_columns(Plan.of(basket, {"s": CutAndPaste(cutoff=3, rho=0.4)}))
    assert {(item.seen, item.accuracy, item.distortion) for item in items} == {(None, None, None)}
    long = Schema([Attribute("a", range(5000))])
    (column,) = measure_columns(Plan.of(long, {"a": Warner(p=0.5)}))
    assert (column.seen, column.accuracy) == (None, None)
    assert column.distortion == pytest.approx(0.5)


def test_bad_priors_are_told(plan):
    with pytest.raises(SottovoceError, match=r"^name must be one of tax, drug, age, children\. Got 'drugs' instead"):
        measure_columns(plan, {"drugs": [1]})
    with pytest.raises(SottovoceError, match=r"^prior of drug must sum to 1; the sum is 0\.9\. Got"):
        measure_columns(plan, {"drug": [0.7, 0.1, 0.1]})
    items = Plan.of(Schema([ItemSet("s", ["x", "y"])]), {"s": Emask(p=0.5, q=0.9)})
    with pytest.raises(SottovoceError, match=r"^prior of s must have a frequency for each of 2 items\. Got \(3,\)"):
        measure_columns(items, {"s": np.ones(3) / 3})
    with pytest.raises(SottovoceError, match=r"^prior of s must be between 0 and 1\."):
        measure_columns(items, {"s": [0.1, 1.5]})
