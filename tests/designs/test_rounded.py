"""Rounding: towards privacy to the last bit, zeros stay zeros, next to nothing is lost."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.designs.exact_scheme import (
    Solution,
    match_rows_to_truths,
    merge_rare_reports,
    round_matrix,
    round_solution,
)
from sottovoce.designs.requirement import Requirement
from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.exact import odds_of_epsilon
from sottovoce.measures.privacy import worst_posterior
from sottovoce.measures.utility import average_mean_squared_error


def staircases(seed: int, categories: int, odds: float) -> np.ndarray:
    """Reports of likelihoods 1 and `odds`, with weights over twelve orders of magnitude, and randomized response."""
    rng = np.random.default_rng(seed)
    rows = np.where(rng.random((3 * categories, categories)) < 0.4, odds, 1.0)
    rows *= 10.0 ** rng.uniform(-12, 0, (len(rows), 1)) / len(rows) / odds
    circle = np.where(np.eye(categories), odds, 1.0)
    rows = np.vstack([rows, circle / circle.sum(axis=0)])
    return rows / rows.sum(axis=0)


@given(st.integers(0, 10**6), st.integers(2, 8), st.floats(0.05, 6), st.floats(-1e-9, 1e-9))
@settings(deadline=None, max_examples=60)
def test_odds_are_never_exceeded(seed, categories, epsilon, off):
    """Even where the optimiser's own odds are above, or columns do not quite sum to one."""
    asked = odds_of_epsilon("epsilon", epsilon)
    matrix = staircases(seed, categories, float(asked)) * (1 + off)
    channel = round_matrix(matrix, asked).channel
    assert channel.odds <= asked
    assert np.abs(channel.dense() - matrix).max() < 0.2  # columns scaled unlike may have exceeded the odds far
    prior = np.full(categories, 1 / categories)
    assert np.isfinite(average_mean_squared_error(channel, prior, 1))


def test_a_hair_above_the_odds_costs_a_hair():
    asked = odds_of_epsilon("epsilon", 1)
    diagonal = float(asked) * (1 + 1e-12)
    matrix = (np.ones((5, 5)) + (diagonal - 1) * np.eye(5)) / (diagonal + 4)
    channel = round_matrix(matrix, asked).channel
    assert 0 <= asked / channel.odds - 1 < 1e-12
    before, after = (average_mean_squared_error(m, [0.2] * 5, 1) for m in (matrix, channel))
    assert after == pytest.approx(before, rel=1e-11)


@given(st.integers(0, 10**6), st.integers(2, 6))
@settings(deadline=None, max_examples=40)
def test_zeros_stay_and_nothing_else_becomes_one(seed, categories):
    rng = np.random.default_rng(seed)
    matrix = rng.random((2 * categories, categories)) * (rng.random((2 * categories, categories)) < 0.6)
    matrix *= 10.0 ** rng.uniform(-15, 0, (2 * categories, 1))
    matrix = np.vstack([matrix, np.eye(categories) * 0.1])
    matrix /= matrix.sum(axis=0)
    channel = round_matrix(matrix, None).channel
    assert ((channel.dense() > 0) == (matrix > 0)).all()
    assert channel.odds is None
    assert np.abs(channel.dense() - matrix).max() < 1e-14


def test_reports_that_never_come_are_kept():
    matrix = np.array([[0.75, 0.25], [0.0, 0.0], [0.25, 0.75]])
    assert round_matrix(matrix, Fraction(3)).channel.n_out == 3


def test_what_no_margin_can_save_is_refused(monkeypatch):
    """Without room below the odds, the sides that columns lack push some row above them."""
    monkeypatch.setattr("sottovoce.designs.exact_scheme.MARGINS", (Fraction(0),))
    with pytest.raises(
        SottovoceError, match="odds must be attainable with probabilities in multiples of 2\\^-64 for this design"
    ):
        round_matrix(staircases(2, 8, 3.0), Fraction(3))


@given(st.integers(0, 10**6), st.integers(2, 6))
@settings(deadline=None, max_examples=30)
def test_slivers_are_added_to_others_without_harm(seed, categories):
    matrix = staircases(seed, categories, 3.0)
    left = merge_rare_reports(matrix)
    assert left.sum(axis=0) == pytest.approx(np.ones(categories))
    assert (left.max(axis=1) >= 1e-8).all()
    assert (left.max(axis=1) / left.min(axis=1)).max() <= (matrix.max(axis=1) / matrix.min(axis=1)).max() * (1 + 1e-12)
    prior = np.arange(1, categories + 1) / sum(range(1, categories + 1))
    assert worst_posterior(left, prior) <= worst_posterior(matrix, prior) * (1 + 1e-12)
    before, after = (average_mean_squared_error(m, prior, 1) for m in (matrix, left))
    assert after == pytest.approx(before, rel=1e-6)


def test_square_matrices_keep_their_slivers():
    matrix = np.array([[1 - 1e-9, 1 - 1e-9], [1e-9, 1e-9]])
    assert merge_rare_reports(matrix) is matrix


def test_a_solution_is_listed_or_drawn():
    with pytest.raises(SottovoceError, match="solution must have a matrix or sets"):
        round_solution(Solution(1.0, 1.0), Requirement.of([0.5, 0.5]))


def test_square_matrices_report_the_truth_most_often():
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet(np.ones(5), 5).T
    best = match_rows_to_truths(matrix, np.full(5, 0.2))
    assert sorted(map(tuple, best)) == sorted(map(tuple, matrix))
    for _ in range(50):
        assert np.trace(best) >= np.trace(matrix[rng.permutation(5)])
    wide = matrix[:, :3]
    assert match_rows_to_truths(wide, np.full(3, 1 / 3)) is wide


def test_ordering_needs_scipy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy.optimize", None)
    with pytest.raises(MissingExtraError, match="design needs scipy"):
        match_rows_to_truths(np.eye(2), np.array([0.5, 0.5]))
