"""Atoms against brute force: vertices of the polytope of (v, m, t), from every square system of tight constraints."""

from itertools import combinations

import numpy as np
import pytest

from sottovoce.designs.least_error.atoms import (
    Limits,
    Multipliers,
    adversary_chance,
    all_atoms,
    allowed,
    blocks,
    price,
)


def vertices(limits):
    """Vertices of {(v, m, t): p.v = 1, 0 <= m <= v <= odds m, p v <= t <= delta}, m and t only where they matter."""
    prior, size = limits.prior, limits.prior.size
    rows, bounds = [], []

    def require(row, bound):  # row . (v, m, t) <= bound
        rows.append(row)
        bounds.append(bound)

    unit = np.eye(size + 2)
    least, highest = unit[size], unit[size + 1]
    for x in range(size):
        require(-unit[x], 0.0)
        if limits.odds is not None:
            require(least - unit[x], 0.0)
            require(unit[x] - limits.odds * least, 0.0)
        if limits.accuracy is not None:
            require(prior[x] * unit[x] - highest, 0.0)
        if limits.delta is not None:
            require(prior[x] * unit[x], limits.delta)
    if limits.accuracy is not None and limits.delta is not None:
        require(highest, limits.delta)
    fixed = [np.append(prior, [0, 0])]
    fixed += [least] if limits.odds is None else []
    fixed += [highest] if limits.accuracy is None else []
    goal = [1.0, *[0.0] * (len(fixed) - 1)]
    found = []
    rows, bounds = np.array(rows), np.array(bounds)
    for tight in combinations(range(len(rows)), size + 2 - len(fixed)):
        system = np.vstack([fixed, rows[list(tight)]])
        if abs(np.linalg.det(system)) > 1e-10:
            point = np.linalg.solve(system, np.append(goal, bounds[list(tight)]))
            if (rows @ point <= bounds + 1e-9).all():
                found.append(point)
    return np.array(found)


PRIOR = np.array([0.45, 0.35, 0.2])
LEVELS = [
    {"delta": 0.6},
    {"delta": 0.5},
    {"accuracy": 0.5},
    {"delta": 0.6, "accuracy": 0.5},
    {"odds": 2.0},
    {"odds": 2.0, "accuracy": 0.5},
    {"odds": 4.0, "delta": 0.5},
    {"odds": 2.0, "delta": 0.5},
    {"odds": 3.0, "delta": 0.55, "accuracy": 0.5},
]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("prior", [PRIOR, np.array([0.4, 0.3, 0.2, 0.1])], ids=["three", "four"])
def test_every_vertex_is_an_atom(prior, level):
    limits = Limits(prior, **level)
    atoms = all_atoms(limits)
    for point in vertices(limits):
        vertex = point[: prior.size]
        # With an accuracy, vertices whose t is above the largest posterior are worse than the same v below.
        if limits.accuracy is None or point[-1] <= (prior * vertex).max() + 1e-9:
            assert abs(atoms - vertex).max(axis=1).min() < 1e-8, vertex


@pytest.mark.parametrize("level", LEVELS)
def test_every_atom_is_a_report_within_the_limits(level):
    limits = Limits(PRIOR, **level)
    atoms = all_atoms(limits)
    assert atoms @ PRIOR == pytest.approx(1)
    assert allowed(limits, atoms).all()


def test_what_is_not_allowed():
    rows = np.array([[1.0, 1.0], [2.0, 0.0], [-1.0, 3.0], [np.nan, np.nan]])
    assert allowed(Limits(np.array([0.5, 0.5])), rows).tolist() == [True, True, False, False]
    assert allowed(Limits(np.array([0.5, 0.5]), delta=0.6), rows).tolist() == [True, False, False, False]
    assert allowed(Limits(np.array([0.5, 0.5]), odds=3.0), rows).tolist() == [True, False, False, False]


# Twelve categories make two halves; posteriors and odds together have many blocks of the same kinds.
@pytest.mark.parametrize(
    ("categories", "level"), [(5, level) for level in LEVELS] + [(12, level) for level in LEVELS[:6]]
)
def test_prices_from_halves_are_those_of_the_atoms(categories, level):
    """Excesses over all sets of a block, by halves, against the formula applied to atoms written out."""
    rng = np.random.default_rng(5)
    prior = rng.dirichlet(np.full(categories, 5.0))
    limits = Limits(prior, **level)
    root = rng.normal(size=(categories, categories))
    multipliers = Multipliers(root @ root.T, rng.normal(size=categories), 0.7 if "accuracy" in level else 0.0)
    for block in blocks(limits):
        numbers = np.arange(2**block.choices.size)
        atoms = block.atoms(prior, numbers)
        fine = allowed(limits, atoms)
        priced = price(block, limits, multipliers, -np.inf, numbers.size)
        assert sorted(priced.sets) == np.flatnonzero(fine).tolist()
        expected = (
            ((atoms @ multipliers.squared) * atoms).sum(axis=1)
            - atoms @ multipliers.nu
            - multipliers.eta * adversary_chance(prior, atoms)
        )
        assert priced.excesses == pytest.approx(expected[priced.sets], abs=1e-6 * abs(expected[fine]).max(initial=1))
        assert priced.worst == (pytest.approx(expected[fine].max()) if fine.any() else -np.inf)
        assert len(price(block, limits, multipliers).sets) == 0
