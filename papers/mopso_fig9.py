"""MOPSO, figure 9: car and Connect-4 at epsilon .5, where the true front is one point."""

from math import exp

from papers._mopso import AGREE, PAPER, ROW_WISE, about, dominance, draw, fronts, prior_of, spans
from papers.comparison import Printed, Row, claim, compare
from papers.rerun import Progress, Rerun

TITLE = "FRAPP's and MOPSO's fronts for the classes of car and Connect-4, epsilon = .5"
SOURCE = f"{PAPER}, figure 9"

EPSILON = 0.5
ZERO = 1e-6
"""Bits that rounding may leave of none."""
CLASSES = {"car": ("70.023", "22.222", "3.993", "3.762"), "Connect-4": ("65.83", "24.62", "9.55")}
"""Shares in percent, as printed."""


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Two swarms."""
    rows: list[Row] = []
    panels = []
    for name, published in CLASSES.items():
        prior = prior_of(name)
        found = fronts(prior, EPSILON, quick=quick, seed=seed, progress=progress)
        panels.append((name, found))
        (bits, wrong), ratio = spans(found.certified)[1], float(prior[0] / prior[1])
        rows += [
            compare(f"share of class {place} in %, {name}", Printed(share), 100 * float(prior[place - 1]))
            for place, share in enumerate(published, start=1)
        ]
        rows += [
            claim(
                f"front, {name}",
                "a range of matrices that trade bits for distortion",
                f"at most {bits:.2g} bits, the distortion being at most {wrong:.5f}; 1 - max p = {1 - prior[0]:.5f}; "
                f"e^.5 = {exp(EPSILON):.3f}, p_(1) / p_(2) = {ratio:.3f}",
                bool(bits > ZERO),
                f"read as: the certified front tells more than {ZERO} bits somewhere",
            ),
            dominance(f"dominance, {name}", "better than FRAPP", found, quick=quick),
        ]
    notes = [
        ROW_WISE,
        AGREE,
        "Where e^eps <= p_(1) / p_(2), reporting the likeliest class always has both the fewest bits and the least "
        "distortion: the front is that one point, an infimum since it is not invertible. Every range in the figure is "
        "dominated by it.",
    ]
    settings = about(quick=quick, seed=seed, epsilon=EPSILON)
    return Rerun(settings, rows, notes, lambda figure: draw(figure, panels))
