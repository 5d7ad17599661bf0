"""Bitwise draws are exact: every short string of bits is looked at."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

from sottovoce.disguises import _arrays, _kernels
from sottovoce.disguises.bit_noise import binomial_digits, binomial_ends, digit, draw

CHANCES = [(0, 1), (1, 1), (1, 2), (1, 3), (5, 8), (19, 625), (5051, 10000), (2**63 + 1, 2**64), (2**62, 2**64 - 59)]


@pytest.mark.parametrize(
    "ends", [[part, whole] for part, whole in CHANCES] + [[1, 1, 4, 9], list(binomial_ends(4, 2, 7))]
)
def test_parts_are_drawn_with_their_exact_chances(ends):
    """Each of the 2^10 strings of 10 bits that decides, decides right; at most one for each end does not."""
    decided, open_strings = [0] * len(ends), 0
    for string in product((0, 1), repeat=10):
        try:
            decided[draw(ends, 0, 0, iter(string).__next__, step=1)] += 1
        except StopIteration:
            open_strings += 1
    for part, strings in enumerate(decided):
        chance = Fraction(ends[part] - (ends[part - 1] if part else 0), ends[-1])
        assert Fraction(strings, 2**10) <= chance <= Fraction(strings + open_strings, 2**10)
    assert open_strings <= len(ends) - 1


@pytest.mark.parametrize(("part", "whole"), CHANCES)
def test_digits_are_those_of_the_chance(part, whole):
    """Cut after 200 digits, the rest is less than one unit of the last (or all of it, for .111...)."""
    value = sum(Fraction(digit(part, whole, place), 2**place) for place in range(1, 201))
    assert 0 <= Fraction(part, whole) - value <= Fraction(1, 2**200)


@pytest.mark.parametrize("compare", [_kernels.compare_digits, _arrays.compare_digits])
@pytest.mark.parametrize(("part", "whole"), CHANCES)
def test_compared_lanes_show_exactly_the_strings_below_the_chance(compare, part, whole):
    """64 lanes hold the 64 strings of 6 bits: floor(64 k / D) are below all digits, one is still open."""
    bits, places, undecided = np.zeros((1, 1), np.uint64), np.arange(1), np.full(1, 2**64 - 1, np.uint64)
    for place in range(1, 7):
        word = sum(1 << lane for lane in range(64) if lane >> (6 - place) & 1)
        digits = np.array([digit(part, whole, place) * (2**64 - 1)], np.uint64)
        assert compare(bits, places, undecided, digits, np.array([word], np.uint64)) == 1
    below = 63 if part == whole else 64 * part // whole
    assert int(bits[0, 0]) == 2**below - 1
    assert int(undecided[0]) == 2**below


@pytest.mark.parametrize(("trials", "part", "whole"), [(1, 1, 3), (64, 19, 625), (128, 0, 1), (64, 1, 2**64 - 59)])
def test_binomial_law(trials, part, whole):
    """Against the formula with binomial coefficients, in exact fractions."""
    chance = Fraction(part, whole)
    law = [comb(trials, c) * chance**c * (1 - chance) ** (trials - c) for c in range(trials + 1)]
    ends = [sum(law[: c + 1]) for c in range(trials + 1)]
    assert [Fraction(end, whole**trials) for end in binomial_ends(trials, part, whole)] == ends
    digits = binomial_digits(trials, part, whole).tolist()
    assert digits == [min(int(end * 2**64), 2**64 - 1) for end in ends][: len(digits)]
    assert digits[-1] == 2**64 - 1
    assert digits.count(2**64 - 1) == 1
