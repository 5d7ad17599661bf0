"""Requirements: what contradicts the prior says so, with the nearest feasible value."""

from fractions import Fraction

import pytest

from sottovoce.designs.requirement import Requirement, named_prior
from sottovoce.errors import SottovoceError

PRIOR = [0.5, 0.3, 0.2]


def test_bounds_are_read():
    asked = Requirement.of(PRIOR, accuracy=0.6, delta="0.75", odds="3:1", distortion=0.4)
    assert (asked.accuracy, asked.delta, asked.odds, asked.distortion) == (0.6, 0.75, 3, 0.4)
    assert asked.float_odds == 3.0
    assert Requirement.of(PRIOR).float_odds is None
    assert Requirement.of(PRIOR, epsilon=1).odds < Fraction("2.7182818284590452354")


@pytest.mark.parametrize(
    ("prior", "bounds", "message"),
    [
        (PRIOR, {"accuracy": 0.4}, "is right with probability 0.5, the nearest feasible value. Got 0.4 instead."),
        (
            PRIOR,
            {"delta": 0.5},
            "delta must be above 0.5, the largest probability of the prior: some .* Got 0.5 instead.",
        ),
        ([0.25] * 4, {"accuracy": 0.25}, "must be above 0.25, the probability of the two likeliest .* apart. Got 0.25"),
        (PRIOR, {"odds": 1}, "odds must be above 1 : 1 for anything to be estimated. Got 1 : 1 instead"),
        (PRIOR, {}, "accuracy or delta or odds must be given, at least one of them"),
        (PRIOR, {"odds": 3, "distortion": 0.4}, "distortion must be left out where the error is the objective"),
        (PRIOR, {"accuracy": 1.5}, "accuracy must be from 0 to 1"),
        (PRIOR, {"odds": 3, "epsilon": 1}, "odds or epsilon must be given, exactly one of them"),
        (
            named_prior("uniform", 151),
            {"odds": 3},
            "prior must have at most 150 categories to be certified; use the method subset or warner. Got 151 cat",
        ),
    ],
)
def test_errors_cannot_be_the_least_under(prior, bounds, message):
    with pytest.raises(SottovoceError, match=message):
        Requirement.of(prior, **bounds).for_error().certifiable()


def test_the_largest_probability_is_a_feasible_accuracy():
    assert Requirement.of(PRIOR, accuracy=0.5).for_error().accuracy == 0.5


def test_an_accuracy_that_rounding_puts_below_the_prior_is_the_priors():
    asked = Requirement.of([0.4 + 1e-10, 0.3, 0.3 - 1e-10], accuracy=0.4).for_error()
    assert asked.accuracy == max(asked.prior)


@pytest.mark.parametrize(
    "prior", [[1 / 3, 1 / 3, 1 / 3], [0.4 + 3e-8, 0.3, 0.3 - 3e-8], [0.123456789] * 8 + [0.012345688]]
)
@pytest.mark.parametrize("bound", ["accuracy", "delta"])
def test_the_bound_that_is_named_is_feasible_and_not_the_value_refused(prior, bound):
    level = max(prior) - 2e-8
    with pytest.raises(SottovoceError) as refusal:
        Requirement.of(prior, **{bound: level}).for_error()
    named = next(float(word.strip(",;")) for word in refusal.value.rule.split() if word.startswith("0."))
    assert refusal.value.parameter == bound
    assert level < max(prior) <= named < max(prior) + 1.1e-6
    assert Requirement.of(prior, **{bound: named + 1e-8}).for_error()


@pytest.mark.parametrize("bound", ["accuracy", "delta"])
def test_information_is_bounded_by_odds_and_distortion_only(bound):
    with pytest.raises(SottovoceError, match=f"{bound} must be left out where mutual information is the objective"):
        Requirement.of(PRIOR, **{bound: 0.6}).for_information()
