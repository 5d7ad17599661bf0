"""MOPSO, figure 7: boxes of the fronts of figure 6."""

from papers._mopso import (
    CATEGORIES,
    EPSILON,
    FARTHEST,
    PAPER,
    PRIORS,
    ROW_WISE,
    about,
    draw_boxes,
    fronts,
    prior_of,
    wider,
)
from papers.rerun import Progress, Rerun, Row

TITLE = "Ranges of bits and distortion of FRAPP and MOPSO for six priors, n = 8, epsilon = 2"
SOURCE = f"{PAPER}, figure 7"


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Six swarms."""
    rows: list[Row] = []
    panels = []
    for name in PRIORS:
        found = fronts(prior_of(name), EPSILON, quick=quick, seed=seed, progress=progress)
        panels.append((name, found))
        rows += [
            wider(f"range of bits, {name}", "a much wider range than FRAPP, especially of privacy", found, 0),
            wider(f"range of distortion, {name}", "a much wider range than FRAPP", found, 1),
        ]
    settings = about(quick=quick, seed=seed, priors=PRIORS, categories=CATEGORIES, epsilon=EPSILON)
    return Rerun(settings, rows, [ROW_WISE, FARTHEST], lambda figure: draw_boxes(figure, panels))
