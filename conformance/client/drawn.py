"""Sets that are found from one large number: each owns as many as its weight."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import ceil, prod

from conformance.client.mechanism import Report
from conformance.client.rules import Json, listed, require, require_lowest_terms, whole, wholes
from conformance.client.schema import cells, number
from conformance.client.sets import SetOfCells

SIDES = 2**64

Component = tuple[int, int, list[int], list[int]]
"""Weight, size, weights of the items, and their lengths."""

Row = list[tuple[int, int]]
"""Two sums over sets, by the length of the sets."""


class RandomSet(SetOfCells):
    """All coins together are a number, and its place among those of all sets says which set is meant."""

    def __init__(self, sizes: Sequence[int], json: Json) -> None:
        """Components, favour and tilt."""
        self.sizes, self.n = sizes, cells(sizes)
        require(2 <= self.n <= 1024, "cells out of range")
        self.components = [_component(entry, self.n) for entry in listed(json["components"])]
        require(self.components, "no components")
        favour = wholes(json["favour"])
        require(favour == [1, 0] or (len(favour) == 2 and favour[0] >= favour[1] >= 1), "a favour that is none")
        require_lowest_terms(*favour)
        self.a, self.b = favour
        self.tilt = wholes(json["tilt"]) if "tilt" in json else None
        require(self.tilt is None or len(self.tilt) == self.n, "a tilt that is not one for each cell")
        require(self.tilt is None or all(1 <= h <= 2**256 for h in self.tilt), "a tilt out of range")
        self.start = 0 if self.tilt else 1
        self.norms = [sum(self._counts(x)) for x in range(self.n)]
        require(min(self.norms) > 0, "a truth that is in no set")
        self.coins = [SIDES] * -(-(max(self.norms).bit_length() + 64) // 64)
        self.odds = self._odds()

    def respond(self, truth: Sequence[int], shown: Sequence[int]) -> Report:
        """Find the component, then go through the categories."""
        x, u = number(truth, self.sizes), 0
        for side in shown:
            u = u * SIDES + side
        u = u * self.norms[x] // SIDES ** len(self.coins)
        for component, count in zip(self.components, self._counts(x), strict=True):
            if u < count:
                members = self._set_of(component, x, u // component[0])
                return [[int(cell in members) for cell in range(self.n)]]
            u -= count
        raise AssertionError("a number beyond the norm")

    def _factors(self, component: Component, x: int, i: int) -> tuple[int, int]:
        """Factors of a category that is in the set, and of one that is not."""
        w = component[2][i]
        return (self.a * w, self.b) if i == x else (w, 1)

    def _added(self, i: int) -> tuple[int, int]:
        """What a category adds to the tilt in the set, and out of it."""
        h = self.tilt[i] if self.tilt else 0
        return h * self.a, h * self.b

    def _counts(self, x: int) -> list[int]:
        """Numbers of each component."""
        return [c[0] * _number(self._rows(c, x)[0], c[1], self.start) for c in self.components]

    def _rows(self, component: Component, x: int) -> list[Row]:
        """From each category on: sums of the products, and of the products times what is still added to the tilt."""
        rows: list[Row] = [[(1, 0)] + [(0, 0)] * component[1]]
        for i in reversed(range(self.n)):
            inside, outside = self._factors(component, x, i)
            added_in, added_out = self._added(i)
            row: Row = []
            for left, (e_out, d_out) in enumerate(rows[-1]):
                e_in, d_in = rows[-1][left - component[3][i]] if left >= component[3][i] else (0, 0)
                tilted = inside * (d_in + added_in * e_in) + outside * (d_out + added_out * e_out)
                row.append((inside * e_in + outside * e_out, tilted))
            rows.append(row)
        return rows[::-1]

    def _set_of(self, component: Component, x: int, u: int) -> set[int]:
        _, left, _, lengths = component
        rows, tilt, members = self._rows(component, x), self.start, set()
        for i in range(self.n):
            inside, outside = self._factors(component, x, i)
            added_in, added_out = self._added(i)
            own = inside * _number(rows[i + 1], left - lengths[i], tilt + added_in)
            if u < own:
                u, left, tilt = u // inside, left - lengths[i], tilt + added_in
                members.add(i)
            else:
                u, tilt = (u - own) // outside, tilt + added_out
        return members

    def _odds(self) -> Fraction | None:
        if self.b == 0:
            return None
        if self.n <= 10:
            laws = [self._law(x) for x in range(self.n)]
            return max(Fraction(max(ways), min(ways)) for ways in ([law[s] for law in laws] for s in laws[0]))
        quotient = Fraction(self.a * max(self.norms), self.b * min(self.norms)) * Fraction(SIDES + 1, SIDES - 1)
        return Fraction(ceil(quotient * 2**96), 2**96)

    def _law(self, x: int) -> dict[tuple[int, ...], int]:
        """Numbers that the coins can make and that mean a set, from a list of all sets in order."""
        law: dict[tuple[int, ...], int] = {}
        first, faces = 0, SIDES ** len(self.coins)
        for component in self.components:
            for members in self._ordered(component):
                last = first + component[0] * self._weight(component, members, x)
                own = _divided_up(last * faces, self.norms[x]) - _divided_up(first * faces, self.norms[x])
                law[members] = law.get(members, 0) + own
                first = last
        return law

    def _ordered(self, component: Component) -> list[tuple[int, ...]]:
        """All sets of a component: those with the first category before those without, and so on."""
        found = (members for size in range(self.n) for members in combinations(range(self.n), size))
        fitting = [members for members in found if sum(component[3][i] for i in members) == component[1]]
        return sorted(fitting, key=lambda members: [i not in members for i in range(self.n)])

    def _weight(self, component: Component, members: Sequence[int], x: int) -> int:
        factors = [self._factors(component, x, i)[i not in members] for i in range(self.n)]
        return prod(factors) * sum((self._added(i)[i not in members] for i in range(self.n)), self.start)


def _component(json: Json, n: int) -> Component:
    weight, size, items = whole(json["weight"]), whole(json["size"]), wholes(json["items"])
    lengths = wholes(json["lengths"]) if "lengths" in json else [1] * n
    require("lengths" not in json or max(lengths) > 1, "lengths that are all 1")
    require(len(items) == n == len(lengths), "weights or lengths that are not one for each cell")
    require(all(1 <= g <= 4096 for g in lengths), "lengths out of range")
    require(
        all(1 <= w <= min(2 ** (256 * g), 2**8192) for w, g in zip(items, lengths, strict=True)), "weights out of range"
    )
    require(1 <= weight <= 2**8192 and 1 <= size < sum(lengths) and size <= 4096, "a weight or size out of range")
    reached = {0}
    for g in lengths:
        reached |= {r + g for r in reached}
    require(size in reached, "a size that no lengths sum to")
    return weight, size, items, lengths


def _number(row: Row, left: int, tilt: int) -> int:
    """Numbers of the sets that go on with a length left and a tilt so far."""
    if left < 0:
        return 0
    e, d = row[left]
    return tilt * e + d


def _divided_up(above: int, below: int) -> int:
    """Quotient, rounded up.

    >>> _divided_up(7, 2)
    4
    """
    return -(-above // below)
