"""FRAPP's gamma-diagonal matrix over whole records, which has the best condition number for given odds."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike, odds_asked, probability
from sottovoce.mechanisms.diagonal import Diagonal
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields


@dataclass(frozen=True)
class GammaDiagonal(Scheme):
    """`A = x (1 1^T + (gamma - 1) I)`, `x = 1 / (gamma + n - 1)`, over the n joint cells (eq. 4.20).

    Odds gamma : 1 for the whole record; condition number `(gamma + n - 1) / (gamma - 1)`. Give gamma as `gamma`, `odds`
    or `frapp_lambda` (its name in OptRR), as `epsilon` = ln gamma, or as strict privacy `(psi1, psi2)`: no prior
    probability below psi1 may become a posterior above psi2, which holds if `gamma <= psi2 (1 - psi1) / (psi1 (1 -
    psi2))` (eq. 4.2).

    >>> GammaDiagonal(strict=(0.05, 0.50)).gamma
    Fraction(19, 1)
    >>> GammaDiagonal(gamma=19).mechanism((2, 3)).channel.odds
    Fraction(19, 1)
    """

    name = "gamma_diagonal"
    citation = "S. Agrawal & J. R. Haritsa (2005), Proc. ICDE, 193-204; S. Agrawal (2004), thesis"
    identified = "gamma must not be 1"

    gamma: Fraction

    def __init__(
        self,
        gamma: OddsLike | None = None,
        *,
        odds: OddsLike | None = None,
        epsilon: Number | None = None,
        frapp_lambda: OddsLike | None = None,
        strict: tuple[Number, Number] | None = None,
    ) -> None:
        """Convert the given argument to gamma, exactly or rounded down."""
        bound = None if strict is None else _amplification(strict)
        given = {"gamma": gamma, "odds": odds, "epsilon": epsilon, "frapp_lambda": frapp_lambda, "strict": bound}
        set_fields(self, gamma=odds_asked(**given))

    def mechanism(self, sizes: Sizes) -> Diagonal:
        """One coin over the joint cells; its cost does not depend on their number."""
        return Diagonal.with_ratio(sizes, self.gamma)

    @classmethod
    def cases(cls) -> Iterator[tuple["GammaDiagonal", Sizes]]:
        """Every way to give gamma, one attribute and several, and a domain that needs 64 bits."""
        yield cls(gamma=19), (5,)
        yield cls(odds="3:1"), (2, 2)
        yield cls(epsilon=1), (10,)
        yield cls(frapp_lambda=2.5), (4,)
        yield cls(strict=(0.05, 0.5)), (4, 3, 2)
        yield cls(gamma=1), (3,)
        yield cls(epsilon=0.001), (9, 11)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Below one, unbounded, given twice or not at all, psi2 below psi1."""
        yield "gamma", {"gamma": 0.5}
        yield "odds", {"odds": "1:3"}
        yield "odds", {"odds": (1, 0)}
        yield "epsilon", {"epsilon": -1}
        yield "epsilon", {"epsilon": float("nan")}
        yield "gamma or odds or epsilon", {}
        yield "gamma or odds or epsilon", {"gamma": 2, "epsilon": 1}
        yield "strict", {"strict": (0.5, 0.05)}
        yield "strict", {"strict": (0, 0.5)}
        yield "strict", {"strict": (0.5,)}


def _amplification(strict: Any) -> Fraction:
    """Largest gamma for which no prior probability below psi1 becomes a posterior above psi2 (eq. 4.2)."""
    if not isinstance(strict, tuple | list) or len(strict) != 2:
        raise SottovoceError("strict", "must be a pair (psi1, psi2)", strict)
    low, high = (probability("strict", psi) for psi in strict)
    if not 0 < low < high < 1:
        raise SottovoceError("strict", "must have 0 < psi1 < psi2 < 1", strict)
    return high * (1 - low) / (low * (1 - high))
