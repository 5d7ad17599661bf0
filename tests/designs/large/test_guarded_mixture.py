"""Mixtures that keep the odds and the adversary's accuracy."""

import numpy as np
import pytest

from sottovoce.designs.large import mixture, set_measures
from sottovoce.designs.large.bound import climb
from sottovoce.designs.large.mixture import best_mixture

ODDS = 7.4


@pytest.fixture
def certificate(named_prior, monkeypatch):
    """Twelve categories, and less to try than a design would."""
    monkeypatch.setattr(mixture, "_SIZES", 3)
    monkeypatch.setattr(mixture, "_ROUNDS", 4)
    return max(climb(named_prior("zipf", 12), ODDS, []), key=lambda found: found.bound)


@pytest.mark.parametrize("accuracy", [0.3, 0.99])
def test_gradient_of_the_augmented_lagrangian_is_its_slope(certificate, accuracy):
    # Once where the accuracy costs, and once where it is far below its target.
    guarded = mixture._AccuracyBounded.of(certificate, 1.0, accuracy)
    parameters = 0.3 * np.random.default_rng(6).normal(size=13 * 3)
    parameters[-3:] = np.log(0.03)
    objective = mixture._Objective(guarded, np.linspace(-1, 1, 12), 2.0, 0.0, 10.0)
    _, gradient = objective(parameters)
    for i, unit in enumerate(1e-5 * np.eye(len(parameters))):
        expected = (objective(parameters + unit)[0] - objective(parameters - unit)[0]) / 2e-5
        assert gradient[i] == pytest.approx(expected, rel=1e-5, abs=1e-7 * np.abs(gradient).max())


def test_mixture_keeps_both_bounds_and_its_error_is_the_measured_one(certificate):
    prior, steps = certificate.prior, []
    free, least = best_mixture(certificate, lambda step: None)
    accuracy = set_measures.adversary_accuracy(free, prior) - 0.01
    design, error = mixture.accuracy_bounded_mixture(
        certificate, accuracy, lambda done, most: steps.append((done, most))
    )
    assert set_measures.adversary_accuracy(design, prior) <= accuracy
    assert set_measures.epsilon(design, prior) <= np.log(ODDS) + 1e-9
    assert set_measures.mean_squared_error(design, prior) == pytest.approx(error, rel=1e-9)
    assert least < error
    assert steps[0] == (1, 3)


def test_none_is_found_where_the_accuracy_is_that_of_no_report(certificate, monkeypatch):
    monkeypatch.setattr(mixture, "_SHARES", (1.0,))
    monkeypatch.setattr(mixture, "descend", lambda objective, parameters, masses: parameters)
    assert mixture.accuracy_bounded_mixture(certificate, certificate.prior.max(), lambda done, most: None) is None
