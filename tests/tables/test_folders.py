"""Folders, globs and Arrow datasets of Parquet files: one table, with one plan or none."""

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import sottovoce as sv
from sottovoce.counts.counter import as_counter
from sottovoce.errors import SottovoceError
from sottovoce.plans.document import plan_to_text
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.tables.arrow_source import MOST_UNSEEN
from sottovoce.tables.plan_file import carries_plan, read_plan
from sottovoce.tables.source import is_table, open_source

SCHEMA = Schema([boolean("tax"), Attribute("drug", ["never", "once"])])
PLAN = sv.plan(SCHEMA, odds=9, purpose="split")
OTHER = sv.plan(SCHEMA, odds=4, purpose="split")


def write(path, rows=4, plan=None, **columns):
    given = {"tax": [True, False] * (rows // 2), "drug": ["never", "once"] * (rows // 2)} | columns
    table = pa.table(given)
    if plan is not None:
        table = table.replace_schema_metadata({"sottovoce.plan": plan_to_text(plan)})
    path.parent.mkdir(exist_ok=True, parents=True)
    pq.write_table(table, path)


@pytest.fixture
def folder(tmp_path):
    """Three files, one of them empty, beside what Spark and our own writer leave behind."""
    home = tmp_path / "reports.parquet"
    for name, rows in (("b.parquet", 4), ("a.parquet", 0), ("c.pq", 2)):
        half = rows // 2
        write(
            home / name, tax=pa.array([True, False] * half, pa.bool_()), drug=pa.array(["never", "once"] * half, "str")
        )
    (home / "_SUCCESS").touch()
    (home / ".hidden.parquet").write_text("nothing")
    (home / "_temporary").mkdir()
    (home / "_temporary" / "part.parquet").write_text("nothing")
    return home


def test_a_folder_is_one_table(folder):
    source = open_source(folder)
    assert source.names == ("tax", "drug")
    assert source.rows == source.count_rows() == 6
    assert as_counter(str(folder)).contingency(SCHEMA).tolist() == [0, 3, 3, 0]


def test_files_are_read_in_the_order_of_their_names_in_batches(tmp_path):
    for number in (3, 1, 2):
        write(tmp_path / f"{number}.parquet", 4, wave=[number] * 4)
    batches = [batch["wave"].to_list() for batch in open_source(tmp_path).batches(["wave"], rows=3)]
    assert max(map(len, batches)) == 3
    assert [wave for batch in batches for wave in batch] == [1] * 4 + [2] * 4 + [3] * 4


def test_globs_name_files_of_several_folders(tmp_path):
    for wave in "ab":
        write(tmp_path / f"wave {wave}" / "x.parquet")
        write(tmp_path / f"wave {wave}" / "y.parquet")
    assert open_source(str(tmp_path / "wave *" / "x.parquet")).rows == 8
    assert open_source(tmp_path / "**" / "*.parquet").rows == 16
    assert open_source(tmp_path / "wave [a]" / "?.parquet").rows == 8


def test_a_file_may_have_a_name_like_a_glob(tmp_path):
    write(tmp_path / "wave [1].parquet")
    assert open_source(tmp_path / "wave [1].parquet").rows == 4


def test_partitions_are_columns(tmp_path):
    write(tmp_path / "town=Ulm" / "x.parquet", 2)
    write(tmp_path / "town=Bonn" / "x.parquet", 4)
    town = Schema([Attribute("town", ["Bonn", "Ulm"])])
    assert as_counter(tmp_path).contingency(town).tolist() == [4, 2]


def test_datasets_of_any_format(tmp_path, folder):
    assert as_counter(ds.dataset(tmp_path / "reports.parquet")).contingency(SCHEMA).tolist() == [0, 3, 3, 0]
    ds.write_dataset(pa.table({"drug": ["once", "never", "once"]}), tmp_path / "csv", format="csv")
    source = open_source(ds.dataset(tmp_path / "csv", format="csv"))
    assert source.rows is None
    assert source.count_rows() == 3
    assert source.mark is None
    assert as_counter(source).contingency(SCHEMA.project(["drug"])).tolist() == [1, 2]


def test_filtered_and_in_memory_datasets(folder):
    women = ds.dataset(folder).filter(ds.field("tax"))
    assert is_table(women)
    assert open_source(women).rows is None
    assert open_source(women).count_rows() == 3
    held = ds.dataset(pa.table({"drug": ["once", "never", "once"]}))
    assert as_counter(held).contingency(SCHEMA.project(["drug"])).tolist() == [1, 2]


def test_the_plan_of_a_folder_is_beside_its_files(folder):
    assert not carries_plan(folder)
    with pytest.raises(SottovoceError, match=r"reports\.parquet must carry a plan in its plan\.json, or in the meta"):
        sv.read(folder)
    (folder / "plan.json").write_text(plan_to_text(PLAN) + "\n")
    assert carries_plan(folder)
    assert sv.read(folder).plan.hash == read_plan(str(folder)).hash == PLAN.hash
    assert len(sv.read(folder)) == 6
    assert sv.read(folder / "*.p*").plan.hash == PLAN.hash
    assert "6 reports of tax, drug" in sv.read(folder)._repr_html_()
    with pytest.raises(SottovoceError, match=r"^plan must be the plan that the table was disguised under"):
        sv.read(folder, OTHER)


def test_the_plan_of_a_folder_is_in_all_files_or_in_none(tmp_path):
    write(tmp_path / "a.parquet", plan=PLAN)
    write(tmp_path / "b.parquet", plan=PLAN)
    assert sv.read(tmp_path).plan.hash == PLAN.hash
    (tmp_path / "plan.json").write_text(plan_to_text(OTHER))
    with pytest.raises(SottovoceError, match=r"must carry one plan, in plan\.json or in the metadata of the files"):
        sv.read(tmp_path)
    write(tmp_path / "b.parquet", plan=OTHER)
    with pytest.raises(SottovoceError, match=r"must carry the same plan in all files, or none\. Got another in .*b"):
        sv.read(tmp_path)
    write(tmp_path / "b.parquet")
    with pytest.raises(SottovoceError, match=r"must carry the same plan in all files, or none"):
        sv.read(tmp_path)


def test_globs_across_folders_of_which_some_have_a_plan(tmp_path):
    write(tmp_path / "a" / "x.parquet")
    write(tmp_path / "b" / "x.parquet")
    (tmp_path / "a" / "plan.json").write_text(plan_to_text(PLAN))
    with pytest.raises(SottovoceError, match=r"must have plan\.json in all of its folders, or in none"):
        sv.read(tmp_path / "*" / "*.parquet")
    (tmp_path / "b" / "plan.json").write_text(plan_to_text(PLAN))
    assert len(sv.read(tmp_path / "*" / "*.parquet")) == 8


def test_what_is_no_folder_of_parquet_files(tmp_path):
    with pytest.raises(SottovoceError, match=r"must be a folder with Parquet files\. Got none"):
        open_source(tmp_path)
    with pytest.raises(SottovoceError, match=r"must match at least one Parquet file\. Got none"):
        open_source(tmp_path / "*.parquet")
    (tmp_path / "a.parquet").write_text("nothing")
    with pytest.raises(SottovoceError, match=r"a\.parquet must be a Parquet file"):
        open_source(tmp_path)
    write(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_text("nothing")
    with pytest.raises(SottovoceError, match=r"b\.parquet must be a whole Parquet file"):
        open_source(tmp_path)


def test_files_of_a_folder_with_other_columns(tmp_path):
    write(tmp_path / "a.parquet")
    write(tmp_path / "b.parquet", tax=[0, 1, 1, 0])
    with pytest.raises(SottovoceError, match=r"in all files; .*b\.parquet has 'tax' as whole numbers\. Got booleans"):
        open_source(tmp_path)
    pq.write_table(pa.table({"drug": ["once"]}), tmp_path / "b.parquet")
    with pytest.raises(SottovoceError, match=r"must have the same columns in all files; .*b\.parquet lacks 'tax'"):
        open_source(tmp_path)


def test_a_damaged_file_is_refused_where_the_damage_is_met(tmp_path):
    write(tmp_path / "a.parquet", 4000)
    content = bytearray((tmp_path / "a.parquet").read_bytes())
    content[8:60] = b"x" * 52
    (tmp_path / "a.parquet").write_bytes(bytes(content))
    with pytest.raises(SottovoceError, match=r"must be a whole Parquet file"):
        as_counter(tmp_path).contingency(SCHEMA)


def test_values_that_no_category_has_are_counted(tmp_path):
    drugs = ["never", "daily", "once", "weekly", "daily", "daily", None, None]
    pq.write_table(pa.table({"drug": drugs}), tmp_path / "a.parquet")
    drug = SCHEMA.project(["drug"])
    for path in (tmp_path, tmp_path / "a.parquet"):
        with pytest.raises(SottovoceError) as caught:
            as_counter(path).contingency(drug)
        assert str(caught.value).endswith("(never, once). Got 'daily' (3 rows), 'weekly' (1 row) instead.")
    pq.write_table(pa.table({"drug": ["never", None]}), tmp_path / "a.parquet")
    with pytest.raises(SottovoceError, match=r"^drug must not be missing .*\. Got None \(1 row\) instead"):
        as_counter(tmp_path).contingency(drug)
    pq.write_table(pa.table({"drug": [f"{number}" for number in range(MOST_UNSEEN + 9)]}), tmp_path / "a.parquet")
    with pytest.raises(SottovoceError, match=r"Got '0' \(1 row\), '1' \(1 row\), '2' \(1 row\) and many more instead"):
        as_counter(tmp_path).contingency(drug)


@pytest.mark.parametrize(
    ("values", "variable", "message"),
    [
        (
            [1.5, 2.5],
            Attribute("a", ["never", "once"]),
            r"^a must be a column of text .*never, once.* of numbers",
        ),
        (
            ["x", "y"],
            Attribute("a", range(9)),
            r"^a must be a column of whole numbers \(.*6, 7, \.\.\.\)\. Got .*text",
        ),
        ([5, 6], boolean("a"), r"^a must be a column of booleans .*Got a column of whole numbers"),
        (np.array(["2020-01-01"], "M8[s]"), boolean("a"), r"Got a column of timestamp\[ms\]"),
        ([[1], [2]], boolean("a"), r"Got a column of lists"),
        (
            ["x", "y"],
            sv.Binned("a", [0, 1, 2], closed="left"),
            r"^a must be a column of numbers or whole numbers\. Got .*text",
        ),
        ([1, 2], sv.ItemSet("a", [1, 2]), r"^a must be a column of lists or text\. Got a column of whole numbers"),
        ([["x"]], sv.ItemSet("a", ["ale", "bread"]), r"^a must be .*ale, bread\)\. Got 'x' instead"),
        (pa.nulls(2), boolean("a"), r"^a must not be missing"),
    ],
)
def test_columns_of_the_wrong_type_are_refused_by_it(values, variable, message, tmp_path):
    pq.write_table(pa.table({"a": values}), tmp_path / "a.parquet")
    with pytest.raises(SottovoceError, match=message):
        list(open_source(tmp_path).coded(Schema([variable])))
