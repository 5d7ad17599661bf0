"""Disguise of files: plans travel with reports, and nothing half-written ever bears a final name."""

import csv
import io
import resource
import subprocess
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sottovoce.disguises.tables import disguise_file
from sottovoce.errors import SottovoceError
from sottovoce.plans.document import plan_hash
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.warner import Warner
from sottovoce.tables import sink
from sottovoce.tables import source as sources
from sottovoce.tables.plan_file import read_plan, write_plan
from sottovoce.tables.source import open_source

SCHEMA = Schema(
    [boolean("tax"), Attribute("drug", ["never", "once"]), Attribute("n", [1, 2]), ItemSet("s", ["x", "y"])]
)
PLAN = Plan.of(SCHEMA, dict.fromkeys(SCHEMA.names, Warner(p=1)))
ROWS = [("True", "once", "2", "x;y"), ("False", "never", "1", ""), ("True", "never", "1", "y")]


@pytest.fixture
def truths_csv(tmp_path):
    path = tmp_path / "truths.csv"
    with open(path, "w", newline="") as stream:
        csv.writer(stream).writerows([SCHEMA.names, *ROWS])
    return path


@pytest.fixture
def truths_parquet(tmp_path):
    path = tmp_path / "truths.parquet"
    columns = {
        "tax": [True, False, True],
        "drug": ["once", "never", "never"],
        "n": [2, 1, 1],
        "s": [["x", "y"], [], ["y"]],
    }
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_reports_carry_their_plan(form, truths_csv, truths_parquet, tmp_path):
    for number, source in enumerate((truths_csv, truths_parquet)):
        reports = tmp_path / f"reports{number}.{form}"
        assert disguise_file(source, reports, PLAN) == 3
        assert plan_hash(read_plan(reports)) == plan_hash(PLAN)
        columns = list(open_source(reports).coded(PLAN.report_schema))
        assert [c.tolist() for c in columns[0]] == [[1, 0, 1], [1, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 1]]
    leftovers = [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert leftovers == []


def test_parquet_keeps_types_and_dictionaries(truths_parquet, tmp_path):
    disguise_file(truths_parquet, tmp_path / "r.parquet", PLAN)
    table = pq.read_table(tmp_path / "r.parquet")
    assert pa.types.is_dictionary(table.schema.field("drug").type)
    assert table.to_pydict() == pq.read_table(truths_parquet).to_pydict()
    assert pd.read_parquet(tmp_path / "r.parquet")["drug"].tolist() == ["once", "never", "never"]


def test_progress_counts_rows(truths_parquet, truths_csv, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "BATCH_ROWS", 2)
    seen = []
    disguise_file(truths_parquet, tmp_path / "r.parquet", PLAN, progress=lambda *counts: seen.append(counts))
    disguise_file(truths_csv, tmp_path / "r.csv", PLAN, progress=lambda *counts: seen.append(counts))
    assert seen == [(2, 3), (3, 3), (2, None), (3, None)]


def test_streams(truths_csv, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO(truths_csv.read_text()))
    disguise_file("-", "-", PLAN)
    assert capsys.readouterr().out.splitlines() == [
        "tax,drug,n,s",
        "True,once,2,x;y",
        "False,never,1,",
        "True,never,1,y",
    ]


def test_a_stream_is_read_once(truths_csv, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(truths_csv.read_text()))
    source = open_source("-")
    list(source.batches())
    with pytest.raises(SottovoceError, match=r"^table must be a file, since it is read twice"):
        list(source.batches())


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_error_in_the_last_row_leaves_nothing_behind(form, truths_csv, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "BATCH_ROWS", 1)
    truths_csv.write_text(truths_csv.read_text() + "True,hourly,1,x\n")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SottovoceError, match=r"^drug must be one of its categories"):
        disguise_file(truths_csv, tmp_path / f"reports.{form}", PLAN)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_files_are_replaced_only_when_asked_to(form, truths_csv, tmp_path):
    reports = tmp_path / f"reports.{form}"
    reports.write_text("precious")
    with pytest.raises(SottovoceError, match=r"^output must not exist yet"):
        disguise_file(truths_csv, reports, PLAN)
    assert reports.read_text() == "precious"
    disguise_file(truths_csv, reports, PLAN, overwrite=True)
    assert read_plan(reports) == PLAN


def test_a_sidecar_in_the_way_is_respected(truths_csv, tmp_path):
    (tmp_path / "reports.csv.plan.json").write_text("precious")
    with pytest.raises(SottovoceError, match=r"^output must not exist yet"):
        disguise_file(truths_csv, tmp_path / "reports.csv", PLAN)
    assert not (tmp_path / "reports.csv").exists()


def test_the_input_is_never_the_output(truths_csv):
    with pytest.raises(SottovoceError, match=r"^output must be another file than the input"):
        disguise_file(truths_csv, truths_csv, PLAN, overwrite=True)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_full_disk_leaves_nothing_under_the_final_name(form, tmp_path):
    """RLIMIT_FSIZE stands for the full disk: writing beyond it fails, as root too."""
    rows = 200_000
    (tmp_path / "t.csv").write_text("a\n" + "True\nFalse\n" * (rows // 2))
    script = (
        "import signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from sottovoce import Schema, boolean\n"
        "from sottovoce.disguises.tables import disguise_file\n"
        "from sottovoce.plans.budget import new_plan\n"
        "plan = new_plan(Schema([boolean('a')]), odds=3)\n"
        f"disguise_file('t.csv', 'r.{form}', plan)\n"
    )
    limit = 10_000
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "OSError: [Errno 27]" in done.stderr or "File too large" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]


def test_a_disk_that_is_full_at_the_last_moment_leaves_old_data_with_their_old_plan(truths_csv, tmp_path, monkeypatch):
    """The data reach the disk before their new plan takes the old one's name."""
    reports = tmp_path / "reports.csv"
    disguise_file(truths_csv, reports, PLAN)
    before = reports.read_text()

    def full(path):
        if "plan.json" not in path.name:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sink, "_flush_to_disk", full)
    other = Plan.of(SCHEMA, dict.fromkeys(SCHEMA.names, Warner(p=0.9)))
    with pytest.raises(OSError, match=r"No space left on device: '.*reports\.csv'"):
        disguise_file(truths_csv, reports, other, overwrite=True)
    assert (reports.read_text(), read_plan(reports)) == (before, PLAN)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_plans_as_files(tmp_path):
    write_plan(PLAN, tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json", plan_hash(PLAN)) == PLAN
    with pytest.raises(SottovoceError, match=r"^output must not exist yet"):
        write_plan(PLAN, tmp_path / "plan.json")


def test_a_parquet_file_without_a_plan_says_so(truths_parquet):
    with pytest.raises(SottovoceError, match="must carry a plan in its metadata"):
        read_plan(truths_parquet)
