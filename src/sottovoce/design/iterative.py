"""Fronts judged by the iterative approach: the error of the most likely distribution, by simulation."""

from dataclasses import replace

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.front import Front
from sottovoce.design.objective import Objective
from sottovoce.design.point import Point
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.em import Progress
from sottovoce.estimate.em_stack import em_of_all

GUESSES_AND_ITERATIVE_ERROR = (Objective("adversary_accuracy"), Objective("iterative_mse"))
"""The trade of OptRR's figure 5(d)."""


def with_iterative_error(
    front: Front, *, repetitions: int = 20, seed: int | None = None, progress: Progress | None = None
) -> Front:
    """Same points, each with `iterative_mse`: how far the distribution that EM finds is from the prior, on average.

    For every repetition the reports of as many respondents as the front was made for are drawn from each channel
    (Huang & Du 2008, section VI.E). Unlike the error of unbiased estimates it has no closed form.

    >>> from sottovoce.design.sweep import warner_sweep
    >>> front = with_iterative_error(warner_sweep([0.5, 0.3, 0.2], 1000, steps=10), repetitions=5, seed=1)
    >>> bool(front[0]["iterative_mse"] < 1e-3)
    True
    """
    if isinstance(repetitions, bool) or not isinstance(repetitions, int) or repetitions < 1:
        raise SottovoceError("repetitions", "must be a whole number of at least 1", repetitions)
    rng, prior = np.random.default_rng(seed), np.array(front.prior)
    stack = _stacked(front.points)
    laws = stack @ prior
    laws /= laws.sum(axis=1, keepdims=True)
    errors = np.zeros(len(stack))
    for done in range(repetitions):
        found = em_of_all(stack, rng.multinomial(round(front.respondents), laws))
        errors += ((found - prior) ** 2).mean(axis=1) / repetitions
        if progress is not None:
            progress(done + 1, repetitions)
    points = (
        replace(point, measures={**point.measures, "iterative_mse": float(error)})
        for point, error in zip(front.points, errors, strict=True)
    )
    return replace(front, points=tuple(points), objectives=GUESSES_AND_ITERATIVE_ERROR)


def _stacked(points: tuple[Point, ...]) -> Array:
    """Matrices of one shape: reports that never come fill up those with fewer."""
    matrices = [point.matrix() for point in points]
    listed = [matrix for matrix in matrices if matrix is not None]
    if not listed or len(listed) < len(matrices):
        raise SottovoceError("front", "must have points, all of them with reports that can be listed", Words("others"))
    most = max(len(matrix) for matrix in listed)
    return np.stack([np.pad(matrix, ((0, most - len(matrix)), (0, 0))) for matrix in listed])
