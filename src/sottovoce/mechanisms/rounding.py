"""From exact probabilities to coins of whole sides, always towards privacy.

A coin has at most 2^32 sides where that costs less than a millionth of the epsilon asked for, and
at most 2^64 otherwise. What is achieved never exceeds what was asked.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor, gcd
from typing import Any

from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import common_denominator, epsilon_of_odds
from sottovoce.mechanisms.coins import MOST_SIDES, WORD

LARGEST_LOSS = 1e-6
"""Relative loss of epsilon that rounding may cost."""

Rows = list[list[int]]


def loss(asked: Fraction | None, achieved: Fraction | None) -> float:
    """Part of the epsilon asked for that rounding lost; 1 if there was nothing to lose but all is lost.

    >>> loss(Fraction(3), Fraction(2)) > 0.3
    True
    """
    if asked == achieved:
        return 0.0
    if asked is None or achieved is None or asked == 1:
        return 1.0
    return 1 - epsilon_of_odds(achieved) / epsilon_of_odds(asked)


def diagonal_sides(cells: int, ratio: Fraction) -> tuple[int, int]:
    """Sides (truth, other) of a coin with `truth / other` near `ratio`, on the side of privacy.

    The coin has `truth + (cells - 1) other` sides.

    >>> diagonal_sides(3, Fraction(14, 3))
    (14, 3)
    """
    for most in (WORD, MOST_SIDES):
        if ratio.numerator + (cells - 1) * ratio.denominator <= most:
            return ratio.numerator, ratio.denominator
        other = floor(most / (ratio + cells - 1))
        truth = floor(ratio * other) if ratio > 1 else -floor(-ratio * other)
        if other > 0 and truth > 0 and loss(_above_one(ratio), _above_one(Fraction(truth, other))) < LARGEST_LOSS:
            return Fraction(truth, other).as_integer_ratio()
    rule = f"must be within reach of 64-bit integers over {cells} joint cells; lower them, or group fewer attributes"
    raise SottovoceError("odds", rule, Words(f"{Decimal(ratio.numerator) / ratio.denominator:.6g}"))


def law_sides(law: Sequence[Fraction]) -> tuple[int, ...]:
    """Sides of a coin that draws from a distribution: exact where 2^32 sides can, else nearest.

    >>> law_sides([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    (3, 2, 1)
    """
    sides = common_denominator(law)
    return tuple(in_lowest_terms([_apportioned(law, sides if sides <= WORD else WORD)])[0])


def keep_sides(keep: Fraction, odds_of: Any, asked: Fraction | None) -> tuple[int, int]:
    """Sides (kept, all) of a coin that keeps with at most this probability, within the odds asked for.

    `odds_of` gives the odds that a probability of keeping really has.
    """
    if keep.denominator <= WORD:
        return keep.numerator, keep.denominator
    for most in (WORD, MOST_SIDES):
        kept = floor(keep * most)
        if loss(asked, odds_of(Fraction(kept, most))) < LARGEST_LOSS:
            return Fraction(kept, most).as_integer_ratio()
    raise SottovoceError("keep", "must be within reach of 64-bit integers", float(keep))


def matrix_sides(rows: Sequence[Sequence[Fraction]], asked: Fraction | None) -> Rows:
    """Integers over one denominator near a column-stochastic matrix, with odds at most those asked for.

    Where no denominator within reach is exact, every column is drawn a hair towards the mean of
    all columns, which lowers every ratio within a row, until the rounded matrix keeps the odds.
    """
    sides = common_denominator(v for row in rows for v in row)
    for most in (WORD, MOST_SIDES):
        if sides <= most:
            return [[int(v * sides) for v in row] for row in rows]
        found = _drawn_together(rows, most, asked)
        if found is not None:
            return in_lowest_terms(found)
    raise SottovoceError("matrix", "must have entries that 64-bit integers can tell from zero", asked)


def matrix_odds(rows: Sequence[Sequence[Fraction | int]]) -> Fraction | None:
    """Largest ratio within a row, exactly; None where a zero stands beside a positive entry."""
    positive = [row for row in rows if max(row) > 0]
    if any(min(row) == 0 for row in positive):
        return None
    return max(Fraction(max(row)) / Fraction(min(row)) for row in positive)


def in_lowest_terms(rows: Sequence[Sequence[int]]) -> Rows:
    """Divide by what all entries have in common: one way to write each matrix.

    >>> in_lowest_terms([[6, 2], [2, 6]])
    [[3, 1], [1, 3]]
    """
    shared = gcd(*(n for row in rows for n in row))
    return [[n // shared for n in row] for row in rows]


def _drawn_together(rows: Sequence[Sequence[Fraction]], most: int, asked: Fraction | None) -> Rows | None:
    """Round with as little drawing together as the odds need, or give up where it costs too much."""
    smallest = min(v for row in rows for v in row if v > 0)
    pull = Fraction(0)
    while pull <= LARGEST_LOSS:
        rounded = _rounded([_towards_mean(row, pull) for row in rows], most)
        achieved = matrix_odds(rounded)
        if asked is None or (achieved is not None and achieved <= asked):
            return rounded if loss(asked, achieved) < LARGEST_LOSS else None
        pull = 2 * pull if pull else Fraction(1, most) / smallest
    return None


def _towards_mean(row: Sequence[Fraction], pull: Fraction) -> list[Fraction]:
    mean = sum(row) / Fraction(len(row))
    return [(1 - pull) * v + pull * mean for v in row]


def _rounded(rows: Sequence[Sequence[Fraction]], sides: int) -> Rows:
    columns = [_apportioned(column, sides) for column in zip(*rows, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


def _apportioned(law: Sequence[Fraction], sides: int) -> list[int]:
    """Largest remainders; what is possible keeps at least one side."""
    exact = [v * sides for v in law]
    counts = [max(floor(v), int(v > 0)) for v in exact]
    missing = sides - sum(counts)
    # A floor loses less than one side; the few sides lent to tiny entries come from the largest.
    order = sorted(range(len(law)), key=lambda i: (floor(exact[i]) - exact[i], i))
    for i in order[: max(missing, 0)]:
        counts[i] += 1
    counts[counts.index(max(counts))] += min(missing, 0)
    return counts


def _above_one(ratio: Fraction) -> Fraction:
    return max(ratio, 1 / ratio)
