"""The unrelated question: answer truthfully, or answer a harmless question with known frequencies."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.channels.mixture import Distribution
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike, distribution, probability
from sottovoce.exact import odds as exact_odds
from sottovoce.mechanisms.replacement import Replacement, keep_within
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields


@dataclass(frozen=True)
class UnrelatedQuestion(Scheme):
    """`P*(E) = theta P(E) + (1 - theta) P_Y(E)` for every event E of the whole record.

    With probability theta the true record is reported, else a record drawn from the known distribution Y: one list of
    probabilities for each attribute, drawn independently, or one list over the joint cells; uniform if `known` is not
    given. The odds, `1 + theta / ((1 - theta) min P_Y)` : 1, grow exponentially with the number of attributes in a
    group. Give theta, or the `odds` of the record.

    >>> UnrelatedQuestion(theta=1 / 2).mechanism((2,)).channel.odds
    Fraction(3, 1)
    >>> UnrelatedQuestion(theta=1 / 2).mechanism((2,) * 15).channel.odds
    Fraction(32769, 1)
    """

    name = "unrelated_question"
    citation = "J. Zhan & S. Matwin (2006); after B. G. Greenberg et al. (1969), JASA 64, 520-539"

    theta: Fraction | None
    odds: Fraction | None
    known: tuple[Distribution, ...] | None

    def __init__(
        self, theta: Number | None = None, *, known: Iterable[Any] | None = None, odds: OddsLike | None = None
    ) -> None:
        """Read theta or the odds, and each known distribution, exactly."""
        if (theta is None) == (odds is None):
            raise SottovoceError("theta or odds", "must be given, exactly one of them", (theta, odds))
        exact = None if theta is None else probability("theta", theta)
        if exact == 0:
            raise SottovoceError("theta", "must not be 0, where nothing can be learned from the reports", theta)
        set_fields(
            self,
            theta=exact,
            odds=None if odds is None else exact_odds("odds", odds),
            known=None if known is None else _distributions(known),
        )

    def mechanism(self, sizes: Sizes) -> Replacement:
        """A coin that keeps or replaces, and the coins of the known distribution."""
        uniform = tuple(tuple(Fraction(1, size) for _ in range(size)) for size in sizes)
        known = self.known or uniform
        theta = self.theta if self.odds is None else keep_within(self.odds, known)
        return Replacement.with_keep(sizes, theta or Fraction(0), known)

    @classmethod
    def cases(cls) -> Iterator[tuple["UnrelatedQuestion", Sizes]]:
        """Uniform and not, several attributes, a joint distribution, floats, a zero, odds, noiseless."""
        yield cls(theta=Fraction(1, 2)), (2,)
        yield cls(theta=0.7, known=[0.2, 0.8]), (2,)
        yield cls(theta=0.3, known=[[0.5, 0.5], [0.2, 0.3, 0.5]]), (2, 3)
        yield cls(theta=0.25, known=[0.1, 0.2, 0.3, 0.4]), (2, 2)
        yield cls(theta=1 / 3, known=[1 / 3, 1 / 7, 11 / 21]), (3,)
        yield cls(theta=0.5, known=[0.5, 0.5, 0]), (3,)
        yield cls(odds=3, known=[1 / 3, 2 / 3]), (2,)
        yield cls(theta=1), (2,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Out of range, invalid distributions, both or neither of theta and odds."""
        yield "theta", {"theta": 1.01}
        yield "theta", {"theta": 0}
        yield "known", {"theta": 0.5, "known": [0.5, 0.6]}
        yield "known", {"theta": 0.5, "known": [1.5, -0.5]}
        yield "known", {"theta": 0.5, "known": [[0.5, 0.5], [0.5, float("nan")]]}
        yield "theta or odds", {}
        yield "theta or odds", {"theta": 0.5, "odds": 3}
        yield "odds", {"odds": 0.5}


def _distributions(known: Iterable[Any]) -> tuple[Distribution, ...]:
    """Read a list of distributions, or one distribution as a plain list of numbers."""
    given = [list(entry) if isinstance(entry, Iterable) and not isinstance(entry, str) else entry for entry in known]
    lists = given if given and all(isinstance(entry, list) for entry in given) else [given]
    return tuple(distribution("known", entries) for entries in lists)
