"""Sets of favoured cells: difference sets where there are any, and never less information than one cell gives."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.mechanisms.diagonal import Diagonal
from sottovoce.mechanisms.matrix import Listed
from sottovoce.schemes.attribute_sampling import MOST_CELLS, AttributeSampling, spread_set, translated


def information_of(channel) -> float:
    """Harmonic mean, over contrasts of uniform truths, of the information in a report: by the matrix itself."""
    matrix = channel.dense()
    cells = len(matrix)
    moments = matrix.T @ matrix * cells / cells  # sum_y A[y, x] A[y, x'] / l(y), for unit contrasts over n cells
    values = np.sort(np.linalg.eigvalsh(moments))[:-1]
    return len(values) / np.sum(1 / np.maximum(values, 1e-12))


@pytest.mark.parametrize(
    ("sizes", "odds", "size"), [((7,), 2, 3), ((4, 2, 2), 3, 6), ((2, 2, 2, 2), 3, 6), ((13,), 2, 4)]
)
def test_difference_sets_are_found(sizes, odds, size):
    """(7, 3, 1), (16, 6, 2) and (13, 4, 1): every difference but 0 comes as often as any other (Colbourn & Dinitz)."""
    members = spread_set(sizes, Fraction(odds))
    assert len(members) == size
    cells = np.array(np.unravel_index(members, sizes)).T
    steps = (cells[:, None] - cells[None]) % np.array(sizes)
    counts = np.bincount(np.ravel_multi_index(tuple(steps.reshape(-1, len(sizes)).T), sizes), minlength=prod(sizes))
    assert set(counts[1:].tolist()) == {size * (size - 1) // (prod(sizes) - 1)}


@pytest.mark.parametrize("sizes", [(4, 5), (5, 5), (5, 2, 2), (9, 3)])
def test_a_spread_set_doubles_the_information_for_many_cells(sizes):
    odds = Fraction(2)
    spread = translated(sizes, spread_set(sizes, odds), odds).channel
    limit = float((odds - 1) ** 2 / (4 * odds)) / (prod(sizes) - 1)  # for any mechanism: Ye & Barg (2018)
    assert 2 * information_of(Diagonal.with_ratio(sizes, odds).channel) < information_of(spread) <= limit


@given(st.lists(st.integers(2, 4), min_size=1, max_size=3), st.fractions(Fraction(11, 10), 30, max_denominator=10))
def test_odds_are_exact_and_information_is_never_less(sizes, odds):
    members = spread_set(sizes, odds)
    mechanism = translated(sizes, members, odds)
    assert mechanism.channel.odds == odds
    assert information_of(mechanism.channel) >= information_of(Diagonal.with_ratio(sizes, odds).channel) * (1 - 1e-9)


def test_odds_of_an_epsilon_are_never_exceeded():
    """exp(1) is no fraction: rounded towards privacy, by less than a millionth."""
    scheme = AttributeSampling(epsilon=1, subsets=[[0, 1]], spread=True)
    mechanism = scheme.mechanism((5, 5))
    assert isinstance(mechanism.parts[0][1], Listed)
    assert scheme.odds * (1 - Fraction(1, 10**6)) < mechanism.channel.odds <= scheme.odds
    assert mechanism.channel.marginal([0]).parts[0].channel.shape_in == (5,)  # rounding keeps the marginals


def test_attributes_of_a_spread_part_have_margins_of_their_own():
    channel = translated((4, 5), spread_set((4, 5), Fraction(3)), Fraction(3)).channel
    truth = np.random.default_rng(0).dirichlet(np.ones(20)).reshape(4, 5)
    whole = channel.matvec(truth.ravel()).reshape(4, 5)
    np.testing.assert_allclose(channel.marginal([0]).matvec(truth.sum(axis=1)), whole.sum(axis=1))


def test_parts_are_spread_if_that_is_more_informative():
    parts = AttributeSampling(odds=2, subsets=[[0], [0, 1], [1, 2]], spread=True).mechanism((3, 7, 20)).parts
    assert [type(mechanism) for _, mechanism in parts] == [Diagonal, Listed, Diagonal]
    assert MOST_CELLS < 7 * 20  # no set is searched for so many
