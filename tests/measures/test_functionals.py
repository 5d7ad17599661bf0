"""Functionals: values by hand, by scipy and by plain formulas; gradients by those formulas' complex step."""

from dataclasses import FrozenInstanceError
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats.contingency import odds_ratio

from sottovoce.errors import SottovoceError
from sottovoce.measures.association import (
    ChiSquared,
    GSquared,
    LogOddsRatio,
    MutualInformation,
    OddsRatio,
    PearsonCorrelation,
    RiskDifference,
)
from sottovoce.measures.functionals import ConditionalProbability, Entropy, Mean, UserFunction, numerical_gradient
from sottovoce.measures.utility import estimate_covariance

SHAPE = (2, 3)
ROWS, COLUMNS = np.array([1.0, 4.0]), np.array([0.0, 1.0, 5.0])
RARE = frozenset({"entropy", "mutual information", "G^2 / N", "odds ratio", "log odds ratio", "square root"})
"""Those that are not defined for negative cells."""


def margins(p, shape=SHAPE):
    table = p.reshape(shape)
    return table, table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)


def plain_information(p):
    table, rows, columns = margins(p)
    return (table * np.log(table / (rows * columns))).sum()


def plain_chi(p):
    table, rows, columns = margins(p)
    return ((table - rows * columns) ** 2 / (rows * columns)).sum()


def plain_correlation(p):
    table, rows, columns = margins(p)
    s = ROWS[:, None] - (rows[:, 0] @ ROWS)
    t = COLUMNS - (columns[0] @ COLUMNS)
    return (table * s * t).sum() / np.sqrt((table * s**2).sum() * (table * t**2).sum())


CASES = [
    (Entropy(), 5, lambda p: -(p * np.log2(p)).sum()),
    (Mean([1, 0, -2.5]), 3, lambda p: p[0] - 2.5 * p[2]),
    (ConditionalProbability([0, 3, 4], [1, 3, 4]), 6, lambda p: (p[3] + p[4]) / (p[1] + p[3] + p[4])),
    (MutualInformation(SHAPE), 6, lambda p: plain_information(p) / log(2)),
    (GSquared(SHAPE), 6, lambda p: 2 * plain_information(p)),
    (ChiSquared(SHAPE), 6, plain_chi),
    (PearsonCorrelation(ROWS, COLUMNS), 6, plain_correlation),
    (OddsRatio(), 4, lambda p: p[0] * p[3] / (p[1] * p[2])),
    (LogOddsRatio(), 4, lambda p: np.log(p[0] * p[3] / (p[1] * p[2]))),
    (RiskDifference(), 4, lambda p: p[3] / (p[2] + p[3]) - p[1] / (p[0] + p[1])),
    (UserFunction("square root", lambda p: np.sqrt(p[0] * p[1])), 3, lambda p: np.sqrt(p[0] * p[1])),
]
IDS = [functional.name for functional, _, _ in CASES]


def law(seed: int, cells: int) -> np.ndarray:
    """A random distribution whose cells are not too small for differences."""
    return 0.3 / cells + 0.7 * np.random.default_rng(seed).dirichlet(np.ones(cells))


def complex_step(function, p) -> np.ndarray:
    """Exact derivatives of the plain formula."""
    return np.array([function(p + 1e-30j * unit).imag / 1e-30 for unit in np.eye(len(p))])


@pytest.mark.parametrize(("functional", "cells", "plain"), CASES, ids=IDS)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_value_and_gradient_are_the_formulas(functional, cells, plain, seed):
    """Along directions that sum to zero: off the simplex a formula may be continued in several ways."""
    p = law(seed, cells)
    assert functional.value(p) == pytest.approx(plain(p), abs=1e-12)
    found, expected = functional.gradient(p), complex_step(plain, p)
    assert found.shape == (cells,)
    np.testing.assert_allclose(found - found.mean(), expected - expected.mean(), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(("functional", "cells", "plain"), CASES, ids=IDS)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_gradient_is_that_of_the_value_by_every_cell(functional, cells, plain, seed):
    p = law(seed, cells)
    np.testing.assert_allclose(functional.gradient(p), numerical_gradient(functional.value, p), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("functional", "cells", "plain"), CASES, ids=IDS)
def test_negative_cells_are_taken_or_refused_with_the_reason(functional, cells, plain):
    p = np.full(cells, 1.02 / (cells - 1))
    p[1] = -0.02
    if functional.name not in RARE:
        assert functional.value(p) == pytest.approx(plain(p), abs=1e-12)
        found, expected = functional.gradient(p), complex_step(plain, p)
        np.testing.assert_allclose(found - found.mean(), expected - expected.mean(), atol=1e-9)
    elif functional.name != "square root":
        for asked in (functional.value, functional.gradient):
            with pytest.raises(
                SottovoceError, match=r"^p must have (no negative cell|positive cells).* Got -0.02 inst"
            ):
                asked(p)


@pytest.mark.parametrize(("functional", "cells", "plain"), CASES, ids=IDS)
def test_what_is_no_distribution_is_refused(functional, cells, plain):
    for bad in ([40.0] * cells, [float("nan")] * cells, ["a"] * cells, [], [1j] * cells):
        for asked in (functional.value, functional.gradient):
            with pytest.raises(SottovoceError, match=r"^p must be .*\. Got .* instead\.$"):
                asked(bad)


@pytest.mark.parametrize(("functional", "cells", "plain"), CASES, ids=IDS)
def test_functionals_are_values_with_a_name(functional, cells, plain):
    assert functional.name
    assert hash(functional) == hash(functional)
    with pytest.raises(FrozenInstanceError):
        functional.name = "another"


@pytest.mark.parametrize("functional", [c[0] for c in CASES if c[0].name not in ("entropy", "square root")], ids=repr)
def test_tables_of_another_size_are_refused(functional):
    with pytest.raises(SottovoceError, match=r"^(p must have \d cells|(event|given) must be indices of the 2 cells)"):
        functional.gradient([0.5, 0.5])


def test_given_cells_that_are_not_there_are_refused():
    with pytest.raises(SottovoceError, match=r"^given must be indices of the 2 cells\. Got \[0, 2\] instead\.$"):
        ConditionalProbability([1], [0, 2]).value([0.5, 0.5])


def test_against_scipy():
    counts = np.array([[30, 15, 5], [10, 20, 40]])
    total, p = counts.sum(), counts / counts.sum()
    assert Entropy().value(p) == pytest.approx(stats.entropy(p.ravel(), base=2))
    assert total * ChiSquared(SHAPE).value(p) == pytest.approx(stats.chi2_contingency(counts).statistic)
    likelihood = stats.chi2_contingency(counts, lambda_="log-likelihood").statistic
    assert total * GSquared(SHAPE).value(p) == pytest.approx(likelihood)
    entropies = [stats.entropy(law, base=2) for law in (p.sum(axis=1), p.sum(axis=0), p.ravel())]
    assert MutualInformation(SHAPE).value(p) == pytest.approx(entropies[0] + entropies[1] - entropies[2])
    people = np.repeat(np.indices(SHAPE).reshape(2, -1), counts.ravel(), axis=1)
    expected = stats.pearsonr(ROWS[people[0]], COLUMNS[people[1]]).statistic
    assert PearsonCorrelation(ROWS, COLUMNS).value(p) == pytest.approx(expected)
    square = np.array([[30, 15], [10, 45]])
    assert OddsRatio().value(square / 100) == pytest.approx(odds_ratio(square, kind="sample").statistic)


def test_by_hand():
    """Risks 45/55 and 15/45; odds 30 x 45 / (15 x 10) = 9."""
    p = np.array([[0.30, 0.15], [0.10, 0.45]])
    assert RiskDifference().value(p) == pytest.approx(45 / 55 - 15 / 45)
    assert LogOddsRatio().value(p) == pytest.approx(log(9))
    assert OddsRatio().value(p) == pytest.approx(9)
    assert ConditionalProbability([1, 3], [2, 3]).value(p) == pytest.approx(45 / 55)
    np.testing.assert_allclose(Entropy().gradient([0.5, 0.25, 0.25]), [1 - 1 / log(2), 2 - 1 / log(2), 2 - 1 / log(2)])


def test_empty_cells_have_values_but_no_gradients():
    p = [0.5, 0, 0, 0.5]
    assert Entropy().value(p) == 1
    assert MutualInformation((2, 2)).value(p) == 1
    assert GSquared((2, 2)).value(p) == pytest.approx(2 * log(2))
    for functional in (Entropy(), MutualInformation((2, 2)), GSquared((2, 2))):
        with pytest.raises(
            SottovoceError, match=r"^p must have positive cells, .* no gradient of .*\. Got 0\.0 instead"
        ):
            functional.gradient(p)


@pytest.mark.parametrize("functional", [MutualInformation(SHAPE), GSquared(SHAPE), ChiSquared(SHAPE)], ids=repr)
def test_nothing_is_gained_at_independence_to_first_order(functional):
    """Value 0, and a gradient that is constant: the delta method gives no variance there."""
    p = np.outer([0.3, 0.7], [0.2, 0.3, 0.5])
    assert functional.value(p) == pytest.approx(0, abs=1e-14)
    assert np.ptp(functional.gradient(p)) == pytest.approx(0, abs=1e-12)


def test_correlations_do_not_depend_on_where_scores_start():
    p = law(1, 6)
    late = PearsonCorrelation(ROWS + 1e9, 2 * COLUMNS - 7)
    near = PearsonCorrelation(ROWS, COLUMNS)
    assert late.value(p) == pytest.approx(near.value(p), rel=1e-12)
    np.testing.assert_allclose(late.gradient(p), near.gradient(p), rtol=1e-9)


@pytest.mark.parametrize(
    ("parameter", "call"),
    [
        ("scores", lambda: Mean([])),
        ("scores", lambda: Mean([1, float("inf")])),
        ("scores", lambda: Mean(["low", "high"])),
        ("rows", lambda: PearsonCorrelation([], [0, 1])),
        ("columns", lambda: PearsonCorrelation([0, 1], [float("nan"), 1])),
        ("shape", lambda: MutualInformation((2, 2, 2))),
        ("shape", lambda: GSquared(4)),
        ("shape", lambda: ChiSquared((2, 0))),
        ("shape", lambda: ChiSquared((2, True))),
        ("event", lambda: ConditionalProbability([], [0])),
        ("given", lambda: ConditionalProbability([0], [-1])),
        ("p", lambda: ConditionalProbability([0], [1]).value([1.1, -0.1])),
        ("p", lambda: ChiSquared((2, 2)).value([0.5, 0.5, 0, 0])),
        ("p", lambda: ChiSquared((2, 2)).gradient([0.5, -0.1, 0.7, -0.1])),
        ("p", lambda: RiskDifference().value([0.6, 0.5, -0.2, 0.1])),
        ("p", lambda: PearsonCorrelation([0, 1], [0, 1]).value([0.5, 0.5, 0, 0])),
        ("p", lambda: PearsonCorrelation([0, 1], [2, 2]).value([0.2, 0.3, 0.3, 0.2])),
        ("p", lambda: PearsonCorrelation([0, 1], [0, 1]).value([-0.2, 0.6, 0.0, 0.6])),
        ("p", lambda: OddsRatio().value([0.5, 0, 0.25, 0.25])),
        ("function", lambda: UserFunction("none", 3)),
        ("function", lambda: UserFunction("two", lambda p: p[:2]).value([0.5, 0.5])),
        ("function", lambda: UserFunction("imaginary", lambda p: 1j * p[0]).value([0.5, 0.5])),
        ("function", lambda: numerical_gradient(lambda p: np.sqrt(p[0]), [0.0, 1.0])),
        ("function", lambda: numerical_gradient(lambda p: p, [0.5, 0.5])),
        ("point", lambda: numerical_gradient(lambda p: p[0], [1j, 0])),
    ],
)
def test_bad_input_is_refused(parameter, call):
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        call()


def only_floats(p) -> float:
    return exp(float(p[0])) * float(p[1])


def through_an_array_of_floats(p) -> float:
    """numpy drops the imaginary part here, with a warning only."""
    real = np.empty(2)
    real[:] = p
    return np.exp(real[0]) * real[1]


def real_part_of_a_factor(p):
    """Accepts complex numbers, and gives a complex one with the wrong derivative."""
    return np.exp(p[0].real) * p[1]


def analytic(p):
    return np.exp(p[0]) * p[1]


@pytest.mark.parametrize(
    ("function", "accuracy"),
    [(analytic, 1e-15), (only_floats, 1e-8), (through_an_array_of_floats, 1e-8), (real_part_of_a_factor, 1e-8)],
)
def test_numerical_gradients_are_right_whatever_the_function_does_with_complex_numbers(function, accuracy):
    """`e^x y` at (.25, .75): exact to rounding where it is analytic, to the central difference's error elsewhere."""
    expected = exp(0.25) * np.array([0.75, 1.0])
    np.testing.assert_allclose(numerical_gradient(function, [0.25, 0.75]), expected, rtol=accuracy)


def test_numerical_gradients_of_constants_tables_and_small_cells():
    assert (numerical_gradient(lambda p: 3, [0.5, 0.5]) == 0).all()
    table = np.array([[0.1, 0.2], [0.3, 0.4]])
    np.testing.assert_allclose(numerical_gradient(lambda t: t[0] @ t[1], table), [0.3, 0.4, 0.1, 0.2], rtol=1e-14)
    np.testing.assert_allclose(numerical_gradient(lambda p: float(np.log(p[0].real)), [1e-7, 1.0])[0], 1e7, rtol=2e-3)


@pytest.mark.parametrize(("functional", "cells", "plain"), CASES, ids=IDS)
def test_the_delta_method_gives_the_spread_of_simulated_surveys(functional, cells, plain):
    """2,000 surveys of 200,000 through a coin that keeps 60 %: within 8 %, 5 Monte-Carlo errors of 1.6 %."""
    rng = np.random.default_rng(6)
    p = law(12, cells)
    channel = 0.6 * np.eye(cells) + 0.4 / cells
    shares = rng.multinomial(200_000, channel @ p, size=2000) / 200_000
    spread = np.std([functional.value(estimate) for estimate in np.linalg.solve(channel, shares.T).T])
    gradient = functional.gradient(p)
    stated = sqrt(gradient @ estimate_covariance(channel, p, 200_000) @ gradient)
    assert stated == pytest.approx(spread, rel=0.08)
