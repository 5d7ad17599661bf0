"""Guarantees of a plan: exact odds, epsilon, and words."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from sottovoce.exact import epsilon_of_odds, ratio_text


@dataclass(frozen=True)
class Guarantee:
    """No report is more than `odds` times as likely under one truth as under another; None: unbounded.

    >>> promise = Guarantee(Fraction(3)) * Guarantee(Fraction(3))
    >>> print(promise)
    9 : 1 (epsilon 2.19723)
    >>> print(Guarantee(None))
    not deniable (odds unbounded)

    Columns named in `public` are not protected; the guarantee is about the others, given these.

    >>> print(Guarantee(Fraction(3), public=("region",)))
    3 : 1 (epsilon 1.09862), given the public answers
    """

    odds: Fraction | None
    public: tuple[str, ...] = ()

    @property
    def epsilon(self) -> float:
        """Natural logarithm of the odds; infinite if they are unbounded."""
        return epsilon_of_odds(self.odds)

    @property
    def exact(self) -> str | None:
        """Exact odds as text; None if they are unbounded.

        >>> Guarantee(Fraction(3)).exact, Guarantee(Fraction(7, 2)).exact, Guarantee(None).exact
        ('3', '7/2', None)
        """
        return None if self.odds is None else ratio_text(self.odds).removesuffix("/1")

    @property
    def deniable(self) -> bool:
        """Whether every report is possible under every truth."""
        return self.odds is not None

    def __mul__(self, other: "Guarantee") -> "Guarantee":
        """Compose two reports with independent coins: their odds multiply."""
        both = None if self.odds is None or other.odds is None else self.odds * other.odds
        return Guarantee(both, (*self.public, *(name for name in other.public if name not in self.public)))

    def within(self, promise: "Guarantee") -> bool:
        """Whether these odds are no larger than those of a promise."""
        return promise.odds is None or (self.odds is not None and self.odds <= promise.odds)

    def __str__(self) -> str:
        """Return odds and epsilon, rounded up: printed values are never below the exact ones."""
        if self.odds is None:
            return "not deniable (odds unbounded)"
        given = ", given the public answers" if self.public else ""
        return f"{odds_text(self.odds)} (epsilon {_rounded_up(Decimal(repr(self.epsilon)))}){given}"

    def __repr__(self) -> str:
        """Return a short form: an exact ratio may have thousands of digits."""
        return f"Guarantee({self})"

    def in_words(self) -> str:
        """State the guarantee for respondents.

        >>> print(Guarantee(Fraction(3)).in_words())
        Whatever someone already knows about you, your report can shift their odds between any two
        ways you may have answered by a factor of at most 3. No report proves any answer.
        """
        return self.public_in_words() + self._about_odds()

    def public_in_words(self) -> str:
        """State what is not protected: a line about the public answers, or nothing."""
        if not self.public:
            return ""
        return f"Not protected, and passed on as you gave them: your answers to {', '.join(self.public)}.\n"

    def _about_odds(self) -> str:
        if self.odds is None:
            return "Not deniable: some reports rule some answers out with certainty. Do not promise deniability."
        if self.odds == 1:
            return "The report says nothing about the answer, and nothing about the group can be learned."
        if not self.public:
            return (
                "Whatever someone already knows about you, your report can shift their odds between any two\n"
                f"ways you may have answered by a factor of at most {_factor(self.odds)}. No report proves any answer."
            )
        return (
            "Given the public answers, and whatever else someone already knows about you, your report can\n"
            "shift their odds between any two ways you may have answered the other questions by a factor\n"
            f"of at most {_factor(self.odds)}. No report proves any of those answers."
        )


def odds_text(odds: Fraction) -> str:
    """Odds as text: small integers exactly, anything else rounded up to six digits.

    >>> odds_text(Fraction(7, 2)), odds_text(Fraction(10**9 + 1, 10**9)), odds_text(100 - Fraction(1, 10**9))
    ('7 : 2', '1.00001 : 1', '100 : 1')
    """
    if odds.denominator <= 100 and odds.numerator < 10**7:
        return f"{odds.numerator} : {odds.denominator}"
    value = Context(prec=6, rounding=ROUND_CEILING).divide(Decimal(odds.numerator), Decimal(odds.denominator))
    text = f"{value:.6g}"  # a Decimal keeps zeros: 100.000 can be read as a hundred thousand
    return f"{text.rstrip('0').rstrip('.') if '.' in text and 'e' not in text else text} : 1"


def _factor(odds: Fraction) -> str:
    return odds_text(odds).removesuffix(" : 1").replace(" : ", " / ")


def _rounded_up(value: Decimal) -> str:
    return f"{float(Context(prec=6, rounding=ROUND_CEILING).plus(value)):.6g}"
