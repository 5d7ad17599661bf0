"""Priors of the reference tables, and designs written out set by set."""

from itertools import product

import numpy as np
import pytest
from scipy import stats


def _edges(law, low, high, n):
    mass = np.diff(law.cdf(np.linspace(low, high, n + 1)))
    return mass / mass.sum()


@pytest.fixture
def named_prior():
    """Normal in bins on +-3 standard deviations, Gamma(1, scale 2) on [0, 8], Zipf with p_i ~ 1/i."""
    laws = {
        "normal": lambda n: _edges(stats.norm, -3, 3, n),
        "gamma": lambda n: _edges(stats.gamma(1, scale=2), 0, 8, n),
        "zipf": lambda n: (1 / np.arange(1, n + 1)) / (1 / np.arange(1, n + 1)).sum(),
        "uniform": lambda n: np.full(n, 1 / n),
    }
    return lambda name, n: laws[name](n)


@pytest.fixture
def all_sets():
    """Indicators of all sets, one to a row."""
    return lambda n: np.array(list(product((0.0, 1.0), repeat=n)))


@pytest.fixture
def masses(all_sets):
    """m(S) of a design for every set."""

    def measure(design):
        sets = all_sets(len(design.components[0].weights))
        total = np.zeros(len(sets))
        for part in design.components:
            weight = np.where(
                sets @ part.lengths == part.size, np.prod(np.where(sets > 0, part.weights, 1.0), axis=1), 0
            )
            total += part.mass * weight / weight.sum()
        return total

    return measure


@pytest.fixture
def unnormalised(all_sets, masses):
    """m(S) t_S u_S(x): the channel, but for norms."""

    def matrix(design):
        sets = all_sets(len(design.components[0].weights))
        likelihoods = sets if design.odds is None else np.where(sets > 0, design.odds, 1.0)
        tilts = np.ones(len(sets)) if design.tilt is None else likelihoods @ design.tilt
        found = (masses(design) * tilts)[:, None] * likelihoods
        return found[found.sum(axis=1) > 0]

    return matrix
