"""Utility equals brute force over all samples and all coins, closed forms, and what was published."""

from fractions import Fraction
from itertools import product
from math import exp, prod, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.measures.utility import (
    average_mean_squared_error,
    condition_number,
    dispersion,
    distortion,
    estimate_covariance,
    mean_squared_errors,
    report_variances,
)
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.laplace import Laplace
from sottovoce.schemes.mask import Mask
from sottovoce.schemes.subset_selection import SubsetSelection
from sottovoce.schemes.warner import Warner

SAMPLE = 3
"""Respondents in brute force: every sample of three is looked at."""


@st.composite
def settings_of(draw, *, square: bool = False):
    """A channel far from singular, with as many reports as truths or more, and a prior."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    truths = draw(st.integers(2, 3))
    reports = truths if square else truths + draw(st.integers(0, 2))
    noise = 0.8 * rng.dirichlet(np.ones(reports), size=truths).T + 0.2 / reports
    return 0.6 * np.eye(reports, truths) + 0.4 * noise, rng.dirichlet(np.ones(truths))


def left_inverse(matrix, law) -> np.ndarray:
    """The best linear unbiased estimate, written out."""
    weights = np.diag(1 / (matrix @ law))
    return np.linalg.inv(matrix.T @ weights @ matrix) @ matrix.T @ weights


def samples(matrix, laws):
    """Every combination of reports of independent respondents: its probability and its counts."""
    for reports in product(range(len(matrix)), repeat=len(laws)):
        chance = prod(matrix[y] @ law for y, law in zip(reports, laws, strict=True))
        yield chance, np.bincount(reports, minlength=len(matrix))


@given(settings_of())
def test_errors_for_the_population_are_those_of_all_samples(setting):
    matrix, law = setting
    inverse = left_inverse(matrix, law)
    expected = sum(
        chance * np.outer(inverse @ counts / SAMPLE - law, inverse @ counts / SAMPLE - law)
        for chance, counts in samples(matrix, [law] * SAMPLE)
    )
    np.testing.assert_allclose(estimate_covariance(matrix, law, SAMPLE), expected, atol=1e-10)
    np.testing.assert_allclose(mean_squared_errors(matrix, law, SAMPLE), np.diag(expected), atol=1e-10)
    assert average_mean_squared_error(matrix, law, SAMPLE) == pytest.approx(np.diag(expected).mean())


@given(settings_of(), st.integers(0, 2**32))
def test_errors_for_the_table_are_those_of_all_coins(setting, seed):
    matrix, _ = setting
    truths = matrix.shape[1]
    table = np.bincount(np.random.default_rng(seed).integers(truths, size=SAMPLE), minlength=truths)
    law, people = table / SAMPLE, np.repeat(np.eye(truths), table, axis=0)
    inverse = left_inverse(matrix, law)
    expected = sum(
        chance * np.outer(inverse @ counts / SAMPLE - law, inverse @ counts / SAMPLE - law)
        for chance, counts in samples(matrix, people)
    )
    np.testing.assert_allclose(estimate_covariance(matrix, law, SAMPLE, "table"), expected, atol=1e-10)
    np.testing.assert_allclose(mean_squared_errors(matrix, law, SAMPLE, "table"), np.diag(expected), atol=1e-10)
    variances = sum(chance * (counts - matrix @ table) ** 2 for chance, counts in samples(matrix, people))
    np.testing.assert_allclose(report_variances(matrix, table), variances, atol=1e-12)


@given(settings_of(), st.integers(0, 2**32))
def test_no_other_linear_unbiased_estimate_is_better(setting, seed):
    """Any left inverse is `B + K (I - A A^+)`; the variance of every category is at least B's."""
    matrix, law = setting
    reports, truths = matrix.shape
    pinv = np.linalg.pinv(matrix)
    other = pinv + np.random.default_rng(seed).normal(size=(truths, reports)) @ (np.eye(reports) - matrix @ pinv)
    lam = matrix @ law
    variances = np.diag(other @ (np.diag(lam) - np.outer(lam, lam)) @ other.T)
    assert (mean_squared_errors(matrix, law, 1) <= variances + 1e-10).all()


@pytest.mark.slow
@given(settings_of())
def test_dispersion_is_an_unbiased_estimate_of_the_covariance(setting):
    """Its mean over all samples of three; with more reports than truths, of the least-squares inverse."""
    matrix, law = setting
    lam, inverse = matrix @ law, np.linalg.pinv(matrix)
    expected = inverse @ (np.diag(lam) - np.outer(lam, lam)) @ inverse.T / SAMPLE
    mean = sum(chance * dispersion(matrix, counts) for chance, counts in samples(matrix, [law] * SAMPLE))
    np.testing.assert_allclose(mean, expected, atol=1e-10)
    if matrix.shape[0] == matrix.shape[1]:
        np.testing.assert_allclose(mean, estimate_covariance(matrix, law, SAMPLE), atol=1e-10)


@given(settings_of(square=True))
def test_theorem_6_with_every_pair_once(setting):
    """As printed, `sum_{i != j} 2 beta_ki beta_kj Cov`, every pair would count twice over (PAPERS.md)."""
    matrix, law = setting
    lam, beta = matrix @ law, np.linalg.inv(matrix)
    n = len(lam)
    for k, found in enumerate(mean_squared_errors(matrix, law, 50)):
        own = sum(beta[k, i] ** 2 * lam[i] * (1 - lam[i]) for i in range(n))
        pairs = sum(-2 * beta[k, i] * beta[k, j] * lam[i] * lam[j] for i in range(n) for j in range(i))
        assert found == pytest.approx((own + pairs) / 50, abs=1e-12)


@given(settings_of(square=True), st.lists(st.integers(0, 100), min_size=3, max_size=3))
def test_equation_4_10_as_printed(setting, counts):
    matrix, _ = setting
    table = np.array(counts[: matrix.shape[1]])
    seen, respondents = matrix @ table, max(table.sum(), 1)
    printed = seen * (1 - seen / respondents) - ((matrix - seen[:, None] / respondents) ** 2) @ table
    np.testing.assert_allclose(report_variances(matrix, table), printed, atol=1e-9)


@given(settings_of(square=True))
def test_distortion_by_brute_force(setting):
    matrix, law = setting
    n = len(law)
    wrong = sum(law[x] * matrix[y, x] for x in range(n) for y in range(n) if x != y)
    assert distortion(matrix, law) == pytest.approx(wrong, abs=1e-12)


@given(settings_of())
def test_condition_number_is_numpys(setting):
    matrix, _ = setting
    assert condition_number(matrix) == pytest.approx(np.linalg.cond(matrix), rel=1e-9)


def test_a_stack_is_measured_matrix_by_matrix():
    rng = np.random.default_rng(3)
    stack = 0.5 * np.eye(5, 4) + 0.5 * np.swapaxes(rng.dirichlet(np.ones(5), size=(2, 3, 4)), -1, -2)
    square, law, table = stack[..., :4, :] / stack[..., :4, :].sum(axis=-2, keepdims=True), rng.dirichlet(np.ones(4)), 7
    measures = [
        (lambda a: estimate_covariance(a, law, 10), stack),
        (lambda a: estimate_covariance(a, law, 10, "table"), square),
        (lambda a: mean_squared_errors(a, law, 10), square),
        (lambda a: average_mean_squared_error(a, law, 10, "table"), stack),
        (lambda a: dispersion(a, np.arange(5)), stack),
        (lambda a: report_variances(a, np.full(4, table)), stack),
        (lambda a: distortion(a, law), square),
        (condition_number, stack),
    ]
    for measure, matrices in measures:
        whole = measure(matrices)
        assert whole.shape[:2] == (2, 3)
        for place in np.ndindex(2, 3):
            np.testing.assert_allclose(whole[place], measure(matrices[place]), rtol=1e-12)


def test_a_stack_of_laws_is_measured_law_by_law():
    """Beside a stack of matrices, and through one matrix."""
    rng = np.random.default_rng(9)
    laws, tables = rng.dirichlet(np.ones(3), size=4), rng.integers(1, 9, size=(4, 3))
    stack = 0.5 * np.eye(3) + 0.5 * np.swapaxes(rng.dirichlet(np.ones(3), size=(4, 3)), -1, -2)
    measures = [
        (lambda a, p: estimate_covariance(a, p, 10), laws),
        (lambda a, p: mean_squared_errors(a, p, 10, "table"), laws),
        (dispersion, tables),
        (distortion, laws),
        (report_variances, tables),
    ]
    for measure, vectors in measures:
        for k in range(4):
            np.testing.assert_allclose(measure(stack, vectors)[k], measure(stack[k], vectors[k]), atol=1e-12)
            np.testing.assert_allclose(measure(stack[0], vectors)[k], measure(stack[0], vectors[k]), atol=1e-12)
        with pytest.raises(SottovoceError, match=r"must come in a stack that fits .*, \(4,\)\. Got \(3,\) instead"):
            measure(stack, vectors[:3])


@pytest.mark.parametrize(
    ("scheme", "prior", "published"),
    [
        (GammaDiagonal(epsilon=1), "normal", 41.8),
        (SubsetSelection(epsilon=1), "normal", 29.45),
        (GammaDiagonal(epsilon=2), "normal", 5.85),
        (GammaDiagonal(epsilon=0.5), "uniform", 242.5),
        (SubsetSelection(epsilon=0.5), "uniform", 127.2),
    ],
    ids=["Warner, eps 1", "subset selection, eps 1", "Warner, eps 2", "Warner, eps 1/2", "subset selection, eps 1/2"],
)
def test_reference_points_of_the_design_problem(scheme, prior, published):
    """Mean squared error x 1e5 at N = 10,000 and n = 10 (OPTIMAL.md); normal: ten equal bins on +-3 sd."""
    edges = np.diff(norm.cdf(np.linspace(-3, 3, 11)))
    law = edges / edges.sum() if prior == "normal" else np.full(10, 0.1)
    found = average_mean_squared_error(scheme.mechanism((10,)).channel, law, 10_000) * 1e5
    assert found == pytest.approx(published, rel=2e-3)


@pytest.mark.parametrize("epsilon", [0.5, 1, 3, 7])
def test_wangs_binary_matrices(epsilon):
    """Eq. 8 keeps `e^eps / (1 + e^eps)`, eq. 11 `1 - e^(-eps/2) / 2`; Warner's variance is
    `pi (1 - pi) / N + k (1 - k) / (N (2 k - 1)^2)`, so the first is better (theorem 3)."""
    law, respondents = np.array([0.3, 0.7]), 248
    errors = []
    for scheme, keep in (
        (GammaDiagonal(epsilon=epsilon), exp(epsilon) / (1 + exp(epsilon))),
        (Laplace(epsilon=epsilon), 1 - exp(-epsilon / 2) / 2),
    ):
        found = mean_squared_errors(scheme.mechanism((2,)).channel, law, respondents)
        warner = (0.21 + keep * (1 - keep) / (2 * keep - 1) ** 2) / respondents
        np.testing.assert_allclose(found, warner, rtol=1e-6)  # the coins' sides are integers near the formula
        errors.append(found)
    assert (errors[0] < errors[1]).all()


@pytest.mark.parametrize(
    ("length", "published"), [*enumerate([8.2, 67, 551, 4514, 3.7e4, 3.0e5], start=1)], ids=lambda v: f"{v:g}"
)
def test_condition_numbers_of_mask(length, published):
    """MASK at p = .5610, by length of the itemset: `(2 p - 1)^-n` (PAPERS.md; the thesis says of order 1e5)."""
    channel = Mask(p=0.561).mechanism((2,) * length).channel
    assert condition_number(channel) == pytest.approx(published, rel=0.02)


def test_condition_number_of_det_gd_at_every_length():
    """112.1 for the 2,000 joint cells of CENSUS at gamma = 19, whatever subset of attributes (Agrawal 2004, 4.28)."""
    channel = GammaDiagonal(gamma=19).mechanism((4, 5, 5, 5, 2, 2)).channel
    for axes in ([0], [0, 1], [1, 4, 5], [0, 3, 4, 5]):
        assert condition_number(channel.marginal(axes)) == pytest.approx(112.1, abs=0.05)


def test_plans_and_channels_are_measured_like_their_matrices():
    plan = Plan.of(
        Schema([boolean("tax"), Attribute("drug", ["never", "once", "often"])]),
        {"tax": Warner(p=Fraction(3, 4)), "drug": Warner(p=Fraction(3, 5))},
    )
    law = np.full(6, 1 / 6)
    matrix = plan.channel().dense()
    for whole in (plan, plan.channel()):
        np.testing.assert_array_equal(estimate_covariance(whole, law, 9), estimate_covariance(matrix, law, 9))
    assert distortion(plan, law) == pytest.approx(1 - 3 / 4 * 3 / 5)


def test_a_certain_channel_leaves_only_the_sample_to_chance():
    law = np.array([0.1, 0.2, 0.7])
    np.testing.assert_allclose(mean_squared_errors(np.eye(3), law, 10), law * (1 - law) / 10)
    for law in np.random.default_rng(2).dirichlet(np.ones(3), size=50):
        errors = mean_squared_errors(np.eye(3)[[2, 0, 1]], law, 10, "table")
        assert (errors >= 0).all()
        np.testing.assert_allclose(errors, 0, atol=1e-15)


@pytest.mark.parametrize("reports", [2, 3, 4])
def test_singular_channels_have_infinite_error_and_no_covariance(reports):
    """Too few reports, or two truths with one law; the regular neighbour in the stack is measured all the same."""
    stack = np.stack([np.eye(reports, 3), np.eye(reports, 3)[:, [0, 1, 1]]])
    stack[:, -1] += 1 - stack.sum(axis=-2)
    law = [0.5, 0.5, 0]
    regular = [False, False] if reports == 2 else [True, False]
    assert (np.isfinite(condition_number(stack)) == regular).all()
    positive = [0.5, 0.25, 0.25]
    assert (np.isfinite(mean_squared_errors(stack, positive, 10)).all(axis=-1) == regular).all()
    assert (np.isinf(average_mean_squared_error(stack[1], law, 10))).all()
    for refused in (lambda: estimate_covariance(stack, law, 10), lambda: dispersion(stack, np.ones(reports))):
        with pytest.raises(
            SingularChannelError, match=rf"^channel must tell .* Got {2 - sum(regular)} singular out of"
        ):
            refused()


def test_reports_that_never_come():
    """A square channel inverts them as well; a row of zeros changes nothing; else the best estimate is not one."""
    law = np.array([1.0, 0.0])
    one_sided = np.array([[0.5, 0.0], [0.5, 1.0]])
    np.testing.assert_allclose(mean_squared_errors(one_sided[::-1, ::-1], law, 10), 0, atol=1e-15)
    padded = np.vstack([one_sided, np.zeros(2)])
    np.testing.assert_allclose(
        estimate_covariance(padded, [0.4, 0.6], 10), estimate_covariance(one_sided, [0.4, 0.6], 10)
    )
    with pytest.raises(SottovoceError, match=r"^prior must make every report .* possible\. Got .* instead\."):
        mean_squared_errors([[0.5, 0], [0.5, 0.5], [0, 0.5]], law, 10)


COIN = [[0.75, 0.25], [0.25, 0.75]]
EVEN = [0.5, 0.5]


@pytest.mark.parametrize(
    ("parameter", "call"),
    [
        ("channel", lambda: mean_squared_errors([[0.75, 0.25], [0.5, 0.75]], EVEN, 10)),
        ("prior", lambda: mean_squared_errors(COIN, [0.5, 0.6], 10)),
        ("prior", lambda: distortion(COIN, [0.5, 0.25, 0.25])),
        ("respondents", lambda: mean_squared_errors(COIN, EVEN, 0)),
        ("respondents", lambda: mean_squared_errors(COIN, EVEN, float("nan"))),
        ("respondents", lambda: estimate_covariance(COIN, EVEN, True)),
        ("respondents", lambda: estimate_covariance(COIN, EVEN, "many")),
        ("target", lambda: estimate_covariance(COIN, EVEN, 10, "sample")),
        ("counts", lambda: dispersion(COIN, [1, 0])),
        ("counts", lambda: dispersion(COIN, [5, -1])),
        ("counts", lambda: dispersion(COIN, [5, 5, 5])),
        ("counts", lambda: dispersion(COIN, ["five", "six"])),
        ("table", lambda: report_variances(COIN, [float("inf"), 1])),
        ("channel", lambda: distortion([[0.5, 0.2], [0.25, 0.4], [0.25, 0.4]], EVEN)),
    ],
)
def test_bad_input_is_refused(parameter, call):
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        call()


def test_errors_match_a_simulated_survey():
    """Root mean squared error of 4,000 surveys of 500: within 5 %, over 4 Monte-Carlo errors of 1.1 %."""
    matrix, law = np.array(COIN), np.array([0.2, 0.8])
    rng = np.random.default_rng(11)
    shares = rng.multinomial(500, matrix @ law, size=4000) / 500
    seen = sqrt(np.mean((np.linalg.solve(matrix, shares.T)[0] - 0.2) ** 2))
    assert sqrt(mean_squared_errors(matrix, law, 500)[0]) == pytest.approx(seen, rel=0.05)
