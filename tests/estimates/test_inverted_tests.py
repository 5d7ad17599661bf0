"""Intervals by inverting a test with simulated reports: coverage, ends at extremes, and declining."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.errors import SottovoceError
from sottovoce.estimates import inverted_tests
from sottovoce.estimates.counted import Counted
from sottovoce.estimates.derived import derive
from sottovoce.estimates.inverted_tests import least_favourable
from sottovoce.estimates.proportions import by_blue, by_inversion
from sottovoce.measures.association import ChiSquared, GSquared, LogOddsRatio, MutualInformation
from sottovoce.measures.functionals import Entropy, Mean, UserFunction

COIN = KeepOrUniform((3,), Fraction(1, 2))
PAIR = Kronecker([KeepOrUniform((2,), Fraction(3, 4)), KeepOrUniform((3,), Fraction(3, 4))])
NOISY = Kronecker([KeepOrUniform((2,), Fraction(1, 2)), KeepOrUniform((3,), Fraction(1, 2))])
INDEPENDENT = np.outer([0.6, 0.4], [0.5, 0.3, 0.2]).ravel()
TILT = np.array([1, -0.3, -0.7, -1, 0.3, 0.7])

SETTINGS = {
    "entropy, uniform": (Entropy(), COIN, np.full(3, 1 / 3), 999),
    "entropy, nearly uniform": (Entropy(), COIN, np.array([0.4, 0.35, 0.25]), 1000),
    "entropy, rare cells": (Entropy(), COIN, np.array([0.9, 0.09, 0.01]), 1000),
    "mutual information, independent": (MutualInformation((2, 3)), PAIR, INDEPENDENT, 2000),
    "mutual information, nearly independent": (MutualInformation((2, 3)), PAIR, INDEPENDENT + 0.02 * TILT, 2000),
    "mutual information, noisy": (MutualInformation((2, 3)), NOISY, INDEPENDENT + 0.05 * TILT, 1000),
    "chi-squared, independent": (ChiSquared((2, 3)), PAIR, INDEPENDENT, 2000),
    "chi-squared, nearly independent": (ChiSquared((2, 3)), PAIR, INDEPENDENT + 0.05 * TILT, 2000),
}


def estimate(channel, counts, target="population", method=by_inversion):
    cells = channel.n_in
    return method(Counted(("a",), (tuple(range(cells)),), channel, np.asarray(counts), np.arange(cells)), target)


def misses(name, target, samples, draws):
    """Share of samples whose interval lies above the truth, and below it."""
    functional, channel, law, people = SETTINGS[name]
    rng, columns = np.random.default_rng([len(name), len(target)]), channel.dense()
    fixed = np.round(people * law).astype(int)
    truth = functional.value(law if target == "population" else fixed / fixed.sum())
    above = below = 0
    for _ in range(samples):
        if target == "population":
            counts = rng.multinomial(people, columns @ law)
        else:
            counts = sum(rng.multinomial(n, column) for n, column in zip(fixed, columns.T, strict=True))
        found = derive(estimate(channel, counts, target), functional, bootstrap=draws, rng=rng)
        above += found.low > truth + 1e-9
        below += found.high < truth - 1e-9
    return above / samples, below / samples


@pytest.mark.slow
@pytest.mark.parametrize("target", ["population", "table"])
@pytest.mark.parametrize("name", SETTINGS)
def test_intervals_cover(name, target):
    """2,000 samples: at least 93.5 %; more at an extreme, which can be missed on one side only."""
    assert sum(misses(name, target, samples=2000, draws=400)) < 0.065


def test_ends_at_the_extreme():
    """As uniform as can be: the interval reaches log2 3, and as independent as can be, zero."""
    found = derive(estimate(COIN, [334, 333, 333]), Entropy(), bootstrap=500, rng=1)
    assert (found.method, found.standard_error, found.reason) == ("bootstrap", None, None)
    assert found.high == pytest.approx(np.log2(3), abs=1e-9)
    assert found.low < found.value <= found.high
    assert str(found).endswith("1.5850], by bootstrap")
    counts = np.round(10_000 * PAIR.matvec(INDEPENDENT)).astype(int)
    for functional in (MutualInformation((2, 3)), ChiSquared((2, 3)), GSquared((2, 3))):
        found = derive(estimate(PAIR, counts), functional, bootstrap=500, rng=1)
        assert found.low == pytest.approx(0, abs=1e-9)
        assert 0 <= found.value < found.high
        assert found.to_json()["method"] == "bootstrap"


def test_exactly_at_the_extreme_any_way_leads_away():
    """All three reports equally often: the gradient is zero, and the interval is not a point."""
    found = derive(estimate(COIN, [300, 300, 300]), Entropy(), bootstrap=500, rng=1)
    assert found.low < np.log2(3) - 1e-3
    assert found.high == pytest.approx(np.log2(3))


def test_no_luck_makes_an_interval_narrower():
    """More uniform than half of all samples are, every table has the interval of the median sample."""
    widths = []
    for counts in ([300, 300, 300], [301, 300, 299], [310, 300, 290]):
        found = derive(estimate(COIN, counts), Entropy(), bootstrap=2000, rng=1)
        widths.append(found.high - found.low)
    assert np.ptp(widths) < 0.1 * np.mean(widths)


def test_a_bootstrap_that_is_asked_for_is_one():
    """Whatever the reports: near the likelihood's interval where both hold."""
    found = estimate(COIN, [4000, 3500, 2500])
    asked, profile = derive(found, Mean([0, 1, 5]), bootstrap=500, rng=1), derive(found, Mean([0, 1, 5]))
    assert (asked.method, profile.method) == ("bootstrap", "profile likelihood")
    assert (asked.low, asked.high) == pytest.approx((profile.low, profile.high), abs=0.02)


def test_users_functions_are_evaluated_one_by_one():
    """Squared distance to uniformity has the interval that its own formula gives at once."""
    ours = UserFunction("unevenness", lambda p: ((p - 1 / 3) ** 2).sum())
    progress_calls = []
    found = derive(
        estimate(COIN, [345, 333, 322]),
        ours,
        bootstrap=200,
        rng=4,
        progress=lambda done, total: progress_calls.append(done),
    )
    assert found.method == "bootstrap"
    assert found.low == pytest.approx(0, abs=1e-9)
    assert progress_calls == list(range(1, len(progress_calls) + 1))


def test_still_declined():
    two = Kronecker([KeepOrUniform((2,), Fraction(1, 2))] * 2)
    found = derive(estimate(two, [600, 390, 5, 5]), LogOddsRatio(), bootstrap=200, rng=1)
    assert "the bootstrap has none (p must have positive cells" in found.reason
    assert (found.low, found.method) == (None, None)
    with pytest.raises(SottovoceError, match=r"^bootstrap must be left out but for plain inversions of at most 4096"):
        derive(estimate(COIN, [334, 333, 333], method=by_blue), Entropy(), bootstrap=200)
    with pytest.raises(SottovoceError, match=r"^draws must be a whole number from 100"):
        derive(estimate(COIN, [334, 333, 333]), Entropy(), bootstrap=3)


def test_paths_rise_and_fall_to_extremes():
    found = estimate(COIN, [45, 33, 22])
    for sign, end in ((1, np.log2(3)), (-1, 0)):
        distributions, ends = least_favourable(found.covariances, Entropy(), found.value, sign)
        values = [Entropy().value(law) for law in distributions]
        assert ends
        assert values[0] == Entropy().value(found.value)
        assert (sign * np.diff(values[:-1]) > 0).all()
        assert values[-1] == pytest.approx(end, abs=1e-9)


def test_paths_that_do_not_end(monkeypatch):
    """One standard error away, the tail is not yet reached."""
    monkeypatch.setattr(inverted_tests, "MOST_STEPS", 2)
    found = derive(estimate(COIN, [500, 330, 170]), Entropy(), bootstrap=100, rng=1)
    assert "entropy must be contradicted by the reports 1 standard errors away" in found.reason
