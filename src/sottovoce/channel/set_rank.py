"""How a set is found from one large number that coins make: every set owns a run of numbers, however rare it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import ceil

from sottovoce.channel.drawn_sets import LARGEST_EXHAUSTED
from sottovoce.channel.set_moments import norm_moments, norms
from sottovoce.channel.slab import Slab
from sottovoce.channel.slab_rank import SlabRank

SIDES = 2**64
"""Sides of the coins whose faces, in a row, are one large number."""


@dataclass(frozen=True)
class SetRank:
    """`m(S) t_S u_S(x)` numbers of `norm_x` for the set S, component by component.

    m is the sum of the components, `u_S(x)` is `inside` if x is in S, else `outside`, and `t_S = sum_i h_i u_S(i)` with
    the `tilt` h, or 1 without. Coins of 2^64 sides make a number U below `D = 2^(64 k)`; the set that owns the number
    `floor(U norm_x / D)` is drawn. So its probability is off by less than one part in 2^64.

    >>> rank = SetRank((Slab(1, 1, (1, 1, 2)),), inside=2, outside=1)
    >>> rank.norms, rank.coins, [rank.members(face << 125, truth=0) for face in range(8)]
    ([5, 5, 6], 2, [[0], [0], [0], [0], [1], [2], [2], [2]])
    """

    components: tuple[Slab, ...]
    inside: int
    outside: int
    tilt: tuple[int, ...] | None = None

    @cached_property
    def norms(self) -> list[int]:
        """All numbers, for each truth."""
        return norms(norm_moments(self.components, self.tilt), self.inside, self.outside)

    @cached_property
    def coins(self) -> int:
        """So many that `D / norm_x` is at least 2^64 for every truth."""
        return -(-(max(self.norms).bit_length() + 64) // 64)

    def members(self, faces: int, truth: int) -> list[int]:
        """Set drawn when the coins show `faces`, the first coin being the highest digit."""
        number = faces * self.norms[truth] >> 64 * self.coins
        *before, last = self._ranks(truth)
        for weight, rank in before:
            if number < weight * rank.total:
                return rank.members(number // weight)
            number -= weight * rank.total
        return last[1].members(number // last[0])

    def sets(self, truth: int) -> Iterator[tuple[int, list[int]]]:
        """Every set with the least number that the coins can show for it, in order; in each component that has it."""
        before, norm = 0, self.norms[truth]
        for weight, rank in self._ranks(truth):
            for first, members in rank.sets():
                yield -(-(before + weight * first) * SIDES**self.coins // norm), members
            before += weight * rank.total

    def ways(self, members: set[int], truth: int) -> int:
        """How many of the D numbers that the coins can show draw this set.

        A run from p to q is drawn by those from `ceil(p D / norm_x)` to `ceil(q D / norm_x)`.
        """
        numbers, norm = SIDES**self.coins, self.norms[truth]
        return sum(
            -(-last * numbers // norm) + (-first * numbers // norm) for first, last in self._runs(members, truth)
        )

    @cached_property
    def odds(self) -> Fraction:
        """Largest ratio over all sets, or from more than ten categories on a bound that is hardly larger."""
        return self.largest_odds() if len(self.norms) <= LARGEST_EXHAUSTED else self.odds_bound()

    def largest_odds(self) -> Fraction:
        """Largest `P(S | x) / P(S | y)`, by trying all sets."""
        categories = range(len(self.norms))
        sets = (set(found) for size in categories for found in combinations(categories, size))
        rows = ([self.ways(members, truth) for truth in categories] for members in sets)
        return max(Fraction(max(row), min(row)) for row in rows if max(row))

    def odds_bound(self) -> Fraction:
        """Rational that `largest_odds` does not exceed: `a M / (b m) (2^64 + 1) / (2^64 - 1)`, over 2^96, rounded up.

        a and b are `inside` and `outside`, M and m the largest and the smallest norm. A run of r numbers has
        `r D / norm_x` faces, give or take less than one, which is at most one part in 2^64 of them.
        """
        ratio = Fraction(self.inside * max(self.norms), self.outside * min(self.norms))
        return Fraction(ceil(ratio * Fraction(SIDES + 1, SIDES - 1) * 2**96), 2**96)

    def _runs(self, members: set[int], truth: int) -> Iterator[tuple[int, int]]:
        before = 0
        for component, (weight, rank) in zip(self.components, self._ranks(truth), strict=True):
            if sum(component.lengths[i] for i in members) == component.size:
                first, last = rank.run(members)
                yield before + weight * first, before + weight * last
            before += weight * rank.total

    def _ranks(self, truth: int) -> list[tuple[int, SlabRank]]:
        """Weight and order of every component, for one truth; those of the last truth are kept."""
        if truth not in self._kept:
            self._kept.clear()
            own = [rank.favouring(truth, self.inside, self.outside) for rank in self._neutral]
            self._kept[truth] = [(c.weight, rank) for c, rank in zip(self.components, own, strict=True)]
        return self._kept[truth]

    @cached_property
    def _neutral(self) -> list[SlabRank]:
        return [SlabRank.of(c, self.inside, self.outside, self.tilt) for c in self.components]

    @cached_property
    def _kept(self) -> dict[int, list[tuple[int, SlabRank]]]:
        """Tables of many categories are large: one truth's at a time."""
        return {}
