"""How the figures of Wang, Wu & Hu (2016) are drawn: a panel for each target, a colour for each mechanism."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from papers._ldp_table import TARGETS
from sottovoce.tables.figures import INK

COLOURS = {"randomized_response": "#2a7f9e", "laplace": "#d98324"}
LABELS = {"randomized_response": "randomized response", "laplace": "Laplace noise"}
APART = 0.07
"""Epsilons that the bars of one mechanism are moved, either way, so that none hides another."""

Lines = Mapping[str, tuple[Sequence[float], Any]]
"""Numbers of each mechanism at every epsilon, and how far their bars reach: up and down, or each."""


def target_panels(figure: Any, label: str, draw: Callable[[Any, str], None]) -> None:
    """One panel for this table and one for the population, with one legend below both."""
    both = figure.subplots(1, 2, sharey=True)
    for axes, target in zip(both, TARGETS, strict=True):
        draw(axes, target)
        axes.set_title(f"for the {target}", loc="left", fontsize="medium")
        tidy(axes)
    both[0].set_ylabel(label)
    figure.legend(*both[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)


def draw_bars(axes: Any, grid: Sequence[float], lines: Lines) -> None:
    """A line for each mechanism, with bars beside each other."""
    for name, (middle, spread) in lines.items():
        moved = [epsilon + (APART if name == "laplace" else -APART) for epsilon in grid]
        style = {"color": COLOURS[name], "fmt": "o-", "markersize": 3.5, "capsize": 2.5, "elinewidth": 1}
        axes.errorbar(moved, middle, spread, label=LABELS[name], **style)
    axes.set_xlabel("epsilon")


def draw_estimates(
    grid: Sequence[float], lines: Mapping[str, Lines], truth: float, label: str
) -> Callable[[Any], None]:
    """Picture of estimates with error bars, and the truth, for each target."""

    def draw(axes: Any, target: str) -> None:
        axes.axhline(truth, color=INK, linewidth=1, linestyle="--", label="truth")
        draw_bars(axes, grid, lines[target])

    return lambda figure: target_panels(figure, label, draw)


def tidy(axes: Any) -> None:
    """Light lines to read numbers by, and no box."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, alpha=0.25)
    axes.set_axisbelow(True)
