"""Numbers that were published: the thesis', OptRR's, Gao's and Wang's settings."""

from math import erf, exp, log

import numpy as np
import pytest

from sottovoce.measures.entries import entry_privacy, recoverability_known
from sottovoce.measures.item_privacy import basic_privacy
from sottovoce.measures.privacy import (
    adversary_privacy,
    amplification,
    epsilon_of,
    individual_reconstruction,
    largest_posterior,
    worst_posterior,
)
from sottovoce.measures.private_parameter import posterior_range, share_below
from sottovoce.schemes import GammaDiagonal, Laplace, RandomizedResponse, UnrelatedQuestion


def warner(diagonals, n):
    """Stack of Warner's matrices, one for each diagonal."""
    d = np.asarray(diagonals)[:, np.newaxis, np.newaxis]
    return np.where(np.eye(n) == 1, d, (1 - d) / (n - 1))


@pytest.mark.parametrize(
    ("p", "q", "support", "published"),
    [(0.5051, 0.9696, 0.01, 92.5), (0.5673, 0.9877, 0.005, 89.23), (0.5350, 0.9958, 0.0015, 91.4)],
    ids=["synthetic", "BMS-WebView-1", "BMS-WebView-2"],
)
def test_basic_privacy(p, q, support, published):
    """Agrawal 2004, 3.5: p and q of Tables 3.2-3.7, average supports of 3.5.2."""
    digits = len(str(published).split(".")[1])
    assert round(100 * basic_privacy(p, q, support), digits) == published


def test_strict_privacy():
    """Agrawal 2004, 4.3.1: 5 % rises to 50 % at gamma = 19."""
    assert amplification(0.05, 0.5) == 19 == GammaDiagonal(strict=(0.05, 0.5)).gamma
    assert largest_posterior(0.05, 19) == 0.5


def test_the_range_of_the_randomised_matrix():
    """Agrawal 2004, 4.3.1: 33 % to 60 %, half of it above 50 %; averaged over r still 50 %."""
    low, high, averaged = posterior_range(0.05, 19, 2000)
    assert (round(low, 2), round(high, 2), round(averaged, 12)) == (0.33, 0.60, 0.5)
    assert share_below(0.5, 0.05, 19, 2000) == pytest.approx(0.5)


def test_warners_least_privacy_under_a_bound():
    """Huang & Du 2008, figure 4: .6, .5, .4, .22 at delta = .6, .7, .8, .9, read off to within .02."""
    edges = np.linspace(-3, 3, 11)
    prior = np.diff([erf(edge / 2**0.5) for edge in edges])
    prior /= prior.sum()
    matrices = warner(np.linspace(0, 1, 1001), 10)
    privacy, worst = adversary_privacy(matrices, prior), worst_posterior(matrices, prior)
    found = [privacy[worst <= delta].min() for delta in (0.6, 0.7, 0.8, 0.9)]
    np.testing.assert_allclose(found, [0.6, 0.5, 0.4, 0.22], atol=0.02)


def test_how_many_of_warners_matrices_keep_epsilon_two():
    """Gao et al. 2018: of 999 matrices at n = 8; 495 by an independent count, diagonals .019 to .513."""
    diagonals = np.arange(1, 1000) / 1000
    private = epsilon_of(warner(diagonals, 8)) <= 2
    assert private.sum() == 495
    assert (diagonals[private].min(), diagonals[private].max()) == (0.019, 0.513)


def test_randomized_response_does_not_always_reconstruct_better_than_laplace():
    """A counter-example to Wang, Wu & Hu 2016, Theorem 4: .09694 against .09750 for category 1.

    The prior is known to four digits, and so are the probabilities.
    """
    prior = [0.0955, 0.1908, 0.2783, 0.4355]
    found = [
        individual_reconstruction(scheme(epsilon=0.2214).mechanism((4,)).channel, np.array(prior) / sum(prior))[0]
        for scheme in (RandomizedResponse, Laplace)
    ]
    assert found == pytest.approx([0.09694, 0.09750], abs=5e-5)
    assert found[0] < found[1]


def test_wangs_binary_matrix():
    """Wang, Wu & Hu 2016, eq. 5 and 8: diagonal e^eps / (1 + e^eps); with a uniform prior p^2 + (1 - p)^2."""
    p = exp(1) / (1 + exp(1))
    channel = RandomizedResponse(epsilon=1).mechanism((2,)).channel
    np.testing.assert_allclose(individual_reconstruction(channel, [0.5, 0.5]), p**2 + (1 - p) ** 2)
    assert epsilon_of([[p, 1 - p], [1 - p, p]]) == pytest.approx(log(p / (1 - p)))


@pytest.mark.parametrize("theta", [0.2, 0.5, 0.8])
def test_the_printed_entry_privacy_at_a_fair_coin(theta):
    """Zhan & Matwin 2006, 4.1: its last line agrees with its definition at W_y = .5."""
    share, fair = 0.3, 0.5
    yes, no = theta + (1 - theta) * fair, (1 - theta) * fair
    printed = (1 - share) * share * (1 - theta) * yes / (yes * share + no * (1 - share))
    printed += 2 * share * (1 - share) * no * yes / (yes * (1 - share) + no * share)
    channel = UnrelatedQuestion(theta=theta, known=[0.5, 0.5]).mechanism((2,)).channel
    assert entry_privacy(channel, [1 - share, share]) == pytest.approx(printed)


def test_the_papers_rules():
    """Zhan & Matwin 2006, 4.2: confidences 80, 60, 40 and 30 %; 1.4 P(A1 = 1) + .7 P(A1 = 0)."""
    assert recoverability_known([0.6, 0.4], [[0.8, 0.6], [0.4, 0.3]]) == pytest.approx(1.4 * 0.6 + 0.7 * 0.4)
