"""The moment relaxation's certificate, looked at over all sets and against the optimum found by listing them."""

from dataclasses import replace

import numpy as np
import pytest

from sottovoce.designs.large import bound
from sottovoce.designs.large.bound import Certificate, Cut, climb, pair_cuts, total_cut
from sottovoce.designs.least_error.column_generation import least_error
from sottovoce.errors import SottovoceError


def best(prior, odds, cuts):
    return max(climb(prior, odds, cuts), key=lambda found: found.bound)


@pytest.mark.parametrize("name", ["normal", "zipf"])
@pytest.mark.parametrize("odds", [2.7, 54.6])
def test_certificate_holds_for_every_set_and_is_below_the_optimum(named_prior, all_sets, name, odds):
    # The certificate says u^T S u <= (nu.u)(p.u) for every set; S is formed here from the definition of G.
    prior, n = named_prior(name, 9), 9
    certificate = best(prior, odds, [*pair_cuts(prior, 5), total_cut(np.ones(n), 1)])
    agreement, price, slack = np.split(certificate.multipliers, [n, 2 * n])
    form = np.zeros((n + 1, n + 1))
    for i in range(n):
        one, other = np.eye(n + 1)[i] - np.eye(n + 1)[n], np.eye(n + 1)[i] - odds * np.eye(n + 1)[n]
        form += agreement[i] * (np.outer(one, other) + np.outer(other, one)) / 2
    form[:n, :n] += (np.outer(price, prior) + np.outer(prior, price)) / 2
    to_set = np.hstack([np.eye(n), -np.ones((n, 1))]) / (odds - 1)
    for weight, cut in zip(slack, certificate.cuts, strict=True):
        left = cut.left @ to_set - cut.left_offset * np.eye(n + 1)[n]
        right = cut.right @ to_set - cut.right_offset * np.eye(n + 1)[n]
        form -= weight * (np.outer(left, right) + np.outer(right, left)) / 2
    schur = form[:n, :n] - np.outer(form[:n, n], form[:n, n]) / form[n, n]
    likelihoods = 1 + (odds - 1) * all_sets(n)
    excess = np.einsum("si,ij,sj->s", likelihoods, schur, likelihoods) - (likelihoods @ price) * (likelihoods @ prior)
    assert excess.max() <= 1e-9 * np.abs(likelihoods @ price).max()
    values = np.linalg.eigvalsh(schur)
    assert values[0] > 0
    assert slack.min() >= 0
    assert certificate.bound == pytest.approx(2 * np.sqrt(values).sum() - price.sum(), rel=1e-9)
    error = (certificate.bound - prior @ prior) / n
    optimum = least_error(prior, odds=odds).value
    assert 0.97 * optimum < error <= optimum


def test_cuts_raise_the_bound_where_sets_are_small(named_prior):
    prior = named_prior("zipf", 24)
    assert best(prior, 54.6, pair_cuts(prior)).bound > 1.2 * best(prior, 54.6, []).bound


def test_each_barrier_gives_a_certificate_and_the_last_is_the_best(named_prior):
    bounds = [found.bound for found in climb(named_prior("gamma", 12), 3.0, [])]
    assert len(bounds) > 2
    assert bounds[-1] == max(bounds)


def test_cut_that_some_set_breaks_is_refused():
    # |S| = 2 lies between 1 and 3; half a category lies between 0 and 1.
    for cut in [
        (np.ones(3), 1, np.ones(3), 3),
        (np.full(3, 0.5), 0, np.full(3, 0.5), 1),
        (-np.ones(3), 0, np.ones(3), 0),
    ]:
        with pytest.raises(SottovoceError, match="cut must hold for all sets"):
            Cut(*cut)


@pytest.mark.parametrize(
    "change",
    [
        lambda m, n: np.concatenate([-m[:n], m[n:]]),  # g_0 < 0
        lambda m, n: np.concatenate([m[:n], -m[n : 2 * n], m[2 * n :]]),  # S is not positive
        lambda m, n: np.append(m[:-1], -1e-9),  # a cut counted against its sense
    ],
)
def test_multipliers_that_prove_nothing_bound_nothing(named_prior, change):
    prior = named_prior("normal", 8)
    certificate = best(prior, 3.0, [total_cut(np.ones(8), 2)])
    assert replace(certificate, multipliers=change(certificate.multipliers, 8)).bound == -np.inf


def test_certificate_holds_even_where_steps_run_out(named_prior, monkeypatch):
    prior = named_prior("zipf", 8)
    monkeypatch.setattr(bound, "_STEPS", 1)
    error = (best(prior, 7.4, []).bound - prior @ prior) / 8
    assert 0 < error <= least_error(prior, odds=7.4).value


def test_start_lies_inside_however_large_the_cuts_are(named_prior):
    prior = named_prior("zipf", 8)
    plain, cut = (best(prior, 7.4, cuts).bound for cuts in ([], [total_cut(np.full(8, 100.0), 4000)]))
    assert cut == pytest.approx(plain, rel=1e-3)


def test_step_that_leads_nowhere_is_not_taken(named_prior):
    prior = named_prior("normal", 8)
    walls = bound._Barrier(*bound.factors(prior, 3.0, []), 8)
    point = walls.at(Certificate(prior, 3.0, (), best(prior, 3.0, []).multipliers).multipliers)
    step, promise = walls.newton(point, 1.0)
    assert walls._search(point, -step, promise, 1.0) is point
