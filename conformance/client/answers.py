"""Mechanisms whose report is an answer: a joint cell, or the row of a matrix."""

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from conformance.client.coins import picked
from conformance.client.mechanism import Mechanism, Report, each_in_its_place
from conformance.client.rules import Json, larger, listed, require, require_lowest_terms, require_share, whole, wholes
from conformance.client.schema import category, cells, joined, number, split


class Diagonal(Mechanism):
    """The truth, or another cell: as many cells further on as the coin says."""

    def __init__(self, sizes: Sequence[int], json: Json) -> None:
        """Two numbers of sides."""
        self.sizes, self.n = sizes, cells(sizes)
        self.truth, self.other = whole(json["truth"]), whole(json["other"])
        require_lowest_terms(self.truth, self.other)
        self.coins = [self.truth + (self.n - 1) * self.other]
        self.odds = larger(self.truth, self.other)

    def respond(self, truth: Sequence[int], shown: Sequence[int]) -> Report:
        """Go round from the truth."""
        return each_in_its_place(self.turned(truth, shown[0], self.truth, self.other))

    def turned(self, truth: Sequence[int], side: int, own: int, each: int) -> list[int]:
        """Report where `own` sides tell the truth and `each` another cell."""
        x = number(truth, self.sizes)
        y = x if side < own else x + 1 + (side - own) // each
        return split(y - self.n if y >= self.n else y, self.sizes)


class PrivateDiagonal(Diagonal):
    """A diagonal mechanism whose integers a first coin shifts."""

    def __init__(self, sizes: Sequence[int], json: Json) -> None:
        """Three numbers of sides, in no lowest terms."""
        self.sizes, self.n = sizes, cells(sizes)
        self.truth, self.other, self.spread = (whole(json[key]) for key in ("truth", "other", "spread"))
        require(self.spread <= self.other and (self.n - 1) * self.spread <= self.truth, "a shift that leaves no coin")
        self.coins = [2 * self.spread + 1, self.truth + (self.n - 1) * self.other]
        require(self.coins[1] <= 2**62, "a second coin of more than 2^62 sides")
        self.odds = larger(self.truth, self.other)

    def respond(self, truth: Sequence[int], shown: Sequence[int]) -> Report:
        """Shift, then go round."""
        shift = shown[0] - self.spread
        own, each = self.truth + (self.n - 1) * shift, self.other - shift
        return each_in_its_place(self.turned(truth, shown[1], own, each))


class Replacement(Mechanism):
    """The truth, or a record drawn from known laws."""

    def __init__(self, sizes: Sequence[int], json: Json) -> None:
        """Sides of the first coin, and weights of the laws."""
        self.sizes, self.kept, sides = sizes, whole(json["kept"]), whole(json["sides"])
        self.known = [wholes(law) for law in listed(json["known"])]
        require([len(law) for law in self.known] in (list(sizes), [prod(sizes)]), "known laws of wrong lengths")
        require_share(self.kept, sides)
        for law in self.known:
            require_lowest_terms(*law)
        self.coins = [sides, *map(sum, self.known)]
        rarest = (sides - self.kept) * prod(map(min, self.known))
        told = Fraction(self.kept * prod(self.coins[1:]), rarest) if rarest else None
        self.odds = Fraction(1) if self.kept == 0 else None if told is None else 1 + told

    def respond(self, truth: Sequence[int], shown: Sequence[int]) -> Report:
        """Draw a record in any case, and see which one stands."""
        drawn = [picked(law, side) for law, side in zip(self.known, shown[1:], strict=True)]
        drawn = drawn if len(drawn) == len(self.sizes) else split(drawn[0], self.sizes)
        return each_in_its_place(truth if shown[0] < self.kept else drawn)


class Listed(Mechanism):
    """A row of a matrix, in the column of the truth."""

    def __init__(self, sizes: Sequence[int], json: Json) -> None:
        """Matrix of sides, perhaps with names for its rows."""
        self.sizes, self.matrix = sizes, [wholes(row) for row in listed(json["matrix"])]
        truths, rows = cells(sizes), len(self.matrix)
        require(rows and all(len(row) == truths for row in self.matrix), "not a column for each joint cell")
        self.by_truth = list(zip(*self.matrix, strict=True))
        require(len({sum(column) for column in self.by_truth}) == 1, "columns with different sums")
        require_lowest_terms(*(entry for row in self.matrix for entry in row))
        self.reports = json.get("reports")
        self.in_one_place = self.reports is not None or rows != truths
        require(self.reports is None or len(set(self.reports)) == len(self.reports) == rows, "names of reports")
        self.codes_of_truth = rows == truths and (self.reports is None or len(sizes) == 1)
        self.coins = [sum(self.by_truth[0])]
        counted = [row for row in self.matrix if any(row)]
        self.odds = max(Fraction(max(row), min(row)) for row in counted) if all(map(all, counted)) else None

    def respond(self, truth: Sequence[int], shown: Sequence[int]) -> Report:
        """Row in whose run of sides the coin falls."""
        row = picked(self.by_truth[number(truth, self.sizes)], shown[0])
        return [[row]] if self.in_one_place else each_in_its_place(split(row, self.sizes))

    def columns(self, attributes: Sequence[Json]) -> list[Json]:
        """Attributes of the truth, or one with a category for each row."""
        if not self.in_one_place:
            return super().columns(attributes)
        names = self.reports or [f"report {row + 1}" for row in range(len(self.matrix))]
        return [category(joined(attributes), names)]
