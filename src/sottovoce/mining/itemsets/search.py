"""Levelwise search on reconstructed supports: what survives at one length makes the candidates of the next.

Under a disguise nearly all pairs of items occur together somewhere, so that all of them have to be counted, and of a
million reports a part decides: a pair is left out when its estimate from a random sample of n reports is 4 of its
standard errors below what would survive, the standard error being that of a pair exactly at the threshold. A
frequent pair is lost so with probability 3.2e-5 or so, by the normal law and with other items taken as
independent. Exact data are never sampled.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.counts.protocol import Counts
from sottovoce.counts.transactions import Narrowed, Transactions
from sottovoce.errors import SottovoceError, Words
from sottovoce.mining.itemsets.candidates import MOST_AT_ONCE, Family, Level, Numbers, slices, together
from sottovoce.mining.itemsets.reconstruct import Reconstruction, Sums
from sottovoce.mining.itemsets.selection import GROWING, GROWING_SMOOTHED, Mask, Search, chances, judged, surest
from sottovoce.mining.itemsets.smoothing import Smoothed, smoothed

MOST_SURVIVORS = 2**22
"""Survivors of one length, beyond which the search is given up: memory would be next."""

MOST_GROWN = 1000
"""Sets that are grown beside three times those that are reported, the surest first."""
FAR = 4.0
"""Standard errors below the threshold that rule a pair out."""

NEAR = 0.55
"""Part of the threshold that so many standard errors of the sample may be."""

WORTHWHILE = 3
"""A sample is drawn where so many times its size is at hand."""
MOST_PAIRED = 4096
"""Items whose pairs are counted as one table; of more, in parts."""


@dataclass(frozen=True, eq=False)
class Survivors:
    """Sets of one length that survived, and the sums that the next length is made of.

    `reported` are those that are found; the others may have been lost to noise, and are looked at with what they
    grow into. `smooth` are their supports for the length above to be smoothed by.
    """

    family: Family
    sums: Sums
    support: Array
    standard_error: Array
    reported: Mask
    probability: Array | None = None
    smooth: Smoothed | None = None

    def level(self, names: Numbers) -> Level:
        """Those reported, under the numbers that the items had at first."""
        found = Level(names[self.family.items], self.support, self.standard_error, self.probability)
        return found.chosen(self.reported)

    def numbered_anew(self, used: Numbers) -> "Survivors":
        """Single items that are used, with numbers from 0."""
        return Survivors(
            Family.of_singles(len(used)),
            self.sums[:, used],
            self.support[used],
            self.standard_error[used],
            self.reported[used],
        )

    def chosen(self, kept: Mask) -> "Survivors":
        """Those that are kept."""
        return Survivors(
            self.family.chosen(kept),
            self.sums[:, kept],
            self.support[kept],
            self.standard_error[kept],
            self.reported[kept],
            None if self.probability is None else self.probability[kept],
            None if self.smooth is None else self.smooth.chosen(kept),
        )


def near_enough(
    family: Family, sums: Sums, how: Reconstruction, search: Search, rows: int, *, whole: bool = False
) -> Survivors:
    """Sets whose estimate is near enough to the threshold, or above it; all where the whole length is looked at."""
    first, second = (moment / rows for moment in how.moments(sums))
    error = search.standard_error(first, second, rows)
    found = Survivors(family, sums, first, error, np.ones(len(family), bool))
    return found if whole else found.chosen(search.near(first, error))


def gathered(parts: Sequence[Survivors], below: Sums, length: int) -> Survivors:
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
        np.ones(total, bool),
    )


def decided(found: Survivors, below: Survivors | None, how: Reconstruction, search: Search, rows: int) -> Survivors:
    """Which are reported, and which only grown: those all of whose subsets are, while few are expected to be false."""
    if search.false_positives is None:
        return found
    smooth = None
    if how.coin is not None and below is not None and below.smooth is not None:
        sums, without = found.sums[0].astype(float), found.family.without
        smooth = smoothed(sums, without, below.smooth, how.coin, search, rows)
    by_itself = judged(found.support, found.standard_error, search.min_support).deviations
    deviations = by_itself if smooth is None else smooth.deviations
    possible = np.ones(len(deviations), bool) if below is None else below.reported[found.family.without].all(axis=1)
    reported = surest(np.where(possible, deviations, -np.inf), search.false_positives)
    near = search.near(found.support, found.standard_error) if smooth is None else deviations >= -GROWING_SMOOTHED
    grown = reported | near & (_ranks(deviations) < MOST_GROWN + 3 * reported.sum())
    if smooth is None and how.coin is not None and found.family.length > 1:
        smooth = _by_itself(found, search)
    probability = None if deviations is by_itself else chances(deviations)
    whole = Survivors(found.family, found.sums, found.support, found.standard_error, reported, probability, smooth)
    return whole.chosen(grown)


def _by_itself(found: Survivors, search: Search) -> Smoothed:
    """Sets as they are, for the length above to be smoothed by; their spread is that of those near the threshold."""
    support, error = found.support / search.min_support, found.standard_error / search.min_support
    nearest = np.argsort(np.abs(support - 1))[: max(1, len(support) // 4)]
    spread = float(np.median(error[nearest])) if len(error) else 0.0
    return Smoothed(support, spread, np.ones(1), 1 - GROWING * spread)


def _ranks(deviations: Array) -> Numbers:
    ranks = np.empty(len(deviations), np.int64)
    ranks[np.argsort(-deviations, kind="stable")] = np.arange(len(deviations))
    return ranks


def promising_pairs(
    source: Transactions, chosen: Numbers, sums: Sums, how: Reconstruction, least: tuple[float, float]
) -> Numbers | None:
    """Pairs of the chosen items, by their places among them, that a sample does not rule out; None without one.

    `sums` are those of the chosen items alone, and `least` is the threshold with the standard errors below it that
    are allowed.
    """
    if how.held_square is None or len(chosen) < 2:
        return None
    threshold, deviations = least
    rows, squares = source.rows(), how.moments(sums)[1] / source.rows()
    held = np.broadcast_to(how.held_square, len(chosen))
    spread = float(held.mean() ** 2 * threshold + squares.mean() ** 2)
    size = int(spread * (FAR / (NEAR * threshold)) ** 2) + 1
    sample = source.sample(size) if WORTHWHILE * size <= rows else None
    if sample is None:
        return None
    absent, present = (np.broadcast_to(own, len(chosen)) for own in how.line)
    singles = size * absent / 2 + present * sample.singles()[chosen]
    table, every, found = sample.narrowed(chosen).pairs(), np.arange(len(chosen)), []
    for first, last in slices(np.full(len(chosen), len(chosen))):
        part = slice(first, last), None
        # The sum of (a_i + b_i y_i) (a_j + b_j y_j): either of the singles brings half of a_i a_j.
        estimate = present[part] * present * table[first:last] + absent[part] * singles + singles[part] * absent
        variance = (held * threshold)[part] * held + squares[part] * squares
        enough = threshold - np.sqrt(variance) * (deviations / np.sqrt(rows) + FAR / np.sqrt(size))
        one, two = np.nonzero((estimate >= size * enough) & (every[part] < every))
        found.append(np.column_stack([every[first:last][one], two]))
    return np.concatenate(found)


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
