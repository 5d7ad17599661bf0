"""Set mixtures: slopes against differences, columns and error against all sets."""

import sys

import numpy as np
import pytest

from sottovoce.designs.large import mixture as module
from sottovoce.designs.large.bound import climb
from sottovoce.designs.large.mixture import SetMixture, best_mixture
from sottovoce.errors import MissingExtraError

ONES, LENGTHS = np.ones(8), np.array([3.0, 2, 2, 1, 1, 1, 1, 1])


@pytest.fixture
def mixture(named_prior):
    return SetMixture(named_prior("zipf", 8), 5.0, [(ONES, 2), (LENGTHS, 4), (ONES, 3)])


@pytest.fixture
def parameters():
    return np.concatenate([0.5 * np.random.default_rng(8).normal(size=24), np.log([0.2, 0.1, 0.3])])


def test_gradient_is_the_slope(mixture, parameters):
    price = np.linspace(-1, 2, 8)
    _, gradient = mixture.lagrangian(parameters, price, 3.0)
    for i, unit in enumerate(np.eye(27)):
        ahead, behind = (mixture.lagrangian(parameters + d * unit, price, 3.0)[0] for d in (1e-5, -1e-5))
        assert gradient[i] == pytest.approx((ahead - behind) / 2e-5, rel=1e-6, abs=1e-6)


def test_jacobian_is_the_slope_of_the_columns_sums(mixture, parameters):
    def sums(at):
        return mixture.information(*mixture.components(at)) @ mixture.prior

    jacobian = mixture.jacobian(*mixture.components(parameters))
    for i, unit in enumerate(np.eye(27)):
        slope = (sums(parameters + 1e-5 * unit) - sums(parameters - 1e-5 * unit)) / 2e-5
        assert jacobian[:, i] == pytest.approx(slope, rel=1e-6, abs=1e-7)


def test_columns_sum_to_one_and_the_error_is_that_of_all_sets(mixture, parameters, unnormalised):
    found, residual = mixture.normalised(parameters)
    assert residual < 1e-12
    channel, prior = unnormalised(mixture.design(found)), mixture.prior
    assert channel.sum(axis=0) == pytest.approx(np.ones(8), abs=1e-12)
    information = channel.T @ (channel / (channel @ prior)[:, None])
    assert mixture.error(found) == pytest.approx((np.trace(np.linalg.inv(information)) - prior @ prior) / 8, rel=1e-10)
    assert (channel.max(axis=1) / channel.min(axis=1)).max() == pytest.approx(5.0, rel=1e-12)


def test_sets_that_never_hold_a_category_cannot_be_made_to_fit(named_prior):
    # The third category has length 5 and never enters, so its column would have to be smaller than the others'.
    mixture = SetMixture(named_prior("zipf", 3), 5.0, [(np.array([1.0, 1.0, 5.0]), 1)])
    assert mixture.normalised(np.zeros(4))[1] > 1e-3


def test_normalisation_ends_where_steps_run_out(mixture, parameters):
    assert mixture.normalised(parameters, most=1)[1] > mixture.normalised(parameters, most=3)[1]


def test_singular_mixture_costs_much(named_prior):
    mixture = SetMixture(named_prior("zipf", 4), 5.0, [(np.ones(4), 4)])
    worth, gradient = mixture.lagrangian(np.zeros(5), np.zeros(4), 1.0)
    assert worth == 1e12
    assert not gradient.any()


def certificate(prior, odds):
    return max(climb(prior, odds, []), key=lambda found: found.bound)


def test_search_ends_between_the_bound_and_where_it_started(named_prior):
    prior, rounds = named_prior("zipf", 12), []
    proof = certificate(prior, 7.4)
    design, error = best_mixture(proof, rounds.append)
    bound = (proof.bound - prior @ prior) / 12
    start = SetMixture(prior, 7.4, module._supports(proof))
    parameters, _ = start.normalised(module.start(start, proof.multipliers[:12]))
    assert bound < error < start.error(parameters)
    assert rounds == list(range(module.ROUNDS))
    assert max(np.ptp(np.log(part.weights)) for part in design.components) <= 16 + 1e-9


def test_search_that_finds_no_columns_gives_none(named_prior, monkeypatch):
    monkeypatch.setattr(module, "RESIDUAL", 0.0)
    monkeypatch.setattr(module, "descend", lambda objective, parameters, masses: parameters)
    assert best_mixture(certificate(named_prior("zipf", 6), 5.0), lambda step: None) is None


def test_scipy_is_named_where_it_is_missing(named_prior, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(MissingExtraError, match=r"scipy.*sottovoce\[design\]"):
        best_mixture(certificate(named_prior("zipf", 6), 5.0), lambda step: None)
