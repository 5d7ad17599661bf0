"""FRAPP's randomised gamma-diagonal matrix: every client draws its own matrix."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from sottovoce.exact import Number, OddsLike, odds_asked, probability
from sottovoce.mechanisms.private_diagonal import MOST_SIDES, PrivateDiagonal
from sottovoce.mechanisms.rounding import diagonal_sides
from sottovoce.schemas.attribute import check_domain
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields

FINEST = 2**32
"""Sides to which the coin is scaled up, for a fine grid of the private parameter."""


@dataclass(frozen=True)
class RandomizedGammaDiagonal(Scheme):
    """Diagonal `gamma x + r`, rest `x - r / (n - 1)`, `x = 1 / (gamma + n - 1)`; r uniform on +-alpha (4.34).

    `alpha` is given as a share of `gamma x`, 1/2 in the thesis, and limited so that no entry becomes negative. Averaged
    over r this is the gamma-diagonal matrix: **the reports have exactly the same distribution, and the same odds
    gamma**, as without r. Someone who does not know r learns as much as gamma allows; if a client's r leaks, its odds
    are the mechanism's `leaked_odds`, larger than gamma (28.6 : 1 over 2,000 cells at gamma = 19).

    >>> mechanism = RandomizedGammaDiagonal(gamma=19).mechanism((2000,))
    >>> round(float(mechanism.channel.odds), 6), round(float(mechanism.leaked_odds), 1)
    (19.0, 28.6)
    """

    name = "randomized_gamma_diagonal"
    citation = "S. Agrawal & J. R. Haritsa (2005), Proc. ICDE, 193-204; S. Agrawal (2004), thesis, 4.5"
    identified = "gamma must not be 1"

    gamma: Fraction
    alpha: Fraction

    def __init__(
        self, gamma: OddsLike | None = None, *, epsilon: Number | None = None, alpha: Number = Fraction(1, 2)
    ) -> None:
        """Read gamma, and alpha as a share of the diagonal."""
        set_fields(self, gamma=odds_asked(gamma=gamma, epsilon=epsilon), alpha=probability("alpha", alpha))

    def mechanism(self, sizes: Sizes) -> PrivateDiagonal:
        """Diagonal coin, scaled up to a fine grid on which r moves in steps of n - 1 sides."""
        cells = check_domain(sizes)
        truth, other = _within_signed_words(*diagonal_sides(cells, self.gamma), cells)
        scale = max(FINEST // (truth + (cells - 1) * other), 1)
        truth, other = truth * scale, other * scale
        spread = min(floor(self.alpha * truth / max(cells - 1, 1)), other)
        return PrivateDiagonal(sizes, truth, other, spread)

    @classmethod
    def cases(cls) -> Iterator[tuple["RandomizedGammaDiagonal", Sizes]]:
        """The thesis' alpha, 0, 1, joint records."""
        yield cls(gamma=19), (5,)
        yield cls(gamma=3, alpha=0), (2, 2)
        yield cls(gamma=2, alpha=1), (3,)
        yield cls(epsilon=1, alpha=0.25), (2, 3)
        yield cls(epsilon=0.001), (9, 11)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Invalid odds or shares."""
        yield "gamma", {"gamma": 0.9}
        yield "alpha", {"gamma": 19, "alpha": 1.1}
        yield "alpha", {"gamma": 19, "alpha": float("nan")}
        yield "gamma or epsilon", {}


def _within_signed_words(truth: int, other: int, cells: int) -> tuple[int, int]:
    """Coin whose shifts fit signed 64-bit integers: four times smaller if necessary, rounded towards privacy."""
    return (truth // 4, -(-other // 4)) if truth + (cells - 1) * other > MOST_SIDES else (truth, other)
