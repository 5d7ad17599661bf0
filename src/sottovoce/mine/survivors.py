"""Sets of one length on their way to the next: those that are reported, and others near enough to be grown."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.mine.candidates import Family, Numbers, together
from sottovoce.mine.level import Level
from sottovoce.mine.reconstruction import Reconstruction, Sums
from sottovoce.mine.significance import chances, judged
from sottovoce.mine.smoothing import Smoothed, smoothed
from sottovoce.mine.survival import GROWING, GROWING_SMOOTHED, Mask, Search, surest

MOST_SURVIVORS = 2**22
"""Survivors of one length, beyond which the search is given up: memory would be next."""

MOST_GROWN = 1000
"""Sets that are grown beside three times those that are reported, the surest first."""


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
