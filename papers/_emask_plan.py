"""EMASK's coins as a plan, and how long mining under them takes."""

from time import process_time

import numpy as np
from numpy.typing import NDArray

from papers._repeated import frequent
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.emask import Emask
from sottovoce.tables.bitsets import Csr

Coins = tuple[float, float]
"""p and q: what keeps a one, and a zero."""


def plan_of(items: ItemSet, p: float, q: float) -> Plan:
    """Every item under the same coin."""
    return Plan.of(Schema([items]), {items.name: Emask(p=p, q=q)})


def mining_seconds(
    items: ItemSet, transactions: Csr, reports: Csr, coins: Coins, min_support: float, turns: int
) -> NDArray[np.float64]:
    """Processor time of mining a disguise and the original, both by our own miner from sparse rows: a row each turn.

    Time on the clock would tell of what else a machine does. The first turn of each warms up, and is left out.
    """
    times = []
    for _ in range(turns + 1):
        pair = []
        for rows, p_and_q in ((reports, coins), (transactions, (1, 1))):
            plan, started = plan_of(items, *p_and_q), process_time()
            frequent(rows, plan, min_support)
            pair.append(process_time() - started)
        times.append(pair)
    return np.array(times[1:])
