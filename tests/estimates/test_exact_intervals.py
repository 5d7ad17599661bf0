"""Exact intervals: coverage by enumeration over the whole range, small and large samples, tables, contradictions."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.estimates.cell_tests import IndicatorTests
from sottovoce.estimates.exact_intervals import (
    MOST_VARIANCE_OF_TABLE,
    exact_interval,
    normal_level,
    tail_probability,
)

Z = 1.959963984540054
DESIGNS = {"Warner": (0.75, 0.25), "no yes by chance": (0.75, 0.0), "Mangat": (1.0, 0.3), "turned": (0.2, 0.9)}


def pmf(size: int, chance: float) -> np.ndarray:
    return np.array([comb(size, t) * chance**t * (1 - chance) ** (size - t) for t in range(size + 1)])


@pytest.mark.parametrize("size", [5, 30, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("design", DESIGNS)
def test_every_proportion_is_covered(design, size):
    """Exact enumeration over 0, .005, ..., 1: never below 94.5 %, and not far above 95 % in the mean from 30 on."""
    inside, outside = DESIGNS[design]
    ends = np.array([exact_interval(t, size, inside, outside, Z) for t in range(size + 1)])
    assert (ends[:, 0] < ends[:, 1]).all()
    assert (ends.min(), ends.max()) == (0, 1)
    covered = []
    for p in np.linspace(0, 1, 201):
        contains = (ends[:, 0] <= p + 1e-12) & (ends[:, 1] >= p - 1e-12)
        covered.append(pmf(size, outside + (inside - outside) * p)[contains].sum())
    assert min(covered) >= 0.945
    assert size < 30 or np.mean(covered) < 0.97


@pytest.mark.parametrize("size", [5, 30])
@pytest.mark.parametrize("design", DESIGNS)
def test_every_table_is_covered(design, size):
    """Every number of members: the count is the sum of two binomial variables."""
    inside, outside = DESIGNS[design]
    ends = np.array([exact_interval(t, size, inside, outside, Z, "table") for t in range(size + 1)])
    for members in range(size + 1):
        chances = np.convolve(pmf(members, inside), pmf(size - members, outside))
        contains = (ends[:, 0] <= members / size + 1e-12) & (ends[:, 1] >= members / size - 1e-12)
        assert chances[contains].sum() >= 0.945


@given(st.integers(1, 60), st.data(), st.sampled_from(["population", "table"]))
def test_intervals_lie_within_zero_and_one_and_grow_with_the_count(size, data, target):
    count = data.draw(st.integers(0, size - 1))
    outside, gain = data.draw(st.sampled_from([0.0, 0.1, 0.5])), data.draw(st.sampled_from([0.2, 0.4, 0.5]))
    one, more = (exact_interval(t, size, outside + gain, outside, Z, target) for t in (count, count + 1))
    assert 0 <= one[0] <= one[1] <= 1
    assert one[0] <= more[0] + 1e-3
    assert one[1] <= more[1] + 1e-3


def test_answers_in_clear_are_known_for_a_table():
    assert exact_interval(3, 10, 1.0, 0.0, Z, "table") == (0.3, 0.3)


def test_rare_reports_of_many_respondents():
    """A billion to one, a million respondents: three in a million, as without a disguise (Poisson)."""
    low, high = exact_interval(0, 10**6, 1 - 1e-9, 1e-9, Z)
    assert low == 0
    assert 3.0e-6 < high < 3.2e-6
    assert exact_interval(3, 10**6, 1 - 1e-9, 1e-9, Z, "table") == (3e-6, 3e-6)


@pytest.mark.parametrize("target", ["population", "table"])
def test_large_samples_agree_with_the_normal_approximation(target):
    """Near the variance up to which probabilities are summed, score tests give nearly the same ends."""
    size = round(3.9 * MOST_VARIANCE_OF_TABLE)
    inside, outside, counts = np.array([0.75]), np.array([0.25]), np.array([0.4 * size])
    tests = IndicatorTests(counts, size, inside, outside, target)
    assert tests.method == "exact"
    exact, score = tests.ends(Z), tests.score.ends(Z)
    width = exact[1] - exact[0]
    assert np.abs(np.array(exact) - np.array(score)).max() < 0.02 * width
    many = IndicatorTests(1000 * counts, 1000 * size, inside, outside, target)
    assert many.method == "constrained score"
    assert (many.ends(Z)[1] - many.ends(Z)[0]) * 1000**0.5 == pytest.approx(width, rel=0.02)


def test_a_table_of_many_respondents_is_searched_in_strides():
    low, high = exact_interval(1920, 4000, 0.55, 0.45, Z, "table")
    score = IndicatorTests(np.array([1920.0]), 4000, np.array([0.55]), np.array([0.45]), "table").score.ends(Z)
    assert (low, high) == pytest.approx((score[0][0], score[1][0]), abs=2e-3)


@pytest.mark.parametrize("target", ["population", "table"])
@pytest.mark.parametrize("count", [0, 1000])
def test_counts_that_contradict_the_channel_have_a_narrow_interval_at_its_end(count, target):
    low, high = exact_interval(count, 1000, 0.75, 0.25, Z, target)
    assert (low, high < 0.05) == (0, True) if count == 0 else (high, low > 0.95) == (1, True)


def test_contradictions():
    counts = np.array([0.0, 30.0])
    cell, probability = IndicatorTests(counts, 30, np.full(2, 0.75), np.full(2, 0.25), "population").contradiction
    assert (cell, probability) == (0, pytest.approx(0.75**30))
    few = IndicatorTests(np.array([2.0, 3.0]), 5, np.full(2, 0.75), np.full(2, 0.25), "population")
    assert few.contradiction is None
    assert tail_probability(30, 30, 0.75) == pytest.approx(0.75**30)
    assert tail_probability(0, 10**6, 0.25) < 1e-300


def test_levels():
    assert normal_level(0.6744897501960817) == pytest.approx(0.5)
    narrow, wide = (exact_interval(12, 30, 0.75, 0.25, z) for z in (0.6744897501960817, 2.5758293035489))
    assert wide[0] <= narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize("target", ["population", "table"])
@pytest.mark.parametrize("z", [1e-6, 0.0125, 6.0])
def test_extreme_levels(z, target):
    """From hardly any confidence to one in a billion: an interval around the estimate, of some width."""
    low, high = exact_interval(12, 30, 0.75, 0.25, z, target)
    assert low <= 0.3 <= high
    assert (high - low < 0.15) if z < 1 else (low, high) == (0, 1)
