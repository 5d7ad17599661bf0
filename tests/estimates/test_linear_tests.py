"""Tests of weighted sums of reports: coverage by enumeration, and which tests cells have."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from sottovoce.channels.dense import Dense
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.estimates import linear_tests
from sottovoce.estimates.cell_tests import IndicatorTests, ScoreTests, normal_p_values
from sottovoce.estimates.covariance import InversionCovariance, inverse_rows
from sottovoce.estimates.linear_tests import ConstrainedTests, inversion_tests, weighted_sum_tests, whole_tests
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.kuk import Kuk

Z = 1.959963984540054
COIN = KeepOrUniform((2,), Fraction(4, 5))
PAIR = Kronecker([COIN, COIN])
UNEVEN = Dense([[7, 2, 1], [2, 6, 3], [1, 2, 6]], 10)
CARDS = Plan.of(Schema([boolean("a")]), {"a": Kuk(yes=0.6, no=0.2, cards=3)}).channel(["a"])


def linear(channel, counts, target="population"):
    counts = np.asarray(counts, float)
    reported, order = counts / counts.sum(), np.arange(channel.n_in)
    return inversion_tests(InversionCovariance(channel, reported, channel.solve(reported), counts.sum(), order, target))


def every_count(respondents, kinds):
    if kinds == 1:
        return [(respondents,)]
    return [(n, *rest) for n in range(respondents + 1) for rest in every_count(respondents - n, kinds - 1)]


def coverage(channel, respondents, truths):
    """Exact probabilities that intervals contain the truth, for each truth and cell."""
    counts = np.array(every_count(respondents, channel.n_out))
    low, high = (np.array(ends) for ends in zip(*[linear(channel, row).ends(Z) for row in counts], strict=True))
    coefficients = np.array([_coefficient(row) for row in counts.tolist()], float)
    shares = []
    for truth in truths:
        chances = coefficients * np.prod(channel.matvec(truth) ** counts, axis=1)
        shares.append(chances @ ((low <= truth + 1e-9) & (high >= truth - 1e-9)))
    return np.array(shares)


def _coefficient(row):
    left, product = sum(row), 1
    for number in row:
        product *= comb(left, number)
        left -= number
    return product


@pytest.mark.parametrize(
    ("channel", "respondents"),
    [(PAIR, 1), (PAIR, 5), (UNEVEN, 6), pytest.param(PAIR, 12, marks=pytest.mark.slow),
     pytest.param(Kronecker([COIN, KeepOrUniform((3,), Fraction(1, 2))]), 4, marks=pytest.mark.slow)],
)  # fmt: skip
def test_joint_cells_cover_however_few_reports_there_are(channel, respondents):
    rng, cells = np.random.default_rng(3), channel.n_in
    truths = [*np.eye(cells), np.full(cells, 1 / cells), *(rng.dirichlet(np.full(cells, e)) for e in (0.1, 0.3, 1, 1))]
    assert coverage(channel, respondents, truths).min() >= 0.94


@pytest.mark.parametrize("respondents", [1, 5, pytest.param(20, marks=pytest.mark.slow)])
def test_several_cards_are_exact(respondents):
    """With two categories no other proportion is unknown, so that probabilities are those of the truth."""
    truths = [np.array([1 - p, p]) for p in np.linspace(0, 1, 41)]
    assert coverage(CARDS, respondents, truths).min() >= 0.949


@pytest.mark.parametrize("respondents", [20, 400])
@pytest.mark.parametrize("target", ["population", "table"])
def test_matches_say_as_much_as_whole_reports(respondents, target):
    """Of two yes/no attributes, which of them match a cell is the report itself."""
    counts = np.array([0.4, 0.1, 0.2, 0.3]) * respondents
    by_match = linear(PAIR, counts, target)
    whole = whole_tests(
        inverse_rows(PAIR, np.arange(4)), PAIR.dense(), counts, np.eye(4, dtype=bool), target, by_match.score
    )
    np.testing.assert_allclose(by_match.ends(Z), whole.ends(Z), atol=0.003)


def test_many_reports_have_wald_intervals_inside():
    counts = np.array([40_000.0, 20_000, 25_000, 15_000])
    tests = linear(PAIR, counts)
    low, high = tests.ends(Z)
    reported = counts / counts.sum()
    errors = np.sqrt(InversionCovariance(PAIR, reported, tests.value, 1e5, np.arange(4), "population").variances)
    np.testing.assert_allclose([low, high], [tests.value - Z * errors, tests.value + Z * errors], atol=1e-4)
    assert tests.method == "constrained score"


def test_other_proportions_are_the_most_likely_ones(monkeypatch):
    """Against a fine grid of the other proportions."""
    counts = np.array([9.0, 8.0, 3.0])
    tests = linear(UNEVEN, counts)
    held = 0.3
    others = np.linspace(0, 1 - held, 20_001)
    points = np.stack([np.full_like(others, held), others, 1 - held - others])
    best = points[:, np.argmax(counts @ np.log(UNEVEN.matvec(points)))]
    found = tests._most_likely(np.full((3, 1), held))[0, 0]
    np.testing.assert_allclose(found, best, atol=0.05)
    monkeypatch.setattr(linear_tests, "MOST_STEPS", 1)
    np.testing.assert_allclose(tests._most_likely(np.full((3, 1), held))[0, 0].sum(), 1)


def test_sums_of_cells_have_tests_of_their_own():
    """The first two categories together; the members of the sum and the others are both unknown."""
    counts = np.array([9.0, 8.0, 3.0])
    weights, members = UNEVEN.solve(np.eye(3))[:2].sum(axis=0)[None], np.array([[1.0, 1.0, 0.0]])
    tests = weighted_sum_tests(weights, UNEVEN, counts / 20, 20, "population", members)
    (low,), (high,) = tests.ends(Z)
    assert isinstance(tests, ConstrainedTests)
    opposite = linear(UNEVEN, counts).ends(Z)
    np.testing.assert_allclose([low, high], [1 - opposite[1][2], 1 - opposite[0][2]], atol=0.05)


def test_reports_in_parts_have_the_variance_of_each():
    """Twice the same part is the same as one, but that the numbers of both are given."""
    counts, weights = np.array([90.0, 80.0, 30.0]), UNEVEN.solve(np.eye(3))
    members = np.eye(3, dtype=bool)
    one = linear(UNEVEN, counts)
    both = whole_tests(
        np.concatenate([weights, weights], axis=1),
        np.concatenate([UNEVEN.dense(), UNEVEN.dense()]) / 2,
        np.concatenate([counts, counts]) / 2,
        members,
        "population",
        one.score,
        np.repeat([0, 1], 3),
    )
    normal = whole_tests(weights, UNEVEN.dense(), counts, members, "population", one.score, np.zeros(3, int))
    np.testing.assert_allclose(both.ends(Z), normal.ends(Z), atol=1e-3)


def test_which_tests_cells_have(monkeypatch):
    assert isinstance(linear(COIN, [6, 4]), IndicatorTests)
    assert isinstance(linear(PAIR, [6, 4, 2, 1]), ConstrainedTests)
    assert isinstance(linear(UNEVEN, [6, 4, 2]), ConstrainedTests)
    monkeypatch.setattr(linear_tests, "MOST_CHANCES", 20)
    assert isinstance(linear(PAIR, [6, 4, 2, 1]), ScoreTests)
    assert isinstance(linear(UNEVEN, [6, 4, 2]), ScoreTests)
    monkeypatch.setattr(linear_tests, "MOST_LISTED_REPORTS", 2)
    assert isinstance(linear(UNEVEN, [6, 4, 2]), ScoreTests)
    monkeypatch.setattr(linear_tests, "MOST_EXACT", 2)
    assert isinstance(linear(PAIR, [6, 4, 2, 1]), ScoreTests)


def test_the_skewed_distribution_is_close_to_the_exact_one(monkeypatch):
    """That nobody is in a cell, from forty reports of which two are: a large estimate is likelier than normal."""
    tests, nobody = linear(PAIR, [30, 4, 4, 2]), np.zeros((4, 1))
    exact = tests.p_values(nobody)[3, 0]
    monkeypatch.setattr(linear_tests, "MOST_OUTCOMES", 0)
    skewed = linear(PAIR, [30, 4, 4, 2]).p_values(nobody)[3, 0]
    monkeypatch.setattr(linear_tests, "normal_p_values", lambda *moments: normal_p_values(*moments[:3]))
    normal = linear(PAIR, [30, 4, 4, 2]).p_values(nobody)[3, 0]
    assert skewed == pytest.approx(exact, rel=0.05)
    assert normal < 0.7 * exact


@pytest.mark.parametrize("seed", range(8))
def test_intervals_hold_the_estimate_and_grow_with_the_level(seed):
    rng = np.random.default_rng(seed)
    channel = [PAIR, UNEVEN, CARDS, Kronecker([COIN, KeepOrUniform((3,), Fraction(1, 10))])][seed % 4]
    counts = rng.multinomial([2, 400][seed // 4], rng.dirichlet(np.ones(channel.n_out)))
    value = np.clip(channel.solve(counts / counts.sum()), 0, 1)
    for target in ("population", "table"):
        tests = linear(channel, counts, target)
        before = value, value
        for deviations in (0.7, 1.96, 3.3):
            low, high = tests.ends(deviations)
            assert (low >= 0).all()
            assert (high <= 1).all()
            assert (low <= before[0] + 2e-3).all()
            assert (high >= before[1] - 2e-3).all()
            before = low, high
