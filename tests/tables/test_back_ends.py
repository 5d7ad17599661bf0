"""Every back end on this machine gives the same rows, the same counts and the same errors."""

import sys

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.counts.counter import as_counter
from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.plans.document import plan_to_text
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables import arrow_source, duckdb_source, polars_source
from sottovoce.tables import source as sources
from sottovoce.tables.infer import infer_schema
from sottovoce.tables.plan_file import carries_plan, read_plan
from sottovoce.tables.source import TIMES, ProgressSource, is_table, open_source

ODD_NAMES = ('the "best"', "a b", "*", "^a.*$", "ü.y", "select", "c0")
SCHEMA = Schema(
    [
        boolean('the "best"'),
        Attribute("a b", ["never", "once", "often"], missing="never"),
        Attribute("*", [0, 1, 2]),
        Attribute("^a.*$", ["x", "y"]),
    ]
)
PLAN = sv.plan(Schema([boolean("tax")]), odds=9)


def random_table(seed, rows):
    """Text as a dictionary and not, with missing values and labels that no row has, integers and booleans."""
    rng = np.random.default_rng(seed)
    texts = rng.choice(["never", "once", "often"], rows).tolist()
    texts = [None if gone else text for text, gone in zip(texts, rng.random(rows) < 0.1, strict=True)]
    letters = pa.DictionaryArray.from_arrays(rng.integers(1, 3, rows).astype(np.int32), ["unused", "x", "y"])
    numbers = rng.choice(3, rows, p=[0.98, 0.01, 0.01])
    beside = {"ü.y": rng.random(rows), "select": list(range(rows)), "c0": [["ale"][: row % 2] for row in range(rows)]}
    columns = {'the "best"': rng.random(rows) < 0.3, "a b": texts, "*": numbers, "^a.*$": letters} | beside
    return pa.table({name: pa.array(column) for name, column in columns.items()})


def check_joint_counts(table, back_ends):
    parts = [SCHEMA, SCHEMA.project(["^a.*$", "a b"])]
    expected = [as_counter(table).contingency(part).tolist() for part in parts]
    assert sum(expected[0]) == len(table)
    for name, back_end in back_ends.items():
        counter = as_counter(back_end)
        assert counter.rows() == len(table), name
        assert [counter.contingency(part).tolist() for part in parts] == expected, name


@pytest.mark.parametrize(("seed", "rows"), [(1, 1), (2, 3000)])
def test_joint_counts_are_the_same(back_ends, seed, rows):
    table = random_table(seed, rows)
    check_joint_counts(table, back_ends(table))


def test_more_groups_than_an_engine_should_hand_over_are_counted_from_all_rows(back_ends, monkeypatch):
    for module in (polars_source, duckdb_source):
        monkeypatch.setattr(module, "MOST_GROUPS", 0)
    table = random_table(3, 300)
    made = back_ends(table)
    assert all(open_source(back_end).grouped(["*"]) is None for back_end in made.values())
    check_joint_counts(table, made)


@pytest.mark.slow
@given(st.integers(0, 2**32), st.integers(1, 5000))
@settings(max_examples=60)
def test_joint_counts_of_many_random_tables(back_ends, seed, rows):
    table = random_table(seed, rows)
    check_joint_counts(table, back_ends(table))


def test_rows_come_in_order_in_batches_of_any_size(back_ends):
    for name, back_end in back_ends(random_table(4, 500)).items():
        source = open_source(back_end)
        assert source.names == ODD_NAMES, name
        assert source.rows in (500, None)
        batches = list(source.batches(["select", "^a.*$"], rows=64))
        assert max(len(batch["select"]) for batch in batches) <= 64, name
        rows = [row for batch in batches for row in batch["select"].to_list()]
        assert rows == list(range(500)), name
        assert source.ordered == (name not in LAZY)


LAZY = ("lazy frame", "lazy frame in memory", "relation", "relation of files")


def test_groups_of_an_engine(back_ends):
    for name, back_end in back_ends(random_table(5, 200)).items():
        source = open_source(back_end)
        assert source.grouped(["c0", "*"]) is None, "lists are not grouped"
        groups = source.grouped(["a b"])
        assert (groups is not None) == (name in LAZY or name == "table of a file"), name
        if groups is not None:
            found = {}
            for batch in groups.batches():
                found |= dict(zip(batch["a b"].to_list(), batch[TIMES].to_list(), strict=True))
            assert found.keys() == {None, "never", "once", "often"}
            assert sum(found.values()) == 200


def test_reading_may_end_early(back_ends):
    for back_end in back_ends(random_table(6, 300)).values():
        source = open_source(back_end)
        for _ in range(2):
            assert len(next(iter(source.batches(["*"], rows=10)))["*"]) <= 10


def test_sets_of_items_are_the_same(back_ends):
    rng = np.random.default_rng(7)
    lists = [np.flatnonzero(row).tolist() for row in rng.random((200, 6)) < 0.3]
    basket, sets = Schema([ItemSet("basket", range(6))]), np.array([[0, 1], [2, 2], [3, 5]])
    expected = as_counter({"basket": lists}).all_ones(basket, sets).tolist()
    for name, back_end in back_ends(pa.table({"basket": lists})).items():
        assert as_counter(back_end).all_ones(basket, sets).tolist() == expected, name


@pytest.mark.parametrize(
    ("values", "variable", "message"),
    [
        (
            ["a", "z", "z", "y", "z"],
            ["a", "b"],
            r"^q must be one of its categories \(a, b\)\. Got 'z' \(3 rows\), 'y' \(1",
        ),
        (["a", None, "b", None], ["a", "b"], r"^q must not be missing .*\. Got None \(2 rows\) instead"),
        ([1.5, 2.0], ["a", "b"], r"^q must be a column of text \(its categories are a, b\)\. Got a column of numbers"),
        (["x", "y"], [1, 2], r"^q must be a column of whole numbers .*\. Got a column of text"),
        ([3, 1, 3], [1, 2], r"^q must be one of its categories \(1, 2\)\. Got 3 \(2 rows\) instead"),
        ([3, 1, 3], [False, True], r"^q must be a column of booleans .*\. Got a column of whole numbers"),
    ],
)
def test_wrong_values_are_counted_and_wrong_types_named(back_ends, values, variable, message):
    schema = Schema([Attribute("q", variable)])
    for back_end in back_ends(pa.table({"q": values})).values():
        with pytest.raises(SottovoceError, match=message):
            as_counter(back_end).contingency(schema)


def test_wrong_values_among_rows_that_are_read_are_counted_too(back_ends):
    drug = Schema([Attribute("drug", ["never", "once"])])
    table = pa.table({"drug": ["never"] * 50 + ["daily"] * 3, "weight": [1.0] * 53})
    for back_end in back_ends(table).values():
        with pytest.raises(SottovoceError, match=r"^drug must be one of .*\. Got 'daily' \(3 rows\) instead"):
            list(open_source(back_end).coded_with(drug, ["weight"]))


def test_a_column_with_the_name_of_the_counts(back_ends):
    made = back_ends(pa.table({TIMES: [True, False, True]}))
    assert all(as_counter(table).contingency(Schema([boolean(TIMES)])).tolist() == [1, 2] for table in made.values())


def test_empty_tables_and_missing_columns(back_ends):
    schema = Schema([boolean("tax")])
    for back_end in back_ends(pa.table({"tax": pa.array([], pa.bool_())})).values():
        assert open_source(back_end).count_rows() == 0
        with pytest.raises(SottovoceError, match=r"^table must have at least one row"):
            as_counter(back_end).contingency(schema)
        with pytest.raises(SottovoceError, match=r"^table must have at least one row"):
            as_counter(back_end).all_ones(schema, np.array([[0]]))
    for back_end in back_ends(pa.table({"taxes": [True]})).values():
        with pytest.raises(
            SottovoceError, match=r"^table must have the column 'tax'\. Got a table with the column 'ta"
        ):
            as_counter(back_end).contingency(schema)


def test_large_files_are_counted_in_parts(back_ends, monkeypatch):
    monkeypatch.setattr(arrow_source, "PART_ROWS", 100)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    table = random_table(8, 1000)
    path = back_ends(table)["file"]
    assert len(list(open_source(path).map_parts(["*"], lambda part: part.names))) == 2
    assert as_counter(path).contingency(SCHEMA).tolist() == as_counter(table).contingency(SCHEMA).tolist()
    with pytest.raises(SottovoceError, match=r"^\* must be one of its categories \(0, 1\)\. Got 2 ") as caught:
        as_counter(path).contingency(Schema([Attribute("*", [0, 1])]))
    assert f"Got 2 ({(np.asarray(table['*']) == 2).sum()} rows) instead" in str(caught.value)


def test_frames_of_narwhals():
    lazy = nw.from_native(pl.DataFrame({"tax": [True, False, True]}).lazy())
    assert is_table(lazy)
    assert as_counter(lazy).contingency(Schema([boolean("tax")])).tolist() == [1, 2]
    assert is_table(nw.from_native(pl.DataFrame({"tax": [True]})))
    assert not is_table(nw.from_native(pl.Series([True]), series_only=True))


def test_queries_that_fail_say_why(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        open_source(pl.scan_csv(tmp_path / "nowhere.csv"))
    late = pl.DataFrame({"tax": ["x", "y"]}).lazy().with_columns(pl.col("tax").cast(pl.Int64))
    with pytest.raises(SottovoceError, match=r"^table must be a LazyFrame that Polars can collect \(conversion"):
        list(open_source(late).batches())
    late = duckdb.sql("SELECT error('no such answer') AS tax FROM range(3)")
    with pytest.raises(SottovoceError, match=r"^table must be a table that DuckDB can read \(.*no such answer"):
        list(open_source(late).batches())


def test_older_duckdb_has_another_name_for_the_same_reader(monkeypatch):
    relation = duckdb.sql("SELECT true AS tax")
    source = open_source(relation)

    class Older:
        def project(self, columns):
            return self

        def fetch_arrow_reader(self, rows):
            return relation.to_arrow_reader(rows)

    monkeypatch.setattr(source, "_relation", Older())
    assert [batch["tax"].to_list() for batch in source.batches(["tax"])] == [[True]]


def test_without_pyarrow_the_extras_are_named(monkeypatch, tmp_path):
    lazy, relation = pl.DataFrame({"a": [1]}).lazy(), duckdb.sql("SELECT 1 AS a")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"^a Polars LazyFrame needs pyarrow; .*sottovoce\[polars\]"):
        open_source(lazy)
    with pytest.raises(MissingExtraError, match=r"^a DuckDB relation needs pyarrow; .*sottovoce\[duckdb\]"):
        open_source(relation)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=r"^a DuckDB file needs duckdb; .*sottovoce\[duckdb\]"):
        open_source(tmp_path / "a.duckdb")


class TestDuckDBFiles:
    """A file, its tables, and their comments as plans."""

    @pytest.fixture
    def path(self, tmp_path):
        with duckdb.connect(tmp_path / "survey.duckdb") as connection:
            connection.execute("CREATE TABLE answers AS SELECT x % 2 = 0 AS tax FROM range(10) t(x)")
        return tmp_path / "survey.duckdb"

    def execute(self, path, *statements):
        with duckdb.connect(path) as connection:
            for statement in statements:
                connection.execute(statement)

    def test_the_only_table_needs_no_name(self, path):
        assert open_source(path).count_rows() == open_source(f"{path}::answers").count_rows() == 10
        assert as_counter(str(path)).contingency(Schema([boolean("tax")])).tolist() == [5, 5]

    def test_one_of_several_tables_is_named(self, path):
        self.execute(path, "CREATE SCHEMA old", 'CREATE TABLE old."first wave" AS SELECT true AS tax')
        with pytest.raises(
            SottovoceError, match=r"must name a table of the file, as FILE::TABLE, unless it has only one"
        ):
            open_source(path)
        with pytest.raises(SottovoceError, match=r"FILE::TABLE\. Got a file with answers, old\.first wave instead"):
            open_source(f"{path}::first wave")
        assert open_source(f"{path}::old.first wave").count_rows() == 1

    def test_a_file_without_tables(self, tmp_path):
        self.execute(tmp_path / "none.duckdb", "SELECT 1")
        with pytest.raises(SottovoceError, match=r"Got a file with none instead"):
            open_source(tmp_path / "none.duckdb")

    def test_what_is_no_duckdb_file(self, tmp_path):
        with pytest.raises(SottovoceError, match=r"^table must be a DuckDB file that exists\. Got '.*none\.duckdb'"):
            open_source(tmp_path / "none.duckdb")
        assert not (tmp_path / "none.duckdb").exists()
        (tmp_path / "text.duckdb").write_text("tax\nyes\n" * 1000)
        with pytest.raises(SottovoceError, match=r"text\.duckdb must be a table that DuckDB can read \(IO Error"):
            open_source(tmp_path / "text.duckdb")

    def test_the_comment_is_the_plan(self, path):
        assert not carries_plan(path)
        with pytest.raises(SottovoceError, match=r"survey\.duckdb must carry a plan in its comment\. Got none"):
            sv.read(path)
        self.execute(path, "COMMENT ON TABLE answers IS 'of 2026'")
        assert open_source(path).mark is None
        self.execute(path, f"COMMENT ON TABLE answers IS '{plan_to_text(PLAN)}'")
        assert read_plan(f"{path}::answers").hash == PLAN.hash
        assert len(sv.read(path)) == 10
        with pytest.raises(SottovoceError, match=r"^plan must be the plan that the table was disguised under"):
            sv.read(path, sv.plan(Schema([boolean("tax")]), odds=2))

    def test_the_file_is_closed_after_reading_and_may_be_open_here(self, path):
        source = open_source(path)
        assert next(iter(source.batches()))["tax"].to_list()[0] is True
        with duckdb.connect(path) as connection:
            connection.execute("INSERT INTO answers VALUES (true)")
            assert source.count_rows() == 11


def test_marks_of_engines_are_unknown(back_ends):
    made = back_ends(pa.table({"tax": [True, False]}).replace_schema_metadata({"sottovoce.plan": plan_to_text(PLAN)}))
    marked = {name for name, back_end in made.items() if open_source(back_end).mark is not None}
    assert marked == {"file", "folder", "glob", "dataset"}
    for name in LAZY:
        with pytest.raises(SottovoceError, match=r"^plan must be given with a table in memory or of an engine"):
            sv.read(made[name])


def test_batches_follow_the_usual_size(back_ends, monkeypatch):
    monkeypatch.setattr(sources, "BATCH_ROWS", 30)
    for back_end in back_ends(random_table(9, 100)).values():
        assert max(len(batch["*"]) for batch in open_source(back_end).batches(["*"])) <= 30


def test_categories_that_a_type_declares():
    declared = ("often", "never", "once")
    lazy = pl.DataFrame({"drug": ["never", "once"]}, schema={"drug": pl.Enum(declared)}).lazy()
    relation = duckdb.sql("SELECT 'never'::ENUM('often', 'never', 'once') AS drug FROM range(3)")
    for table in (lazy, relation):
        assert infer_schema(table)["drug"].categories == declared
    assert infer_schema(pl.DataFrame({"drug": ["b", "a", "b"]}).lazy())["drug"].categories == ("a", "b")


def test_schemas_are_inferred_from_groups_where_there_are_any(back_ends):
    table = random_table(10, 200)
    options = {"columns": ["a b", "*", "^a.*$", "c0"], "missing": "silent"}
    expected = infer_schema(table, **options)
    for name, back_end in back_ends(table).items():
        assert infer_schema(back_end, **options) == expected, name


def test_engines_do_not_say_how_far_they_are(back_ends):
    schema, calls = SCHEMA.project(["*"]), []
    table = random_table(11, 100)
    for name, back_end in back_ends(table).items():
        counter = as_counter(ProgressSource(back_end, lambda *call: calls.append(call)))
        assert counter.contingency(schema).tolist() == as_counter(table).contingency(schema).tolist(), name
    assert {total for _, total in calls} == {100}


def test_types_that_arrow_does_not_have_are_named():
    frame = pl.LazyFrame({"a": [True], "person": [1]}, schema_overrides={"person": pl.Int128})
    with pytest.raises(SottovoceError, match=r"^table must have columns of types .*'person'\. Got Int128"):
        open_source(frame)


@pytest.mark.parametrize("names", ['tax, "TAX"', "tax, tax"])
def test_duckdb_does_not_tell_such_names_apart(names):
    relation = duckdb.sql(f"SELECT {names.replace('tax', 'true AS tax', 1).replace(', ', ', false AS ')}")
    with pytest.raises(
        SottovoceError, match=r"^table must have different column names, of which DuckDB ignores the ca"
    ):
        sv.read(relation, PLAN)
    assert open_source(duckdb.sql('SELECT 1 AS "ü", 2 AS "Ü"')).names == ("ü", "Ü")


def test_a_query_that_fails_among_its_rows_says_why():
    rows = "SELECT CASE WHEN range > 300000 THEN error('boom') ELSE range END AS id FROM range(400000)"
    source = open_source(duckdb.sql(rows))
    with pytest.raises(
        SottovoceError, match=r"^table must be a table that DuckDB can read \(Invalid Input Error: boom"
    ):
        list(source.batches(["id"], 1000))


def test_errors_of_the_operating_system_stay_what_they_are():
    with pytest.raises(OSError, match="No space left"), duckdb_source._duckdb_errors("table"):
        raise OSError(28, "No space left on device")
