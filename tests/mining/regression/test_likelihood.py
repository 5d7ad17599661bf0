"""The likelihood through a channel: derivatives by differences, brute force, and what statsmodels finds without one."""

from itertools import product

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.miscmodels.ordinal_model import OrderedModel

from sottovoce.mining.regression import likelihood
from sottovoce.mining.regression.families import (
    LINKS,
    Binary,
    Cauchit,
    Cloglog,
    Gaussian,
    Logit,
    Multinomial,
    Ordinal,
    Poisson,
    Probit,
)
from sottovoce.mining.regression.likelihood import (
    Problem,
    derivatives,
    expected_information,
    log_likelihood,
    maximise,
)

FAMILIES = [
    *(Binary(link) for link in LINKS.values()),
    Multinomial(3),
    Ordinal(4, Logit()),
    *(Ordinal(3, link) for link in (Probit(), Cloglog(), Cauchit())),
    Gaussian(),
    Poisson(),
]
ROWS = 120


def named(family) -> str:
    link = getattr(family, "link", None)
    return type(family).__name__ + (f"-{type(link).__name__}" if link else "")


def start(family, design):
    shares = {1: np.array([1.3, 1.1])}.get(family.categories, np.full(family.categories, 1 / family.categories))
    return family.start(design, shares)


def problem_of(family, *, cells=1, seed=0) -> tuple[Problem, np.ndarray]:
    """A problem with any emission, and coefficients at which its derivatives are looked at."""
    rng = np.random.default_rng(seed)
    clear = rng.normal(size=(ROWS, 2))
    constant = [] if isinstance(family, Ordinal) else [np.ones(ROWS)]
    hidden = [[np.full(ROWS, float(cell))] if cells > 1 else [] for cell in range(cells)]
    designs = [np.column_stack([*constant, clear, *each]) for each in hidden]
    background = None if cells == 1 else np.column_stack([np.ones(ROWS), clear[:, 0]])
    outcome = rng.poisson(1.3, ROWS).astype(float) if family.categories == 1 else None
    problem = Problem(
        family,
        designs,
        rng.integers(0, 5, ROWS),
        rng.random((5, cells, family.categories)),
        rng.random(ROWS) + 0.5,
        background,
        outcome,
    )
    point = start(family, designs[0]) + 0.05 * rng.normal(size=len(start(family, designs[0])))
    return problem, np.concatenate([point, 0.2 * rng.normal(size=problem.nuisances)])


@pytest.mark.parametrize("cells", [1, 3])
@pytest.mark.parametrize("family", FAMILIES, ids=named)
def test_derivatives_are_those_of_the_likelihood(family, cells):
    problem, point = problem_of(family, cells=cells)
    found, step = derivatives(problem, point), 1e-5
    moves = step * np.eye(len(point))
    slope = [(log_likelihood(problem, point + m) - log_likelihood(problem, point - m)) / (2 * step) for m in moves]
    assert problem.weights @ found.scores == pytest.approx(slope, rel=1e-6, abs=1e-6)
    ends = [[problem.weights @ derivatives(problem, point + s * m).scores for s in (1, -1)] for m in moves]
    curved = np.array([(high - low) / (2 * step) for high, low in ends])
    assert found.information == pytest.approx(-curved, rel=1e-5, abs=1e-4)
    assert found.log_likelihood == pytest.approx(log_likelihood(problem, point), rel=1e-12)
    assert problem.weights @ found.logs == pytest.approx(found.log_likelihood, rel=1e-12)


def test_the_likelihood_is_a_sum_over_all_truths():
    problem, point = problem_of(Multinomial(3), cells=2)
    own, ground = problem.split(point)
    total = 0.0
    for row in range(ROWS):
        chance = 0.0
        levels = np.exp([0.0, problem.background[row] @ ground])
        for cell, kind in product(range(2), range(3)):
            lines = np.exp([0.0, *(own.reshape(2, -1) @ problem.designs[cell][row])])
            shares = lines[kind] / lines.sum() * levels[cell] / levels.sum()
            chance += shares * problem.emission[problem.reports[row], cell, kind]
        total += problem.weights[row] * np.log(chance)
    assert log_likelihood(problem, point) == pytest.approx(total, rel=1e-12)


def test_parts_of_the_rows_add_up(monkeypatch):
    problem, point = problem_of(Binary(Logit()), cells=3)
    whole = derivatives(problem, point)
    monkeypatch.setattr(likelihood, "ROWS_AT_ONCE", 7)
    parts = derivatives(problem, point)
    assert parts.information == pytest.approx(whole.information, rel=1e-12)
    assert parts.scores == pytest.approx(whole.scores, rel=1e-12)
    assert log_likelihood(problem, point) == pytest.approx(whole.log_likelihood, rel=1e-12)


def test_expected_information_is_a_mean_over_reports():
    """For two answers through Warner's channel, `x x^T (A11 - A10)^2 F'^2 / (r (1 - r))`."""
    rng = np.random.default_rng(1)
    design = np.column_stack([np.ones(50), rng.normal(size=50)])
    matrix, point = np.array([[0.7, 0.2], [0.3, 0.8], [0.0, 0.0]]), np.array([0.3, -0.5])
    problem = Problem(Binary(Logit()), [design], rng.integers(0, 2, 50), matrix[:, None, :], np.ones(50))
    share = 1 / (1 + np.exp(-design @ point))
    report = matrix[1, 0] + (matrix[1, 1] - matrix[1, 0]) * share
    weight = (matrix[1, 1] - matrix[1, 0]) ** 2 * (share * (1 - share)) ** 2 / (report * (1 - report))
    assert expected_information(problem, point) == pytest.approx(design.T @ (weight[:, None] * design), rel=1e-10)


@pytest.mark.parametrize("link", LINKS.values(), ids=lambda link: type(link).__name__)
def test_links(link):
    eta = np.linspace(-4, 1.3, 41)
    yes, no = link.logs(eta)
    assert np.exp(yes.value) + np.exp(no.value) == pytest.approx(np.ones(41), rel=1e-12)
    assert link.inverse(link.probability(eta)) == pytest.approx(eta, rel=1e-7, abs=1e-7)
    assert link.density(eta)[0] == pytest.approx(yes.first * np.exp(yes.value), rel=1e-9)
    for far in link.logs(np.array([-900.0, 900.0])):
        assert all(np.isfinite(part).all() for part in far)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    return rng, np.column_stack([np.ones(1500), rng.normal(size=(1500, 2))])


def fitted(family, design, codes=None, outcome=None):
    kinds = family.categories
    emission = np.ones((1, 1, 1)) if kinds == 1 else np.eye(kinds)[:, None, :]
    reports = np.zeros(len(design), int) if codes is None else codes
    fit = maximise(
        Problem(family, [design], reports, emission, np.ones(len(design)), None, outcome), start(family, design)
    )
    assert fit.converged
    return fit, np.sqrt(np.diag(np.linalg.inv(fit.information)))


def equal(fit, errors, theirs, kept=slice(None)):
    assert fit.log_likelihood == pytest.approx(theirs.llf, abs=1e-6)
    assert fit.coefficients[kept] == pytest.approx(np.asarray(theirs.params).ravel(order="F"), abs=1e-6)
    assert errors[kept] == pytest.approx(np.asarray(theirs.bse).ravel(order="F"), abs=1e-6)


def test_logit_and_probit_without_a_channel(people):
    rng, design = people
    codes = (rng.random(1500) < 1 / (1 + np.exp(-design @ [-0.5, 0.7, -0.4]))).astype(int)
    equal(*fitted(Binary(Logit()), design, codes), sm.Logit(codes, design).fit(disp=0, tol=1e-12))
    equal(*fitted(Binary(Probit()), design, codes), sm.Probit(codes, design).fit(disp=0, tol=1e-12))


def test_multinomial_without_a_channel(people):
    rng, design = people
    codes = rng.integers(0, 3, 1500)
    equal(*fitted(Multinomial(3), design, codes), sm.MNLogit(codes, design).fit(disp=0, method="newton", tol=1e-12))


def test_ordered_without_a_channel(people):
    rng, design = people
    codes = np.digitize(design[:, 1] + rng.logistic(size=1500), [-1, 0, 1.5])
    theirs = OrderedModel(codes, design[:, 1:], distr="logit").fit(method="newton", disp=0)
    fit, errors = fitted(Ordinal(4, Logit()), design[:, 1:], codes)
    assert fit.log_likelihood == pytest.approx(theirs.llf, abs=1e-6)
    assert fit.coefficients[3:] == pytest.approx(theirs.params[:2], abs=1e-6)
    assert errors[3:] == pytest.approx(theirs.bse[:2], abs=1e-6)


def test_counts_and_numbers_without_a_channel(people):
    rng, design = people
    counts = rng.poisson(np.exp(design @ [0.1, 0.3, -0.2])).astype(float)
    equal(*fitted(Poisson(), design, outcome=counts), sm.Poisson(counts, design).fit(disp=0, tol=1e-12))
    numbers = design @ [1, 2, 3] + rng.normal(size=1500)
    fit, errors = fitted(Gaussian(), design, outcome=numbers)
    theirs = sm.OLS(numbers, design).fit()
    assert fit.coefficients[:3] == pytest.approx(theirs.params, abs=1e-6)
    assert errors[:3] == pytest.approx(theirs.bse * np.sqrt(1497 / 1500), abs=1e-6)


def test_a_search_from_afar_climbs_all_the_same(people):
    """Where the information is not positive, by the scores."""
    rng, design = people
    truth = rng.random(1500) < 1 / (1 + np.exp(-design @ [-0.5, 0.7, -0.4]))
    codes = np.where(rng.random(1500) < 0.9, truth, ~truth).astype(int)
    emission = np.array([[[0.9, 0.1]], [[0.1, 0.9]]])
    problem = Problem(Binary(Logit()), [design], codes, emission, np.ones(1500))
    near, far = maximise(problem, np.zeros(3)), maximise(problem, np.array([2.0, -1.0, 1.5]))
    assert np.linalg.eigvalsh(derivatives(problem, np.array([2.0, -1.0, 1.5])).information)[0] < 0
    assert far.coefficients == pytest.approx(near.coefficients, abs=1e-5)


def test_a_flat_likelihood_is_at_its_maximum():
    flat = Problem(Binary(Logit()), [np.ones((3, 1))], np.zeros(3, int), np.full((1, 1, 2), 0.5), np.ones(3))
    assert maximise(flat, np.zeros(1)).converged


def test_a_search_that_does_not_end_says_so(monkeypatch):
    monkeypatch.setattr(likelihood, "MOST_STEPS", 1)
    problem, point = problem_of(Poisson())
    assert not maximise(problem, point + 1).converged
    monkeypatch.setattr(likelihood, "MOST_STEPS", 5)
    monkeypatch.setattr(likelihood, "MOST_HALVINGS", 0)
    assert not maximise(problem, point + 1).converged


def test_impossible_reports_have_no_likelihood():
    design = np.ones((2, 1))
    problem = Problem(Binary(Logit()), [design], np.array([0, 1]), np.array([[[0.0, 0.0]], [[1.0, 0.0]]]), np.ones(2))
    assert log_likelihood(problem, np.zeros(1)) == -np.inf


def test_thresholds_out_of_order_have_no_likelihood():
    problem, point = problem_of(Ordinal(4, Logit()))
    point[:3] = point[2::-1]
    assert log_likelihood(problem, point) == -np.inf
