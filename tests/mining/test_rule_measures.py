"""Measures of rules: values by hand, gradients by differences."""

import numpy as np
import pytest

from sottovoce.mining.rule_measures import MEASURES, estimate_measure, reciprocal

SUPPORTS = np.array([[0.2, 0.3, 0.4], [0.1, 0.5, 0.15]])


def test_values_by_hand():
    expected = {"confidence": 2 / 3, "lift": 5 / 3, "leverage": 0.08, "conviction": (1 - 2 / 3) / 0.6, "support": 0.2}
    for name, number in expected.items():
        assert estimate_measure(name, SUPPORTS, np.zeros((2, 3, 3)))[0][0] == pytest.approx(number)


@pytest.mark.parametrize("name", MEASURES)
def test_gradients_are_differences(name):
    _, gradient = MEASURES[name](*SUPPORTS.T)
    for place in range(3):
        step = 1e-6 * np.eye(3)[place]
        above, below = (MEASURES[name](*(SUPPORTS + sign * step).T)[0] for sign in (1, -1))
        assert gradient[:, place] == pytest.approx((above - below) / 2e-6, abs=1e-6)


def test_errors_follow_from_the_covariance():
    covariance = np.array([[[4, 1, 0], [1, 2, 0], [0, 0, 1]]]) * 1e-4
    _, error = estimate_measure("confidence", SUPPORTS[:1], covariance)
    slope = np.array([1 / 0.3, -0.2 / 0.09, 0])
    assert error[0] ** 2 == pytest.approx(slope @ covariance[0] @ slope)


def test_turning():
    assert reciprocal(np.array([2.0, 0.0, -1.0])).tolist() == [0.5, np.inf, np.inf]
