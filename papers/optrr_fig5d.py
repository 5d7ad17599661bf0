"""OptRR, figure 5(d): the matrices of figure 5(a), judged by the iterative approach."""

from dataclasses import replace

from papers._optrr import DELTA, PAPER, draw, fronts, gains, lower_everywhere, settings
from papers.rerun import Progress, Rerun, claimed
from sottovoce.designs.front import Front
from sottovoce.designs.optrr.search import with_iterative_error
from sottovoce.designs.requirement import named_prior

TITLE = "The fronts of figure 5(a) with the error of the iterative approach"
SOURCE = f"{PAPER}, figure 5(d)"

POINTS = 60
"""Matrices of each front that data are simulated for."""


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """One search, then simulated reports of its matrices and Warner's."""
    prior = named_prior("gamma", 10)
    repetitions = 10 if quick else 100
    found = fronts(prior, DELTA, quick=quick, seed=seed, progress=progress)
    judged = [
        with_iterative_error(_some(front), repetitions=repetitions, seed=seed, progress=progress)
        for front in (found.warner, found.optrr, found.certified)
    ]
    gain = gains(judged[0], judged[1])
    rows = [
        lower_everywhere("error of the iterative approach", gain),
        claimed(
            "range of privacy",
            "wider than that of Warner's scheme",
            f"from {found.ranges[1]:.3f} instead of {found.ranges[0]:.3f}",
            holds=found.ranges[1] < found.ranges[0],
        ),
    ]
    notes = [
        "The most likely distribution stays in the simplex, so that errors do not grow beyond it: where Warner's "
        "reports say almost nothing, the error of inversion is unbounded and that of the iterative approach is not.",
        "The certified front is optimal among unbiased estimates; for the iterative approach it is one more front.",
    ]
    about = {**settings(prior, DELTA, quick=quick, seed=seed), "repetitions": repetitions, "matrices": POINTS}
    return Rerun(about, rows, notes, lambda figure: draw(figure, [("gamma(1, 2), iterative approach", judged)]))


def _some(front: Front) -> Front:
    """At most so many points, evenly spaced."""
    return replace(front, points=front.points[:: max(1, -(-len(front) // POINTS))])
