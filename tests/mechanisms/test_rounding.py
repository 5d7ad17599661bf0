"""Rounding is towards privacy: odds are never above those asked for, and hardly below."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import SottovoceError
from sottovoce.exact import odds_of_epsilon
from sottovoce.mechanisms.diagonal import Diagonal
from sottovoce.mechanisms.matrix import Listed
from sottovoce.mechanisms.replacement import Replacement
from sottovoce.mechanisms.rounding import (
    LARGEST_LOSS,
    diagonal_sides,
    distribution_sides,
    loss,
    matrix_odds,
    matrix_sides,
)

EPSILONS = st.floats(1e-4, 30)


@given(EPSILONS, st.integers(2, 10_000))
def test_diagonals_for_an_epsilon(epsilon, cells):
    asked = odds_of_epsilon("epsilon", epsilon)
    achieved = Diagonal.with_ratio((cells,), asked).channel.odds
    assert achieved <= asked
    assert loss(asked, achieved) < LARGEST_LOSS


@given(st.fractions(Fraction(1, 10**9), 10**9), st.integers(2, 50))
def test_diagonals_on_either_side_of_one(ratio, cells):
    """A ratio below one makes the truth the rarer report; its odds are the inverse, and round down too."""
    truth, other = diagonal_sides(cells, ratio)
    assert max(Fraction(truth, other), Fraction(other, truth)) <= max(ratio, 1 / ratio)


def test_rationals_that_fit_are_kept_exactly():
    assert diagonal_sides(10, Fraction(19)) == (19, 1)
    assert diagonal_sides(2, Fraction(2**40 + 1, 2**40)) == (2**40 + 1, 2**40)  # 2^41 + 1 sides: two words


def test_a_domain_too_large_for_the_odds_is_refused():
    with pytest.raises(SottovoceError, match=r"^odds must be within reach of 64-bit integers over 4611686018427387904"):
        diagonal_sides(2**62, Fraction(1001, 1000) + Fraction(1, 10**30))


def test_odds_beyond_every_float_are_refused_by_name():
    with pytest.raises(SottovoceError, match=r"^odds must be within reach.* lower them.* Got 3\.33333e\+399 instead"):
        diagonal_sides(3, Fraction(10**400, 3))


@given(st.lists(st.floats(1e-12, 1), min_size=2, max_size=8))
def test_distributions_keep_every_outcome_possible(weights):
    exact = [Fraction(w) for w in weights]
    shares = [w / sum(exact) for w in exact]
    sides = distribution_sides(shares)
    largest = Fraction(len(shares), 2**32)
    assert all(count > 0 for count in sides)
    assert all(abs(Fraction(c, sum(sides)) - p) <= largest for c, p in zip(sides, shares, strict=True))


def test_distributions_keep_zeros():
    assert distribution_sides([Fraction(1, 3), Fraction(0), Fraction(2, 3)]) == (1, 0, 2)


@given(st.data(), st.integers(2, 6), st.integers(2, 6))
def test_matrices_round_within_their_odds(data, reports, truths):
    entry = st.floats(0.01, 1)
    columns = []
    for _ in range(truths):
        weights = [Fraction(data.draw(entry)) for _ in range(reports)]
        columns.append([w / sum(weights) for w in weights])
    rows = list(zip(*columns, strict=True))
    asked = matrix_odds(rows)
    rounded = matrix_sides(rows, asked)
    achieved = matrix_odds(rounded)
    assert achieved <= asked
    assert loss(asked, achieved) < LARGEST_LOSS
    assert len({sum(column) for column in zip(*rounded, strict=True)}) == 1


def test_an_uninformative_matrix_stays_uninformative():
    third = Fraction("0.333333333333333333333333333333")
    rows = [[third, third], [1 - third, 1 - third]]
    assert Listed.near((2,), rows).channel.odds == 1


def test_zeros_of_a_matrix_stay_zeros_and_nothing_else_becomes_zero():
    tiny = Fraction(1, 10**15)
    rounded = matrix_sides([[tiny, Fraction(0)], [1 - tiny, Fraction(1)]], None)
    assert rounded[0][1] == 0
    assert rounded[0][0] > 0


def test_a_matrix_no_integers_can_hold_is_refused():
    tiny = Fraction(1, 10**40)
    with pytest.raises(SottovoceError, match=r"^matrix must have entries that 64-bit integers"):
        matrix_sides([[tiny, 2 * tiny], [1 - tiny, 1 - 2 * tiny]], Fraction(2))


def test_a_matrix_whose_rounding_would_break_its_odds_is_refused():
    """Entries of 1.2 and 1.6 sides out of 2^64 would round to 1 and 2."""
    low, high = Fraction(12, 10 * 2**64), Fraction(16, 10 * 2**64)
    with pytest.raises(SottovoceError, match=r"^matrix must have entries that 64-bit integers"):
        matrix_sides([[low, high], [1 - low, 1 - high]], Fraction(4, 3))


def test_a_probability_of_keeping_no_integers_can_hold_is_refused():
    with pytest.raises(SottovoceError, match=r"^keep must be within reach of 64-bit integers"):
        Replacement.with_keep((2,), Fraction(1, 10**20), ((Fraction(1, 2), Fraction(1, 2)),))


def test_small_differences_need_64_bits():
    """Odds of 1 + 1e-7: 2^32 sides would lose more than a millionth of the epsilon."""
    close = Fraction(1, 2) + Fraction(1, 4 * 10**7) + Fraction(1, 10**30)
    rows = [[close, 1 - close], [1 - close, close]]
    assert sum(row[0] for row in matrix_sides(rows, matrix_odds(rows))) > 2**32


@given(EPSILONS, st.lists(st.floats(0.01, 1), min_size=2, max_size=5))
def test_replacements_keep_the_odds_of_the_exact_design(epsilon, weights):
    exact = [Fraction(w) for w in weights]
    known = (tuple(w / sum(exact) for w in exact),)
    keep = 1 / (1 + odds_of_epsilon("epsilon", epsilon))
    asked = 1 + keep / ((1 - keep) * min(known[0]))
    achieved = Replacement.with_keep((len(weights),), keep, known).channel.odds
    assert achieved <= asked
    assert loss(asked, achieved) < LARGEST_LOSS


def test_losses():
    assert loss(Fraction(3), Fraction(3)) == 0
    assert loss(None, None) == 0
    assert loss(None, Fraction(3)) == loss(Fraction(1), Fraction(2)) == 1
    assert loss(Fraction(4), Fraction(2)) == pytest.approx(0.5)
