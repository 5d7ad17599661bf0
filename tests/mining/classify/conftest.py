"""Shared by the tests of classifiers: people who smoke and are ill, and plans of every kind that ask them."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import (
    GammaDiagonal,
    OptimizedUnary,
    RelatedQuestion,
    SubsetSelection,
    UnrelatedQuestion,
    Warner,
)

SCHEMA = Schema([boolean("smokes"), Attribute("drinks", ["never", "some", "much"]), boolean("ill")])
YES_NO = Schema([boolean("smokes"), boolean("coughs"), boolean("ill")])


def draw_people(count: int, seed: int = 1) -> dict[str, np.ndarray]:
    """Illness depends on both other answers, which do not depend on each other given it."""
    rng = np.random.default_rng(seed)
    ill = rng.random(count) < 0.4
    smokes = rng.random(count) < np.where(ill, 0.8, 0.3)
    drinks = np.where(ill, rng.choice(3, count, p=[0.2, 0.3, 0.5]), rng.choice(3, count, p=[0.5, 0.3, 0.2]))
    return {"smokes": smokes, "drinks": np.array(["never", "some", "much"], object)[drinks], "ill": ill}


def draw_yes_no_people(count: int, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    ill = rng.random(count) < 0.4
    draw = {
        name: rng.random(count) < np.where(ill, *odds)
        for name, odds in (("smokes", (0.8, 0.3)), ("coughs", (0.7, 0.2)))
    }
    return {**draw, "ill": ill}


def all_plans() -> dict[str, Plan]:
    """Class and attributes in one group, in several, and in reports that do not look like truths."""
    names = SCHEMA.names
    return {
        "clear": Plan.of(SCHEMA, {names: UnrelatedQuestion(theta=1)}),
        "unrelated": Plan.of(
            SCHEMA, {names: UnrelatedQuestion(theta=0.6, known=[[0.5, 0.5], [0.2, 0.3, 0.5], [0.5, 0.5]])}
        ),
        "unrelated, turned order": Plan.of(SCHEMA, {("ill", "drinks", "smokes"): UnrelatedQuestion(theta=0.6)}),
        "unrelated, joint law": Plan.of(SCHEMA, {names: UnrelatedQuestion(theta=0.6, known=[Fraction(1, 12)] * 12)}),
        "gamma": Plan.of(SCHEMA, {names: GammaDiagonal(gamma=20)}),
        "groups": Plan.of(SCHEMA, {("ill", "smokes"): GammaDiagonal(gamma=9), "drinks": Warner(p=0.7)}),
        "apart": Plan.of(SCHEMA, {"drinks": Warner(p=0.7), "ill": Warner(p=0.8), "smokes": Warner(p=0.8)}),
        "subset": Plan.of(SCHEMA, {"drinks": SubsetSelection(odds=6), "ill": Warner(p=0.8), "smokes": Warner(p=0.8)}),
        "unary": Plan.of(SCHEMA, {"drinks": OptimizedUnary(odds=6), "ill": Warner(p=0.8), "smokes": Warner(p=0.8)}),
    }


def related_plan(theta: float = 0.8) -> Plan:
    return Plan.of(YES_NO, {YES_NO.names: RelatedQuestion(theta)})


@pytest.fixture(scope="session")
def people():
    return draw_people


@pytest.fixture(scope="session")
def yes_no_people():
    return draw_yes_no_people


@pytest.fixture(scope="session")
def plans():
    return all_plans()


@pytest.fixture(params=list(all_plans()))
def any_plan(request) -> Plan:
    return all_plans()[request.param]


@pytest.fixture
def related():
    return related_plan


@pytest.fixture
def indivisible() -> Plan:
    """One report for all attributes, of which no column speaks of one of them."""
    return Plan.of(YES_NO, {YES_NO.names: SubsetSelection(odds=20)})
