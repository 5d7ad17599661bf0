import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.designs.least_error.closed_form import closed_form_bound, largest_squares
from sottovoce.designs.least_error.column_generation import least_error
from sottovoce.errors import SottovoceError


@settings(max_examples=25)
@given(st.lists(st.integers(1, 30), min_size=2, max_size=5), st.floats(0.02, 0.98), st.floats(0.02, 0.98))
def test_never_above_what_is_attained(masses, accuracy, delta):
    prior = np.array(masses) / sum(masses)
    accuracy, delta = (prior.max() + (1 - prior.max()) * level for level in (accuracy, delta))
    assert closed_form_bound(prior, accuracy, delta) <= least_error(prior, accuracy=accuracy, delta=delta).value * (
        1 + 1e-9
    )


@pytest.mark.parametrize(("accuracy", "delta"), [(0.5, 0.75), (0.3, None), (None, 0.6), (0.25, 0.3), (0.45, 1.0)])
def test_tight_for_uniform_priors(accuracy, delta):
    prior = np.full(6, 1 / 6)
    found = least_error(prior, accuracy=accuracy, delta=delta)
    assert closed_form_bound(prior, accuracy, delta) == pytest.approx(found.value, rel=1e-6)


def test_without_limits_it_is_the_error_of_the_truth():
    assert closed_form_bound([0.5, 0.3, 0.2]) == pytest.approx((1 - 0.38) / 3)


def test_the_envelope_by_hand():
    # Between the uniform posteriors on two and on one category, with and without a corner at 0.75.
    assert largest_squares(0.6, None, 5) == pytest.approx(0.6)
    assert largest_squares(0.6, 0.75, 5) == pytest.approx(0.5 + 0.4 * (0.625 - 0.5))
    # 1/delta = 2.5: two at 0.4 and one at 0.2.
    assert largest_squares(0.4, 0.4, 5) == pytest.approx(2 * 0.16 + 0.04)


@pytest.mark.parametrize(
    ("name", "level"), [("accuracy", {"accuracy": 0.49}), ("delta", {"accuracy": 0.9, "delta": 0.4})]
)
def test_infeasible_levels(name, level):
    with pytest.raises(SottovoceError, match=f"{name} must be above 0.5"):
        closed_form_bound([0.5, 0.3, 0.2], **level)


def test_the_largest_probability_as_accuracy():
    # One likeliest category may be what every report leaves likeliest; of two, no report may favour either.
    assert closed_form_bound([0.5, 0.3, 0.2], accuracy=0.5) <= least_error([0.5, 0.3, 0.2], accuracy=0.5).value
    with pytest.raises(
        SottovoceError, match=r"accuracy must be above 0\.5, the largest probability of the prior. Got 0"
    ):
        closed_form_bound([0.5, 0.5], accuracy=0.5)
