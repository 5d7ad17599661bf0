"""Estimates from sets: memberships alone say what all sets together say, for any number of categories."""

from math import inf

import numpy as np
import pytest

from sottovoce.channels.set_valued import membership
from sottovoce.counts.counter import MarginCounter, as_counter
from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SottovoceError
from sottovoce.estimates import proportions
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.optimized_unary import OptimizedUnary
from sottovoce.schemes.random_set import RandomSet
from sottovoce.schemes.scheme import Scheme
from sottovoce.schemes.subset_selection import SubsetSelection

SCHEMES: dict[str, Scheme] = {
    "subset selection": SubsetSelection(odds=5, size=2),
    "unary": OptimizedUnary(odds=5),
    "drawn": RandomSet([(1, 2, [1, 2, 1, 2, 1]), (3, 1, [2, 1, 2, 1, 2])], odds=5),
    "tilted": RandomSet(
        [(1, 2, [1, 2, 1, 2, 1]), (3, 3, [2, 1, 2, 1, 2], [1, 2, 1, 1, 2])], odds=5, tilt=[8, 6, 3, 2, 1]
    ),
    "of lengths": RandomSet([(1, 3, [1, 2, 1, 2, 1], [1, 2, 1, 1, 2]), (2, 2, [1] * 5, [1, 2, 1, 1, 2])], odds=5),
    "of several lengths": RandomSet([(1, 3, [1, 2, 1, 2, 1], [1, 2, 1, 1, 2]), (2, 2, [1] * 5)], odds=5),
    "not deniable": RandomSet([(1, 2, [3, 2, 1, 2, 1]), (1, 3, [1] * 5)], odds=float("inf")),
}
"""Five categories, so that all sets can be listed, and are not."""


@pytest.mark.parametrize("target", ["population", "table"])
@pytest.mark.parametrize("name", SCHEMES)
def test_memberships_agree_with_all_sets(name, target, monkeypatch):
    """Where sets can be listed too: the same table, once by its 32 sets (best weights), once by memberships."""
    plan = Plan.of(Schema([Attribute("a", range(5))]), {"a": SCHEMES[name]})
    truths = np.random.default_rng(1).choice(5, 4000, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    reports = disguise_frame({"a": truths}, plan, rng=2)
    listed = estimate_proportions(reports, plan, "a", target=target)
    monkeypatch.setattr(proportions, "MOST_LISTED", 2)
    found = estimate_proportions(reports, plan, "a", target=target)
    assert found.respondents == 4000
    assert (np.abs(found.value - listed.value) < 3 * found.standard_error).all()
    if name == "subset selection":  # there least squares over all sets is the very same estimate
        np.testing.assert_allclose(found.value, listed.value, atol=1e-9)
        np.testing.assert_allclose(found.covariance, listed.covariance, atol=1e-9)


@pytest.mark.parametrize("target", ["population", "table"])
@pytest.mark.parametrize("name", ["tilted", "of lengths", "not deniable"])
def test_covariances_are_those_of_the_scores(name, target, monkeypatch):
    """In the mean over all sets: `E[s s^T]` minus what is not random, over N, s being the estimate from one report."""
    monkeypatch.setattr(proportions, "MOST_LISTED", 2)
    plan = Plan.of(Schema([Attribute("a", range(5))]), {"a": SCHEMES[name]})
    channel, law = plan.channel(["a"]), np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    chances = channel.matvec(law)
    bits = membership(5)[:, chances > 0]
    each = channel.solve_inclusions(channel.scores(bits), np.ones(bits.shape[1]))
    second = (each * chances[chances > 0]) @ each.T
    expected = (second - (np.diag(law) if target == "table" else np.outer(law, law))) / 20_000
    truths = np.repeat(np.arange(5), (20_000 * law).astype(int))
    found = estimate_proportions(disguise_frame({"a": truths}, plan, rng=5), plan, "a", target=target)
    np.testing.assert_allclose(found.covariance, expected, atol=0.06 * np.diag(expected).max())


FORTY = np.arange(1, 41) / sum(range(41))
LONG = [1 + i // 20 for i in range(40)]
LARGE: dict[str, tuple[Scheme, int, int]] = {
    "subset selection": (SubsetSelection(odds=3), 60, 2000),
    "subset selection, often": (SubsetSelection(odds=3), 300, 2000),
    "tilted": (RandomSet.near([(0.6, 9, 1 / FORTY, LONG), (0.4, 8, np.ones(40), None)], odds=20, tilt=FORTY), 60, 500),
    "not deniable": (RandomSet.near([(0.6, 9, 1 / FORTY, None), (0.4, 8, np.ones(40), None)], odds=inf), 60, 500),
}
"""Schemes for forty categories, how often each is tried, and on how many people."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("subset selection", "population"),
        ("subset selection", "table"),
        ("tilted", "population"),
        ("not deniable", "table"),
        ("subset selection, often", "population"),
        ("subset selection, often", "table"),
        ("tilted", "table"),
        ("not deniable", "population"),
    ],
)
def test_intervals_cover_with_forty_categories(name, target):
    """Seeded disguises: mean coverage of 95 % intervals within 93.5 to 96.5 %, no bias."""
    categories, law, (scheme, times, people) = 40, FORTY, LARGE[name]
    plan = Plan.of(Schema([Attribute("a", range(categories))]), {"a": scheme})
    rng = np.random.default_rng(3)
    fixed = rng.choice(categories, people, p=law)
    covered, values = [], []
    for _ in range(times):
        truths = fixed if target == "table" else rng.choice(categories, people, p=law)
        truth = np.bincount(fixed, minlength=categories) / people if target == "table" else law
        found = estimate_proportions(disguise_frame({"a": truths}, plan, rng), plan, "a", target=target)
        low, high = found.interval()
        covered.append(((low <= truth) & (truth <= high)).mean())
        values.append(found.value - truth)
    assert 0.935 < np.mean(covered) < 0.965
    errors = np.std(values, axis=0) / np.sqrt(times)
    assert (np.abs(np.mean(values, axis=0)) < 5 * errors).all()


def test_sets_of_joint_cells_in_any_order():
    schema = Schema([boolean("b"), Attribute("a", range(10))])
    plan = Plan.of(schema, {("b", "a"): SubsetSelection(odds=30)})
    truths = {"b": [True] * 3000 + [False] * 1000, "a": [3] * 3000 + [7] * 1000}
    found = estimate_proportions(disguise_frame(truths, plan, rng=4), plan, ["a", "b"], method="simplex")
    assert found.shape == (10, 2)
    table = found.value.reshape(10, 2)
    assert table[3, 1] == pytest.approx(0.75, abs=0.08)
    assert table[7, 0] == pytest.approx(0.25, abs=0.08)


@pytest.mark.parametrize("name", ["subset selection", "unary"])
def test_a_counter_is_asked_for_pairs(name, monkeypatch):
    """Whoever can count reports with all bits of a set, such as a database, has all that memberships need."""
    monkeypatch.setattr(proportions, "MOST_LISTED", 2)
    plan = Plan.of(Schema([Attribute("a", range(5))]), {"a": SCHEMES[name]})
    reports = disguise_frame({"a": np.random.default_rng(1).choice(5, 500)}, plan, rng=2)
    table, counted = (estimate_proportions(source, plan, "a") for source in (reports, as_counter(reports)))
    np.testing.assert_allclose(counted.value, table.value)
    np.testing.assert_allclose(counted.covariance, table.covariance, atol=1e-15)
    assert counted.respondents == 500


def test_a_counter_without_patterns_has_no_scores(monkeypatch):
    monkeypatch.setattr(proportions, "MOST_LISTED", 2)
    plan = Plan.of(Schema([Attribute("a", range(5))]), {"a": SCHEMES["tilted"]})
    counter = MarginCounter(as_counter(disguise_frame({"a": [0, 1, 2, 3]}, plan, rng=2)), plan.report_schema)
    with pytest.raises(SottovoceError, match=r"^reports must be a table, a file or a tally\. Got MarginCounter"):
        estimate_proportions(counter, plan, "a")


def test_other_methods_are_refused():
    plan = Plan.of(Schema([Attribute("a", range(40))]), {"a": SubsetSelection(odds=3)})
    with pytest.raises(SottovoceError, match=r"^method must be inversion or simplex for sets of many categories"):
        estimate_proportions({"a": [[1, 2]]}, plan, "a", method="em")
