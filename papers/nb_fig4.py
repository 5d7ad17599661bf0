"""Naive Bayes from disguised Adult: variance of the accuracy against theta (and what figure 5 shares with it)."""

from typing import Any

import numpy as np

from papers.nb_fig2 import THETAS, Runs, adult_runs
from papers.rerun import Progress, Rerun, Row, claimed, compared

TITLE = "Naive Bayes on disguised Adult: variance of accuracy against theta"
SOURCE = "Zhan & Matwin 2006, figure 4"

PRINTED = {0.5: 0.0001, 0.6: 0.0001, 0.7: 0.0001, 0.8: 0.0, 0.9: 0.0}
"""Variances that figure 7 (b) prints, to four decimals."""

NOTE = "Splits are drawn anew for every repetition; what the variance keeps at theta = 1 is theirs."


def variance_claims(found: Runs) -> list[Row]:
    """Claims of section 5.2.2."""
    rows = []
    for cut, curve in found.curves.items():
        variance = curve.deviation**2
        slope = float(np.polyfit(THETAS, np.log(variance[0]), 1)[0])
        rows += [
            claimed(
                f"trend, cut at the {cut}",
                "variance grows as theta moves from 1 to 0",
                f"{variance[0, 0]:.2g} at .05, {variance[0, -1]:.2g} at 1",
                holds=slope < 0 and bool(variance[0, 0] > variance[0, -1]),
            ),
            claimed(
                f"maximum likelihood against plain estimates, cut at the {cut}",
                "(ours: less variance at theta = .05)",
                f"{variance[0, 0]:.2g} against {variance[1, 0]:.2g}",
                holds=bool(variance[0, 0] < variance[1, 0]),
            ),
        ]
    return rows


def draw_variances(found: Runs, figure: Any) -> None:
    """Variance against theta, by cut and treatment."""
    axes = figure.add_subplot()
    for cut, curve in found.curves.items():
        for repair, deviation in zip(curve.repairs, curve.deviation, strict=True):
            axes.semilogy(THETAS, deviation**2, marker="o", markersize=4, label=f"{repair}, cut at the {cut}")
    axes.set_xlabel("theta")
    axes.set_ylabel("variance of accuracy")
    axes.legend(frameon=False)


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Run it."""
    found = adult_runs(quick=quick, seed=seed, progress=progress)
    variance = found.main.deviation[0] ** 2
    rows = [
        compared(f"variance, theta = {theta:g}", printed, float(variance[THETAS.index(theta)]), 0.0001)
        for theta, printed in PRINTED.items()
    ]
    return Rerun(found.settings, [*rows, *variance_claims(found)], [NOTE], lambda figure: draw_variances(found, figure))
