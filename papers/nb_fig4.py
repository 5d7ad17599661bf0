"""Naive Bayes from disguised Adult: variance of the accuracy against theta (and what figure 5 shares with it)."""

from typing import Any

from papers.comparison import Printed, Row, claim, compare
from papers.nb_fig2 import THETAS, Runs, adult_runs, variance
from papers.rerun import Progress, Rerun

TITLE = "Naive Bayes on disguised Adult: variance of accuracy against theta"
SOURCE = "Zhan & Matwin 2006, figure 4"

PRINTED = {0.5: "0.0001", 0.6: "0.0001", 0.7: "0.0001", 0.8: "0", 0.9: "0"}
"""Variances that figure 7 (b) prints, to four decimals but for zeros."""

NOTE = "Splits are drawn anew for every repetition; what the variance keeps at theta = 1 is theirs."


def variance_claims(found: Runs) -> list[Row]:
    """Claims of section 5.2.2."""
    rows = []
    for cut, curve in found.curves.items():
        first, last, plain = (variance(curve, *place) for place in ((0, 0), (0, -1), (1, 0)))
        less = claim(
            f"maximum likelihood against plain estimates, cut at the {cut}",
            "less variance at theta = .05",
            f"{first} against {plain}",
            first.below(plain),
        )
        rows += [
            claim(
                f"trend, cut at the {cut}",
                "variance grows as theta moves from 1 to 0",
                f"{first} at .05, {last} at 1",
                last.below(first),
                "read as: from theta = 1 to .05",
            ),
            less.as_reference(),
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
    rows = [
        compare(
            f"variance, theta = {theta:g}, {repair} estimates",
            Printed(printed, decimals=4),
            variance(found.main, place, THETAS.index(theta)),
        )
        for place, repair in enumerate(found.main.repairs)
        for theta, printed in PRINTED.items()
    ]
    return Rerun(found.settings, [*rows, *variance_claims(found)], [NOTE], lambda figure: draw_variances(found, figure))
