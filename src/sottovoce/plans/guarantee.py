"""What a plan promises, as exact odds and in words."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from sottovoce.exact import epsilon_of_odds, ratio_text


@dataclass(frozen=True)
class Guarantee:
    """No report makes any truth more than `odds` times as likely as another; None: unbounded.

    >>> promise = Guarantee(Fraction(3)) * Guarantee(Fraction(3))
    >>> print(promise)
    9 : 1 (epsilon 2.19723)
    >>> print(Guarantee(None))
    not deniable (odds unbounded)
    """

    odds: Fraction | None

    @property
    def epsilon(self) -> float:
        """Natural logarithm of the odds; infinite where they are unbounded."""
        return epsilon_of_odds(self.odds)

    @property
    def exact(self) -> str | None:
        """Odds in full, for programs; None where they are unbounded.

        >>> Guarantee(Fraction(3)).exact, Guarantee(Fraction(7, 2)).exact, Guarantee(None).exact
        ('3', '7/2', None)
        """
        return None if self.odds is None else ratio_text(self.odds).removesuffix("/1")

    @property
    def deniable(self) -> bool:
        """Whether every report could have come from every truth."""
        return self.odds is not None

    def __mul__(self, other: "Guarantee") -> "Guarantee":
        """Compose two reports with independent coins: odds multiply."""
        return Guarantee(None if self.odds is None or other.odds is None else self.odds * other.odds)

    def within(self, promise: "Guarantee") -> bool:
        """Whether this promises at least as much as another."""
        return promise.odds is None or (self.odds is not None and self.odds <= promise.odds)

    def __str__(self) -> str:
        """Odds and epsilon, rounded up: what is printed is never less than what is true."""
        if self.odds is None:
            return "not deniable (odds unbounded)"
        return f"{odds_text(self.odds)} (epsilon {_rounded_up(Decimal(repr(self.epsilon)))})"

    def __repr__(self) -> str:
        """Short, where an exact ratio may have thousands of digits."""
        return f"Guarantee({self})"

    def in_words(self) -> str:
        """Say the promise to a person who may have to rely on it.

        >>> print(Guarantee(Fraction(3)).in_words())
        Whatever someone already knows about you, your report can shift their odds between any two
        ways you may have answered by a factor of at most 3. No report proves any answer.
        """
        if self.odds is None:
            return "Not deniable: some reports rule some answers out with certainty. Do not promise deniability."
        if self.odds == 1:
            return "The report says nothing about the answer, and nothing about the group can be learned."
        return (
            "Whatever someone already knows about you, your report can shift their odds between any two\n"
            f"ways you may have answered by a factor of at most {_factor(self.odds)}. No report proves any answer."
        )


def odds_text(odds: Fraction) -> str:
    """Odds as people write them: small integers exactly, anything else rounded up to six digits.

    >>> odds_text(Fraction(7, 2)), odds_text(Fraction(10**9 + 1, 10**9))
    ('7 : 2', '1.00001 : 1')
    """
    if odds.denominator <= 100 and odds.numerator < 10**7:
        return f"{odds.numerator} : {odds.denominator}"
    value = Context(prec=6, rounding=ROUND_CEILING).divide(Decimal(odds.numerator), Decimal(odds.denominator))
    return f"{value:.6g} : 1"


def _factor(odds: Fraction) -> str:
    return odds_text(odds).removesuffix(" : 1").replace(" : ", " / ")


def _rounded_up(value: Decimal) -> str:
    return f"{float(Context(prec=6, rounding=ROUND_CEILING).plus(value)):.6g}"
