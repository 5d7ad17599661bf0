"""Priors: the named ones against scipy's distributions, and those that are refused."""

import numpy as np
import pytest
from scipy import stats

from sottovoce.designs.requirement import NAMES, checked_prior, named_prior
from sottovoce.errors import SottovoceError

MEAN, SPREAD = 3000, 3.5 * np.sqrt(2100)  # of 10,000 trials of .3
LAWS = {
    "normal": (stats.norm, -3, 3),
    "gamma": (stats.gamma(1, scale=2), 0, 8),
    "beta": (stats.beta(1, 2), 0, 1),
    "uniform": (stats.uniform, 0, 1),
    "t": (stats.t(3), -4, 4),
    "chi2": (stats.chi2(8), 0, 24),
    "binomial": (stats.binom(10_000, 0.3), MEAN - SPREAD, MEAN + SPREAD),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("categories", [2, 8, 150])
def test_named_priors_are_bins_of_the_distributions(name, categories):
    law, low, high = LAWS[name]
    masses = np.diff(law.cdf(np.linspace(low, high, categories + 1)))
    assert named_prior(name, categories) == pytest.approx(masses / masses.sum(), rel=1e-9)


def test_zipf_falls_with_the_rank():
    law = named_prior("zipf", 150)
    assert law[0] / law == pytest.approx(np.arange(1, 151))
    assert set(NAMES) == {*LAWS, "zipf"}


def test_a_bin_without_mass_is_refused():
    with pytest.raises(
        SottovoceError, match="categories must be few enough for the outermost bins of the binomial prior"
    ):
        named_prior("binomial", 1000)  # more bins than numbers of successes


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.5, 0.5, 0], "prior must be positive in every category; leave out category 2"),
        ([0.5, 0.5 + 2e-9], "prior must sum to 1; the sum is 1.000000002"),
        ([1], "prior must be the probabilities of two categories or more"),
        ([[0.5, 0.5]], "prior must be the probabilities of two categories or more"),
        (["a", "b"], "prior must be real numbers"),
        ([0.5, float("nan")], "prior must be between 0 and 1"),
    ],
)
def test_priors_that_are_none(prior, message):
    with pytest.raises(SottovoceError, match=message):
        checked_prior(prior)


def test_a_sum_off_by_a_hair_is_put_right():
    assert checked_prior([0.5, 0.5 + 1e-10]).sum() == 1


@pytest.mark.parametrize(
    ("name", "categories", "parameter"),
    [
        ("laplace", 5, "prior_name"),
        ("normal", 1, "categories"),
        ("normal", 2.5, "categories"),
        ("normal", True, "categories"),
    ],
)
def test_names_and_sizes_that_are_none(name, categories, parameter):
    with pytest.raises(SottovoceError) as refused:
        named_prior(name, categories)
    assert refused.value.parameter == parameter
