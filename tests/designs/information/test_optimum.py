"""Reference points of the MOPSO problem, an independent solver, the ends of the front, and laws on random channels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, gamma, norm

from sottovoce.designs.information import least_information as module
from sottovoce.designs.information import program
from sottovoce.designs.information.least_information import information_front, least_information, smallest_distortion
from sottovoce.designs.information.program import Program
from sottovoce.errors import SottovoceError
from sottovoce.measures.privacy import entropy, mutual_information
from sottovoce.measures.utility import distortion

CONNECT_4 = np.array([0.6583, 0.2462, 0.0955])
CAR = np.array([0.70023, 0.22222, 0.03993, 0.03762])


def binned(cdf, low, high, size):
    law = np.diff(cdf(np.linspace(low, high, size + 1)))
    return law / law.sum()


GAMMA = binned(gamma(1, scale=2).cdf, 0, 8, 8)
BETA = binned(beta(1, 2).cdf, 0, 1, 8)


def assert_meets(matrix, prior, odds, most):
    assert (matrix >= 0).all()
    assert matrix.sum(axis=0) == pytest.approx(1, abs=1e-12)
    assert distortion(matrix, prior) <= most + 1e-12
    if odds is not None:
        assert (matrix.max(axis=1) <= odds * matrix.min(axis=1) * (1 + 1e-12)).all()


def by_cones(prior, odds, most):
    """The same program in exponential cones, by Clarabel."""
    cp = pytest.importorskip("cvxpy")
    size = prior.size
    channel, least = cp.Variable((size, size)), cp.Variable(size)
    across = np.ones((1, size))
    law = cp.reshape(channel @ prior, (size, 1), order="C") @ across
    floor = cp.reshape(least, (size, 1), order="C") @ across
    nats = cp.sum(cp.multiply(np.tile(prior, (size, 1)), cp.rel_entr(channel, law)))
    limits = [cp.sum(channel, axis=0) == 1, channel >= floor, channel <= odds * floor, least >= 0]
    problem = cp.Problem(cp.Minimize(nats), [*limits, 1 - prior @ cp.diag(channel) <= most])
    problem.solve(solver=cp.CLARABEL)
    return problem.value / np.log(2)


@pytest.mark.parametrize(
    ("prior", "most", "published"),
    [(GAMMA, 0.543, 0.0564), (BETA, 0.684, 0.0563), (CONNECT_4, 0.273, 0.1214)],
)
def test_reference_points_lie_on_the_front_within_the_digits_of_their_distortions(prior, most, published):
    odds = np.exp(2)
    low, high = (least_information(prior, odds, most + by) for by in (0.0005, -0.0005))
    assert low.value <= published <= high.value
    assert max(low.gap, high.gap) < 1e-6


def test_connect_4_at_epsilon_2_to_four_digits():
    solution = least_information(CONNECT_4, np.exp(2), 0.273)
    assert solution.value == pytest.approx(0.1214, abs=5e-5)
    assert solution.gap < 1e-6


@pytest.mark.parametrize(
    ("prior", "epsilon", "most"),
    [(CONNECT_4, 2, 0.2719), (CAR, 2, 0.25), (BETA[:6] / BETA[:6].sum(), 1, 0.68), (np.full(5, 0.2), 1.5, 0.6)],
)
def test_exponential_cones_agree(prior, epsilon, most):
    solution = least_information(prior, np.exp(epsilon), most)
    assert solution.value == pytest.approx(by_cones(prior, np.exp(epsilon), most), abs=2e-7)
    assert solution.gap < 1e-6


@pytest.mark.parametrize("prior", [CAR, CONNECT_4])
def test_the_front_is_one_point_where_the_odds_cannot_outweigh_the_prior(prior):
    (only,) = information_front(prior, np.exp(0.5))
    assert (only.value, only.lower_bound, only.gap) == (0, 0, 0)
    assert distortion(only.matrix, prior) == pytest.approx(1 - prior.max())


@pytest.mark.parametrize("odds", [np.exp(0.5), np.exp(2), None])
def test_a_front_falls_and_is_convex_and_proven(odds):
    prior = binned(norm.cdf, -3, 3, 30)
    seen = []
    front = information_front(prior, odds, points=9, progress=lambda *done: seen.append(done))
    values = np.array([point.value for point in front])
    assert (np.diff(values) < 0).all()
    assert (np.diff(values, 2) > -1e-9).all()
    assert values[-1] == 0
    for point, most in zip(front, np.linspace(smallest_distortion(prior, odds), 1 - prior.max(), 9), strict=True):
        assert_meets(point.matrix, prior, odds, most)
        assert point.gap < 1e-6
    assert seen == [(done, 9) for done in range(1, 10)]


def test_chosen_distortions_are_solved_in_their_order():
    front = information_front(CONNECT_4, np.exp(2), distortions=[0.3, 0.25, 0.9])
    assert [point.value for point in front] == [
        least_information(CONNECT_4, np.exp(2), d).value for d in (0.3, 0.25, 0.9)
    ]


def test_without_a_bound_on_the_odds_no_distortion_tells_everything():
    assert least_information(CAR, None, 0).value == pytest.approx(entropy(CAR))


def test_large_odds_come_near_unbounded_ones():
    unbounded = least_information(GAMMA, None, 0.4)
    assert least_information(GAMMA, 1e6, 0.4).value == pytest.approx(unbounded.value, abs=1e-8)


@pytest.mark.parametrize(("odds", "reports"), [(2, 2), (2 + 2e-9, 3)])
def test_an_end_at_which_two_numbers_of_reports_do_equally_well_or_nearly(odds, reports):
    # (.4 + .35) 2 / 3 = 2 / 4: randomized response among two and among three.
    prior = np.array([0.4, 0.35, 0.25])
    solution = least_information(prior, odds, smallest_distortion(prior, odds))
    assert np.count_nonzero(solution.matrix.any(axis=1)) == reports
    assert solution.gap < 1e-6


def test_an_end_without_slopes_to_try_is_not_proven(monkeypatch):
    monkeypatch.setattr(module, "SLOPES", np.array([1.0]))
    solution = module.mixture_of_ends(Program(GAMMA, 7.0, smallest_distortion(GAMMA, 7)))
    assert solution.lower_bound < solution.value


def test_a_path_ends_where_rounding_hides_the_rest(monkeypatch):
    monkeypatch.setattr(module, "CLOSE", -1)
    monkeypatch.setattr(module, "CLOSEST", -1)
    assert least_information(GAMMA, np.exp(2), 0.543).gap < 1e-10


@pytest.mark.parametrize(("epsilon", "share"), [(0.2, 4e-6), (4.2, 8e-6), (0.02, 0.999), (9, 0.5), (0.05, 0.3)])
def test_far_corners(epsilon, share):
    prior = np.random.default_rng(6).dirichlet(np.full(30, 2.0))
    odds = np.exp(epsilon)
    smallest = smallest_distortion(prior, odds)
    most = smallest + share * (1 - prior.max() - smallest)
    solution = least_information(prior, odds, most)
    assert_meets(solution.matrix, prior, odds, most)
    assert solution.value - solution.lower_bound < max(1e-6 * solution.value, 1e-7)


def test_150_categories():
    prior = binned(gamma(1, scale=2).cdf, 0, 8, 150)
    for point in information_front(prior, np.exp(2), points=4):
        assert point.gap < 1e-6


def test_where_rounding_stops_the_path_the_mixture_of_the_ends_stands(monkeypatch):
    def singular(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(program, "_step", singular)
    solution = least_information(CONNECT_4, np.exp(2), 0.273)
    assert_meets(solution.matrix, CONNECT_4, np.exp(2), 0.273)
    assert (solution.value > 0.1214, solution.lower_bound) == (True, 0)


def test_a_path_cut_short_states_its_gap(monkeypatch):
    monkeypatch.setattr(program, "MOST_STEPS", 6)
    solution = least_information(CONNECT_4, np.exp(2), 0.273)
    assert solution.lower_bound < 0.12145 < solution.value + 1e-4


LAWS = st.integers(2, 7).flatmap(
    lambda size: st.lists(st.floats(0.02, 1), min_size=size, max_size=size).map(lambda law: np.array(law) / sum(law))
)


@given(LAWS, st.floats(0.1, 5), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_no_random_channel_tells_less(prior, epsilon, seed):
    """Draw a channel, mix it with its own reports' law until the odds fit, and ask for its distortion."""
    rng = np.random.default_rng(seed)
    odds, size = np.exp(epsilon), prior.size
    share = rng.random()
    matrix = share * rng.dirichlet(np.ones(size), size).T + (1 - share) * np.eye(size)
    law = (matrix @ prior)[:, None]
    excess = np.maximum(matrix.max(axis=1) - odds * matrix.min(axis=1), 0)[:, None]
    mixed = (excess / (excess + (odds - 1) * law)).max()
    matrix = (1 - mixed) * matrix + mixed * law
    most = float(distortion(matrix, prior))
    solution = least_information(prior, odds, most)
    assert_meets(solution.matrix, prior, odds, most)
    assert solution.lower_bound <= solution.value <= mutual_information(matrix, prior) + 1e-12
    assert solution.value - solution.lower_bound <= max(1e-6 * solution.value, 1e-7)


@pytest.mark.parametrize(
    ("parameter", "arguments"),
    [
        ("prior", ([0.5, 0.4], 3, 0.4)),
        ("prior", ([1, 0], 3, 0.4)),
        ("prior", ([], 3, 0.4)),
        ("prior", ([[0.5, 0.5]], 3, 0.4)),
        ("prior", (["a"], 3, 0.4)),
        ("odds", ([0.5, 0.5], 0.9, 0.4)),
        ("odds", ([0.5, 0.5], float("inf"), 0.4)),
        ("odds", ([0.5, 0.5], float("nan"), 0.4)),
        ("odds", ([0.5, 0.5], [3, 4], 0.4)),
        ("distortion", ([0.5, 0.5], 3, 1.1)),
        ("distortion", ([0.5, 0.5], 3, float("nan"))),
        ("distortion", ([0.5, 0.5], 3, [0.4])),
        ("distortion", ([0.5, 0.5], 3, 0.2)),
        ("distortion", ([0.5, 0.5], None, -0.1)),
    ],
)
def test_refused(parameter, arguments):
    with pytest.raises(SottovoceError) as refusal:
        least_information(*arguments)
    assert refusal.value.parameter == parameter


def test_too_small_a_distortion_names_the_nearest_one():
    with pytest.raises(SottovoceError, match=r"distortion must be at least 0\.25, .* Got 0\.2 instead"):
        least_information([0.5, 0.5], 3, 0.2)


@pytest.mark.parametrize("points", [1, True, 2.5])
def test_a_front_has_two_points_or_more(points):
    with pytest.raises(SottovoceError, match="points"):
        information_front(CAR, 7, points=points)
