"""Published counts of reports as data: the numbers of the literature, and what is no count."""

from math import sqrt

import numpy as np
import pytest

from sottovoce.counts.tally import Tally
from sottovoce.errors import SottovoceError
from sottovoce.estimates.independence import independence_test
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.crosswise import Crosswise
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.forced_response import ForcedResponse
from sottovoce.schemes.kuk import Kuk
from sottovoce.schemes.unrelated_question import UnrelatedQuestion
from sottovoce.schemes.warner import Warner


def plan_of(scheme):
    return Plan.of(Schema([Attribute("a", ["no", "yes"])]), {"a": scheme})


def prevalence(counts, scheme):
    """Share of yes, its standard error and its 95 % interval."""
    plan = plan_of(scheme)
    found = estimate_proportions(Tally.of_counts(counts, plan), plan, "a")
    assert found.respondents == sum(counts.values())
    low, high = found.interval(kind="wald")  # as published
    return found.value[1], found.standard_error[1], low[1], high[1]


def test_forced_response():
    """Blair, Imai & Zhou (2015), Nigeria: two thirds truthful, one sixth forced either way."""
    share, error, *_ = prevalence({"yes": 831, "no": 1604}, ForcedResponse("2/3", "1/6"))
    assert (round(share, 5), round(error, 5)) == (0.26191, 0.01441)


@pytest.mark.parametrize(("same", "published"), [(198, (0.2226, 0.0546)), (230, (0.0161, 0.0497))])
def test_crosswise(same, published):
    """Jann, Jerke & Krumpal (2012), partial and severe plagiarism: a quarter have the harmless property."""
    share, error, *_ = prevalence({"same": same, "different": 310 - same}, Crosswise(0.25))
    assert (round(share, 4), round(error, 4)) == published


@pytest.mark.parametrize(
    ("yes", "known", "published"),
    [
        (328, "1/12", 0.8406103),
        (180, "1/10", 0.4070423),
        (280, "2/3", 0.1220657),
        (81, "1/10", 0.128169),
        (164, "1/3", 0.1286385),
        (53, "1/12", 0.06596244),
    ],
)
def test_unrelated_question(yes, known, published):
    """RRTCS's vignette: theta 1/2, 710 respondents; standard errors here are those of an infinite population."""
    numerator, denominator = map(int, known.split("/"))
    scheme = UnrelatedQuestion("1/2", known=[f"{denominator - numerator}/{denominator}", known])
    share, error, *_ = prevalence({"yes": yes, "no": 710 - yes}, scheme)
    assert share == pytest.approx(published, rel=1e-6)
    assert error == pytest.approx(sqrt(yes / 710 * (1 - yes / 710) / 710) / 0.5)


@pytest.mark.parametrize(
    ("yes", "respondents", "published"),
    [(550, 1202, (43.6, 39.4, 47.9)), (528, 965, (57.1, 52.4, 61.8)), (612, 965, (70.1, 65.6, 74.7))],
)
def test_doping(yes, respondents, published):
    """Ulrich et al. (2018): two thirds answer the sensitive question, half the unrelated one with yes."""
    scheme = UnrelatedQuestion("2/3", known=["1/2", "1/2"])
    share, _, low, high = prevalence({"yes": yes, "no": respondents - yes}, scheme)
    assert tuple(round(100 * number, 1) for number in (share, low, high)) == published


def test_kuk_by_moments():
    """200 respondents draw 25 cards, 1,267 of them red: card by card, inversion is the estimate by moments."""
    share, *_ = prevalence({1: 1267, 0: 5000 - 1267}, Kuk(yes=0.6, no=0.2))
    assert round(share, 5) == 0.1335


def test_several_columns():
    schema = Schema([Attribute("a", ["no", "yes"]), Attribute("b", ["x", "y", "z"])])
    plan = Plan.of(schema, {"a": Warner(p=0.75), "b": Warner(p=0.8)})
    counts = {("yes", "x"): np.int64(30), ("no", "y"): 20, ("yes", "z"): 0, ("no", "z"): 15}
    tally = Tally.of_counts(counts, plan)
    assert tally.to_table() == {"a": ["no", "no", "yes"], "b": ["y", "z", "x"], "frequency": [20, 15, 30]}
    rows = [report for report, number in counts.items() for _ in range(number)]
    whole = dict(zip("ab", zip(*rows, strict=True), strict=True))
    found, expected = (
        estimate_proportions(tally, plan, ["a", "b"]),
        estimate_proportions(whole, plan, ["a", "b"]),
    )
    assert found.to_json() == expected.to_json()
    assert independence_test(tally, plan, "a", "b").p_value < 1e-3
    turned = {(second, first): number for (first, second), number in counts.items()}
    again = Tally.of_counts(turned, plan, names=["b", "a"])
    assert again.names == ("b", "a")
    np.testing.assert_array_equal(estimate_proportions(again, plan, ["a", "b"]).value, expected.value)
    assert Tally.of_counts({"x": 2, "z": 1}, plan, "b").to_table() == {"b": ["x", "z"], "frequency": [2, 1]}


def test_sets_of_items():
    plan = Plan.of(Schema([ItemSet("basket", ["ale", "bread"])]), {"basket": Emask(p=0.9, q=0.8)})
    table = Tally.of_counts({frozenset({"ale"}): 3, (): 2}, plan).to_table()
    assert table == {"basket": [[], ["ale"]], "frequency": [2, 3]}
    with pytest.raises(SottovoceError, match=r"^counts must be of known reports: basket must .*'wine'"):
        Tally.of_counts({("wine",): 3}, plan)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"yes": -1, "no": 3}, r"^counts of 'yes' must be a whole number that is not negative\. Got -1"),
        ({"yes": 1, "no": 2.5}, r"^counts of 'no' must be a whole number that is not negative\. Got 2\.5"),
        ({"yes": 3.0, "no": 2}, r"^counts of 'yes' must be a whole number that is not negative\. Got 3\.0"),
        ({"yes": True, "no": 2}, r"^counts of 'yes' must be a whole number that is not negative\. Got True"),
        ({"yes": None}, r"^counts of 'yes' must be a whole number that is not negative\. Got None"),
        ({"yes": 1, "maybe": 2}, r"^counts must be of known reports: a must be one of its categories .* Got 'maybe'"),
        ({}, r"^counts must map at least one report to its number\. Got {}"),
        ([831, 1604], r"^counts must map at least one report to its number\. Got \[831, 1604\]"),
    ],
)
def test_what_is_no_count(counts, message):
    with pytest.raises(SottovoceError, match=message):
        Tally.of_counts(counts, plan_of(Warner(p=0.75)))


def test_names_that_do_not_fit():
    schema = Schema([Attribute("a", ["no", "yes"]), Attribute("b", ["x", "y"])])
    plan = Plan.of(schema, {"a": Warner(p=0.75), "b": Warner(p=0.8)})
    for report in ("yes", ("yes",), ("yes", "x", "y")):
        with pytest.raises(SottovoceError, match=r"^counts must be of tuples with a report for each of \['a', 'b'\]"):
            Tally.of_counts({report: 3}, plan)
    with pytest.raises(SottovoceError, match=r"^names must be among a, b\. Got 'c'"):
        Tally.of_counts({("yes", "x"): 3}, plan, ["a", "c"])
