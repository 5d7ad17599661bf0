"""What is offered for which requirement, and how near it is."""

import numpy as np
import pytest

from sottovoce.designs import certified
from sottovoce.designs.large import set_measures, solve
from sottovoce.designs.large.solve import large_least_error, subset_design
from sottovoce.designs.least_error.column_generation import least_error
from sottovoce.errors import SottovoceError


def test_subset_selection_is_offered_where_it_is_near_enough(named_prior):
    found = large_least_error(named_prior("zipf", 24), odds=np.e)
    assert len(found.sets.components) == 1
    assert found.sets.tilt is None
    assert 0 <= found.gap <= 0.005


def test_mixtures_are_offered_where_they_are_better(named_prior):
    prior, steps = named_prior("normal", 22), []
    found = large_least_error(prior, odds=np.e**4, progress=lambda done, most: steps.append((done, most)))
    assert len(found.sets.components) > 1
    assert 0 <= found.gap <= 0.03
    assert set_measures.mean_squared_error(found.sets, prior) == pytest.approx(found.value, rel=1e-9)
    assert set_measures.epsilon(found.sets, prior) == pytest.approx(4, abs=1e-9)
    assert [done for done, _ in steps] == list(range(1, steps[0][1] + 1))


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 150])
@pytest.mark.parametrize("name", ["normal", "gamma", "zipf"])
@pytest.mark.parametrize(("epsilon", "gap"), [(0.5, 0.005), (1, 0.005), (2, 0.03), (4, 0.03)])
def test_gaps_are_those_promised(named_prior, n, name, epsilon, gap):
    assert 0 <= large_least_error(named_prior(name, n), odds=float(np.exp(epsilon))).gap <= gap


@pytest.mark.parametrize(("name", "odds"), [("zipf", 7.4), ("gamma", 2.0), ("normal", 54.6)])
def test_the_optimum_lies_between_bound_and_value(named_prior, name, odds):
    prior = named_prior(name, 9)
    found, solve = large_least_error(prior, odds=odds), least_error(prior, odds=odds)
    assert found.lower_bound <= solve.value
    assert solve.lower_bound <= found.value * (1 + 1e-9)


def test_subset_selection_is_kept_where_no_mixture_is_found_or_cuts_are_enough(named_prior, monkeypatch):
    prior = named_prior("normal", 22)
    monkeypatch.setattr(solve, "best_mixture", lambda certificate, progress: None)
    plain = large_least_error(prior, odds=np.e**4)
    assert len(plain.sets.components) == 1
    assert 0.005 < plain.gap < 0.05
    monkeypatch.setattr(solve, "ENOUGH", 0.05)
    monkeypatch.setattr(solve, "best_mixture", None)
    assert large_least_error(prior, odds=np.e**4).value == plain.value


def test_decoys_are_offered_without_odds(named_prior):
    prior, steps = named_prior("normal", 22), []
    found = large_least_error(prior, accuracy=0.4, delta=0.5, progress=lambda done, most: steps.append((done, most)))
    assert found.sets.odds is None
    assert 0 <= found.gap <= 2e-3
    assert set_measures.worst_posterior(found.sets, prior) <= 0.5 * (1 + 1e-12)
    assert steps == [(1, 1)]


@pytest.mark.parametrize(
    ("prior", "limit"),
    [
        ([0.6] + [0.4 / 21] * 21, {"delta": 0.8}),  # sets of two or more would leave the likeliest half of the cases
        ([0.6] + [0.4 / 21] * 21, {"accuracy": 0.6}),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (([1 / 22] * 22, {"delta": 0.046}), ([0.1] * 4 + [0.6 / 18] * 18, {"delta": 0.13}))
        ),
    ],
)
def test_what_decoys_cannot_keep_is_kept_by_smaller_odds(prior, limit):
    point = certified.design(prior, **limit)
    assert point["adversary_accuracy"] <= limit.get("accuracy", 1.0) * (1 + 1e-9)
    assert point["worst_posterior"] <= limit.get("delta", 1.0) * (1 + 1e-9)
    assert point.gap >= 0


def test_design_for_the_odds_is_kept_if_it_meets_the_other_bounds(named_prior):
    prior = named_prior("uniform", 24)
    alone, bounded = large_least_error(prior, odds=2), large_least_error(prior, odds=2, accuracy=0.5, delta=0.5)
    assert bounded.value == alone.value
    assert bounded.lower_bound == alone.lower_bound


@pytest.mark.parametrize("limit", [{"accuracy": 0.12}, {"delta": 0.15}, {"accuracy": 0.13, "delta": 0.14}])
def test_smaller_odds_are_offered_to_meet_the_other_bounds(named_prior, limit, monkeypatch):
    prior = named_prior("normal", 24)
    monkeypatch.setattr(solve, "accuracy_bounded_mixture", lambda certificate, accuracy, progress: None)
    found = large_least_error(prior, odds=2.0, **limit)
    assert found.sets.odds < 2
    assert set_measures.adversary_accuracy(found.sets, prior) <= limit.get("accuracy", 1)
    assert set_measures.worst_posterior(found.sets, prior) <= limit.get("delta", 1)
    assert set_measures.mean_squared_error(found.sets, prior) == pytest.approx(found.value)
    assert found.gap > 0


def test_mixture_is_offered_if_it_meets_all_bounds_and_is_better(named_prior, monkeypatch):
    prior = named_prior("normal", 24)
    quiet, loud = subset_design(24, 8, 1.2), subset_design(24, 8, 9.0)
    for design, kept in ((quiet, True), (loud, False)):
        monkeypatch.setattr(
            solve, "accuracy_bounded_mixture", lambda certificate, accuracy, progress, found=design: (found, 1.0)
        )
        found = large_least_error(prior, odds=2, accuracy=0.12)
        assert (found.sets is design) is kept
        assert (found.value == 1.0) is kept


def test_bad_requirements_are_refused(named_prior):
    prior = named_prior("uniform", 24)
    with pytest.raises(SottovoceError, match="odds, accuracy or delta must be given"):
        large_least_error(prior)
    with pytest.raises(SottovoceError, match=r"prior must have at most 150 categories.*Got 151 categories instead"):
        large_least_error(np.full(151, 1 / 151), odds=2)
    with pytest.raises(SottovoceError, match=r"accuracy must be at least 0\.041"):
        large_least_error(prior, accuracy=0.01, odds=2)
