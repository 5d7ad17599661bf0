"""Score intervals: Wilson's without a disguise, inside [0, 1], and covering where Wald's fail."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.errors import SottovoceError
from sottovoce.estimates.cell_tests import JoinedTests, NormalTests, QuadraticVariance, ScoreTests, score_ends
from sottovoce.estimates.counted import Counted
from sottovoce.estimates.proportions import by_inversion, estimate_proportions
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.warner import Warner

PLAIN = KeepOrUniform((2,), 1)
COIN = KeepOrUniform((3,), Fraction(1, 2))


def estimate(channel, counts, target="population"):
    cells = channel.n_in
    return by_inversion(
        Counted(("a",), (tuple(range(cells)),), channel, np.asarray(counts), np.arange(cells)), target, "inversion"
    )


@pytest.mark.parametrize("yes", [0, 1, 7, 50, 99, 100])
def test_without_a_disguise_they_are_wilsons(yes):
    """Wilson (1927): (p + z^2/2N +- z sqrt(p (1-p)/N + z^2/4N^2)) / (1 + z^2/N)."""
    z, p, n = 1.959963984540054, yes / 100, 100
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    low, high = estimate(PLAIN, [100 - yes, yes]).interval(0.95, kind="score")
    assert (low[1], high[1]) == pytest.approx((max(middle - half, 0), min(middle + half, 1)))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["population", "table"])
def test_they_cover_near_zero(target):
    """A cell of 1 % among 300 people: score intervals cover at least 93.5 % of 4,000 samples, from [0, 1] alone."""
    law = np.array([0.69, 0.30, 0.01])
    rng = np.random.default_rng(6)
    fixed = np.array([207, 90, 3])
    columns = COIN.dense()
    covered = 0
    for _ in range(4000):
        if target == "population":
            counts = rng.multinomial(300, columns @ law)
        else:
            counts = sum(rng.multinomial(n, column) for n, column in zip(fixed, columns.T, strict=True))
        low, high = estimate(COIN, counts, target).interval(0.95, kind="score")
        assert low.min() >= 0
        assert high.max() <= 1
        covered += low[2] <= 0.01 <= high[2]
    assert covered / 4000 > 0.935


def test_all_cells_at_once_need_more_room():
    found = estimate(COIN, [300, 400, 300])
    alone, together = found.interval(0.95), found.interval(0.95, simultaneous=True)
    assert (together[1] - together[0] > alone[1] - alone[0]).all()
    together = found.interval(0.95, simultaneous=True, kind="wald")
    np.testing.assert_allclose(together[1] - found.value, 2.3939797998185104 * found.standard_error)  # z of .05 / 6


def test_bad_levels_and_kinds_are_refused():
    found = estimate(COIN, [3, 4, 3])
    with pytest.raises(SottovoceError, match=r"^kind must be one of default, exact, score, profile, wald, bootstrap"):
        found.interval(kind="bayes")
    with pytest.raises(SottovoceError, match=r"^level must be between 0 and 1"):
        found.interval(1.0)
    plan = Plan.of(Schema([Attribute("a", ["x", "y", "z"])]), {"a": Warner(p=0.75)})
    likely = estimate_proportions({"a": ["x", "y", "y"]}, plan, "a", method="em")
    for kind in ("score", "exact"):
        with pytest.raises(SottovoceError, match=rf"^kind must be default or wald here; {kind} is for"):
            likely.interval(kind=kind)
    with pytest.raises(SottovoceError, match=r"^kind must be default or wald here; profile is for estimates of a pop"):
        estimate_proportions({"a": ["x", "y", "y"]}, plan, "a", target="table").interval(kind="profile")


def test_tabulated_intervals_are_those_of_the_test():
    """Normal estimates near 0, near 1 and in between, and one without a variance."""
    values, errors = np.array([-0.03, 0.001, 0.02, 0.4, 0.97, 1.01, 0.3, 0.5]), np.full(8, 0.01)
    errors[6:] = 0.2, 0.0
    zero = np.zeros(8)
    low, high = NormalTests(values, errors).ends(1.96)
    expected = score_ends(values, QuadraticVariance(errors**2, zero, zero), 1.96)
    np.testing.assert_allclose([low, high], expected, atol=1e-5)
    assert NormalTests(np.full(10**6, 1e-6), np.full(10**6, 1e-5)).ends(1.96)[0].max() == 0


def test_marginals_of_joint_reports_are_tested_by_their_own_weights():
    """A gamma-diagonal pair: a margin is one property of a report; a pair of coins: the joint cells are not."""
    schema = Schema([boolean("a"), boolean("b")])
    rows = {"a": [True] * 12 + [False] * 18, "b": [True, False] * 15}
    joint = Plan.of(schema, {("a", "b"): GammaDiagonal(odds=9)})
    table = estimate_proportions(rows, joint, ["a", "b"])
    alone = estimate_proportions(rows, joint, "a")
    assert (table.to_json()["interval"], alone.to_json()["interval"]) == ("exact", "exact")
    np.testing.assert_allclose(table.marginal(["a"]).interval(), alone.interval(), atol=1e-6)
    apart = estimate_proportions(rows, Plan.of(schema, {name: Warner(p=0.75) for name in "ab"}), ["a", "b"])
    assert apart.to_json()["interval"] == "constrained score"
    np.testing.assert_allclose(
        apart.marginal(["a"]).interval(),
        estimate_proportions(rows, Plan.of(schema, {name: Warner(p=0.75) for name in "ab"}), "a").interval(),
        atol=1e-6,
    )


def test_pairs_of_three_coins_have_the_same_intervals_as_a_margin():
    schema = Schema([boolean(name) for name in "abc"])
    plan = Plan.of(schema, {name: Warner(p=0.75) for name in "abc"})
    rng = np.random.default_rng(2)
    rows = {name: (rng.random(200) < 0.4).tolist() for name in "abc"}
    margin = estimate_proportions(rows, plan, list("abc")).marginal(["a", "b"])
    pair = estimate_proportions(rows, plan, ["a", "b"])
    assert margin.to_json()["interval"] == pair.to_json()["interval"] == "constrained score"
    np.testing.assert_allclose(margin.interval(), pair.interval(), atol=0.02)
    low, high = pair.interval(kind="profile")
    assert ((low <= np.clip(pair.value, 0, 1)) & (np.clip(pair.value, 0, 1) <= high)).all()


def test_large_tables_and_cells_without_a_property():
    """Beyond 512 reports a product has no marginal tests; beyond 4,096 cells only the covariance is used."""
    names = "abcdefghij"
    plan = Plan.of(Schema([boolean(name) for name in names]), {name: Warner(p=0.75) for name in names})
    rows = {name: [True, False] * 20 for name in names}
    joint = estimate_proportions(rows, plan, list(names))
    assert joint.to_json()["interval"] == "constrained score"
    assert joint.marginal(["a"]).to_json()["interval"] == "normal"
    names = "abcdefghijklm"
    plan = Plan.of(Schema([boolean(name) for name in names]), {name: Warner(p=0.75) for name in names})
    large = estimate_proportions({name: [True, False] * 20 for name in names}, plan, list(names))
    assert large.to_json()["interval"] == "normal"
    assert large.interval()[0].min() == 0
    with pytest.raises(SottovoceError, match=r"^kind must be default or wald here; bootstrap is for"):
        large.interval(kind="bootstrap")


def test_combined_kinds():
    tests = JoinedTests(
        (
            (np.array([1]), NormalTests(np.array([0.5]), np.array([0.1]))),
            (np.array([0]), ScoreTests(np.array([0.4]), QuadraticVariance(*(np.array([c]) for c in (0.01, 0.0, 0.0))))),
        )
    )
    assert tests.method == "normal or constrained score"
    assert [round(float(end), 3) for end in tests.ends(1.96)[0]] == [0.204, 0.304]
