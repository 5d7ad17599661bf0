"""EMASK, Figure 3.3: privacy, accuracy and running time as estimated beforehand, and as observed."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from papers import _thesis
from papers._emask_plan import mining_seconds, plan_of
from papers._emask_privacy import Disguise
from papers._repeated import frequent
from papers.comparison import Known, Measured, Row, all_of, claim
from papers.rerun import Progress, Rerun
from sottovoce.datasets.quest import quest_transactions
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.measures.item_privacy import basic_privacy
from sottovoce.measures.itemset_error import support_error
from sottovoce.mining.itemsets.evaluation import mining_errors
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.bitsets import Csr

TITLE = "estimated and observed privacy, accuracy and running time at p = .5, over q"
SOURCE = _thesis.SOURCE.format("Figure 3.3")

KEEP, SUPPORT, MIN_SUPPORT = 0.5, 0.01, 0.005
COINS = (0.9, 0.92, 0.94, 0.96, 0.98, 0.99)
BASKETS, QUICK = 1_000_000, 100_000
DISGUISES, QUICK_DISGUISES = 4, 2
READ = "read as: the estimate is off by a smaller share of itself than that of privacy is"


@dataclass(frozen=True)
class Point:
    """One q: estimates and observations, each of privacy and accuracy in %, and of the slowdown."""

    estimated: tuple[float, float, float]
    observed: tuple[Measured, Measured, Measured]

    def gap(self, place: int) -> Measured:
        """Share of an estimate by which the observation is off."""
        estimate, observed = self.estimated[place], self.observed[place]
        return Measured(abs(observed.value / estimate - 1), observed.error / estimate, observed.runs)


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Some disguises for each q."""
    baskets, coins, disguises = (QUICK, COINS[::2], QUICK_DISGUISES) if quick else (BASKETS, COINS, DISGUISES)
    items, original = quest_transactions(baskets, seed=seed)
    truth = frequent(original, plan_of(items, 1, 1), MIN_SUPPORT)
    points = []
    for done, zeros in enumerate(coins, start=1):
        points.append(_point(items, original, truth, zeros, range(seed, seed + disguises)))
        progress(done, len(coins))
    settings = {"p": KEEP, "average support": SUPPORT, "min_support": MIN_SUPPORT, "transactions": baskets}
    notes = [
        "Estimated are basic privacy, the error of a single item of average support, and the density. Observed are "
        "reinterrogation privacy, the mean support error over all lengths, and our own miner's time on the disguise "
        "beside the original.",
        "Our time grows more slowly than the density: what is reported is read once or twice, and sets are counted on "
        "bits, as many of them however dense they are.",
        "Errors at all lengths together are larger than that of a single item, the more so the fewer the transactions.",
    ]
    settings["disguises"] = disguises
    return Rerun({**settings, "seed": seed}, _rows(coins, points), notes, lambda figure: _draw(figure, coins, points))


def _point(items: ItemSet, original: Csr, truth: Itemsets, zeros: float, seeds: Sequence[int]) -> Point:
    plan, rows = plan_of(items, KEEP, zeros), len(original[0]) - 1
    relative = float(support_error(KEEP, zeros, [1 - SUPPORT, SUPPORT], rows, "table")) * np.sqrt(2 / np.pi)
    density = KEEP + (1 - SUPPORT) / SUPPORT * (1 - zeros)
    observed = []
    for seed in seeds:
        reports = disguise_transactions(original, plan, rng=seed)
        found = mining_errors(frequent(reports, plan, MIN_SUPPORT), truth)
        privacy = Disguise.of(items, original, truth, (KEEP, zeros), SUPPORT, seed).reinterrogation()
        seconds = mining_seconds(items, original, reports, (KEEP, zeros), MIN_SUPPORT, turns=1)[0]
        rho = float(np.nanmean([errors.support_error for errors in found]))
        observed.append((privacy, 100 - rho, seconds[0] / seconds[1]))
    privacies, accuracies, slowdowns = (Measured.mean_of(numbers) for numbers in zip(*observed, strict=True))
    estimated = 100 * basic_privacy(KEEP, zeros, SUPPORT), 100 * (1 - relative), density
    return Point(estimated, (privacies, accuracies, slowdowns))


def _rows(coins: tuple[float, ...], points: list[Point]) -> list[Row]:
    """Claims of the text: close for accuracy and time; for privacy the same trend."""
    both = [
        "; ".join(
            f"q = {q}: {each.estimated[k]:.3g} and {each.observed[k]}" for q, each in zip(coins, points, strict=True)
        )
        for k in range(3)
    ]
    steps = [_same_trend(*pair) for pair in pairwise(points)]
    read = "read as: both fall or both rise from each q to the next"
    words = "estimates very close to the observed"
    return [
        claim("privacy", "observed follows the trend of the estimate", both[0], all_of(steps), read),
        *(
            claim(name, words, both[k], all_of(each.gap(k).below(each.gap(0)) for each in points), READ)
            for k, name in ((1, "accuracy"), (2, "running time"))
        ),
    ]


def _same_trend(here: Point, there: Point) -> Known:
    falls = there.observed[0].below(here.observed[0])
    return None if falls is None else falls == (there.estimated[0] < here.estimated[0])


def _draw(figure: Any, coins: tuple[float, ...], points: list[Point]) -> None:
    names = ("privacy (%)", "accuracy (%)", "mining time, in that of the original")
    for place, (panel, name) in enumerate(zip(figure.subplots(1, 3), names, strict=True)):
        panel.plot(coins, [point.estimated[place] for point in points], marker="o", label="estimated")
        panel.plot(coins, [point.observed[place].value for point in points], marker="s", label="observed")
        panel.set(xlabel="q", ylabel=name, xticks=(0.9, 0.94, 0.98))
        panel.grid(visible=True, alpha=0.3)
    panel.set_ylim(bottom=0)
    panel.legend()
