"""The alternatives of a recommendation, as bars."""

from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.design.recommend.purpose import PURPOSES
from sottovoce.table.figure import ACCENT, INK, new_axes, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sottovoce.design.recommend.recommendation import Recommendation

FAINT = "#b9cdd6"
"""Colour of what was passed over."""

WIDEST_DRAWN = 8
"""Times the recommended width, beyond which a bar is cut."""


def draw(found: "Recommendation", axes: "Axes | None" = None, path: str | Path | None = None) -> "Axes":
    """Draw a bar for the typical interval of each design, the plainest on top; write a file where asked to."""
    shown = found.alternatives
    drawn = axes or new_axes(8, 1.7 + 0.45 * len(shown))
    widths = [each.width(found.respondents, found.deviations) for each in shown]
    longest = WIDEST_DRAWN * found.chosen.width(found.respondents, found.deviations)
    lengths = [min(width, longest) for width in widths]
    places = range(len(shown))
    drawn.barh(places, lengths, color=[ACCENT if each is found.chosen else FAINT for each in shown], height=0.62)
    for place, width, length in zip(places, widths, lengths, strict=True):
        cut = " (bar is cut)" if width > length else ""
        drawn.annotate(
            f"{width:.3g}{cut}", (length, place), (4, 0), textcoords="offset points", va="center", color=INK, fontsize=9
        )
    names = [f"{each.name} (recommended)" if each is found.chosen else each.name for each in shown]
    drawn.set_yticks(list(places), names)
    drawn.set_ylim(len(shown) - 0.5, -0.5)
    drawn.set_xlim(0, 1.22 * max(lengths))
    drawn.set_xlabel(f"width of a typical {100 * found.level:g} % interval\n({PURPOSES[found.purpose]})")
    drawn.set_title(f"{found.respondents:,.0f} respondents, {found.plan.guarantee}", loc="left", fontsize=11)
    if path is not None:
        save_figure(drawn, path)
    return drawn
