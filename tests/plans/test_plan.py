"""Plans: groups cover attributes once, guarantees compose, budgets hold, channels factor."""

from dataclasses import replace
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
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.matrix import Matrix
from sottovoce.schemes.warner import Warner

TWO = Schema([boolean("a"), boolean("b")])
COIN = Warner(p=Fraction(3, 4))
EVEN = Warner(p=Fraction(1, 2))


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


def test_a_view_has_what_the_plan_says_of_some_attributes(plan):
    names = ["age", "drug"]
    view = plan.view(names)
    assert (view.names, view.columns, view.shape) == (("age", "drug"), ("drug", "age"), (3, 3))
    assert view.columns == plan.report_names(names)
    assert view.reports == plan.report_schema.project(view.columns)
    assert view.channel == plan.channel(names)
    np.testing.assert_array_equal(view.order, plan.cell_order(names))
    assert view.categories == (("[18, 40)", "[40, 65)", "[65, 120)"), ("never", "once", "often"))
    assert repr(view) == "PlanView(age, drug; reports drug, age; channel 9 x 9)"
    with pytest.raises(SottovoceError, match=r"^name must be one of"):
        plan.view(["shoe size"])


def test_views_are_computed_once_and_only_so_many_are_kept(plan, monkeypatch):
    assert plan.view(["tax"]) is plan.view(("tax",))
    monkeypatch.setattr("sottovoce.plans.plan.MOST_VIEWS", 2)
    first = plan.view(["drug"])
    plan.view(["age"])
    assert plan.view(["drug"]) is not first
    monkeypatch.setattr("sottovoce.plans.plan.LARGEST_KEPT_VIEW", 8)
    assert plan.view(["age", "drug"]) is not plan.view(["age", "drug"])
    assert replace(plan) == plan


def test_item_sets_have_no_categories():
    plan = Plan.of(Schema([ItemSet("basket", ["ale", "bread"])]), {"basket": Warner(p=0.6)})
    with pytest.raises(SottovoceError, match=r"^attributes must have categories; for sets of items see"):
        plan.view(["basket"]).categories  # noqa: B018


def test_attributes_that_share_an_indivisible_report_are_named(plan):
    joint = Matrix([[0.4, 0.2, 0.2, 0.2], [0.6, 0.8, 0.8, 0.8]])
    schema = Schema([boolean("a"), boolean("b"), boolean("c")])
    shared = Plan.of(schema, {"c": COIN, ("b", "a"): joint})
    assert shared.with_inseparable(["a"]) == ("a", "b")
    assert shared.with_inseparable(["c", "a"]) == ("c", "a", "b")
    assert shared.with_inseparable(["a", "b"]) == ("a", "b")
    assert plan.with_inseparable(["drug"]) == ("drug",)


def test_plans_are_shown_as_a_summary(plan):
    assert repr(plan) == str(plan)
    assert str(plan).splitlines() == [
        "Plan with odds 60 : 1 (epsilon 4.09435)",
        "  drug, children (3 x 4): gamma_diagonal, 4 : 1 (epsilon 1.3863)",
        "  tax (2): warner, 3 : 1 (epsilon 1.09862)",
        "  age (3): unrelated_question, 5 : 1 (epsilon 1.60944)",
    ]
    shown = plan.with_public([Attribute("region", ["north", "south"])])
    assert str(shown).splitlines()[0].endswith(", given the public answers")
    assert str(shown).splitlines()[-1] == "Public, not protected: region"
    html = shown._repr_html_()
    assert "<td>drug, children</td><td>3 x 4</td><td>gamma_diagonal</td>" in html
    assert "<small>Public, not protected: region</small>" in html
    many = Schema(boolean(f"q{i}") for i in range(30))
    lines = str(new_plan(many, epsilon=3)).splitlines()
    assert (len(lines), lines[-1]) == (22, "  ... and 10 more")


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ({"odds": 1}, r"^odds must be above 1 : 1, .* nothing can be learned\. Got 1 instead"),
        ({"odds": "1:1"}, r"^odds must be above 1 : 1, .* nothing can be learned\. Got '1:1' instead"),
        ({"epsilon": 0}, r"^epsilon must be above 0, .* nothing can be learned\. Got 0 instead"),
    ],
)
def test_even_odds_are_refused_because_nothing_can_be_learned(budget, message):
    with pytest.raises(SottovoceError, match=message):
        new_plan(TWO, **budget)
    assert "nothing about the group can be learned" in Plan.of(TWO, {"a": EVEN, "b": EVEN}).guarantee.in_words()
