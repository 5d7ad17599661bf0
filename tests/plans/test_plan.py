"""Plans: groups cover attributes once, guarantees compose, budgets hold, channels factor."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.channels.kronecker import Kronecker
from sottovoce.errors import SottovoceError
from sottovoce.plans.budget import new_plan
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Plan, PriorSource
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.matrix import Matrix
from sottovoce.schemes.warner import Warner

TWO = Schema([boolean("a"), boolean("b")])
COIN = Warner(p=Fraction(3, 4))


def test_the_whole_record_gets_the_product(plan):
    """4 (joint) x 3 (Warner) x (1 + 1 / .25) (unrelated question, rarest known answer .25) = 60."""
    assert plan.guarantee.odds == 4 * 3 * 5
    assert [plan.guarantee_of(name).odds for name in ("tax", "drug", "age", "children")] == [3, 4, 5, 4]


def test_six_questions_at_three_to_one_are_729_to_one():
    schema = Schema(boolean(f"q{i}") for i in range(6))
    assert Plan.of(schema, dict.fromkeys(schema.names, COIN)).guarantee.odds == 729


def test_the_channel_of_a_plan_is_the_product_of_its_groups(plan):
    whole = plan.channel()
    assert isinstance(whole, Kronecker)
    assert plan.in_group_order(plan.schema.names) == ("drug", "children", "tax", "age")
    assert whole.shape_in == (3, 4, 2, 3)
    assert whole.odds == plan.guarantee.odds
    assert plan.channel(["age", "children"]).shape_in == (4, 3)
    assert plan.channel(["tax"]).odds == 3


def test_unknown_attributes_are_refused(plan):
    for ask in (plan.guarantee_of, plan.group_of, lambda name: plan.channel([name])):
        with pytest.raises(SottovoceError, match=r"^name must be one of tax, drug"):
            ask("shoe size")


@pytest.mark.parametrize(
    ("schemes", "message"),
    [
        ({"a": COIN}, r"^groups must cover every attribute; 'b' is not disguised"),
        ({("a", "b"): COIN, "b": COIN}, r"^groups must name attributes of the schema once each; 'b'"),
        ({}, r"^groups must be at least one"),
        ({"a": COIN, "b": 0.5}, r"^schemes must map attributes to schemes"),
        ({"a": COIN, "c": COIN}, r"^name must be one of a, b"),
    ],
)
def test_groups_that_do_not_fit(schemes, message):
    with pytest.raises(SottovoceError, match=message):
        Plan.of(TWO, schemes)


def test_a_whole_above_the_budget_is_refused_with_the_arithmetic():
    with pytest.raises(SottovoceError, match=r"whole record: 3 : 1 x 3 : 1 = 9 : 1\. Got '8 : 1' instead"):
        Plan.of(TWO, {"a": COIN, "b": COIN}, odds=8)
    assert Plan.of(TWO, {"a": COIN, "b": COIN}, odds=9).promise == Guarantee(Fraction(9))
    assert Plan.of(TWO, {"a": COIN, "b": COIN}, epsilon=2.2).guarantee.odds == 9


def test_a_design_with_zeros_has_no_budget():
    with pytest.raises(SottovoceError, match="they are unbounded"):
        Plan.of(TWO, {"a": COIN, "b": Matrix([[1, 0.5], [0, 0.5]])}, odds=1000)
    assert Plan.of(TWO, {"a": COIN, "b": Matrix([[1, 0.5], [0, 0.5]])}).guarantee.odds is None


@given(st.floats(0.01, 20), st.integers(1, 6), st.booleans())
def test_new_plans_stay_within_epsilon_and_hardly_below(epsilon, attributes, joint):
    schema = Schema(Attribute(f"q{i}", range(i + 2)) for i in range(attributes))
    achieved = new_plan(schema, epsilon=epsilon, joint=joint).guarantee.epsilon
    assert epsilon * (1 - 1e-6) <= achieved <= epsilon


@given(st.fractions(Fraction(11, 10), 1000), st.integers(1, 6))
def test_new_plans_stay_within_odds(odds, attributes):
    schema = Schema(boolean(f"q{i}") for i in range(attributes))
    plan = new_plan(schema, odds=odds)
    assert plan.guarantee.odds <= odds
    assert plan.promise.odds == odds


def test_new_plans_need_one_budget():
    with pytest.raises(SottovoceError, match=r"^epsilon or odds must be given, exactly one"):
        new_plan(TWO)


def test_reports_stand_in_the_order_of_the_schema(plan):
    assert plan.report_schema.names == plan.schema.names
    drug = plan.group_of("drug")
    assert (plan.truth_columns(drug), plan.report_columns(drug)) == ([1, 3], [1, 3])


def test_reports_that_are_not_truths_stand_where_their_group_begins():
    schema = Schema([boolean("a"), boolean("b"), boolean("c")])
    joint = Matrix([[0.4, 0.2, 0.2, 0.2], [0.6, 0.8, 0.8, 0.8]])
    plan = Plan.of(schema, {"c": COIN, ("b", "a"): joint})
    assert plan.report_schema.names == ("b+a", "c")
    assert plan.report_columns(plan.group_of("a")) == [0]
    assert plan.truth_columns(plan.group_of("a")) == [1, 0]


def test_priors_say_where_they_come_from():
    public = PriorSource("public", "census 2021")
    assert Plan.of(TWO, {("a", "b"): GammaDiagonal(3)}, prior=public).prior == public
    with pytest.raises(SottovoceError, match=r"^source must not be private: the plan is public"):
        PriorSource("private", "our own table")
    assert PriorSource("private", "our own table", forced=True).to_json()["forced"] is True
    with pytest.raises(SottovoceError, match=r"^source must be one of public, pilot, private"):
        PriorSource("hearsay", "a friend")
    with pytest.raises(SottovoceError, match=r"^note must say"):
        PriorSource("public", "")


def test_the_channel_tells_the_law_of_the_reports(plan):
    """The law of all four report columns under a product of truths is the product of their laws."""
    parts = [np.array([0.2, 0.3, 0.5]), np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.6, 0.4]), np.array([0.1, 0.1, 0.8])]
    joint = parts[0]
    for part in parts[1:]:
        joint = np.kron(joint, part)
    law = plan.channel().matvec(joint)
    assert law.sum() == pytest.approx(1)
    tax = law.reshape(3, 4, 2, 3).sum((0, 1, 3))
    np.testing.assert_allclose(tax, [0.75 * 0.6 + 0.25 * 0.4, 0.25 * 0.6 + 0.75 * 0.4])
