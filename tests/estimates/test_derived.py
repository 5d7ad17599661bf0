"""Derived measures: intervals by profile likelihood whatever came out, and the delta method where it holds."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq

from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.disguises.tables import disguise_frame
from sottovoce.estimates.counted import Counted
from sottovoce.estimates.covariance import MatrixCovariance
from sottovoce.estimates.derived import delta_method, derive
from sottovoce.estimates.independence import independence_test
from sottovoce.estimates.proportions import by_blue, by_em, by_inversion, estimate_proportions
from sottovoce.estimates.weights import Weighted
from sottovoce.measures.association import (
    ChiSquared,
    GSquared,
    LogOddsRatio,
    MutualInformation,
    OddsRatio,
    PearsonCorrelation,
    RiskDifference,
)
from sottovoce.measures.functionals import Entropy, Mean, UserFunction
from sottovoce.plans.budget import new_plan
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.gamma_diagonal import GammaDiagonal

COIN = KeepOrUniform((3,), Fraction(1, 2))
PAIR = Kronecker([KeepOrUniform((2,), Fraction(3, 4)), KeepOrUniform((3,), Fraction(3, 4))])


INDEPENDENT = np.outer([0.6, 0.4], [0.5, 0.3, 0.2]).ravel()


def estimate(channel, counts, target="population", by=by_inversion, weighted=None):
    cells = channel.n_in
    counted = Counted(("a",), (tuple(range(cells)),), channel, np.asarray(counts), np.arange(cells), weighted)
    return by(counted, target)


def test_linear_functionals_need_no_correction():
    """Variance of a mean by hand: s^T S s."""
    found = estimate(COIN, [400, 350, 250])
    derived = derive(found, Mean([0, 1, 5]))
    scores = np.array([0, 1, 5])
    assert derived.value == pytest.approx(scores @ found.value)
    assert derived.bias == pytest.approx(0, abs=1e-12)
    assert derived.standard_error == pytest.approx(np.sqrt(scores @ found.covariance @ scores))
    assert derived.low < derived.value < derived.high


@pytest.mark.slow
def test_the_bias_of_entropy_is_taken_off():
    """Plug-in entropy is too low on average; less the second order, the mean of 4,000 is right to 5 errors."""
    law, rng = np.array([0.5, 0.3, 0.2]), np.random.default_rng(8)
    plain, corrected = [], []
    for _ in range(4000):
        found = estimate(COIN, rng.multinomial(3000, COIN.matvec(law)))
        derived = derive(found, Entropy())
        plain.append(derived.value + derived.bias)
        corrected.append(derived.value)
    error = np.std(corrected) / np.sqrt(4000)
    truth = Entropy().value(law)
    assert truth - np.mean(plain) > 5 * error
    assert abs(np.mean(corrected) - truth) < 5 * error


def test_the_delta_method_says_where_it_does_not_hold():
    """Near uniformity and independence, and where noise reaches zero cells; before anyone is asked."""
    found = delta_method(estimate(COIN, [334, 333, 333]), Entropy())
    assert found.reason.startswith("its curvature biases it by 0.00")
    assert (found.standard_error, found.low, found.high) == (None, None, None)
    assert "bits, without an interval" in str(found)
    counts = np.round(10_000 * PAIR.matvec(INDEPENDENT)).astype(int)
    for functional in (MutualInformation((2, 3)), ChiSquared((2, 3))):
        assert delta_method(estimate(PAIR, counts), functional).reason is not None
    found = estimate(COIN, [500, 330, 170])
    assert delta_method(found, Entropy()).reason.startswith("noise reaches where it is not defined")
    assert delta_method(found, Mean([0, 1, 2])).reason is None


@pytest.mark.parametrize("target", ["population", "table"])
@pytest.mark.parametrize("counts", [[2, 0, 0], [1, 2, 2], [40, 0, 0], [334, 333, 333], [500, 330, 170]])
@pytest.mark.parametrize("functional", [Entropy(), Mean([0, 1, 5])], ids=["entropy", "mean"])
def test_an_interval_whatever_came_out(functional, counts, target):
    """It holds the value, is within the functional's range, and is wider than nothing."""
    found = derive(estimate(COIN, counts, target), functional)
    least, most = (0, np.log2(3)) if functional.name == "entropy" else (0, 5)
    assert least - 1e-9 <= found.low <= found.value <= found.high <= most + 1e-9
    assert found.high - found.low > 0.005
    assert found.reason is None
    assert found.standard_error > 0


@pytest.mark.parametrize("target", ["population", "table"])
@pytest.mark.parametrize(
    "counts",
    [
        [2, 0, 0, 0],
        pytest.param([1, 2, 1, 1], marks=pytest.mark.slow),
        [40, 0, 0, 0],
        pytest.param([90, 5, 5, 0], marks=pytest.mark.slow),
        [250, 250, 250, 250],
    ],
)
@pytest.mark.parametrize(
    "functional", [PearsonCorrelation([0, 1], [0, 1]), RiskDifference(), GSquared((2, 2))], ids=lambda f: f.name
)
def test_an_interval_of_a_table_whatever_came_out(functional, counts, target):
    two = Kronecker([KeepOrUniform((2,), Fraction(3, 4))] * 2)
    found = derive(estimate(two, counts, target), functional)
    assert -1 <= found.low <= found.value <= found.high <= 1.4
    assert found.high - found.low > 0.005
    assert found.reason is None


def test_near_the_extremes_intervals_hold_them():
    found = derive(estimate(COIN, [334, 333, 333]), Entropy())
    assert (found.high, found.unit, found.method) == (np.log2(3), "bits", "profile likelihood")
    found = derive(estimate(COIN, [670, 165, 165]), Entropy())
    assert found.low == 0
    assert derive(estimate(COIN, [670, 165, 165]), Mean([1, 2, 7])).low == 1
    assert derive(estimate(COIN, [165, 165, 670]), Mean([1, 2, 7])).high == 7


@pytest.mark.parametrize("seed", range(4))
def test_mutual_information_holds_zero_where_independence_is_not_rejected(seed):
    """By the test on the same reports, at the same level, by coins of their own or shared."""
    rng = np.random.default_rng(seed)
    names = ("a", "b")
    apart = new_plan(Schema(map(boolean, names)), odds=20)
    shared = Plan.of(Schema(map(boolean, names)), {names: GammaDiagonal(odds=8)})
    a = rng.random(400) < 0.5
    people = {"a": a, "b": np.where(rng.random(400) < 0.25, a, rng.random(400) < 0.5)}
    for plan in (apart, shared):
        reports = disguise_frame(people, plan, rng=seed)
        found = estimate_proportions(reports, plan, names)
        for level in (0.5, 0.95):
            rejected = independence_test(reports, plan, *names).p_value < 1 - level
            for measure in ("mutual_information", "chi_squared", "g_squared"):
                assert (derive(found, measure, level).low > 0) == rejected


def test_odds_ratios_end_at_infinity_where_an_empty_cell_is_not_rejected():
    two = Kronecker([KeepOrUniform((2,), Fraction(1, 2))] * 2)
    found = derive(estimate(two, [600, 390, 5, 5]), LogOddsRatio())
    assert np.isnan(found.value)
    assert (found.low, found.high, found.reason) == (-np.inf, np.inf, None)
    certain = Kronecker([KeepOrUniform((2,), Fraction(99, 100))] * 2)
    found = derive(estimate(certain, [50, 0, 20, 30]), OddsRatio())
    assert (found.value, found.high) == (np.inf, np.inf)
    assert found.low > 1
    assert (found.to_json()["high"], found.to_json()["standard_error"], found.reason) == (None, None, None)
    found = derive(estimate(certain, [0, 50, 20, 30]), OddsRatio())
    assert (found.value, found.low) == (0, 0)
    assert 0 < found.high < 1


def test_an_odds_ratio_without_a_disguise_has_the_textbook_profile():
    """Of 30, 10, 10, 30: the profile is close to Woolf's interval, exp(log 9 +- 1.96 sqrt(.2667))."""
    clear = Kronecker([KeepOrUniform((2,), Fraction(1))] * 2)
    found = derive(estimate(clear, [30, 10, 10, 30]), OddsRatio())
    assert found.value == pytest.approx(9, rel=1e-3)
    assert np.log([found.low, found.high]) == pytest.approx(np.log(9) + np.array([-1, 1]) * 1.96 * 0.5164, abs=0.05)
    logarithm = derive(estimate(clear, [30, 10, 10, 30]), LogOddsRatio())
    assert np.exp([logarithm.low, logarithm.high]) == pytest.approx([found.low, found.high])


def test_a_proportion_without_a_disguise_has_its_likelihood_interval():
    """30 of 100: the roots of 2 (l(.3) - l(p)) = 3.8415 by scipy, or beyond them what the score test accepts."""
    clear = KeepOrUniform((2,), Fraction(1))
    found = derive(estimate(clear, [70, 30]), UserFunction("share", lambda p: p[1]))

    def ratio(p):
        return 2 * (30 * np.log(0.3 / p) + 70 * np.log(0.7 / (1 - p))) - 3.841459

    wilson = (0.3 + 3.841459 / 200 + np.array([-1, 1]) * np.sqrt(3.841459 * (0.21 + 3.841459 / 400) / 100)) / 1.03841459
    assert found.low == pytest.approx(min(brentq(ratio, 0.01, 0.3), wilson[0]), abs=2e-3)
    assert found.high == pytest.approx(max(brentq(ratio, 0.3, 0.99), wilson[1]), abs=2e-3)


def test_other_methods_and_weights_have_intervals_too():
    counts = [480, 320, 200]
    plain = derive(estimate(COIN, counts), Entropy())
    blue, em = (derive(estimate(COIN, counts, by=by), Entropy()) for by in (by_blue, by_em))
    assert (blue.low, em.high) == pytest.approx((plain.low, plain.high), abs=1e-4)
    weighted = Weighted(np.array(counts, float), np.array(counts, float))
    found = derive(estimate(COIN, counts, weighted=weighted), Entropy())
    assert found.method == "normal profile likelihood"
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=0.03)
    alone = replace(estimate(COIN, counts), covariances=MatrixCovariance(estimate(COIN, counts).covariance))
    assert derive(alone, Entropy()).high == pytest.approx(found.high, abs=0.01)
    two = Kronecker([KeepOrUniform((2,), Fraction(1, 2))] * 2)
    for counts, dependent in (([270, 230, 260, 240], False), ([400, 100, 100, 400], True)):
        for target in ("population", "table"):
            pair = estimate(two, counts, target)
            alone = replace(pair, covariances=MatrixCovariance(pair.covariance))
            assert (derive(alone, MutualInformation((2, 2))).low > 0) == dependent


def test_of_many_cells_only_linear_measures_have_intervals():
    """By the number of cells, whatever the reports."""
    many = KeepOrUniform((200,), Fraction(1, 2))
    found = estimate(many, np.arange(200) + 1)
    assert derive(found, Mean(range(200))).method == "delta method"
    entropy = derive(found, Entropy())
    assert entropy.reason == "of more than 36 cells only mean and correlation have one"
    assert 0 < entropy.value < np.log2(200)


def test_users_functions():
    found = estimate(COIN, [4000, 3500, 2500])
    ratio = UserFunction("first over second", lambda p: p[0] / p[1])
    derived = derive(found, ratio, level=0.9)
    gradient = np.array([1 / found.value[1], -found.value[0] / found.value[1] ** 2, 0])
    assert derived.standard_error == pytest.approx(np.sqrt(gradient @ found.covariance @ gradient), rel=1e-6)
    assert derived.to_json()["level"] == 0.9
    assert str(derived).startswith("first over second: 1.")
