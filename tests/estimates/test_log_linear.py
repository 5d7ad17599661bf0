"""The shrunken log-linear model: exact where it must be, shrunk where nothing is seen, and honest when not settled."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.errors import SottovoceError
from sottovoce.estimates import log_linear
from sottovoce.estimates.likelihood import observed
from sottovoce.estimates.log_linear import Model, contrasts, fit_log_linear, posterior_mode, sets_up_to
from sottovoce.schemes.attribute_sampling import AttributeSampling

SIZES = (2, 3, 2)
COLUMNS, OWNER = contrasts(SIZES, sets_up_to(3, 2))


def law_of(b):
    heights = COLUMNS @ b
    return np.exp(heights) / np.exp(heights).sum()


def test_the_pairwise_law_is_recovered_from_pairs_alone():
    """From the expected counts of very many reports about pairs: three attributes were never asked together."""
    b = np.random.default_rng(2).normal(0, 0.4, COLUMNS.shape[1])
    channel = AttributeSampling(odds=9, size=2).mechanism(SIZES).channel
    fit = fit_log_linear(observed(channel, 1e9 * channel.matvec(law_of(b))), order=2)
    np.testing.assert_allclose(fit.value, law_of(b), atol=2e-5)
    assert fit.converged
    assert np.sqrt((fit.factor**2).sum(axis=1)).max() < 1e-3


def test_terms_that_reports_do_not_show_are_shrunk_away():
    truth = np.einsum("i,j,k->ijk", [0.3, 0.7], [0.2, 0.3, 0.5], [0.6, 0.4]).ravel()
    channel = AttributeSampling(odds=9, size=2).mechanism(SIZES).channel
    fit = fit_log_linear(observed(channel, np.random.default_rng(4).multinomial(3000, channel.matvec(truth))))
    assert max(fit.variances[axes] for axes in [(0, 1), (0, 2), (1, 2)]) < 0.02
    assert min(fit.variances[axes] for axes in [(0,), (1,), (2,)]) >= log_linear.LEAST_OF_SINGLES
    np.testing.assert_allclose(fit.value, truth, atol=0.03)


def test_terms_of_three_belong_to_what_was_asked_together():
    asked = AttributeSampling(odds=9, subsets=[[0, 1, 2], [2, 3]]).mechanism((2, 2, 2, 2)).channel
    counts = np.random.default_rng(4).multinomial(500, asked.matvec(np.full(16, 1 / 16)))
    terms = fit_log_linear(observed(asked, counts), order=3).variances
    assert {axes for axes in terms if len(axes) == 3} == {(0, 1, 2)}
    assert len(terms) == 4 + 6 + 1
    assert (0, 1, 2) not in fit_log_linear(observed(asked, counts), order=2).variances


def test_standard_errors_are_those_of_repeated_disguises():
    """Deviations over 100 samples of 20,000 reports beside the mean standard errors."""
    b = np.random.default_rng(2).normal(0, 0.4, COLUMNS.shape[1])
    channel = AttributeSampling(odds=9, size=2).mechanism(SIZES).channel
    rng = np.random.default_rng(8)
    fits = [
        fit_log_linear(observed(channel, rng.multinomial(20_000, channel.matvec(law_of(b)))), order=2)
        for _ in range(100)
    ]
    errors = np.mean([np.sqrt((fit.factor**2).sum(axis=1)) for fit in fits], axis=0)
    deviation = np.std([fit.value for fit in fits], axis=0)
    # 100 draws know a deviation to 7 %; shrinking and the floor account for the rest.
    np.testing.assert_allclose(errors, deviation, rtol=0.3)


def test_the_best_coefficients_have_no_slope():
    channel = KeepOrUniform(SIZES, Fraction(1, 2))
    counts = np.random.default_rng(1).multinomial(1000, channel.matvec(np.random.default_rng(0).dirichlet(np.ones(12))))
    model, precision = Model(observed(channel, counts), COLUMNS), np.full(COLUMNS.shape[1], 2.0)
    b = posterior_mode(model, np.zeros(len(precision)), precision, 40)
    for _ in range(3):
        b = posterior_mode(model, b, precision, 40)
    np.testing.assert_allclose(model.score(b), precision * b, atol=0.01)
    step = 1e-5
    ends = [(model.distribution(b + step * unit), model.distribution(b - step * unit)) for unit in np.eye(len(b))]
    differences = [(high - low) / (2 * step) for high, low in ends]
    np.testing.assert_allclose(model.derivative(model.distribution(b)), np.array(differences).T, atol=1e-8)


class Falling(Model):
    """A model that finds everything worse than what it was asked first."""

    def log_posterior(self, b, precision):
        return -float(np.abs(b).sum() > 0)


def test_a_step_that_never_helps_is_not_taken():
    channel = KeepOrUniform(SIZES, Fraction(1, 2))
    model = Falling(observed(channel, np.arange(12) + 1.0), COLUMNS)
    start = np.zeros(COLUMNS.shape[1])
    np.testing.assert_array_equal(posterior_mode(model, start, start + 1, 5), start)


def test_rounds_are_told_and_those_that_did_not_suffice_are_admitted(monkeypatch):
    monkeypatch.setattr(log_linear, "ROUNDS", 2)
    channel = KeepOrUniform(SIZES, Fraction(1, 2))
    progress_calls = []
    counts = np.random.default_rng(1).multinomial(1000, channel.matvec(np.random.default_rng(0).dirichlet(np.ones(12))))
    fit = fit_log_linear(observed(channel, counts), 2, lambda *state: progress_calls.append(state))
    assert (fit.converged, fit.rounds, progress_calls) == (False, 2, [(1, 2), (2, 2)])


def test_too_many_terms_are_refused():
    channel = KeepOrUniform((60, 60), Fraction(1, 2))
    with pytest.raises(SottovoceError, match="attributes must leave a model of at most 2000 terms; with order 2"):
        fit_log_linear(observed(channel, np.ones(3600)), order=2)
