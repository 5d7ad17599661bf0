"""Profile likelihood: closed forms where there are any, two samples by enumeration, weights and strata."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.estimates import profile_likelihood
from sottovoce.estimates.cell_tests import IndicatorTests
from sottovoce.estimates.linear_tests import ConstrainedTests
from sottovoce.estimates.profile_likelihood import (
    EffectiveTests,
    EitherTests,
    ProfileTests,
    TwoSampleTests,
    bernoulli_log_likelihood,
    bisect_ends,
    maximum_likelihood_tests,
    students_t,
)

Z = 1.959963984540054
COIN = KeepOrUniform((2,), Fraction(1, 2))
THREE = KeepOrUniform((3,), Fraction(1, 2))
FACTORS = ((0.75, 0.25), (0.25, 0.75))


def test_two_cells_have_the_profile_of_a_binomial():
    """No other cell is free: the interval is where twice the log ratio reaches z^2."""
    counts = np.array([60.0, 40.0])
    low, high = ProfileTests(COIN, counts, np.arange(2)).ends(Z)

    def accepted(proportions):
        largest = bernoulli_log_likelihood(counts / 100, counts / 100)
        return 200 * (largest - bernoulli_log_likelihood(counts / 100, 0.25 + 0.5 * proportions)) <= Z**2

    expected = bisect_ends(np.array([0.7, 0.3]), accepted)
    np.testing.assert_allclose([low, high], expected, atol=1e-4)


@pytest.mark.parametrize("channel", [THREE, Kronecker([COIN, COIN])])
def test_the_profile_is_the_largest_likelihood_with_a_cell_held(channel):
    """Against a fine grid of the simplex."""
    rng = np.random.default_rng(1)
    counts = rng.multinomial(60, channel.matvec(np.eye(channel.n_in)[0] * 0.5 + 0.5 / channel.n_in)).astype(float)
    low, high = ProfileTests(channel, counts, np.arange(channel.n_in)).ends(Z)
    points = rng.dirichlet(np.full(channel.n_in, 0.7), 60_000).T
    likelihood = counts @ np.log(channel.matvec(points))
    for cell in range(channel.n_in):
        inside = points[cell][2 * (likelihood.max() - likelihood) <= Z**2]
        assert low[cell] - 0.01 <= inside.min() <= low[cell] + 0.05
        assert high[cell] - 0.05 <= inside.max() <= high[cell] + 0.01


def test_a_maximisation_that_is_cut_off_widens_the_interval(monkeypatch):
    tests = ProfileTests(THREE, np.array([40.0, 30.0, 30.0]), np.arange(3))
    whole = tests.ends(Z)
    monkeypatch.setattr(profile_likelihood, "MOST_STEPS", 1)
    cut = tests.ends(Z)
    np.testing.assert_allclose(cut, whole, atol=0.2)


def test_cells_of_maximum_likelihood_are_tested_by_their_number():
    assert isinstance(maximum_likelihood_tests(COIN, np.array([6, 4]), np.arange(2)), IndicatorTests)
    assert isinstance(maximum_likelihood_tests(THREE, np.array([6, 4, 2]), np.arange(3)), EitherTests)
    large = Kronecker([KeepOrUniform((20,), Fraction(1, 2))] * 2)
    counts = np.ones(400, np.int64)
    assert isinstance(maximum_likelihood_tests(large, counts, np.arange(400)), ConstrainedTests)


@pytest.mark.parametrize("sizes", [(5, 5), pytest.param((3, 12), marks=pytest.mark.slow)])
def test_two_samples_cover_by_enumeration(sizes):
    outcomes = [grid.ravel().astype(float) for grid in np.indices([n + 1 for n in sizes])]
    low, high = TwoSampleTests((outcomes[0], outcomes[1]), sizes, FACTORS).ends(Z)
    assert (low < high).all()
    for p in np.linspace(0, 1, 21):
        for u in np.linspace(0, 1, 11):
            chances = [a * p + b * u for a, b in FACTORS]
            pmfs = [
                [comb(n, t) * c**t * (1 - c) ** (n - t) for t in range(n + 1)]
                for n, c in zip(sizes, chances, strict=True)
            ]
            covered = np.outer(*pmfs).ravel()[(low <= p + 1e-9) & (high >= p - 1e-9)].sum()
            assert covered >= 0.945


def test_two_large_samples_are_taken_as_normal():
    few, many = (TwoSampleTests((np.array([0.3 * n]), np.array([0.5 * n])), (n, n), FACTORS) for n in (100, 10_000))
    (low, high), (lower, upper) = few.ends(Z), many.ends(Z)
    assert low < lower < 0.2 < upper < high
    assert (upper - lower) * 10 == pytest.approx(high - low, rel=0.1)
    error = np.sqrt((1.5**2 * 0.3 * 0.7 + 0.5**2 * 0.25) / 10_000)
    assert upper - lower == pytest.approx(2 * Z * error, rel=0.02)


def test_one_sample_that_is_asked_directly():
    tests = TwoSampleTests((np.array([3.0]), np.array([5.0])), (10, 10), ((1.0, 0.0), (0.25, 0.75)))
    low, high = tests.ends(Z)
    assert 0.05 < low[0] < 0.3 < high[0] < 0.75


def test_students_quantiles():
    """Tables: 95 % two-sided."""
    for degrees, expected in ((1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (30, 2.042), (1e9, 1.96)):
        assert students_t(Z, degrees) == pytest.approx(expected, rel=2e-3)


def test_effective_numbers_give_the_likelihood_interval_of_as_many_reports():
    share, number = np.array([0.4]), np.array([100.0])
    found = EffectiveTests(share, number, np.array([0.75]), np.array([0.25]), 1e9).ends(Z)
    expected = ProfileTests(COIN, np.array([60.0, 40.0]), np.arange(2)).ends(Z)
    np.testing.assert_allclose(np.ravel(found), [expected[0][1], expected[1][1]], atol=1e-4)
