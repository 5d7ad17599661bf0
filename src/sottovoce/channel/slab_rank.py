"""Sets of one length in order: a number says which one, category by category, for one truth."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from sottovoce.channel.slab import Slab, at

Row = list[int]
"""Sums over the sets of all categories from some place on, by their length."""


@dataclass(frozen=True)
class Step:
    """What a category multiplies the numbers of a set by, and adds to its tilt: in the set, or not."""

    length: int
    inside: int
    outside: int
    tilt_inside: int
    tilt_outside: int


@dataclass(frozen=True)
class SlabRank:
    """A set owns as many numbers as the product of its steps' factors times its tilt; sets with a category come first.

    The tilt of a set is `start` and what every step adds. With e_r the sum of the products over the sets, of length r,
    of the categories from some place on, and d_r that of the products times what these categories add, `c e_r + d_r`
    numbers go on from there with a tilt of c so far.

    >>> pairs = SlabRank(2, tuple(Step(1, weight, 1, 0, 0) for weight in (1, 2, 1)), start=1)
    >>> pairs.total, [pairs.members(number) for number in range(5)], pairs.run({1, 2})
    (5, [[0, 1], [0, 1], [0, 2], [1, 2], [1, 2]], (3, 5))
    """

    size: int
    steps: tuple[Step, ...]
    start: int

    @classmethod
    def of(cls, slab: Slab, inside: int, outside: int, tilt: tuple[int, ...] | None) -> "SlabRank":
        """Numbers `m(S) t_S` without the weight of the slab, all categories alike: `t_S = sum_i h_i u_S(i)`, or 1."""
        weights = tilt or (0,) * len(slab.items)
        steps = (
            Step(g, w, 1, h * inside, h * outside) for g, w, h in zip(slab.lengths, slab.items, weights, strict=True)
        )
        return cls(slab.size, tuple(steps), int(tilt is None))

    def favouring(self, truth: int, inside: int, outside: int) -> "SlabRank":
        """Numbers of a set multiplied by `inside` if the truth is in it, by `outside` if not.

        Sums over the categories behind the truth are shared.
        """
        step = self.steps[truth]
        own = Step(step.length, step.inside * inside, outside, step.tilt_inside, step.tilt_outside)
        found = SlabRank(self.size, (*self.steps[:truth], own, *self.steps[truth + 1 :]), self.start)
        plain, tilted = self._rows
        found.__dict__["_rows"] = found._rows_before((plain[truth + 1 :], tilted[truth + 1 :]))
        return found

    @property
    def total(self) -> int:
        """All numbers."""
        plain, tilted = self._rows
        return self.start * plain[0][self.size] + tilted[0][self.size]

    def members(self, number: int) -> list[int]:
        """Set that owns a number."""
        found, left, tilt, walk = [], self.size, self.start, enumerate(self._walk)
        while left:
            category, (step, plain, tilted) = next(walk)
            rest = left - step.length
            own = step.inside * ((tilt + step.tilt_inside) * plain[rest] + tilted[rest]) if rest >= 0 else 0
            if number < own:
                found.append(category)
                number, left, tilt = number // step.inside, rest, tilt + step.tilt_inside
            else:
                number, tilt = (number - own) // step.outside, tilt + step.tilt_outside
        return found

    def sets(self) -> Iterator[tuple[int, list[int]]]:
        """Every set with its first number, in order."""
        number = 0
        while number < self.total:
            members = self.members(number)
            yield number, members
            number = self.run(members)[1]

    def run(self, members: Iterable[int]) -> tuple[int, int]:
        """First number of a set of this length, and the one behind its last."""
        first, factor, left, tilt = 0, 1, self.size, self.start
        for category, (step, plain, tilted) in enumerate(self._walk):
            rest = left - step.length
            if category in members:
                factor, left, tilt = factor * step.inside, rest, tilt + step.tilt_inside
            else:
                first += factor * step.inside * ((tilt + step.tilt_inside) * at(plain, rest) + at(tilted, rest))
                factor, tilt = factor * step.outside, tilt + step.tilt_outside
        return first, first + factor * tilt

    @cached_property
    def _walk(self) -> list[tuple[Step, Row, Row]]:
        """Every step, with the rows of the categories behind it."""
        plain, tilted = self._rows
        return list(zip(self.steps, plain[1:], tilted[1:], strict=True))

    @cached_property
    def _rows(self) -> tuple[list[Row], list[Row]]:
        """Rows of e and of d from every category on; without a tilt d is zero."""
        none = [0] * self.size
        return self._rows_before(([[1, *none]], [[0, *none]]))

    def _rows_before(self, behind: tuple[list[Row], list[Row]]) -> tuple[list[Row], list[Row]]:
        """Rows from every category on, given those of the last ones."""
        plain, tilted = behind[0][::-1], behind[1][::-1]
        for step in reversed(self.steps[: len(self.steps) + 1 - len(plain)]):
            tilted.append(tilted[-1] if self.start else _tilted(step, plain[-1], tilted[-1]))
            plain.append(_with(step, plain[-1]))
        return plain[::-1], tilted[::-1]


def _with(step: Step, row: Row) -> Row:
    """`outside e_r + inside e_{r-g}`."""
    return [step.outside * e + step.inside * at(row, r - step.length) for r, e in enumerate(row)]


def _tilted(step: Step, plain: Row, tilted: Row) -> Row:
    """`outside (d_r + tilt_outside e_r) + inside (d_{r-g} + tilt_inside e_{r-g})`."""
    without = [d + step.tilt_outside * e for e, d in zip(plain, tilted, strict=True)]
    within = [d + step.tilt_inside * e for e, d in zip(plain, tilted, strict=True)]
    return [step.outside * w + step.inside * at(within, r - step.length) for r, w in enumerate(without)]
