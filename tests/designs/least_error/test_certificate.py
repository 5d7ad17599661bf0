"""The optimum and its proof once more, by a general solver that knows nothing of ours."""

import numpy as np
import pytest

from sottovoce.designs.least_error.atoms import adversary_chance, all_atoms, checked_limits
from sottovoce.designs.least_error.column_generation import best_weights, least_error, proven_bound
from sottovoce.errors import SottovoceError

cvxpy = pytest.importorskip("cvxpy")

PRIOR = [0.4, 0.3, 0.2, 0.1]
LEVELS = [
    {"delta": 0.6, "accuracy": 0.5},
    {"accuracy": 0.45},
    {"odds": 3.0},
    {"odds": 3.0, "accuracy": 0.45},
    {"odds": 4.0, "delta": 0.55},
    {"odds": 4.0, "delta": 0.5, "accuracy": 0.45},
]


def by_clarabel(prior, atoms, accuracy):
    """`min tr J^-1` over weights of the atoms, as a semidefinite program: [[J, I], [I, T]] >= 0, min tr T."""
    prior = np.array(prior)
    size, weights = prior.size, cvxpy.Variable(len(atoms), nonneg=True)
    inverse = cvxpy.Variable((size, size), symmetric=True)
    information = atoms.T @ cvxpy.diag(weights) @ atoms
    rules = [
        atoms.T @ weights == 1,
        cvxpy.bmat([[information, np.eye(size)], [np.eye(size), inverse]]) >> 0,
    ]
    if accuracy is not None:
        rules.append(weights @ adversary_chance(prior, atoms) <= accuracy)
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.trace(inverse)), rules)
    problem.solve(solver="CLARABEL")
    return (problem.value - prior @ prior) / size


@pytest.mark.parametrize("level", LEVELS)
def test_clarabel_finds_the_same_optimum(level):
    limits = checked_limits(PRIOR, **level)
    assert by_clarabel(PRIOR, all_atoms(limits), limits.accuracy) == pytest.approx(
        least_error(PRIOR, **level).value, rel=1e-6
    )


@pytest.mark.parametrize("level", LEVELS)
def test_the_bound_holds_by_arithmetic_alone(level):
    limits = checked_limits(PRIOR, **level)
    atoms = all_atoms(limits)
    chances = adversary_chance(limits.prior, atoms)
    found = best_weights(atoms, chances, limits.accuracy, 1e-9)
    excess = ((atoms @ found.inverse) ** 2).sum(axis=1) - atoms @ found.nu - found.eta * chances
    cost = found.nu.sum() + excess.max() + found.eta * (limits.accuracy or 0)
    by_hand = (2 * np.trace(found.inverse) - cost - limits.prior @ limits.prior) / 4
    assert proven_bound(limits, found.inverse, found.nu, found.eta) == pytest.approx(by_hand, rel=1e-9)
    assert by_hand == pytest.approx(least_error(PRIOR, **level).lower_bound, rel=1e-6)


def test_any_multipliers_bound_the_optimum():
    limits, best = checked_limits(PRIOR, odds=3.0, accuracy=0.5), least_error(PRIOR, odds=3.0, accuracy=0.5)
    rng = np.random.default_rng(11)
    for _ in range(50):
        root = rng.normal(size=(4, 4)) * rng.uniform(0.1, 3)
        assert proven_bound(limits, root + root.T, rng.normal(size=4), float(rng.exponential())) <= best.value


def test_a_negative_multiplier_proves_nothing():
    with pytest.raises(SottovoceError, match="eta must not be negative"):
        proven_bound(checked_limits(PRIOR, odds=3.0), np.eye(4), np.zeros(4), -1.0)
