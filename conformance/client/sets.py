"""Mechanisms that shuffle: sets of joint cells, and sets of items of which a few are kept."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from conformance.client.bits import require_bits
from conformance.client.coins import shuffled
from conformance.client.mechanism import Mechanism, Report, each_in_its_place
from conformance.client.rules import Json, larger, require, require_share, whole
from conformance.client.schema import as_text, categories, cells, item_set, joined, number


class SetOfCells(Mechanism):
    """A set of joint cells, in the place of the group's first column."""

    codes_of_truth = False

    def columns(self, attributes: Sequence[Json]) -> list[Json]:
        """A set of categories, or of joint cells named by theirs."""
        found = [categories(attribute) for attribute in attributes]
        joint = [" & ".join(map(as_text, cell)) for cell in product(*found)]
        return [item_set(joined(attributes), joint if len(found) > 1 else found[0])]


class Subset(SetOfCells):
    """A set of joint cells, with the truth or without it."""

    def __init__(self, sizes: Sequence[int], json: Json) -> None:
        """Size of the set, and sides of the coin that puts the truth in."""
        self.sizes, self.n = sizes, cells(sizes)
        self.size, self.kept, sides = (whole(json[key]) for key in ("size", "kept", "sides"))
        require(1 <= self.size < self.n, "a set of no cells, or of all")
        require_share(self.kept, sides)
        self.coins = [sides, *(self.n - place for place in range(1, self.size + 1))]
        self.odds = larger(self.kept * (self.n - self.size), (sides - self.kept) * self.size)

    def respond(self, truth: Sequence[int], shown: Sequence[int]) -> Report:
        """Draw from the other cells, and let the truth take the last place of the set."""
        x = number(truth, self.sizes)
        others = [(x + step) % self.n for step in range(1, self.n)]
        members = shuffled(others, shown[1:])[: self.size]
        if shown[0] < self.kept:
            members[-1] = x
        return [[int(cell in members) for cell in range(self.n)]]


class CutPaste(Mechanism):
    """A few items of a set, and others that coins add."""

    def __init__(self, sizes: Sequence[int], json: Json) -> None:
        """How many items may be kept, and sides of the coins that add."""
        require_bits(sizes)
        self.cutoff, self.added, sides = (whole(json[key]) for key in ("cutoff", "added", "sides"))
        self.c = len(sizes)
        require(self.cutoff <= self.c, "a cutoff above the items")
        require(0 < self.added < sides, "noise that adds nothing, or everything")
        require_share(self.added, sides)
        self.coins = [self.cutoff + 1, *range(self.c, 1, -1), *[sides] * self.c]
        self.odds = _odds_of_cut_paste(self.c, self.cutoff, Fraction(sides, self.added))

    def respond(self, truth: Sequence[int], shown: Sequence[int]) -> Report:
        """Keep the first true items in shuffled order, and add what the coins say."""
        order = shuffled(range(self.c), shown[1 : self.c])
        kept = [column for column in order if truth[column]][: shown[0]]
        noise = shown[self.c :]
        return each_in_its_place([int(column in kept or noise[column] < self.added) for column in range(self.c)])


def _odds_of_cut_paste(c: int, cutoff: int, q: Fraction) -> Fraction:
    """Powers of q, summed up."""
    if cutoff < c:
        return sum((q**j for j in range(cutoff + 1)), Fraction(0))
    all_but_one = sum((q**j for j in range(c - 1)), 2 * q ** (c - 1))
    return max(all_but_one, sum((q**j for j in range(c + 1)), Fraction(0)) / (c + 1))
