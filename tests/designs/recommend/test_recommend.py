"""What is recommended: published facts, the rule, the budget, provenance, and what is refused."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import combinations, product
from math import prod

import numpy as np
import pytest

import sottovoce.designs.recommend.recommend as room
from sottovoce.designs.recommend import expected_error
from sottovoce.designs.recommend.recommend import recommend, simplest
from sottovoce.designs.requirement import named_prior
from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.measures.matrices import as_matrices
from sottovoce.plans.document import plan_from_json
from sottovoce.plans.plan import PriorSource
from sottovoce.plans.purpose_plan import ORDERS, best_design, plan_for_purpose
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema

RARE = [0.9, 0.02, 0.02, 0.02, 0.02, 0.02]


def one(categories: int) -> Schema:
    return Schema([Attribute("drug", range(categories))])


def several(*sizes: int) -> Schema:
    return Schema([Attribute(f"q{i}", range(size)) for i, size in enumerate(sizes)])


def errors(found) -> dict[str, float]:
    return {each.name: each.error for each in found.alternatives}


@pytest.mark.parametrize(("categories", "gain"), [(2, 0), (3, 0), (4, 0), (5, 0), (8, 0.19), (10, 0.31)])
def test_what_sets_gain_at_three_to_one(categories, gain):
    """SURVEY.md: at 3 : 1 and a uniform prior nothing up to 5 categories, 19 % at 8, 31 % at 10."""
    found = recommend(one(categories), 1000, odds="3:1")
    assert found.best.gain(found.plain) == pytest.approx(gain, abs=0.005)
    assert found.chosen.name == ("subset selection" if gain > 0.15 else "randomized response")
    assert found.plan.guarantee.odds == 3


def test_plain_unless_something_gains_more_than_15_percent():
    """Seven categories at 3 : 1: sets of two gain something, and not enough."""
    found = recommend(one(7), 1000, odds=3)
    assert 0 < found.best.gain(found.plain) < 0.15
    assert found.chosen is found.plain
    assert "less than the 15% from which it would be worth explaining" in found.words


def test_several_attributes_under_one_budget():
    """Two yes/no questions at 9 : 1: apart 3 : 1 each, jointly `keep = 8 / 12`, by turns `keep = .8`, half as often."""
    schema = Schema([boolean("a"), boolean("b")])
    found = recommend(schema, 1000, odds=9)
    expected = {"randomized response": 1.0, "joint gamma-diagonal": 9 / 16, "attribute sampling": 2 * 25 / 64}
    for name, error in expected.items():
        assert errors(found)[name] == pytest.approx(error)
    assert found.chosen.name == "joint gamma-diagonal"
    assert all(each.plan.guarantee.odds <= 9 for each in found.alternatives)
    many = recommend(several(4, 4, 4, 4), 1000, odds=9)
    assert many.chosen.name == "attribute sampling"
    assert many.chosen.estimator == "blue"
    assert "Ask each respondent one of the four questions ('q0', 'q1', 'q2', 'q3'), chosen at" in many.words
    pairs = recommend(several(4, 4, 4, 4), 20_000, odds=9, purpose="pairs")
    assert (pairs.purpose, pairs.chosen.name) == ("pairs", "attribute sampling")
    assert "Ask each respondent two of the four questions" in pairs.words
    assert "attribute sampling" not in errors(recommend(several(4, 4), 1000, odds=9, purpose="joint"))


def test_whole_records_as_sets():
    found = recommend(several(4, 4), 10_000, odds=3, purpose="joint")
    assert found.chosen.name == "joint spread matrix"
    assert 1 < found.chosen.error / errors(found)["joint subset selection"] < 1.15  # of which no attribute can be read
    assert found.chosen.gain(found.plain) > 1
    assert "a factor of" in found.words
    assert plan_from_json(found.to_json()["plan"]) == found.plan


def test_designs_whose_reports_nobody_could_count_are_left_out():
    each = recommend(several(30, 30), 10_000, odds=9)
    pairs = recommend(several(30, 30), 10_000, odds=9, purpose="pairs")
    assert "subset selection" in errors(each)
    assert "subset selection" not in errors(pairs)
    assert "optimized unary" not in errors(recommend(several(10, 10), 10_000, odds=9, purpose="pairs"))


@pytest.mark.slow
def test_errors_promised_are_errors_had():
    """300 estimates from 400 reports: the mean squared error is the stated one, within four Monte-Carlo errors."""
    law = [0.6, 0.25, 0.1, 0.05]
    found = recommend(several(4, 4), 400, odds=9, prior={"q0": law, "q1": law}, prior_source="public: made up")
    assert found.chosen.name == "attribute sampling"
    rng = np.random.default_rng(5)
    squares = []
    for _ in range(300):
        people = {name: rng.choice(4, 400, p=law) for name in ("q0", "q1")}
        estimate = estimate_proportions(
            disguise_frame(people, found.plan, rng=int(rng.integers(2**31))), found.plan, "q0", method="blue"
        )
        squares.append(((estimate.value - law) ** 2).mean())
    promised = found.chosen.errors.mean_variance((0,)) / 400
    assert np.mean(squares) == pytest.approx(promised, abs=4 * np.std(squares) / np.sqrt(300))


def test_a_design_for_the_prior_comes_with_a_warning():
    found = recommend(one(6), 5000, odds=3, prior=RARE, prior_source="public: census 2021")
    assert found.chosen.name == "certified design"
    assert found.chosen.gain(found.alternatives[1]) > 0.15
    assert found.plan.prior == PriorSource("public", "census 2021")
    assert found.plan.guarantee.odds <= 3
    (reliance,) = found.reliance
    assert reliance.plain_accuracy_if_uniform == pytest.approx(3 / 8)  # e / (e + n - 1)
    assert reliance.accuracy == pytest.approx(0.9)
    assert reliance.accuracy_if_uniform < 3 / 8
    assert reliance.error_if_uniform > 1
    assert found.to_json()["reliance"][0]["accuracy"] == reliance.accuracy
    assert "'drug' relies on the prior" in str(found)
    assert "if the truth is uniform, in" in found.warnings[0]
    assert "Estimate with the best linear weights (method blue)" in found.words
    flat = recommend(one(6), 5000, odds=3, prior=[1 / 6] * 6, prior_source=PriorSource("pilot", "May"))
    assert (flat.chosen.name, flat.reliance, flat.warnings) == ("randomized response", (), ())
    assert flat.plan.prior == PriorSource("pilot", "May")
    assert recommend(one(6), 5000, odds=3).plan.prior is None


def test_designs_for_a_prior_of_several_kinds_of_attributes():
    schema = Schema([Attribute("few", range(3)), Attribute("same", range(3)), Attribute("many", range(151))])
    schema = Schema([*schema, ItemSet("set", ["x", "y"])])
    prior = {"few": [0.8, 0.1, 0.1], "same": [0.8, 0.1, 0.1], "set": [0.2, 0.4]}
    found = recommend(schema, 5000, epsilon=6, prior=prior, prior_source="public: x")
    certified = found.alternatives[-1]
    assert [group.scheme for group in certified.plan.groups] == ["matrix", "matrix", "subset_selection", "mask"]
    assert found.plan.guarantee.epsilon <= 6


def test_beyond_what_is_listed_designs_are_sets():
    found = recommend(one(21), 5000, epsilon=1, prior=named_prior("zipf", 21), prior_source="public: zipf")
    assert found.alternatives[-1].plan.groups[0].scheme == "random_set"
    assert found.alternatives[-1].error <= errors(found)["subset selection"]


def test_sets_of_items():
    """Two items at 3 : 1: `keep` is .268 apart and 1/3 together, so that together needs 1.5 times fewer reports."""
    found = recommend(Schema([ItemSet("drugs", ["x", "y"])]), 1000, odds=3)
    assert found.chosen.name == "whole sets"
    assert [width.columns for width in found.widths] == [("drugs: x",), ("drugs: y",)]
    assert errors(found)["whole sets"] == pytest.approx(9 / 4)
    large = recommend(Schema([ItemSet("drugs", range(20))]), 1000, odds=3)
    assert list(errors(large)) == ["randomized response"]
    assert large.plan.groups[0].scheme == "mask"


def test_too_many_joint_cells():
    with pytest.raises(
        SottovoceError, match=r"pairs where .* attribute sampling is recommended, with intervals"
    ) as few:
        recommend(several(*[4] * 12), 5000, odds=9, purpose="joint")
    assert few.value.parameter == "purpose"
    with pytest.raises(SottovoceError, match="for the proportions of each attribute attribute sampling is recommended"):
        recommend(several(*[4] * 33), 5000, odds=9, purpose="joint")
    found = recommend(several(*[4] * 33), 5000, odds=9, purpose="pairs")
    assert "joint gamma-diagonal" not in errors(found)
    assert found.notes[0].startswith("One coin for whole records was not considered: about 7.4e+19 joint cells")
    assert found.notes[1] == "Sampling of attributes was not considered: there are too many tables, or too large ones."
    assert found.notes[2].startswith("Expect little: a typical interval reaches")


@pytest.mark.parametrize("purpose", ["pairs", pytest.param("joint", marks=pytest.mark.slow)])
def test_two_attributes_too_large_for_one_table(purpose):
    """More than a million pairs of categories: neither the pair nor all together, which here is the same table."""
    wrong = rf"must be marginals where .* for the proportions of each .* Got {purpose}, of about 1.1e\+06 cells instead"
    with pytest.raises(SottovoceError, match=wrong):
        recommend(several(1000, 1100), 5000, odds=9, purpose=purpose)


@pytest.mark.slow
def test_many_items_in_pairs():
    found = recommend(Schema([ItemSet("basket", range(201))]), 10**6, odds=10**6, purpose="pairs")
    assert "Tables of neighbouring columns stand for all pairs." in found.notes
    assert "will be" in found.words


def test_without_an_optimiser_certified_designs_are_left_out(monkeypatch):
    def lacking(*_):
        raise MissingExtraError("design", "scipy", "design")

    monkeypatch.setattr(room, "certified_candidate", lacking)
    found = recommend(one(6), 5000, odds=3, prior=RARE, prior_source="public: x")
    assert found.chosen.name == "randomized response"
    assert "pip install 'sottovoce[design]'" in found.notes[0]


def test_numbers_for_programs_and_frames():
    found = recommend(several(2, 8), 2000, odds=9, purpose="marginals")
    document = json.loads(json.dumps(found.to_json()))
    assert (document["odds"], document["recommended"]) == (str(found.plan.guarantee.odds), found.chosen.name)
    assert plan_from_json(document["plan"]) == found.plan
    (recommended,) = (row for row in document["alternatives"] if row["recommended"])
    assert (recommended["error_over_recommended"], recommended["respondents_for_the_same_precision"]) == (1, 2000)
    frame = found.to_frame("polars")
    assert frame["name"].to_list() == [each.name for each in found.alternatives]
    widths = found.widths
    assert [width.columns for width in widths] == [("q0",), ("q1",)]
    wider = replace(found, level=0.99).widths[0].typical
    assert wider / widths[0].typical == pytest.approx(2.5758293 / 1.9599640)
    assert "* attribute sampling" in str(found)
    names = recommend(several(*[2] * 10), 2000, odds=9)
    assert "and 2 more" in names.words


def test_one_attribute_has_no_pairs():
    assert recommend(one(3), 100, odds=3, purpose="joint").purpose == "marginals"


def test_bars(tmp_path):
    found = recommend(several(4, 4, 4, 4), 50_000, odds=9)
    drawn = found.plot(path=tmp_path / "bars.png")
    assert (tmp_path / "bars.png").read_bytes().startswith(b"\x89PNG")
    assert [label.get_text() for label in drawn.get_yticklabels()][1] == "attribute sampling (recommended)"
    assert any("bar is cut" in text.get_text() for text in drawn.texts)
    again = found.plot(axes=drawn)
    assert again is drawn


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"respondents": 0, "odds": 3}, "respondents must be a number above 0"),
        ({"odds": 1}, r"odds must be above 1 : 1 for anything to be estimated\. Got 1 instead"),
        ({"epsilon": 0}, "odds must be above 1 : 1"),
        ({}, "odds or epsilon must be given"),
        ({"odds": 3, "purpose": "fun"}, "purpose must be one of marginals, pairs, triples, joint. Got 'fun'"),
        ({"odds": 3, "purpose": 2}, "purpose must be one of"),
        ({"odds": 3, "margin": 0.1}, r"margin must be left out where odds or epsilon are given. Got 0.1"),
        ({"margin": 0}, "margin must be between 0 and 1, both excluded. Got 0 instead"),
        ({"margin": 0.1, "prior_source": "public: x"}, "prior_source must be left out where no prior is given"),
        ({"odds": 3, "level": 1}, "level must be between 0 and 1, both excluded"),
        (
            {"odds": 3, "prior": [0.5, 0.5]},
            "prior_source must say where the prior is from, such as public: census 2021",
        ),
        ({"odds": 3, "prior": [0.5, 0.5], "prior_source": 3}, "prior_source must say where .* Got 3"),
        ({"odds": 3, "prior_source": "public: x"}, "prior_source must be left out where no prior is given"),
        ({"odds": 3, "prior": [1.0, 0.0], "prior_source": "public: x"}, "prior of tax must be positive in every"),
        ({"odds": 3, "prior": [0.2, 0.3, 0.5], "prior_source": "public: x"}, "prior of tax must have a share for each"),
        ({"odds": 3, "prior": {"age": [1]}, "prior_source": "public: x"}, r"of the schema \(tax\)\. Got 'age'"),
        ({"odds": 3, "prior": [0.5, 0.5], "prior_source": "private: x"}, "source must not be private"),
    ],
)
def test_mistakes_are_told(arguments, message):
    with pytest.raises(SottovoceError, match=message):
        recommend(Schema([boolean("tax")]), **{"respondents": 100, **arguments})


def estimator_of(channel):
    """The estimate from one report, a column each: plain inversion, or with weights for the uniform distribution."""
    matrix = as_matrices(channel)
    if not channel.gains_by_weighting:
        return channel.solve(np.eye(len(matrix))), matrix
    matrix = matrix[matrix.any(axis=1)]
    weighted = matrix / matrix.mean(axis=1, keepdims=True)
    return np.linalg.inv(weighted.T @ matrix) @ weighted.T, matrix


def largest_by_search(channel):
    """Largest variance of a cell over mixtures of any two truths."""
    parts = [estimator_of(factor) for factor in channel.factors]
    estimator, matrix = reduce(np.kron, [each for each, _ in parts]), reduce(np.kron, [each for _, each in parts])
    moments, cells = estimator**2 @ matrix, range(channel.n_in)
    shares, largest = np.linspace(0, 1, 2001), 0.0
    for cell, truth, other in product(cells, cells, cells):
        value = shares * (truth == cell) + (1 - shares) * (other == cell)
        variance = shares * moments[cell, truth] + (1 - shares) * moments[cell, other] - value**2
        largest = max(largest, variance.max())
    return largest


@pytest.mark.parametrize(("odds", "purpose"), [(3, "marginals"), (30, "joint"), (9, "pairs")])
def test_the_worst_case_is_the_largest_variance_for_any_truth(odds, purpose):
    found = recommend(several(2, 3), 1000, odds=odds, purpose=purpose, prior="worst")
    usual = recommend(several(2, 3), 1000, odds=odds, purpose=purpose)
    assert found.worst
    assert found.chosen.error == usual.chosen.error  # compared at the uniform distribution
    for each in found.alternatives:
        for axes in found.wanted:
            channel = each.plan.channel([found.columns[axis] for axis in axes])
            assert each.errors.worst_variance(axes) == pytest.approx(largest_by_search(channel), rel=1e-6)
    assert found.margin >= usual.margin
    assert "whatever the truth is" in found.words
    assert found.to_json()["worst_case"] is True


@pytest.mark.parametrize(
    ("schema", "respondents", "purpose"),
    [(one(2), 5000, "marginals"), (one(8), 5000, "marginals"), (several(2, 2, 3), 20_000, "pairs")],
)
def test_the_smallest_epsilon_for_a_margin(schema, respondents, purpose):
    found = recommend(schema, respondents, margin=0.03, purpose=purpose)
    epsilon = found.plan.guarantee.epsilon
    assert 0.0295 < found.margin <= 0.03
    assert found.worst
    less = recommend(schema, respondents, epsilon=epsilon - 0.011, purpose=purpose, prior="worst")
    assert min(map(less.margin_of, less.alternatives)) > 0.03
    again = recommend(schema, respondents, epsilon=round(epsilon, 9), purpose=purpose, prior="worst")
    assert again.margin == pytest.approx(found.margin)


@pytest.mark.slow
def test_a_margin_at_another_level_and_for_a_prior():
    schema = Schema([boolean("tax")])
    usual, sure = recommend(schema, 5000, margin=0.03), recommend(schema, 5000, margin=0.03, level=0.99)
    assert sure.plan.guarantee.epsilon > usual.plan.guarantee.epsilon
    assert (sure.level, sure.margin) == (0.99, pytest.approx(0.03, rel=0.01))
    rare = recommend(schema, 5000, margin=0.03, prior=[0.95, 0.05], prior_source="public: census")
    assert rare.plan.guarantee.epsilon < usual.plan.guarantee.epsilon
    assert not rare.worst


def test_a_choice_that_is_simpler_than_the_best_may_need_more_epsilon():
    """Seven categories: sets of two would do with less, but gain too little to be recommended."""
    found = recommend(one(7), 20_000, margin=0.02)
    assert found.margin <= 0.02
    assert found.chosen is simplest(found.alternatives)


def test_a_margin_that_respondents_are_too_few_for():
    with pytest.raises(
        SottovoceError, match=r"margin must be at least 0\.0438262 with 500 respondents, which epsilon 16"
    ):
        recommend(Schema([boolean("tax")]), 500, margin=0.03)
    with pytest.raises(TypeError, match="delta"):
        recommend(Schema([boolean("tax")]), 500, delta=0.03)


def test_priors_of_several_go_by_name():
    with pytest.raises(SottovoceError, match="prior must map names to shares"):
        recommend(several(2, 2), 100, odds=3, prior=[0.5, 0.5], prior_source="public: x")
    schema = Schema([ItemSet("set", ["x", "y"])])
    with pytest.raises(SottovoceError, match="prior of set must have a frequency for each item, 2"):
        recommend(schema, 100, odds=3, prior=[0.5], prior_source="public: x")


def test_summaries():
    found = recommend(
        Schema([Attribute("a", range(3))]), 1000, odds=3, prior=[0.5, 0.3, 0.2], prior_source="public: census"
    )
    assert repr(found) == f"<Recommendation: {found.chosen.name} for marginals, {found.plan.guarantee}>"
    assert f"<b>Recommended: {found.chosen.name}</b>" in found._repr_html_()
    assert found._repr_html_().count("<tr>") == 1 + len(found.alternatives)
    assert "With 1,000 respondents" in found._repr_html_()


@pytest.mark.parametrize("purpose", ["marginals", "pairs", "triples"])
def test_the_plan_for_the_purpose_is_among_the_alternatives(purpose):
    schema = several(2, 2, 3, 2, 5)
    found = recommend(schema, 10_000, odds=9, purpose=purpose)
    expected = best_design(schema, Fraction(9), purpose)
    sampled = next(each for each in found.alternatives if each.name == "attribute sampling")
    assert sampled.plan == plan_for_purpose(schema, odds=9, purpose=purpose)
    tables = list(combinations(schema.sizes, ORDERS[purpose]))
    at_random = sum(1 - 1 / prod(table) for table in tables)  # what drawing people adds to what coins do
    cells = [prod(table) for table in tables]
    by_table = [sampled.errors.mean_variance(axes) * n for axes, n in zip(found.wanted, cells, strict=True)]
    assert sum(by_table) == pytest.approx(expected.variance + at_random)


def test_triples_of_many_columns_and_mixed_sets():
    found = recommend(several(2, 2, 9, 2), 10_000, odds=9, purpose="pairs")
    assert found.chosen.name == "attribute sampling"
    assert "Ask each respondent two to three of the four questions" in found.words
    many = recommend(Schema([ItemSet("basket", range(25))]), 10**6, odds=10**6, purpose="triples")
    assert "Tables of neighbouring columns stand for all triples." in many.notes


def test_tables_of_too_many_cells_have_a_typical_width_only(monkeypatch):
    monkeypatch.setattr(expected_error, "MOST_BUILT", 5)
    found = recommend(several(2, 3), 2000, odds=9, purpose="pairs")
    assert [width.widest for width in found.widths] == [None]
    assert found.margin == found.widths[0].typical / 2


def test_two_questions_are_both():
    assert "Ask every respondent both questions ('" in recommend(several(2, 2), 2000, odds=9, purpose="joint").words
    assert "all three questions" in recommend(several(2, 2, 2), 2000, odds=9, purpose="joint").words
