"""The prior, and what follows from it, checked by drawing from it."""

import numpy as np
import pytest

from sottovoce.mining.itemsets.frequent import ResolutionWarning, smallest_support, warn_unresolved
from sottovoce.mining.itemsets.selection import Level, hill_exponent, posterior

THRESHOLD, ALPHA, ERROR = 0.003, 1.5, 0.0004


@pytest.fixture(scope="module")
def drawn():
    """40,000 supports under the power law from well below the threshold on, and noisy estimates of them."""
    rng = np.random.default_rng(1)
    truth = 0.0012 * rng.random(40_000) ** (-1 / ALPHA)
    return truth, truth + rng.normal(0, ERROR, len(truth))


def test_probabilities_are_frequencies(drawn):
    """Of the sets that are frequent with probability .2 to .4, 30 % or so are; likewise elsewhere."""
    truth, estimate = drawn
    found = posterior(estimate, np.full(len(estimate), ERROR), THRESHOLD)
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        among = (found.probability >= low) & (found.probability < low + 0.2) & (found.probability > 0.01)
        share, spread = (truth[among] >= THRESHOLD).mean(), np.sqrt(0.25 / among.sum())
        assert share == pytest.approx(found.probability[among].mean(), abs=0.05 + 3 * spread)


def test_corrected_intervals_cover_what_was_picked(drawn):
    """Picked estimates within a standard error of the threshold: 95 % intervals cover when corrected, not otherwise."""
    truth, estimate = drawn
    found = posterior(estimate, np.full(len(estimate), ERROR), THRESHOLD)
    near = (estimate >= THRESHOLD) & (estimate < THRESHOLD + ERROR)
    half = 1.96 * ERROR
    corrected = np.abs(truth - (estimate - found.bias))[near] <= half
    plain = np.abs(truth - estimate)[near] <= half
    assert near.sum() > 800
    assert corrected.mean() == pytest.approx(0.95, abs=0.025)
    assert plain.mean() < corrected.mean()
    assert (estimate - truth)[near].mean() == pytest.approx(found.bias[near].mean(), rel=0.25)


def test_nothing_hidden_is_certain():
    found = posterior(np.array([0.1, 0.3, 0.2]), np.zeros(3), min_support=0.2)
    assert found.probability.tolist() == [0, 1, 1]
    assert found.bias.tolist() == [0, 0, 0]


def test_the_exponent_without_sets_is_the_guess():
    assert hill_exponent(np.zeros(3), 0.1) == 1.0


def test_the_smallest_support_is_at_least_one_report():
    level = Level(np.array([[0]]), np.array([0.5]), np.array([0.0]))
    assert smallest_support(level, rows=50) == pytest.approx(0.02)


def test_a_threshold_below_the_noise_is_warned_of():
    levels = [Level(np.array([[0]]), np.array([0.5]), np.array([e])) for e in (0.001, 0.05)]
    with pytest.warns(
        ResolutionWarning, match=r"min_support 0\.02 is below what 400 reports .* length 2: .* under 0\.1"
    ):
        warn_unresolved(0.02, levels, 400)
