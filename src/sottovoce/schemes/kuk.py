"""Kuk's design: draw cards from the deck of the truth, and report how many are red."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, fraction, probability
from sottovoce.mechanisms.matrix import Listed
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields, yes_no

MOST_CARDS = 64
"""With more cards, some number of red ones is rarer than one side of a coin of 2^64."""


@dataclass(frozen=True)
class Kuk(Scheme):
    """`P(y | x) = C(k, y) s^y (1 - s)^(k - y)`, with k = `cards` and the share s of red cards in the deck of x.

    For an attribute (no, yes) with shares `no` and `yes`. Cards are drawn with replacement, and the report is the
    number of red ones, 0 to `cards`. More cards are more accurate and less private: the odds are those of one card to
    the power k, `max(yes/no, no/yes, (1-no)/(1-yes), (1-yes)/(1-no))^k` : 1, unbounded if the decks differ and one of
    them has a single colour. With equal shares nothing can be estimated.

    >>> Kuk(yes=0.6, no=0.2).mechanism((2,)).channel.odds
    Fraction(3, 1)
    >>> Kuk(yes=0.6, no=0.2, cards=3).mechanism((2,)).channel.odds
    Fraction(27, 1)
    """

    name = "kuk"
    citation = "A. Y. C. Kuk (1990), Biometrika 77, 436-438"
    identified = "yes and no must differ"

    yes: Fraction
    no: Fraction
    cards: int

    def __init__(self, yes: Number, no: Number, cards: int = 1) -> None:
        """Read both shares exactly, and the number of cards."""
        number = fraction("cards", cards)
        if number.denominator != 1 or not 1 <= number <= MOST_CARDS:
            raise SottovoceError("cards", f"must be a whole number from 1 to {MOST_CARDS}", cards)
        set_fields(self, yes=probability("yes", yes), no=probability("no", no), cards=int(number))

    def mechanism(self, sizes: Sizes) -> Listed:
        """One coin for all cards: only the number of red ones is reported."""
        no, yes = (_binomial(self.cards, share) for share in (self.no, self.yes))
        try:
            return yes_no(sizes, no, yes, reports=range(self.cards + 1))
        except SottovoceError as reason:
            if reason.parameter != "matrix":
                raise
            rule = "must be fewer: 64-bit integers cannot represent the rarest number of red ones"
            raise SottovoceError("cards", rule, self.cards) from None

    @classmethod
    def cases(cls) -> Iterator[tuple["Kuk", Sizes]]:
        """One card, several, floats, exchanged decks, a deck of one colour, equal decks."""
        yield cls(yes=0.8, no=0.3), (2,)
        yield cls(yes=0.6, no=0.4, cards=4), (2,)
        yield cls(yes=1 / 3, no=0.31415926535897932, cards=3), (2,)
        yield cls(yes=0.2, no=0.7, cards=2), (2,)
        yield cls(yes=1, no=0.5, cards=3), (2,)
        yield cls(yes=0.5, no=0.5, cards=2), (2,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Invalid shares and numbers of cards."""
        yield "yes", {"yes": 1.1, "no": 0.2}
        yield "yes", {"yes": float("nan"), "no": 0.2}
        yield "no", {"yes": 0.8, "no": "few"}
        for cards in (0, 1.5, 65, float("nan"), "a hand", None):
            yield "cards", {"yes": 0.8, "no": 0.2, "cards": cards}


def _binomial(cards: int, share: Fraction) -> list[Fraction]:
    return [comb(cards, red) * share**red * (1 - share) ** (cards - red) for red in range(cards + 1)]
