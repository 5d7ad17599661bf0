from math import erf, exp, sqrt

import numpy as np
import pytest


def _binned(distribution, low, high, categories):
    masses = np.diff([distribution(edge) for edge in np.linspace(low, high, categories + 1)])
    return masses / masses.sum()


@pytest.fixture
def named_prior():
    """Priors of the reference points: ten equal bins of the normal on +-3, of Gamma(1, scale 2) on [0, 8]; uniform."""

    def make(name, categories=10):
        if name == "normal":
            return _binned(lambda x: erf(x / sqrt(2)), -3, 3, categories)
        if name == "gamma":
            return _binned(lambda x: -exp(-x / 2), 0, 8, categories)
        return np.full(categories, 1 / categories)

    return make
