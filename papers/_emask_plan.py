"""EMASK's coins as a plan, and how long mining under them takes."""

from functools import partial
from time import process_time

from benchmarks.measure import best_seconds
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
    items: ItemSet, transactions: Csr, reports: Csr, coins: Coins, min_support: float, rounds: int
) -> tuple[float, float]:
    """Processor time of mining a disguise and the original, both by our own miner from sparse rows: best of some turns.

    Time on the clock would tell of what else a machine does.
    """
    calls = [
        partial(frequent, rows, plan_of(items, *p_and_q), min_support)
        for rows, p_and_q in ((reports, coins), (transactions, (1, 1)))
    ]
    disguised, original = best_seconds(*calls, rounds=rounds, clock=process_time)
    return disguised, original
