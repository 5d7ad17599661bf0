"""Tests of independence have the size they state, and power, through every kind of plan."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy.stats import binom, chi2, chi2_contingency

from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.estimates.counted import Counted
from sottovoce.estimates.independence import (
    _is_separate,
    chi_square_tail,
    independence_statistic,
    independence_test,
)
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.subset_selection import SubsetSelection
from sottovoce.schemes.warner import Warner

SCHEMA = Schema([boolean("a"), Attribute("b", ["x", "y", "z"])])
APART = Plan.of(SCHEMA, {"a": Warner(p=Fraction(3, 4)), "b": Warner(p=Fraction(3, 5))})
JOINT = Plan.of(SCHEMA, {("a", "b"): GammaDiagonal(gamma=9)})
INDEPENDENT = np.outer([0.3, 0.7], [0.5, 0.3, 0.2]).ravel()
DEPENDENT = INDEPENDENT + np.array([0.08, -0.04, -0.04, -0.08, 0.04, 0.04])


def counted(plan: Plan, counts: np.ndarray) -> Counted:
    return Counted(("a", "b"), ((False, True), ("x", "y", "z")), plan.channel(), counts, np.arange(6))


def statistic(table):
    """The statistic of the test on counts of reports."""
    shape = tuple(len(categories) for categories in table.categories[:2])
    return independence_statistic(table.channel, table.counts, table.order, shape)[0]


@pytest.mark.slow
@pytest.mark.parametrize("plan", [APART, JOINT], ids=["apart", "joint"])
def test_size_and_power(plan):
    """Tables of 3,000: rejected at 5 % in the binomial 99.9 % range under independence (of 1,000), mostly otherwise."""
    rng, limit = np.random.default_rng(3), chi2.isf(0.05, 2)
    rejected = {}
    for name, law, tables in (("independent", INDEPENDENT, 1000), ("dependent", DEPENDENT, 200)):
        draws = rng.multinomial(3000, plan.channel().matvec(law), size=tables)
        rejected[name] = sum(statistic(counted(plan, counts)) > limit for counts in draws)
    low, high = binom.interval(0.999, 1000, 0.05)
    assert low <= rejected["independent"] <= high
    assert rejected["dependent"] > 100


def test_pearson_on_reports_is_scipys():
    rng = np.random.default_rng(4)
    counts = rng.multinomial(500, APART.channel().matvec(DEPENDENT))
    assert statistic(counted(APART, counts)) == pytest.approx(chi2_contingency(counts.reshape(2, 3)).statistic)


def test_the_method_follows_the_coins():
    assert _is_separate(APART.channel())
    assert not _is_separate(JOINT.channel())
    assert not _is_separate(Plan.of(SCHEMA, {"a": Warner(p=Fraction(1, 2)), "b": Warner(p=0.6)}).channel())


@pytest.mark.parametrize("plan", [APART, JOINT], ids=["apart", "joint"])
def test_from_a_table_of_reports(plan):
    rng = np.random.default_rng(5)
    cells = rng.choice(6, 4000, p=plan.channel().matvec(DEPENDENT))
    reports = {"a": [c >= 3 for c in cells.tolist()], "b": ["xyz"[c % 3] for c in cells.tolist()]}
    for names in (("a", "b"), ("b", "a")):
        progress_calls: list[int] = []
        found = independence_test(reports, plan, *names, progress=partial(_noted, progress_calls))
        assert bool(progress_calls) == (plan is JOINT)  # only the likelihood ratio takes steps
        assert found.attributes == names
        assert found.degrees == 2
        assert found.p_value < 0.05


def _noted(progress_calls: list[int], step: int, most: int | None) -> None:
    progress_calls.append(step)


def test_a_report_for_three_attributes_tests_two_of_them():
    """a and b independent, c anything given both: 100 tables of 2,000, the binomial 99.9 % range of 5 %."""
    schema = Schema([boolean("a"), boolean("b"), boolean("c")])
    plan = Plan.of(schema, {("c", "b", "a"): SubsetSelection(odds=99)})
    law = np.outer([0.7, 0.3], [0.4, 0.6]).ravel()
    third = np.array([[0.8, 0.2], [0.2, 0.8], [0.2, 0.8], [0.8, 0.2]])
    order, limit, rng = plan.cell_order(["a", "b", "c"]), chi2.isf(0.05, 1), np.random.default_rng(6)
    rejected = []
    for tilt in (0.0, 0.1):
        cells = np.empty(8)
        cells[order] = ((law + tilt * np.array([1, -1, -1, 1]))[:, None] * third).ravel()
        draws = rng.multinomial(2000, plan.channel().matvec(cells), size=100)
        tables = [Counted(("a", "b", "c"), ((False, True),) * 3, plan.channel(), counts, order) for counts in draws]
        rejected.append(sum(statistic(table) > limit for table in tables))
    low, high = binom.interval(0.999, 100, 0.05)
    assert low <= rejected[0] <= high
    assert rejected[1] > 75
    found = independence_test(disguise_frame(dict.fromkeys("abc", [True, False] * 500), plan, rng=1), plan, "c", "a")
    assert (found.degrees, found.method) == (1, "likelihood ratio, through the channel")
    assert found.p_value < 1e-6


@pytest.mark.parametrize("plan", [APART, JOINT], ids=["apart", "joint"])
def test_too_few_reports(plan):
    with pytest.raises(SottovoceError, match=r"^reports must be at least 2 for a standard error\. Got 1 instead"):
        independence_test({"a": [True], "b": ["x"]}, plan, "a", "b")
    with pytest.raises(SottovoceError, match=r"^reports must be at least 30 for a chi-square test, 5 for each joint"):
        independence_test({"a": [True] * 29, "b": ["x"] * 29}, plan, "a", "b")
    assert independence_test({"a": [True, False] * 15, "b": ["x", "y", "z"] * 10}, plan, "a", "b").p_value > 0.5


def test_plans_that_cannot_be_tested():
    blind = Plan.of(SCHEMA, {"a": Warner(p=Fraction(1, 2)), "b": Warner(p=0.6)})
    with pytest.raises(SingularChannelError, match=r"^a \(warner: p must not be 1/n.*\) cannot be estimated: reports"):
        independence_test({"a": [True] * 30, "b": ["x"] * 30}, blind, "a", "b")
    wide = Schema([Attribute("a", range(4)), Attribute("b", range(4))])
    sets = Plan.of(wide, {("a", "b"): SubsetSelection(odds=9)})
    with pytest.raises(SottovoceError, match=r"^plan must give reports in categories, or sets .* Got subset_selection"):
        independence_test({"a+b": []}, sets, "a", "b")


def test_an_attribute_is_not_tested_against_itself():
    with pytest.raises(SottovoceError, match=r"^second must be another attribute"):
        independence_test({}, APART, "a", "a")


@pytest.mark.parametrize("degrees", [1, 2, 5, 40, 1000])
@pytest.mark.parametrize("quantile", [1e-9, 0.05, 0.5, 0.95, 0.999999])
def test_the_tail_is_scipys(degrees, quantile):
    statistic = chi2.isf(quantile, degrees)
    assert chi_square_tail(statistic, degrees) == pytest.approx(quantile, rel=1e-9)


def test_tails_at_the_ends():
    assert chi_square_tail(0, 3) == chi_square_tail(-1, 3) == 1
    with pytest.raises(SottovoceError, match=r"^degrees must be a positive whole number"):
        chi_square_tail(1, 0)
