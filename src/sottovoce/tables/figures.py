"""Figures: axes to draw on, and image files that appear only when they are complete."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.errors import SottovoceError, check_installed
from sottovoce.tables.sink import new_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, ACCENT, WARNING = "#1b3a4b", "#2a7f9e", "#b3452c"
"""Colours of all figures: of lines and text, of the main result, and of warnings."""


def pyplot(purpose: str = "a plot") -> Any:
    """Import matplotlib; if it is missing, the error says what to install."""
    check_installed(purpose, "plot", "matplotlib.pyplot")
    import matplotlib.pyplot as plt

    return plt


def new_axes(width: float, height: float) -> "Axes":
    """Return the axes of a new figure of this size in inches."""
    axes: Axes = pyplot().subplots(figsize=(width, height), layout="constrained")[1]
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def save_figure(axes: "Axes", path: str | Path) -> None:
    """Write the figure of some axes, in the format of the file's extension."""
    figure: Any = axes.figure
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in figure.canvas.get_supported_filetypes():
        raise SottovoceError("plot", "must end in .png, .svg, .pdf or the extension of another image format", str(path))
    with new_file(path) as hidden:
        figure.savefig(hidden, format=ending, dpi=150)
