"""The smallest distortion against the linear program it solves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from sottovoce.designs.information.least_information import least_distorting, smallest_distortion
from sottovoce.measures.utility import distortion


def by_linear_program(prior, odds):
    """Largest `sum_x p_x A[x, x]` with columns that sum to one and rows between m_y and odds m_y."""
    size = prior.size
    floor = np.kron(np.eye(size), np.ones((size, 1)))
    inside = np.eye(size**2)
    rows = np.block([[-inside, floor], [inside, -odds * floor]])
    columns = np.hstack([np.kron(np.ones((1, size)), np.eye(size)), np.zeros((size, size))])
    gain = np.append(np.diag(prior).ravel(), np.zeros(size))
    found = linprog(-gain, A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=columns, b_eq=np.ones(size))
    return 1 + found.fun


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=6), st.floats(1, 50))
@settings(max_examples=40)
def test_the_formula_solves_the_linear_program(weights, odds):
    prior = np.array(weights) / sum(weights)
    smallest = smallest_distortion(prior, odds)
    assert smallest == pytest.approx(by_linear_program(prior, odds), abs=1e-9)
    matrix = least_distorting(prior, odds)
    assert distortion(matrix, prior) == pytest.approx(smallest, abs=1e-11)
    assert (matrix.max(axis=1) <= odds * matrix.min(axis=1) * (1 + 1e-12)).all()


def test_unbounded_odds_need_no_distortion():
    assert smallest_distortion([0.7, 0.3], None) == 0
