"""The operators of one generation as laws, and as the measures that the library states elsewhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.designs.optrr.matrices import (
    REACH,
    SWEEPS,
    UNIFORMS,
    Settings,
    children_of,
    first_matrices,
    losses_of,
    repair,
)
from sottovoce.measures.privacy import adversary_accuracy, worst_posterior
from sottovoce.measures.utility import average_mean_squared_error


@st.composite
def cases(draw):
    """A prior of two to six categories, and random matrices between noise and the identity."""
    n = draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    prior = rng.dirichlet(np.full(n, 2.0)) * 0.9 + 0.1 / n
    columns = rng.dirichlet(np.full(n, draw(st.sampled_from([0.1, 1.0]))), (8, n)).transpose(0, 2, 1)
    share = rng.random((8, 1, 1))
    return rng, prior, np.ascontiguousarray(share * np.eye(n) + (1 - share) * columns)


@given(cases())
def test_losses_are_the_measures(case):
    _, prior, matrices = case
    losses = losses_of(matrices, prior, 1000)
    assert losses[:, 0] == pytest.approx(adversary_accuracy(matrices, prior), rel=1e-9)
    assert losses[:, 1] == pytest.approx(average_mean_squared_error(matrices, prior, 1000), rel=1e-6)


def test_a_report_that_never_comes_makes_a_matrix_singular():
    """Elimination leaves a pivot of about 1e-17 here, and a law of 0 would hide the inverse that it makes."""
    matrix = np.array([[0.1, 0.2, 0.3], [0.9, 0.8, 0.7], [0.0, 0.0, 0.0]])
    nearly = matrix + np.array([[0], [0], [1e-18]])
    for one in (matrix, nearly):
        assert losses_of(one[None], np.full(3, 1 / 3), 1000)[0, 1] == np.inf


def test_a_singular_matrix_has_an_infinite_error():
    matrices = np.array([[[0.5, 0.5], [0.5, 0.5]], [[0.0, 1.0], [1.0, 0.0]]])
    losses = losses_of(matrices, np.array([0.7, 0.3]), 1000)
    assert losses[0].tolist() == [0.7, np.inf]
    assert losses[1] == pytest.approx([1, (0.21 + 0.21) / 2 / 1000])  # names are swapped, nothing is lost


@settings(max_examples=40)
@given(cases(), *[st.floats(0, 1)] * 3)
def test_children_are_column_stochastic_and_made_of_columns(loops, case, rate, neighbours, levelling):
    rng, prior, stock = case
    archive, omega, front = stock[:4], stock[4:], np.arange(4)
    settings = Settings(population=5, mutation_rate=rate, neighbours=neighbours, levelling=levelling)  # one odd one out
    children = children_of(loops, settings, rng, prior, (archive, rng.random(4)), (omega, front))
    assert children.min() >= -1e-15
    assert children.sum(axis=1) == pytest.approx(np.ones(children.shape[::2]), abs=1e-12)
    changed = [
        sum(not any(np.array_equal(child[:, x], parent[:, x]) for parent in stock) for x in range(child.shape[1]))
        for child in children
    ]
    assert max(changed) <= (1 if levelling == 0 else len(prior))  # the paper's mutation changes one column
    assert rate > 0 or not any(changed)


@given(cases())
def test_first_matrices_are_column_stochastic(case):
    rng, prior, _ = case
    drawn = first_matrices(prior, 20, rng)
    assert drawn.min() >= 0
    assert drawn.sum(axis=1) == pytest.approx(np.ones((20, len(prior))))


FOUR = np.stack([np.eye(4), np.full((4, 4), 0.25), np.eye(4)[::-1], np.full((4, 4), 0.5) - 0.25 * np.eye(4)[::-1]])
FOUR[3] /= FOUR[3].sum(axis=0)


def mated(loops, uniforms, neighbours, front=(0, 2, 3)):
    children = np.empty((2, 4, 4))
    archive, fitness = FOUR[:2].copy(), np.array([0.1, 0.2])
    loops.mate(archive, fitness, FOUR, np.array(front), np.array([uniforms] * 2), neighbours, REACH, children)
    return children


@pytest.mark.parametrize(
    ("uniforms", "neighbours", "front", "parents"),
    [
        ([0.0, 0.0, 0.9, 0.9, 0.5, 0.9], 0.5, (0, 2, 3), (0, 1)),  # tournaments of the archive
        ([0.0, 0.9, 0.9, 0.0, 0.5, 0.9], 0.5, (0, 2, 3), (0, 0)),  # which the fitter one wins
        ([0.0, 0.0, 0.9, 0.9, 0.5, 0.4], 0.5, (0, 2, 3), (0, 2)),  # the next on Omega's front
        ([0.9, 0.0, 0.9, 0.9, 0.5, 0.4], 0.5, (0, 2, 3), (2, 3)),
        ([0.9, 0.999, 0.9, 0.9, 0.5, 0.4], 0.5, (0, 1, 2, 3), (1, 3)),  # two further: 3 ** .999 is 2
        ([0.0, 0.0, 0.9, 0.9, 0.5, 0.4], 0.5, (3,), (0, 1)),  # a front of one has no neighbours
    ],
)
def test_parents_swap_what_is_right_of_the_line(loops, uniforms, neighbours, front, parents):
    """The line is after two columns: half of three places further than the first."""
    first, second = FOUR[parents[0]], FOUR[parents[1]]
    children = mated(loops, uniforms, neighbours, front)
    assert np.array_equal(children[0], np.hstack([first[:, :2], second[:, 2:]]))
    assert np.array_equal(children[1], np.hstack([second[:, :2], first[:, 2:]]))


def changed(change, column, *given, **drawn):
    """First column of a matrix after a change drawn by these uniforms."""
    matrix = np.full((1, 3, 3), 1 / 3)
    matrix[0, :, 0] = column
    uniforms = np.zeros((1, UNIFORMS))
    for name, value in drawn.items():
        uniforms[0, {"row": 7, "size": 8, "way": 10, "tie": 11}[name]] = value
    change(matrix, np.array([0]), *given, uniforms)
    return matrix[0]


@pytest.mark.parametrize(
    ("own", "direction", "expected"),
    [
        ([0.4, 0.4, 0.2], 0.0, [0.5, 0.4 - 0.1 * 2 / 3, 0.2 - 0.1 / 3]),  # losses in proportion to the elements
        ([0.4, 0.4, 0.2], 0.9, [0.3, 0.4 + 0.1 * 0.6 / 1.4, 0.2 + 0.1 * 0.8 / 1.4]),  # gains to one minus them
        ([0.05, 0.95, 0.0], 0.9, [0.0, 0.95 + 0.05 * 0.05 / 1.05, 0.05 / 1.05]),  # no further than zero
        ([1.0, 0.0, 0.0], 0.0, [1.0, 0.0, 0.0]),  # nor than one
    ],
)
def test_mutation_keeps_proportions(loops, own, direction, expected):
    """Section V.F of the paper, by hand: the first element of the first column, changed by .1."""
    found = changed(loops.mutate, own, way=direction, size=0.1)
    assert found[:, 0] == pytest.approx(expected)
    assert (found[:, 1:] == 1 / 3).all()


@pytest.mark.parametrize(
    ("own", "receiver", "tie", "expected"),
    [
        ([0.4, 0.4, 0.2], 0.9, 0.9, [0.3, 0.4, 0.3]),  # from the first report to the third
        ([0.05, 0.95, 0.0], 0.9, 0.9, [0.0, 0.95, 0.05]),  # no more than there is
        ([0.4, 0.4, 0.2], 0.0, 0.9, [0.4, 0.4, 0.2]),  # nothing to itself
        ([0.6, 0.3, 0.1], 0.9, 0.0, [0.6 - 7 / 30, 0.3, 1 / 3]),  # until it ties with the others' 1 / 3
        ([0.2, 0.4, 0.4], 0.9, 0.0, [0.2, 0.4, 0.4]),  # which it exceeds already
    ],
)
def test_a_shift_leaves_all_but_two_elements_as_they_are(loops, own, receiver, tie, expected):
    found = changed(loops.shift, own, np.full(3, 1 / 3), way=receiver, tie=tie, size=0.1)
    assert found[:, 0] == pytest.approx(expected)
    assert (found[:, 1:] == 1 / 3).all()


@pytest.mark.parametrize(("way", "factor"), [(0.0, 1.1), (0.9, 0.9)])
def test_a_lift_keeps_ties_and_zeros(loops, way, factor):
    """The first report, by a tenth: two of three truths tie in it, and the third one never gives the second report."""
    matrix = np.array([[[0.4, 0.4, 0.1], [0.6, 0.2, 0.0], [0.0, 0.4, 0.9]]])
    uniforms = np.zeros((1, UNIFORMS))
    uniforms[0, [8, 10]] = 0.1, way
    before = matrix[0].copy()
    loops.lift(matrix, np.array([0]), np.full(3, 1 / 3), uniforms)
    assert matrix[0, 0, :2] == pytest.approx([0.4 * factor] * 2)
    assert matrix[0, 1, 1] / matrix[0, 2, 1] == pytest.approx(before[1, 1] / before[2, 1])
    assert np.array_equal(matrix[0, :, 2], before[:, 2])
    assert matrix[0].sum(axis=0) == pytest.approx(np.ones(3))
    certain = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    loops.lift(certain, np.array([0]), np.full(2, 0.5), uniforms)
    assert np.array_equal(certain[0], np.eye(2))  # nothing to gain from


@settings(max_examples=40)
@given(cases(), st.floats(0, 1), st.sampled_from([1, SWEEPS]))
def test_the_repair_meets_any_delta_above_the_prior(loops, case, share, sweeps):
    """Theorem 5: delta cannot be below the largest prior. Everything above is met, by mixing if sweeps do not do."""
    _, prior, matrices = case
    delta = prior.max() + (0.999 - prior.max()) * max(share, 1e-3)
    repaired = matrices.copy()
    repair(loops, repaired, prior, delta, sweeps)
    assert repaired.min() >= -1e-15
    assert repaired.sum(axis=1) == pytest.approx(np.ones(repaired.shape[::2]), abs=1e-9)
    repaired /= repaired.sum(axis=1, keepdims=True)
    assert worst_posterior(repaired, prior).max() <= delta * (1 + 1e-9)
    kept = worst_posterior(matrices, prior) <= delta
    assert np.array_equal(repaired[kept], (matrices / matrices.sum(axis=1, keepdims=True))[kept])


def test_the_repair_adds_in_proportion_to_the_room(loops):
    """By hand: P(x0 | y0) = .75 at delta .6 lowers A00 to .6 / .4 * .1 = .15 for even priors and A01 = .1."""
    matrix = np.array([[[0.3, 0.1], [0.7, 0.9]]])
    repair(loops, matrix, np.array([0.5, 0.5]), 0.6)
    assert matrix[0, :, 0] == pytest.approx([0.15, 0.85])


def test_rounding_may_leave_a_column_no_room(loops):
    matrix = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    prior = np.array([0.5 + 1e-16, 0.5 - 1e-16])
    repair(loops, matrix, prior, 0.5 + 1e-12)
    assert matrix.sum(axis=1) == pytest.approx(np.ones((1, 2)))
    assert np.isfinite(matrix).all()


@given(cases(), st.integers(1, 20))
def test_omega_never_holds_a_dominated_point_at_its_index(loops, case, slots):
    _, prior, matrices = case
    losses = np.round(losses_of(matrices, prior, 1000), 1)  # so coarse that some are equal
    omega, omega_losses = np.zeros((slots, *matrices.shape[1:])), np.full((slots, 2), np.inf)
    changes = np.zeros(1, np.int64)
    left, left_losses = matrices.copy(), losses.copy()
    loops.exchange(left, left_losses, omega, omega_losses, changes)
    index = np.clip(((1 - losses[:, 0]) * slots).astype(int), 0, slots - 1)
    for slot in range(slots):
        here = losses[(index == slot) & np.isfinite(losses[:, 1])]
        assert np.isfinite(omega_losses[slot, 1]) == bool(len(here))
        dominated = (here <= omega_losses[slot]).all(axis=1) & (here < omega_losses[slot]).any(axis=1)
        assert not dominated.any()
    assert changes[0] >= np.isfinite(omega_losses[:, 1]).sum()
    for k, slot in enumerate(index):  # a worse matrix has become the better one of its index as of then
        assert left_losses[k, 1] <= losses[k, 1]
        assert np.array_equal(left[k], matrices[k]) or left_losses[k, 1] < losses[k, 1]
        assert (left_losses[k, 1] >= omega_losses[slot, 1]) or not np.isfinite(losses[k, 1])


def test_fitness_is_spea2s(loops):
    """Zitzler et al. by hand: of (1,1), (2,2), (3,3), (0,4) the first dominates two, the second one."""
    losses = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [0.0, 4.0]])
    fitness, distances = np.empty(4), np.empty((4, 4))
    loops.rank(losses, losses, fitness, distances)
    near = np.sqrt(2)
    assert fitness == pytest.approx([1 / (near + 2), 2 + 1 / (near + 2), 3 + 1 / (near + 2), 1 / (np.sqrt(8) + 2)])
    assert distances[0, 3] == pytest.approx(np.sqrt(10))


def test_truncation_removes_the_nearest_then_by_the_second_nearest(loops):
    places = np.array([[0.0, 0], [1, 0], [2, 0], [10, 0], [11.5, 0], [99, 0]])
    distances = np.abs(places[:, 0, None] - places[None, :, 0])
    alive = np.array([True, True, True, True, True, False])
    loops.truncate(alive, distances, 4)
    assert np.flatnonzero(alive).tolist() == [0, 2, 3, 4]  # 1 is at distance 1 from two, the others have one such
    loops.truncate(alive, distances, 3)
    assert np.flatnonzero(alive).tolist() == [0, 2, 4]  # 3 and 4 are 1.5 apart; 3 is nearer to the next
