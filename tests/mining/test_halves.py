"""One half of the reports picks, the other estimates: the same sets, other numbers, and intervals that cover."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import SottovoceError
from sottovoce.mining.itemsets.halves import random_halves
from sottovoce.tables.source import open_source

BASKET = sv.ItemSet("basket", list("abcdef"))
PLAN = sv.Plan.of(sv.Schema([BASKET]), {"basket": sv.schemes.Emask(p=0.8, q=0.9)})


def baskets(rows: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    mood = rng.integers(0, 2, rows)[:, None] == np.arange(6) // 3
    return rng.random((rows, 6)) < np.where(mood, 0.8, 0.2)


@pytest.fixture(scope="module")
def reports():
    return sv.disguise(baskets(4000), PLAN, rng=1)


def test_halves_share_no_report():
    numbers = {"n": list(range(101))}
    first, second = (
        [n for batch in half.batches(rows=7) for n in batch["n"]]
        for half in random_halves(numbers, None, "population", 1)
    )
    assert sorted(first + second) == numbers["n"]
    assert (len(first), len(second)) == (50, 51)
    assert first != sorted(numbers["n"])[:50]


def test_one_half_picks_and_the_other_estimates(reports):
    found = reports.itemsets(0.15, halves=True, rng=3)
    first, second = random_halves(reports.table, BASKET, "population", 3)
    picks, others = sv.Reports(first, PLAN).itemsets(0.15), sv.Reports(second, PLAN)
    assert found.itemsets == picks.itemsets
    assert found.respondents == 2000
    asked = others.supports(found.itemsets)
    assert found.estimate == pytest.approx(asked.value)
    assert found.standard_error == pytest.approx(asked.standard_error)
    assert (found.bias == 0).all()
    rules, picked = found.rules(0.5), picks.rules(0.5)
    assert (rules.antecedents, rules.consequents) == (picked.antecedents, picked.consequents)
    known = dict(zip(found.itemsets, found.estimate, strict=True))
    whole = [tuple(sorted(a + c)) for a, c in zip(rules.antecedents, rules.consequents, strict=True)]
    assert rules.estimate("support") == pytest.approx([known[items] for items in whole])
    assert rules.picked.searched == picked.searched
    for result in (found, rules):
        assert result.picked.elsewhere == 2000
        assert "Picked on 2,000 other reports: 95 % intervals need no adjustment." in str(result)
        assert result.to_json()["interval"] | {"method": "", "searched": 0} == {
            "method": "",
            "level": 0.95,
            "level_of_each": 0.95,
            "picked": len(result),
            "searched": 0,
            "picked_on": 2000,
        }
    assert len(found.rules(0.5, top=3)) == 3


def test_shorter_lists_are_picked_by_the_half_that_picks(reports):
    found = reports.itemsets(0.15, halves=True, rng=3)
    for fewer, picked in (
        (found.top(6), found.picks.top(6)),
        (found.likely(0.99), found.picks.likely(0.99)),
        (found.closed(), found.picks.closed()),
        (found.maximal(), found.picks.maximal()),
    ):
        assert fewer.itemsets == picked.itemsets == fewer.picks.itemsets


def test_columns_may_be_arrays():
    first, second = random_halves({"n": np.arange(10)}, None, "population", 1)
    both = [n for half in (first, second) for batch in half.batches() for n in batch["n"].tolist()]
    assert sorted(both) == list(range(10))


def test_halves_are_random_and_repeatable(reports):
    same, again, other = (reports.itemsets(0.15, halves=True, rng=seed).estimate for seed in (1, 1, 2))
    assert same.tolist() == again.tolist()
    assert same.tolist() != other.tolist()


TABLE = sv.Schema([sv.Attribute("x", ["u", "v", "w"]), sv.boolean("y"), sv.boolean("z")])


def people(rows: int = 3000) -> dict[str, list]:
    rng = np.random.default_rng(2)
    x = rng.choice(["u", "v", "w"], rows, p=[0.5, 0.3, 0.2])
    y = rng.random(rows) < np.where(x == "u", 0.9, 0.3)
    return {"x": x.tolist(), "y": y.tolist(), "z": (rng.random(rows) < np.where(y, 0.8, 0.2)).tolist()}


@pytest.mark.parametrize("purpose", ["pairs", "joint", "split"])
@pytest.mark.parametrize("kind", ["mapping", "pandas", "polars", "csv", "parquet"])
def test_tables_and_files(purpose, kind, tmp_path):
    """Every kind of table gives the same halves."""
    plan = sv.plan(TABLE, odds=20, purpose=purpose)
    reports = sv.disguise(people(), plan, rng=1)
    expected = reports.itemsets(0.2, halves=True, rng=5)
    if kind in ("csv", "parquet"):
        reports.save(tmp_path / f"r.{kind}")
        reports = sv.read(tmp_path / f"r.{kind}")
    elif kind != "mapping":
        reports = sv.Reports(reports.to_frame(kind), plan)
    found = reports.itemsets(0.2, halves=True, rng=5)
    assert found.itemsets == expected.itemsets
    assert found.estimate.tolist() == expected.estimate.tolist()
    assert found.respondents == 1500
    assert len(found.rules(0.3)) > 0


def test_sets_in_a_file(tmp_path):
    reports = sv.disguise({"basket": [list(row) for row in ["ab", "abc", "", "c"]] * 200}, PLAN, rng=1)
    reports.save(tmp_path / "r.csv")
    found = sv.read(tmp_path / "r.csv").itemsets(0.2, halves=True, rng=5)
    assert found.estimate.tolist() == reports.itemsets(0.2, halves=True, rng=5).estimate.tolist()


def test_models_of_tables():
    reports = sv.disguise(people(), sv.mining.mining_plan(TABLE, odds=20), rng=1)
    found = reports.itemsets(0.1, model=True, halves=True, rng=5)
    assert found.respondents == 1500
    assert max(found.by_length) == 3
    assert found.rules(0.3).picked_on == 1500
    assert (found.estimate != found.picks.estimate).any()


def test_published_counts_are_split_report_by_report():
    plan = sv.Plan.of(
        sv.Schema([sv.boolean("y"), sv.boolean("z")]), {"y": sv.schemes.Warner(p=0.9), "z": sv.schemes.Warner(p=0.9)}
    )
    counts = {(True, True): 300, (True, False): 100, (False, True): 100, (False, False): 300}
    found = sv.Reports.from_counts(counts, plan).itemsets(0.2, halves=True, rng=1)
    assert found.respondents == found.picks.respondents == 400
    assert found.estimate.tolist() != found.picks.estimate.tolist()


def test_transactions_by_size():
    plan = sv.Plan.of(sv.Schema([BASKET]), {"basket": sv.schemes.CutAndPaste(2, 0.1)})
    truth = [["a", "b"]] * 800 + [["c"]] * 399 + [["a", "b", "c"]]
    reports = sv.disguise({"basket": truth}, plan, rng=1)
    found = reports.itemsets(0.2, sizes=[len(row) for row in truth], halves=True, rng=1)
    assert found.respondents + found.picks.respondents == 1200
    assert ("a", "b") in found.itemsets


def test_nothing_is_picked(reports):
    found = reports.itemsets(0.99, halves=True, rng=1)
    assert (len(found), found.respondents, len(found.rules(0.5))) == (0, 2000, 0)


def test_bad_input(reports, monkeypatch):
    with pytest.raises(SottovoceError, match="halves must be left out for the table"):
        reports.itemsets(0.2, halves=True, target="table")
    with pytest.raises(SottovoceError, match="halves must be left out with a model of sets of items"):
        reports.itemsets(0.2, halves=True, model=True)
    with pytest.raises(SottovoceError, match=r"halves must have at least 2 reports each\. Got 3 reports"):
        sv.Reports([["a"], ["b"], []], PLAN).itemsets(0.2, halves=True)
    with pytest.raises(SottovoceError, match=r"halves must be True or False\. Got 'yes'"):
        reports.itemsets(0.2, halves="yes")
    with pytest.raises(TypeError, match="unexpected keyword argument 'half'"):
        reports.itemsets(0.2, half=True)
    source = open_source({"basket": [["a"]] * 9})
    monkeypatch.setattr(type(source), "waits", True)
    with pytest.raises(SottovoceError, match="halves must be given with a file, which can be read again"):
        random_halves(source, None, "population", 1)


def test_counts_cannot_be_split():
    from sottovoce.counts.counter import as_counter

    with pytest.raises(SottovoceError, match="halves must be given with single reports"):
        random_halves(as_counter({"y": [True, False]}), None, "population", 1)


@pytest.mark.slow
def test_unadjusted_intervals_of_the_other_half_cover():
    """Of the ten highest rules by lift, in samples from a known population."""
    held = []
    plain = sv.Reports(
        baskets(400_000, seed=9), sv.Plan.of(sv.Schema([BASKET]), {"basket": sv.schemes.Emask(p=1, q=1)})
    )
    exact = plain.itemsets(0.01, target="table")
    support = dict(zip(exact.itemsets, exact.estimate, strict=True))
    for seed in range(150):
        reports = sv.disguise(baskets(1500, seed), PLAN, rng=seed)
        rules = reports.rules(0.1, 0.2, sort_by="lift", top=10, halves=True, rng=seed)
        low, high = rules.interval("lift")
        for one, then, *ends in zip(rules.antecedents, rules.consequents, low, high, strict=True):
            true = support[tuple(sorted(one + then))] / support[one] / support[then]
            held.append(ends[0] <= true <= ends[1])
    assert np.mean(held) > 0.93
