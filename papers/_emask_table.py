"""Shared by EMASK's Tables 3.2 to 3.7: the data under the thesis' coins, mined again and again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from papers._emask_privacy import Printed, privacy_rows
from papers._repeated import error_rows, frequent, repeated
from papers.rerun import Progress, Rerun, Row, Verdict
from sottovoce.disguise.transactions import disguise_transactions
from sottovoce.measure.itemset_error import support_error
from sottovoce.mine.itemsets import Itemsets
from sottovoce.plan.plan import Plan
from sottovoce.schema.item_set import ItemSet
from sottovoce.schema.schema import Schema
from sottovoce.scheme.emask import Emask
from sottovoce.table.bitsets import Csr

SOURCE = "S. Agrawal (2004), thesis, Indian Institute of Science, Table {}"

DISGUISES = 200

FAR = 8
"""Standard errors below the threshold at which an item cannot pass: it is left out of the disguises."""


BELOW = (
    "Reinterrogation privacy by the definition in 2.2 is about five points below the printed one on both sets of "
    "clicks, and it was not found out why. It falls with the number of sets the miner knows: on BMS-WebView-1 it is "
    "69.5 % for those of .3 %, 72.3 % for those of .5 %."
)


@dataclass(frozen=True)
class Table:
    """Data so many times over, coins, threshold, and what the thesis prints: |F|, sigma+, sigma-, rho by length."""

    name: str
    data: Callable[[], tuple[ItemSet, Csr]]
    times: int
    coins: tuple[float, float]
    min_support: float
    printed: Sequence[tuple[int, float, float, float]]
    quick: int
    privacy: Printed | None = None

    def rerun(self, *, quick: bool, seed: int, progress: Progress) -> Rerun:
        """Counts of the original, errors of many disguises."""
        disguises = self.quick if quick else DISGUISES
        items, once = self.data()
        truth = self.truth(items, once)
        rows = [self._count(truth, place) for place in range(len(self.printed))]
        if self.privacy is not None:
            known = frequent(once, plan_of(items, 1, 1), self.privacy.known_support)
            plan = plan_of(items, *self.coins)
            rows += privacy_rows(self.name, self.privacy, self.coins, plan, once, known, seed)
        chosen, narrowed = self._near(items, once)
        errors = repeated(self._miner(chosen, narrowed), truth, range(seed, seed + disguises), progress)
        found, notes = error_rows(self.title, [numbers[1:] for numbers in self.printed], errors)
        settings = {
            **self.settings,
            "transactions": self.times * (len(once[0]) - 1),
            "disguises": disguises,
            "seed": seed,
        }
        notes += [] if self.privacy is None else [BELOW]
        return Rerun({**settings, "items near or above the threshold": len(chosen.items)}, [*rows, *found], notes)

    def truth(self, items: ItemSet, once: Csr) -> Itemsets:
        """Frequent itemsets of the original."""
        return frequent(once, plan_of(items, 1, 1), self.min_support)

    def mine(self, items: ItemSet, once: Csr, seed: int) -> Itemsets:
        """Disguise once and mine."""
        return self._miner(*self._near(items, once))(seed)

    def _miner(self, items: ItemSet, once: Csr) -> Callable[[int], Itemsets]:
        many, plan = repeat(once, self.times), plan_of(items, *self.coins)

        def mine(seed: int) -> Itemsets:
            reports = disguise_transactions(many, plan, rng=seed, kind="bitsets")
            return frequent(reports, plan, self.min_support)

        return mine

    @property
    def title(self) -> str:
        """Name and threshold, as in BMS-WebView-1 .3 %."""
        return f"{self.name} {100 * self.min_support:.1f} %".replace(" 0.", " .")

    def _count(self, truth: Itemsets, place: int) -> Row:
        ours, printed = truth.by_length.get(place + 1, 0), self.printed[place][0]
        verdict: Verdict = "reproduced" if ours == printed else "differs"
        return Row(f"{self.title} length {place + 1}", printed, ours, verdict)

    def _near(self, items: ItemSet, csr: Csr) -> tuple[ItemSet, Csr]:
        """Items that could pass, and the transactions without the others: coins are thrown for each item alone."""
        indptr, indices = csr
        rows, s = len(indptr) - 1, self.min_support
        error = s * float(support_error(*self.coins, [1 - s, s], rows * self.times))
        kept = np.bincount(indices, minlength=len(items.items)) / rows >= s - FAR * error
        number = np.cumsum(kept) - 1
        held = np.concatenate([[0], np.cumsum(kept[indices])])[indptr]
        labels = [label for label, near in zip(items.items, kept, strict=True) if near]
        return ItemSet(items.name, labels), (held, number[indices[kept[indices]]].astype(np.int32))

    @property
    def settings(self) -> dict[str, object]:
        """What the thesis chose."""
        return {"p": self.coins[0], "q": self.coins[1], "min_support": self.min_support, "range": "99 %, all numbers"}


def repeat(csr: Csr, times: int) -> Csr:
    """The same transactions so many times."""
    indptr, indices = csr
    ends = [indptr[1:] + time * indptr[-1] for time in range(times)]
    return np.concatenate([indptr[:1], *ends]), np.tile(indices, times)


def plan_of(items: ItemSet, p: float, q: float) -> Plan:
    """Every item under the same coin."""
    return Plan.of(Schema([items]), {items.name: Emask(p=p, q=q)})
