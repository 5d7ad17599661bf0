"""Schemes on one picture: a panel for each measure, a line for each scheme, epsilon below and odds above."""

from math import ceil, exp, isfinite, log
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.designs.compare_measures import FUNCTIONALS
from sottovoce.designs.front import LABELS
from sottovoce.tables.figures import INK, pyplot, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sottovoce.designs.compare import Compared

COLOURS = ("#2a7f9e", "#d98324", "#5b8c3a", "#a44a8f", "#c2b02f", "#7a6a58", "#e0607e")
STYLES = ("-", "--", "-.", ":")
"""Styles change with every line, so that one which lies on another still shows."""

ODDS = (3, 10, 2, 5, 20, 50, 100, 1000, 10_000, 1.5, 1.2, 1.1)
"""Odds that may be marked above a panel, those that people know best first."""

NEAREST = 0.07
"""Part of the axis that two marks of odds must be apart, for their words not to touch."""

FEW_POWERS = 1000
"""Range of an axis within which 2 and 5 times the powers of ten are named too."""

SHARES = ("adversary_accuracy", "worst_posterior", "distortion", "reconstruction")
LOGARITHMIC = ("mse", "standard_error", "interval_width", "respondents_needed", *FUNCTIONALS)


def draw(compared: "Compared", path: str | Path | None = None) -> "list[Axes]":
    """Draw every measure; give back matplotlib's axes, and write a file where asked to."""
    panels = len(compared.measures)
    columns = min(panels, 2)
    lines = ceil(panels / columns)
    figure, grid = pyplot().subplots(
        lines, columns, figsize=(1.2 + 5.2 * columns, 1.5 + 3.7 * lines), layout="constrained", squeeze=False
    )
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.08)
    axes = list(grid.flat)
    for spare in axes[panels:]:
        spare.remove()
    for drawn, measure in zip(axes[:panels], compared.measures, strict=True):
        _panel(drawn, compared, measure)
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=min(len(names), 2 * columns), frameon=False)
    people, categories = (
        f"{compared.respondents:,.0f} respondents",
        f"{' x '.join(map(str, compared.shape))} categories",
    )
    even = max(compared.prior) - min(compared.prior) < 1e-9
    expected = "all equally likely" if even else f"the likeliest with {100 * max(compared.prior):.0f} %"
    figure.suptitle(f"{people}, {categories}, {expected}", x=0.01, ha="left", color=INK)
    if path is not None:
        save_figure(axes[0], path)
    return axes[:panels]


def _panel(drawn: Any, compared: "Compared", measure: str) -> None:
    for number, scheme in enumerate(compared.schemes):
        seen = [
            (row["epsilon"], row[measure])
            for row in compared.of(scheme)
            if row[measure] is not None and isfinite(row["epsilon"])
        ]
        style: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "linestyle": STYLES[number % len(STYLES)]}
        if scheme == "certified":
            style = {"color": INK, "linestyle": "-", "linewidth": 3.5, "alpha": 0.35, "zorder": 1}
        label = "certified optimum" if scheme == "certified" else scheme.replace("_", " ")
        drawn.plot([x for x, _ in seen], [y for _, y in seen], label=label, **style)
    drawn.spines[["right"]].set_visible(False)
    drawn.grid(visible=True, which="both", alpha=0.2)
    drawn.set_xlabel("epsilon")
    drawn.set_ylabel(_label(compared, measure))
    _scale(drawn, measure)
    _mark_odds(drawn)


def _label(compared: "Compared", measure: str) -> str:
    own = {
        "standard_error": "standard error of a proportion",
        "reconstruction": "people reconstructed rightly",
        "interval_width": f"width of a typical {100 * compared.level:g} % interval",
        "respondents_needed": f"respondents for {100 * compared.level:g} % intervals\n{compared.width:g} wide",
    }
    if measure in FUNCTIONALS:
        return f"standard error of the {FUNCTIONALS[measure].replace('-', ' ')}"
    return own.get(measure) or LABELS.get(measure, measure.replace("_", " "))


def _scale(drawn: Any, measure: str) -> None:
    from matplotlib.ticker import FuncFormatter, PercentFormatter

    if measure in SHARES:
        drawn.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    elif measure in LOGARITHMIC:
        drawn.set_yscale("log")
        low, high = drawn.get_ylim()
        digits = "125" if high < FEW_POWERS * low else "1"
        mark = FuncFormatter(lambda value, _: _mark(value, digits))
        drawn.yaxis.set_major_formatter(mark)
        drawn.yaxis.set_minor_formatter(mark)


def _mark(value: float, digits: str) -> str:
    """Words at these multiples of the powers of ten; other marks have none."""
    if f"{value:.6e}"[0] not in digits:
        return ""
    return f"{value:,.0f}" if value >= 1 else f"{value:.4g}"


def _mark_odds(drawn: Any) -> None:
    """Odds above the panel, as many as fit."""
    low, high = drawn.get_xlim()
    marks: list[float] = []
    for odds in ODDS:
        place = log(odds)
        if low <= place <= high and all(abs(place - mark) > NEAREST * (high - low) for mark in marks):
            marks.append(place)
    above = drawn.secondary_xaxis("top")
    above.set_xticks(marks, [f"{exp(place):.4g}:1" for place in marks], fontsize=8)
    above.set_xlabel("odds", fontsize=9)
