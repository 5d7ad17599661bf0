"""Exact numbers are read as they are written, and epsilon is converted to odds rounded down."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import SottovoceError
from sottovoce.exact import distribution, epsilon_of_odds, fraction, odds, odds_of_epsilon, root_of_odds


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.7, Fraction(7, 10)),
        (np.float64(0.7), Fraction(7, 10)),
        (np.int64(3), Fraction(3)),
        ("3/4", Fraction(3, 4)),
        (Decimal("0.1"), Fraction(1, 10)),
        (1e-7, Fraction(1, 10**7)),
    ],
)
def test_numbers_are_read_as_they_are_written(written, meant):
    assert fraction("p", written) == meant


@pytest.mark.parametrize("value", [float("nan"), inf, Decimal("nan"), "three", "1/0", None, [], True, 1j])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(SottovoceError, match=r"^p must be a (finite )?number\. Got .* instead\.$"):
        fraction("p", value)


@pytest.mark.parametrize("value", ["1e1000", "1E-999999999", "1e+1_000_000"])
def test_numbers_that_would_fill_the_memory_are_refused(value):
    with pytest.raises(SottovoceError, match=r"^p must have an exponent of at most three digits\. Got .* instead\.$"):
        fraction("p", value)
    assert fraction("p", "1e999") == 10**999


@pytest.mark.parametrize("value", ["3:1", (3, 1), [3, 1], 3, 3.0, "3", "6/2", Fraction(3)])
def test_odds_in_every_writing(value):
    assert odds("odds", value) == 3


@pytest.mark.parametrize("value", ["1:3", 0.5, (1, 0), "3:1:2", "a:b", -3, (1, 2, 3)])
def test_odds_that_are_none(value):
    with pytest.raises(SottovoceError, match=r"^odds must .*\. Got .* instead\.$"):
        odds("odds", value)


@given(st.floats(0, 50))
def test_odds_of_an_epsilon_are_at_most_its_power(epsilon):
    """Checked at 80 digits: 0 <= e^eps - odds, and the difference is beyond the 49th digit."""
    ratio = odds_of_epsilon("epsilon", epsilon)
    with localcontext(prec=80):
        power = (Decimal(repr(epsilon))).exp()
        below = Decimal(ratio.numerator) / Decimal(ratio.denominator)
        assert below <= power
        assert power - below <= power * Decimal("1e-49")


@given(st.fractions(1, 10**6), st.integers(1, 12))
def test_equal_shares_of_odds_do_not_exceed_the_whole(whole, share):
    part = root_of_odds(whole, share)
    assert 1 <= part**share <= whole
    assert epsilon_of_odds(part) * share == pytest.approx(epsilon_of_odds(whole), rel=1e-12, abs=1e-30)


@pytest.mark.parametrize("epsilon", [-1e-9, 701, "x", float("nan")])
def test_epsilon_out_of_range(epsilon):
    with pytest.raises(SottovoceError, match=r"^epsilon must be"):
        odds_of_epsilon("epsilon", epsilon)


def test_priors_off_by_a_billionth_are_put_right_and_no_more():
    assert sum(distribution("prior", [0.5, 0.5 + 9e-10])) == 1
    with pytest.raises(SottovoceError, match=r"^prior must sum to 1; the sum is 1\.000000002"):
        distribution("prior", [0.5, 0.5 + 2e-9])


def test_epsilon_near_zero_is_exact():
    """ln(1 + 1e-12) by its series: 1e-12 - 5e-25."""
    assert epsilon_of_odds(1 + Fraction(1, 10**12)) == pytest.approx(1e-12 - 5e-25, rel=1e-15)
    assert epsilon_of_odds(None) == inf
