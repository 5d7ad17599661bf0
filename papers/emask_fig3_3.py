"""EMASK, Figure 3.3: privacy, accuracy and running time as estimated beforehand, and as observed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from papers import _thesis
from papers._emask_plan import mining_seconds, plan_of
from papers._emask_privacy import reinterrogation
from papers._repeated import frequent
from papers.rerun import Progress, Rerun, Row, claimed
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
BASKETS, QUICK, TURNS = 1_000_000, 100_000, 3


@dataclass(frozen=True)
class Point:
    """One q: estimates and observations, each of privacy and accuracy in %, and of the slowdown."""

    estimated: tuple[float, float, float]
    observed: tuple[float, float, float]


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """One disguise for each q."""
    baskets, coins = (QUICK, COINS[::2]) if quick else (BASKETS, COINS)
    items, original = quest_transactions(baskets, seed=seed)
    truth = frequent(original, plan_of(items, 1, 1), MIN_SUPPORT)
    points = []
    for done, zeros in enumerate(coins, start=1):
        points.append(_point(items, original, truth, zeros, seed))
        progress(done, len(coins))
    settings = {"p": KEEP, "average support": SUPPORT, "min_support": MIN_SUPPORT, "transactions": baskets}
    notes = [
        "Estimated are basic privacy, the error of a single item of average support, and the density. Observed are "
        "reinterrogation privacy, the mean support error over all lengths, and our own miner's time on the disguise "
        "beside the original.",
        "Our time grows with the density, but is a quarter to a half of the estimate: what is reported is read once or "
        "twice, and sets are counted on bits, as many of them however dense they are.",
        "Errors at all lengths together are larger than that of a single item, the more so the fewer the transactions.",
    ]
    return Rerun({**settings, "seed": seed}, _rows(coins, points), notes, lambda figure: _draw(figure, coins, points))


def _point(items: ItemSet, original: Csr, truth: Itemsets, zeros: float, seed: int) -> Point:
    plan, rows = plan_of(items, KEEP, zeros), len(original[0]) - 1
    basic = basic_privacy(KEEP, zeros, SUPPORT)
    relative = float(support_error(KEEP, zeros, [1 - SUPPORT, SUPPORT], rows, "table")) * np.sqrt(2 / np.pi)
    density = KEEP + (1 - SUPPORT) / SUPPORT * (1 - zeros)
    reports = disguise_transactions(original, plan, rng=seed)
    rho = np.nanmean([errors.support_error for errors in mining_errors(frequent(reports, plan, MIN_SUPPORT), truth)])
    reached = reinterrogation(items, original, truth, (KEEP, zeros), SUPPORT, seed)
    disguised, undisguised = mining_seconds(items, original, reports, (KEEP, zeros), MIN_SUPPORT, TURNS)
    observed = reached, 100 - float(rho), disguised / undisguised
    return Point((100 * basic, 100 * (1 - relative), density), observed)


def _rows(coins: tuple[float, ...], points: list[Point]) -> list[Row]:
    """Claims of the text: close for accuracy and time; for privacy the same trend, below the estimate."""
    estimated, observed = (np.array([getattr(point, side) for point in points]) for side in ("estimated", "observed"))
    both = [
        [f"q = {q}: {e[k]:.3g} and {o[k]:.3g}" for q, e, o in zip(coins, estimated, observed, strict=True)]
        for k in range(3)
    ]
    trend = (np.diff(observed[:, 0]) < 0) == (np.diff(estimated[:, 0]) < 0)
    below = observed[:, 0] <= estimated[:, 0]
    close = np.abs(observed[:, 1] - estimated[:, 1]) <= 5
    near = np.abs(np.log2(observed[:, 2] / estimated[:, 2])) <= 1
    return [
        claimed(
            "privacy",
            "observed follows the trend of the estimate",
            "; ".join(both[0]),
            holds=bool((trend & below[1:]).all()),
        ),
        claimed("accuracy", "estimates very close to the observed", "; ".join(both[1]), holds=bool(close.all())),
        claimed("running time", "estimates very close to the observed", "; ".join(both[2]), holds=bool(near.all())),
    ]


def _draw(figure: Any, coins: tuple[float, ...], points: list[Point]) -> None:
    names = ("privacy (%)", "accuracy (%)", "mining time, in that of the original")
    for place, (panel, name) in enumerate(zip(figure.subplots(1, 3), names, strict=True)):
        panel.plot(coins, [point.estimated[place] for point in points], marker="o", label="estimated")
        panel.plot(coins, [point.observed[place] for point in points], marker="s", label="observed")
        panel.set(xlabel="q", ylabel=name, xticks=(0.9, 0.94, 0.98))
        panel.grid(visible=True, alpha=0.3)
    panel.set_ylim(bottom=0)
    panel.legend()
