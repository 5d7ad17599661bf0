"""Extremes over likelihood regions against scipy and by hand, and the quantiles that calibrate them."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2, ncx2

from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.errors import SottovoceError
from sottovoce.estimates import likelihood_region as region
from sottovoce.estimates.functional_intervals import pinned_quantile, sphere_quantile
from sottovoce.estimates.likelihood_region import (
    FaceLikelihood,
    NormalLikelihood,
    ReportLikelihood,
    extreme,
    hessian,
    maximum,
)
from sottovoce.measures.association import GSquared, MutualInformation, PearsonCorrelation
from sottovoce.measures.functionals import Entropy, Mean, UserFunction

TWO = Kronecker([KeepOrUniform((2,), Fraction(3, 4))] * 2)
INSIDE = ReportLikelihood(TWO.dense(), np.array([400.0, 250, 200, 150]))
ON_A_FACE = ReportLikelihood(TWO.dense(), np.array([450.0, 80, 300, 170]))
CORRELATION = PearsonCorrelation([0, 1], [0, 1])


def by_scipy(likelihood, functional, floor, sign, start):
    constraints = [
        {"type": "ineq", "fun": lambda p: likelihood.value(np.maximum(p, 1e-12)) - floor},
        {"type": "eq", "fun": lambda p: p.sum() - 1},
    ]
    found = minimize(
        lambda p: -sign * functional.value(np.maximum(p, 1e-12) / np.maximum(p, 1e-12).sum()),
        start,
        bounds=[(1e-9, 1)] * len(start),
        constraints=constraints,
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-12},
    )
    return functional.value(found.x / found.x.sum())


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("likelihood", [INSIDE, ON_A_FACE], ids=["inside", "face"])
@pytest.mark.parametrize("functional", [CORRELATION, Entropy(), MutualInformation((2, 2))], ids=lambda f: f.name)
def test_extremes_are_scipys(functional, likelihood, sign, monkeypatch):
    start, top = maximum(likelihood)
    floor = top - 1.92
    ours = functional.value(extreme(likelihood, functional, start, floor, sign, 0.05))
    assert ours == pytest.approx(by_scipy(likelihood, functional, floor, sign, start), abs=2e-4)
    monkeypatch.setattr(region, "_extreme_on_faces", lambda *arguments: None)
    barrier = functional.value(extreme(likelihood, functional, start, floor, sign, 0.05))
    assert barrier == pytest.approx(ours, abs=0.005)  # a tenth of a standard error, where the slope is infinite


def test_the_maximum_is_that_of_em():
    start, top = maximum(ON_A_FACE)
    assert start.min() < 1e-6
    kept = np.array([True, False, True, True])
    face, on_face = maximum(FaceLikelihood(ON_A_FACE, kept))
    assert on_face == pytest.approx(top, abs=1e-4)
    assert face == pytest.approx(start[kept], abs=1e-4)
    assert maximum(INSIDE, TWO.solve(INSIDE.counts / 1000))[1] == pytest.approx(maximum(INSIDE)[1], abs=1e-4)


def test_normal_likelihoods():
    """A distribution one standard error away loses half a unit; distances are the same through faces."""
    mean, covariance = (
        np.array([0.5, 0.3, 0.2]),
        (np.diag([0.5, 0.3, 0.2]) - np.outer([0.5, 0.3, 0.2], [0.5, 0.3, 0.2])),
    )
    normal = NormalLikelihood.of(mean, covariance / 100)
    step = np.array([0.05, -0.05, 0])
    lost = step @ np.linalg.pinv(covariance / 100) @ step
    assert normal.value(mean + step) == pytest.approx(-lost / 2)
    assert normal.distance(mean + step, mean) == pytest.approx(lost)
    face = FaceLikelihood(normal, np.array([True, True, False]))
    assert face.distance(np.array([0.6, 0.4]), np.array([0.5, 0.5])) == normal.distance(
        np.array([0.6, 0.4, 0]), np.array([0.5, 0.5, 0])
    )
    assert ReportLikelihood(np.eye(2), np.array([3.0, 7])).value(np.array([0.0, 1])) == -np.inf


def test_functionals_that_end_inside_the_simplex():
    """Not defined where a cell is below .35, as far as the region goes: the extreme stays where it is defined."""

    def root(p):
        if p[0] < 0.35:
            raise SottovoceError("p", "must have a first cell of .35", p[0])
        return p[0] - 0.35

    start, top = maximum(INSIDE)
    found = extreme(INSIDE, UserFunction("above", root), start, top - 30, -1, 0.05)
    assert 0.35 <= found[0] < 0.4


@pytest.mark.parametrize(
    "functional",
    [Entropy(), MutualInformation((2, 3)), GSquared((2, 3)), PearsonCorrelation([0, 1], [0, 1, 3])],
    ids=lambda f: f.name,
)
def test_second_derivatives(functional):
    p = np.array([0.3, 0.1, 0.2, 0.1, 0.2, 0.1])
    given = functional.hessian(p)
    assert hessian(functional, p, functional.gradient(p)) == pytest.approx(given)
    rows = [(functional.gradient(p + step) - functional.gradient(p - step)) / 2e-6 for step in 1e-6 * np.eye(6)]
    assert np.array(rows) == pytest.approx(given, rel=1e-3, abs=1e-3)


def test_differences_of_gradients_are_second_derivatives():
    square = UserFunction("square", lambda p: p[0] ** 2 + p[0] * p[1])
    p = np.array([0.5, 0.3, 0.2])
    assert hessian(square, p, square.gradient(p)) == pytest.approx(
        np.array([[2, 1, 0], [1, 0, 0], [0, 0, 0]]), abs=1e-4
    )
    assert hessian(Mean([0, 1, 5]), p, np.array([0, 1, 5])) == pytest.approx(np.zeros((3, 3)))


@pytest.mark.parametrize("degrees", [1, 2, 6, 20])
@pytest.mark.parametrize("radius", [0.0, 0.5, 2.0, 10.0])
def test_quantiles_of_spheres_are_noncentral_chi_square(degrees, radius):
    """Within a percent of the level, by scipy's distribution."""
    reach = np.sqrt(sphere_quantile(0.95, degrees, radius))
    centre = max(radius**2, 1e-9)
    covered = ncx2.cdf((radius + reach) ** 2, degrees, centre) - ncx2.cdf(max(radius - reach, 0) ** 2, degrees, centre)
    assert covered == pytest.approx(0.95, abs=0.01)


def test_quantiles_with_pinned_cells():
    """Against the mixture of chi-square variables with binomial weights, to a percent of the level."""
    for cells in (0, 1, 3, 6):
        weights = np.array([np.prod([(cells - i) / (i + 1) for i in range(j)]) for j in range(cells + 1)]) / 2**cells
        bound = pinned_quantile(0.95, cells)
        assert sum(w * chi2.cdf(bound, 1 + j) for j, w in enumerate(weights)) == pytest.approx(0.95, abs=0.01)


def test_derivatives_that_are_not_finite_lead_nowhere():
    """Rather than being shifted for ever."""
    p = np.array([0.5, 0.5])
    assert region._newton_step(p, np.ones(2), np.array([[np.nan, 0], [0, -1.0]])).tolist() == [0, 0]


@pytest.mark.parametrize("cells", [3, 7, 29, 31, 49])
def test_the_maximum_ends_for_any_number_of_cells(cells):
    """Also where rounding leaves the last weight of the barrier above its limit."""
    start, _ = maximum(ReportLikelihood(np.eye(cells), np.arange(1.0, cells + 1)))
    assert start == pytest.approx(np.arange(1, cells + 1) / (cells * (cells + 1) / 2), abs=1e-4)
