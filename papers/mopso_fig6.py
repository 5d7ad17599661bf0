"""MOPSO, figure 6: fronts for six priors at epsilon 2."""

import numpy as np

from papers._mopso import (
    AGREE,
    CATEGORIES,
    EPSILON,
    FARTHEST,
    PAPER,
    RESPONDENTS,
    ROW_WISE,
    about_six,
    dominance,
    draw,
    lower,
    prior_of,
    six,
    wider,
)
from papers.comparison import Printed, Row, compare
from papers.rerun import Progress, Rerun
from sottovoce.designs.front import Front
from sottovoce.designs.sweeps import warner_sweep
from sottovoce.measures.privacy import entropy

TITLE = "FRAPP's and MOPSO's fronts of bits against distortion for six priors, n = 8, epsilon = 2"
SOURCE = f"{PAPER}, figure 6"

ENTROPY = Printed("2.6741")
"""H(X) of the gamma prior."""


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Six swarms."""
    rows: list[Row] = []
    panels = six(quick=quick, seed=seed, progress=progress)
    for name, found in panels:
        rows += [
            wider(f"range of distortion, {name}", "a wider range than FRAPP", found, 1, quick=quick),
            lower(f"least distortion, {name}", found, quick=quick),
            dominance(f"dominance, {name}", "almost all of FRAPP's solutions are dominated", found, quick=quick),
        ]
    theirs = panels[-1][1].frapp
    rows.append(compare("FRAPP's matrices, of 999, gamma", Printed("389"), len(theirs)))
    why = f"It is that of eight equal bins on [0, {_matching_end():.2f}]; here the gamma prior is cut on [0, 8]."
    rows.append(compare("H(X), gamma", ENTROPY, float(entropy(prior_of("gamma"))), why))
    notes = [
        ROW_WISE,
        AGREE,
        _which(theirs),
        "For the uniform prior FRAPP's matrices are the certified optimum themselves: nothing can dominate them.",
        FARTHEST,
    ]
    return Rerun(about_six(quick=quick, seed=seed), rows, notes, lambda figure: draw(figure, panels))


def _matching_end() -> float:
    """Where eight equal bins of gamma(1, 2) from 0 must end for the published entropy."""
    from scipy.optimize import brentq

    def off(end: float) -> float:
        masses = np.diff(1 - np.exp(-np.linspace(0, end, CATEGORIES + 1) / 2))
        return float(entropy(masses / masses.sum())) - float(ENTROPY.value)

    return float(brentq(off, 1, 20))


def _which(undominated: Front) -> str:
    """Which matrices are left of the 999, in words."""
    swept = warner_sweep(prior_of("gamma"), RESPONDENTS)
    private = len(swept.within(epsilon=EPSILON).points)
    diagonals = [float(point.channel.dense()[0, 0]) for point in undominated]
    return (
        f"Those left of 999 have a diagonal from {min(diagonals):.3f}, whose reports ignore the truth, to "
        f"{max(diagonals):.3f}; {private} keep epsilon = {EPSILON}, but those below are dominated."
    )
