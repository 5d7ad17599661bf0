"""Schemas: projection, numbering of joint cells, JSON."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import SottovoceError, SottovoceWarning
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean, ravel, unravel
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.item_set import ItemSet, category_set
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.attribute_sampling import AttributeSampling
from sottovoce.schemes.warner import Warner


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.data())
def test_ravel_agrees_with_numpy_and_unravel_undoes_it(sizes, data):
    rows = data.draw(st.integers(1, 5))
    columns = [np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=rows, max_size=rows))) for k in sizes]
    joint = ravel(columns, sizes)
    assert joint.tolist() == np.ravel_multi_index(columns, sizes).tolist()
    assert all((a == b).all() for a, b in zip(unravel(joint, sizes), columns, strict=True))


def test_large_domains_are_counted_and_numbered_but_never_built():
    schema = Schema(Attribute(f"q{i}", range(8)) for i in range(20))
    assert schema.cells == 8**20
    record = [np.array([7])] * 20
    assert schema.ravel(record).tolist() == [8**20 - 1]
    assert all(column.tolist() == [7] for column in schema.unravel(np.array([8**20 - 1])))


def test_a_domain_too_large_to_number_is_refused():
    schema = Schema(Attribute(f"q{i}", range(8)) for i in range(21))
    for act in (lambda: schema.ravel([np.array([0])] * 21), lambda: schema.unravel(np.array([0]))):
        with pytest.raises(SottovoceError, match=r"^sizes must have at most 2\^63 - 1 joint cells"):
            act()


def test_projection_keeps_the_order_asked_for(schema):
    assert schema.project(["age", "tax"]).names == ("age", "tax")
    with pytest.raises(SottovoceError, match=r"^name must be one of tax, drug, age, children\. Got 'shoe' instead"):
        schema.project(["shoe"])


def test_names_must_differ_and_be_there():
    with pytest.raises(SottovoceError, match=r"^variables must have different names; \['a'\] is repeated"):
        Schema([boolean("a"), boolean("a")])
    with pytest.raises(SottovoceError, match=r"^variables must be at least one"):
        Schema([])


@pytest.mark.parametrize(
    "variables",
    [
        {"sex": ["f", "m"]},
        {"sex": boolean("sex")},
        boolean("sex"),
        "abc",
        5,
        None,
        ["sex"],
        [5],
        [Schema([boolean("sex")])],
        Plan.of(Schema([boolean("sex")]), {"sex": Warner(p=0.7)}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_schema_is_made_of_a_list_of_variables(variables):
    with pytest.raises(SottovoceError, match=r"^variables must be a list of attributes.*\. Got .* instead\.$"):
        Schema(variables)


def test_a_schema_of_a_schema_is_the_same():
    assert Schema(Schema([boolean("a")])) == Schema([boolean("a")])


@pytest.mark.parametrize("column", [5, "yes", None])
def test_columns_are_lists_of_values(column):
    with pytest.raises(SottovoceError, match=r"^tax must be a column: a list of values, one for each row\. Got"):
        Schema([boolean("tax")]).encode({"tax": column})


def test_encode_and_decode(schema, truths):
    decoded = schema.as_report().decode(schema.encode(truths))
    assert list(decoded["drug"]) == truths["drug"]
    assert list(decoded["age"]) == ["[18, 40)", "[40, 65)", "[65, 120)", "[18, 40)"]
    with pytest.raises(SottovoceError, match=r"^table must have the columns \['drug'"):
        schema.encode({"tax": [True]})


def test_item_sets_take_a_column_for_each_item():
    schema = Schema([boolean("a"), ItemSet("basket", ["x", "y", "z"]), boolean("b")])
    assert schema.sizes == (2,) * 5
    assert schema.columns_of("basket") == slice(1, 4)
    assert schema.as_report()["basket"] == schema["basket"]


ROUND_TRIPS = [
    Attribute("a", ["é", "ü", "none"], missing="none"),
    Attribute("n", [-1, 0, 1]),
    boolean("b"),
    Binned("x", [float("-inf"), 0.1, 1e30, float("inf")], closed="right"),
    Binned("x", [0, 1, 2], closed="left", labels=["low", "high"], missing="silent"),
    ItemSet("s", ["x", "y"]),
]


@pytest.mark.parametrize("variable", ROUND_TRIPS, ids=repr)
def test_json_round_trip(variable):
    schema = Schema([variable])
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema


def test_labels_that_differ_in_white_space_are_pointed_out_once():
    """When a user makes the attribute; not when it is read from a document, nor when others are derived from it."""
    with pytest.warns(
        SottovoceWarning, match=r"^tax has the labels 'yes' and ' yes', which differ only in white"
    ) as seen:
        tax = Attribute("tax", ["yes", "no", " yes", "no answer"])
    assert [warning.filename for warning in seen] == [__file__]
    schema = Schema([tax])
    assert Schema.from_json(schema.to_json()) == schema
    assert tax.as_report().categories == category_set(tax).items == tax.categories
    plan = Plan.of(schema, {"tax": AttributeSampling(odds=3)})
    assert plan.report_schema["tax"].categories == (*tax.categories, "not asked")
    with pytest.warns(SottovoceWarning, match=r"^basket has the labels 'milk' and 'milk\\t', which differ only"):
        basket = ItemSet("basket", ["milk", "bread", "milk\t"])
    assert ItemSet.from_json(basket.to_json()) == basket


@pytest.mark.parametrize(
    ("document", "parameter"),
    [
        ({}, "schema"),
        ([{"kind": "shape"}], "kind"),
        (["tax"], "kind"),
        ([{"kind": ["categories"]}], "kind"),
        ([{"kind": "categories", "name": "a"}], "schema"),
        ([{"kind": "categories", "name": "a", "categories": 5}], "categories"),
        ([{"kind": "bins", "name": "a", "edges": ["0", "x"], "closed": "left", "labels": ["l"]}], "edges"),
        ([{"kind": "items", "name": "a", "items": []}], "items"),
    ],
)
def test_malformed_schemas_are_refused(document, parameter):
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        Schema.from_json(document)
