"""Uniform perturbation: keep the answer with probability q, else report a uniform one."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.exact import Number, probability
from sottovoce.mechanisms.diagonal import Diagonal
from sottovoce.schemas.attribute import check_domain
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields


@dataclass(frozen=True)
class UniformPerturbation(Scheme):
    """`A = q I + (1 - q) / n 1 1^T`; odds `1 + n q / (1 - q)` : 1.

    The matrix is that of Warner's design with `p = q + (1 - q) / n` (Huang & Du 2008, Theorem 2).

    >>> UniformPerturbation(q=1 / 2).mechanism((4,)).channel.odds
    Fraction(5, 1)
    """

    name = "uniform_perturbation"
    citation = "R. Agrawal, R. Srikant & D. Thomas (2005), Proc. SIGMOD, 251-262"
    identified = "q must not be 0"

    q: Fraction

    def __init__(self, q: Number) -> None:
        """Read q exactly."""
        set_fields(self, q=probability("q", q))

    def mechanism(self, sizes: Sizes) -> Diagonal:
        """One coin for both the choice and the uniform answer."""
        if self.q == 1:
            return Diagonal(sizes, truth=1, other=0)
        return Diagonal.with_ratio(sizes, 1 + check_domain(sizes) * self.q / (1 - self.q))

    @classmethod
    def cases(cls) -> Iterator[tuple["UniformPerturbation", Sizes]]:
        """A small coin, a float, noiseless, uninformative, joint records."""
        yield cls(q=Fraction(1, 2)), (2,)
        yield cls(q=0.1234567890123), (7,)
        yield cls(q=1), (2,)
        yield cls(q=0), (3,)
        yield cls(q=0.25), (2, 3, 2)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Out of range, or not a number."""
        wrong: tuple[Any, ...] = (-0.5, 1.5, float("inf"), [], "x")
        for q in wrong:
            yield "q", {"q": q}
