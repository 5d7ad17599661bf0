"""Two groups or waves: differences by hand, intervals that cover, and a test of the right size and with power."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.errors import SottovoceError
from sottovoce.estimates.counted import Counted
from sottovoce.estimates.groups import compare_estimates
from sottovoce.estimates.proportions import by_blue, by_inversion, estimate_proportions
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.attribute_sampling import AttributeSampling
from sottovoce.schemes.warner import Warner

FIRST, SECOND = KeepOrUniform((3,), Fraction(1, 2)), KeepOrUniform((3,), Fraction(3, 4))
SAMPLED = AttributeSampling(odds=9).mechanism((3, 2)).channel.marginal([0])
LAW = np.array([0.5, 0.3, 0.2])


def estimate(channel, counts, target="population", method=by_inversion):
    return method(Counted(("a",), (("x", "y", "z"),), channel, np.asarray(counts), np.arange(3)), target)


def draw(rng, channel, law, people, target):
    columns = channel.matvec(np.eye(3))
    if target == "population":
        return rng.multinomial(people, columns @ law)
    fixed = np.round(people * law).astype(int)
    return sum(rng.multinomial(n, column) for n, column in zip(fixed, columns.T, strict=True))


def test_by_hand():
    """Two proportions with Warner's design: z = d / sqrt(V1 + V2), and the chi-square is its square."""
    plans = [Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=p)}) for p in (0.75, 0.8)]
    shares, yes, people = [], (45, 60), (100, 150)
    for plan, count, n in zip(plans, yes, people, strict=True):
        shares.append(estimate_proportions({"tax": [True] * count + [False] * (n - count)}, plan, "tax"))
    found = compare_estimates(*shares)
    first, second = (0.45 - 0.25) / 0.5, (0.4 - 0.2) / 0.6
    error = np.sqrt(0.45 * 0.55 / 100 / 0.25 + 0.4 * 0.6 / 150 / 0.36)
    np.testing.assert_allclose(found.difference, [second - first, first - second])
    np.testing.assert_allclose(found.standard_error, error)
    assert found.statistic == pytest.approx(((second - first) / error) ** 2)
    assert found.degrees == 1
    low, high = found.interval(0.95, kind="wald")
    np.testing.assert_allclose(high - low, 2 * 1.959963984540054 * error)
    for kind in ("wald", "default"):
        low, high = found.interval(0.95, kind=kind)
        wide = found.interval(0.95, simultaneous=True, kind=kind)
        assert (wide[1] - wide[0] > high - low).all()
    (one_low, one_high), (low, high) = ([float(ends[1]) for ends in share.interval()] for share in shares)
    expected = first - second - np.hypot(first - one_low, high - second)
    assert found.interval()[0][1] == pytest.approx(expected)  # Zou & Donner's formula
    assert found.interval()[1][1] == pytest.approx(first - second + np.hypot(one_high - first, second - low))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["population", "table"])
def test_equal_groups_are_found_different_in_5_percent(target):
    """2,000 pairs of waves through different channels, three cells: size 5 % and coverage 95 %, within 1.5 points."""
    rng = np.random.default_rng([9, len(target)])
    rejected, covered, together = 0, 0, 0
    for _ in range(2000):
        pair = [
            estimate(channel, draw(rng, channel, LAW, n, target), target)
            for channel, n in ((FIRST, 1000), (SECOND, 600))
        ]
        found = compare_estimates(*pair)
        low, high = found.interval()
        covered += ((low <= 0) & (high >= 0)).mean()
        low, high = found.interval(simultaneous=True)
        together += ((low <= 0) & (high >= 0)).all()
        rejected += found.p_value < 0.05
    assert 0.035 < rejected / 2000 < 0.065
    assert 0.935 < covered / 2000 < 0.965
    assert together / 2000 > 0.935


@pytest.mark.slow
def test_estimates_that_do_not_sum_to_one_have_no_degree_more():
    """Plain inversion of sampled attributes leaves the sum to chance; 2,000 pairs, size 5 % within 1.5 points."""
    rng, rejected = np.random.default_rng(10), 0
    for _ in range(2000):
        found = compare_estimates(
            estimate(SAMPLED, rng.multinomial(1500, SAMPLED.matvec(LAW))),
            estimate(SAMPLED, rng.multinomial(1500, SAMPLED.matvec(LAW)), method=by_blue),
        )
        rejected += found.p_value < 0.05
        assert found.degrees == 2
    assert 0.035 < rejected / 2000 < 0.065


def test_a_difference_is_found():
    found = compare_estimates(
        estimate(FIRST, np.round(4000 * FIRST.matvec(LAW)).astype(int)),
        estimate(FIRST, np.round(4000 * FIRST.matvec([0.4, 0.3, 0.3])).astype(int)),
    )
    assert found.p_value < 1e-3
    np.testing.assert_allclose(found.covariance, found.first.covariance + found.second.covariance)


def test_for_people_and_programs():
    found = compare_estimates(estimate(FIRST, [400, 350, 250]), estimate(SECOND, [300, 250, 150]), ("north", "south"))
    lines = str(found).splitlines()
    assert (
        lines[0] == "a: differences in the population, north (1000 reports) minus south (700), combined 95 % intervals"
    )
    assert lines[1].startswith("  x ")
    assert lines[-1].startswith("  all alike: statistic ")
    document = found.to_json(0.9)
    assert document["groups"] == ["north", "south"]
    assert document["respondents"] == [1000, 700]
    assert document["cells"][2]["values"] == {"a": "z"}
    assert document["cells"][2]["difference"] == document["cells"][2]["first"] - document["cells"][2]["second"]
    frame = found.to_frame("polars")
    assert frame.columns == ["a", "first", "second", "difference", "standard_error", "low", "high"]


def test_what_cannot_be_compared():
    plain = estimate(FIRST, [400, 350, 250])
    with pytest.raises(SottovoceError, match=r"^target must be the same in all estimates"):
        compare_estimates(plain, estimate(FIRST, [400, 350, 250], "table"))
    biased = estimate(FIRST, [400, 350, 250], method=lambda counted, target: by_inversion(counted, target, "simplex"))
    with pytest.raises(
        SottovoceError,
        match=r"^method must be inversion or blue or inverse-variance weighting or generalised least squares or two",
    ):
        compare_estimates(plain, biased)
