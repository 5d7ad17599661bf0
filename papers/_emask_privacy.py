"""Basic and reinterrogation privacy that the thesis gives beside its tables."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from papers.rerun import Row, compared
from sottovoce.disguise.transactions import disguise_transactions
from sottovoce.measure.items import basic_privacy, reinterrogation_privacy
from sottovoce.mine.itemsets import Itemsets
from sottovoce.plan.plan import Plan
from sottovoce.table.bitsets import Bitsets, Csr

LOOKED_AT = 30_000
"""Transactions drawn for reinterrogation privacy."""


@dataclass(frozen=True)
class Printed:
    """Average support that the thesis takes, both privacies in %, and the threshold of the sets the miner knows."""

    support: float
    basic: float
    reinterrogation: float
    known_support: float


def privacy_rows(
    name: str, printed: Printed, coins: tuple[float, float], plan: Plan, once: Csr, known: Itemsets, seed: int
) -> list[Row]:
    """Both privacies; items in no known set keep the basic one."""
    basic = basic_privacy(*coins, printed.support)
    used = np.unique(np.concatenate([level.items.ravel() for level in known.levels]))
    reports = disguise_transactions(once, plan, rng=seed)
    drawn = np.sort(np.random.default_rng(seed).permutation(len(once[0]) - 1)[:LOOKED_AT])
    size = len(known.labels)
    truths, seen = (_table(csr, size, drawn, used) for csr in (once, reports))
    sets = [np.searchsorted(used, row).tolist() for level in known.levels for row in level.items]
    share = truths.sum() / np.diff(once[0])[drawn].sum()
    reached = share * reinterrogation_privacy(truths, seen, sets, basic) + (1 - share) * basic
    return [
        compared(f"{name} basic privacy", printed.basic, 100 * basic, tolerance=0.05),
        compared(f"{name} reinterrogation privacy", printed.reinterrogation, 100 * float(reached), tolerance=1),
    ]


def _table(csr: Csr, items: int, rows: NDArray[np.int64], used: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Chosen transactions and items, as bits."""
    return np.asarray(Bitsets.from_csr(*csr, items=items).to_matrix()[rows][:, used])
