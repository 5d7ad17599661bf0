"""Sets that are drawn category by category, from weights."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from math import ceil

from conformance.client.mechanism import Report
from conformance.client.rules import Json, listed, require, require_lowest_terms, whole, wholes
from conformance.client.schema import cells, number
from conformance.client.sets import SetOfCells

SIDES = 2**64

Outcome = tuple[int, bool, int]
"""Number of a component, whether the truth is in the set, and the weight of that."""


class RandomSet(SetOfCells):
    """A coin draws component and place of the truth, and one coin for each other category whether it is in."""

    def __init__(self, sizes: Sequence[int], json: Json) -> None:
        """Weights of all components, and how much sets that hold the truth are favoured."""
        self.sizes, self.n = sizes, cells(sizes)
        self.components = [_component(entry, self.n) for entry in listed(json["components"])]
        require(self.components, "no components")
        favour = wholes(json["favour"])
        require(len(favour) == 2 and favour[0] >= favour[1] >= 1, "a favour that is none")
        require_lowest_terms(*favour)
        self.favour = Fraction(*favour)
        self.coins = [SIDES] * self.n
        self.odds = self._exact_odds() if self.n <= 10 else self._bound_of_odds()

    def respond(self, truth: Sequence[int], shown: Sequence[int]) -> Report:
        """Draw the choice, then let the other categories in while there are places left."""
        x = number(truth, self.sizes)
        outcomes = self._outcomes(x)
        runs = list(accumulate(_dealt([weight for _, _, weight in outcomes])))
        component, inside, _ = outcomes[next(place for place, end in enumerate(runs) if shown[0] < end)]
        members, left = ({x} if inside else set()), self.components[component][1] - inside
        for i, side in zip(self._others(x), shown[1:], strict=True):
            if left and side < self._sides(component, x, i, left):
                members.add(i)
                left -= 1
        return [[int(cell in members) for cell in range(self.n)]]

    def _others(self, x: int) -> list[int]:
        return [i for i in range(self.n) if i != x]

    def _outcomes(self, x: int) -> list[Outcome]:
        found: list[Outcome] = []
        a, b = self.favour.as_integer_ratio()
        for place, (weight, size, items) in enumerate(self.components):
            e = _symmetric([items[i] for i in self._others(x)])
            found += [(place, True, a * weight * items[x] * e[size - 1]), (place, False, b * weight * e[size])]
        return found

    def _sides(self, component: int, x: int, i: int, left: int) -> int:
        """Sides that let a category in, while so many places are left."""
        items = self.components[component][2]
        behind = _symmetric([items[j] for j in self._others(x) if j > i])
        with_it = _symmetric([items[j] for j in self._others(x) if j >= i])
        return SIDES * items[i] * behind[left - 1] // with_it[left] if left < len(with_it) else 0

    def _exact_odds(self) -> Fraction | None:
        """Largest ratio over all sets, each summed up over the ways to draw it."""
        laws = [dict[frozenset[int], Fraction]() for _ in range(self.n)]
        for x, law in enumerate(laws):
            outcomes = self._outcomes(x)
            for (component, inside, _), sides in zip(outcomes, _dealt([w for _, _, w in outcomes]), strict=True):
                for members, chance in self._walks(component, x, 0, self.components[component][1] - inside):
                    whole_set = members | ({x} if inside else set())
                    law[whole_set] = law.get(whole_set, Fraction(0)) + chance * Fraction(sides, SIDES)
        rows = [[law.get(members, Fraction(0)) for law in laws] for members in set().union(*laws)]
        return None if any(min(row) == 0 for row in rows) else max(max(row) / min(row) for row in rows)

    def _walks(self, component: int, x: int, step: int, left: int) -> Iterator[tuple[frozenset[int], Fraction]]:
        """Sets of other categories from a step on, and the chance of each."""
        others = self._others(x)
        if step == len(others):
            yield frozenset(), Fraction(1)
            return
        sides = self._sides(component, x, others[step], left) if left else 0
        for taken, chance in ((1, Fraction(sides, SIDES)), (0, Fraction(SIDES - sides, SIDES))):
            if chance:
                for members, rest in self._walks(component, x, step + 1, left - taken):
                    yield members | ({others[step]} if taken else set()), chance * rest

    def _bound_of_odds(self) -> Fraction:
        quotients = []
        for x in range(self.n):
            weights = [weight for _, _, weight in self._outcomes(x)]
            quotients += [Fraction(sides, weight) for sides, weight in zip(_dealt(weights), weights, strict=True)]
        spreads = [Fraction(max(items), min(items)) for _, _, items in self.components]
        d = max((1 + self.n * spread) / SIDES for spread in spreads)
        bound = self.favour * max(quotients) / min(quotients) / (1 - self.n * d)
        return Fraction(ceil(bound * 2**96), 2**96)


def _component(json: Json, n: int) -> tuple[int, int, list[int]]:
    weight, size, items = whole(json["weight"]), whole(json["size"]), wholes(json["items"])
    require(weight >= 1 and 1 <= size < n, "a component without weight, or of sets of none or all")
    require(len(items) == n and all(1 <= w <= 2**32 for w in items), "weights that are not one for each cell")
    return weight, size, items


def _dealt(weights: Sequence[int]) -> list[int]:
    """Sides of each outcome: rounded down but at least one; the first of the heaviest has all that is left.

    >>> [sides / SIDES for sides in _dealt([1, 2, 1])]
    [0.25, 0.5, 0.25]
    """
    sides = [max(SIDES * weight // sum(weights), 1) for weight in weights]
    heaviest = weights.index(max(weights))
    sides[heaviest] += SIDES - sum(sides)
    return sides


def _symmetric(weights: Sequence[int]) -> list[int]:
    """Sums over all sets of r weights of their products, for every r.

    >>> _symmetric([2, 3, 5])
    [1, 10, 31, 30]
    """
    e = [1]
    for w in weights:
        e = [low + w * below for low, below in zip([*e, 0], [0, *e], strict=True)]
    return e
