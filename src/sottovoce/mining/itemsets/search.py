"""Levelwise search on reconstructed supports: the survivors of one length are joined to the candidates of the next.

Under a disguise nearly all pairs of items are reported together somewhere, so that all pairs must be counted. With
many reports, a random sample of n of them decides first: a pair is left out if its estimate from the sample is 4
standard errors below what would survive, the standard error being that of a pair exactly at the threshold. A frequent
pair is lost with a probability of about 3.2e-5, by the normal approximation and with other items taken as independent.
Undisguised data are never sampled.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.checks import Array
from sottovoce.counts.protocol import Counts
from sottovoce.counts.transactions import Narrowed, Transactions
from sottovoce.errors import SottovoceError, Words
from sottovoce.mining.itemsets.reconstruct import Reconstruction, Sums
from sottovoce.mining.itemsets.selection import (
    Candidates,
    Indices,
    Level,
    Mask,
    Search,
    batches,
    posterior,
    probability_frequent,
    select_probable,
)
from sottovoce.mining.itemsets.smoothing import Smoothed, smooth_supports


@dataclass(frozen=True, eq=False)
class Survivors:
    """Candidates of one length that are reported or extended, with the sums that the next length is made of.

    Those not `reported` may be frequent in spite of a low estimate, and are kept only to be extended. `smoothed` are
    the supports that the next length is smoothed by.
    """

    candidates: Candidates
    sums: Sums
    support: Array
    standard_error: Array
    reported: Mask
    probability: Array | None = None
    smoothed: Smoothed | None = None

    @classmethod
    def concatenate(cls, parts: Sequence["Survivors"], below: Sums, length: int, most: int) -> "Survivors":
        """Return the survivors of all parts; none where there were no candidates."""
        total = sum(len(part.candidates) for part in parts)
        if total > most:
            rule = f"must be higher: more than {most} sets of one length survive"
            raise SottovoceError("min_support", rule, Words(f"one that leaves {total}"))
        nothing = np.zeros((len(below), 0, length + 1), below.dtype)
        return cls(
            Candidates.concatenate([part.candidates for part in parts], length),
            np.concatenate([nothing, *(part.sums for part in parts)], axis=1),
            np.concatenate([np.zeros(0), *(part.support for part in parts)]),
            np.concatenate([np.zeros(0), *(part.standard_error for part in parts)]),
            np.ones(total, bool),
        )

    def level(self, items: Indices) -> Level:
        """Return the reported sets, with the original index of each item."""
        everything = Level(items[self.candidates.items], self.support, self.standard_error, self.probability)
        return everything.select(self.reported)

    def renumber(self, used: Indices) -> "Survivors":
        """Return some of the single items, numbered from 0."""
        return Survivors(
            Candidates.single_items(len(used)),
            self.sums[:, used],
            self.support[used],
            self.standard_error[used],
            self.reported[used],
        )

    def select(self, kept: Mask) -> "Survivors":
        """Return the sets of a mask."""
        return Survivors(
            self.candidates.select(kept),
            self.sums[:, kept],
            self.support[kept],
            self.standard_error[kept],
            self.reported[kept],
            None if self.probability is None else self.probability[kept],
            None if self.smoothed is None else self.smoothed.select(kept),
        )


def mine_levels(sources: Sequence[Transactions], how: Reconstruction, search: Search) -> list[Level]:
    """Return the reported sets of each length, from one source of reports or several; none if no item survives."""
    levels = [survivors.level(items) for survivors, items in search_levels(sources, how, search)]
    return [level for level in levels if len(level.items)]


def search_levels(
    sources: Sequence[Transactions], how: Reconstruction, search: Search
) -> Iterator[tuple[Survivors, Indices]]:
    """Yield the survivors of each length, reported or not, with the original indices of their items."""
    counts = np.stack([source.singles() for source in sources])
    rows = np.array([source.rows() for source in sources])
    total, tuning = int(rows.sum()), search.tuning
    if not counts.any():
        raise SottovoceError("transactions", "must hold items", Words(f"{total} empty ones"))
    search.report_progress(1, counts.shape[1], counts.shape[1])
    search.searched.clear()
    search.searched[1] = counts.shape[1]
    singles = Candidates.single_items(counts.shape[1])
    estimated = _estimate(singles, how.single_item_sums(counts, rows), how, search, total)
    survivors = split_reported(estimated, None, how, search, total)
    yield survivors, np.arange(counts.shape[1])
    items = survivors.candidates.items[:, 0]
    pairs_of_items = len(items) * (len(items) - 1) // 2
    how, survivors = how.select(items), survivors.renumber(np.arange(len(items)))
    pairs = promising_pairs(sources[0], items, survivors.sums, how, search) if len(sources) == 1 else None
    if pairs is not None:
        used = np.unique(pairs)
        items, how, survivors = items[used], how.select(used), survivors.renumber(used)
        pairs = np.searchsorted(used, pairs)
    narrowed = [source.narrowed(items) for source in sources]
    longest = min(search.longest, how.longest)
    while len(survivors.candidates) > survivors.candidates.length < longest and survivors.reported.any():
        shorter, parts, done = survivors.candidates, [], 0
        most = shorter.most_extensions if pairs is None or shorter.length > 1 else len(pairs)
        search.report_progress(shorter.length + 1, 0, most)
        # Smoothing needs all candidates of a length at once.
        below = survivors if most <= tuning.candidates_at_once else replace(survivors, smoothed=None)
        for candidates in _extend(shorter, pairs, tuning.candidates_at_once):
            sums = how.extend_sums(survivors.sums, candidates, _count(narrowed, candidates, tuning.pair_table_items))
            parts.append(_estimate(candidates, sums, how, search, total, keep_all=below.smoothed is not None))
            done += len(candidates)
            search.report_progress(shorter.length + 1, done, most)
        search.report_progress(shorter.length + 1, most, most)
        # A random sample of the reports estimated all pairs, those that it left out as well.
        search.searched[shorter.length + 1] = pairs_of_items if shorter.length == 1 else done
        estimated = Survivors.concatenate(parts, survivors.sums, shorter.length + 1, tuning.most_survivors)
        survivors = split_reported(estimated, below, how, search, total)
        yield survivors, items


def estimate_levels(
    sources: Sequence[Transactions], how: Reconstruction, search: Search, levels: Sequence[Level]
) -> list[Level]:
    """Estimate the sets of some levels, whose subsets are all among them, without selecting any."""
    if not levels:
        return []
    counts = np.stack([source.singles() for source in sources])
    rows = np.array([source.rows() for source in sources])
    items = levels[0].items[:, 0]
    sums = how.single_item_sums(counts, rows)[:, items]
    how, narrowed = how.select(items), [source.narrowed(items) for source in sources]
    candidates, found = Candidates.single_items(len(items)), []
    for level in levels:
        if level.items.shape[1] > 1:
            candidates = _candidates(np.searchsorted(items, level.items), candidates)
            sums = how.extend_sums(sums, candidates, _count(narrowed, candidates, search.tuning.pair_table_items))
        estimated = _estimate(candidates, sums, how, search, int(rows.sum()), keep_all=True)
        found.append(Level(level.items, estimated.support, estimated.standard_error))
    return found


def _candidates(items: Indices, shorter: Candidates) -> Candidates:
    """Return sets with the rows of their subsets among the sets of one item less."""
    row = {each: number for number, each in enumerate(map(tuple, shorter.items.tolist()))}
    subsets = [[row[*each[:at], *each[at + 1 :]] for at in range(len(each))] for each in items.tolist()]
    return Candidates(items, np.array(subsets))


def split_reported(
    estimated: Survivors, below: Survivors | None, how: Reconstruction, search: Search, rows: int
) -> Survivors:
    """Split candidates into those reported and those kept only to be extended; drop the others.

    A set is reported only if all of its subsets are, and while few false ones are expected.
    """
    if search.selection != "smoothed":
        return estimated
    candidates, tuning, smoothed = estimated.candidates, search.tuning, None
    if how.coin is not None and below is not None and below.smoothed is not None:
        sums = estimated.sums[0].astype(float)
        smoothed = smooth_supports(sums, candidates.subsets, below.smoothed, how.coin, search, rows)
    if smoothed is None:
        alone = posterior(estimated.support, estimated.standard_error, search.min_support, tuning)
        deviations, probability = alone.deviations, None
        near = search.near_threshold(estimated.support, estimated.standard_error)
        if how.coin is not None and candidates.length > 1:
            smoothed = _unsmoothed(estimated, search)
    else:
        deviations, probability = smoothed.deviations, probability_frequent(smoothed.deviations, tuning)
        near = deviations >= -tuning.extend_within_smoothed
    possible = np.ones(len(deviations), bool) if below is None else below.reported[candidates.subsets].all(axis=1)
    reported = select_probable(np.where(possible, deviations, -np.inf), tuning)
    extended = reported | near & (_ranks(deviations) < tuning.most_extended + 3 * reported.sum())
    return replace(estimated, reported=reported, probability=probability, smoothed=smoothed).select(extended)


def promising_pairs(
    source: Transactions, items: Indices, sums: Sums, how: Reconstruction, search: Search
) -> Indices | None:
    """Return the pairs of the given items, by position, that a random sample does not rule out; None if not sampled.

    `sums` are those of the given items alone.
    """
    if how.held_square is None or len(items) < 2:
        return None
    threshold, tuning = search.min_support, search.tuning
    rows, squares = source.rows(), how.moments(sums)[1] / source.rows()
    held = np.broadcast_to(how.held_square, len(items))
    variance_at_threshold = float(held.mean() ** 2 * threshold + squares.mean() ** 2)
    size = int(variance_at_threshold * (tuning.sample_deviations / (tuning.sample_precision * threshold)) ** 2) + 1
    sample = source.sample(size) if tuning.sample_saving * size <= rows else None
    if sample is None:
        return None
    absent, present = (np.broadcast_to(score, len(items)) for score in how.single_item_scores)
    singles = size * absent / 2 + present * sample.singles()[items]
    table, every, kept = sample.narrowed(items).pairs(), np.arange(len(items)), []
    deviations = search.deviations / np.sqrt(rows) + tuning.sample_deviations / np.sqrt(size)
    for first, last in batches(np.full(len(items), len(items)), tuning.candidates_at_once):
        part = slice(first, last), None
        # The sum of (a_i + b_i y_i) (a_j + b_j y_j): each of the two single items contributes half of a_i a_j.
        estimate = present[part] * present * table[first:last] + absent[part] * singles + singles[part] * absent
        variance = (held * threshold)[part] * held + squares[part] * squares
        enough = threshold - np.sqrt(variance) * deviations
        one, two = np.nonzero((estimate >= size * enough) & (every[part] < every))
        kept.append(np.column_stack([every[first:last][one], two]))
    return np.concatenate(kept)


def _estimate(
    candidates: Candidates, sums: Sums, how: Reconstruction, search: Search, rows: int, *, keep_all: bool = False
) -> Survivors:
    """Estimate supports and standard errors; keep only candidates near the threshold unless all are wanted."""
    first, second = (moment / rows for moment in how.moments(sums))
    error = search.standard_error(first, second, rows)
    estimated = Survivors(candidates, sums, first, error, np.ones(len(candidates), bool))
    return estimated if keep_all else estimated.select(search.near_threshold(first, error))


def _unsmoothed(estimated: Survivors, search: Search) -> Smoothed:
    """Return the supports as they are, with the standard deviation of those near the threshold."""
    support, error = estimated.support / search.min_support, estimated.standard_error / search.min_support
    nearest = np.argsort(np.abs(support - 1))[: max(1, len(support) // 4)]
    deviation = float(np.median(error[nearest])) if len(error) else 0.0
    return Smoothed(support, deviation, np.ones(1), 1 - search.tuning.extend_within * deviation)


def _ranks(deviations: Array) -> Indices:
    ranks = np.empty(len(deviations), np.int64)
    ranks[np.argsort(-deviations, kind="stable")] = np.arange(len(deviations))
    return ranks


def _extend(candidates: Candidates, pairs: Indices | None, at_once: int) -> Iterator[Candidates]:
    """Yield sets of one more item; of two items, the promising pairs where they are known."""
    if candidates.length == 1 and pairs is not None:
        return iter([Candidates(pairs, pairs[:, ::-1])])
    return candidates.extend(at_once)


def _count(narrowed: Sequence[Narrowed], candidates: Candidates, pair_table_items: int) -> Counts:
    """Count each set in each source; pairs in one table if most of them are wanted and the table is small enough."""
    items = int(candidates.items.max()) + 1
    if candidates.length > 2 or items > pair_table_items or 4 * len(candidates) < items**2 // 2:
        return np.stack([each.all_ones(candidates.items) for each in narrowed])
    first, second = candidates.items.T
    return np.stack([each.pairs()[first, second] for each in narrowed])
