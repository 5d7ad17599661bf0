"""Distributions behind reports, columns at a time: against `estimates.likelihood`, and effective numbers of records."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.mixture import Mixture
from sottovoce.channels.subset_selection import SubsetSelection
from sottovoce.estimates.likelihood import em, nearest_distribution
from sottovoce.mining.classify import joint_table
from sottovoce.mining.classify.joint_table import maximum_likelihood, reconstruct

HALF = KeepOrUniform((2, 2), Fraction(1, 2))
COUNTS = np.array([[700, 10], [100, 400], [100, 300], [100, 290]])


@pytest.mark.parametrize("channel", [HALF, Mixture((4,), Fraction(1, 5), [[Fraction(1, 4)] * 4])])
def test_maximum_likelihood_is_that_of_em(channel):
    distribution, _ = reconstruct(channel, COUNTS / 1000, 1000, "em")
    expected = [em(channel, column).value for column in COUNTS.T]
    assert np.allclose(distribution.T, expected, atol=2e-3)  # a hundredth of log-likelihood away, at most
    heights = [np.sum(c * np.log(channel.matvec(p))) for c, p in zip(COUNTS.T, distribution.T, strict=True)]
    best = [em(channel, column).log_likelihood for column in COUNTS.T]
    assert np.all(np.array(best) - heights <= joint_table.TOLERANCE)


def test_inside_the_simplex_the_inversion_is_most_likely():
    distribution, _ = reconstruct(HALF, COUNTS[:, :1] / 1000, 1000, "em")
    raw, _ = reconstruct(HALF, COUNTS[:, :1] / 1000, 1000, "plain")
    assert raw.min() < 0
    inside = np.array([[0.4], [0.2], [0.2], [0.2]])
    assert np.allclose(reconstruct(HALF, inside, 1000, "em")[0], HALF.solve(inside))
    assert np.allclose(
        reconstruct(HALF, COUNTS / 1000, 1000, "simplex")[0], nearest_distribution(HALF.solve(COUNTS / 1000))
    )
    assert distribution.min() >= 0


def test_more_reports_than_truths_always_take_em():
    channel = SubsetSelection((4,), 2, Fraction(3, 4))
    counts = np.random.default_rng(1).multinomial(1000, channel.matvec(np.array([0.7, 0.1, 0.1, 0.1])))
    distribution, _ = reconstruct(channel, counts[:, None] / 1000, 1000, "em")
    assert np.allclose(distribution[:, 0], em(channel, counts).value, atol=2e-3)


def test_the_worth_of_a_report():
    """Warner's design: N_eff / N = p (1 - p) / (lam (1 - lam)) keep^2; clear reports are worth themselves."""
    channel = KeepOrUniform((2,), Fraction(1, 2))
    seen = np.array([[0.4], [0.6]])
    p = channel.solve(seen)[0, 0]
    assert reconstruct(channel, seen, 10**4, "em")[1] == pytest.approx(10**4 * p * (1 - p) / 0.24 / 4)
    clear = KeepOrUniform((3,), 1)
    assert reconstruct(clear, np.array([[0.2, 1], [0.8, 0], [0, 0]]), 50, "em")[1].tolist() == [50, 50]
    # A distribution that noise carried into a corner has no variance of its own; it is worth a record, not nothing.
    assert reconstruct(channel, np.array([[0.9], [0.1]]), 50, "simplex")[1].tolist() == [1]


def test_impossible_reports_are_left_out_and_steps_end(monkeypatch):
    """A known distribution that never draws the last value: reports of it come from the truth alone."""
    channel = Mixture((3,), Fraction(1, 2), [[Fraction(1, 2), Fraction(1, 2), 0]])
    seen = np.array([[0.9], [0.1], [0.0]])
    assert maximum_likelihood(channel, seen, 1e-9)[:, 0] == pytest.approx([1, 0, 0], abs=1e-4)
    monkeypatch.setattr(joint_table, "MOST_STEPS", 1)
    assert maximum_likelihood(channel, seen, 1e-9)[0, 0] < 1
