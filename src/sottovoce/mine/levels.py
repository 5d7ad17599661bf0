"""Levelwise mining on reconstructed supports: what survives at one length is what the next is made of."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.count.protocol import Counts
from sottovoce.count.transactions import Narrowed, Transactions
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.spread import Target
from sottovoce.mine.candidates import Family, Numbers, together
from sottovoce.mine.level import Level
from sottovoce.mine.reconstruction import Reconstruction, Sums
from sottovoce.mine.screening import promising_pairs

Progress = Callable[[int, int, int], None]
"""Is told a length, how many of its candidates were judged so far, and how many there are at the most."""

MOST_PAIRED = 4096
"""Items whose pairs are counted as one table; of more, in parts."""

MOST_SURVIVORS = 2**22
"""Survivors of one length, beyond which the search is given up: memory would be next."""


@dataclass(frozen=True)
class Search:
    """What survives: sets whose estimate is within so many standard errors of the threshold, or above it."""

    min_support: float
    deviations: float
    target: Target
    longest: int
    progress: Progress | None = None

    def told(self, length: int, done: int, total: int) -> None:
        """Report progress where somebody listens."""
        if self.progress is not None:
            self.progress(length, done, total)

    def standard_error(self, first: Array, second: Array, rows: int) -> Array:
        """From the means of what reports count for, and of its square: see `estimate.pooled`."""
        own = first if self.target == "table" else first**2
        return np.asarray(np.sqrt(np.maximum(second - own, 0) / rows))


@dataclass(frozen=True, eq=False)
class Survivors:
    """Sets of one length that survived, and the sums that the next length is made of."""

    family: Family
    sums: Sums
    support: Array
    standard_error: Array

    def level(self, names: Numbers) -> Level:
        """The same under the numbers that the items had at first."""
        return Level(names[self.family.items], self.support, self.standard_error)


def mine_levels(sources: Sequence[Transactions], how: Reconstruction, search: Search) -> list[Level]:
    """Survivors of each length, from the reports of one source or of several; none where no single item survives."""
    counts = np.stack([source.singles() for source in sources])
    rows = np.array([source.rows() for source in sources])
    total = int(rows.sum())
    if not counts.any():
        raise SottovoceError("transactions", "must hold items", Words(f"{total} empty ones"))
    search.told(1, counts.shape[1], counts.shape[1])
    alone = survivors(Family.of_singles(counts.shape[1]), how.of_singles(counts, rows), how, search, total)
    levels = [alone.level(np.arange(counts.shape[1]))]
    names = alone.family.items[:, 0]
    how, found = how.chosen(names), _numbered_anew(alone)
    least = search.min_support, search.deviations
    pairs = promising_pairs(sources[0], names, found.sums, how, least) if len(sources) == 1 else None
    if pairs is not None:
        used = np.unique(pairs)
        names, how, found = names[used], how.chosen(used), _numbered_anew(found, used)
        pairs = np.searchsorted(used, pairs)
    narrowed = [source.narrowed(names) for source in sources]
    while len(found.family) > found.family.length < min(search.longest, how.longest):
        length, parts, judged = found.family.length + 1, [], 0
        most = found.family.most_joined if pairs is None or length > 2 else len(pairs)
        search.told(length, 0, most)
        for family in _candidates(found.family, pairs):
            sums = how.grown(found.sums, family, _counted(narrowed, family))
            parts.append(survivors(family, sums, how, search, total))
            judged += len(family)
            search.told(length, judged, most)
        search.told(length, most, most)
        found = _gathered(parts, found.sums, length)
        if not len(found.family):
            break
        levels.append(found.level(names))
    return [level for level in levels if len(level.items)]


def survivors(family: Family, sums: Sums, how: Reconstruction, search: Search, rows: int) -> Survivors:
    """Sets whose estimate is near enough to the threshold, or above it."""
    first, second = (moment / rows for moment in how.moments(sums))
    error = search.standard_error(first, second, rows)
    kept = first + search.deviations * error >= search.min_support
    return Survivors(family.chosen(kept), sums[:, kept], first[kept], error[kept])


def _candidates(family: Family, pairs: Numbers | None) -> Iterator[Family]:
    """Sets of one more item; pairs where they were looked over before."""
    if family.length == 1 and pairs is not None:
        return iter([Family(pairs, pairs[:, ::-1])])
    return family.joined()


def _counted(narrowed: Sequence[Narrowed], family: Family) -> Counts:
    """Counts by source and set; all pairs at once where those are most of them, in a table that is not too large."""
    items = int(family.items.max()) + 1
    if family.length > 2 or items > MOST_PAIRED or 4 * len(family) < items**2 // 2:
        return np.stack([each.together(family.items) for each in narrowed])
    first, second = family.items.T
    return np.stack([each.pairs()[first, second] for each in narrowed])


def _numbered_anew(found: Survivors, used: NDArray[np.int64] | None = None) -> Survivors:
    """Single items, or those used, with numbers from 0."""
    kept = np.arange(len(found.family)) if used is None else used
    singles = Family.of_singles(len(kept))
    return Survivors(singles, found.sums[:, kept], found.support[kept], found.standard_error[kept])


def _gathered(parts: Sequence[Survivors], below: Sums, length: int) -> Survivors:
    """Survivors of all parts; none where there were no candidates."""
    total = sum(len(part.family) for part in parts)
    if total > MOST_SURVIVORS:
        rule = f"must be higher, or recall lower: more than {MOST_SURVIVORS} sets of one length survive"
        raise SottovoceError("min_support", rule, Words(f"one that leaves {total}"))
    nothing = np.zeros((len(below), 0, length + 1), below.dtype)
    return Survivors(
        together([part.family for part in parts], length),
        np.concatenate([nothing, *(part.sums for part in parts)], axis=1),
        np.concatenate([np.zeros(0), *(part.support for part in parts)]),
        np.concatenate([np.zeros(0), *(part.standard_error for part in parts)]),
    )
