"""The proof holds whatever it is made from, and every row's minimum is one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from sottovoce.designs.information import program
from sottovoce.designs.information.least_information import (
    least_information,
    proven_information,
    smallest_distortion,
    water_filling,
)
from sottovoce.designs.information.program import Program, best_rows, targets
from sottovoce.measures.matrices import posteriors
from sottovoce.measures.privacy import mutual_information

PRIOR = np.array([0.45, 0.25, 0.2, 0.1])


@given(st.integers(0, 2**32 - 1), st.floats(0, 4), st.floats(0.1, 3))
@settings(max_examples=100)
def test_no_multipliers_prove_more_than_is_attained(seed, slope, epsilon):
    rng = np.random.default_rng(seed)
    odds = np.exp(epsilon)
    most = rng.uniform(smallest_distortion(PRIOR, odds), 1 - PRIOR.max())
    worth, guessed = rng.normal(0, slope + 0.1, 4), rng.dirichlet(np.ones(4), 4)
    program = Program(PRIOR, odds, most)
    attained = least_information(PRIOR, odds, most).value
    assert proven_information(program, worth, slope, guessed) <= attained + 1e-12
    best = best_rows(PRIOR, odds, worth, slope).posteriors
    assert proven_information(program, worth, slope, best) <= attained + 1e-12


@given(st.integers(0, 2**32 - 1), st.floats(0, 4), st.floats(0.1, 3))
@settings(max_examples=30)
def test_best_rows_minimise(seed, slope, epsilon):
    """Against SLSQP, in the logarithms of a row over its least entry."""
    worth = np.random.default_rng(seed).normal(0, 1, 4)
    found = best_rows(PRIOR, np.exp(epsilon), worth, slope)

    def loss(logarithms, wanted):
        row = PRIOR * np.exp(logarithms)
        row /= row.sum()
        return row @ (np.log(row / PRIOR) - wanted)

    for wanted, least in zip(targets(worth, slope), found.losses, strict=True):
        starts = np.clip(wanted - wanted.min(), 0, epsilon)
        searched = minimize(loss, starts, args=(wanted,), bounds=[(0, epsilon)] * 4, method="SLSQP")
        assert least <= searched.fun + 1e-9


def test_levels_from_a_start_that_is_cut_short(monkeypatch):
    worth = np.array([1.0, 0.2, -1.5, 3.0])
    whole = best_rows(PRIOR, 2.0, worth, 1.0)
    assert best_rows(PRIOR, 2.0, worth, 1.0, whole.levels).losses == pytest.approx(whole.losses, abs=1e-14)
    monkeypatch.setattr(program, "MOST_ROUNDS", 0)
    assert (best_rows(PRIOR, 2.0, worth, 1.0).losses >= whole.losses).all()


@pytest.mark.parametrize("most", [0.05, 0.2, 0.35, 0.5])
def test_reverse_water_filling_is_proven_by_its_own_multipliers(most):
    """Odds of 1e12 stand for unbounded ones; L = log(posterior / prior) gives worth and slope."""
    matrix = water_filling(PRIOR, most)
    assert 1 - matrix.diagonal() @ PRIOR == pytest.approx(most)
    told = posteriors(matrix, PRIOR)
    kept = matrix.any(axis=1)
    level = told[kept][0][1] if kept[1] else 0
    slope = np.log((1 - most) / level)
    worth = np.where(kept, np.log((1 - most) / PRIOR), slope)
    best = PRIOR * np.exp(targets(worth, slope))
    best /= best.sum(axis=1, keepdims=True)
    bound = proven_information(Program(PRIOR, 1e12, most), worth, slope, best)
    assert bound == pytest.approx(mutual_information(matrix, PRIOR), abs=1e-9)
