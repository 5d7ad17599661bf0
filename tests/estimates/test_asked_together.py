"""Unbiased proportions of what was asked together: exact on expected counts, variances by formula and by draws."""

import numpy as np
import pytest

from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.estimates import asked_together, proportions
from sottovoce.estimates.asked_together import count_by_part, estimate_asked_together
from sottovoce.estimates.proportions import estimate_by, estimate_proportions
from sottovoce.plans.budget import new_plan
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.attribute_sampling import AttributeSampling
from sottovoce.schemes.subset_selection import SubsetSelection

SCHEMA = Schema([boolean("a"), Attribute("b", ["x", "y", "z"]), boolean("c"), Attribute("d", list("pqrst"))])
PLAN = Plan.of(SCHEMA, {SCHEMA.names: AttributeSampling(odds=5, subsets=[[0, 1], [0, 1, 2], [1, 3]])})
SPREAD = Plan.of(SCHEMA, {SCHEMA.names: AttributeSampling(odds=2, subsets=[[0, 1, 2], [1, 3]], spread=True)})


def people(count, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.random(count) < 0.3
    b = np.where(
        a, rng.choice(list("xyz"), count, p=[0.6, 0.2, 0.2]), rng.choice(list("xyz"), count, p=[0.2, 0.3, 0.5])
    )
    c = rng.random(count) < np.where(a, 0.7, 0.2)
    return {"a": a, "b": b, "c": c, "d": rng.choice(list("pqrst"), count)}


def shares(table, names):
    wanted = SCHEMA.project(names)
    return np.bincount(wanted.ravel(wanted.encode(table)), minlength=wanted.cells) / len(table["a"])


class Drawn:
    """A counter of made-up reports: the joint cells of all report columns, summed up as asked."""

    def __init__(self, plan, counts):
        self.schema, self.table = plan.report_schema, counts.reshape(plan.report_schema.sizes)

    def rows(self):
        return int(self.table.sum())

    def contingency(self, schema):
        kept = [self.schema.names.index(name) for name in schema.names]
        others = tuple(a for a in range(self.table.ndim) if a not in kept)
        return self.table.sum(axis=others).transpose(np.argsort(np.argsort(kept))).ravel()

    def all_ones(self, schema, sets):
        raise NotImplementedError


@pytest.mark.parametrize("plan", [PLAN, SPREAD], ids=["diagonal", "spread"])
@pytest.mark.parametrize("names", [["a"], ["b", "a"], ["c", "b"], ["c", "a", "b"]])
def test_exact_on_expected_counts(plan, names):
    table = people(1500)
    expected = plan.channel().matvec(shares(table, SCHEMA.names))
    found = estimate_asked_together(Drawn(plan, np.round(1e12 * expected).astype(np.int64)), plan, names)
    np.testing.assert_allclose(found.value, shares(table, names), atol=1e-9)
    assert found.attributes == tuple(names)


@pytest.mark.slow
@pytest.mark.parametrize("plan", [PLAN, SPREAD], ids=["diagonal", "spread"])
def test_the_stated_scatter_is_that_of_samples(plan):
    """400 samples of 1,500 people and their reports: the mean within four standard errors, deviations to a fifth."""
    truth = shares(people(1500), SCHEMA.names)
    draws = np.random.default_rng(5).multinomial(1500, plan.channel().matvec(truth), 400)
    found = [estimate_asked_together(Drawn(plan, counts), plan, ["c", "b"]) for counts in draws]
    stated = np.mean([one.covariances.variances for one in found], axis=0)
    values = np.array([one.value for one in found])
    gap = values.mean(axis=0) - truth.reshape(2, 3, 2, 5).sum(axis=(0, 3)).T.ravel()
    assert (np.abs(gap) < 4 * np.sqrt(stated / 400)).all()
    np.testing.assert_allclose(values.std(axis=0), np.sqrt(stated), rtol=0.2)


def test_variances_follow_the_formula():
    """`sum w^2 l (1 - l) / (keep^2 N_Q)`, weights `N_Q keep^2`, keeps of six and of twelve cells at odds 5."""
    reports = disguise_frame(people(2000), PLAN, rng=1)
    found = estimate_asked_together(reports, PLAN, ["a", "b"])
    blocks = count_by_part(reports, PLAN, ["a", "b"]).reports.blocks
    keeps = {6: 4 / 10, 12: 4 / 16}
    own = [(block.total, keeps[n]) for block, n in zip(blocks, (6, 12), strict=False)]
    weights = np.array([total * keep**2 for total, keep in own])
    weights /= weights.sum()
    expected = np.zeros(6)
    for weight, (total, keep), block in zip(weights, own, blocks, strict=False):
        seen = block.counts / total
        expected += weight**2 * seen * (1 - seen) / (keep**2 * total)
    np.testing.assert_allclose(found.covariances.variances, expected, rtol=1e-9)
    table = estimate_asked_together(reports, PLAN, ["a", "b"], target="table")
    np.testing.assert_allclose(
        table.covariances.variances, expected - found.value * (1 - found.value) / 2000, rtol=1e-9
    )


def test_what_was_not_asked_together_is_refused():
    reports = disguise_frame(people(100), PLAN, rng=1)
    with pytest.raises(SingularChannelError, match="attributes must be asked together of some respondents; plan with"):
        estimate_asked_together(reports, PLAN, ["a", "d"])
    one = {name: values[:1] for name, values in reports.items()}
    with pytest.raises(SottovoceError, match="reports must be at least 2"):
        estimate_asked_together(one, PLAN, [name for name in "abcd" if one[name][0] != "not asked"][:1])


def test_without_sampling_it_is_plain_inversion():
    plan = new_plan(SCHEMA, odds=9)
    reports = disguise_frame(people(500), plan, rng=1)
    ours = estimate_asked_together(reports, plan, "b", target="table")
    np.testing.assert_array_equal(ours.value, estimate_proportions(reports, plan, "b").value)
    assert ours.target == "table"


def test_of_too_many_columns_only_those_wanted_are_counted(monkeypatch):
    reports = disguise_frame(people(20_000), PLAN, rng=1)
    exact = estimate_asked_together(reports, PLAN, ["a", "b"])
    monkeypatch.setattr(asked_together, "MOST_REPORTS", 10)
    (pair, *_) = count_by_part(reports, PLAN, ["a", "b"]).reports.blocks
    assert [channel.keep for _, channel in pair.channels] == [pytest.approx(0.4), pytest.approx(0.25)]
    mixed = estimate_asked_together(reports, PLAN, ["a", "b"])
    # The mixture weighs parts by N keep instead of N keep^2: nearly the same, and never better.
    assert np.abs(mixed.value - exact.value).max() < 3 * exact.standard_error.max()
    assert exact.standard_error.sum() < mixed.standard_error.sum() < 1.1 * exact.standard_error.sum()


def test_sets_of_many_cells_are_refused():
    schema = Schema([Attribute("a", range(30)), boolean("b")])
    plan = Plan.of(schema, {("a", "b"): SubsetSelection(odds=3)})
    with pytest.raises(SottovoceError, match="plan must give reports in categories, or sets of a few of them"):
        count_by_part({}, plan, ["a", "b"])


@pytest.mark.parametrize("target", ["population", "table"])
@pytest.mark.parametrize("names", [["a"], ["b", "a"], ["c", "a", "b"]])
def test_least_squares_from_all_parts(names, target):
    """Exact on expected counts, and of no more variance than what those asked together say."""
    table = people(1500)
    expected = PLAN.channel().matvec(shares(table, SCHEMA.names))
    counts = Drawn(PLAN, np.round(1e9 * expected).astype(np.int64))
    found = estimate_proportions(counts, PLAN, names, method="best", target=target)
    np.testing.assert_allclose(found.value, shares(table, names), atol=1e-7)
    together = estimate_asked_together(counts, PLAN, names, target=target)
    assert found.covariances.variances.sum() <= together.covariances.variances.sum() * 1.001
    assert (found.method, found.attributes) == ("generalised least squares", tuple(names))


@pytest.mark.parametrize("names", [["a"], ["a", "b"]])
def test_few_reports_that_are_alike_have_variance(names):
    """Forty reports of one pattern; a standard error of zero would claim to know the answer."""
    no = {variable.name: variable.categories[-1] for variable in PLAN.report_schema}
    for count in (2, 5, 40):
        rows = {"a": [True] * count, "b": ["x"] * count, "c": [no["c"]] * count, "d": [no["d"]] * count}
        for target in ("population", "table"):
            found = estimate_proportions(rows, PLAN, names, method="best", target=target)
            assert (found.standard_error > 0.2 / np.sqrt(count)).all()


def test_the_best_needs_somebody_who_was_asked():
    no = {variable.name: variable.categories[-1] for variable in PLAN.report_schema}
    rows = {"a": [no["a"]] * 5, "b": ["x"] * 5, "c": [no["c"]] * 5, "d": ["p"] * 5}
    with pytest.raises(
        SottovoceError, match=r"reports must include some in which all of a, b were asked. Got 5 in which"
    ):
        estimate_proportions(rows, PLAN, ["a", "b"], method="best")
    with pytest.raises(SingularChannelError, match="attributes must be asked together of some respondents; plan with"):
        estimate_proportions(rows, PLAN, ["a", "d"], method="best")


def test_of_many_cells_the_best_is_from_those_asked_together(monkeypatch):
    monkeypatch.setattr(proportions, "MOST_BLUE", 3)
    reports = disguise_frame(people(300), PLAN, rng=1)
    found = estimate_proportions(reports, PLAN, ["a", "b"], method="best")
    assert found.method == "inverse-variance weighting"


@pytest.mark.parametrize(
    ("plan", "names", "method"),
    [
        (Plan.of(SCHEMA, {SCHEMA.names: AttributeSampling(odds=5, subsets=[[0, 1], [2, 3]])}), ["a", "b"], "exact"),
        (Plan.of(SCHEMA, {SCHEMA.names: AttributeSampling(odds=2, subsets=[[1, 3], [0, 2]], spread=True)}), ["b", "d"],
         "constrained score"),
        (PLAN, ["a", "b"], "constrained score"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("target", ["population", "table"])
def test_intervals_of_the_best_estimate(plan, names, method, target):
    """Exact where one part says everything by one property of a report; close to Wald's with many reports."""
    reports = disguise_frame(people(4000), plan, rng=3)
    found = estimate_proportions(reports, plan, names, method="best", target=target)
    assert found.to_json()["interval"] == (method if target == "population" else "constrained score")
    low, high = found.interval()
    assert (low <= np.clip(found.value, 0, 1)).all()
    assert (np.clip(found.value, 0, 1) <= high).all()
    inside = found.value > 3 * found.standard_error
    assert (high - low)[inside] == pytest.approx(2 * 1.96 * found.standard_error[inside], rel=0.12)


def test_groups_have_the_best_estimate_too_and_can_be_compared():
    table = people(3000)
    reports = disguise_frame(table, PLAN, rng=4)
    reports["town"] = ["N", "S"] * 1500
    groups = estimate_by(reports, PLAN, ["a", "b"], "town", method="best")
    assert [each.method for each in groups.values()] == ["generalised least squares"] * 2
    for town, found in groups.items():
        truth = shares({name: np.asarray(column)[np.array(reports["town"]) == town] for name, column in table.items()},
                       ["a", "b"])  # fmt: skip
        assert (np.abs(found.value - truth) < 4.5 * found.standard_error).all()
    assert 0 <= (groups["N"] - groups["S"]).p_value <= 1
    weighted = estimate_by(reports, PLAN, ["a", "b"], "town", method="best", weights=np.full(3000, 1.5))
    assert weighted["N"].method == "inversion"
    with pytest.raises(SingularChannelError, match="must be asked together of some respondents"):
        estimate_by(reports, PLAN, ["c", "d"], "town", method="best")
