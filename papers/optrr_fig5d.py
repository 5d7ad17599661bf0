"""OptRR, figure 5(d): the matrices of figure 5(a), judged by the iterative approach."""

from dataclasses import replace

import numpy as np

from papers._optrr import DELTA, PAPER, draw, fronts, gains, settings, short
from papers.comparison import Measured, all_of, claim
from papers.rerun import Progress, Rerun
from sottovoce.designs.front import Front
from sottovoce.designs.optrr.search import with_iterative_error
from sottovoce.designs.requirement import named_prior

TITLE = "The fronts of figure 5(a) with the error of the iterative approach"
SOURCE = f"{PAPER}, figure 5(d)"

POINTS = 60
"""Matrices of each front that data are simulated for."""

SEEDS = 10
"""The repetitions are made in so many parts, which tell the Monte-Carlo error."""


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """One search, then simulated reports of its matrices and Warner's."""
    prior = named_prior("gamma", 10)
    repetitions = 1 if quick else 10
    found = fronts(prior, DELTA, quick=quick, seed=seed, progress=progress)
    three = [_some(front) for front in (found.warner, found.optrr, found.certified)]
    parts = [
        [with_iterative_error(front, repetitions=repetitions, seed=own, progress=progress) for front in three]
        for own in range(seed, seed + SEEDS)
    ]
    judged = parts[0]
    gain = [Measured.mean_of(each) for each in np.log([gains(*part[:2]) for part in parts]).T]
    lower = claim(
        "error of the iterative approach",
        "lower error than Warner's scheme at the same privacy",
        f"Warner's is {np.exp(min(each.value for each in gain)):.2f} times OptRR's at the least, "
        f"{np.exp(np.median([each.value for each in gain])):.2f} times at the median",
        all_of(Measured(0).below(each) for each in gain),
    )
    wider = claim(
        "range of privacy",
        "wider than that of Warner's scheme",
        f"from {found.ranges[1]:.3f} instead of {found.ranges[0]:.3f}",
        found.ranges[1] < found.ranges[0],
    )
    rows = [short(lower, quick=quick), short(wider, quick=quick)]
    notes = [
        "The most likely distribution stays in the simplex, so that errors do not grow beyond it: where Warner's "
        "reports say almost nothing, the error of inversion is unbounded and that of the iterative approach is not.",
        "The certified front is optimal among unbiased estimates; for the iterative approach it is one more front.",
    ]
    about = {**settings(prior, DELTA, quick=quick, seed=seed), "repetitions": SEEDS * repetitions, "matrices": POINTS}
    return Rerun(about, rows, notes, lambda figure: draw(figure, [("gamma(1, 2), iterative approach", judged)]))


def _some(front: Front) -> Front:
    """At most so many points, evenly spaced."""
    return replace(front, points=front.points[:: max(1, -(-len(front) // POINTS))])
