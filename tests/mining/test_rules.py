"""Association rules: exact where nothing is hidden, by the same covariances either way, and covered."""

import json

import numpy as np
import pytest

from sottovoce.disguises.tables import disguise_frame
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.errors import SottovoceError
from sottovoce.estimates.asked_together import estimate_asked_together
from sottovoce.estimates.itemsets import estimate_supports
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.mining.itemsets.frequent import frequent_itemsets
from sottovoce.mining.rule_measures import MEASURES
from sottovoce.mining.rules import association_rules
from sottovoce.plans.plan import Plan
from sottovoce.plans.purpose_plan import plan_for_purpose
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.cut_and_paste import CutAndPaste
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.warner import Warner

ITEMS = tuple("abcdef")
SCHEMA = Schema([ItemSet("basket", ITEMS)])
NOISY = Plan.of(SCHEMA, {"basket": Emask(p=0.85, q=0.9)})
OWN = Plan.of(SCHEMA, {"basket": Emask(p=[0.8, 0.85, 0.9, 0.95, 0.8, 0.9], q=[0.95, 0.9, 0.9, 0.8, 0.9, 0.97])})
PLAIN = Plan.of(SCHEMA, {"basket": Emask(p=1, q=1)})


def baskets(rows: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    mood = rng.integers(0, 2, rows)[:, None] == np.arange(6) // 3
    return rng.random((rows, 6)) < np.where(mood, 0.8, 0.2)


def test_without_a_disguise_rules_are_those_of_mlxtend():
    frequent_patterns = pytest.importorskip("mlxtend.frequent_patterns")
    pandas = pytest.importorskip("pandas")
    truth = baskets(500, 1)
    ours = association_rules(frequent_itemsets(truth, PLAIN, 0.15, target="table"), 0.6).to_frame()
    sets = frequent_patterns.apriori(pandas.DataFrame(truth, columns=list(ITEMS)), 0.15, use_colnames=True)
    theirs = frequent_patterns.association_rules(sets, metric="confidence", min_threshold=0.6)
    named = ["antecedents", "consequents", *MEASURES]
    assert list(ours.columns[: len(named)]) == [name for name in theirs.columns if name in named]
    by_rule = ["antecedents", "consequents"]
    joined = ours.merge(theirs, on=by_rule, suffixes=("", "_theirs"))
    assert len(joined) == len(ours) == len(theirs) > 10
    for name in MEASURES:
        assert joined[name].to_numpy() == pytest.approx(joined[f"{name}_theirs"].to_numpy())
        assert not joined[f"{name}_standard_error"].any()


@pytest.mark.parametrize("target", ["table", "population"])
@pytest.mark.parametrize("plan", [NOISY, OWN])
def test_covariances_are_those_of_the_reports(plan, target):
    """Those from supports alone are those that the reports' counts give, and both make the same rules."""
    reports = disguise_transactions(baskets(3000, 2), plan, rng=2)
    found = association_rules(frequent_itemsets(reports, plan, 0.1, target=target), 0.5)
    table = {"basket": [[item for item, held in zip(ITEMS, row, strict=True) if held] for row in reports]}
    sets = sorted({tuple(sorted(a + c)) for a, c in zip(found.antecedents, found.consequents, strict=True)}, key=len)[
        :3
    ]
    sets += [(label,) for label in ITEMS]
    asked = association_rules(estimate_supports(table, plan, sets, target=target), 0.5)
    by_rule = {rule: row for row, rule in enumerate(zip(found.antecedents, found.consequents, strict=True))}
    rows = [by_rule[rule] for rule in zip(asked.antecedents, asked.consequents, strict=True)]
    assert rows
    assert asked.supports == pytest.approx(found.supports[rows])
    assert asked.covariances == pytest.approx(found.covariances[rows], abs=1e-12)
    assert (asked.target, asked.respondents) == (target, 3000)


def test_a_set_of_three_scatters_with_its_parts_as_the_reports_say():
    reports = disguise_transactions(baskets(2000, 3), OWN, rng=3)
    q = np.array([0.95, 0.9, 0.9, 0.8, 0.9, 0.97])
    p = np.array([0.8, 0.85, 0.9, 0.95, 0.8, 0.9])
    counted = (reports - (1 - q)) / (p + q - 1)
    found = association_rules(frequent_itemsets(reports, OWN, 0.05, target="population"), 0.3)
    row = list(zip(found.antecedents, found.consequents, strict=True)).index((("a", "b"), ("c",)))
    each = np.stack([counted[:, [0, 1, 2]].prod(axis=1), counted[:, [0, 1]].prod(axis=1), counted[:, 2]])
    assert found.covariances[row] == pytest.approx(np.cov(each, bias=True) / 2000)


TABLE = Schema([Attribute("x", ["u", "v", "w"]), Attribute("y", ["no", "yes"]), Attribute("z", ["no", "yes"])])


@pytest.mark.parametrize(
    "schemes",
    [{("x", "y", "z"): GammaDiagonal(gamma=40)}, {("x", "z"): GammaDiagonal(gamma=20), "y": Warner(p=0.8)}],
)
def test_rules_of_tables_take_the_covariance_of_their_cells(schemes):
    plan = Plan.of(TABLE, schemes)
    rng = np.random.default_rng(4)
    x = rng.choice(["u", "v", "w"], 4000, p=[0.5, 0.3, 0.2])
    truth = {"x": x, "y": np.where(rng.random(4000) < np.where(x == "u", 0.9, 0.3), "yes", "no")}
    truth["z"] = np.where(rng.random(4000) < np.where(truth["y"] == "yes", 0.8, 0.2), "yes", "no")
    reports = disguise_frame(truth, plan, rng=4)
    found = association_rules(frequent_itemsets(reports, plan, 0.05, target="table"), 0.5)
    row = list(zip(found.antecedents, found.consequents, strict=True)).index((("x=u", "y=yes"), ("z=yes",)))
    joint = estimate_proportions(reports, plan, ["x", "y", "z"], target="table")
    marks = np.zeros((3, 3, 2, 2))
    marks[0, 0, 1, 1] = marks[1, 0, 1, :] = marks[2, :, :, 1] = 1
    flat = marks.reshape(3, -1)
    assert found.supports[row] == pytest.approx(flat @ joint.value)
    assert found.covariances[row] == pytest.approx(flat @ joint.covariance @ flat.T)


def sampled(rows: int, seed: int):
    """Reports of two of three attributes each, and their plan."""
    plan = plan_for_purpose(TABLE, odds=9, purpose="pairs")
    rng = np.random.default_rng(seed)
    x = rng.choice(["u", "v", "w"], rows, p=[0.5, 0.3, 0.2])
    truth = {"x": x, "y": np.where(rng.random(rows) < np.where(x == "u", 0.9, 0.3), "yes", "no")}
    truth["z"] = np.where(rng.random(rows) < 0.4, "yes", "no")
    return disguise_frame(truth, plan, rng=seed), plan


def test_a_rule_is_estimated_from_those_who_were_asked_all_of_it():
    """The support of an antecedent alone, which others were asked as well, does not belong to these covariances."""
    reports, plan = sampled(4000, 1)
    sets = frequent_itemsets(reports, plan, 0.05, longest=2)
    found = association_rules(sets, 0.1)
    row = list(zip(found.antecedents, found.consequents, strict=True)).index((("x=u",), ("y=yes",)))
    joint = estimate_asked_together(reports, plan, ["x", "y"])
    marks = np.zeros((3, 3, 2))
    marks[0, 0, 1] = marks[1, 0, :] = marks[2, :, 1] = 1
    flat = marks.reshape(3, -1)
    assert found.supports[row] == pytest.approx(flat @ joint.value)
    assert found.covariances[row] == pytest.approx(flat @ joint.covariance @ flat.T)
    assert found.supports[row, 1] != pytest.approx(sets.estimate[sets.itemsets.index(("x=u",))])


@pytest.mark.slow
def test_standard_errors_of_rules_under_sampling_are_right():
    """Leverage of x = u and y = yes, .5 (.9 - .6): its deviations have the variance that is stated."""
    deviations = []
    for seed in range(150):
        reports, plan = sampled(3000, seed)
        found = association_rules(frequent_itemsets(reports, plan, 0.1, longest=2), 0.0)
        row = list(zip(found.antecedents, found.consequents, strict=True)).index((("x=u",), ("y=yes",)))
        deviations.append((found.estimate("leverage")[row] - 0.15) / found.standard_error("leverage")[row])
    assert np.std(deviations) == pytest.approx(1, abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("disguises", [100, 400])
def test_intervals_cover(disguises):
    """Every measure of three rules, 95 % of the disguises: 3.5 standard errors below at the most."""
    truth = baskets(4000, 5)
    exact = association_rules(frequent_itemsets(truth, PLAIN, 0.01, longest=3, target="table"), 0.0)
    rules = [(("a",), ("b",)), (("a", "b"), ("c",)), (("d",), ("e", "f"))]
    rows = [list(zip(exact.antecedents, exact.consequents, strict=True)).index(rule) for rule in rules]
    covered = dict.fromkeys(MEASURES, 0)
    for seed in range(disguises):
        found = association_rules(
            frequent_itemsets(disguise_transactions(truth, NOISY, rng=seed), NOISY, 0.05, longest=3, target="table"),
            0.0,
        )
        places = [list(zip(found.antecedents, found.consequents, strict=True)).index(rule) for rule in rules]
        for name in MEASURES:
            low, high = found.interval(name, kind="wald")
            true = exact.value(name)[rows]
            covered[name] += ((low[places] <= true) & (true <= high[places])).sum() / 3
    for name, times in covered.items():
        assert 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / disguises) < times / disguises < 0.99, name


def test_rules_that_never_fail_have_no_bound_of_conviction():
    found = association_rules(
        frequent_itemsets([["a", "b"]] * 30 + [["b"]] * 20 + [["c"]] * 10, PLAIN, 0.1, target="table")
    )
    row = found.to_rows()[0]
    assert (row["antecedents"], row["consequents"], row["confidence"]) == (["a"], ["b"], 1)
    assert row["conviction"] is row["conviction_high"] is None
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["rules"][0]["lift"] == pytest.approx(1.2)
    assert np.isinf(found.value("conviction")[0])


@pytest.mark.parametrize("plan", [PLAIN, NOISY], ids=["exact", "disguised"])
def test_the_highest_come_first(plan):
    """By what is shown, their shrunken confidence; without a disguise that is the confidence itself."""
    found = association_rules(
        frequent_itemsets(disguise_transactions(baskets(4000, 3), plan, rng=1), plan, 0.1, target="table"), 0.2
    )
    shown = found.value("confidence")
    assert len(found) > 10
    assert (np.diff(shown) <= 0).all()
    assert (shown == found.estimate("confidence")).all() == (plan is PLAIN)


def test_no_rules():
    found = association_rules(frequent_itemsets([["a"]] * 30 + [["b"]] * 20, PLAIN, 0.1, target="table"))
    assert (len(found), found.to_rows(), str(found)) == (0, [], found.headline)
    assert list(found.to_frame("pyarrow").column_names[:2]) == ["antecedents", "consequents"]


def test_bad_input():
    found = frequent_itemsets(baskets(300, 6), PLAIN, 0.1, target="table")
    with pytest.raises(SottovoceError, match="min_confidence must be from 0 to 1"):
        association_rules(found, 1.5)
    with pytest.raises(SottovoceError, match=r"^measure must be one of antecedent support, .* Got 'zhang'"):
        association_rules(found).value("zhang")
    with pytest.raises(
        SottovoceError, match="must be a result of frequent_itemsets, modelled_itemsets or estimate_supports"
    ):
        association_rules([["a"]])
    with pytest.raises(SottovoceError, match="with all of their subsets"):
        association_rules(found.maximal())
    cut = Plan.of(SCHEMA, {"basket": CutAndPaste(2, 0.25)})
    sized = {2: [["a", "b"]] * 400 + [["c"]] * 100}
    with pytest.raises(SottovoceError, match="pass a result of estimate_supports"):
        association_rules(frequent_itemsets(sized, cut, 0.3, target="table"))
    with pytest.raises(SottovoceError, match="at most 2 items each"):
        association_rules(found, longest=2)


def test_sets_that_one_asks_about_make_rules_of_the_parts_that_are_there():
    reports = {"basket": [["a", "b", "c"]] * 90 + [["c"]] * 10}
    found = association_rules(estimate_supports(reports, NOISY, [["a", "b", "c"], ["a"], ["a", "b"], ["c"]]), 0.5)
    assert sorted(zip(found.antecedents, found.consequents, strict=True)) == [
        (("a", "b"), ("c",)),
        (("c",), ("a", "b")),
    ]


def test_summaries():
    found = association_rules(frequent_itemsets(baskets(500, 1), PLAIN, 0.15, target="table"), 0.6)
    assert repr(found) == f"<Rules {found.headline}>"
    page = found._repr_html_()
    assert page.startswith(f"<div><b>{found.headline}</b><table>")
    assert f"<td>{found.antecedents[0][0]} -&gt; " in page
