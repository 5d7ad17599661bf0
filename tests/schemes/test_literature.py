"""Facts of the papers about the schemes, each with its source."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce.schemes as room
from sottovoce.errors import SottovoceError
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.matrix import Matrix
from sottovoce.schemes.randomized_response import RandomizedResponse
from sottovoce.schemes.uniform_perturbation import UniformPerturbation
from sottovoce.schemes.unrelated_question import UnrelatedQuestion
from sottovoce.schemes.warner import Warner


@given(st.fractions(0, Fraction(99, 100), max_denominator=10**6), st.integers(2, 40))
def test_theorem_2_of_optrr(q, n):
    """Huang & Du (2008), Theorem 2: Warner, UP and FRAPP are one family where the diagonal is at least 1/n."""
    p = q + (1 - q) / n
    ratio = p * (n - 1) / (1 - p)
    mechanisms = {
        Warner(p=p).mechanism((n,)),
        UniformPerturbation(q=q).mechanism((n,)),
        GammaDiagonal(frapp_lambda=ratio).mechanism((n,)),
    }
    assert len(mechanisms) == 1


@pytest.mark.parametrize(("psi", "gamma"), [((0.05, 0.5), 19), ((0.1, 0.5), 9), (("1/3", "2/3"), 4)])
def test_strict_privacy(psi, gamma):
    """Agrawal (2004), eq. 4.2: psi2 (1 - psi1) / (psi1 (1 - psi2)); (5 %, 50 %) gives 19."""
    assert GammaDiagonal(strict=psi).gamma == gamma


def test_strict_privacy_holds_for_the_channel_it_makes():
    """No prior of 5 % on a set of truths rises above 50 %: the worst set is a single cell."""
    channel = GammaDiagonal(strict=(0.05, 0.5)).mechanism((20,)).channel
    diagonal, rest = channel.entry(0, 0), channel.entry(0, 1)
    prior = Fraction(1, 20)
    assert prior * diagonal / (prior * diagonal + (1 - prior) * rest) == Fraction(1, 2)


@pytest.mark.parametrize(("epsilon", "t"), [(0.5, 2), (1, 2), (1, 5), (3, 10)])
def test_optimal_randomized_response(epsilon, t):
    """Wang et al. (2016), eq. 8 (t = 2) and 19: e^eps / (e^eps + t - 1) on the diagonal."""
    dense = RandomizedResponse(epsilon=epsilon).mechanism((t,)).channel.dense()
    expected = np.full((t, t), 1 / (np.exp(epsilon) + t - 1))
    np.fill_diagonal(expected, np.exp(epsilon) / (np.exp(epsilon) + t - 1))
    np.testing.assert_allclose(dense, expected, rtol=1e-8)


def test_epsilon_is_never_exceeded_and_hardly_missed():
    for epsilon in (0.01, 0.1, 1, 2.5, 10, 30):
        achieved = RandomizedResponse(epsilon=epsilon).mechanism((12,)).channel.epsilon
        assert epsilon * (1 - 1e-6) < achieved <= epsilon


@pytest.mark.parametrize("bits", [1, 2, 15])
def test_odds_of_the_unrelated_question(bits):
    """1 + theta 2^M / (1 - theta) for M fair bits in one group: 32,769 : 1 at theta = .5 and M = 15."""
    channel = UnrelatedQuestion(theta=Fraction(1, 2)).mechanism((2,) * bits).channel
    assert channel.odds == 1 + 2**bits


def test_an_unrelated_question_within_odds():
    mechanism = UnrelatedQuestion(odds=3, known=[[0.5, 0.5], [0.2, 0.8]]).mechanism((2, 2))
    assert mechanism.channel.odds == 3


def test_the_marginal_of_the_unrelated_question_is_one():
    """`P*(E) = theta P(E) + (1 - theta) P_Y(E)` holds for every event, so for events of one attribute."""
    whole = UnrelatedQuestion(theta=0.3, known=[[0.5, 0.5], [0.2, 0.3, 0.5]]).mechanism((2, 3)).channel
    part = UnrelatedQuestion(theta=0.3, known=[0.2, 0.3, 0.5]).mechanism((3,)).channel
    assert whole.marginal([1]) == part


def test_a_known_distribution_of_another_length_is_refused():
    with pytest.raises(SottovoceError, match=r"^known must have lengths \(3,\)"):
        UnrelatedQuestion(theta=0.5, known=[0.5, 0.5]).mechanism((3,))


def test_warner_needs_another_answer():
    with pytest.raises(SottovoceError, match=r"^sizes must leave at least two answers"):
        Warner(p=0.5).mechanism((1,))


def test_a_matrix_for_another_number_of_truths_is_refused():
    with pytest.raises(SottovoceError, match=r"^matrix must have 3 columns"):
        Matrix([[0.5, 0.5], [0.5, 0.5]]).mechanism((3,))


def test_a_joint_domain_too_large_is_refused():
    with pytest.raises(SottovoceError, match=r"^sizes must have at most 2\^63 - 1 joint cells"):
        GammaDiagonal(gamma=19).mechanism((2,) * 64)


def test_the_package_finds_schemes_by_class_name():
    assert room.Warner is Warner
    with pytest.raises(AttributeError, match="has no attribute 'Magic'"):
        room.Magic  # noqa: B018
