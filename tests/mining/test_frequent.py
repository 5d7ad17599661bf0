"""Frequent itemsets: exact where nothing is hidden, unbiased and covered where something is, and what is refused."""

from collections import defaultdict, deque
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.datasets.published import bms_webview
from sottovoce.datasets.quest import quest_transactions
from sottovoce.disguises.tables import disguise_file, disguise_frame
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.errors import SottovoceError
from sottovoce.mining.itemsets.frequent import ResolutionWarning, frequent_itemsets, mine_itemsets
from sottovoce.mining.itemsets.selection import Recall, Search
from sottovoce.mining.itemsets.tuning import Tuning
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.cut_and_paste import CutAndPaste
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.warner import Warner
from sottovoce.tables.bitsets import Bitsets

ITEMS = tuple("abcdefgh")
SCHEMA = Schema([ItemSet("basket", ITEMS)])
PLAIN = Plan.of(SCHEMA, {"basket": Emask(p=1, q=1)})
NOISY = Plan.of(SCHEMA, {"basket": Emask(p=0.8, q=0.9)})


def baskets(rows: int, seed: int) -> np.ndarray:
    """Items that go together: each basket has a mood that makes four of them likelier."""
    rng = np.random.default_rng(seed)
    mood = rng.integers(0, 2, rows)[:, None] == np.arange(8) // 4
    return rng.random((rows, 8)) < np.where(mood, 0.7, 0.15)


def searching(min_support: float, **tuning: float) -> Search:
    """Default settings of a search in the table, but for the tuning."""
    return Search(min_support, "smoothed", "table", 30, tuning=Tuning(**tuning))


def by_search(matrix: np.ndarray, min_support: float) -> dict[tuple[str, ...], float]:
    sets = (c for k in range(1, 9) for c in combinations(range(8), k))
    supports = {tuple(ITEMS[i] for i in c): matrix[:, c].all(axis=1).mean() for c in sets}
    return {items: support for items, support in supports.items() if support >= min_support}


@settings(max_examples=30)
@given(st.integers(20, 200), st.integers(0, 2**32), st.sampled_from([0.05, 0.2, 0.5, 1]))
def test_exact_without_a_disguise(rows, seed, min_support):
    """Every set, its very support, no error and no doubt."""
    matrix = baskets(rows, seed)
    found = frequent_itemsets(matrix, PLAIN, min_support, target="table")
    assert dict(zip(found.itemsets, found.estimate, strict=True)) == by_search(matrix, min_support)
    assert not found.standard_error.any()
    assert (found.probability == 1).all()


@pytest.mark.parametrize(
    ("number", "support", "expected"),
    [
        (1, 0.003, [225, 169, 39, 2]),
        pytest.param(1, 0.005, [150, 45, 6], marks=pytest.mark.slow),
        pytest.param(2, 0.003, [340, 270, 338, 278, 101, 13], marks=pytest.mark.slow),
        pytest.param(2, 0.005, [170, 120, 88, 28, 2], marks=pytest.mark.slow),
    ],
)
def test_published_numbers_of_web_pages(data_sets, number, support, expected):
    """|F| of Tables 3.4 to 3.7 (Agrawal 2004); and counts that equal those of pyfim's eclat, where it is installed."""
    pages, csr = bms_webview(number)
    plan = Plan.of(Schema([pages]), {pages.name: Emask(p=1, q=1)})
    found = frequent_itemsets(csr, plan, support, target="table")
    assert list(found.by_length.values()) == expected
    fim = pytest.importorskip("fim")
    listed = [part.tolist() for part in np.split(csr[1], csr[0][1:-1])]
    rows = len(listed)
    peers = {tuple(sorted(items)): count for items, count in fim.eclat(listed, supp=100 * support, report="a")}
    own = [tuple(row) for level in found.levels for row in level.items.tolist()]
    assert dict(zip(own, np.rint(found.estimate * rows).astype(int).tolist(), strict=True)) == peers


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sottovoce.mining.itemsets.frequent.ResolutionWarning")
def test_supports_are_unbiased_and_covered_before_selection():
    """All 255 sets of 200 disguises of one table; 95 % intervals of the table's supports, within 4 standard errors."""
    matrix = baskets(2000, 1)
    truth = np.array(list(by_search(matrix, 0).values()))
    estimates, covered = [], []
    for seed in range(200):
        reports = disguise_transactions(matrix, NOISY, rng=seed, kind="bitsets")
        # Nothing is left out: eight standard errors below the threshold survive.
        found = frequent_itemsets(reports, NOISY, 1e-9, selection=Recall(1 - 1e-15), target="table")
        assert len(found) == 255
        estimates.append(found.estimate)
        covered.append(np.abs(found.estimate - truth) <= 1.96 * found.standard_error)
    mean, error = np.mean(estimates, axis=0), np.std(estimates, axis=0, ddof=1) / np.sqrt(200)
    assert (np.abs(mean - truth) < 4.2 * error).all()  # 255 sets: a normal one exceeds this with probability .007
    assert np.mean(covered) == pytest.approx(0.95, abs=0.01)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sottovoce.mining.itemsets.frequent.ResolutionWarning")
def test_intervals_cover_after_selection_at_every_length():
    """Synthetic baskets, eight disguises, thousands of sets that survived; errors of overlapping ones are nearly one
    error, hence 92 %. A correction for sets picked by their own noise would leave 80 % of fives and 69 % of sixes."""
    basket, csr = quest_transactions(100_000, seed=6)
    certain, plan = (Plan.of(Schema([basket]), {"basket": Emask(*coin)}) for coin in ((1, 1), (0.5051, 0.9696)))
    original = frequent_itemsets(csr, certain, 0.001, target="table")
    truth = dict(zip(original.itemsets, original.estimate, strict=True))
    covered = defaultdict(list)
    for seed in range(8):
        reports = disguise_transactions(csr, plan, rng=seed, kind="bitsets")
        found = frequent_itemsets(reports, plan, 0.005, target="table")
        for items, low, high in zip(found.itemsets, *found.interval(kind="posterior"), strict=True):
            covered[len(items)].append(low <= truth.get(items, 0) <= high)
    shares = {length: np.mean(covered[length]) for length in range(1, 7)}
    assert min(shares.values()) > 0.92, shares


@pytest.mark.parametrize("at_once", [1, 2**21])
def test_whole_lengths_are_smoothed_if_they_are_not_too_large(at_once):
    """Probabilities are then learnt from the candidates; in parts, from each set alone. Supports are the same."""
    reports = disguise_transactions(baskets(20_000, 2), NOISY, rng=1, kind="bitsets")
    found = mine_itemsets(reports, NOISY, searching(0.045, candidates_at_once=at_once))
    assert (found.levels[2].probability is None) == (at_once == 1)
    whole = frequent_itemsets(reports, NOISY, 0.045, selection=Recall(0.95), target="table")
    alone = dict(zip(whole.itemsets, whole.estimate, strict=True))
    assert {items: alone[items] for items in found.itemsets} == dict(zip(found.itemsets, found.estimate, strict=True))
    assert len(found.likely(0.5)) <= len(found)
    assert found.likely(0.9).probability.min() >= 0.9


def test_every_subset_of_a_reported_set_is_reported():
    reports = disguise_transactions(baskets(3000, 2), NOISY, rng=1, kind="bitsets")
    found = set(frequent_itemsets(reports, NOISY, 0.15, target="table").itemsets)
    assert all(part in found for items in found for part in combinations(items, len(items) - 1) if part)


def test_only_so_many_are_extended():
    """Sets that are not reported themselves are extended beside those that are, the most probable of them."""
    reports = disguise_transactions(baskets(300, 2), NOISY, rng=1, kind="bitsets")
    few = mine_itemsets(reports, NOISY, searching(0.2, most_extended=0))
    assert 0 < len(few) <= 255


def test_more_recall_keeps_more():
    reports = disguise_transactions(baskets(3000, 2), NOISY, rng=1)
    ways = ("threshold", Recall(0.5), Recall(0.6), Recall(0.95))
    sets = [frequent_itemsets(reports, NOISY, 0.2, selection=way, target="table").itemsets for way in ways]
    assert sets[0] == sets[1]
    assert set(sets[1]) <= set(sets[2]) < set(sets[3])


def test_long_sets_are_cut_off():
    found = frequent_itemsets(baskets(100, 3), PLAIN, 0.05, longest=2, target="table")
    assert set(found.by_length) == {1, 2}


@pytest.mark.parametrize("parts", [1, 2**21])
def test_in_parts(parts):
    """Pairs and longer sets counted a few at a time are the same."""
    matrix = baskets(150, 4)
    tuned = searching(0.1, candidates_at_once=parts, pair_table_items=1 if parts == 1 else 4096)
    found = mine_itemsets(matrix, PLAIN, tuned)
    assert set(found.itemsets) == set(by_search(matrix, 0.1))


def test_a_sample_rules_pairs_out():
    """40,000 baskets of 60 items, of which only three go together: all pairs, and those a sample leaves, agree."""
    rng = np.random.default_rng(5)
    matrix = rng.random((40_000, 60)) < 0.05
    matrix[:, 1:3] |= matrix[:, :1]
    schema = Schema([ItemSet("basket", range(60))])
    for scheme in (Emask(p=0.8, q=0.95), Emask(p=[0.8, 0.7] * 30, q=[0.95, 0.97] * 30)):
        plan = Plan.of(schema, {"basket": scheme})
        reports = disguise_transactions(matrix, plan, rng=1, kind="csr")
        told = []
        progress = lambda *numbers, told=told: told.append(numbers)  # noqa: E731
        sampled = frequent_itemsets(reports, plan, 0.03, target="table", progress=progress)
        assert 3 <= max(total for length, _, total in told if length == 2) < 60 * 59 / 2
        whole = mine_itemsets(reports, plan, searching(0.03, sample_saving=1000))
        assert (0, 1, 2) in sampled.itemsets
        assert sampled.itemsets == whole.itemsets
        np.testing.assert_allclose(sampled.estimate, whole.estimate)


def test_cut_and_paste_by_size():
    plan = Plan.of(SCHEMA, {"basket": CutAndPaste(2, 0.1)})
    rng = np.random.default_rng(6)
    sets = {size: [["a", "b", "c", "d"][:size]] * 3000 for size in (2, 3)}
    mechanism = plan.groups[0].mechanism
    assert mechanism.kind == "cut_paste"
    reports = {m: disguise_frame(pd.DataFrame({"basket": s}), plan, rng=rng) for m, s in sets.items()}
    found = frequent_itemsets(reports, plan, 0.8, target="table")
    assert set(found.itemsets) == {("a",), ("b",), ("a", "b")}


def test_longer_sets_than_cut_and_paste_tells_of_are_warned_of():
    """All four items are in every basket; up to two of them are recovered, and asking for no more is no reason."""
    plan = Plan.of(SCHEMA, {"basket": CutAndPaste(2, 0.1)})
    reports = {4: disguise_frame({"basket": [["a", "b", "c", "d"]] * 3000}, plan, rng=1)}
    with pytest.warns(ResolutionWarning, match=r"^these reports say nothing about sets of more than 2 items"):
        found = frequent_itemsets(reports, plan, 0.8, target="table")
    assert found.by_length == {1: 4, 2: 6}
    assert frequent_itemsets(reports, plan, 0.8, longest=2, target="table").by_length == found.by_length


@pytest.mark.parametrize("kind", [iter, pd.Series, pl.Series, deque, lambda rows: map(set, rows)])
def test_reports_of_any_collection(kind):
    rows = [["a", "b"], ["b"], [], ["a", "c"]] * 250
    found = frequent_itemsets(kind(rows), NOISY, 0.2, target="table")
    assert found.to_rows() == frequent_itemsets(rows, NOISY, 0.2, target="table").to_rows()


def test_numbers_of_numpy_are_numbers():
    given = {
        "min_support": np.float32(0.25),
        "selection": Recall(np.float64(0.75)),
        "longest": np.int64(2),
        "target": "table",
    }
    found = frequent_itemsets(baskets(500, 3), NOISY, **given)
    plain = frequent_itemsets(baskets(500, 3), NOISY, 0.25, selection=Recall(0.75), longest=2, target="table")
    assert found.to_rows() == plain.to_rows()


def test_the_population_is_the_default():
    rows = baskets(500, 3)
    assert (
        frequent_itemsets(rows, NOISY, 0.25).to_rows()
        == frequent_itemsets(rows, NOISY, 0.25, target="population").to_rows()
    )


def test_nothing_is_frequent():
    found = frequent_itemsets(np.eye(8, dtype=bool), PLAIN, 0.5, target="table")
    assert (len(found), found.by_length, str(found).count("\n")) == (0, {}, 0)
    assert len(found.maximal()) == len(found.closed()) == 0


def test_progress_is_told_for_each_length():
    told = []
    frequent_itemsets(baskets(200, 7), PLAIN, 0.2, progress=lambda *numbers: told.append(numbers), target="table")
    assert [length for length, done, total in told if done == total]
    assert {length for length, _, _ in told} >= {1, 2, 3}


def test_a_file_brings_its_plan(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    lists = [[ITEMS[i] for i in np.flatnonzero(row)] for row in baskets(500, 8)]
    pq.write_table(pa.table({"basket": lists}), tmp_path / "t.parquet")
    disguise_file(tmp_path / "t.parquet", tmp_path / "d.parquet", NOISY, rng=1)
    found = frequent_itemsets(tmp_path / "d.parquet", min_support=0.3, target="table")
    assert (
        found.itemsets == frequent_itemsets(pq.read_table(tmp_path / "d.parquet"), NOISY, 0.3, target="table").itemsets
    )
    with pytest.raises(SottovoceError, match=r"must carry a plan"):
        frequent_itemsets(tmp_path / "t.parquet", min_support=0.3, target="table")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"min_support": 0}, r"^min_support must be above 0 and at most 1\. Got 0"),
        ({"min_support": 1.5}, r"^min_support must be above 0 and at most 1\. Got 1\.5"),
        ({"min_support": float("nan")}, r"^min_support must be above 0"),
        ({"min_support": True}, r"^min_support must be above 0"),
        (
            {"selection": 0.9},
            r"^selection must be 'smoothed', 'threshold' or a Recall such as Recall\(\.9\)\. Got 0\.9",
        ),
        ({"selection": None}, r"^selection must be"),
        ({"longest": 0}, r"^longest must be a positive whole number"),
        ({"longest": True}, r"^longest must be"),
        ({"target": "people"}, r"^target must be one of population, table"),
        ({"plan": None}, r"^plan must be the one that the reports were disguised under\. Got none"),
        ({"plan": SCHEMA}, r"^plan must be the one that .* Got Schema"),
        ({"reports": []}, r"^transactions must be at least one"),
        ({"reports": [[], []]}, r"^transactions must hold items\. Got 2 empty ones"),
        ({"reports": [["z"], ["a"]]}, r"^basket must be one of its categories .* Got 'z'"),
        ({"reports": [["a"]]}, r"^reports must be at least 2"),
        ({"reports": 3}, r"^table must be"),
        ({"attributes": "other"}, r"^name must be one of basket"),
    ],
)
def test_refused(change, message):
    given = {"reports": [["a"], ["a", "b"]], "plan": NOISY, "min_support": 0.3} | change
    with pytest.raises(SottovoceError, match=message):
        frequent_itemsets(given.pop("reports"), given.pop("plan"), given.pop("min_support"), **given)


@pytest.mark.parametrize("probability", [0.4, 1, "all", True, float("nan")])
def test_refused_recalls(probability):
    with pytest.raises(
        SottovoceError, match=r"^recall must be at least \.5, which is the threshold itself, and below 1"
    ):
        Recall(probability)


def test_too_many_survivors():
    with pytest.raises(SottovoceError, match=r"^min_support must be higher: more than 3 sets"):
        mine_itemsets(baskets(100, 9), PLAIN, searching(0.01, most_survivors=3))


def test_sets_beside_other_attributes():
    plan = Plan.of(Schema([*SCHEMA, boolean("smokes")]), {"basket": Emask(p=1, q=1), "smokes": Warner(p=0.75)})
    reports = {"basket": [["a"], ["a", "b"]], "smokes": [True, False]}
    with pytest.raises(
        SottovoceError, match=r"^attributes must be one attribute that holds sets of items \(basket\), or"
    ):
        frequent_itemsets(reports, plan, 0.5, target="table")
    assert frequent_itemsets(reports, plan, 0.5, attributes=["basket"], target="table").itemsets == (
        ("a",),
        ("b",),
        ("a", "b"),
    )


def test_a_support_that_cannot_be_resolved():
    reports = disguise_transactions(baskets(50, 1), NOISY, rng=1, kind="bitsets")
    assert isinstance(reports, Bitsets)
    with pytest.warns(ResolutionWarning, match=r"min_support 0\.001 is below what 50 reports can resolve at length 1"):
        frequent_itemsets(reports, NOISY, 0.001, target="table")
