"""EMASK, Figure 3.1: what MASK costs in running time, over the support."""

from time import perf_counter
from typing import Any

from papers import _emask_table
from papers._emask_table import plan_of
from papers._repeated import frequent
from papers.rerun import Progress, Rerun, claimed
from sottovoce.disguise.transactions import disguise_transactions
from sottovoce.plan.plan import Plan
from sottovoce.table.bitsets import Csr
from sottovoce.table.datasets.quest import quest_transactions

TITLE = "running time of MASK and of mining the original, over min_support"
SOURCE = _emask_table.SOURCE.replace("Table", "Figure").format("3.1")

KEEP = 0.9
SUPPORTS = (0.01, 0.0075, 0.005, 0.0035)
BASKETS, QUICK = 1_000_000, 100_000


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Both miners are ours; reports and original are sparse rows."""
    baskets = QUICK if quick else BASKETS
    items, original = quest_transactions(baskets, seed=seed)
    plan, certain = plan_of(items, KEEP, KEEP), plan_of(items, 1, 1)
    reports = disguise_transactions(original, plan, rng=seed)
    frequent(original, certain, max(SUPPORTS))  # what is compiled at the first call is no part of mining
    times = []
    for done, support in enumerate(SUPPORTS, start=1):
        times.append((_seconds(original, certain, support), _seconds(reports, plan, support)))
        progress(done, len(SUPPORTS))
    slowest = max(disguised / plain for plain, disguised in times)
    told = "; ".join(f"{100 * s:g} %: {d / p:.1f} times" for s, (p, d) in zip(SUPPORTS, times, strict=True))
    claim = "mining the disguise can take two to three orders of magnitude more time"
    rows = [claimed("MASK beside the original", claim, told, holds=slowest >= 100)]
    notes = [
        "The claim is about counting all 2^n combinations of bits in a database that has become dense. Ours counts "
        "all-ones combinations only, on bits, and reconstructs from those: what is left is the density."
    ]
    settings = {"p": KEEP, "transactions": baskets, "reported items of each": len(reports[1]) / baskets, "seed": seed}
    return Rerun(settings, rows, notes, lambda figure: _draw(figure, times))


def _seconds(transactions: Csr, plan: Plan, support: float) -> float:
    started = perf_counter()
    frequent(transactions, plan, support)
    return perf_counter() - started


def _draw(figure: Any, times: list[tuple[float, float]]) -> None:
    axes = figure.subplots()
    for label, seconds in zip(("original", "disguised by MASK"), zip(*times, strict=True), strict=True):
        axes.plot([100 * support for support in SUPPORTS], seconds, marker="o", label=label)
    axes.set(xlabel="min_support (%)", ylabel="seconds", yscale="log")
    axes.legend()
