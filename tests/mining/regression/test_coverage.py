"""Intervals cover, and estimates are not biased: simulations of respondents under several plans."""

import numpy as np
import pandas as pd
import pytest

import sottovoce as sv
from sottovoce.plans.public import PublicNumber
from sottovoce.schemes import Crosswise, ForcedResponse, UnrelatedQuestion, Warner

pytestmark = pytest.mark.slow

TRIALS = 200
SLOPES = {"Intercept": -0.4, "age": 0.7, "smokes[T.True]": 0.8}


def people(n: int, rng: np.random.Generator, *, clusters: int = 0) -> pd.DataFrame:
    """Smokers, and cheating that depends on age and on smoking; with clusters, wards have ages of their own."""
    age = rng.normal(size=n) if not clusters else np.repeat(rng.normal(size=clusters), n // clusters)
    smokes = rng.random(n) < 1 / (1 + np.exp(-(-0.3 + 0.5 * age)))
    line = SLOPES["Intercept"] + SLOPES["age"] * age + SLOPES["smokes[T.True]"] * smokes
    return pd.DataFrame({"age": age, "smokes": smokes, "cheats": rng.random(n) < 1 / (1 + np.exp(-line))})


SCHEMA = sv.Schema([sv.boolean("smokes"), sv.boolean("cheats")])
PLANS = {
    "warner": {"smokes": Warner(p=0.85), "cheats": Warner(p=0.8)},
    "forced response": {"smokes": ForcedResponse("3/4", "1/8"), "cheats": ForcedResponse("2/3", "1/6")},
    "unrelated question": {
        "smokes": UnrelatedQuestion("3/4", known=[["2/3", "1/3"]]),
        "cheats": UnrelatedQuestion("3/4", known=[["3/4", "1/4"]]),
    },
    "crosswise": {"smokes": Crosswise("1/8"), "cheats": Crosswise("1/6")},
    "gamma-diagonal": sv.plan(SCHEMA, odds="25:1", purpose="joint"),
    "sampled": sv.plan(SCHEMA, odds="25:1", purpose="pairs"),
}


@pytest.mark.parametrize("kind", PLANS)
@pytest.mark.parametrize("formula", ["cheats ~ age", "cheats ~ age + smokes"])
def test_intervals_cover(kind, formula):
    given = PLANS[kind]
    plan = (given if isinstance(given, sv.Plan) else sv.Plan.of(SCHEMA, given)).with_public([PublicNumber("age")])
    rng = np.random.default_rng(sum(map(ord, kind + formula)))
    errors, covered = [], []
    for _ in range(TRIALS):
        truth = people(3000, rng)
        if "smokes" not in formula:  # the model must be true
            line = SLOPES["Intercept"] + SLOPES["age"] * truth.age
            truth["cheats"] = rng.random(len(truth)) < 1 / (1 + np.exp(-line))
        found = sv.disguise(truth, plan, rng=rng).regress(formula)
        values = np.array([SLOPES[name] for name in found.names])
        low, high = found.interval()
        errors.append((found.estimate - values) / found.standard_error)
        covered.append((low <= values) & (values <= high))
    assert np.abs(np.mean(errors, axis=0)).max() < 0.25
    share = np.mean(covered, axis=0)
    # 95 %, and four standard errors on either side: there are 30 such shares.
    assert np.abs(share - 0.95).max() < 4 * np.sqrt(0.95 * 0.05 / TRIALS)


def test_clusters_cover_where_plain_errors_do_not():
    """Wards of 20 who all have the same age, and an effect of the ward."""
    plan = sv.Plan.of(sv.Schema([sv.boolean("cheats")]), {"cheats": Warner(p=0.85)})
    plan = plan.with_public([PublicNumber("age"), PublicNumber("ward")])
    rng, covered = np.random.default_rng(4), {"plain": [], "clusters": []}
    for _ in range(TRIALS):
        ward = np.repeat(np.arange(100), 20)
        age, effect = rng.normal(size=100)[ward], rng.logistic(size=100)[ward]
        # A logistic effect and a logistic person: the population's slope is not that of a person, but that of a fit.
        truth = pd.DataFrame({"age": age, "ward": ward, "cheats": effect + rng.logistic(size=2000) > 0})
        reports = sv.disguise(truth, plan, rng=rng)
        for name, clusters in (("plain", None), ("clusters", "ward")):
            low, high = reports.regress("cheats ~ age", clusters=clusters).interval()
            covered[name].append(low[1] <= 0 <= high[1])
    assert np.mean(covered["plain"]) < 0.85
    assert np.mean(covered["clusters"]) == pytest.approx(0.95, abs=0.035)
