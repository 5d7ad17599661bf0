"""Argument checks: numpy's numbers are accepted as Python's are, and every error states the rule."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from sottovoce import checks
from sottovoce.errors import SottovoceError


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_whole_numbers_of_any_kind(value):
    found = checks.whole_number("n", value)
    assert found == 3
    assert type(found) is int


@pytest.mark.parametrize(
    ("value", "limits", "rule"),
    [
        (0, {}, "n must be a positive whole number. Got 0 instead."),
        (True, {}, "n must be a positive whole number. Got True instead."),
        (np.bool_(True), {}, "n must be a positive whole number. Got True instead."),
        (2.0, {}, "n must be a positive whole number. Got 2.0 instead."),
        ("2", {}, "n must be a positive whole number. Got '2' instead."),
        (-1, {"least": 0}, "n must be a whole number that is not negative. Got -1 instead."),
        (1, {"least": 2}, "n must be a whole number of at least 2. Got 1 instead."),
        (5, {"least": 2, "most": 4}, "n must be a whole number from 2 to 4. Got 5 instead."),
        (-1, {"most": 2**64}, "n must be a whole number from 1 to 2^64. Got -1 instead."),
        (-1, {"most": 2**64 - 1}, "n must be a whole number from 1 to 18446744073709551615. Got -1 instead."),
    ],
)
def test_other_than_whole_numbers_within_limits_are_refused(value, limits, rule):
    with pytest.raises(SottovoceError) as reason:
        checks.whole_number("n", value, **limits)
    assert str(reason.value) == rule


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), Fraction(1, 2)])
def test_numbers_of_any_kind(value):
    assert checks.number("x", value, 0, 1) == 0.5
    assert checks.number("x", value) == 0.5


def test_ends_are_included_unless_they_are_open():
    assert checks.number("x", 0, 0, 1) == 0
    assert checks.number("x", 1, 0, 1) == 1
    assert checks.number("x", 0, 0) == 0


@pytest.mark.parametrize(
    ("value", "arguments", "rule"),
    [
        (1.5, (0, 1), "x must be from 0 to 1. Got 1.5 instead."),
        (np.nan, (0, 1), "x must be from 0 to 1. Got nan instead."),
        (True, (0, 1), "x must be from 0 to 1. Got True instead."),
        (Decimal("0.5"), (0, 1), "x must be from 0 to 1. Got Decimal('0.5') instead."),
        (-1, (0,), "x must be a number of at least 0. Got -1 instead."),
        (np.inf, (0,), "x must be a number of at least 0. Got inf instead."),
        (np.nan, (), "x must be a finite number. Got nan instead."),
        ("many", (), "x must be a finite number. Got 'many' instead."),
    ],
)
def test_numbers_out_of_range_are_refused(value, arguments, rule):
    with pytest.raises(SottovoceError) as reason:
        checks.number("x", value, *arguments)
    assert str(reason.value) == rule


def test_open_ends_are_refused():
    with pytest.raises(SottovoceError, match=r"x must be a number above 0\. Got 0 instead"):
        checks.number("x", 0, 0, open_ends=True)
    with pytest.raises(SottovoceError, match="level must be between 0 and 1, both excluded"):
        checks.level(95)
    assert checks.level(np.float64(0.9)) == 0.9


def test_targets_are_named():
    assert [checks.target(name) for name in ("population", "table")] == ["population", "table"]
    with pytest.raises(SottovoceError, match=r"target must be one of population, table\. Got None instead"):
        checks.target(None)
