"""Levelwise mining on reconstructed supports: what survives at one length is what the next is made of."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sottovoce.count.protocol import Counts
from sottovoce.count.transactions import Narrowed, Transactions
from sottovoce.errors import SottovoceError, Words
from sottovoce.mine.candidates import MOST_AT_ONCE, Family, Numbers
from sottovoce.mine.level import Level
from sottovoce.mine.reconstruction import Reconstruction
from sottovoce.mine.screening import promising_pairs
from sottovoce.mine.survival import Search
from sottovoce.mine.survivors import Survivors, decided, gathered, near_enough

MOST_PAIRED = 4096
"""Items whose pairs are counted as one table; of more, in parts."""


def mine_levels(sources: Sequence[Transactions], how: Reconstruction, search: Search) -> list[Level]:
    """Survivors of each length, from the reports of one source or of several; none where no single item survives."""
    levels = [found.level(names) for found, names in searched(sources, how, search)]
    return [level for level in levels if len(level.items)]


def searched(
    sources: Sequence[Transactions], how: Reconstruction, search: Search
) -> Iterator[tuple[Survivors, Numbers]]:
    """Survivors of each length, reported or only grown, and the numbers that their items had at first."""
    counts = np.stack([source.singles() for source in sources])
    rows = np.array([source.rows() for source in sources])
    total = int(rows.sum())
    if not counts.any():
        raise SottovoceError("transactions", "must hold items", Words(f"{total} empty ones"))
    search.told(1, counts.shape[1], counts.shape[1])
    singles = Family.of_singles(counts.shape[1])
    alone = decided(near_enough(singles, how.of_singles(counts, rows), how, search, total), None, how, search, total)
    yield alone, np.arange(counts.shape[1])
    names = alone.family.items[:, 0]
    how, found = how.chosen(names), alone.numbered_anew(np.arange(len(names)))
    least = search.min_support, search.deviations
    pairs = promising_pairs(sources[0], names, found.sums, how, least) if len(sources) == 1 else None
    if pairs is not None:
        used = np.unique(pairs)
        names, how, found = names[used], how.chosen(used), found.numbered_anew(used)
        pairs = np.searchsorted(used, pairs)
    narrowed = [source.narrowed(names) for source in sources]
    while len(found.family) > found.family.length < min(search.longest, how.longest) and found.reported.any():
        length, parts, judged = found.family.length + 1, [], 0
        most = found.family.most_joined if pairs is None or length > 2 else len(pairs)
        search.told(length, 0, most)
        below = found if most <= MOST_AT_ONCE else replace(found, smooth=None)
        for family in _candidates(found.family, pairs):
            sums = how.grown(found.sums, family, _counted(narrowed, family))
            parts.append(near_enough(family, sums, how, search, total, whole=below.smooth is not None))
            judged += len(family)
            search.told(length, judged, most)
        search.told(length, most, most)
        found = decided(gathered(parts, found.sums, length), below, how, search, total)
        yield found, names


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
