"""EM and the nearest distribution, against solvers that know nothing of them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import sottovoce.channels
from sottovoce.channels.channel import Channel
from sottovoce.channels.dense import Dense
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.estimates.likelihood import em, nearest_distribution, observed_covariance
from sottovoce.estimates.proportions import blue_matrix, estimate_proportions
from sottovoce.mechanisms.mechanism import discover

CHANNELS = [c for found in discover(sottovoce.channels, Channel) for c in found.cases()]
INVERTIBLE = [c for c in CHANNELS if c.condition_number < 50 and c.n_in <= 12]


@pytest.mark.parametrize("channel", INVERTIBLE, ids=repr)
def test_em_is_the_constrained_maximum_of_the_likelihood(channel):
    """SLSQP on the same likelihood, with counts so few that the unconstrained one often lies outside."""
    rng = np.random.default_rng(9)
    law = rng.dirichlet(np.full(channel.n_in, 0.4))
    counts = rng.multinomial(60, np.maximum(channel.matvec(law), 0) / channel.matvec(law).sum())
    dense = channel.dense()
    seen = counts / counts.sum()

    def loss(p):
        return -np.sum(seen[seen > 0] * np.log(np.maximum((dense @ p)[seen > 0], 1e-300)))

    def slope(p):
        return -dense.T @ np.divide(seen, dense @ p, out=np.zeros_like(seen), where=seen > 0)

    start = np.full(channel.n_in, 1 / channel.n_in)
    best = minimize(
        loss,
        start,
        jac=slope,
        method="SLSQP",
        bounds=[(0, 1)] * channel.n_in,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-15, "maxiter": 5000},
    )
    found = em(channel, counts)
    assert found.converged
    assert loss(found.value) <= loss(best.x) + 1e-12
    np.testing.assert_allclose(found.value, best.x, atol=1e-6)
    assert found.log_likelihood == pytest.approx(-loss(found.value) * counts.sum())


@given(st.integers(2, 6), st.integers(0, 2**32))
def test_em_is_the_inversion_where_that_is_a_distribution(cells, seed):
    """Huang & Du (2008): the unbiased estimate is the maximum likelihood when it lies inside the simplex."""
    rng = np.random.default_rng(seed)
    channel = KeepOrUniform((cells,), "1/2")
    law = (rng.dirichlet(np.ones(cells)) + 0.2) / (1 + 0.2 * cells)
    np.testing.assert_allclose(em(channel, 1e6 * channel.matvec(law)).value, law, atol=1e-6)


def test_em_never_lowers_the_likelihood_and_tells_its_steps():
    channel = KeepOrUniform((5,), "1/10")
    counts = np.array([40, 10, 10, 20, 20])
    heights = [em(channel, counts, most_steps=steps).log_likelihood for steps in range(1, 12)]
    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(heights))
    progress_calls = []
    fit = em(channel, counts, most_steps=3, tolerance=-1, progress=lambda *counts: progress_calls.append(counts))
    assert (fit.steps, fit.converged, progress_calls) == (3, False, [(1, 3), (2, 3), (3, 3)])


def test_em_works_where_inversion_cannot():
    """Two reports for three truths: any distribution that explains the frequencies is as likely."""
    channel = Dense([[5, 4, 1], [5, 6, 9]], 10)
    fit = em(channel, [30, 70])
    assert fit.converged
    np.testing.assert_allclose(channel.matvec(fit.value), [0.3, 0.7], atol=1e-6)


def test_em_with_reports_that_nothing_explains_by_the_first_guess():
    """A report that no truth makes, and one that only one truth makes."""
    channel = Dense([[2, 0], [2, 4], [0, 0]], 4)
    np.testing.assert_allclose(em(channel, [25, 75, 0]).value, [0.5, 0.5], atol=1e-6)


@pytest.mark.parametrize("counts", [[-1, 2], [0, 0], [np.nan, 1], [np.inf, 1]])
def test_counts_that_are_none(counts):
    with pytest.raises(SottovoceError, match=r"^counts must be finite, not negative, and not all zero"):
        em(KeepOrUniform((2,), "1/2"), counts)


def test_observed_information_inside_the_simplex_is_the_inversions_covariance():
    """With a square channel and an inner estimate both are `A^-1 (diag(lam) - lam lam^T) A^-T / N`."""
    channel = KeepOrUniform((3,), "1/2")
    counts = np.array([400, 350, 250])
    fit = em(channel, counts)
    seen = counts / 1000
    inverse = np.linalg.inv(channel.dense())
    expected = inverse @ (np.diag(seen) - np.outer(seen, seen)) @ inverse.T / 1000
    np.testing.assert_allclose(observed_covariance(channel, counts, fit.value), expected, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("law", [[0.98, 0.02], [0.6, 0.37, 0.02, 0.01]], ids=len)
def test_intervals_of_rare_cells_cover(law):
    """400 samples of 200 reports, most of which put a rare cell at zero: 95 % less three Monte-Carlo errors or more."""
    channel, truth, rng = KeepOrUniform((len(law),), "2/5"), np.array(law), np.random.default_rng(3)
    covered, zeros = np.zeros(len(law)), 0
    for counts in rng.multinomial(200, channel.matvec(truth), size=400):
        value = em(channel, counts, tolerance=1e-9).value
        error = np.sqrt(np.diag(observed_covariance(channel, counts, value)))
        covered += np.abs(value - truth) <= 1.959964 * error
        zeros += value[-1] < 1e-6
    assert zeros > 120
    assert covered.min() / 400 > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 400)


def test_em_and_simplex_of_a_table(plan):
    reports = {"drug": ["never"] * 80 + ["once"] * 15 + ["often"] * 5}
    plain = estimate_proportions(reports, plan, "drug")
    assert plain.value.min() < 0
    likely = estimate_proportions(reports, plan, "drug", method="em")
    near = estimate_proportions(reports, plan, "drug", method="simplex")
    assert likely.method.startswith("em, ")
    for found in (likely, near):
        assert found.value.min() >= 0
        assert found.value.sum() == pytest.approx(1)
    assert "NOT" not in likely.method
    np.testing.assert_allclose(near.standard_error, plain.standard_error)


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=6))
def test_the_nearest_distribution(values):
    """Kuhn-Tucker: what is kept is shifted by one number, what is cut lies below it; and it is a distribution."""
    found = nearest_distribution(values)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    shifts = (np.array(values) - found)[found > 1e-12]
    assert np.ptp(shifts) < 1e-9
    assert all(value <= shifts[0] + 1e-9 for value, p in zip(values, found, strict=True) if p <= 1e-12)


def test_nearest_distributions_column_by_column():
    columns = np.random.default_rng(2).normal(0.2, 0.5, (5, 40))
    found = nearest_distribution(columns)
    np.testing.assert_allclose(found, np.stack([nearest_distribution(column) for column in columns.T], axis=1))


@pytest.mark.parametrize("values", [[], [np.nan, 1], [[[0.5, 0.5]]]])
def test_values_that_are_none(values):
    with pytest.raises(SottovoceError, match=r"^values must be finite numbers"):
        nearest_distribution(values)


@pytest.mark.parametrize("channel", [c for c in INVERTIBLE if c.n_out > c.n_in], ids=repr)
def test_the_best_linear_estimate_is_unbiased_and_never_worse(channel):
    """`B A = I`, and its covariance is `(J^-1 - p p^T) / N`, below that of least squares in every direction."""
    law = np.arange(1, channel.n_in + 1) / sum(range(channel.n_in + 1))
    best, plain = blue_matrix(channel, law), channel.solve(np.eye(channel.n_out))
    dense = channel.dense()
    np.testing.assert_allclose(best @ dense, np.eye(channel.n_in), atol=1e-9)
    expected = dense @ law
    keep = expected > 0
    information = dense[keep].T @ (dense[keep] / expected[keep, None])
    np.testing.assert_allclose(best @ np.diag(expected) @ best.T, np.linalg.inv(information), atol=1e-9)
    excess = plain @ np.diag(expected) @ plain.T - best @ np.diag(expected) @ best.T
    assert np.linalg.eigvalsh(excess).min() > -1e-9


def test_the_best_linear_estimate_of_a_singular_channel_is_refused():
    with pytest.raises(SingularChannelError, match=r"^channel must tell every truth from every other"):
        blue_matrix(Dense([[5, 4, 1], [5, 6, 9]], 10), np.full(3, 1 / 3))
