"""Pictures of fronts, and of schemes compared over epsilon; all need matplotlib (extra `plot`)."""

from collections.abc import Sequence
from math import ceil, exp, isfinite, log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.errors import SottovoceError
from sottovoce.tables.figures import INK, new_axes, pyplot, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sottovoce.designs.compare import SchemeComparison
    from sottovoce.designs.front import Front

LABELS = {  # axis labels by measure
    "mse": "mean squared error of a proportion",
    "iterative_mse": "mean squared error of the most likely distribution",
    "adversary_accuracy": "right guesses of the best adversary",
    "worst_posterior": "worst posterior",
    "mutual_information": "bits told by a report",
    "distortion": "wrong reports",
    "standard_error": "standard error of a proportion",
    "reconstruction": "people reconstructed rightly",
    "entropy_error": "standard error of the entropy",
    "chi_squared_error": "standard error of the chi squared",
    "mutual_information_error": "standard error of the mutual information",
    "correlation_error": "standard error of the correlation",
}
MOST_MARKED = 60
"""Points of a front up to which each gets a marker."""

COLOURS = ("#2a7f9e", "#d98324", "#5b8c3a", "#a44a8f", "#c2b02f", "#7a6a58", "#e0607e")
STYLES = ("-", "--", "-.", ":")
"""Each line has another style, so that overlapping lines can be told apart."""

ODDS = (3, 10, 2, 5, 20, 50, 100, 1000, 10_000, 1.5, 1.2, 1.1)
"""Candidate ticks of the odds axis above a panel, the most familiar first."""

NEAREST = 0.07
"""Least distance between two ticks of odds, as a share of the axis, so that labels do not overlap."""

FEW_POWERS = 1000
"""Ratio of an axis' limits below which 2 and 5 times the powers of ten are labelled, too."""

SHARES = ("adversary_accuracy", "worst_posterior", "distortion", "reconstruction")
LOGARITHMIC = (
    "mse",
    "standard_error",
    "interval_width",
    "respondents_needed",
    "entropy_error",
    "chi_squared_error",
    "mutual_information_error",
    "correlation_error",
)


def draw_fronts(fronts: "Sequence[Front]", axes: Any = None, path: str | Path | None = None) -> Any:
    """Draw fronts of the same two objectives; return the axes, and save them if there is a path."""
    first, second = _shared_objectives(fronts)
    canvas = new_axes(7, 5) if axes is None else axes
    for front in fronts:
        points = front.non_dominated()
        values = np.array([[point[first.name], point[second.name]] for point in points]).reshape(-1, 2)
        finite = values[np.isfinite(values).all(axis=1)]
        marker = "o" if len(finite) <= MOST_MARKED else ""
        canvas.plot(*finite[np.argsort(finite[:, 0])].T, marker=marker, markersize=3, label=front.name)
    canvas.set(xlabel=LABELS.get(first.name, first.name), ylabel=LABELS.get(second.name, second.name))
    if second.name.endswith("mse"):
        canvas.set_yscale("log")
    canvas.grid(visible=True, alpha=0.3)
    canvas.legend()
    if path is not None:
        save_figure(canvas, path)
    return canvas


def _shared_objectives(fronts: "Sequence[Front]") -> Any:
    objectives = fronts[0].objectives
    if len(objectives) != 2 or any(front.objectives != objectives for front in fronts):
        raise SottovoceError("fronts", "must have the same two objectives", [front.name for front in fronts])
    return objectives


def draw_comparison(comparison: "SchemeComparison", path: str | Path | None = None) -> "list[Axes]":
    """Draw a panel for each measure with a line for each scheme; return the axes, and save them if there is a path."""
    panels = len(comparison.measures)
    columns = min(panels, 2)
    lines = ceil(panels / columns)
    figure, grid = pyplot().subplots(
        lines, columns, figsize=(1.2 + 5.2 * columns, 1.5 + 3.7 * lines), layout="constrained", squeeze=False
    )
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.08)
    axes = list(grid.flat)
    for spare in axes[panels:]:
        spare.remove()
    for drawn, measure in zip(axes[:panels], comparison.measures, strict=True):
        _panel(drawn, comparison, measure)
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=min(len(names), 2 * columns), frameon=False)
    people, categories = (
        f"{comparison.respondents:,.0f} respondents",
        f"{' x '.join(map(str, comparison.shape))} categories",
    )
    even = max(comparison.prior) - min(comparison.prior) < 1e-9
    expected = "all equally likely" if even else f"the likeliest with {100 * max(comparison.prior):.0f} %"
    figure.suptitle(f"{people}, {categories}, {expected}", x=0.01, ha="left", color=INK)
    if path is not None:
        save_figure(axes[0], path)
    return axes[:panels]


def _panel(drawn: Any, comparison: "SchemeComparison", measure: str) -> None:
    for number, scheme in enumerate(comparison.schemes):
        values = [
            (row["epsilon"], row[measure])
            for row in comparison.of(scheme)
            if row[measure] is not None and isfinite(row["epsilon"])
        ]
        style: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "linestyle": STYLES[number % len(STYLES)]}
        if scheme == "certified":
            style = {"color": INK, "linestyle": "-", "linewidth": 3.5, "alpha": 0.35, "zorder": 1}
        label = "certified optimum" if scheme == "certified" else scheme.replace("_", " ")
        drawn.plot([x for x, _ in values], [y for _, y in values], label=label, **style)
    drawn.spines[["right"]].set_visible(False)
    drawn.grid(visible=True, which="both", alpha=0.2)
    drawn.set_xlabel("epsilon")
    drawn.set_ylabel(_label(comparison, measure))
    _scale(drawn, measure)
    _add_odds_axis(drawn)


def _label(comparison: "SchemeComparison", measure: str) -> str:
    with_numbers = {
        "interval_width": f"width of a typical {100 * comparison.level:g} % interval",
        "respondents_needed": f"respondents for {100 * comparison.level:g} % intervals\n{comparison.width:g} wide",
    }
    return with_numbers.get(measure) or LABELS.get(measure, measure.replace("_", " "))


def _scale(drawn: Any, measure: str) -> None:
    from matplotlib.ticker import FuncFormatter, PercentFormatter

    if measure in SHARES:
        drawn.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    elif measure in LOGARITHMIC:
        drawn.set_yscale("log")
        low, high = drawn.get_ylim()
        digits = "125" if high < FEW_POWERS * low else "1"
        formatter = FuncFormatter(lambda value, _: _tick_label(value, digits))
        drawn.yaxis.set_major_formatter(formatter)
        drawn.yaxis.set_minor_formatter(formatter)


def _tick_label(value: float, digits: str) -> str:
    """Label of a tick: its value at these multiples of powers of ten, empty elsewhere."""
    if f"{value:.6e}"[0] not in digits:
        return ""
    return f"{value:,.0f}" if value >= 1 else f"{value:.4g}"


def _add_odds_axis(drawn: Any) -> None:
    """Add an axis of odds above the panel, with as many ticks as fit."""
    low, high = drawn.get_xlim()
    ticks: list[float] = []
    for odds in ODDS:
        epsilon = log(odds)
        if low <= epsilon <= high and all(abs(epsilon - tick) > NEAREST * (high - low) for tick in ticks):
            ticks.append(epsilon)
    above = drawn.secondary_xaxis("top")
    above.set_xticks(ticks, [f"{exp(tick):.4g}:1" for tick in ticks], fontsize=8)
    above.set_xlabel("odds", fontsize=9)
