"""How often an answer is reported, at least, by people whose answer it is not: exactly, from their coins' integers.

Every kind of mechanism has its own closed form, so that hundreds of answers and sets of dozens of items take no time.
The survey page computes the same in its modules of the same names.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, singledispatch
from itertools import combinations
from math import prod

from sottovoce.channels.set_rank import SIDES, SetRank
from sottovoce.channels.set_valued import LARGEST_EXHAUSTED
from sottovoce.mechanisms.cut_and_paste import CutPaste
from sottovoce.mechanisms.diagonal import Diagonal
from sottovoce.mechanisms.flips import Flips
from sottovoce.mechanisms.matrix import Listed
from sottovoce.mechanisms.mechanism import Mechanism
from sottovoce.mechanisms.one_hot import OneHot
from sottovoce.mechanisms.private_diagonal import PrivateDiagonal
from sottovoce.mechanisms.random_set import SetByRank
from sottovoce.mechanisms.replacement import Replacement
from sottovoce.mechanisms.sampling import Sampling
from sottovoce.mechanisms.subset_selection import Subset
from sottovoce.mechanisms.turning import Turning

Weight = tuple[int, int]
"""Sum of the weights of some sets, and of these weights times what their members add to the tilt."""

CACHED_SHARES = 256
"""Shares of random sets that are kept: hundreds of answers often have the same."""


@singledispatch
def least_share(mechanism: Mechanism, column: int, code: int) -> Fraction:
    """Return the least probability, over all truths with another code in a column, that the report names this code.

    A report that is a set names every code of its members. Of an item (a column of two codes) code 1 is named if it is
    reported although it was not chosen, and code 0 if it is left out although it was. Under attribute sampling the
    probability is that of reports in which the column was asked.

    >>> least_share(Diagonal((4,), truth=3, other=1), column=0, code=2)
    Fraction(1, 6)
    """
    raise NotImplementedError(mechanism.kind)


@least_share.register(Diagonal)
@least_share.register(PrivateDiagonal)
def _diagonal(mechanism: Diagonal | PrivateDiagonal, column: int, code: int) -> Fraction:
    naming = prod(mechanism.sizes) // mechanism.sizes[column]
    return Fraction(naming * mechanism.other, mechanism.coins[-1].sides)


@least_share.register
def _flips(mechanism: Flips, column: int, code: int) -> Fraction:
    bit = mechanism.bit_coins[column]
    return Fraction(bit.zero if code else bit.sides - bit.one, bit.sides)


@least_share.register
def _one_hot(mechanism: OneHot, column: int, code: int) -> Fraction:
    return Fraction(mechanism.bit.zero, mechanism.bit.sides)


@least_share.register
def _turning(mechanism: Turning, column: int, code: int) -> Fraction:
    return Fraction(mechanism.sides - mechanism.kept, mechanism.sides)


@least_share.register
def _replacement(mechanism: Replacement, column: int, code: int) -> Fraction:
    """The truth has another code, so that this one is always drawn."""
    (drawn,) = mechanism.channel.marginal([column]).known
    return Fraction(mechanism.sides - mechanism.kept, mechanism.sides) * drawn[code]


@least_share.register
def _cut_paste(mechanism: CutPaste, column: int, code: int) -> Fraction:
    """An item that was not chosen is added by its coin; a chosen one is kept most often if it is the only one."""
    added = Fraction(mechanism.added, mechanism.sides)
    return added if code else (1 - added) / (mechanism.cutoff + 1)


@least_share.register
def _listed(mechanism: Listed, column: int, code: int) -> Fraction:
    naming = _cells_with(mechanism.sizes, column, code)
    rows = [row for row, named in zip(mechanism.matrix, naming, strict=True) if named]
    sums = [sum(row[truth] for row in rows) for truth, named in enumerate(naming) if not named]
    return Fraction(min(sums), mechanism.coins[0].sides)


@least_share.register
def _sampling(mechanism: Sampling, column: int, code: int) -> Fraction:
    """Which part was drawn shows in the report, so that every part that asks counts by itself."""
    asking = [(axes.index(column), part) for axes, part in mechanism.parts if column in axes]
    return min((least_share(part, index, code) for index, part in asking), default=Fraction(0))


@least_share.register
def _subset(mechanism: Subset, column: int, code: int) -> Fraction:
    """The cells with this code are drawn among all but the true one: a set without any of them is what remains."""
    cells = prod(mechanism.sizes)
    naming = [cells - 1 - index for index in range(cells // mechanism.sizes[column])]
    kept, sides, size = mechanism.kept, mechanism.sides, mechanism.size
    with_truth, without_truth = (prod(cell - others for cell in naming) for others in (size - 1, size))
    return 1 - Fraction(kept * with_truth + (sides - kept) * without_truth, sides * prod(naming))


@least_share.register
def _random_set(mechanism: SetByRank, column: int, code: int) -> Fraction:
    """Where shares are not exact to the last face of the coins, cells of the same weights and tilt have the same."""
    if len(mechanism.sizes) > 1 or mechanism.sizes[0] <= LARGEST_EXHAUSTED:
        return _share_of_sets(mechanism, column, code)
    kinds = list(zip(*(zip(c.items, c.lengths, strict=True) for c in mechanism.components), strict=True))
    tilts = mechanism.tilt or kinds
    alike = next(i for i, kind in enumerate(kinds) if (kind, tilts[i]) == (kinds[code], tilts[code]))
    return _share_of_sets(mechanism, column, alike)


@lru_cache(CACHED_SHARES)
def _share_of_sets(mechanism: SetByRank, column: int, code: int) -> Fraction:
    """Exact where all sets are listed, else at most one part in 2^64 below, which is as far as coins round."""
    rank, named = mechanism.channel.rank, _cells_with(mechanism.sizes, column, code)
    truths = [cell for cell, is_named in enumerate(named) if not is_named]
    if len(named) <= LARGEST_EXHAUSTED:
        cells = range(len(named))
        sets = [s for size in cells for s in combinations(cells, size) if any(named[cell] for cell in s)]
        return min(Fraction(sum(rank.ways(set(s), x) for s in sets), SIDES**rank.coins) for x in truths)
    avoiding = _weights_avoiding(rank, named)
    return min(Fraction((rank.norms[x] - avoiding[x]) * (SIDES - 1), rank.norms[x] * SIDES) for x in truths)


def _cells_with(sizes: Sequence[int], column: int, code: int) -> list[bool]:
    """Whether each joint cell has a code in a column; the last column varies fastest."""
    behind = prod(sizes[column + 1 :])
    return [cell // behind % sizes[column] == code for cell in range(prod(sizes))]


def _weights_avoiding(rank: SetRank, avoided: Sequence[bool]) -> list[int]:
    """Total weight, for each truth, of the sets without any of the avoided cells.

    With `u_S(x)` inside a and outside b it is `b` times the weight of all such sets and `a - b` times that of those
    with x, which are products of polynomials in the length: of the cells before x, of x, and of those behind it.
    """
    totals = [0] * len(avoided)
    tilt = rank.tilt or (0,) * len(avoided)
    start, gain = int(rank.tilt is None), rank.inside - rank.outside
    for slab in rank.components:
        steps = [
            (length, 0 if avoid else item, h * rank.inside, h * rank.outside)
            for length, item, h, avoid in zip(slab.lengths, slab.items, tilt, avoided, strict=True)
        ]
        before, behind = [_no_cells(slab.size)], [_no_cells(slab.size)]
        for step in steps:
            before.append(_with_cell(before[-1], *step))
        for step in reversed(steps):
            behind.append(_with_cell(behind[-1], *step))
        everything = start * before[-1][slab.size][0] + before[-1][slab.size][1]
        for x, (length, item, more, _) in enumerate(steps):
            pairs = list(zip(before[x], reversed(behind[-2 - x][: max(slab.size - length + 1, 0)]), strict=False))
            plain = sum(p * q for (p, _), (q, _) in pairs)
            tilted = sum(p * e + d * q for (p, d), (q, e) in pairs) + more * plain
            totals[x] += slab.weight * (rank.outside * everything + gain * item * (start * plain + tilted))
    return totals


def _no_cells(size: int) -> list[Weight]:
    return [(1, 0)] + [(0, 0)] * size


def _with_cell(row: Sequence[Weight], length: int, item: int, inside: int, outside: int) -> list[Weight]:
    """Weights by length with one more cell, which multiplies by `item` and adds to the tilt, inside and outside."""
    shifted = [(0, 0)] * length + list(row)
    return [
        (e + item * f, d + outside * e + item * (g + inside * f)) for (e, d), (f, g) in zip(row, shifted, strict=False)
    ]
