"""Attributes, bins and item sets: codes, labels, and values that are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import SottovoceError
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.item_set import ItemSet

INF = float("inf")


def codes(variable, values):
    return [column.tolist() for column in variable.encode(values)]


@pytest.mark.parametrize(
    ("build", "parameter"),
    [
        (lambda: Attribute("a", ["x", "x"]), "categories"),
        (lambda: Attribute("a", ["x"]), "categories"),
        (lambda: Attribute("a", [1, "1"]), "categories"),
        (lambda: Attribute("a", [0.5, 1.5]), "categories"),
        (lambda: Attribute("a", [1, True]), "categories"),
        (lambda: Attribute("a", [1, 2**53 + 1]), "categories"),
        (lambda: Attribute("a", "abc"), "categories"),
        (lambda: Attribute("a", 5), "categories"),
        (lambda: Attribute("a", None), "categories"),
        (lambda: Attribute("", ["x", "y"]), "name"),
        (lambda: Attribute(None, ["x", "y"]), "name"),
        (lambda: Attribute("a", ["x", "y"], missing="z"), "missing"),
        (lambda: Binned("a", [1], closed="left"), "edges"),
        (lambda: Binned("a", [2, 1], closed="left"), "edges"),
        (lambda: Binned("a", [0, float("nan"), 2], closed="left"), "edges"),
        (lambda: Binned("a", 5, closed="left"), "edges"),
        (lambda: Binned("a", "123", closed="left"), "edges"),
        (lambda: Binned("a", [0, "x"], closed="left"), "edges"),
        (lambda: Binned("a", [0, 1, 2], closed="left", labels="ab"), "labels"),
        (lambda: Binned("a", [0, 1, 2], closed="left", labels=5), "labels"),
        (lambda: Binned("a", [0, 1, 2], closed="both"), "closed"),
        (lambda: Binned("a", [0, 1, 2], closed="left", labels=["low"]), "labels"),
        (lambda: Binned("a", [0, 1, 2], closed="left", labels=["low", "low"]), "labels"),
        (lambda: ItemSet("a", "xyz"), "items"),
        (lambda: ItemSet("a", 5), "items"),
        (lambda: ItemSet("a", []), "items"),
        (lambda: ItemSet("a", ["x", "x"]), "items"),
        (lambda: ItemSet("a", ["x;y"]), "items"),
    ],
)
def test_bad_variables_are_refused(build, parameter):
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: Attribute(["x", "y"], "name"),
        lambda: ItemSet(["x", "y"], "name"),
        lambda: Binned([0, 1], "name", closed="left"),
    ],
)
def test_swapped_arguments_are_pointed_out(build):
    with pytest.raises(SottovoceError, match=r"^name must be a text that is not empty, given before the list of"):
        build()


@pytest.mark.parametrize("name", [7, np.int64(7), True])
def test_names_that_are_numbers_are_pointed_out(name):
    with pytest.raises(SottovoceError, match=r"^name must be .*; rename columns whose names are numbers\. Got"):
        Attribute(name, ["x", "y"])


def test_unknown_categories_name_column_and_value():
    with pytest.raises(SottovoceError, match=r"^drug must be one of its categories \(no, yes\)\. Got 'mayb' instead"):
        Attribute("drug", ["no", "yes"]).encode(["no", "mayb"])


def test_many_categories_are_shortened_in_the_message():
    with pytest.raises(SottovoceError, match=r"0, 1, .* \.\.\.\)\. Got 5000 instead"):
        Attribute("n", range(1000)).encode([5000])


@pytest.mark.parametrize("value", [None, float("nan"), np.float32("nan")])
def test_missing_values_are_refused_or_a_category(value):
    with pytest.raises(SottovoceError, match=r"^drug must not be missing"):
        Attribute("drug", ["no", "yes"]).encode(["no", value])
    assert codes(Attribute("drug", ["no", "yes", "silent"], missing="silent"), ["no", value]) == [[0, 2]]


def test_labels_of_every_kind_and_their_text():
    assert codes(Attribute("n", [1, 2, 10]), [10, "2", np.int64(1), 2.0]) == [[2, 1, 0, 1]]
    assert codes(boolean("b"), [True, "false", "TRUE", np.bool_(False), 1]) == [[1, 0, 1, 0, 1]]
    assert codes(Attribute("n", np.array([3, 4])), np.array([4, 3])) == [[1, 0]]


def test_text_stands_for_the_numbers_and_booleans_it_prints():
    assert codes(Attribute("n", ["1", "2", "007", "silent"], missing="silent"), [2, 1.0, "007", None]) == [[1, 0, 2, 3]]
    assert codes(Attribute("b", ["False", "True", "silent"]), [True, "silent", "false"]) == [[1, 2, 0]]
    with pytest.raises(SottovoceError, match=r"^n must be one of its categories"):
        Attribute("n", ["007", "008"]).encode([7])


def test_values_that_cannot_be_looked_up_are_refused():
    with pytest.raises(SottovoceError, match=r"^drug must be one of its categories"):
        Attribute("drug", ["no", "yes"]).encode([["no"]])


@given(st.lists(st.integers(0, 3)))
def test_attributes_decode_what_they_encode(numbers):
    attribute = Attribute("a", ["w", "x", "y", "z"])
    labels = [attribute.categories[n] for n in numbers]
    assert attribute.decode(attribute.encode(labels)).tolist() == labels


def test_sides_of_bins():
    left = Binned("hours", [0, 20, 40], closed="left")
    right = Binned("hours", [0, 20, 40], closed="right")
    assert (left.categories, right.categories) == (("[0, 20)", "[20, 40)"), ("(0, 20]", "(20, 40]"))
    assert codes(left, [0, 19.9, 20]) == [[0, 0, 1]]
    assert codes(right, [0.1, 20, 40]) == [[0, 0, 1]]
    assert left.decode(left.encode([5])).tolist() == ["[0, 20)"]


def test_open_ends_of_bins():
    age = Binned("age", [-INF, 18, INF], closed="right", labels=["minor", "adult"])
    assert codes(age, ["3", 18, 18.5, 200]) == [[0, 0, 1, 1]]
    assert Binned("age", [-INF, 18, INF], closed="right").categories == ("(-inf, 18]", "(18, inf)")


@pytest.mark.parametrize(("closed", "value"), [("left", -1), ("left", 40), ("right", 0), ("right", 41), ("left", INF)])
def test_numbers_outside_the_bins_are_refused(closed, value):
    with pytest.raises(SottovoceError, match=r"^hours must lie in .* \.\.\. .*\. Got .* instead"):
        Binned("hours", [0, 20, 40], closed=closed).encode([10, value])


def test_an_infinite_number_is_refused_even_by_open_ends():
    with pytest.raises(SottovoceError, match=r"^age must lie in"):
        Binned(
            "age",
            [
                0,
                INF,
            ],
            closed="left",
            missing="none",
        ).encode([INF])


def test_missing_numbers():
    with pytest.raises(SottovoceError, match=r"^hours must not be missing"):
        Binned("hours", [0, 20, 40], closed="left").encode([10, None])
    hours = Binned("hours", [0, 20, 40], closed="left", missing="silent")
    assert hours.categories == ("[0, 20)", "[20, 40)", "silent")
    assert codes(hours, np.array([10, np.nan])) == [[0, 2]]


@pytest.mark.parametrize("value", ["ten", [], {}])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(SottovoceError, match=r"^hours must be a number"):
        Binned("hours", [0, 20, 40], closed="left").encode([None, "10", value])


def test_item_sets():
    basket = ItemSet("basket", ["ale", "bread", "cheese"])
    assert basket.sizes == (2, 2, 2)
    assert codes(basket, [{"bread"}, "ale;cheese", "", ()]) == [[0, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]]
    assert basket.decode(basket.encode([["cheese", "ale"], []])) == [["ale", "cheese"], []]
    assert ItemSet("n", [1, 2]).decode(ItemSet("n", [1, 2]).encode([[2]])) == [[2]]


def test_sets_by_number():
    basket = ItemSet("basket", ["ale", "bread", "cheese"])
    given = [["bread", "ale", "bread"], (), "cheese;ale", iter(["ale"]), np.array(["bread"]), {"cheese": 2}]
    starts, members = basket.encode_sparse(given)
    assert starts.tolist() == [0, 3, 3, 5, 6, 7, 8]
    assert members.tolist() == [1, 0, 1, 2, 0, 0, 1, 2]
    assert basket.decode_sparse(starts, members)[:3] == [["bread", "ale", "bread"], [], ["cheese", "ale"]]
    assert basket.decode_sparse(*basket.encode_sparse([])) == []


@pytest.mark.parametrize(
    ("value", "rule"),
    [(["wine"], "one of its categories"), (None, "a collection"), (5, "a collection"), ([[]], "one of")],
)
def test_sets_that_are_none(value, rule):
    with pytest.raises(SottovoceError, match=rf"^basket must be {rule}"):
        ItemSet("basket", ["ale", "bread"]).encode([[], value])
