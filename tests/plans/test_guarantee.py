"""Promises compose exactly, and what is printed is never less than what is true."""

from fractions import Fraction
from math import inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.plans.guarantee import Guarantee, odds_text

ODDS = st.one_of(st.none(), st.fractions(1, 10**6))


@given(ODDS, ODDS)
def test_independent_coins_multiply(one, other):
    both = Guarantee(one) * Guarantee(other)
    assert both.odds == (None if one is None or other is None else one * other)
    assert both.deniable == (one is not None and other is not None)


@given(ODDS, ODDS)
def test_within_orders_promises(one, other):
    expected = other is None or (one is not None and one <= other)
    assert Guarantee(one).within(Guarantee(other)) == expected


@given(st.fractions(1, 10**9))
def test_printed_odds_are_not_below_the_true_ones(odds):
    left, right = odds_text(odds).split(" : ")
    assert Fraction(left) / Fraction(right) >= odds
    assert Fraction(left) / Fraction(right) <= odds * Fraction(100_001, 100_000)


@pytest.mark.parametrize(
    ("odds", "text"),
    [
        (Fraction(3), "3 : 1 (epsilon 1.09862)"),
        (Fraction(7, 2), "7 : 2 (epsilon 1.25277)"),
        (Fraction(2**100), "1.26766e+30 : 1 (epsilon 69.3148)"),
        (None, "not deniable (odds unbounded)"),
    ],
)
def test_printed_guarantees(odds, text):
    assert str(Guarantee(odds)) == text


def test_epsilon():
    assert Guarantee(Fraction(3)).epsilon == pytest.approx(log(3))
    assert Guarantee(None).epsilon == inf


def test_words_for_people():
    assert "by a factor of at most 3. No report proves any answer" in Guarantee(Fraction(3)).in_words()
    assert "at most 7 / 2." in Guarantee(Fraction(7, 2)).in_words()
    assert Guarantee(None).in_words().startswith("Not deniable")
    assert "says nothing" in Guarantee(Fraction(1)).in_words()
