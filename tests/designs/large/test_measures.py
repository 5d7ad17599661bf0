"""Measures without a list of sets against those of the matrix with all sets."""

import numpy as np
import pytest

from sottovoce.designs.exact_scheme import SetComponent, SetDesign
from sottovoce.designs.large import set_measures
from sottovoce.measures import privacy

N = 7


@pytest.fixture(params=[0, 3])
def prior(request):
    return np.random.default_rng(request.param).dirichlet(np.ones(N))


@pytest.fixture(params=[None, 1.5, 60.0])
def odds(request):
    return request.param


@pytest.fixture(params=["untilted", "tilted"])
def design(request, odds, prior):
    rng = np.random.default_rng(11)
    parts = (
        SetComponent(0.7, 2, rng.random(N) + 0.1, np.ones(N)),
        SetComponent(0.6, 5, rng.random(N) + 0.1, np.array([1.0, 3, 2, 1, 2, 6, 1])),
        SetComponent(0.1, 1, np.ones(N), np.ones(N)),
    )
    return SetDesign(parts, odds, rng.random(N) if request.param == "tilted" else None)


@pytest.fixture
def matrix(design, unnormalised):
    found = unnormalised(design)
    return found / found.sum(axis=0)


def test_error(design, prior, matrix):
    information = matrix.T @ (matrix / (matrix @ prior)[:, None])
    expected = (np.trace(np.linalg.inv(information)) - prior @ prior) / N
    assert set_measures.information_matrix(design, prior) == pytest.approx(information, rel=1e-10)
    assert set_measures.mean_squared_error(design, prior) == pytest.approx(expected, rel=1e-9)


def test_guesses_and_posteriors(design, prior, matrix):
    assert set_measures.adversary_accuracy(design, prior) == pytest.approx(privacy.adversary_accuracy(matrix, prior))
    assert set_measures.worst_posterior(design, prior) == pytest.approx(privacy.worst_posterior(matrix, prior))


def test_bits(design, prior, matrix):
    assert set_measures.mutual_information(design, prior) == pytest.approx(
        privacy.mutual_information(matrix, prior), rel=1e-9, abs=1e-12
    )


def test_epsilon(design, prior, matrix):
    expected = np.inf if design.odds is None else np.log((matrix.max(axis=1) / matrix.min(axis=1)).max())
    assert set_measures.epsilon(design, prior) == pytest.approx(expected, rel=1e-12)


def test_sets_that_say_nothing_tell_no_bits():
    ones = np.ones(5)
    design = SetDesign((SetComponent(1.0, 2, ones, ones),), 1.0)
    assert set_measures.mutual_information(design, np.full(5, 0.2)) == pytest.approx(0, abs=1e-12)
    assert set_measures.adversary_accuracy(design, np.array([0.4, 0.3, 0.1, 0.1, 0.1])) == pytest.approx(0.4, rel=1e-12)


def test_prior_of_great_range():
    # Sets of one category are the truth itself: all bits, no error beyond sampling.
    prior = np.array([1 - 3e-7, 1e-7, 1e-7, 1e-7])
    design = SetDesign((SetComponent(1.0, 1, np.ones(4), np.ones(4)),), None)
    assert set_measures.mean_squared_error(design, prior) == pytest.approx((1 - prior @ prior) / 4, rel=1e-6)
    assert set_measures.mutual_information(design, prior) == pytest.approx(privacy.entropy(prior), rel=1e-6)
