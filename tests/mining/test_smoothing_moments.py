"""Moments without the truth: beside those that take it, and under noise that was added."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.mining.itemsets.smoothing import Moments, Training

NOISE = np.array([[0.04, 0.015], [0.015, 0.01]])
WIDTH = 0.35


def weighed(inputs: np.ndarray, noise: np.ndarray = NOISE, shorter: Moments | None = None) -> Training:
    """Weights that fall with the distance of the second input from one, and their derivatives along the noise."""
    over, along = (inputs[:, 1] - 1) / WIDTH**2, noise[0, 1]
    weight = np.exp(-((inputs[:, 1] - 1) ** 2) / (2 * WIDTH**2))
    return Training(
        inputs, weight, -weight * over * along, weight * along**2 * (over**2 - 1 / WIDTH**2), noise, shorter
    )


def seen(sets: int, noise: np.ndarray = NOISE) -> tuple[np.ndarray, np.ndarray]:
    """True supports around one, and inputs that see them, and something near to them, with noise."""
    rng = np.random.default_rng(5)
    truth = rng.uniform(0.6, 1.4, sets)
    return truth, np.column_stack([truth, truth + rng.normal(0, 0.1, sets)]) + rng.multivariate_normal(
        [0, 0], noise, sets
    )


def test_what_the_truth_would_say():
    """400,000 sets: moments that never saw the truth, beside those that take it, within five standard errors."""
    truth, inputs = seen(400_000)
    sets = weighed(inputs)
    found, v = sets.moments, sets.weight
    exact = v[:, None] * inputs * truth[:, None]
    per_set = v[:, None] * inputs * inputs[:, :1] - v[:, None] * NOISE[0] - inputs * sets.first_derivative[:, None]
    errors = (per_set - exact).std(axis=0) * np.sqrt(len(truth))
    assert (np.abs(found.cross - exact.sum(axis=0)) < 5 * errors).all()
    assert (np.abs(inputs.T @ (v * inputs[:, 0]) - exact.sum(axis=0)) > 20 * errors).all()  # the noise, uncorrected
    assert found.truth == pytest.approx((v * truth**2).sum(), rel=2e-3)
    weights = found.coefficients(0.0)
    around = np.average((truth - inputs @ weights) ** 2, weights=v)
    assert found.residual_variance(weights) == pytest.approx(around, rel=0.05)
    assert around < np.average((truth - inputs[:, 1]) ** 2, weights=v)


def test_noise_that_was_added():
    """Moments as if inputs had more noise, beside those of inputs that got it."""
    _, inputs = seen(400_000)
    more = np.array([[0.03, 0.01], [0.01, 0.02]])
    sets = weighed(inputs)
    louder = inputs + np.random.default_rng(6).multivariate_normal([0, 0], more, len(inputs))
    square = (louder * sets.weight[:, None]).T @ louder
    found = sets.moments.with_noise(NOISE + more)
    np.testing.assert_allclose(found.square / found.weight, square / sets.weight.sum(), rtol=5e-3)
    np.testing.assert_allclose(found.cross / found.weight, sets.moments.cross / sets.moments.weight)
    assert found.weight == pytest.approx(sets.weight.sum() * (0.07 / 0.04) ** 2)


@given(st.integers(1, 60), st.integers(1, 60))
def test_parts_make_the_whole(first, second):
    """Of sets in two parts, one of them as if it were shorter sets of the same noise, the same moments."""
    _, inputs = seen(first + second)
    whole = weighed(inputs).moments
    parts = weighed(inputs[:first], shorter=weighed(inputs[first:]).moments).moments
    kept = np.arange(first + second) >= first
    assert weighed(inputs).select(kept).moments.weight == pytest.approx(weighed(inputs[first:]).moments.weight)
    for name in ("weight", "square", "cross", "truth"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), atol=1e-9)


def test_held_to_the_last_input():
    """The more the noise is trusted to mislead, the nearer the fit is to the last input alone."""
    known = weighed(seen(2000)[1]).moments
    far = [np.abs(known.coefficients(trust) - [0, 1]).max() for trust in (0.0, 2.0, 1e6)]
    assert far[0] > far[1] > far[2]
    assert far[2] < 1e-4
