"""Rounding of exact probabilities to numbers of sides of a coin, always towards privacy.

A coin has at most 2^32 sides if that costs less than a millionth of the epsilon asked for, and at most 2^64 otherwise.
The odds achieved never exceed the odds asked for.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor, gcd
from typing import Any

from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import common_denominator, epsilon_of_odds
from sottovoce.mechanisms.coins import MOST_SIDES, WORD

Rows = list[list[int]]
"""Matrix of numbers of sides, reports by truths."""

LARGEST_LOSS = 1e-6
"""Largest relative loss of epsilon by rounding."""


def loss(asked: Fraction | None, achieved: Fraction | None) -> float:
    """Relative loss of epsilon by rounding; 1 if only one of the odds is bounded, or if the odds asked for are 1 : 1.

    >>> loss(Fraction(3), Fraction(2)) > 0.3
    True
    """
    if asked == achieved:
        return 0.0
    if asked is None or achieved is None or asked == 1:
        return 1.0
    return 1 - epsilon_of_odds(achieved) / epsilon_of_odds(asked)


def diagonal_sides(cells: int, ratio: Fraction, favoured: int = 1) -> tuple[int, int]:
    """Sides (truth, other) of a coin with `truth / other` equal to `ratio`, or nearest to it towards privacy.

    The coin has `favoured truth + (cells - favoured) other` sides.

    >>> diagonal_sides(3, Fraction(14, 3))
    (14, 3)
    """
    for most in (WORD, MOST_SIDES):
        if favoured * ratio.numerator + (cells - favoured) * ratio.denominator <= most:
            return ratio.numerator, ratio.denominator
        other = floor(most / (favoured * ratio + cells - favoured))
        truth = floor(ratio * other) if ratio > 1 else -floor(-ratio * other)
        if other > 0 and truth > 0 and loss(_above_one(ratio), _above_one(Fraction(truth, other))) < LARGEST_LOSS:
            return Fraction(truth, other).as_integer_ratio()
    rule = f"must be within reach of 64-bit integers over {cells} joint cells; lower them, or group fewer attributes"
    raise SottovoceError("odds", rule, Words(f"{Decimal(ratio.numerator) / ratio.denominator:.6g}"))


def distribution_sides(distribution: Sequence[Fraction]) -> tuple[int, ...]:
    """Sides of a coin that draws from a distribution: exact if 2^32 sides are enough, else nearest.

    >>> distribution_sides([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    (3, 2, 1)
    """
    sides = common_denominator(distribution)
    return tuple(in_lowest_terms([_apportioned(distribution, sides if sides <= WORD else WORD)])[0])


def keep_sides(keep: Fraction, odds_of: Any, asked: Fraction | None) -> tuple[int, int]:
    """Sides (kept, all) of a coin that keeps with at most this probability, close to the odds asked for.

    `odds_of` is the function from a probability of keeping to its odds.
    """
    if keep.denominator <= WORD:
        return keep.numerator, keep.denominator
    for most in (WORD, MOST_SIDES):
        kept = floor(keep * most)
        if loss(asked, odds_of(Fraction(kept, most))) < LARGEST_LOSS:
            return Fraction(kept, most).as_integer_ratio()
    raise SottovoceError("keep", "must be within reach of 64-bit integers", float(keep))


def matrix_sides(rows: Sequence[Sequence[Fraction]], asked: Fraction | None) -> Rows:
    """Numbers of sides nearest to a column-stochastic matrix, with odds at most those asked for.

    If no coin is exact, all columns are shrunk slightly towards their mean, which lowers every ratio within a row,
    until the odds of the rounded matrix are small enough.
    """
    sides = common_denominator(v for row in rows for v in row)
    for most in (WORD, MOST_SIDES):
        if sides <= most:
            return [[int(v * sides) for v in row] for row in rows]
        rounded = _shrunk_and_rounded(rows, most, asked)
        if rounded is not None:
            return in_lowest_terms(rounded)
    raise SottovoceError("matrix", "must have entries that 64-bit integers can tell from zero", asked)


def matrix_odds(rows: Sequence[Sequence[Fraction | int]]) -> Fraction | None:
    """Largest ratio within a row, exactly; None if a row has both zero and positive entries."""
    positive = [row for row in rows if max(row) > 0]
    if any(min(row) == 0 for row in positive):
        return None
    return max(Fraction(max(row)) / Fraction(min(row)) for row in positive)


def in_lowest_terms(rows: Sequence[Sequence[int]]) -> Rows:
    """Divide all entries by their greatest common divisor, for each matrix to be written in one way only.

    >>> in_lowest_terms([[6, 2], [2, 6]])
    [[3, 1], [1, 3]]
    """
    divisor = gcd(*(n for row in rows for n in row))
    return [[n // divisor for n in row] for row in rows]


def _shrunk_and_rounded(rows: Sequence[Sequence[Fraction]], most: int, asked: Fraction | None) -> Rows | None:
    """Round with as little shrinkage as the odds need; None if that would cost too much epsilon."""
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


def _apportioned(distribution: Sequence[Fraction], sides: int) -> list[int]:
    """Integers with the sum `sides` by the largest-remainder method; positive entries keep at least one side."""
    exact = [v * sides for v in distribution]
    counts = [max(floor(v), int(v > 0)) for v in exact]
    missing = sides - sum(counts)
    # Sides that tiny entries got too many are taken from the largest entry.
    order = sorted(range(len(distribution)), key=lambda i: (floor(exact[i]) - exact[i], i))
    for i in order[: max(missing, 0)]:
        counts[i] += 1
    counts[counts.index(max(counts))] += min(missing, 0)
    return counts


def _above_one(ratio: Fraction) -> Fraction:
    return max(ratio, 1 / ratio)
