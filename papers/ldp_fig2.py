"""Figure 2: mean squared error of the proportions of six LDL levels, against epsilon."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from papers._ldp_picture import draw_bars, target_panels
from papers._ldp_table import (
    MECHANISMS,
    SOURCE,
    STAND_IN,
    TARGETS,
    Exact,
    channel_of,
    counts,
    epsilons,
    everywhere,
    exact,
    simulated,
)
from papers.comparison import LEVEL, Row, claim
from papers.rerun import Progress, Rerun
from sottovoce.measures.utility import average_mean_squared_error
from sottovoce.schemes.laplace import Laplace, nominal_epsilon

__all__ = ["SOURCE", "TITLE", "rerun"]

TITLE = "Mean squared error of the proportions of six LDL levels"
SPENT = {"nominal": "laplace", "actual": "laplace that spends all of epsilon"}


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Exact errors for both targets, at nominal and actual epsilon, and simulated ones beside them."""
    grid, draws = epsilons(quick=quick), 100 if quick else 2000
    table, rng, rows = counts().sum(axis=1), np.random.default_rng(seed), list[Row]()
    measures = {target: partial(_error, target, table.sum()) for target in TARGETS}
    errors, bars = exact(table, measures, grid, also={SPENT["actual"]: _spending_all(len(table))}), {}
    for step, target in enumerate(TARGETS):
        for spent in SPENT:
            rows += _claims(errors, target, spent, grid)
        for name in MECHANISMS:
            row, bars[target, name] = _simulated(errors[name, target], table, target, name, grid, draws, rng)
            rows.append(row)
        progress(step + 1, len(TARGETS))
    notes = (
        STAND_IN,
        "Of this table only the coins are random: their error vanishes with large epsilon; a sample's does not.",
        "Laplace noise of nominal epsilon spends less; noise that spends all of it changes little for six levels.",
    )
    return Rerun({"epsilons": grid, "draws": draws, "seed": seed}, rows, notes, _picture(grid, bars))


def _spending_all(levels: int) -> Any:
    """Laplace noise that makes up for what cutting the reports saves."""
    return lambda epsilon: Laplace(epsilon=nominal_epsilon(epsilon, levels))


def _error(target: str, respondents: float, channel: Any, prior: Any) -> float:
    return float(average_mean_squared_error(channel, prior, respondents, target))


def _claims(errors: Exact, target: str, spent: str, grid: Sequence[float]) -> list[Row]:
    pairs = zip(errors[SPENT[spent], target], errors["randomized_response", target], strict=True)
    ratios = [noise / coin for noise, coin in pairs]
    said, label = "LM/RR " + " ".join(f"{ratio:.3g}" for ratio in ratios), f"{target}, {spent} epsilon"
    orders, falling = [100 <= ratio <= 1000 for ratio in ratios], bool((np.diff(ratios) < 0).all())
    return [
        everywhere(f"lower error, {label}", "lower", grid, [ratio > 1 for ratio in ratios], said),
        everywhere(f"orders, {label}", "two-three orders lower", grid, orders, said, "read as: 100 to 1,000 times"),
        claim(
            f"small epsilon, {label}",
            "more superior when epsilon is small",
            said,
            falling,
            "read as: the ratio falls from each epsilon to the next",
        ),
    ]


def _simulated(
    expected_errors: Sequence[float], table: Any, target: str, name: str, grid: Any, draws: int, rng: Any
) -> tuple[Row, Any]:
    """Errors of simulated estimates beside the exact ones, within Student's limits for all epsilons together."""
    from scipy.stats import t

    shares, off, seen = table / table.sum(), [], []
    limit = float(t.isf((1 - LEVEL) / (2 * len(grid)), draws - 1))
    for epsilon, expected in zip(grid, expected_errors, strict=True):
        squares = (simulated(channel_of(name, epsilon, (6,)), table, target, draws, rng) - shares) ** 2
        each = squares.mean(axis=1)
        seen.append(np.abs(np.quantile(each, [0.1, 0.9]) - expected))
        off.append(abs(each.mean() - expected) / (each.std(ddof=1) / draws**0.5))
    said = "standard errors off: " + " ".join(f"{value:.1f}" for value in off)
    fine = [bool(value < limit) for value in off]
    row = everywhere(
        f"simulated, {name}, {target}", "errors as computed", grid, fine, said, f"read as: within {limit:.1f} of them"
    )
    return row.as_reference(), (expected_errors, np.transpose(seen))


def _picture(grid: Any, bars: dict[tuple[str, str], Any]) -> Any:
    """Exact errors, with bars from a tenth to nine tenths of the errors of single draws."""

    def draw(axes: Any, target: str) -> None:
        draw_bars(axes, grid, {name: bars[target, name] for name in MECHANISMS})
        axes.set_yscale("log")

    return lambda figure: target_panels(figure, "average squared error of a proportion", draw)
