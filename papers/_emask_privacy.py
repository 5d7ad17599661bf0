"""Basic and reinterrogation privacy that the thesis gives beside its tables, by every reading of section 2.2."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from papers._emask_plan import Coins, plan_of
from papers.comparison import Printed, Row, compare, compare_draw
from sottovoce.datasets.published import chosen_items
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.measures.item_privacy import basic_privacy, reinterrogation_privacy
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.bitsets import Bitsets, Csr

DISGUISES, QUICK = 10, 2
"""Of which the privacies are measured: they hardly vary."""

AT_ONCE = 64
"""Sets whose bits are unpacked together."""


@dataclass(frozen=True)
class Reading:
    """One reading of section 2.2: which known sets breach a one, by how much, and over what privacies are averaged.

    A one that is reported and that no set reaches keeps `floor`: the basic privacy of the average support, that of its
    own item, or the average of the items' own ones. A one that is reported as zero keeps the average.
    """

    words: str
    where: Literal["report", "original", "both"] = "report"
    sizes: tuple[float, float] = (1, inf)
    breach: Literal["worst", "mean"] = "worst"
    average: Literal["ones", "items"] = "ones"
    floor: Literal["average support", "own item", "average of items"] = "average support"


READINGS = (
    Reading("as its words are: the worst breach of the sets in the report"),
    Reading("sets in the original transaction, as in its example", where="original"),
    Reading("sets in both", where="both"),
    Reading("sets of two items and more", sizes=(2, inf)),
    Reading("sets of two items and more in the original transaction", where="original", sizes=(2, inf)),
    Reading(
        "sets of two items and more, a one that none reaches keeping its own item's basic privacy",
        sizes=(2, inf),
        floor="own item",
    ),
    Reading("single items", sizes=(1, 1)),
    Reading("the mean breach instead of the worst", breach="mean"),
    Reading("averaged over frequent items instead of ones", average="items"),
    Reading("averaged over frequent items, sets in the original transaction", where="original", average="items"),
    Reading("with the average of the items' own basic privacies", floor="average of items"),
)
"""The first is the one that is followed."""

NOTE = (
    "Reinterrogation privacy is computed by each reading of section 2.2 that was thought of, from the same disguises; "
    "the thesis has one disguise, so that a row asks whether its number could be another one of ours."
)


@dataclass(frozen=True)
class Privacies:
    """Average support that the thesis takes, both privacies in % as printed, and the threshold of the known sets."""

    support: float
    basic: str
    reinterrogation: str
    known_support: float

    def basic_row(self, name: str, coins: Coins) -> Row:
        """Row of the basic privacy, which is a formula."""
        return compare(f"{name} basic privacy", Printed(self.basic), 100 * basic_privacy(*coins, self.support))

    def rows(self, name: str, by_disguise: Sequence[Sequence[float]]) -> list[Row]:
        """Row of the reinterrogation privacy by each reading, from as many disguises."""
        printed, found = Printed(self.reinterrogation), np.array(by_disguise)
        return [
            compare_draw(
                f"{name} reinterrogation privacy, {reading.words}", printed, found[:, place], numbers=len(READINGS)
            )
            for place, reading in enumerate(READINGS)
        ]


@dataclass(frozen=True)
class Disguise:
    """The frequent items of one disguise beside the truth; the other items, which nothing breaches, need no coins."""

    truths: Bitsets
    reports: Bitsets
    sets: list[list[int]]
    coins: Coins
    average_support: float
    ones: int
    average_basic: float
    """True ones of all items, and the average of the basic privacies of all items."""

    @classmethod
    def of(
        cls, items: ItemSet, transactions: Csr, known: Itemsets, coins: Coins, average_support: float, seed: int
    ) -> "Disguise":
        """Disguise the items that are in a known set."""
        frequent = np.isin(np.arange(len(items.items)), known.levels[0].items)
        numbers = np.cumsum(frequent) - 1
        sets = [members for level in known.levels for members in numbers[level.items].tolist()]
        chosen, rows = chosen_items(items, transactions, frequent)
        reports: Any = disguise_transactions(rows, plan_of(chosen, *coins), rng=seed, kind="bitsets")
        truths = Bitsets.from_csr(*rows, len(chosen.items))
        supports = np.bincount(transactions[1], minlength=len(items.items)) / (len(transactions[0]) - 1)
        average = basic_privacy(*coins, supports)
        return cls(truths, reports, sets, coins, average_support, len(transactions[1]), average)

    @property
    def basic(self) -> float:
        """Basic privacy of the average support."""
        return basic_privacy(*self.coins, self.average_support)

    def reinterrogation(self) -> float:
        """Privacy in % by the first reading, as the library has it."""
        left = reinterrogation_privacy(self.truths, self.reports, self.sets, self.basic)
        share = int(np.bitwise_count(self.truths.words).sum()) / self.ones
        return 100 * (share * left + (1 - share) * self.basic)

    def by_reading(self) -> list[float]:
        """Privacy in % by each reading."""
        counts = np.array([_column(self.truths, item).sum() for item in range(self.truths.items)])
        own = [basic_privacy(*self.coins, count / self.truths.count) for count in counts]
        kept = np.zeros((len(READINGS), len(counts)))
        for item, sent, sets in self._breaches():  # every frequent item is a set of its own
            for place, reading in enumerate(READINGS):
                average = self._average(reading)
                floor = own[item] if reading.floor == "own item" else average
                kept[place, item] = _kept(reading, sent, sets, floor) + (counts[item] - sent) * average
        rest = self.ones - counts.sum()
        totals = []
        for reading, privacies in zip(READINGS, kept, strict=True):
            by_ones = (privacies.sum() + rest * self._average(reading)) / self.ones
            totals.append(100 * float(by_ones if reading.average == "ones" else (privacies / counts).mean()))
        return totals

    def _average(self, reading: Reading) -> float:
        """Basic privacy of what is not reported as one."""
        return self.average_basic if reading.floor == "average of items" else self.basic

    def _breaches(self) -> Iterator[tuple[int, int, list["Breach"]]]:
        """Each item with the number of its true ones that are reported, and the sets that may breach these."""
        by_item: dict[int, list[list[int]]] = {}
        for members in self.sets:
            for item in members:
                by_item.setdefault(item, []).append(members)
        for item, sets in by_item.items():
            true, sent = _column(self.truths, item), _column(self.reports, item)
            reported, kept = np.flatnonzero(sent), np.flatnonzero(true & sent)
            packed = {}
            for each in {each for members in sets for each in members}:
                report, truth = _column(self.reports, each), _column(self.truths, each)
                packed[each] = np.packbits(report[reported]), np.packbits(report[kept]), np.packbits(truth[kept])
            yield item, len(kept), [Breach.of([packed[each] for each in members]) for members in sets]


@dataclass(frozen=True, eq=False)
class Breach:
    """A known set: its size, the share of true ones where it is reported, and which reported true ones it reaches."""

    size: int
    share: float
    reached: dict[str, NDArray[np.uint8]]

    @classmethod
    def of(cls, columns: Sequence[tuple[NDArray[np.uint8], ...]]) -> "Breach":
        """From packed columns of its items: reports where an item is reported, reports and truths where rightly so."""
        anywhere, report, original = (np.bitwise_and.reduce(each) for each in zip(*columns, strict=True))
        share = _ones(report) / max(_ones(anywhere), 1)
        return cls(len(columns), share, {"report": report, "original": original, "both": report & original})


def _kept(reading: Reading, ones: int, sets: Sequence[Breach], floor: float) -> float:
    """Sum of the privacies that the reported true ones of an item keep."""
    low, high = reading.sizes
    chosen = [each for each in sets if low <= each.size <= high]
    if reading.breach == "mean":
        total, times = np.zeros(ones, np.float32), np.zeros(ones, np.float32)
        for start in range(0, len(chosen), AT_ONCE):
            some = chosen[start : start + AT_ONCE]
            bits = np.unpackbits([each.reached[reading.where] for each in some], axis=1, count=ones).astype(np.float32)
            total += np.array([each.share for each in some], np.float32) @ bits
            times += bits.sum(axis=0)
        return float(np.where(times > 0, 1 - total / np.maximum(times, 1), floor).sum(dtype=float))
    left, kept = np.packbits(np.ones(ones, bool)), 0.0
    for each in sorted(chosen, key=lambda each: -each.share):
        reached = each.reached[reading.where]
        kept += _ones(left & reached) * (1 - each.share)
        left = left & ~reached
    return kept + _ones(left) * floor


def _ones(packed: NDArray[np.uint8]) -> int:
    return int(np.bitwise_count(packed).sum())


def _column(sets: Bitsets, item: int) -> NDArray[np.bool_]:
    """Whether each record contains the item."""
    words = np.ascontiguousarray(sets.words[:, item]).astype("<u8", copy=False)
    return np.unpackbits(words.view(np.uint8).ravel(), count=sets.count, bitorder="little").view(bool)
