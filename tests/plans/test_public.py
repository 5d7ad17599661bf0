"""Public columns: checked, kept in the document, and stated as not protected."""

import json
from fractions import Fraction

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.plans.budget import new_plan
from sottovoce.plans.canonical import canonical_bytes
from sottovoce.plans.document import plan_from_json, plan_from_text, plan_hash, plan_to_json, plan_to_text
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Plan
from sottovoce.plans.public import PublicNumber, public_from_json, split_public
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.subset_selection import SubsetSelection
from sottovoce.schemes.warner import Warner

TAX = Schema([boolean("tax")])
COIN = {"tax": Warner(p=Fraction(3, 4))}
REGION = Attribute("region", ["north", "south"])
AGE = Binned("age", [0, 40, 120], closed="left")
WEIGHT = PublicNumber("weight")
PLAN = Plan.of(TAX, COIN, public=[REGION, AGE, WEIGHT])


def test_a_plan_without_public_columns_keeps_version_1_and_its_hash():
    plain = Plan.of(TAX, COIN)
    assert plan_to_json(plain)["version"] == 1
    assert "public" not in plan_to_json(plain)
    assert plan_hash(PLAN.with_public(())) == plan_hash(plain)
    assert PLAN.with_public(()) == plain


def test_public_columns_make_version_2():
    document = plan_to_json(PLAN)
    assert document["version"] == 2
    assert [column["kind"] for column in document["public"]] == ["categories", "bins", "number"]
    assert document["public"][2] == {"kind": "number", "name": "weight"}
    assert {key: document[key] for key in document if key not in ("version", "public")} == {
        key: value for key, value in plan_to_json(PLAN.with_public(())).items() if key != "version"
    }
    assert plan_from_text(plan_to_text(PLAN), plan_hash(PLAN)) == PLAN
    assert plan_hash(PLAN) != plan_hash(PLAN.with_public([REGION]))


def forged(**changes) -> dict:
    return json.loads(canonical_bytes(plan_to_json(PLAN))) | changes


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (forged(version=1), r"^plan must have the keys \['groups', 'odds', 'prior', 'schema', 'version'\]"),
        (forged(public=[]), r"^version must be 1 for a plan without public columns\. Got 2"),
        (forged(public=None), r"^version must be 1 for a plan without public columns\. Got 2"),
        (forged(public={"a": 1}), r"^public must be a list of columns"),
        (forged(public=["weight"]), r"^kind must be one of"),
        (forged(public=[{"kind": "number"}]), r"^name must be a text that is not empty"),
        (
            forged(public=[{"kind": "number", "name": "tax"}]),
            r"^public must not name a column that is disguised; 'tax'",
        ),
        (
            forged(version=3),
            r"^version must be .* written by a newer version of Sottovoce \(document version 3\)\. Got 3",
        ),
        (forged(version=2.0), r"^plan must be written in its canonical form"),
        (2, r"^version must be from 1 to 2\. Got None"),
        (forged(version=None), r"^version must be from 1 to 2\. Got None"),
    ],
)
def test_forgeries_are_refused(document, message):
    with pytest.raises(SottovoceError, match=message):
        plan_from_json(document)


@pytest.mark.parametrize(
    ("public", "message"),
    [
        (["region"], r"^public must be attributes with categories, binned numbers or PublicNumber\. Got 'region'"),
        ([ItemSet("pets", ["cat", "dog"])], r"^public must be attributes with categories"),
        ([boolean("tax")], r"^public must not name a column that is disguised; 'tax' is"),
        ([WEIGHT, WEIGHT], r"^public must name each column once; 'weight' is repeated"),
    ],
)
def test_public_columns_that_no_plan_can_have(public, message):
    with pytest.raises(SottovoceError, match=message):
        Plan.of(TAX, COIN, public=public)


def test_a_public_column_must_not_have_the_name_of_a_report():
    schema = Schema([boolean("a"), boolean("b")])
    with pytest.raises(SottovoceError, match=r"^public must not name a column that is disguised; 'a\+b' is"):
        Plan.of(schema, {("a", "b"): SubsetSelection(odds=3)}, public=[PublicNumber("a+b")])


def test_a_public_number_has_a_name():
    with pytest.raises(SottovoceError, match=r"^name must be a text that is not empty"):
        PublicNumber("")
    assert public_from_json([WEIGHT.to_json()]) == (WEIGHT,)


def test_the_promise_is_given_the_public_answers():
    assert PLAN.guarantee == Guarantee(Fraction(3), ("region", "age", "weight"))
    assert str(PLAN.guarantee) == "3 : 1 (epsilon 1.09862), given the public answers"
    assert PLAN.guarantee.in_words() == (
        "Not protected, and passed on as you gave them: your answers to region, age, weight.\n"
        "Given the public answers, and whatever else someone already knows about you, your report can\n"
        "shift their odds between any two ways you may have answered the other questions by a factor\n"
        "of at most 3. No report proves any of those answers."
    )
    assert PLAN.promise == Guarantee(Fraction(3))
    assert PLAN.guarantee_of("tax") == Guarantee(Fraction(3))
    nothing = Guarantee(Fraction(1), ("region",)).in_words()
    assert nothing.splitlines()[1] == (
        "The report says nothing about the answer, and nothing about the group can be learned."
    )
    assert Guarantee(None, ("region",)).in_words().splitlines()[1].startswith("Not deniable")
    both = Guarantee(Fraction(3), ("region",)) * Guarantee(Fraction(2), ("age", "region"))
    assert both == Guarantee(Fraction(6), ("region", "age"))


def test_new_plans_take_public_columns_out_of_the_schema():
    schema = Schema([boolean("tax"), REGION, boolean("drug")])
    for joint in (False, True):
        plan = new_plan(schema, odds=9, joint=joint, public=["region", WEIGHT])
        assert (plan.schema.names, plan.public) == (("tax", "drug"), (REGION, WEIGHT))
        assert plan.guarantee.odds == 9
    assert new_plan(schema, odds=9).public == ()


def test_a_schema_is_split():
    schema = Schema([boolean("tax"), REGION, Attribute("weight", [1, 2])])
    disguised, public = split_public(schema, ["weight", "region"], numbers=["weight"])
    assert (disguised.names, public) == (("tax",), (WEIGHT, REGION))
    with pytest.raises(
        SottovoceError, match=r"^public must name columns of the table \(tax, region, weight\)\. Got 'town'"
    ):
        split_public(schema, ["town"])
    with pytest.raises(SottovoceError, match=r"^public must leave at least one column to disguise"):
        split_public(schema, ["tax", "region", "weight"])
    with pytest.raises(SottovoceError, match=r"^public must not name a column that is disguised; 'tax'"):
        split_public(schema, [PublicNumber("tax")])
    with pytest.raises(SottovoceError, match=r"^public must be a list of names or columns\. Got 'region'"):
        split_public(schema, "region")
