"""Mechanisms that keep or turn round bits: of yes/no answers, of items, of categories."""

from collections.abc import Sequence
from fractions import Fraction

from conformance.client.mechanism import Mechanism, Report, each_in_its_place
from conformance.client.rules import (
    Json,
    larger,
    multiplied,
    require,
    require_lowest_terms,
    require_share,
    whole,
    wholes,
)
from conformance.client.schema import categories, item_set


class BitCoin:
    """Sides that report a 1: `one` of them if the truth is 1, `zero` of them if it is 0."""

    def __init__(self, json: object) -> None:
        """Three numbers of sides."""
        self.one, self.zero, self.sides = wholes(json)
        require(self.one <= self.sides and self.zero <= self.sides, "more sides than the coin has")
        require_lowest_terms(self.one, self.zero, self.sides)

    def report(self, truth: int, side: int) -> int:
        """Bit reported."""
        return int(side < (self.one if truth else self.zero))


class Turning(Mechanism):
    """The whole record, or every bit of it turned round."""

    def __init__(self, sizes: Sequence[int], json: Json) -> None:
        """Two numbers of sides."""
        require_bits(sizes)
        self.kept, sides = whole(json["kept"]), whole(json["sides"])
        require_share(self.kept, sides)
        self.coins = [sides]
        self.odds = larger(self.kept, sides - self.kept) if len(sizes) == 1 else None

    def respond(self, truth: Sequence[int], shown: Sequence[int]) -> Report:
        """One coin for all columns."""
        return each_in_its_place(truth if shown[0] < self.kept else [1 - code for code in truth])


class Flips(Mechanism):
    """A coin for each bit."""

    def __init__(self, sizes: Sequence[int], json: Json) -> None:
        """One coin for all columns, or one for each."""
        require_bits(sizes)
        require(len(json["bits"]) in (1, len(sizes)), "not one coin, nor one for each column")
        given = [BitCoin(bit) for bit in json["bits"]]
        self.bits = given if len(given) == len(sizes) else given * len(sizes)
        self.coins = [bit.sides for bit in self.bits]
        self.odds = multiplied([_odds_of_bit(bit) for bit in self.bits])

    def respond(self, truth: Sequence[int], shown: Sequence[int]) -> Report:
        """Column by column."""
        by_column = zip(self.bits, truth, shown, strict=True)
        return each_in_its_place([bit.report(code, side) for bit, code, side in by_column])


class OneHot(Mechanism):
    """A coin for each code of each column."""

    codes_of_truth = False

    def __init__(self, sizes: Sequence[int], json: Json) -> None:
        """One coin for all."""
        self.sizes, self.bit = sizes, BitCoin(json["bit"])
        self.coins = [self.bit.sides] * sum(sizes)
        one, zero, sides = self.bit.one, self.bit.zero, self.bit.sides
        of_column = Fraction(1) if one == zero else larger(one * (sides - zero), zero * (sides - one))
        self.odds = multiplied([of_column] * len(sizes))

    def respond(self, truth: Sequence[int], shown: Sequence[int]) -> Report:
        """Bits of each column's codes, in its place."""
        sides = iter(shown)
        return [
            [self.bit.report(code == true, next(sides)) for code in range(size)]
            for true, size in zip(truth, self.sizes, strict=True)
        ]

    def columns(self, attributes: Sequence[Json]) -> list[Json]:
        """For each attribute a set of its categories."""
        return [item_set(attribute["name"], categories(attribute)) for attribute in attributes]


def require_bits(sizes: Sequence[int]) -> None:
    """Refuse columns that have other than two codes."""
    require(all(size == 2 for size in sizes), "columns that are not bits")


def _odds_of_bit(bit: BitCoin) -> Fraction | None:
    """Those of a matrix with two rows; a row of zeros does not count."""
    rows = [(bit.sides - bit.zero, bit.sides - bit.one), (bit.zero, bit.one)]
    found = [larger(*row) for row in rows if any(row)]
    return None if None in found else max(odds for odds in found if odds is not None)
