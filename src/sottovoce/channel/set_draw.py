"""How a set is drawn from a mixture of designs: the sides of every coin, and what they add up to."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import ceil

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.conditional_poisson import SIDES, ConditionalPoisson


@dataclass(frozen=True)
class SetDraw:
    """Near `P(S | x) = m(S) (g if x in S else 1) / norm_x`, m the sum of the components, g = `favour` >= 1.

    A first coin draws a component and whether its set holds the truth x; then one coin for each other category, in
    order, decides whether it is in the set, until no place is left. All coins have 2^64 sides.

    >>> draw = SetDraw((ConditionalPoisson(1, 1, (1, 1, 1)),), Fraction(2))
    >>> draw.choice(0) == [2**63, 2**63], draw.ways({1}, truth=0) == 2**63 * 2**63 * 2**64
    (True, True)
    """

    components: tuple[ConditionalPoisson, ...]
    favour: Fraction

    @property
    def categories(self) -> int:
        """Number n of categories."""
        return len(self.components[0].items)

    def weights(self, truth: int) -> list[int]:
        """Weights of the first coin's outcomes: for each component, sets with the truth and sets without."""
        plus, base = self.favour.as_integer_ratio()
        return [w for c in self.components for w in (plus * c.holding(truth), base * c.lacking(truth))]

    def choice(self, truth: int) -> list[int]:
        """Sides of the first coin, by outcome.

        All but the likeliest have 2^64 times their probability, rounded down, and at least one side; the likeliest
        (the first of equals) has what is left.
        """
        weights = self.weights(truth)
        norm, likeliest = sum(weights), weights.index(max(weights))
        sides = [max(weight * SIDES // norm, 1) for weight in weights]
        sides[likeliest] += SIDES - sum(sides)
        return sides

    def last_sides(self, truth: int) -> NDArray[np.uint64]:
        """Last side of each further coin that takes a category in: by component, other category, places left."""
        if truth not in self._steps:
            most = max(c.size for c in self.components)
            tables = [c.last_sides(truth) for c in self.components]
            self._steps[truth] = np.stack([np.pad(t, ((0, 0), (0, most + 1 - t.shape[1]))) for t in tables])
        return self._steps[truth]

    def ways(self, members: set[int], truth: int) -> int:
        """How many of the `(2^64)^n` ways the coins can fall draw this set."""
        choice, tables = self.choice(truth), self.last_sides(truth)
        return sum(
            choice[2 * number + (truth not in members)] * self._step_ways(tables[number], members, truth)
            for number, component in enumerate(self.components)
            if component.size == len(members)
        )

    def largest_odds(self) -> Fraction:
        """Largest `P(S | x) / P(S | y)`, by trying all sets."""
        sets = (set(found) for size in self._sizes for found in combinations(range(self.categories), size))
        rows = ([self.ways(members, truth) for truth in range(self.categories)] for members in sets)
        return max(Fraction(max(row), min(row)) for row in rows)

    def odds_bound(self) -> Fraction:
        """Rational below which `largest_odds` stays, for any number of categories.

        Let outcome k of the first coin have weight v_k and s_k sides, and let d be the largest `step_error`. Of the
        steps that lead to a set of T members, at most T take a category in, with a probability rounded down by a
        factor of at least 1 - d, and at most n - T leave one out, with one raised by at most 1 + d < 1 / (1 - d). So
        `P(S | x) / P(S | y) <= g max_{x,k} (s_k / v_k) max_{y,k} (v_k / s_k) / (1 - d)^n`, and `(1 - d)^n >= 1 - n d`.
        Without rounding this is `g max norm / min norm`. It is stated as a multiple of 2^-96, rounded up.
        """
        ratios = [
            Fraction(sides, weight)
            for truth in range(self.categories)
            for sides, weight in zip(self.choice(truth), self.weights(truth), strict=True)
        ]
        error = self.categories * max(c.step_error for c in self.components)
        bound = self.favour * max(ratios) / min(ratios) / (1 - error)
        return Fraction(ceil(bound * 2**96), 2**96)

    def inclusion_shares(self) -> list[Fraction]:
        """Share of m in the sets that hold each category; `norm_x` is proportional to `1 + (g - 1)` times it."""
        inside = [sum(c.holding(x) for c in self.components) for x in range(self.categories)]
        total = inside[0] + sum(c.lacking(0) for c in self.components)
        return [Fraction(part, total) for part in inside]

    def shares(self, truth: int) -> Iterator[float]:
        """`P(j in S | x)` for every category j: sums of m in whole numbers, divided once."""
        plus, base = self.favour.as_integer_ratio()
        norm = sum(self.weights(truth))
        for j in range(self.categories):
            own, both = (sum(c.holding_both(j, k) for c in self.components) for k in (j, truth))
            yield (base * own + (plus - base) * both) / norm

    @property
    def _sizes(self) -> set[int]:
        return {c.size for c in self.components}

    @cached_property
    def _steps(self) -> dict[int, NDArray[np.uint64]]:
        """Tables of the truths that were asked for so far."""
        return {}

    def _step_ways(self, table: NDArray[np.uint64], members: set[int], truth: int) -> int:
        ways, left = 1, len(members - {truth})
        others = (j for j in range(self.categories) if j != truth)
        for row, category in zip(table, others, strict=True):
            taken = int(row[left]) + 1 if left else 0
            ways *= taken if category in members else SIDES - taken
            left -= category in members
        return ways
