"""MOPSO, figure 7: boxes of the fronts of figure 6."""

from papers._mopso import AGREE, FARTHEST, PAPER, ROW_WISE, about_six, draw_boxes, six, wider
from papers.comparison import Row
from papers.rerun import Progress, Rerun

TITLE = "Ranges of bits and distortion of FRAPP and MOPSO for six priors, n = 8, epsilon = 2"
SOURCE = f"{PAPER}, figure 7"


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Six swarms."""
    rows: list[Row] = []
    panels = six(quick=quick, seed=seed, progress=progress)
    for name, found in panels:
        rows += [
            wider(
                f"range of bits, {name}", "a much wider range than FRAPP, especially of privacy", found, 0, quick=quick
            ),
            wider(f"range of distortion, {name}", "a much wider range than FRAPP", found, 1, quick=quick),
        ]
    notes = [ROW_WISE, AGREE, FARTHEST]
    return Rerun(about_six(quick=quick, seed=seed), rows, notes, lambda figure: draw_boxes(figure, panels))
