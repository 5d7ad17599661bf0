"""Intervals of what was picked: levels by Benjamini and Yekutieli, within what is possible, and covering."""

import json
from dataclasses import replace

import numpy as np
import pytest

from sottovoce.disguises.tables import disguise_frame
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.errors import SottovoceError
from sottovoce.mining.itemsets.frequent import frequent_itemsets
from sottovoce.mining.picked import Picked
from sottovoce.mining.rule_measures import MEASURES, measure_values
from sottovoce.mining.rules import Rules, association_rules
from sottovoce.plans.plan import Plan
from sottovoce.plans.purpose_plan import plan_for_purpose
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.emask import Emask

ITEMS = tuple("abcdefghijkl")
PLAN = Plan.of(Schema([ItemSet("basket", ITEMS)]), {"basket": Emask(p=0.7, q=0.85)})


def mined(min_support: float = 0.07, **options):
    truth = np.random.default_rng(0).random((6000, len(ITEMS))) < 0.4
    options = {"target": "table", "longest": 3} | options
    return frequent_itemsets(disguise_transactions(truth, PLAN, rng=1), PLAN, min_support, **options)


def test_levels():
    assert Picked(20, 400).level(0.9) == pytest.approx(0.995)
    assert Picked(0, 0).level(0.9) == Picked(5, 5).level(0.9) == Picked(3, 0).level(0.9) == pytest.approx(0.9)
    assert Picked(5, 4000, elsewhere=50).level(0.9) == pytest.approx(0.9)
    assert Picked(1, 10**14).deviations(0.95) == pytest.approx(8.2, abs=0.1)
    with pytest.raises(SottovoceError, match="level must be between 0 and 1"):
        Picked(5, 10).level(95)


def test_what_was_searched_is_counted():
    """All single items, all pairs of those that survived, and triples whose pairs all did; rules of all of these."""
    found = mined(0.15, selection="threshold")
    pairs, triples = found.by_length[2], found.by_length.get(3, 0)
    assert (found.by_length[1], pairs < 66) == (12, True)
    assert (found.searched[1], found.searched[2]) == (12, 66)
    held = {items for items in found.itemsets if len(items) == 2}
    complete = [(a, b, c) for a, b in held for c in ITEMS if c > b and {(a, c), (b, c)} <= held]
    assert found.searched[3] == len(complete)
    assert found.picked == Picked(12 + pairs + triples, 12 + 66 + len(complete))
    rules = found.rules(0.2)
    assert rules.picked == Picked(len(rules), 66 * 2 + len(complete) * 6)


def test_a_sample_of_the_reports_searches_all_pairs():
    """Pairs that a sample rules out were looked at as well."""
    truth = np.zeros((60_000, 12), bool)
    truth[:30_000, :3] = truth[30_000:, 3:] = True
    noisy = Plan.of(Schema([ItemSet("basket", ITEMS)]), {"basket": Emask(p=0.95, q=0.95)})
    reports = disguise_transactions(truth, noisy, rng=1, kind="csr")
    assert frequent_itemsets(reports, noisy, 0.3, longest=2).searched == {1: 12, 2: 66}


def test_shorter_lists_have_wider_intervals():
    found = mined()
    rules = found.rules(0.1)
    few = rules.top(5)
    assert (len(few), few.searched) == (5, rules.searched)
    assert few.antecedents == rules.antecedents[:5]
    (low, high), (lower, higher) = rules.interval("leverage"), few.interval("leverage")
    assert (higher - lower > high[:5] - low[:5]).all()
    assert found.rules(0.1, top=5).to_rows() == few.to_rows()
    fewer = found.top(9)
    assert fewer.by_length == {1: 3, 2: 3, 3: 3}
    assert fewer.support[:3].min() >= np.sort(found.support[found.length == 1])[-3]
    assert found.top(10_000).itemsets == found.itemsets
    width = {items: high - low for items, low, high in zip(found.itemsets, *found.interval(), strict=True)}
    assert all(high - low > width[items] for items, low, high in zip(fewer.itemsets, *fewer.interval(), strict=True))
    with pytest.raises(SottovoceError, match="count must be a positive whole number"):
        found.top(0)


def test_kinds_of_intervals():
    found = mined()
    estimate, error = found.estimate, found.standard_error
    for kind, centre in (("wald", estimate), ("posterior", estimate - found.bias)):
        low, high = found.interval(0.9, kind=kind)
        assert (low + high) / 2 == pytest.approx(centre)
        assert high - low == pytest.approx(2 * 1.6448536 * error)
    assert (found.bias > 0).any()
    rules = found.rules(0.1)
    low, high = rules.interval("lift", 0.9, kind="wald")
    assert (low + high) / 2 == pytest.approx(rules.estimate("lift"))
    assert high - low == pytest.approx(2 * 1.6448536 * rules.standard_error("lift"))
    for result, arguments in ((found, ()), (rules, ("lift",))):
        with pytest.raises(SottovoceError, match="kind must be one of default"):
            result.interval(*arguments, kind="score")


@pytest.mark.parametrize("sort_by", MEASURES)
def test_rules_are_sorted_by_any_measure(sort_by):
    found = mined()
    rules = found.rules(0.1, sort_by=sort_by)
    value = rules.value(sort_by)
    assert (np.diff(value) <= 0).all()
    assert rules.to_json()["sort_by"] == sort_by
    assert f"Shown is the {sort_by} of shrunken supports" in str(rules)
    assert f"<th>{sort_by}</th>" in rules._repr_html_()
    with pytest.raises(SottovoceError, match="sort_by must be one of antecedent support"):
        found.rules(sort_by="luck")


def test_what_is_listed_is_what_is_shown():
    """No rule has a shown confidence below the smallest, whatever its estimate."""
    found = mined()
    rules = found.rules(0.35)
    assert len(rules) > 0
    assert rules.value("confidence").min() >= 0.35
    assert rules.value("confidence") == pytest.approx(rules.value("support") / rules.value("antecedent support"))


def test_documents_name_the_method_and_the_level():
    found = mined()
    for result in (found, found.rules(0.1)):
        document = json.loads(json.dumps(result.to_json(0.9, raw=True), allow_nan=False))
        said = document["interval"]
        assert said["method"] == "wald, adjusted by the false coverage rate"
        assert (said["level"], said["picked"]) == (document["level"], len(result)) == (0.9, len(result))
        assert said["level_of_each"] == pytest.approx(1 - 0.1 * len(result) / said["searched"])
        assert said["picked_on"] is None
    first, frame = found.to_rows(raw=True)[0], found.to_frame(raw=True)
    assert first["estimate"] == frame["estimate"][0] == found.estimate[0]
    assert "estimate" not in found.to_rows()[0]
    rules = found.rules(0.1)
    assert rules.to_frame(raw=True)["lift_estimate"].tolist() == rules.estimate("lift").tolist()
    assert "lift_estimate" not in rules.to_frame()


def test_long_lists_are_cut_where_they_are_printed():
    found = mined()
    rules = found.rules(0.0)
    assert len(found) > 60
    assert len(rules) > 60
    for result, what in ((found, "sets"), (rules, "rules")):
        text, page = str(result), result._repr_html_()
        assert f"... and {len(result) - 60} more {what}" in text
        assert f"{len(result) - 60} more {what}" in page
        assert result.top(60).picked.note(0.95) in text
        assert result.top(60).picked.note(0.95) in page


def of_supports(*supports: tuple[float, float, float], error: float = 0.01) -> Rules:
    arrows = tuple(("a",) for _ in supports)
    covariances = np.tile(np.eye(3) * error**2, (len(supports), 1, 1))
    shrunken = np.sort(np.clip(supports, 0.01, 0.99))
    return Rules(arrows, arrows, np.array(supports), covariances, 9, 0.0, "population", shrunken, len(supports))


def test_nothing_is_infinite_but_honest_ends():
    """A denominator at or below zero says nothing: no estimate, and the whole range."""
    rules = of_supports((0.1, 0.0, 0.2), (0.1, 0.2, -0.01), (0.1, 0.2, 1.1), (0.3, 0.2, 0.25), error=0.02)
    first, second, third, fourth = rules.to_rows(raw=True)
    assert first["confidence_estimate"] is first["confidence_standard_error"] is first["lift_estimate"] is None
    assert (first["confidence_low"], first["confidence_high"]) == (0, 1)
    assert (second["lift_low"], second["lift_high"], second["lift_estimate"]) == (0, None, None)
    assert second["lift"] > 0
    assert (third["conviction_low"], third["conviction_high"]) == (0, None)
    assert fourth["confidence_estimate"] == pytest.approx(1.5)
    assert (fourth["confidence_low"], fourth["confidence_high"]) == (
        pytest.approx(1 - 1.96 * fourth["confidence_standard_error"], abs=1e-4),
        1,
    )
    json.dumps(rules.to_json(), allow_nan=False)
    text = str(rules.top(3)) + rules._repr_html_()
    assert "inf" not in text
    assert "nan" not in text


def test_ends_that_are_missing_are_dashes():
    rules = of_supports((0.1, 0.2, -0.01))
    lifts = replace(rules, sort_by="lift")
    assert "[0.0000, -]" in str(lifts)
    assert "<td></td>" in lifts._repr_html_()


@pytest.mark.filterwarnings("ignore:min_support")
@pytest.mark.parametrize("rows", [2, 5])
def test_a_few_reports(rows):
    """Whatever comes out can be printed, and is possible."""
    reports = [["a", "b"], ["a"], ["a", "b", "c"], [], ["b"]][:rows]
    found = frequent_itemsets(reports, PLAN, 0.2, longest=4)
    rules = found.rules(0.5)
    for result in (found, rules):
        json.dumps(result.to_json(raw=True), allow_nan=False)
        assert "nan" not in str(result)
        assert "inf" not in str(result)


def test_one_rule_and_none():
    certain = Plan.of(Schema([ItemSet("basket", ["a", "b"])]), {"basket": Emask(p=0.99, q=0.99)})
    reports = [["a", "b"]] * 90 + [["b"]] * 60 + [[]] * 50
    one = frequent_itemsets(reports, certain, 0.2).rules(0.9)
    assert one.picked == Picked(1, 2)
    assert "a list of 1 picked out of 2" in str(one)
    none = frequent_itemsets([["a"]] * 90 + [["b"]] * 60, certain, 0.2).rules(0.9)
    assert (len(none), none.notes, len(none.top(3)), none.to_lines()) == (0, [], 0, [])
    assert none.to_json()["interval"]["picked"] == 0


def test_everything_that_was_searched():
    certain = Plan.of(Schema([ItemSet("basket", ["a", "b"])]), {"basket": Emask(p=0.99, q=0.99)})
    found = frequent_itemsets([["a", "b"]] * 90 + [["b"]] * 60, certain, 0.2)
    assert found.picked == Picked(3, 3)
    assert "Intervals are at 95 %: everything that was searched is listed." in str(found)


@pytest.mark.slow
def test_picked_intervals_cover_where_nothing_is_frequent():
    """All that is reported is false, and was picked for its noise: Wald's intervals miss, adjusted ones do not."""
    rng = np.random.default_rng(5)
    items = tuple(range(60))
    plan = Plan.of(Schema([ItemSet("basket", items)]), {"basket": Emask(p=0.6, q=0.9)})
    truth = rng.random((8000, 60)) < 0.25
    exact = truth.mean(axis=0)
    held = {"default": [], "wald": []}
    for seed in range(12):
        reports = disguise_transactions(truth, plan, rng=seed)
        found = frequent_itemsets(reports, plan, 0.09, longest=2, selection="threshold", target="table")
        rules = association_rules(found, 0.0)
        sides = zip(rules.antecedents, rules.consequents, strict=True)
        true = np.array([(truth[:, a] & truth[:, c]).mean() / exact[a] for (a,), (c,) in sides])
        for kind in held:
            low, high = rules.interval("confidence", kind=kind)
            held[kind] += ((low <= true) & (true <= high)).tolist()
    assert np.mean(held["wald"]) < 0.8
    assert np.mean(held["default"]) > 0.97


def test_no_interval_has_zero_width_because_all_reports_are_alike():
    """Thirty of thirty is not certainty about the population; of the table itself it is."""
    certain = Plan.of(Schema([ItemSet("basket", ["a", "b"])]), {"basket": Emask(p=1, q=1)})
    reports = [["a", "b"]] * 30
    people, table = (frequent_itemsets(reports, certain, 0.2, target=target) for target in ("population", "table"))
    assert (people.standard_error == 0).all()
    low, high = people.interval()
    assert (low[0], high[0]) == (pytest.approx(30 / (30 + 1.96**2), abs=1e-3), 1)  # Wilson's
    for measure in MEASURES:
        low, high = people.rules(0.5).interval(measure)
        assert (high > low).all(), measure
    assert table.interval()[0].tolist() == table.interval()[1].tolist() == [1, 1, 1]
    assert table.rules(0.5).interval("confidence")[0].tolist() == [1, 1]


@pytest.mark.filterwarnings("ignore:min_support")
def test_an_impossible_estimate_without_a_standard_error_says_nothing():
    """Three equal reports under a coin: the estimate is above one, and so far off that anything is possible."""
    found = frequent_itemsets([["a"]] * 3, PLAN, 0.2, longest=1, selection="threshold")
    (estimate,), (error,), (support,) = found.estimate, found.standard_error, found.support
    assert (estimate > 1.4, error) == (True, 0)
    assert 0.5 < support < 1
    (low,), (high,) = found.interval()
    assert (low < 0.1, high) == (True, 1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:min_support")
@pytest.mark.parametrize("sort_by", ["confidence", "lift", "leverage"])
def test_picked_intervals_cover_in_tables_of_which_each_respondent_is_asked_a_part(sort_by):
    """Of the ten highest rules, over 60 samples: x and y depend on each other, z on nothing."""
    schema = Schema([Attribute("x", ["u", "v", "w"]), Attribute("y", ["no", "yes"]), Attribute("z", ["no", "yes"])])
    plan = plan_for_purpose(schema, odds=9, purpose="pairs")
    chances = {"u": 0.5, "v": 0.3, "w": 0.2}
    joint = np.array(
        [
            [[p * b * c for c in (0.6, 0.4)] for b in ((0.1, 0.9) if x == "u" else (0.7, 0.3))]
            for x, p in chances.items()
        ]
    )
    axes, held = (
        {f"{v.name}={label}": (axis, code) for axis, v in enumerate(schema) for code, label in enumerate(v.categories)},
        [],
    )

    def true(*items: str) -> float:
        cells = [slice(None)] * 3
        for axis, code in map(axes.__getitem__, items):
            cells[axis] = code
        return float(joint[tuple(cells)].sum())

    for seed in range(60):
        drawn = np.random.default_rng(seed).choice(12, 1500, p=joint.ravel())
        codes = np.unravel_index(drawn, joint.shape)
        truth = {v.name: np.array(v.categories)[c] for v, c in zip(schema, codes, strict=True)}
        found = frequent_itemsets(disguise_frame(truth, plan, rng=seed), plan, 0.1, longest=2)
        rules = found.rules(0.1, sort_by=sort_by, top=10)
        sides = zip(rules.antecedents, rules.consequents, strict=True)
        value = measure_values(sort_by, np.array([[true(*a, *c), true(*a), true(*c)] for a, c in sides]))
        low, high = rules.interval(sort_by)
        held += ((low <= value) & (value <= high)).tolist()
    assert np.mean(held) > 0.95
