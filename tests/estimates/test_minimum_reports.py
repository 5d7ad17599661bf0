"""Fewer reports than an estimate needs are refused by name, whatever the method."""

import pytest

from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.estimates.itemsets import estimate_supports
from sottovoce.estimates.proportions import estimate_by, estimate_proportions
from sottovoce.estimates.two_samples import estimate_two_samples
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.attribute_sampling import AttributeSampling
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.subset_selection import SubsetSelection
from sottovoce.schemes.unrelated_question import UnrelatedQuestion
from sottovoce.schemes.warner import Warner

METHODS = ["inversion", "blue", "em", "simplex"]
SCHEMA = Schema([boolean("a"), boolean("b"), boolean("c")])
PLAN = Plan.of(SCHEMA, dict.fromkeys("abc", Warner(p=0.75)))
SAMPLED = Plan.of(SCHEMA, {("a", "b"): AttributeSampling(odds=4, subsets=[[0, 1], [0], [1]]), "c": Warner(p=0.75)})
SKIP = "not asked"


@pytest.mark.parametrize("method", METHODS)
def test_one_report_has_no_scatter(method):
    with pytest.raises(SottovoceError, match=r"^reports must be at least 2 for a standard error\. Got 1 instead"):
        estimate_proportions({"a": [True]}, PLAN, "a", method=method)
    with pytest.raises(SottovoceError, match=r"^table must have at least one row"):
        estimate_proportions({"a": []}, PLAN, "a", method=method)


def test_one_report_of_a_large_set():
    plan = Plan.of(Schema([Attribute("c", range(20))]), {"c": SubsetSelection(odds=3)})
    with pytest.raises(SottovoceError, match=r"^reports must be at least 2 for a standard error"):
        estimate_proportions({"c": [[1, 2, 3, 4, 5]]}, plan, "c")


@pytest.mark.parametrize("method", METHODS)
def test_attributes_that_nobody_was_asked(method):
    reports = {"a": [True, False, SKIP, True], "b": [SKIP, SKIP, True, False], "c": [True] * 4}
    assert estimate_proportions(reports, SAMPLED, "a", method=method).respondents == 4
    with pytest.raises(SottovoceError, match=r"^reports must be at least 2 in which a and b were asked\. Got 1"):
        estimate_proportions(reports, SAMPLED, ["a", "b"], method=method)
    with pytest.raises(SottovoceError, match=r"^reports must be at least 2 in which c and a and b were asked\. Got 1"):
        estimate_proportions(reports, SAMPLED, ["c", "a", "b"], method=method)
    with pytest.raises(SottovoceError, match=r"^reports must be at least 2 in which b was asked\. Got 0 instead"):
        estimate_proportions(reports | {"b": [SKIP] * 4}, SAMPLED, "b", method=method)


@pytest.mark.parametrize("method", METHODS)
def test_what_no_plan_asks_together_cannot_be_estimated(method):
    plan = Plan.of(SCHEMA.project(["a", "b"]), {("a", "b"): AttributeSampling(odds=4)})
    with pytest.raises(SingularChannelError, match=r"^attributes must be asked together of some .* purpose='pairs'"):
        estimate_proportions({"a": [True, SKIP] * 5, "b": [SKIP, True] * 5}, plan, ["a", "b"], method=method)
    with pytest.raises(SingularChannelError, match=r"^attributes must be asked together"):
        estimate_by({"a": [True, SKIP], "b": [SKIP, True], "c": [1, 1]}, plan, ["a", "b"], "c", method=method)


def test_a_group_of_one():
    reports = {"a": [True, False, True], "town": ["Ulm", "Ulm", "Bonn"]}
    with pytest.raises(SottovoceError, match=r"^reports must be at least 2 for a standard error, where town is Bonn\."):
        estimate_by(reports, PLAN, "a", "town")


def test_one_transaction():
    plan = Plan.of(Schema([ItemSet("basket", ["ale", "bread"])]), {"basket": Emask(p=0.8, q=0.9)})
    with pytest.raises(SottovoceError, match=r"^reports must be at least 2 for a standard error\. Got 1 instead"):
        estimate_supports({"basket": [["ale"]]}, plan, [["ale"]])
    assert estimate_supports({"basket": [["ale"]] * 2}, plan, [["ale"]]).respondents == 2


def test_one_report_in_a_sample_of_two():
    plans = [Plan.of(Schema([boolean("a")]), {"a": UnrelatedQuestion(theta)}) for theta in (0.75, 0.25)]
    with pytest.raises(SottovoceError, match=r"^reports must be at least 2 for a standard error\. Got 1 instead"):
        estimate_two_samples({"a": [True, False]}, plans[0], {"a": [True]}, plans[1], "a")
