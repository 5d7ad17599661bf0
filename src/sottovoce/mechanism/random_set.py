"""A set drawn category by category, by coins that are all flipped; its truth more often in it than out."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import ceil, floor, gcd, isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import checked_shape
from sottovoce.channel.conditional_poisson import SIDES, ConditionalPoisson
from sottovoce.channel.random_set import RandomSet
from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import epsilon_of_odds
from sottovoce.mechanism.coins import Coin, Coins
from sottovoce.mechanism.mechanism import Mechanism, integer
from sottovoce.mechanism.rounding import LARGEST_LOSS, loss
from sottovoce.schema.cells import Columns, ravel
from sottovoce.schema.schema import Schema, cell_set

GRAIN = 2**96
"""Denominator of square roots and of the favour."""


@dataclass(frozen=True)
class DrawnSet(Mechanism):
    """A coin draws component and place of the truth, one coin for each other category whether it is in.

    All have 2^64 sides, and `SetDraw` says what each side does. Tables of last sides, 8 bytes for each truth,
    component, other category and number of places left, are made for those truths that occur.

    >>> DrawnSet((3,), [ConditionalPoisson(1, 1, [1, 1, 1])], Fraction(2)).channel.odds
    Fraction(2, 1)
    """

    kind = "random_set"

    sizes: tuple[int, ...]
    components: tuple[ConditionalPoisson, ...]
    favour: Fraction

    def __init__(self, sizes: Iterable[int], components: Iterable[ConditionalPoisson], favour: Fraction) -> None:
        """Check that the channel exists."""
        object.__setattr__(self, "sizes", checked_shape(sizes))
        object.__setattr__(self, "components", tuple(components))
        object.__setattr__(self, "favour", favour)
        self.channel  # noqa: B018  # refuses weights of other categories, and a favour below 1

    @classmethod
    def with_odds(cls, sizes: Iterable[int], components: Iterable[ConditionalPoisson], odds: Fraction) -> "DrawnSet":
        """Favour the truth as far as the odds allow; what rounding adds to them is taken off, and checked."""
        found = cls(sizes, components, Fraction(1))
        shares = found.channel.draw.inclusion_shares()
        target, margin = odds, Fraction(1, 2**62)
        while target >= 1 and loss(odds, target) < LARGEST_LOSS:
            found = cls(found.sizes, found.components, _favour(target, min(shares), max(shares)))
            if found.channel.odds <= odds:
                break
            target *= odds / found.channel.odds * (1 - margin)
            margin *= 2
        if found.channel.odds <= odds and loss(odds, found.channel.odds) < LARGEST_LOSS:
            return found
        raise out_of_reach(odds)

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """One for the choice, and one for each category but the truth."""
        return (Coin(SIDES),) * self.channel.n_in

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Draw component and place of the truth, then let the other categories in one by one."""
        own, rows = ravel(truth, self.sizes), np.arange(len(flips[0]))
        truths, place = np.unique(own, return_inverse=True)
        first, last = self._tables(truths.tolist())
        component, lacking = np.divmod((flips[0][:, None] >= first[place]).sum(axis=1), 2)
        left = np.array([c.size for c in self.components])[component] - 1 + lacking
        bits = np.zeros((self.channel.n_in, len(own)), np.uint8)
        bits[own, rows] = 1 - lacking
        for step, side in enumerate(flips[1:]):
            taken = (left > 0) & (side <= last[place, component, step, left])
            bits[step + (step >= own), rows] = taken
            left -= taken
        return tuple(bits)

    @cached_property
    def channel(self) -> RandomSet:
        """Randomly drawn sets of the joint cells."""
        return RandomSet(self.sizes, self.components, self.favour)

    def report_schema(self, truths: Schema) -> Schema:
        """Set of categories, or of joint cells where there are several attributes."""
        return Schema([cell_set(truths)])

    def to_json(self) -> dict[str, Any]:
        """Components and the two integers of the favour."""
        components = [
            {"weight": str(c.weight), "size": str(c.size), "items": [str(w) for w in c.items]} for c in self.components
        ]
        favour = [str(number) for number in self.favour.as_integer_ratio()]
        return {"kind": self.kind, "components": components, "favour": favour}

    @classmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "DrawnSet":
        """Read every component, and the favour in lowest terms."""
        return cls(sizes, [_component(entry) for entry in json["components"]], favour_from_json(json["favour"]))

    def _tables(self, truths: list[int]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """First sides of all outcomes of the choice but the first, and last sides that take a category in."""
        draw, count = self.channel.draw, len(self.components)
        first = [list(accumulate(draw.choice(truth)[:-1])) for truth in truths]
        last = np.array([draw.last_sides(truth) for truth in truths], np.uint64)
        return (
            np.array(first, np.uint64).reshape(len(truths), 2 * count - 1),
            last.reshape(len(truths), count, self.channel.n_in - 1, max(c.size for c in self.components) + 1),
        )


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


def _component(json: Any) -> ConditionalPoisson:
    weight, size = (integer(name, json[name]) for name in ("weight", "size"))
    return ConditionalPoisson(weight, size, integers("items", json["items"]))


def _favour(odds: Fraction, least: Fraction, most: Fraction) -> Fraction:
    """Root g >= 1 of `g (1 + (g - 1) most) / (1 + (g - 1) least) = odds`, or a hair less.

    The norms of a design are proportional to `1 + (g - 1)` times the inclusion shares, of which these are the
    least and the most.

    >>> _favour(Fraction(3), Fraction(1, 2), Fraction(1, 2)), float(_favour(Fraction(3), Fraction(0), Fraction(1)))
    (Fraction(3, 1), 1.7320508075688772)
    """
    linear = 1 + most - odds * least
    root = _root_above(linear**2 + 4 * most * (odds - 1))
    return 1 + Fraction(floor(2 * (odds - 1) / (linear + root) * GRAIN), GRAIN)


def _root_above(square: Fraction) -> Fraction:
    """Square root, exact or rounded up."""
    scaled = ceil(square * GRAIN**2)
    return Fraction(isqrt(scaled - 1) + 1 if scaled else 0, GRAIN)
