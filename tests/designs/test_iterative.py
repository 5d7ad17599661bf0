"""Errors of the iterative approach: equal to those of inversion where estimates stay inside the simplex."""

import numpy as np
import pytest

from sottovoce.designs.certified import certified_front
from sottovoce.designs.front import Front
from sottovoce.designs.optrr.search import with_iterative_error
from sottovoce.designs.sweeps import warner_sweep
from sottovoce.errors import SottovoceError

PRIOR = [0.4, 0.35, 0.25]


def test_inside_the_simplex_the_most_likely_is_the_unbiased_estimate():
    """Warner's p from .8: estimates are ten standard errors from the edge; 400 repetitions, four of their errors."""
    front = warner_sweep(PRIOR, 5000, steps=10).within(mse=1e-4)
    calls = []
    found = with_iterative_error(
        front, repetitions=400, seed=1, progress=lambda done, total: calls.append((done, total))
    )
    assert calls[-1] == (400, 400)
    ratio = np.array([point["iterative_mse"] / point["mse"] for point in found])
    assert len(ratio) >= 2
    assert ratio == pytest.approx(np.ones(len(ratio)), abs=4 * np.sqrt(2 / (2 * 400)))


@pytest.mark.slow
def test_the_simplex_limits_what_noise_can_do():
    found = with_iterative_error(warner_sweep(PRIOR, 100, steps=60).within(epsilon=0.2), repetitions=20, seed=1)
    assert all(point["iterative_mse"] < min(point["mse"], 0.5) for point in found)
    assert [goal.name for goal in found.objectives] == ["adversary_accuracy", "iterative_mse"]


def test_channels_with_different_numbers_of_reports():
    front = certified_front(PRIOR, 1000, delta=0.75, accuracies=4)
    assert len({len(point.matrix()) for point in front}) > 1
    one, again = (with_iterative_error(front, repetitions=3, seed=7) for _ in range(2))
    assert [point["iterative_mse"] for point in one] == [point["iterative_mse"] for point in again]
    assert one.plot().get_yscale() == "log"


def test_refused():
    front = warner_sweep(PRIOR, 100, steps=3)
    with pytest.raises(SottovoceError, match="repetitions must be a positive whole number"):
        with_iterative_error(front, repetitions=0)
    with pytest.raises(SottovoceError, match="front must have points"):
        with_iterative_error(Front((), tuple(PRIOR), 100))
