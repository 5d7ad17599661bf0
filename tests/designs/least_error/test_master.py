import sys

import numpy as np
import pytest

from sottovoce.designs.least_error import column_generation, pruning
from sottovoce.designs.least_error.atoms import adversary_chance, all_atoms, checked_limits
from sottovoce.designs.least_error.column_generation import _solver, best_weights
from sottovoce.errors import MissingExtraError, SottovoceError

PRIOR = np.array([0.5, 0.3, 0.2])


def test_weights_of_the_truth_are_its_probabilities():
    found = best_weights(np.diag(1 / PRIOR), np.ones(3), None, 1e-9)
    assert found.weights == pytest.approx(PRIOR)
    assert found.inverse == pytest.approx(np.diag(PRIOR))
    assert found.eta == 0


def test_more_precision_than_there_is_ends_too():
    limits = checked_limits(PRIOR, accuracy=0.6, odds=4.0)
    atoms = all_atoms(limits)
    exact = best_weights(atoms, adversary_chance(PRIOR, atoms), 0.6, 0.0)
    usual = best_weights(atoms, adversary_chance(PRIOR, atoms), 0.6, 1e-9)
    assert np.trace(exact.inverse) == pytest.approx(np.trace(usual.inverse), rel=1e-8)


def test_a_system_that_is_not_positive_is_refused():
    with pytest.raises(np.linalg.LinAlgError):
        _solver(-np.eye(2))


def test_scipy_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.linalg", None)
    with pytest.raises(MissingExtraError, match=r"the least error needs scipy; .*sottovoce\[design\]"):
        column_generation.least_error(PRIOR, odds=2.0)


def test_what_breaks_its_limits_is_never_returned(monkeypatch):
    monkeypatch.setattr(column_generation, "channel_matrix", lambda *_: np.eye(3))
    with pytest.raises(SottovoceError, match=r"^odds must be further from infeasible.* Got 2 instead"):
        column_generation.least_error(PRIOR, odds=2.0)


def test_limits_a_hair_from_infeasible():
    # Bold steps get stuck here, careful ones do not.
    found = column_generation.least_error(
        [0.03253953396801663, 0.3457301870710003, 0.6217302789609831],
        accuracy=0.6218514520724092,
        delta=0.621940252648827,
    )
    assert 0 <= found.gap < 1e-6


def test_an_unfinished_search_states_its_gap(monkeypatch):
    monkeypatch.setattr(column_generation, "_MOST_ROUNDS", 1)
    early = column_generation.least_error([0.3, 0.25, 0.2, 0.15, 0.1], accuracy=0.4, delta=0.6)
    monkeypatch.undo()
    best = column_generation.least_error([0.3, 0.25, 0.2, 0.15, 0.1], accuracy=0.4, delta=0.6)
    assert early.lower_bound <= best.value < early.value
    assert early.gap > 1e-3


@pytest.mark.parametrize("exchanges", [0, 2])
def test_reports_that_make_no_channel_are_passed_over(monkeypatch, exchanges):
    monkeypatch.setattr(pruning, "_MOST_EXCHANGES", exchanges)
    limits = checked_limits(PRIOR, odds=4.0)
    atoms, weights = pruning.pruned(limits, np.ones((4, 3)), 3, lambda _: all_atoms(limits))
    assert weights @ atoms == pytest.approx(1)
    assert len(atoms) == 3
