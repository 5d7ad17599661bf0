"""Widths before the survey are those after it, and the numbers of respondents give them."""

from math import inf, sqrt

import numpy as np
import pytest

from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SottovoceError
from sottovoce.estimates.derived import derive
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.estimates.sample_size import (
    detectable_difference,
    expected_width,
    fewest_respondents,
    respondents_needed,
)
from sottovoce.measures.association import MutualInformation, OddsRatio
from sottovoce.measures.functionals import Entropy, Mean
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.randomized_response import RandomizedResponse
from sottovoce.schemes.subset_selection import SubsetSelection
from sottovoce.schemes.warner import Warner


def people(rng, count):
    return {
        "tax": rng.choice([False, True], count, p=[0.8, 0.2]),
        "drug": rng.choice(["never", "once", "often"], count, p=[0.5, 0.3, 0.2]),
        "age": rng.choice([20, 50, 70], count, p=[0.2, 0.5, 0.3]),
        "children": rng.choice(4, count, p=[0.4, 0.3, 0.2, 0.1]),
    }


@pytest.mark.slow
@pytest.mark.parametrize("names", [["drug"], ["age", "tax"], ["tax", "drug"]])
def test_widths_are_met(plan, names):
    """One seeded survey of 200,000: its intervals are as wide as foretold, to 3 %."""
    distributions = {"tax": [0.8, 0.2], "drug": [0.5, 0.3, 0.2], "age": [0.2, 0.5, 0.3]}
    prior = np.ones(1)
    for name in names:
        prior = np.kron(prior, distributions[name])
    reports = disguise_frame(people(np.random.default_rng(1), 200_000), plan, rng=2)
    low, high = estimate_proportions(reports, plan, names).interval()
    np.testing.assert_allclose(expected_width(plan, names, 200_000, prior=prior), high - low, rtol=0.03)


def test_numbers_give_their_widths(plan):
    for width in (0.01, 0.1):
        needed = respondents_needed(plan, "drug", width)
        assert expected_width(plan, "drug", needed).max() <= width
        assert expected_width(plan, "drug", needed - 1).max() > width


@pytest.mark.slow
def test_functionals_have_widths_too(plan):
    mean = Mean([0, 1, 2, 3])
    prior = [0.4, 0.3, 0.2, 0.1]
    reports = disguise_frame(people(np.random.default_rng(3), 200_000), plan, rng=4)
    derived = derive(estimate_proportions(reports, plan, "children"), mean)
    (width,) = expected_width(plan, "children", 200_000, prior=prior, functional=mean)
    assert width == pytest.approx(derived.high - derived.low, rel=0.03)
    assert respondents_needed(plan, "children", width, prior=prior, functional=mean) == pytest.approx(200_000, abs=1)


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda plan: expected_width(plan, "drug", 0), "respondents"),
        (lambda plan: expected_width(plan, "drug", 2.5), "respondents"),
        (lambda plan: respondents_needed(plan, "drug", 0), "width"),
        (lambda plan: respondents_needed(plan, "drug", float("nan")), "width"),
        (lambda plan: respondents_needed(plan, "drug", 0.1, prior=[0.5, 0.5]), "prior"),
        (lambda plan: respondents_needed(plan, "drug", 0.1, prior=[0.5, 0.5, 0.5]), "prior"),
    ],
)
def test_bad_questions_are_refused(plan, call, parameter):
    with pytest.raises(SottovoceError, match=rf"^{parameter} must"):
        call(plan)


@pytest.mark.slow
def test_attributes_whose_report_does_not_split():
    """As a survey of 200,000 finds, to 3 %: the other attribute of the group is taken as uniform, and is."""
    schema = Schema([boolean("a"), boolean("b"), boolean("c")])
    plan = Plan.of(schema, {("a", "b"): SubsetSelection(odds=9), "c": Warner(p=0.75)})
    rng = np.random.default_rng(5)
    table = {"a": rng.random(200_000) < 0.3, "b": rng.random(200_000) < 0.5, "c": rng.random(200_000) < 0.2}
    low, high = estimate_proportions(disguise_frame(table, plan, rng=6), plan, ["c", "a"]).interval()
    prior = np.kron([0.8, 0.2], [0.7, 0.3])
    width = expected_width(plan, ["c", "a"], 200_000, prior=prior)
    np.testing.assert_allclose(width, high - low, rtol=0.03)
    assert respondents_needed(plan, ["c", "a"], width.max(), prior=prior) == pytest.approx(200_000, abs=1)


def test_widths_where_the_gradient_vanishes(plan):
    """At the uniform distribution the standard error of an entropy is zero, but nobody needs one respondent only."""
    needed = respondents_needed(plan, "drug", 0.1, functional=Entropy())
    assert needed > 10
    (width,) = expected_width(plan, "drug", needed, functional=Entropy())
    assert 0 < width <= 0.1
    assert expected_width(plan, "drug", needed - 1, functional=Entropy())[0] > 0.1
    (width,) = expected_width(plan, ["tax", "drug"], 10**6, functional=MutualInformation((2, 3)))
    assert 0 < width < 0.001


def test_an_infinite_end_is_an_infinite_width():
    plan = Plan.of(Schema([boolean("a"), boolean("b")]), {"a": Warner(p=0.75), "b": Warner(p=0.75)})
    assert expected_width(plan, ["a", "b"], 50, functional=OddsRatio())[0] == inf
    needed = respondents_needed(plan, ["a", "b"], 3.0, functional=OddsRatio())
    assert expected_width(plan, ["a", "b"], needed, functional=OddsRatio())[0] <= 3


def test_functionals_of_many_cells_have_no_width():
    large = Plan.of(Schema([Attribute("a", range(300))]), {"a": RandomizedResponse(odds=9)})
    with pytest.raises(SottovoceError, match=r"^functional must have an interval; entropy has none\. Got of more than"):
        expected_width(large, "a", 10**6, functional=Entropy())


def test_sets_of_many_categories_have_no_forecast():
    plan = Plan.of(Schema([Attribute("job", range(20))]), {"job": SubsetSelection(odds=9)})
    with pytest.raises(SottovoceError, match=r"^plan must report categories, or sets of at most 12"):
        expected_width(plan, "job", 1000)


def test_widths_that_no_number_of_respondents_reaches():
    with pytest.raises(
        SottovoceError, match=r"^width must be reached with at most 1000000000000 respondents\. Got 0\.1"
    ):
        fewest_respondents(lambda count: 0.2, 0.1, constant=1.0)


def test_the_smallest_difference_is_found_with_the_power_that_was_asked_for():
    """Simulate two groups of disguised answers that differ by it; count how often a test at the 5 % level rejects."""
    rng = np.random.default_rng(5)
    size, share, tests = 2000, 0.3, 20_000
    inside, outside = 0.75, 0.25  # randomized response at 3 : 1
    error = sqrt(0.25 / size) / (inside - outside)  # at most, where half of the reports are yes
    for power in (0.5, 0.8, 0.9):
        difference = detectable_difference(error, error, power=power)
        counts = [
            rng.binomial(size, outside + (inside - outside) * each, tests) for each in (share, share + difference)
        ]
        estimates = [(count / size - outside) / (inside - outside) for count in counts]
        variances = [count / size * (1 - count / size) / size / (inside - outside) ** 2 for count in counts]
        rejected = np.abs(estimates[1] - estimates[0]) > 1.959964 * np.sqrt(variances[0] + variances[1])
        assert rejected.mean() == pytest.approx(power, abs=0.015)


def test_a_power_is_a_probability():
    with pytest.raises(SottovoceError, match="power"):
        detectable_difference(0.1, 0.1, power=1)
