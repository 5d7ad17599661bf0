"""Numbering of weighted sets, so that one large random integer draws a set.

All sets are put in order, and each is assigned a run of consecutive integers, as many as its weight. The set of a
uniform random integer below the total weight then has a probability in proportion to its weight.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import ceil

from sottovoce.channels.set_valued import LARGEST_EXHAUSTED
from sottovoce.channels.slabs import Slab, coefficient_at, norm_moments, norms

Row = list[int]
"""Sums of weights over all sets of the categories from some index on, by the length of the sets."""

SIDES = 2**64
"""Sides of the coins that are the digits of the large random integer."""


@dataclass(frozen=True)
class Step:
    """Length of a category, and what it multiplies a set's weight by and adds to its tilt, if inside and if outside."""

    length: int
    inside: int
    outside: int
    tilt_inside: int
    tilt_outside: int


@dataclass(frozen=True)
class SlabRank:
    """Numbering of the sets of one length: a set's weight is the product of its steps' factors times its tilt.

    Sets with the first category come before those without, and so on. The tilt of a set is `start` plus what every step
    adds. Let e_r be the sum of the products over the sets of length r of the categories from some index on, and d_r the
    sum of the products times what these categories add to the tilt. Then `c e_r + d_r` is the total weight of the sets
    that continue from there with a tilt of c so far.

    >>> pairs = SlabRank(2, tuple(Step(1, weight, 1, 0, 0) for weight in (1, 2, 1)), start=1)
    >>> pairs.total, [pairs.members(number) for number in range(5)], pairs.run({1, 2})
    (5, [[0, 1], [0, 1], [0, 2], [1, 2], [1, 2]], (3, 5))
    """

    size: int
    steps: tuple[Step, ...]
    start: int

    @classmethod
    def of(cls, slab: Slab, inside: int, outside: int, tilt: tuple[int, ...] | None) -> "SlabRank":
        """Numbering with weights `m(S) t_S`, without the slab's own weight; `t_S = sum_i h_i u_S(i)`, or 1."""
        weights = tilt or (0,) * len(slab.items)
        steps = (
            Step(g, w, 1, h * inside, h * outside) for g, w, h in zip(slab.lengths, slab.items, weights, strict=True)
        )
        return cls(slab.size, tuple(steps), int(tilt is None))

    def favouring(self, truth: int, inside: int, outside: int) -> "SlabRank":
        """Numbering in which a set's weight is multiplied by `inside` if the truth is in it, by `outside` if not.

        The rows of the categories behind the truth are reused.
        """
        step = self.steps[truth]
        favoured = Step(step.length, step.inside * inside, outside, step.tilt_inside, step.tilt_outside)
        rank = SlabRank(self.size, (*self.steps[:truth], favoured, *self.steps[truth + 1 :]), self.start)
        plain, tilted = self._rows
        rank.__dict__["_rows"] = rank._rows_before((plain[truth + 1 :], tilted[truth + 1 :]))
        return rank

    @property
    def total(self) -> int:
        """Total weight of all sets."""
        plain, tilted = self._rows
        return self.start * plain[0][self.size] + tilted[0][self.size]

    def members(self, number: int) -> list[int]:
        """Set to which a number is assigned."""
        members, left, tilt, walk = [], self.size, self.start, enumerate(self._walk)
        while left:
            category, (step, plain, tilted) = next(walk)
            rest = left - step.length
            with_category = step.inside * ((tilt + step.tilt_inside) * plain[rest] + tilted[rest]) if rest >= 0 else 0
            if number < with_category:
                members.append(category)
                number, left, tilt = number // step.inside, rest, tilt + step.tilt_inside
            else:
                number, tilt = (number - with_category) // step.outside, tilt + step.tilt_outside
        return members

    def sets(self) -> Iterator[tuple[int, list[int]]]:
        """All sets in order, each with its first number."""
        number = 0
        while number < self.total:
            members = self.members(number)
            yield number, members
            number = self.run(members)[1]

    def run(self, members: Iterable[int]) -> tuple[int, int]:
        """Run of a set of this length: its first number, and the one after its last."""
        first, factor, left, tilt = 0, 1, self.size, self.start
        for category, (step, plain, tilted) in enumerate(self._walk):
            rest = left - step.length
            if category in members:
                factor, left, tilt = factor * step.inside, rest, tilt + step.tilt_inside
            else:
                with_category = (tilt + step.tilt_inside) * coefficient_at(plain, rest) + coefficient_at(tilted, rest)
                first += factor * step.inside * with_category
                factor, tilt = factor * step.outside, tilt + step.tilt_outside
        return first, first + factor * tilt

    @cached_property
    def _walk(self) -> list[tuple[Step, Row, Row]]:
        """Every step, with the rows of the categories after it."""
        plain, tilted = self._rows
        return list(zip(self.steps, plain[1:], tilted[1:], strict=True))

    @cached_property
    def _rows(self) -> tuple[list[Row], list[Row]]:
        """Rows of e and of d, from every category on; without a tilt d is zero."""
        none = [0] * self.size
        return self._rows_before(([[1, *none]], [[0, *none]]))

    def _rows_before(self, behind: tuple[list[Row], list[Row]]) -> tuple[list[Row], list[Row]]:
        """Rows from every category on, given those of the last categories."""
        plain, tilted = behind[0][::-1], behind[1][::-1]
        for step in reversed(self.steps[: len(self.steps) + 1 - len(plain)]):
            tilted.append(tilted[-1] if self.start else _tilted(step, plain[-1], tilted[-1]))
            plain.append(_with(step, plain[-1]))
        return plain[::-1], tilted[::-1]


def _with(step: Step, row: Row) -> Row:
    """Row of e with one more category: `outside e_r + inside e_{r-g}`."""
    return [step.outside * e + step.inside * coefficient_at(row, r - step.length) for r, e in enumerate(row)]


def _tilted(step: Step, plain: Row, tilted: Row) -> Row:
    """Row of d with one more category: `outside (d_r + tilt_outside e_r) + inside (d_{r-g} + tilt_inside e_{r-g})`."""
    without = [d + step.tilt_outside * e for e, d in zip(plain, tilted, strict=True)]
    within = [d + step.tilt_inside * e for e, d in zip(plain, tilted, strict=True)]
    return [step.outside * w + step.inside * coefficient_at(within, r - step.length) for r, w in enumerate(without)]


@dataclass(frozen=True)
class SetRank:
    """Numbering of the sets of several components, in which the set S has `m(S) t_S u_S(x)` of `norm_x` numbers.

    m is the sum of the components, `u_S(x)` is `inside` if x is in S, else `outside`, and `t_S` is `sum_i h_i u_S(i)`
    with the `tilt` h, or 1 without one. Coins of 2^64 sides give an integer U below `D = 2^(64 k)`; the set of number
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
        """Total weight of all sets, for each truth."""
        return norms(norm_moments(self.components, self.tilt), self.inside, self.outside)

    @cached_property
    def coins(self) -> int:
        """Number of coins: so many that `D / norm_x` is at least 2^64 for every truth."""
        return -(-(max(self.norms).bit_length() + 64) // 64)

    def members(self, faces: int, truth: int) -> list[int]:
        """Set drawn if the coins show `faces`, the first coin being the highest digit."""
        number = faces * self.norms[truth] >> 64 * self.coins
        *before, last = self._ranks(truth)
        for weight, rank in before:
            if number < weight * rank.total:
                return rank.members(number // weight)
            number -= weight * rank.total
        return last[1].members(number // last[0])

    def sets(self, truth: int) -> Iterator[tuple[int, list[int]]]:
        """All sets in order, each with the least integer of the coins that draws it; once for each component."""
        before, norm = 0, self.norms[truth]
        for weight, rank in self._ranks(truth):
            for first, members in rank.sets():
                yield -(-(before + weight * first) * SIDES**self.coins // norm), members
            before += weight * rank.total

    def ways(self, members: set[int], truth: int) -> int:
        """How many of the D integers that the coins can show draw this set.

        A run from p to q is drawn by the integers from `ceil(p D / norm_x)` to `ceil(q D / norm_x)`.
        """
        numbers, norm = SIDES**self.coins, self.norms[truth]
        return sum(
            -(-last * numbers // norm) + (-first * numbers // norm) for first, last in self._runs(members, truth)
        )

    @cached_property
    def odds(self) -> Fraction:
        """Largest ratio over all sets; for more than ten categories, a bound that is hardly larger."""
        return self.largest_odds() if len(self.norms) <= LARGEST_EXHAUSTED else self.odds_bound()

    def largest_odds(self) -> Fraction:
        """Largest `P(S | x) / P(S | y)`, by trying all sets."""
        categories = range(len(self.norms))
        sets = (set(members) for size in categories for members in combinations(categories, size))
        rows = ([self.ways(members, truth) for truth in categories] for members in sets)
        return max(Fraction(max(row), min(row)) for row in rows if max(row))

    def odds_bound(self) -> Fraction:
        """Upper bound on `largest_odds`: `a M / (b m) (2^64 + 1) / (2^64 - 1)`, rounded up to a multiple of 2^-96.

        a and b are `inside` and `outside`, M and m the largest and the smallest norm. A run of r numbers is drawn by
        `r D / norm_x` integers, give or take less than one, which is at most one part in 2^64 of them.
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
        """Weight and numbering of every component, for one truth; those of the last truth are cached."""
        if truth not in self._rank_cache:
            self._rank_cache.clear()
            ranks = [rank.favouring(truth, self.inside, self.outside) for rank in self._neutral]
            self._rank_cache[truth] = [(c.weight, rank) for c, rank in zip(self.components, ranks, strict=True)]
        return self._rank_cache[truth]

    @cached_property
    def _neutral(self) -> list[SlabRank]:
        return [SlabRank.of(c, self.inside, self.outside, self.tilt) for c in self.components]

    @cached_property
    def _rank_cache(self) -> dict[int, list[tuple[int, SlabRank]]]:
        """The tables of many categories are large: one truth at a time is cached."""
        return {}
