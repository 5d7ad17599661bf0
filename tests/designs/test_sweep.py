"""Sweeps: published facts, the vectorised measures against single ones, and the best_of_family member of a family."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.designs.front import INFORMATION_AND_DISTORTION, measures_of
from sottovoce.designs.requirement import Requirement, named_prior
from sottovoce.designs.sweeps import (
    FAMILIES,
    best_of_family,
    frapp_sweep,
    subset_sweep,
    sweep,
    unary_sweep,
    uniform_perturbation_sweep,
    warner_at_distortion,
    warner_sweep,
)
from sottovoce.errors import SottovoceError
from sottovoce.schemes import Warner

PRIOR = [0.5, 0.3, 0.2]


def test_389_of_warners_999_matrices():
    """Gao et al. (2018): 495 of 999 satisfy epsilon 2 at n = 8, and 389 of these are not dominated."""
    front = warner_sweep(named_prior("gamma", 8), 10_000, objectives=INFORMATION_AND_DISTORTION)
    allowed = front.within(epsilon=2)
    assert (len(front), len(allowed), len(allowed.non_dominated())) == (999, 495, 389)
    diagonals = [1 - point["distortion"] for point in allowed.non_dominated()]
    assert (max(diagonals), min(diagonals)) == (pytest.approx(0.513), pytest.approx(0.125))


@pytest.mark.parametrize(("delta", "privacy"), [(0.6, 0.6), (0.7, 0.5), (0.8, 0.4), (0.9, 0.22)])
def test_warners_least_privacy(delta, privacy):
    """Huang & Du (2008), figure 4, to within .02: what Warner's schemes leave the adversary to get wrong."""
    point = warner_sweep(named_prior("normal", 10), 10_000).pick(delta=delta)
    assert 1 - point["adversary_accuracy"] == pytest.approx(privacy, abs=0.02)


def test_a_stack_is_measured_like_its_parts(monkeypatch):
    whole = warner_sweep(PRIOR, 1000, steps=20)
    monkeypatch.setattr("sottovoce.designs.front.BLOCK", 40)  # a few matrices at a time
    parts = warner_sweep(PRIOR, 1000, steps=20)
    for point, part in zip(whole, parts, strict=True):
        assert part.measures == pytest.approx(point.measures)
        assert measures_of(point.channel, PRIOR, 1000) == pytest.approx(point.measures)


def test_three_names_for_one_family():
    """Theorem 2 of Huang & Du (2008)."""
    warner = sweep([Warner(p=Fraction(4, 5))], PRIOR, 1000, name="one")[0]
    perturbed = uniform_perturbation_sweep(PRIOR, 1000, steps=10).pick(epsilon=warner["epsilon"])  # q = .7
    frapp = frapp_sweep(PRIOR, 1000, [np.log(8)])[0]
    assert perturbed.measures == pytest.approx(warner.measures)
    assert frapp.measures == pytest.approx(warner.measures)


def test_sets_beat_randomized_response_at_a_small_epsilon():
    """OPTIMAL.md's reference: uniform prior of ten, epsilon .5: 242.5 and 127.2 times 1e-5."""
    uniform = named_prior("uniform", 10)
    assert frapp_sweep(uniform, 10_000, [0.5])[0]["mse"] == pytest.approx(242.5e-5, rel=5e-4)
    assert subset_sweep(uniform, 10_000, [0.5])[0]["mse"] == pytest.approx(127.2e-5, rel=5e-4)
    assert unary_sweep(uniform, 10_000, [0.5])[0]["mse"] > 127.2e-5


@pytest.mark.parametrize("steps", [1, 2.5, True])
def test_sweeps_have_steps(steps):
    with pytest.raises(SottovoceError, match="steps must be a whole number of at least 2"):
        warner_sweep(PRIOR, 1000, steps=steps)


def test_a_sweep_is_of_something():
    with pytest.raises(SottovoceError, match="schemes must be at least one"):
        sweep([], PRIOR, 1000, name="none")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "bounds", [{"accuracy": 0.6}, {"delta": 0.7}, {"odds": 3, "accuracy": 0.55}, {"accuracy": 0.65}]
)
def test_the_loosest_member_meets_its_bounds_and_a_looser_one_does_not(family, bounds):
    asked = Requirement.of(PRIOR, **bounds)
    point = best_of_family(family, asked, 1000)
    tight = [
        bound is not None and point[name] == pytest.approx(bound, abs=1e-7)
        for name, bound in (("adversary_accuracy", asked.accuracy), ("worst_posterior", asked.delta))
    ]
    assert any(tight)
    assert asked.odds is None or point.channel.odds <= asked.odds


@pytest.mark.parametrize("family", FAMILIES)
def test_odds_alone_are_met_exactly(family):
    assert best_of_family(family, Requirement.of(PRIOR, odds=3), 1000).channel.odds == 3


@pytest.mark.parametrize(
    ("prior", "accuracy", "error"),
    [("normal", 0.5, 4.98), ("normal", 0.3, 37.1), ("gamma", 0.4, 18.4), ("uniform", 0.5, 4.56)],
)
def test_warners_reference_errors(prior, accuracy, error):
    """OPTIMAL.md: mean squared error times 1e5 at N = 10,000, n = 10, delta .75, stepped; a bit less between."""
    law = named_prior(prior, 10)
    stepped = warner_sweep(law, 10_000).pick(accuracy=accuracy, delta=0.75)["mse"]
    assert stepped * 1e5 == pytest.approx(error, rel=6e-3)
    between = best_of_family("warner", Requirement.of(law, accuracy=accuracy, delta=0.75), 10_000)["mse"]
    assert 0.99 * stepped < between <= stepped


@pytest.mark.parametrize(
    ("prior", "distortion", "bits"),
    [
        (named_prior("gamma", 8), 0.543, 0.384),
        (named_prior("beta", 8), 0.684, 0.168),
        ([0.6583, 0.2462, 0.0955], 0.2719, 0.344),
    ],
)
def test_bits_that_warners_scheme_tells(prior, distortion, bits):
    """OPTIMAL.md: Warner's mutual information at a distortion; epsilon 2."""
    point = warner_at_distortion(Requirement.of(prior, epsilon=2, distortion=distortion), 1000)
    assert point["distortion"] == pytest.approx(distortion)
    assert point["mutual_information"] == pytest.approx(bits, abs=1.5e-3)


def test_wrong_reports_have_a_least_share_under_odds():
    with pytest.raises(SottovoceError, match=r"contradicts the odds, .* the nearest feasible value is 0\.5\. Got 0\.3"):
        warner_at_distortion(Requirement.of([0.5, 0.3, 0.2], odds=2, distortion=0.3), 1000)  # 2 / (2 + 2) are true
    free = warner_at_distortion(Requirement.of([0.5, 0.3, 0.2], distortion=0), 1000)
    assert (free["distortion"], free.deniable) == (0, False)
    with pytest.raises(SottovoceError, match="distortion must be given"):
        warner_at_distortion(Requirement.of([0.5, 0.3, 0.2]), 1000)


def test_families_serve_more_categories_than_can_be_certified():
    point = best_of_family("warner", Requirement.of(named_prior("zipf", 151), odds=3), 1000)
    assert (point.channel.n_in, point.channel.odds) == (151, 3)
    (sets,) = subset_sweep(named_prior("zipf", 16), 1000, [1])
    assert sets["mse"] < best_of_family("warner", Requirement.of(named_prior("zipf", 16), epsilon=1), 1000)["mse"]


def test_more_wrong_reports_than_noise_makes_are_not_needed():
    assert warner_at_distortion(Requirement.of(PRIOR, distortion=0.9), 1000)["mutual_information"] == 0


def test_a_number_of_epsilons_is_spread_up_to_eight():
    calls = []
    front = subset_sweep([0.5, 0.3, 0.2], 1000, 4, progress=lambda done, total: calls.append((done, total)))
    assert sorted(point["epsilon"] for point in front) == pytest.approx([2, 4, 6, 8])
    assert calls[-1] == (4, 4)
    with pytest.raises(SottovoceError, match="epsilons must be a positive whole number"):
        subset_sweep([0.5, 0.3, 0.2], 1000, 0)
