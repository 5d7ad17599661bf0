"""A set of categories drawn by its rank, which coins make digit by digit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import ceil, floor, gcd, isqrt
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

GRAIN = 2**96
"""Denominator of square roots and of the favour."""
Listing = tuple[NDArray[np.uint64], NDArray[np.uint8]]

TRIES = 8
"""How often the favour is lowered, by more each time, until rounding no longer lifts the odds above those asked for."""


def favour_from_json(json: Any) -> Fraction:
    """Two positive whole numbers in lowest terms, as a quotient."""
    numbers = integers("favour", json)
    if len(numbers) != 2 or min(numbers) < 1 or gcd(*numbers) != 1:
        raise SottovoceError("favour", "must be two positive whole numbers in lowest terms", numbers)
    return Fraction(*numbers)


def integers(parameter: str, json: Any) -> list[int]:
    """Whole numbers of a list, each written as text."""
    if not isinstance(json, list):
        raise SottovoceError(parameter, "must be a list of whole numbers written as text", json)
    return [integer(parameter, number) for number in json]


def out_of_reach(odds: Fraction) -> SottovoceError:
    """Refusal of odds that no coins of these components have."""
    rule = "must be above 1 : 1 and within reach of coins of 2^64 sides with these components"
    return SottovoceError("odds", rule, Words(f"e^{epsilon_of_odds(odds):.6g} : 1"))


def favour_of_shares(odds: Fraction, least: Fraction, most: Fraction) -> Fraction:
    """Root g >= 1 of `g (1 + (g - 1) most) / (1 + (g - 1) least) = odds`, or a hair less.

    The norms of a design are proportional to `1 + (g - 1)` times the inclusion shares, of which these are the
    least and the most.

    >>> favour_of_shares(Fraction(3), least=Fraction(1, 2), most=Fraction(1, 2))
    Fraction(3, 1)
    >>> float(favour_of_shares(Fraction(3), least=Fraction(0), most=Fraction(1)))
    1.7320508075688772
    """
    linear = 1 + most - odds * least
    root = _root_above(linear**2 + 4 * most * (odds - 1))
    return 1 + Fraction(floor(2 * (odds - 1) / (linear + root) * GRAIN), GRAIN)


def _root_above(square: Fraction) -> Fraction:
    """Square root, exact or rounded up."""
    scaled = ceil(square * GRAIN**2)
    return Fraction(isqrt(scaled - 1) + 1 if scaled else 0, GRAIN)


def excess(moments: Moments, odds: Fraction) -> Fraction:
    """Root e >= 0 of `g max norm / min norm = odds`, g = 1 + e, as a multiple of 2^-96 that the caller checks.

    Norms are polynomials in e whose coefficients are `norm_moments`. The left side is 1 at e = 0 and at least the
    odds at g = odds. Whole numbers find the same root on every machine.

    >>> from sottovoce.channels.slabs import norm_moments
    >>> from sottovoce.channels.slabs import Slab
    >>> excess(norm_moments([Slab(1, 1, (1, 1, 1))], tilt=(1, 1, 1)), Fraction(3))
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


def _polynomial(coefficients: Sequence[int], place: int) -> int:
    """Value of a polynomial, its highest power first, all counted in grains and rounded down."""
    return reduce(lambda value, coefficient: value * place // GRAIN + coefficient, coefficients)


def below(number: Fraction) -> Fraction:
    """Largest multiple of the grain that is not above a number."""
    return Fraction(floor(number * GRAIN), GRAIN)


@dataclass(frozen=True)
class SetByRank(Mechanism):
    """Coins of 2^64 sides are the digits of a number, and `SetRank` says which set it draws.

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
        """Check that the channel exists."""
        object.__setattr__(self, "sizes", checked_shape(sizes))
        object.__setattr__(self, "components", tuple(components))
        object.__setattr__(self, "favour", favour)
        object.__setattr__(self, "tilt", None if tilt is None else tuple(tilt))
        self.channel  # noqa: B018  # refuses weights of other categories, and a favour below 1

    @classmethod
    def with_odds(
        cls, sizes: Iterable[int], components: Iterable[Slab], odds: Fraction | None, tilt: Iterable[int] | None = None
    ) -> "SetByRank":
        """Favour the truth as far as the odds allow, or put it in always where they are unbounded (None)."""
        if odds is None:
            return cls(sizes, components, None, tilt)
        found = cls(sizes, components, Fraction(1), tilt)
        plus = excess(norm_moments(found.components, found.tilt), odds)
        for attempt in range(TRIES):
            found = cls(found.sizes, found.components, 1 + plus, found.tilt)
            achieved = found.channel.rank.odds
            if achieved <= odds and loss(odds, achieved) < LARGEST_LOSS:
                return found
            if achieved == 1:
                break
            plus = below(plus * (odds - 1) / (achieved - 1) * (1 - Fraction(2**attempt, 2**62)))
        raise out_of_reach(odds)

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """Digits, the highest first."""
        return (Coin(SIDES),) * self.channel.rank.coins

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Find the set of every number; truth by truth, since each has an order of sets of its own."""
        own, digits = ravel(truth, self.sizes), np.stack(flips, axis=1)
        bits = np.zeros((self.channel.n_in, len(own)), np.uint8)
        for x in np.unique(own).tolist():
            rows = np.flatnonzero(own == x)
            bits[:, rows] = self._drawn(digits[rows], x)
        return tuple(bits)

    def _drawn(self, digits: NDArray[np.uint64], truth: int) -> NDArray[np.uint8]:
        """Sets of one truth, by columns: the first digit tells, unless a run begins within it, or there is no list."""
        if self.channel.n_in <= LARGEST_EXHAUSTED:
            firsts, sets = self._listed(truth)
            bits = sets[:, np.searchsorted(firsts, digits[:, 0], side="right") - 1]
            unsure = np.flatnonzero(np.isin(digits[:, 0], firsts))
        else:
            bits, unsure = np.zeros((self.channel.n_in, len(digits)), np.uint8), np.arange(len(digits))
        for row, number in zip(unsure.tolist(), digits[unsure].astype(">u8"), strict=True):
            bits[:, row] = 0
            bits[self.channel.rank.members(int.from_bytes(number.tobytes(), "big"), truth), row] = 1
        return bits

    def _listed(self, truth: int) -> Listing:
        """First digit of the first number of every set, in order, and the sets by columns."""
        if truth not in self._lists:
            found = list(self.channel.rank.sets(truth))
            sets = np.array([[j in members for _, members in found] for j in range(self.channel.n_in)], np.uint8)
            firsts = [first >> 64 * (len(self.coins) - 1) for first, _ in found]
            self._lists[truth] = np.array(firsts, np.uint64), sets
        return self._lists[truth]

    @cached_property
    def _lists(self) -> dict[int, Listing]:
        """Sets of the truths that were asked for so far."""
        return {}

    @cached_property
    def channel(self) -> RandomSet:
        """Sets of the joint cells, drawn by rank."""
        return RandomSet(self.sizes, self.components, self.favour, self.tilt)

    def report_schema(self, truths: Schema) -> Schema:
        """Set of categories, or of joint cells where there are several attributes."""
        return Schema([cell_set(truths)])

    def to_json(self) -> dict[str, Any]:
        """Components, the two integers of the favour (1 and 0 where the truth is always in), and the tilt if any."""
        a, b = self.channel.rank.inside, self.channel.rank.outside
        components = [_component_to_json(c) for c in self.components]
        tilt = {} if self.tilt is None else {"tilt": [str(h) for h in self.tilt]}
        return {"kind": self.kind, "components": components, "favour": [str(a), str(b)], **tilt}

    @classmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "SetByRank":
        """Read every component, the favour in lowest terms, and the tilt if there is one."""
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
