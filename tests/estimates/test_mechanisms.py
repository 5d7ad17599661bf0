"""Randomized response against Laplace noise: Wang, Wu & Hu (2016), over a grid of epsilon, categories and priors."""

from itertools import product

import numpy as np
import pytest

from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SottovoceError
from sottovoce.estimates.laplace_costs import mechanism_costs, reconstruction_failures
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.estimates.sample_size import expected_estimate
from sottovoce.measures.privacy import individual_reconstruction
from sottovoce.measures.utility import estimate_covariance, mean_squared_errors
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.laplace import Laplace, nominal_epsilon
from sottovoce.schemes.randomized_response import RandomizedResponse

EPSILONS = [0.1, 0.5, 1, 2, 5, 10]
LDL = np.array([16, 64, 103, 50, 12, 3])


def channels(epsilon, t):
    return [scheme(epsilon=epsilon).mechanism((t,)).channel for scheme in (RandomizedResponse, Laplace)]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_theorem_2_for_two_categories(epsilon):
    """Reconstruction of either truth is at least as likely by randomized response, under any prior."""
    priors = np.linspace(0, 1, 101)
    coin, noise = (individual_reconstruction(c, np.stack([1 - priors, priors], axis=1)) for c in channels(epsilon, 2))
    assert (coin >= noise - 1e-9).all()
    assert (coin[1:-1] > noise[1:-1]).all()


@pytest.mark.parametrize(("epsilon", "target"), [*product(EPSILONS, ["table", "population"])])
def test_theorem_3_for_two_categories(epsilon, target):
    """The variance of the estimated proportion is smaller, under any prior and for either target."""
    for share in np.linspace(0, 1, 21):
        coin, noise = (mean_squared_errors(c, [1 - share, share], 248, target) for c in channels(epsilon, 2))
        assert (coin < noise).all()


@pytest.mark.parametrize(("epsilon", "t"), [*product(EPSILONS, [3, 4, 6, 10])])
def test_variances_of_more_categories_on_a_grid_of_priors(epsilon, t):
    """Left unproven in the paper (section 4.3): the average variance is smaller under every prior tried."""
    for prior in np.random.default_rng(t).dirichlet(np.ones(t), size=8):
        coin, noise = (mean_squared_errors(c, prior, 248).mean() for c in channels(epsilon, t))
        assert coin < noise


def test_how_often_theorem_4_fails():
    """Never for two categories, for most priors of four at the epsilon of the counter-example, never at 5."""
    assert reconstruction_failures(0.2214, 2, rng=1).categories == 0
    often, seldom = reconstruction_failures(0.2214, 4, rng=1), reconstruction_failures(5, 4, rng=1)
    assert 0.5 < often.priors < 1
    assert 0 < often.averages < often.priors
    assert often.categories < often.priors
    assert often.worst > 0.00056  # the counter-example's gap
    assert (seldom.priors, seldom.worst) == (0, 0)
    with pytest.raises(SottovoceError, match="priors must be a positive whole number"):
        reconstruction_failures(1, 3, priors=0)


@pytest.mark.parametrize(("epsilon", "t"), [*product([0.5, 1, 3], [2, 3, 6])])
def test_laplace_noise_that_spends_all_of_epsilon(epsilon, t):
    nominal = nominal_epsilon(epsilon, t)
    assert nominal > epsilon
    assert Laplace(epsilon=nominal).mechanism((t,)).channel.epsilon == pytest.approx(epsilon, rel=1e-5)


def test_costs_are_those_of_the_measures():
    costs = mechanism_costs(LDL, epsilon=3, target="population")
    for cost, channel in zip(costs.values(), channels(3, 6), strict=True):
        law = LDL / 248
        np.testing.assert_allclose(cost.errors, mean_squared_errors(channel, law, 248))
        np.testing.assert_allclose(cost.reconstruction[0], individual_reconstruction(channel, law))
        gradient = -np.log2(law)
        variance = gradient @ estimate_covariance(channel, law, 248) @ gradient
        assert cost.derived["entropy"].error == pytest.approx(variance**0.5)
        assert cost.epsilons == (channel.epsilon,)
    assert costs["randomized_response"].average_error < costs["laplace"].average_error


def test_two_attributes_are_compared_too():
    """A table with a cell at zero has no gradient of mutual information; the other measures have theirs."""
    table = np.array([[40, 10, 2], [5, 30, 20], [1, 0, 40]])
    found = mechanism_costs(table, epsilon=4, target="table")["randomized_response"].derived
    assert found["mutual_information"].error is None
    assert found["chi_squared"].error > 0
    assert found["correlation"].reason is None
    assert "not defined" in found["entropy"].reason
    full = mechanism_costs(table + 1, epsilon=4, target="table", spent="actual")
    assert all(cost.derived["mutual_information"].error > 0 for cost in full.values())
    np.testing.assert_allclose(full["laplace"].epsilons, 4, rtol=1e-5)


def test_the_expected_covariance_is_the_measured_one():
    (channel, _), law = channels(1, 3), np.array([0.5, 0.3, 0.2])
    for target in ("table", "population"):
        found = expected_estimate(channel, law, 50, target)
        np.testing.assert_allclose(found.covariance, estimate_covariance(channel, law, 50, target))
    assert expected_estimate(channel, law, 50, categories=[["a", "b", "c"]]).categories == (("a", "b", "c"),)


def test_the_expected_error_is_that_of_simulated_estimates():
    """400 disguises of one table: the mean square is within four standard errors, 4 sqrt(2 / 400)."""
    truths = {"ldl": np.repeat(np.arange(6), LDL).tolist()}
    plan = Plan.of(Schema([Attribute("ldl", range(6))]), {"ldl": RandomizedResponse(epsilon=2)})
    law, rng = LDL / 248, np.random.default_rng(1)
    found = [estimate_proportions(disguise_frame(truths, plan, rng), plan, "ldl").value - law for _ in range(400)]
    expected = mechanism_costs(LDL, epsilon=2, target="table")["randomized_response"].errors
    np.testing.assert_allclose(np.mean(np.square(found), axis=0), expected, rtol=0.28)


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({"table": [[[1]]]}, "table"),
        ({"table": [1, -1]}, "table"),
        ({"table": [0, 0]}, "table"),
        ({"epsilon": -1}, "epsilon"),
        ({"spent": "all"}, "spent"),
        ({"table": [5], "spent": "actual"}, "categories"),
        ({"target": "sample"}, "target"),
        ({"respondents": 0}, "respondents"),
    ],
)
def test_what_cannot_be_compared_is_refused(given, parameter):
    with pytest.raises(SottovoceError, match=f"^{parameter} must"):
        mechanism_costs(**({"table": [1, 2], "epsilon": 1} | given))
