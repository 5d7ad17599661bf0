"""Tallies: the same integers and estimates as from the reports, in any order, from files, and under every scheme."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.counts.counter import CodedCounter, as_counter
from sottovoce.counts.patterns import Patterns
from sottovoce.counts.tally import Tally
from sottovoce.errors import SottovoceError
from sottovoce.plans.public import PublicNumber

DRUG = sv.Attribute("drug", ["never", "once", "often"])
SCHEMA = sv.Schema([sv.boolean("tax"), DRUG])
PLAN = sv.Plan.of(
    SCHEMA,
    {"tax": sv.schemes.Warner(p=0.75), "drug": sv.schemes.Warner(p=0.8)},
    public=[sv.Attribute("region", ["north", "south"])],
)
ROWS = {
    "tax": [True, False, True, True, False],
    "drug": ["never", "often", "once", "never", "often"],
    "region": ["north", "south", "north", "north", "south"],
}
BASKETS = sv.Plan.of(
    sv.Schema([sv.ItemSet("basket", ["ale", "bread", "cheese", "wheat"])]), {"basket": sv.schemes.Emask(p=0.9, q=0.8)}
)
TRANSACTIONS = [["ale"], ["ale", "bread"], [], ["bread", "cheese"], ["ale", "bread", "cheese"]] * 4

WAITING = 2**8
"""Single reports that wait before they are counted, fewer than they would be."""

SCHEMES = {
    "warner": {"tax": sv.schemes.Warner(p=0.75), "drug": sv.schemes.Warner(p=0.8)},
    "joint": {("tax", "drug"): sv.schemes.GammaDiagonal(gamma=9)},
    "sampled": {("tax", "drug"): sv.schemes.AttributeSampling(odds=9, subsets=[[0], [1], [0, 1]])},
    "subsets": {"tax": sv.schemes.Warner(p=0.75), "drug": sv.schemes.SubsetSelection(odds=3, size=1)},
    "joint subsets": {("drug", "tax"): sv.schemes.SubsetSelection(odds=3, size=2)},
    "unary": {"tax": sv.schemes.Warner(p=0.75), "drug": sv.schemes.OptimizedUnary(odds=9)},
    "ranked": {"tax": sv.schemes.Warner(p=0.75), "drug": sv.schemes.RandomSet([(1, 1, [1, 1, 1])], odds=9)},
    "unrelated": {("tax", "drug"): sv.schemes.UnrelatedQuestion(theta=0.5)},
    "kuk": {"tax": sv.schemes.Kuk(yes=0.8, no=0.2), "drug": sv.schemes.Warner(p=0.8)},
}


def tally_of(table, plan=PLAN, names=None):
    tally = Tally(plan, names)
    tally.update(table)
    return tally


@pytest.mark.parametrize("name", SCHEMES)
def test_estimates_equal_those_from_the_reports_to_the_last_digit(name):
    plan, rng = sv.Plan.of(SCHEMA, SCHEMES[name]), np.random.default_rng(1)
    people = {"tax": (rng.random(600) < 0.3).tolist(), "drug": rng.choice(DRUG.categories, 600).tolist()}
    reports = sv.disguise(people, plan, rng=2)
    tallied = sv.Reports(reports.counts())
    for names, methods in (("tax", ["best"]), ("drug", ["best"]), (["drug", "tax"], ["best", "em"])):
        for method in methods:
            expected, found = reports.estimate(names, method=method), tallied.estimate(names, method=method)
            assert found.to_json() == expected.to_json()
            assert found.covariance.tolist() == expected.covariance.tolist()
    assert tallied.test("tax", "drug") == reports.test("tax", "drug")


def test_classifiers_learn_the_same():
    rng = np.random.default_rng(1)
    people = {"tax": rng.random(400) < 0.3, "drug": rng.choice(DRUG.categories, 400), "region": ["north"] * 400}
    reports = sv.disguise({name: list(values) for name, values in people.items()}, PLAN, rng=2)
    tallied = sv.Reports(reports.counts(["tax", "drug"]))
    for options in ({"standard_errors": True}, {}, {"model": "tree"}):
        expected, found = reports.classify("tax", **options), tallied.classify("tax", **options)
        assert str(found) == str(expected)
    odds = [each.classify("tax", standard_errors=True).log_odds({"drug": ["once"]}) for each in (reports, tallied)]
    assert str(odds[0]) == str(odds[1])
    assert tallied.itemsets(0.1).to_rows() == reports.itemsets(0.1).to_rows()


@st.composite
def tables(draw):
    rows = draw(st.integers(0, 12))
    return {name: draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows)) for name, values in VALUES}


VALUES = [("tax", [False, True]), ("drug", list(DRUG.categories)), ("region", ["north", "south"])]


@settings(max_examples=30)
@given(st.lists(tables(), min_size=1, max_size=4), st.randoms())
def test_merging_is_counting_all(parts, rng):
    """In any order and grouping; a machine without reports adds nothing."""
    tallies = [tally_of(part) if part["tax"] else Tally(PLAN) for part in parts]
    whole = {name: [value for part in parts for value in part[name]] for name, _ in VALUES}
    expected = tally_of(whole) if whole["tax"] else Tally(PLAN)
    shuffled = rng.sample(tallies, len(tallies))
    one_by_one = shuffled[0]
    for tally in shuffled[1:]:
        one_by_one = one_by_one.merge(tally)
    assert expected == one_by_one == tallies[0].merge(*tallies[1:]) == Tally(PLAN).merge(*reversed(tallies))
    assert len(expected) == len(whole["tax"])
    assert Tally.from_json(json.loads(json.dumps(expected.to_json()))) == expected


def test_single_reports_are_a_batch(monkeypatch):
    monkeypatch.setattr("sottovoce.counts.tally.WAITING", WAITING)
    tally = Tally(PLAN)
    for _ in range(WAITING // len(ROWS["tax"]) + 1):
        for values in zip(*ROWS.values(), strict=True):
            tally.add(dict(zip(ROWS, values, strict=True)) | {"not counted": 1})
    assert len(tally) == tally.rows() == tally.counted.reports > WAITING
    assert tally.contingency(SCHEMA.project(["tax"])).tolist() == [2 * len(tally) // 5, 3 * len(tally) // 5]


def test_what_is_refused_changes_nothing():
    tally = tally_of(ROWS)
    before = tally.to_json()
    for report, message in (
        ([True, "never"], r"^report must map columns to labels\. Got"),
        ({"tax": True}, r"^report must have the columns tax, drug, region\. Got tax"),
        ({}, r"^report must have the columns tax, drug, region\. Got none"),
        ({"tax": True, "drug": "daily", "region": "north"}, r"^drug must be one of its categories .* Got 'daily'"),
        ({"tax": None, "drug": "once", "region": "north"}, r"^tax must not be missing"),
    ):
        with pytest.raises(SottovoceError, match=message):
            tally.add(report)
    for table, message in (
        ({**ROWS, "drug": ["never"] * 4 + ["daily"]}, r"^drug must be one of its categories"),
        ({"tax": ROWS["tax"]}, r"^table must have the columns 'drug', 'region'"),
        (tally, r"^reports must be a table or Reports; tallies are merged\. Got a tally"),
        (sv.disguise({"tax": [True, False]}, tax_plan()), r"^reports must have been disguised under the plan of the t"),
        ([1, 2], r"^table must be a pandas"),
        ("monday.json", r"^reports must be a table or Reports; tallies are merged\. Got a tally"),
    ):
        with pytest.raises(SottovoceError, match=message):
            tally.update(table)
    assert tally.to_json() == before


def tax_plan(p=0.75):
    return sv.Plan.of(sv.Schema([sv.boolean("tax")]), {"tax": sv.schemes.Warner(p=p)})


def test_marked_tables_must_be_of_the_plan():
    frame = sv.disguise({"tax": [True] * 9}, tax_plan()).to_frame("pyarrow")
    tally_of(frame, tax_plan())
    import pyarrow as pa

    marked = sv.disguise(pa.table({"tax": [True] * 9}), tax_plan()).table
    tally_of(marked, tax_plan())
    with pytest.raises(SottovoceError, match=r"^reports must have been disguised under the plan of the tally"):
        tally_of(marked, tax_plan(0.8))


def test_tallies_of_different_things_are_not_merged():
    tally = tally_of(ROWS)
    sets = [Tally(BASKETS, itemsets=[items]) for items in (["ale"], ["bread"])]
    for first, other, message in (
        (
            tally,
            tally_of({"tax": [True] * 9}, tax_plan()),
            r"^others must have the same plan, [0-9a-f]{12}\. Got",
        ),
        (tally, tally_of(ROWS, names="tax"), r"^others must have the same columns, tax, drug, region\. Got tax"),
        (*sets, r"^others must have the same sets of items\. Got 1 sets"),
        (tally, ROWS, r"^others must be tallies\. Got"),
    ):
        with pytest.raises(SottovoceError, match=message):
            first.merge(other)
        assert first != other
    assert tally != "tally"
    with pytest.raises(TypeError, match="unhashable"):
        hash(tally)


def test_supports_of_declared_sets():
    declared = [["ale", "bread"], ["cheese"]]
    listed = sv.Reports(TRANSACTIONS, BASKETS)
    for source in (listed, {"basket": TRANSACTIONS}, TRANSACTIONS):
        tally = Tally(BASKETS, itemsets=declared)
        tally.update(source)
        tally.add({"basket": ["ale"]})
        whole = sv.Reports([*TRANSACTIONS, ["ale"]], BASKETS)
        found = sv.Reports(tally).supports(declared)
        assert found.to_rows() == whole.supports(declared).to_rows()
        assert len(sv.Reports(tally)) == len(tally) == 21
    assert listed.counts(itemsets=declared).set_counts == [12, 8, 4, 4, 12, 8, 8]
    with pytest.raises(SottovoceError, match=r"^itemsets must have been declared when the tally was started\. Got"):
        sv.Reports(tally).supports([["wheat"]])
    for ask in (lambda: sv.Reports(tally).estimate("basket"), tally.to_table, lambda: sv.Reports(tally).to_frame()):
        with pytest.raises(SottovoceError, match=r"^(names must have been tallied\. Got sets of items|attr)"):
            ask()
    assert repr(tally) == f"<Tally: 21 reports of 7 sets of basket, plan {BASKETS.hash[:12]}>"
    assert "21 reports" in tally._repr_html_()


def test_all_transactions_may_be_tallied():
    reports = sv.Reports(TRANSACTIONS * 100, BASKETS)
    tally = reports.counts("basket")
    assert len(tally.counted.times) == 5
    sets = [["ale"], ["ale", "bread"]]
    assert sv.Reports(tally).supports(sets).to_rows() == reports.supports(sets).to_rows()
    assert sv.Reports(tally).itemsets(0.2).to_rows() == reports.itemsets(0.2).to_rows()


def test_too_many_sets(monkeypatch):
    monkeypatch.setattr("sottovoce.counts.tally.MOST_COUNTED", 2**12)
    items = [f"item {number}" for number in range(100)]
    plan = sv.Plan.of(sv.Schema([sv.ItemSet("basket", items)]), {"basket": sv.schemes.Emask(p=0.9, q=0.8)})
    with pytest.raises(SottovoceError, match=r"^itemsets must have at most 4096 subsets .* Got 50 sets"):
        Tally(plan, itemsets=[items[start : start + 2] for start in range(0, 100, 2)])


@pytest.mark.parametrize(
    ("plan", "names", "itemsets", "message"),
    [
        ("plan", None, None, r"^plan must be a Plan"),
        (PLAN, ["income"], None, r"^names must be among tax, drug, region\. Got 'income'"),
        (PLAN, 5, None, r"^names must be a name, or a list of names\. Got 5"),
        (PLAN, [], None, r"^names must name an attribute, or itemsets must be given\. Got \[\]"),
        (BASKETS, None, None, r"^names must name an attribute, or itemsets must be given\. Got \[\]"),
        (PLAN, None, [["ale"]], r"^itemsets must come with a plan that has one attribute of sets .* Got none"),
        (BASKETS, None, [], r"^itemsets must be at least one set, of 1 to 12 items each\. Got \[\]"),
        (BASKETS, None, [[]], r"^itemsets must be at least one set, of 1 to 12 items each\. Got \[\[\]\]"),
        (BASKETS, None, [["wine"]], r"^basket must .*wine"),
        (BASKETS, None, [None], r"^itemsets must be at least one set, of 1 to 12 items each\. Got \[None\]"),
        (BASKETS, None, 5, r"^itemsets must be at least one set, of 1 to 12 items each\. Got 5"),
        (PLAN.with_public([PublicNumber("weight")]), "weight", None, r"^names must have categories; this is a pub"),
    ],
)
def test_what_cannot_be_tallied(plan, names, itemsets, message):
    with pytest.raises(SottovoceError, match=message):
        Tally(plan, names, itemsets=itemsets)


def test_public_numbers_are_left_out():
    plan = PLAN.with_public([*PLAN.public, PublicNumber("weight")])
    assert Tally(plan).names == ("tax", "drug", "region")


@pytest.mark.parametrize("suffix", ["json", "arrow"])
def test_files(tmp_path, suffix):
    path = tmp_path / f"monday.{suffix}"
    for tally in (tally_of(ROWS), Tally(PLAN), Tally(BASKETS, "basket", itemsets=[["ale", "bread"]]), many_columns()):
        tally.save(path, overwrite=True)
        assert Tally.load(path) == tally
        assert len(sv.read(path)) == len(tally)
    with pytest.raises(SottovoceError, match=r"^path must not exist yet"):
        tally.save(path)
    with pytest.raises(SottovoceError, match=r"^path must end in \.json or \.arrow\. Got"):
        tally.save(tmp_path / "monday.csv")
    with pytest.raises(FileNotFoundError, match="missing"):
        Tally.load(tmp_path / f"missing.{suffix}")
    assert sorted(file.name for file in tmp_path.iterdir()) == [path.name]


def many_columns():
    """More joint cells than 64-bit integers number."""
    names = [f"a{index}" for index in range(70)]
    schema = sv.Schema(map(sv.boolean, names))
    plan = sv.Plan.of(schema, {name: sv.schemes.Warner(p=0.75) for name in names})
    bits = np.random.default_rng(1).random((70, 40)) < 0.5
    tally = tally_of({name: row.tolist() * 2 for name, row in zip(names, bits, strict=True)}, plan)
    assert len(tally.counted.times) == 40
    assert tally.contingency(schema.project(["a3"])).tolist() == [2 * int(n) for n in np.bincount(bits[3], minlength=2)]
    return tally


@pytest.mark.parametrize("suffix", ["json", "arrow"])
def test_a_tally_cut_in_half_is_refused(tmp_path, suffix):
    whole, cut = tmp_path / f"whole.{suffix}", tmp_path / f"cut.{suffix}"
    tally_of(ROWS).save(whole)
    content = whole.read_bytes()
    for length in (0, 1, len(content) // 2, len(content) - 8):
        cut.write_bytes(content[:length])
        with pytest.raises(SottovoceError, match=r"cut\.\w+ must be a whole tally, as `save` wrote it\. Got a damaged"):
            Tally.load(cut)


def test_a_changed_tally_is_refused(tmp_path):
    document = tally_of(ROWS).to_json()
    for key, value in {"reports": "6", "rows": [], "columns": ["tax"], "sha256": "0" * 64}.items():
        with pytest.raises(SottovoceError, match=r"^document must be a tally as it was saved: its hash is another"):
            Tally.from_json({**document, key: value})
    with pytest.raises(SottovoceError, match=r"^version must be at most 1 for this release to read the tally"):
        Tally.from_json({**document, "version": 2})
    for other in ([], {"plan": {}}, "tally"):
        with pytest.raises(SottovoceError, match=r"^document must be a saved tally\. Got"):
            Tally.from_json(other)
    import pyarrow as pa
    from pyarrow import feather

    path = tmp_path / "changed.arrow"
    tally_of(ROWS).save(path)
    table = feather.read_table(path)
    changed = table.set_column(3, "frequency", pa.array([1] * len(table))).replace_schema_metadata(
        table.schema.metadata
    )
    for other, message in (
        (changed, r"changed\.arrow must be a tally as it was saved"),
        (
            table.drop_columns(["drug"]),
            r"changed\.arrow must be a whole .* \(it must hold the columns tax, drug, region, frequency\)\. Got the",
        ),
        (table.replace_schema_metadata({}), r"changed\.arrow must be a whole tally"),
        (table.replace_schema_metadata({"sottovoce.tally": "[]"}), r"changed\.arrow must be a saved tally"),
        (
            table.replace_schema_metadata({"sottovoce.tally": '{"kind": "tally", "version": 2, "plan": 7}'}),
            r"^version must be at most 1 .* newer version of Sottovoce",
        ),
        (
            table.set_column(1, "drug", pa.array(["wine"] * len(table))).replace_schema_metadata(table.schema.metadata),
            r"changed\.arrow must be a whole tally, as `save` wrote it \(drug must be one of its categories",
        ),
    ):
        feather.write_feather(other, path, compression="uncompressed")
        with pytest.raises(SottovoceError, match=message):
            Tally.load(path)


def test_reports_of_tallies(tmp_path):
    tally = tally_of(ROWS)
    reports = sv.Reports(tally, PLAN)
    assert reports.table is tally
    assert reports.concat(sv.Reports(tally_of(ROWS))).estimate("tax").respondents == 10
    assert len(reports.concat(sv.Reports(tally_of(ROWS))).counts()) == 10
    reports.save(tmp_path / "rows.csv")
    assert len(sv.read(tmp_path / "rows.csv")) == 5
    reports.save(tmp_path / "tally.json")
    assert sv.read(tmp_path / "tally.json").table == tally == sv.read(tally).table
    assert [len(reports.where(region=name)) for name in ("north", "south")] == [3, 2]
    assert set(reports.to_frame().columns) == {"tax", "drug", "region", "frequency"}
    again = Tally(PLAN)
    again.update(reports)
    again.update(reports.where(region="north"))
    assert len(again) == 8
    assert "frequency" in reports._repr_html_()
    assert ">2</td>" in tally._repr_html_()
    with pytest.raises(SottovoceError, match=r"^plan must be that of the tally, "):
        sv.Reports(tally, tax_plan())
    with pytest.raises(SottovoceError, match=r"^frequencies must be left out for a tally, which has them\. Got 'n'"):
        sv.Reports(tally, frequencies="n")
    with pytest.raises(SottovoceError, match=r"^names must have been counted, as tax, drug, region\. Got 'income'"):
        tally.contingency(sv.Schema([sv.boolean("income")]))
    with pytest.raises(SottovoceError, match=r"^names must have the categories that were counted\. Got 'drug'"):
        tally.contingency(sv.Schema([sv.boolean("drug")]))


def test_a_file_read_twice_is_of_the_same_respondents(tmp_path):
    path = tmp_path / "monday.json"
    tally_of(ROWS).save(path)
    first, again = (sv.read(path) for _ in range(2))
    with pytest.raises(SottovoceError, match=r"^others must be of other respondents\. Got the same reports"):
        first.concat(again)
    with pytest.raises(SottovoceError, match="respondents"):
        first.estimate("tax") - again.estimate("tax")
    more = Tally.load(path)
    more.update(ROWS)
    assert len(first.concat(sv.Reports(more))) == 15


def test_a_column_may_be_called_frequency():
    plan = sv.Plan.of(sv.Schema([sv.boolean("frequency")]), {"frequency": sv.schemes.Warner(p=0.75)})
    tally = tally_of({"frequency": [True, False, True]}, plan)
    assert tally.to_table() == {"frequency": [False, True], "frequency_": [1, 2]}
    assert sv.Reports(tally).estimate("frequency").respondents == 3


def test_frequencies_are_added():
    tally = Tally(tax_plan())
    tally.update({"tax": [True, False], "n": [831, 1604]}, frequencies="n")
    assert tally == Tally.of_counts({True: 831, False: 1604}, tax_plan())
    table = sv.Reports({"tax": [True, False], "n": [831, 1604]}, tax_plan(), frequencies="n")
    assert table.counts() == tally
    assert len(sv.Reports(tally).counts()) == 2435


def test_coded_counters_and_patterns_of_batches():
    columns = (np.array([0, 1, 1]), np.array([2, 0, 0]))
    schema = sv.Schema([sv.boolean("tax"), DRUG])
    counter = CodedCounter(schema, columns)
    assert counter.rows() == 3
    assert counter.all_ones(schema.project(["tax"]), np.array([[0]])).tolist() == [2]
    found = as_counter({"tax": [False, True, True], "drug": ["often", "never", "never"]}).patterns(schema)
    assert [c.tolist() for c in found.columns] == [c.tolist() for c in counter.patterns(schema).columns]
    assert found.times.tolist() == [1, 2]


def test_many_patterns_are_joined_as_they_come(monkeypatch):
    monkeypatch.setattr("sottovoce.counts.patterns.HELD_ROWS", 100)
    rng, sizes = np.random.default_rng(1), (50, 50, 50)
    rows = rng.integers(0, 50, (3, 2000))
    batches = [(tuple(rows[:, start : start + 70]), None) for start in range(0, 2000, 70)]
    found = Patterns.of(batches, sizes)
    distinct, times = np.unique(rows, axis=1, return_counts=True)
    np.testing.assert_array_equal(np.stack(found.columns), distinct)
    np.testing.assert_array_equal(found.times, times)


def test_counts_are_exact_or_refused():
    """Beyond 2^53, double precision, in which estimates are computed, does not tell counts apart."""
    tally = Tally.of_counts({True: 2**52 + 1, False: 2**51}, tax_plan())
    assert Tally.from_json(tally.to_json()) == tally
    assert tally.contingency(SCHEMA.project(["tax"])).tolist() == [2**51, 2**52 + 1]
    assert sv.Reports(tally).estimate("tax").respondents == len(sv.Reports(tally)) == 2**52 + 2**51 + 1
    before = tally.to_json()
    for add, message in (
        (lambda: tally.merge(tally), r"^others must add up to at most 2\^53 reports\. Got 13510798882111490"),
        (lambda: tally.update({"tax": [True], "n": [2**52]}, "n"), r"^reports must add up to at most 2\^53 reports"),
        (lambda: Tally.of_counts({True: 2**53, False: 1}, tax_plan()), r"^counts must add up to at most 2\^53 reports"),
        (lambda: Tally.of_counts({True: 2**70}, tax_plan()), r"^counts must add up to at most 2\^53 reports"),
        (lambda: tally.update({"tax": [True], "n": [10**400]}, "n"), r"^frequencies must be whole .* 2\^53; row 1"),
        (
            lambda: tally.update({"tax": [True] * 3, "n": [2**52] * 3}, "n"),
            r"^frequencies must add up to at most 2\^53",
        ),
    ):
        with pytest.raises(SottovoceError, match=message):
            add()
    assert tally.to_json() == before


def test_a_tally_without_reports():
    empty = sv.Reports(Tally(PLAN))
    assert len(empty) == len(empty.where(region="north")) == 0
    for ask in (lambda: empty.estimate("tax"), lambda: empty.classify("tax"), lambda: empty.test("tax", "drug")):
        with pytest.raises(SottovoceError, match=r"^table must have at least one row\. Got an empty one"):
            ask()


def test_reports_of_some_columns():
    tallied = sv.Reports(tally_of(ROWS, names=["tax", "region"]))
    assert len(tallied.known()) == 5
    with pytest.raises(SottovoceError, match=r"^where must name a public column \(region\)\. Got 'town'"):
        tallied.where(town="Ulm")
    with pytest.raises(SottovoceError, match=r"^weights must be a column of the table, whose rows need not come in"):
        tallied.estimate("tax", weights=[1] * 5)
    for frequencies in ([1] * 5, "region"):
        with pytest.raises(SottovoceError, match=r"^frequencies must be left out: .* have theirs, in 'frequency'"):
            tallied.estimate("tax", frequencies=frequencies)
    sets = sv.Reports(sv.Reports(TRANSACTIONS, BASKETS).counts(itemsets=[["ale"]]))
    assert "20 reports of basket" in sets._repr_html_()


def test_a_batch_without_rows_adds_nothing(tmp_path):
    (tmp_path / "none.csv").write_text("tax,drug,region\n")
    tally = tally_of(ROWS)
    before = tally.to_json()
    for batch in ({name: [] for name in ROWS}, str(tmp_path / "none.csv"), sv.Reports(Tally(PLAN))):
        tally.update(batch)
    assert tally.to_json() == before
    with pytest.raises(SottovoceError, match=r"^table must have the column 'region'"):
        tally.update({"tax": [], "drug": []})
    baskets = Tally(BASKETS, itemsets=[["ale"]])
    baskets.update([])
    assert len(baskets) == 0
    assert len(sv.Reports({name: [] for name in ROWS}, PLAN).counts()) == 0


@pytest.mark.parametrize("path", [None, 5, "week.txt"])
def test_a_path_of_a_tally(path):
    for use in (tally_of(ROWS).save, Tally.load):
        with pytest.raises(SottovoceError, match=r"^path must end in \.json or \.arrow\. Got"):
            use(path)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (5, r"^names must be a name, or a list of names\. Got 5"),
        ([], r"^names must be a name, or a list of names\. Got \[\]"),
        ("income", r"^names must be among tax, drug, region\. Got 'income'"),
    ],
)
def test_names_of_published_counts(names, message):
    with pytest.raises(SottovoceError, match=message):
        sv.Reports.from_counts({True: 5}, PLAN, names)
