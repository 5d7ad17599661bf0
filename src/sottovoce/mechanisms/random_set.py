"""Draw a set of categories by its number, whose digits are coins."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import floor, gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import checked_shape
from sottovoce.channels.random_set import RandomSet
from sottovoce.channels.set_rank import SIDES
from sottovoce.channels.set_valued import LARGEST_EXHAUSTED
from sottovoce.channels.slabs import Moments, Slab, norm_moments
from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import epsilon_of_odds
from sottovoce.mechanisms.coins import Coin, Coins
from sottovoce.mechanisms.mechanism import Mechanism, integer
from sottovoce.mechanisms.rounding import LARGEST_LOSS, loss
from sottovoce.schemas.attribute import Columns, ravel
from sottovoce.schemas.schema import Schema, cell_set

Listing = tuple[NDArray[np.uint64], NDArray[np.uint8]]
"""First digit of the first number of every set, in order, and the sets as columns of bits."""

GRAIN = 2**96
"""Denominator to which the favour is rounded."""

TRIES = 8
"""How often the favour is lowered, by more each time, until rounding does not raise the odds above those asked for."""


def favour_from_json(json: Any) -> Fraction:
    """Read the favour, a quotient of two positive integers in lowest terms."""
    numbers = integers("favour", json)
    if len(numbers) != 2 or min(numbers) < 1 or gcd(*numbers) != 1:
        raise SottovoceError("favour", "must be two positive whole numbers in lowest terms", numbers)
    return Fraction(*numbers)


def integers(parameter: str, json: Any) -> list[int]:
    """Read a list of integers, each written as decimal text."""
    if not isinstance(json, list):
        raise SottovoceError(parameter, "must be a list of whole numbers written as text", json)
    return [integer(parameter, number) for number in json]


def unreachable_odds(odds: Fraction) -> SottovoceError:
    """Error for odds that no favour attains with these components."""
    rule = "must be above 1 : 1 and within reach of coins of 2^64 sides with these components"
    return SottovoceError("odds", rule, Words(f"e^{epsilon_of_odds(odds):.6g} : 1"))


def favour_excess(moments: Moments, odds: Fraction) -> Fraction:
    """Solution e >= 0 of `g max norm / min norm = odds` with g = 1 + e, rounded to a multiple of 2^-96.

    The norms are polynomials in e whose coefficients are `norm_moments`. The left side is 1 at e = 0 and at least the
    odds at g = odds. Bisection in integers finds the same root on every machine.

    >>> favour_excess(norm_moments([Slab(1, 1, (1, 1, 1))], tilt=(1, 1, 1)), Fraction(3))
    Fraction(2, 1)
    """
    shares = [[part * GRAIN // row[0] for part in reversed(row)] for row in zip(*moments, strict=True)]
    low, high = 0, floor((odds - 1) * GRAIN) + 1
    while high - low > 1:
        middle = (low + high) // 2
        norms = [_polynomial(row, middle) for row in shares]
        above = (GRAIN + middle) * max(norms) * odds.denominator > GRAIN * min(norms) * odds.numerator
        low, high = (low, middle) if above else (middle, high)
    return Fraction(low, GRAIN)


def _polynomial(coefficients: Sequence[int], argument: int) -> int:
    """Value of a polynomial, highest power first, in multiples of 1/GRAIN, rounded down."""
    return reduce(lambda value, coefficient: value * argument // GRAIN + coefficient, coefficients)


def rounded_down(number: Fraction) -> Fraction:
    """Largest multiple of 1/GRAIN that is not above a number."""
    return Fraction(floor(number * GRAIN), GRAIN)


@dataclass(frozen=True)
class SetByRank(Mechanism):
    """Coins of 2^64 sides are the digits of a number, whose set (`channels.set_rank.SetRank`) is reported.

    >>> SetByRank((3,), [Slab(1, 1, [1, 1, 1])], Fraction(2)).channel.odds - 2 < 1e-17
    True
    """

    kind = "random_set"

    sizes: tuple[int, ...]
    components: tuple[Slab, ...]
    favour: Fraction | None
    tilt: tuple[int, ...] | None

    def __init__(
        self,
        sizes: Iterable[int],
        components: Iterable[Slab],
        favour: Fraction | None,
        tilt: Iterable[int] | None = None,
    ) -> None:
        """Check the components, the favour and the tilt."""
        object.__setattr__(self, "sizes", checked_shape(sizes, "sizes"))
        object.__setattr__(self, "components", tuple(components))
        object.__setattr__(self, "favour", favour)
        object.__setattr__(self, "tilt", None if tilt is None else tuple(tilt))
        self.channel  # noqa: B018  # checks the components, the favour and the tilt

    @classmethod
    def with_odds(
        cls, sizes: Iterable[int], components: Iterable[Slab], odds: Fraction | None, tilt: Iterable[int] | None = None
    ) -> "SetByRank":
        """Mechanism with the largest favour that the odds allow; if they are None, the truth is always in the set."""
        if odds is None:
            return cls(sizes, components, None, tilt)
        mechanism = cls(sizes, components, Fraction(1), tilt)
        excess = favour_excess(norm_moments(mechanism.components, mechanism.tilt), odds)
        for attempt in range(TRIES):
            mechanism = cls(mechanism.sizes, mechanism.components, 1 + excess, mechanism.tilt)
            achieved = mechanism.channel.rank.odds
            if achieved <= odds and loss(odds, achieved) < LARGEST_LOSS:
                return mechanism
            if achieved == 1:
                break
            excess = rounded_down(excess * (odds - 1) / (achieved - 1) * (1 - Fraction(2**attempt, 2**62)))
        raise unreachable_odds(odds)

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """Digits of the number, the highest first."""
        return (Coin(SIDES),) * self.channel.rank.coins

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Sets of all numbers, one truth after the other, since each numbers the sets differently."""
        joint, digits = ravel(truth, self.sizes), np.stack(flips, axis=1)
        bits = np.zeros((self.channel.n_in, len(joint)), np.uint8)
        for x in np.unique(joint).tolist():
            rows = np.flatnonzero(joint == x)
            bits[:, rows] = self._sets_of(digits[rows], x)
        return tuple(bits)

    def _sets_of(self, digits: NDArray[np.uint64], truth: int) -> NDArray[np.uint8]:
        """Sets of one truth, as columns of bits.

        For few categories the sets are listed, and the first digit determines the set unless a run begins within it;
        the remaining sets are computed from all digits.
        """
        if self.channel.n_in <= LARGEST_EXHAUSTED:
            firsts, sets = self._listing(truth)
            bits = sets[:, np.searchsorted(firsts, digits[:, 0], side="right") - 1]
            remaining = np.flatnonzero(np.isin(digits[:, 0], firsts))
        else:
            bits, remaining = np.zeros((self.channel.n_in, len(digits)), np.uint8), np.arange(len(digits))
        for row, number in zip(remaining.tolist(), digits[remaining].astype(">u8"), strict=True):
            bits[:, row] = 0
            bits[self.channel.rank.members(int.from_bytes(number.tobytes(), "big"), truth), row] = 1
        return bits

    def _listing(self, truth: int) -> Listing:
        """All sets of one truth, with the first digits of their first numbers."""
        if truth not in self._listings:
            ordered = list(self.channel.rank.sets(truth))
            sets = np.array([[j in members for _, members in ordered] for j in range(self.channel.n_in)], np.uint8)
            firsts = [first >> 64 * (len(self.coins) - 1) for first, _ in ordered]
            self._listings[truth] = np.array(firsts, np.uint64), sets
        return self._listings[truth]

    @cached_property
    def _listings(self) -> dict[int, Listing]:
        """Cache of `_listing`."""
        return {}

    @cached_property
    def channel(self) -> RandomSet:
        """Channel of the drawn sets over the joint cells."""
        return RandomSet(self.sizes, self.components, self.favour, self.tilt)

    def report_schema(self, truths: Schema) -> Schema:
        """A set of categories, or of joint cells if there are several attributes."""
        return Schema([cell_set(truths)])

    def to_json(self) -> dict[str, Any]:
        """Components, the favour as two integers (1 and 0 if the truth is always in the set), and the tilt if any."""
        a, b = self.channel.rank.inside, self.channel.rank.outside
        components = [_component_to_json(c) for c in self.components]
        tilt = {} if self.tilt is None else {"tilt": [str(h) for h in self.tilt]}
        return {"kind": self.kind, "components": components, "favour": [str(a), str(b)], **tilt}

    @classmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "SetByRank":
        """Read the components, the favour in lowest terms, and the tilt if there is one."""
        favour = None if json["favour"] == ["1", "0"] else favour_from_json(json["favour"])
        tilt = integers("tilt", json["tilt"]) if "tilt" in json else None
        return cls(sizes, [_component_from_json(entry) for entry in json["components"]], favour, tilt)


def _component_to_json(slab: Slab) -> dict[str, Any]:
    plain = {"weight": str(slab.weight), "size": str(slab.size), "items": [str(w) for w in slab.items]}
    return plain | ({"lengths": [str(g) for g in slab.lengths]} if slab.has_lengths else {})


def _component_from_json(json: Any) -> Slab:
    weight, size = (integer(name, json[name]) for name in ("weight", "size"))
    lengths = integers("lengths", json["lengths"]) if "lengths" in json else None
    return Slab(weight, size, integers("items", json["items"]), lengths)
