"""Shared by EMASK's Tables 3.2 to 3.7: the data under the thesis' coins, mined again and again."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from papers import _emask_privacy
from papers._emask_plan import Coins, mining_seconds, plan_of
from papers._emask_privacy import Disguise, Privacies
from papers._repeated import error_rows, frequent, repeated
from papers.comparison import Measured, Printed, Row, compare
from papers.rerun import Progress, Rerun
from sottovoce.datasets.published import chosen_items, repeat_baskets
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.measures.itemset_error import support_error
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.bitsets import Csr

DISGUISES = 200

FAR = 8
"""Standard errors below the threshold at which an item cannot pass: it is left out of the disguises."""

TURNS, QUICK_TURNS = 7, 3
"""How often mining is timed."""

TIMED = (
    "Delta is how many times as long as mining the original mining the disguise takes: in the thesis by Apriori, here "
    "by our own miner in processor time, from sparse rows to the result, the mean of several turns."
)


@dataclass(frozen=True)
class Table:
    """Data so many times over, coins, threshold, and what the thesis prints: |F|, sigma+, sigma-, rho by length, Delta.

    `quick` is how many disguises are few enough for a test.
    """

    name: str
    data: Callable[[], tuple[ItemSet, Csr]]
    times: int
    coins: Coins
    min_support: float
    printed: Sequence[tuple[int, float, float, float]]
    delta: str
    quick: int
    privacy: Privacies | None = None

    def rerun(self, *, quick: bool, seed: int, progress: Progress) -> Rerun:
        """Counts of the original, privacy and time of one disguise, errors of many."""
        disguises = self.quick if quick else DISGUISES
        items, once = self.data()
        truth = self.truth(items, once)
        rows = [self._count(truth, place) for place in range(len(self.printed))]
        rows += self.privacies(items, once, seed, quick=quick)
        rows.append(self.timed(items, once, seed, QUICK_TURNS if quick else TURNS))
        chosen, narrowed = self._near(items, once)
        errors = repeated(self._miner(chosen, narrowed), truth, range(seed, seed + disguises), progress)
        rows += error_rows(self.title, [numbers[1:] for numbers in self.printed], errors)
        settings = {
            **self.settings,
            "transactions": self.times * (len(once[0]) - 1),
            "disguises": disguises,
            "seed": seed,
        }
        notes = [TIMED] if self.privacy is None else [TIMED, _emask_privacy.NOTE]
        return Rerun({**settings, "items near or above the threshold": len(chosen.items)}, rows, notes)

    def truth(self, items: ItemSet, once: Csr) -> Itemsets:
        """Frequent itemsets of the original."""
        return frequent(once, plan_of(items, 1, 1), self.min_support)

    def mine(self, items: ItemSet, once: Csr, seed: int) -> Itemsets:
        """Disguise once and mine."""
        return self._miner(*self._near(items, once))(seed)

    def privacies(self, items: ItemSet, once: Csr, seed: int, *, quick: bool) -> list[Row]:
        """Both privacies, where the thesis gives them beside this table, by every reading."""
        if self.privacy is None:
            return []
        disguises = _emask_privacy.QUICK if quick else _emask_privacy.DISGUISES
        made = self.disguises(items, once, range(seed, seed + disguises))
        return [
            self.privacy.basic_row(self.name, self.coins),
            *self.privacy.rows(self.name, [d.by_reading() for d in made]),
        ]

    def disguises(self, items: ItemSet, once: Csr, seeds: Sequence[int]) -> Iterator[Disguise]:
        """Disguises of the items in the sets that the miner knows; nothing where no privacy is printed."""
        if self.privacy is not None:
            known = frequent(once, plan_of(items, 1, 1), self.privacy.known_support)
            many = repeat_baskets(once, self.times)
            for seed in seeds:
                yield Disguise.of(items, many, known, self.coins, self.privacy.support, seed)

    def timed(self, items: ItemSet, once: Csr, seed: int, turns: int) -> Row:
        """Delta, of our miner."""
        many = repeat_baskets(once, self.times)
        reports = disguise_transactions(many, plan_of(items, *self.coins), rng=seed)
        seconds = mining_seconds(items, many, reports, self.coins, self.min_support, turns)
        ours = Measured.mean_of(seconds[:, 0] / seconds[:, 1])
        why = "The thesis extends Apriori; ours is another miner, on another machine."
        return compare(f"{self.title} Delta", Printed(self.delta), ours, why)

    def _miner(self, items: ItemSet, once: Csr) -> Callable[[int], Itemsets]:
        many, plan = repeat_baskets(once, self.times), plan_of(items, *self.coins)

        def mine(seed: int) -> Itemsets:
            reports = disguise_transactions(many, plan, rng=seed, kind="bitsets")
            return frequent(reports, plan, self.min_support)

        return mine

    @property
    def title(self) -> str:
        """Name and threshold, as in BMS-WebView-1 .3 %."""
        return f"{self.name} {100 * self.min_support:.1f} %".replace(" 0.", " .")

    def _count(self, truth: Itemsets, place: int) -> Row:
        printed = Printed(str(self.printed[place][0]))
        return compare(f"{self.title} length {place + 1}", printed, truth.by_length.get(place + 1, 0))

    def _near(self, items: ItemSet, csr: Csr) -> tuple[ItemSet, Csr]:
        """Items that could pass, and the transactions without the others: coins are thrown for each item alone."""
        rows, s = len(csr[0]) - 1, self.min_support
        error = s * float(support_error(*self.coins, [1 - s, s], rows * self.times, "table"))
        return chosen_items(items, csr, np.bincount(csr[1], minlength=len(items.items)) / rows >= s - FAR * error)

    @property
    def settings(self) -> dict[str, object]:
        """What the thesis chose."""
        return {"p": self.coins[0], "q": self.coins[1], "min_support": self.min_support, "range": "99 %, all numbers"}
