import numpy as np
import pytest

from sottovoce.designs.least_error.atoms import checked_limits
from sottovoce.errors import SottovoceError


@pytest.mark.parametrize(
    ("level", "message"),
    [
        ({"odds": 1.0}, "odds must be above 1"),
        ({"odds": float("nan")}, "odds must be above 1"),
        ({"odds": 1.00001}, r"odds must be between 1.0001 and 1e\+08 .*: epsilon from 0.0001 to 18.4"),
        ({"odds": 2e8}, r"odds must be between 1.0001 and 1e\+08"),
        ({"delta": 0.5}, "delta must be above 0.5, the largest probability of the prior"),
        ({"delta": 0.3}, "delta must be above 0.5"),
        ({"accuracy": 0.49}, "accuracy must be at least 0.5, the largest probability of the prior"),
    ],
)
def test_infeasible_levels_name_the_nearest_feasible_one(level, message):
    with pytest.raises(SottovoceError, match=message):
        checked_limits([0.5, 0.3, 0.2], **level)


def test_the_least_accuracy_needs_a_single_likeliest_category():
    assert checked_limits([0.5, 0.3, 0.2], accuracy=0.5).accuracy == 0.5
    with pytest.raises(SottovoceError, match="which two categories share"):
        checked_limits([0.4, 0.4, 0.2], accuracy=0.4)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.5, 0.5, 0.0], "prior must be positive"),
        ([1.0], "prior must be the probabilities of two categories or more"),
        ([[0.5, 0.5]], "prior must be the probabilities of two categories or more"),
        ([0.5, 0.4], "prior must sum to 1"),
        (np.full(21, 1 / 21), "large_least_error takes more. Got 21 categories instead"),
    ],
)
def test_priors_that_are_refused(prior, message):
    with pytest.raises(SottovoceError, match=message):
        checked_limits(prior, odds=2.0)


def test_levels_that_do_not_bind_are_left_out():
    assert checked_limits([0.5, 0.5], accuracy=0.8, delta=0.7).accuracy is None
    assert checked_limits([0.5, 0.5], accuracy=0.7, delta=0.8).accuracy == 0.7
    assert checked_limits([0.5, 0.5], accuracy=1.0, delta=1.0, odds=float("inf")).unbounded
