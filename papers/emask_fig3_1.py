"""EMASK, Figure 3.1: what MASK costs in running time, over the support."""

from typing import Any

from papers import _thesis
from papers._emask_plan import mining_seconds, plan_of
from papers.comparison import Measured, all_of, claim
from papers.rerun import Progress, Rerun
from sottovoce.datasets.quest import quest_transactions
from sottovoce.disguises.transactions import disguise_transactions

TITLE = "running time of MASK and of mining the original, over min_support"
SOURCE = _thesis.SOURCE.format("Figure 3.1")

KEEP = 0.9
SUPPORTS = (0.01, 0.0075, 0.005, 0.0035)
BASKETS, QUICK, TURNS = 1_000_000, 100_000, 3


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Both miners are ours; reports and original are sparse rows."""
    baskets = QUICK if quick else BASKETS
    items, original = quest_transactions(baskets, seed=seed)
    reports = disguise_transactions(original, plan_of(items, KEEP, KEEP), rng=seed)
    times = []
    for done, support in enumerate(SUPPORTS, start=1):
        times.append(mining_seconds(items, original, reports, (KEEP, KEEP), support, TURNS))
        progress(done, len(SUPPORTS))
    ratios = [Measured.mean_of(seconds[:, 0] / seconds[:, 1]) for seconds in times]
    most = max(ratios, key=lambda ratio: ratio.value)
    ours = "; ".join(f"{100 * support:g} %: {ratio} times" for support, ratio in zip(SUPPORTS, ratios, strict=True))
    words = "mining the disguise can take as much as two to three orders of magnitude more time"
    holds = all_of([most.reaches(100), Measured(1000).reaches(most)])
    rows = [claim("MASK beside the original", words, ours, holds, "read as: the largest ratio is 100 to 1,000")]
    notes = [
        "The claim is about counting all 2^n combinations of bits in a database that has become dense. Ours counts "
        "all-ones combinations only, on bits, and reconstructs from those: what is left is the density."
    ]
    settings = {"p": KEEP, "transactions": baskets, "reported items of each": len(reports[1]) / baskets, "seed": seed}
    means = [tuple(seconds.mean(axis=0).tolist()) for seconds in times]
    return Rerun(settings, rows, notes, lambda figure: _draw(figure, means))


def _draw(figure: Any, times: list[tuple[float, float]]) -> None:
    axes = figure.subplots()
    supports = [100 * support for support in SUPPORTS]
    disguised, original = zip(*times, strict=True)
    claimed_times = [[factor * seconds for seconds in original] for factor in (100, 1000)]
    axes.fill_between(supports, *claimed_times, alpha=0.2, label="two to three orders of magnitude more")
    axes.plot(supports, disguised, marker="s", label="disguised by MASK")
    axes.plot(supports, original, marker="o", label="original")
    axes.set(xlabel="min_support (%)", ylabel="processor seconds", yscale="log")
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
