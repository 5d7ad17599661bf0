"""Negative estimates are explained; ones that no noise explains are not explained away."""

import numpy as np

from sottovoce.estimates import presentation as room
from sottovoce.estimates.presentation import NEGATIVE, remarks
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.warner import Warner

PAIR = Plan.of(Schema([boolean("a"), boolean("b")]), {"a": Warner(p=0.75), "b": Warner(p=0.75)})
PLAN = Plan.of(Schema([boolean("a")]), {"a": Warner(p=0.75)})


def said(yes: int, no: int, **more) -> list[str]:
    found = estimate_proportions({"a": [True] * yes + [False] * no}, PLAN, "a", **more)
    return remarks(found)


def test_noise_is_called_noise():
    """8 of 32 are expected to say yes if nobody is one, +- 2.4; 2 of 32 are 2.4 standard errors below."""
    assert said(2, 30) == [NEGATIVE]
    assert said(20, 12) == []
    assert str(estimate_proportions({"a": [True] * 2 + [False] * 30}, PLAN, "a")).endswith(NEGATIVE)


def test_more_than_noise_is_doubted():
    """Of 320, 80 +- 7.7 say yes if nobody is one: 20 are 7.7 standard errors below. So few no plan of 3 : 1 makes."""
    (remark,) = said(20, 300)
    assert remark.startswith("20 of 320 reports speak for True, fewer than under any proportion (probability")
    assert said(0, 30)[0].startswith("30 of 30 reports speak for False, more than under any proportion")
    joint = estimate_proportions({"a": [True] * 400, "b": [False] * 400}, PAIR, ["a", "b"])
    assert remarks(joint)[0].startswith("An estimate is 13.1 standard errors below zero, further than noise carries it")


def test_where_nobody_looks(monkeypatch):
    assert said(20, 300, weights=np.ones(320)) == [NEGATIVE]
    monkeypatch.setattr(room, "MOST_REPORTS", 1)
    joint = estimate_proportions({"a": [True] * 400, "b": [False] * 400}, PAIR, ["a", "b"])
    assert remarks(joint) == [NEGATIVE]


def test_noise_alone_is_hardly_ever_doubted():
    """2,000 samples of 50 people who are all in one cell: half of the estimates are negative, none is doubted."""
    rng = np.random.default_rng(1)
    numbers = rng.binomial(50, 0.25, 2000)
    doubts = [said(int(yes), 50 - int(yes)) for yes in set(numbers.tolist())]
    assert [NEGATIVE] in doubts
    assert all(found in ([], [NEGATIVE]) for found in doubts)
    assert numbers.min() <= 5  # of 12.5 +- 3.1 that are expected
