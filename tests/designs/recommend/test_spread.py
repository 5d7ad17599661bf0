"""ExpectedErrors from one column at a time, against whole joint channels and against what the measure room says."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.channels.channel import Part, kron
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.sampled import Sampled
from sottovoce.designs.recommend import expected_error
from sottovoce.designs.recommend.expected_error import ExpectedErrors, second_moments
from sottovoce.estimates.sample_size import expected_proportions
from sottovoce.measures.utility import estimate_covariance
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import (
    AttributeSampling,
    GammaDiagonal,
    Mask,
    OptimizedUnary,
    RandomizedResponse,
    RandomSet,
    SubsetSelection,
    SymmetricUnary,
)

A, B, C = np.array([0.8, 0.2]), np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.2, 0.3, 0.4])
LAWS = {"a": A, "b": B, "c": C}
SCHEMA = Schema([Attribute("a", [0, 1]), Attribute("b", range(3)), Attribute("c", range(4))])
TARGETS = [(0,), (2,), (0, 1), (1, 2), (0, 1, 2)]


@pytest.mark.parametrize(
    "schemes",
    [
        {name: RandomizedResponse(odds=3) for name in "abc"},
        {("a", "b"): GammaDiagonal(odds=9), "c": RandomizedResponse(odds=3)},
        {("a", "b", "c"): GammaDiagonal(odds=9)},
        {"a": RandomizedResponse(odds=3), "b": SubsetSelection(odds=3, size=1), "c": SubsetSelection(odds=3, size=2)},
    ],
)
def test_errors_are_those_that_the_estimates_will_have(schemes):
    """Standard errors of the estimate room, which builds every joint channel, at N = 1."""
    plan = Plan.of(SCHEMA, schemes)
    errors = ExpectedErrors(plan.channel(), (A, B, C))
    assert errors.estimator == "inversion"
    for axes in TARGETS:
        names = ["abc"[axis] for axis in axes]
        law = kron(LAWS[name] for name in names)
        variances = expected_proportions(plan, names, law, 1).standard_error ** 2
        assert errors.mean_variance(axes) == pytest.approx(variances.mean())
        assert errors.cells(axes)[1].max() == pytest.approx(variances.max())


@pytest.mark.parametrize(
    "schemes",
    [
        {("a", "b", "c"): AttributeSampling(odds=9)},
        {("a", "b", "c"): AttributeSampling(odds=9, size=2)},
        {("a", "b", "c"): AttributeSampling(odds=9, subsets=[[0, 1], [1, 2], [0, 1, 2]])},
        {"a": RandomizedResponse(odds=3), "b": OptimizedUnary(odds=3), "c": SymmetricUnary(odds=4)},
    ],
)
def test_where_reports_outnumber_truths_errors_are_the_least_there_are(schemes):
    plan = Plan.of(SCHEMA, schemes)
    errors = ExpectedErrors(plan.channel(), (A, B, C))
    assert errors.estimator == "blue"
    for axes in [(0,), (1,), (1, 2)]:
        if len(axes) > 1 and schemes == {("a", "b", "c"): AttributeSampling(odds=9)}:
            continue  # never asked together
        names = ["abc"[axis] for axis in axes]
        law = kron(LAWS[name] for name in names)
        expected = np.diag(estimate_covariance(plan.channel(names), law, 1))
        assert errors.mean_variance(axes) == pytest.approx(expected.mean())
        assert errors.cells(axes)[1].max() == pytest.approx(expected.max())


def test_one_of_d_attributes_is_as_good_as_n_over_d_respondents():
    """The best unbiased estimate knows how many were asked: d times the variance of those who were."""
    plan = Plan.of(SCHEMA, {SCHEMA.names: AttributeSampling(odds=9)})
    alone = Plan.of(SCHEMA.project(["b"]), {"b": RandomizedResponse(odds=9)})
    assert ExpectedErrors(plan.channel(), (A, B, C)).mean_variance((1,)) == pytest.approx(
        3 * ExpectedErrors(alone.channel(), (B,)).mean_variance((0,))
    )


def test_items_are_columns_of_their_own():
    schema = Schema([ItemSet("items", ["x", "y"]), Attribute("c", range(4))])
    plan = Plan.of(schema, {"items": Mask(p=0.75), "c": RandomizedResponse(odds=3)})
    errors = ExpectedErrors(plan.channel(), (A, A, C))
    coin = KeepOrUniform((2,), Fraction(1, 2))
    assert errors.mean_variance((1,)) == pytest.approx((second_moments(coin, A) - A**2).mean())
    assert errors.reports((0, 2)) == 8


def test_many_sets_are_measured_without_a_list():
    """Twenty categories: unary by memberships, drawn sets by their information, as equal sets of two must be."""
    law = np.arange(1, 21) / 210
    unary = OptimizedUnary(odds=3).mechanism((20,)).channel
    assert not unary.gains_by_weighting
    share = 1 / 4 + law / 4  # a zero flips with 1 / (3 + 1), a one with 1/2
    assert second_moments(unary, law) == pytest.approx(share * (1 - share) * 16 + law**2)
    drawn = RandomSet([(1, 2, [1] * 14)], odds=3).mechanism((14,)).channel
    plain = SubsetSelection(odds=3, size=2).mechanism((14,)).channel
    uniform = np.full(14, 1 / 14)
    assert second_moments(drawn, uniform) == pytest.approx(second_moments(plain, uniform))


def test_the_worst_of_too_many_cells_is_not_looked_for(monkeypatch):
    monkeypatch.setattr(expected_error, "MOST_BUILT", 5)
    errors = ExpectedErrors(KeepOrUniform((2, 3), Fraction(1, 2)), (A, B))
    assert errors.cells((0, 1)) is None
    assert errors.cells((1,)) is not None


def test_alike_attributes_are_measured_once(monkeypatch):
    calls = []

    def counted(channel, law):
        calls.append(channel)
        return second_moments(channel, law)

    monkeypatch.setattr(expected_error, "second_moments", counted)
    plan = Plan.of(Schema([Attribute(n, range(3)) for n in "abcd"]), {tuple("abcd"): AttributeSampling(odds=9, size=2)})
    errors = ExpectedErrors(plan.channel(), (B, B, B, C[:3] / C[:3].sum()))
    for axes in [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)]:
        errors.mean_variance(axes)
    assert len(calls) == 2
    coin = KeepOrUniform((2,), Fraction(1, 2))
    uneven = Sampled((2, 2), [Part((0,), coin, 2), Part((1,), coin, 1)])
    often, seldom = (ExpectedErrors(uneven, (A, A)).mean_variance(axes) for axes in [(0,), (1,)])
    assert often < seldom
