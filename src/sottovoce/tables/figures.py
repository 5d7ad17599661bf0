"""Figures: axes to draw on, and pictures as files that appear only when they are complete."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.tables.sink import new_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, ACCENT, WARNING = "#1b3a4b", "#2a7f9e", "#b3452c"
"""Colours of every picture: of lines and words, what is shown first, and what needs attention."""


def pyplot(purpose: str = "a plot") -> Any:
    """Import matplotlib where a picture is asked for, saying what to install if it is not there."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError(purpose, "matplotlib", "plot") from None
    return plt


def new_axes(width: float, height: float) -> "Axes":
    """Axes of a figure of their own, in inches."""
    axes: Axes = pyplot().subplots(figsize=(width, height), layout="constrained")[1]
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def save_figure(axes: "Axes", path: str | Path) -> None:
    """Write the picture that axes belong to, in the format of the name's ending."""
    figure: Any = axes.figure
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in figure.canvas.get_supported_filetypes():
        raise SottovoceError("plot", "must end in .png, .svg, .pdf or another kind of picture", str(path))
    with new_file(path) as hidden:
        figure.savefig(hidden, format=ending, dpi=150)
