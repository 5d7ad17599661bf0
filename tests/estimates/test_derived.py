"""Derived measures: the delta method where it holds, by hand and by coverage, and a reason where it does not."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.estimates.counted import Counted
from sottovoce.estimates.derived import derive
from sottovoce.estimates.proportions import by_inversion
from sottovoce.measures.association import ChiSquared, LogOddsRatio, MutualInformation
from sottovoce.measures.functionals import Entropy, Mean, UserFunction

COIN = KeepOrUniform((3,), Fraction(1, 2))
PAIR = Kronecker([KeepOrUniform((2,), Fraction(3, 4)), KeepOrUniform((3,), Fraction(3, 4))])


def estimate(channel, counts, target="population"):
    cells = channel.n_in
    counted = Counted(("a",), (tuple(range(cells)),), channel, np.asarray(counts), np.arange(cells))
    return by_inversion(counted, target, "inversion")


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


def test_near_the_uniform_law_entropy_has_no_interval():
    derived = derive(estimate(COIN, [334, 333, 333]), Entropy())
    assert derived.reason.startswith("its curvature biases it by 0.00")
    assert (derived.standard_error, derived.low, derived.high) == (None, None, None)
    assert "without an interval" in str(derived)


def test_near_independence_mutual_information_and_chi_squared_have_no_interval():
    counts = np.round(10_000 * PAIR.matvec(np.outer([0.6, 0.4], [0.5, 0.3, 0.2]).ravel()))
    for functional in (MutualInformation((2, 3)), ChiSquared((2, 3))):
        assert derive(estimate(PAIR, counts.astype(int)), functional).reason is not None


def test_near_zero_cells_what_needs_positive_ones_is_declined():
    found = estimate(COIN, [500, 330, 170])
    assert found.value[2] < 5 * found.standard_error[2]
    assert derive(found, Entropy()).reason.startswith("noise reaches where it is not defined")
    assert derive(found, Mean([0, 1, 2])).reason is None


def test_without_any_sensible_value_there_is_none():
    two = Kronecker([KeepOrUniform((2,), Fraction(1, 2))] * 2)
    derived = derive(estimate(two, [600, 390, 5, 5]), LogOddsRatio())
    assert np.isnan(derived.value)
    assert derived.reason is not None


def test_users_functions():
    found = estimate(COIN, [4000, 3500, 2500])
    ratio = UserFunction("first over second", lambda p: p[0] / p[1])
    derived = derive(found, ratio, level=0.9)
    gradient = np.array([1 / found.value[1], -found.value[0] / found.value[1] ** 2, 0])
    assert derived.standard_error == pytest.approx(np.sqrt(gradient @ found.covariance @ gradient), rel=1e-6)
    assert derived.to_json()["level"] == 0.9
    assert str(derived).startswith("first over second: 1.")
