"""Plans for a purpose: variances against brute force and the certified optima, budgets, and what reports speak of."""

from fractions import Fraction
from itertools import combinations
from math import exp, inf, prod
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SottovoceError
from sottovoce.estimates.asked_together import estimate_asked_together
from sottovoce.estimates.covariance import MOST_CELLS
from sottovoce.estimates.proportions import NeverAskedError, estimate_proportions
from sottovoce.measures.utility import estimate_covariance
from sottovoce.plans.budget import new_plan
from sottovoce.plans.document import plan_from_text, plan_to_text
from sottovoce.plans.plan import Plan
from sottovoce.plans.purpose_plan import (
    LARGEST_TABLE,
    ORDERS,
    PURPOSES,
    best_design,
    plan_for_purpose,
    sampling_designs,
    small_sets,
    split_variance,
    summed_variance,
)
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import AttributeSampling, GammaDiagonal, RandomizedResponse
from sottovoce.schemes.scheme import all_schemes


def schema_of(*sizes: int) -> Schema:
    return Schema(Attribute(f"a{i}", range(size)) for i, size in enumerate(sizes))


def summed(plan: Plan, order: int) -> float:
    """Summed variance of the tables of so many attributes, from the dense channel of each."""
    total = 0.0
    for names in combinations(plan.schema.names, order):
        cells = plan.schema.project(names).cells
        total += np.trace(estimate_covariance(plan.channel(names), np.full(cells, 1 / cells), 1, "table"))
    return total


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(
    ("sizes", "subsets"),
    [
        ((2, 3, 4), [(0, 1, 2)]),
        ((2, 2, 3, 2), [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]),
        ((2, 3, 4), [(0, 1, 2), (2,), (0, 1)]),
    ],
)
def test_variances_are_those_of_the_dense_channels(sizes, subsets, order, spread):
    schema, odds = schema_of(*sizes), Fraction(3, 2)
    plan = Plan.of(schema, {schema.names: AttributeSampling(odds=odds, subsets=subsets, spread=spread)})
    assert summed_variance(sizes, odds, order, subsets, spread=spread) == pytest.approx(summed(plan, order), rel=1e-7)


def test_sets_of_as_many_cells_lose_nothing_in_the_columns_of_a_table():
    sizes, odds, subsets = (3, 3, 3), Fraction(3), [(0, 1), (0, 2), (1, 2)]
    matrix = Plan.of(schema_of(*sizes), {("a0", "a1", "a2"): AttributeSampling(odds=3, size=2)}).channel().dense()
    uniform = np.full(27, 1 / 27)
    seen = matrix @ uniform
    inverse = np.linalg.pinv(matrix.T @ np.divide(matrix, seen[:, None], where=seen[:, None] > 0, out=0 * matrix))
    cells, total = np.eye(27).reshape(*sizes, 27), 0.0
    for dropped in range(3):
        workload = cells.sum(axis=dropped).reshape(-1, 27)
        total += np.trace(workload @ inverse @ workload.T) - (workload**2).sum(axis=0) @ uniform
    assert summed_variance(sizes, odds, 2, subsets) == pytest.approx(total)


def test_the_variance_of_a_split_is_that_of_its_channels():
    schema = schema_of(2, 3, 4)
    for order in (1, 2, 3):
        expected = summed(new_plan(schema, odds=27), order)
        assert split_variance(schema.sizes, Fraction(27), order) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(
    ("sizes", "epsilon", "purpose", "optimum", "split", "joint", "sampled", "attributes"),
    [
        ((2, 2, 2), 1, "marginals", 19.57, 2.73, 2.37, 1.00, 1),
        ((2, 2, 2), 1, "pairs", 46.16, 23.0, 1.51, 1.03, 2),
        ((2, 2, 2), 2, "marginals", 4.449, 2.92, 1.37, 1.00, 2),
        ((2, 2, 3), 1, "marginals", 26.45, 3.18, 3.95, 1.04, 1),
        ((2, 2, 3), 2, "pairs", 14.17, 10.8, 1.24, 1.04, 2),
        ((2, 2, 2, 2), 1, "marginals", 35.46, 3.59, 5.94, 1.00, 1),
        ((2, 2, 2, 2), 1, "pairs", 149.8, 43.2, 3.17, 1.08, 2),
        ((2, 2, 2, 2), 2, "pairs", 31.00, 14.9, 1.64, 1.00, 3),
        ((3, 4), 1, "marginals", 24.84, 2.34, 3.58, 1.02, 1),
        ((3, 4), 2, "pairs", 6.666, 6.73, 1.00, 1.00, 2),
    ],
)
def test_ratios_to_certified_optima(sizes, epsilon, purpose, optimum, split, joint, sampled, attributes):
    """Optima over all channels on the joint cells, certified by an independent program, and ratios of simple plans."""
    odds, order = Fraction(exp(epsilon)), ORDERS[purpose]
    plan = plan_for_purpose(schema_of(*sizes), epsilon=epsilon, purpose=purpose)
    assert plan.answers_per_report == (attributes, attributes)
    assert best_design(plan.schema, odds, purpose).variance / optimum == pytest.approx(sampled, abs=0.006)
    assert split_variance(sizes, odds, order) / optimum == pytest.approx(split, rel=0.005)
    whole = [tuple(range(len(sizes)))]
    assert summed_variance(sizes, odds, order, whole) / optimum == pytest.approx(joint, abs=0.007)


@pytest.mark.parametrize("purpose", ["marginals", "pairs", "triples"])
@pytest.mark.parametrize("sizes", [(2, 2, 2, 2), (2, 3, 5, 4), (9, 9, 2)])
@pytest.mark.parametrize("epsilon", [0.5, 2, 6])
def test_nothing_simple_is_better(sizes, epsilon, purpose):
    schema, odds, order = schema_of(*sizes), Fraction(exp(epsilon)), ORDERS[purpose]
    best = best_design(schema, odds, purpose).variance
    assert best <= split_variance(sizes, odds, order)
    for size in range(1, len(sizes) + 1):
        assert best <= summed_variance(sizes, odds, order, list(combinations(range(len(sizes)), size))) * (1 + 1e-12)


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize(
    "schema", [schema_of(2), schema_of(2, 2), schema_of(2, 3, 4), schema_of(7, 2, 2, 5), schema_of(16, 16)]
)
def test_budgets_are_spent_exactly(schema, purpose):
    plan = plan_for_purpose(schema, odds="81:16", purpose=purpose)
    assert plan.promise.odds == Fraction(81, 16)
    assert plan.guarantee.odds <= Fraction(81, 16)
    assert plan.guarantee.odds == Fraction(81, 16) or purpose == "split"  # three or four roots are not rational
    from_epsilon = plan_for_purpose(schema, epsilon=1, purpose=purpose).guarantee
    assert 1 - 1e-7 < from_epsilon.epsilon <= 1
    assert plan_from_text(plan_to_text(plan)) == plan


def test_one_attribute_is_plain_randomized_response():
    for purpose in PURPOSES:
        plan = plan_for_purpose(schema_of(9), odds=3, purpose=purpose)
        assert plan == Plan.of(schema_of(9), {"a0": RandomizedResponse(odds=3)}, odds=3)


def test_split_and_joint():
    schema = schema_of(2, 3, 4)
    assert plan_for_purpose(schema, odds=27, purpose="split") == new_plan(schema, odds=27)
    assert plan_for_purpose(schema, odds=27, purpose="joint") == new_plan(schema, odds=27, joint=True)
    spread = plan_for_purpose(schema, odds=2, purpose="joint")  # 24 cells at odds of 2 : 1
    assert [axes for axes, _ in spread.groups[0].mechanism.parts] == [(0, 1, 2)]
    assert summed(spread, 3) < 0.95 * summed(new_plan(schema, odds=2, joint=True), 3)
    assert plan_for_purpose(schema_of(*[4] * 12), odds=27, purpose="joint").groups[0].scheme == "gamma_diagonal"


@pytest.mark.parametrize(
    ("purpose", "names"),
    [("marginals", ["a1"]), ("pairs", ["a1"]), ("pairs", ["a0", "a3"]), ("triples", ["a0", "a1", "a3"])],
)
@pytest.mark.parametrize("odds", [2, pytest.param(9, marks=pytest.mark.slow)])
def test_what_a_purpose_wants_can_be_estimated(purpose, names, odds):
    schema = schema_of(2, 3, 2, 4)
    plan = plan_for_purpose(schema, odds=odds, purpose=purpose)
    rng = np.random.default_rng(5)
    truth = {name: rng.integers(0, schema[name].sizes[0], 40_000) for name in schema.names}
    reports = disguise_frame(truth, plan, rng=rng)
    shares = np.zeros([schema[name].sizes[0] for name in names])
    np.add.at(shares, tuple(truth[name] for name in names), 1 / 40_000)
    covered = estimate_asked_together(reports, plan, names, target="table")
    best = estimate_proportions(reports, plan, names, target="table", method="blue")
    for estimate in (covered, best):
        errors = (estimate.value - shares.ravel()) / np.sqrt(np.diag(estimate.covariance))
        assert np.abs(errors).max() < 4.5
    cells = prod(shares.shape)
    expected = estimate_covariance(plan.channel(names), np.full(cells, 1 / cells), 40_000, "table")
    assert np.trace(best.covariance) == pytest.approx(np.trace(expected), rel=0.1)


def test_tables_that_were_not_planned_name_the_purpose_that_serves():
    schema = schema_of(2, 2, 2, 2)
    plan = plan_for_purpose(schema, epsilon=1, purpose="pairs")
    reports = disguise_frame({name: [0, 1] * 200 for name in schema.names}, plan, rng=1)
    said = r"plan with purpose='triples', or fill in by a model \(method='model'\)"
    with pytest.raises(NeverAskedError, match=said):
        estimate_asked_together(reports, plan, ["a0", "a1", "a2"])
    with pytest.raises(NeverAskedError, match=said):
        estimate_proportions(reports, plan, ["a0", "a1", "a2"])
    with pytest.raises(NeverAskedError, match="plan with purpose='joint'"):
        estimate_asked_together(reports, plan, schema.names)
    alone = plan_for_purpose(schema, epsilon=1, purpose="marginals")
    reports = disguise_frame({name: [0, 1] * 200 for name in schema.names}, alone, rng=1)
    with pytest.raises(NeverAskedError, match=r"plan with purpose='pairs'.* Got a0 and a3"):
        estimate_proportions(reports, alone, ["a0", "a3"])


def test_wide_tables_are_planned_in_seconds():
    start = perf_counter()
    pairs = plan_for_purpose(schema_of(*[2] * 60), epsilon=1, purpose="pairs")
    assert pairs.answers_per_report == (2, 2)
    assert len(pairs.groups[0].mechanism.parts) == 1770
    uneven = plan_for_purpose(schema_of(*[2, 3, 5, 9, 16] * 5), epsilon=2, purpose="triples")
    asked = {triple for axes, _ in uneven.groups[0].mechanism.parts for triple in combinations(axes, 3)}
    assert asked == set(combinations(range(25), 3))
    assert plan_for_purpose(schema_of(*[2] * 60), epsilon=5, purpose="marginals").guarantee.epsilon <= 5
    assert perf_counter() - start < 30  # five on a free machine


def test_so_many_attributes_that_no_plan_asks_all_triples():
    with pytest.raises(SottovoceError, match="purpose must be one for which 2000 sets of attributes suffice"):
        best_design(schema_of(*[2] * 90), Fraction(3), "triples")


def test_sets_of_items_keep_their_share():
    schema = Schema([boolean("tax"), ItemSet("drugs", ["x", "y"]), boolean("theft"), boolean("fraud")])
    plan = plan_for_purpose(schema, odds=81, purpose="pairs")
    assert [(group.attributes, group.scheme) for group in plan.groups] == [
        (("drugs",), "randomized_response"),
        (("tax", "theft", "fraud"), "gamma_diagonal"),
    ]
    assert [group.guarantee.odds for group in plan.groups] == [3, 27]
    assert plan.answers_per_report == (4, 4)
    alone = Schema([ItemSet("drugs", ["x", "y"]), ItemSet("foods", ["u", "v"])])
    assert plan_for_purpose(alone, odds=9) == new_plan(alone, odds=9)
    joint = plan_for_purpose(schema, odds=9, purpose="joint")
    assert joint == Plan.of(schema, {schema.names: GammaDiagonal(9)}, odds=9)
    one = Schema([boolean("tax"), ItemSet("drugs", ["x", "y"])])
    assert plan_for_purpose(one, odds=9) == Plan.of(
        one, {"drugs": RandomizedResponse(odds=3), "tax": RandomizedResponse(odds=3)}, odds=9
    )


def test_public_columns_are_not_disguised():
    schema = schema_of(2, 2, 2)
    plan = plan_for_purpose(schema, odds=3, public=["a1"])
    assert plan.schema.names == ("a0", "a2")
    assert plan.public_names == ("a1",)
    assert plan_for_purpose(schema, odds=3, purpose="split", public=["a1"]).public_names == ("a1",)


def test_attributes_of_many_categories():
    assert LARGEST_TABLE == MOST_CELLS
    wide = schema_of(5000, 3, 2)
    with pytest.raises(SottovoceError, match=r"purpose must have tables of at most 4096 .*'a1' x 'a0'.* 15000 cells"):
        plan_for_purpose(wide, odds=3)
    marginals = plan_for_purpose(wide, odds=3, purpose="marginals")  # too many categories to be sampled
    assert {group.scheme for group in marginals.groups} <= {"randomized_response", "gamma_diagonal"}
    enormous = schema_of(*[2**12] * 8)
    assert len(plan_for_purpose(enormous, odds=3, purpose="marginals").groups[0].mechanism.parts) == 8
    with pytest.raises(SottovoceError, match="joint cells to be numbered"):
        plan_for_purpose(enormous, odds=3, purpose="joint")


def test_coverings_are_asked_where_sets_are_many():
    (design, *_) = [
        each for each in sampling_designs((2,) * 14, Fraction(exp(5)), "pairs") if len(each.subsets[0]) == 6
    ]
    assert len(design.subsets) < 40  # of 3003
    assert {pair for axes in design.subsets for pair in combinations(axes, 2)} == set(combinations(range(14), 2))


def test_bad_input_is_refused():
    schema = schema_of(2, 2)
    with pytest.raises(SottovoceError, match="purpose must be one of marginals, pairs, triples, joint, split"):
        plan_for_purpose(schema, odds=3, purpose="everything")
    with pytest.raises(SottovoceError, match="odds must be above 1 : 1, where reports say nothing"):
        plan_for_purpose(schema, odds=1)
    with pytest.raises(SottovoceError, match="epsilon or odds must be given, exactly one of them"):
        plan_for_purpose(schema)


@pytest.mark.parametrize("name", all_schemes())
def test_answers_per_report_of_every_scheme(name):
    for scheme, sizes in all_schemes()[name].cases():
        mechanism = scheme.mechanism(sizes)
        sampled = [len(axes) for axes, _ in mechanism.parts] if name == "attribute_sampling" else [len(sizes)]
        schema = schema_of(*sizes)
        if name in ("cut_and_paste", "emask", "mask"):
            schema, sampled = Schema([ItemSet("items", [f"i{k}" for k in range(len(sizes))])]), [1]
        plan = Plan.of(schema, {schema.names: scheme})
        assert plan.answers_per_report == (min(sampled), max(sampled))
        assert (plan.sampling_text == "") == (min(sampled) == len(plan.schema.names))


def test_the_text_of_a_plan_says_how_many_answers_a_report_speaks_of():
    said = "Each report speaks of 2 of 4 answers, drawn at random."
    plan = plan_for_purpose(schema_of(2, 2, 2, 2), epsilon=1, purpose="pairs")
    assert str(plan).splitlines()[-1] == said
    assert said in plan._repr_html_()
    mixed = plan_for_purpose(schema_of(2, 2, 9, 2), odds=9, purpose="pairs")
    assert "Each report speaks of 2 to 3 of 4 answers" in str(mixed)
    assert "speaks" not in str(new_plan(schema_of(2, 2), odds=9))


@given(st.lists(st.integers(2, 6), min_size=2, max_size=6), st.integers(2, 60))
def test_sets_fit_hold_every_pair_and_none_holds_another(sizes, most):
    sets = small_sets(sizes, Fraction(most))
    held = {pair for axes in sets for pair in combinations(axes, 2)}
    assert held == set(combinations(range(len(sizes)), 2))
    for axes in sets:
        assert len(axes) == 2 or prod(sizes[a] for a in axes) <= most
        assert not any(set(axes) < set(other) for other in sets)
        others = [size for a, size in enumerate(sizes) if a not in axes]
        fits = prod(sizes[a] for a in axes) * min(others, default=most + 1) <= most
        assert not fits
    assert len(set(sets)) == len(sets)


def test_where_sets_are_too_many_a_few_hold_every_pair():
    sizes = (2,) * 12 + (30,)
    few = small_sets(sizes, Fraction(16))
    # fours of the twelve, and the pairs with the thirteenth
    assert len(small_sets(sizes, Fraction(16), most_sets=1000)) == 495 + 12
    assert len(few) < 40
    held = {pair for axes in few for pair in combinations(axes, 2)}
    assert held == set(combinations(range(13), 2))
    assert all(axes == tuple(sorted(axes)) for axes in few)


def test_tables_that_are_never_asked_have_no_variance():
    for spread in (False, True):
        assert summed_variance((2, 2, 7), Fraction(2), 2, [(0, 1), (2,)], spread=spread) == inf
    opposite = [(0, 1, 2, 3)], [(0,), (1,), (2,), (3,)]
    assert all(summed_variance((5, 5, 2, 2), Fraction(2), 1, subsets, spread=True) < inf for subsets in opposite)


def test_sets_by_cells_are_left_out_where_they_are_too_many():
    sizes = (2, *[60] * 69)  # 2415 pairs, none of which has few cells
    designs = list(sampling_designs(sizes, Fraction(3), "pairs"))
    assert all(len(design.subsets) <= 2000 for design in designs)
    assert min(len(axes) for design in designs for axes in design.subsets) > 1
