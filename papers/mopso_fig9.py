"""MOPSO, figure 9: car and Connect-4 at epsilon .5, where the true front is one point."""

from math import exp

from papers._mopso import PAPER, ROW_WISE, about, draw, fronts, prior_of, spans
from papers.rerun import Progress, Rerun, Row, claimed, compared

TITLE = "FRAPP's and MOPSO's fronts for the classes of car and Connect-4, epsilon = .5"
SOURCE = f"{PAPER}, figure 9"

EPSILON = 0.5
CLASSES = {"car": (0.70023, 0.22222, 0.03993, 0.03762), "Connect-4": (0.6583, 0.2462, 0.0955)}


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
            compared(f"share of the likeliest class, {name}", published[0], float(prior[0]), tolerance=5e-5),
            claimed(
                f"front, {name}",
                "a range of matrices that trade bits for distortion",
                f"one point, {bits:.2g} bits at distortion {wrong:.5f} = 1 - max p, for e^.5 = {exp(EPSILON):.3f} is "
                f"at most p_(1) / p_(2) = {ratio:.3f}",
                holds=bits > 1e-6,
            ),
            claimed(
                f"dominance, {name}",
                "better than FRAPP",
                f"{found.beaten():.0%} of FRAPP's matrices are dominated",
                holds=found.beaten() >= 0.9,
            ),
        ]
    notes = [
        ROW_WISE,
        "Where e^eps <= p_(1) / p_(2), reporting the likeliest class always has both the fewest bits and the least "
        "distortion: the front is that one point, an infimum since it is not invertible. Every range in the figure is "
        "dominated by it.",
    ]
    settings = about(quick=quick, seed=seed, epsilon=EPSILON)
    return Rerun(settings, rows, notes, lambda figure: draw(figure, panels))
