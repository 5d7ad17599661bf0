"""Figure 2: mean squared error of the proportions of six LDL levels, against epsilon."""

from typing import Any

import numpy as np

from papers._ldp_table import COLOURS, SOURCE, STAND_IN, TARGETS, channel_of, counts, epsilons, everywhere, simulated
from papers.rerun import Progress, Rerun, Row, claimed
from sottovoce.estimate.mechanisms import Cost, mechanism_costs

__all__ = ["SOURCE", "TITLE", "rerun"]

Bars = dict[tuple[str, str], Any]
"""Mean and standard deviation of the squared error of single draws, at each epsilon."""

TITLE = "Mean squared error of the proportions of six LDL levels"


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Exact errors for both targets, at nominal and actual epsilon, and simulated ones beside them."""
    grid, draws = epsilons(quick=quick), 100 if quick else 2000
    table, rng, rows = counts().sum(axis=1), np.random.default_rng(seed), list[Row]()
    found: dict[str, list[dict[str, Cost]]] = {}
    bars: Bars = {}
    for step, target in enumerate(TARGETS):
        for spent in ("nominal", "actual"):
            costs = [mechanism_costs(table, e, target=target, spent=spent) for e in grid]  # type: ignore[arg-type]
            ratios = [c["laplace"].average_error / c["randomized_response"].average_error for c in costs]
            said = "LM/RR " + " ".join(f"{ratio:.3g}" for ratio in ratios)
            label = f"{target}, {spent} epsilon"
            rows.append(everywhere(f"lower error, {label}", "lower", grid, [r > 1 for r in ratios], said))
            orders = [99 < ratio < 1001 for ratio in ratios]
            rows.append(everywhere(f"orders, {label}", "two-three orders lower", grid, orders, said))
            falling = bool((np.diff(ratios) < 0).all())
            rows.append(claimed(f"small epsilon, {label}", "more superior when epsilon is small", said, holds=falling))
            if spent == "nominal":
                found[target] = costs
        for name in COLOURS:
            row, bars[target, name] = _simulated(found[target], table, target, name, grid, draws, rng)
            rows.append(row)
        progress(step + 1, len(TARGETS))
    notes = (
        STAND_IN,
        "Of this table only the coins are random: their error vanishes with large epsilon; a sample's does not.",
        "Laplace noise of nominal epsilon spends less; noise that spends all of it changes little for six levels.",
    )
    return Rerun({"epsilons": grid, "draws": draws, "seed": seed}, rows, notes, _picture(grid, found, bars))


def _simulated(costs: Any, table: Any, target: str, name: str, grid: Any, draws: int, rng: Any) -> tuple[Row, Any]:
    """Errors of simulated estimates within three and a half of their standard errors of the exact ones."""
    law, off, seen = table / table.sum(), [], []
    for epsilon, cost in zip(grid, costs, strict=True):
        squares = (simulated(channel_of(name, epsilon, (6,)), table, target, draws, rng) - law) ** 2
        each = squares.mean(axis=1)
        seen.append((each.mean(), each.std()))
        off.append(abs(each.mean() - cost[name].average_error) / (each.std() / draws**0.5))
    said = "standard errors off: " + " ".join(f"{value:.1f}" for value in off)
    row = everywhere(
        f"simulated, {name}, {target}", "(our own check) as computed", grid, [value < 3.5 for value in off], said
    )
    return row, np.array(seen).T


def _picture(grid: Any, found: dict[str, list[dict[str, Cost]]], bars: Bars) -> Any:
    def draw(figure: Any) -> None:
        for axes, (target, costs) in zip(figure.subplots(1, 2, sharey=True), found.items(), strict=True):
            for name, colour in COLOURS.items():
                label = name.replace("_", " ")
                axes.semilogy(grid, [c[name].average_error for c in costs], color=colour, label=label)
                axes.errorbar(grid, *bars[target, name], color=colour, fmt="o", capsize=3)
            axes.set(xlabel="epsilon", ylabel="average mean squared error", title=f"for the {target}")
            axes.legend()

    return draw
