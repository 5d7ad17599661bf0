"""The operators of one generation as laws, and as the measures that the library states elsewhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.design.optrr import _kernels as plain
from sottovoce.design.optrr.matrices import SWEEPS, assessed, repair
from sottovoce.design.optrr.search import UNIFORMS
from sottovoce.measure.adversary import adversary_accuracy, worst_posterior
from sottovoce.measure.utility import average_mean_squared_error
from sottovoce.mechanism.bulk import kernels


@pytest.fixture(scope="module", params=["compiled", "plain"])
def loops(request):
    return plain if request.param == "plain" else kernels("sottovoce.design.optrr._kernels")


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
    losses = assessed(matrices, prior, 1000)
    assert losses[:, 0] == pytest.approx(adversary_accuracy(matrices, prior), rel=1e-9)
    assert losses[:, 1] == pytest.approx(average_mean_squared_error(matrices, prior, 1000), rel=1e-6)


def test_a_report_that_never_comes_makes_a_matrix_singular():
    """Elimination leaves a pivot of about 1e-17 here, and a law of 0 would hide the inverse that it makes."""
    matrix = np.array([[0.1, 0.2, 0.3], [0.9, 0.8, 0.7], [0.0, 0.0, 0.0]])
    nearly = matrix + np.array([[0], [0], [1e-18]])
    for one in (matrix, nearly):
        assert assessed(one[None], np.full(3, 1 / 3), 1000)[0, 1] == np.inf


def test_a_singular_matrix_has_an_infinite_error():
    matrices = np.array([[[0.5, 0.5], [0.5, 0.5]], [[0.0, 1.0], [1.0, 0.0]]])
    losses = assessed(matrices, np.array([0.7, 0.3]), 1000)
    assert losses[0].tolist() == [0.7, np.inf]
    assert losses[1] == pytest.approx([1, (0.21 + 0.21) / 2 / 1000])  # names are swapped, nothing is lost


@given(cases(), st.floats(0, 1))
def test_children_are_column_stochastic_and_made_of_columns(loops, case, rate):
    rng, _, archive = case
    children = np.empty((5, *archive.shape[1:]))  # an odd one out has a pair of its own
    uniforms = rng.random((5, UNIFORMS))
    loops.breed(archive, rng.random(len(archive)), uniforms, rate, children)
    assert children.min() >= -1e-15
    assert children.sum(axis=1) == pytest.approx(np.ones(children.shape[::2]), abs=1e-12)
    changed = [
        sum(not any(np.array_equal(child[:, x], parent[:, x]) for parent in archive) for x in range(child.shape[1]))
        for child in children
    ]
    assert max(changed) <= 1  # a mutation changes one column


def test_crossover_swaps_what_is_right_of_the_line(loops):
    archive = np.stack([np.eye(4), np.full((4, 4), 0.25)])
    children = np.empty((2, 4, 4))
    uniforms = np.zeros((2, UNIFORMS))
    uniforms[0, 2:4], uniforms[0, 4], uniforms[:, 5] = 0.9, 0.5, 0.9  # winners 0 and 1, line after two columns
    loops.breed(archive, np.array([0.1, 0.2]), uniforms, 0.5, children)
    assert np.array_equal(children[0], np.hstack([archive[0][:, :2], archive[1][:, 2:]]))
    assert np.array_equal(children[1], np.hstack([archive[1][:, :2], archive[0][:, 2:]]))


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
    archive = np.full((1, 3, 3), 1 / 3)
    archive[0, :, 0] = own
    uniforms = np.zeros((1, UNIFORMS))
    uniforms[0, 8], uniforms[0, 9] = direction, 0.1
    children = np.empty((1, 3, 3))
    loops.breed(archive, np.ones(1), uniforms, 0.5, children)
    assert children[0, :, 0] == pytest.approx(expected)
    assert (children[0, :, 1:] == 1 / 3).all()


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
    losses = np.round(assessed(matrices, prior, 1000), 1)  # so coarse that some are equal
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
