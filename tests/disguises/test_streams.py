"""Files larger than a batch: same bytes however they are cut, and nothing left of a stream that breaks."""

import resource
import signal
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sottovoce.disguises import tables
from sottovoce.disguises.tables import disguise_file
from sottovoce.errors import SottovoceError
from sottovoce.plans.budget import new_plan
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.warner import Warner
from sottovoce.tables import sink as sinks
from sottovoce.tables import source as sources
from sottovoce.tables.arrow_source import ParquetSource

LABELS = [f"category {n}" for n in range(10)]
SCHEMA = Schema([Attribute("s", LABELS), boolean("b"), Attribute("n", range(20))])
PLAN = new_plan(SCHEMA, odds=20)
ROWS = 5_000


@pytest.fixture(autouse=True)
def no_thread_left():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


@pytest.fixture
def truths(tmp_path):
    """Five row groups of a thousand rows."""
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "s": [LABELS[n] for n in rng.integers(0, 10, ROWS)],
            "b": rng.integers(0, 2, ROWS).astype(bool),
            "n": rng.integers(0, 20, ROWS),
        }
    )
    path = tmp_path / "truths.parquet"
    pq.write_table(table, path, row_group_size=1000)
    return path


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_bytes_of_reports_depend_on_the_seed_only(form, truths, tmp_path, monkeypatch):
    """Not on batches, row groups of the input, or which thread is ahead."""
    written = []
    for number, rows in enumerate((2**17, 77, 1000)):
        monkeypatch.setattr(sources, "BATCH_ROWS", rows)
        monkeypatch.setattr(sinks, "GROUP_ROWS", 700)
        reports = tmp_path / f"reports{number}.{form}"
        assert disguise_file(truths, reports, PLAN, rng=5) == ROWS
        written.append(reports.read_bytes())
    assert written[0] == written[1] == written[2]


def test_threads_or_none_give_the_same_reports(truths, tmp_path, monkeypatch):
    disguise_file(truths, tmp_path / "threads.parquet", PLAN, rng=5)
    monkeypatch.setattr(ParquetSource, "waits", True)
    disguise_file(truths, tmp_path / "alone.parquet", PLAN, rng=5)
    assert (tmp_path / "threads.parquet").read_bytes() == (tmp_path / "alone.parquet").read_bytes()


def test_row_groups_have_one_size(truths, tmp_path, monkeypatch):
    """Groups of 4,000 values in three columns: 1,333 of the 5,000 rows in each group but the last."""
    monkeypatch.setattr(sinks, "GROUP_VALUES", 4_000)
    disguise_file(truths, tmp_path / "r.parquet", PLAN)
    groups = pq.ParquetFile(tmp_path / "r.parquet").metadata
    assert [groups.row_group(n).num_rows for n in range(groups.num_row_groups)] == [1333, 1333, 1333, 1001]


def test_a_last_row_group_that_is_full_has_no_empty_one_after_it(truths, tmp_path, monkeypatch):
    monkeypatch.setattr(sinks, "GROUP_ROWS", 2_500)
    disguise_file(truths, tmp_path / "r.parquet", PLAN)
    assert pq.ParquetFile(tmp_path / "r.parquet").metadata.num_row_groups == 2


def test_truths_pass_unchanged_through_coins_that_always_keep(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "BATCH_ROWS", 100)
    rng = np.random.default_rng(2)
    schema = Schema([*SCHEMA, ItemSet("basket", LABELS)])
    columns = {
        "s": [LABELS[n] for n in rng.integers(0, 10, 1000)],
        "b": rng.integers(0, 2, 1000).astype(bool).tolist(),
        "n": rng.integers(0, 20, 1000).tolist(),
        "basket": [LABELS[: rng.integers(0, 10)] for _ in range(1000)],
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    plan = Plan.of(schema, dict.fromkeys(schema.names, Warner(p=1)))
    disguise_file(tmp_path / "t.parquet", tmp_path / "r.csv", plan)
    disguise_file(tmp_path / "r.csv", tmp_path / "r.parquet", plan, again=True)
    assert pq.read_table(tmp_path / "r.parquet").to_pydict() == columns


def test_a_row_group_is_never_in_memory_as_a_whole(tmp_path):
    """Four million plain integers in one row group are 30.5 MiB; buffers and batches take a few each."""
    table = pa.table({"n": np.arange(4_000_000) % 20})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=len(table), use_dictionary=False, compression="none")
    script = (
        "import pyarrow\n"
        "from sottovoce import Attribute, Schema\n"
        "from sottovoce.disguises.tables import disguise_file\n"
        "from sottovoce.plans.budget import new_plan\n"
        "plan = new_plan(Schema([Attribute('n', range(20))]), odds=3)\n"
        "from sottovoce.tables import sink; sink.GROUP_ROWS = 2**17\n"
        "disguise_file('t.parquet', 'r.parquet', plan)\n"
        "print(pyarrow.default_memory_pool().max_memory() / 2**20)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 15


def damaged(path, group, tmp_path):
    """Zeros over the header of a page, in the first column of a row group."""
    chunk = pq.ParquetFile(path).metadata.row_group(group).column(0)
    start = chunk.data_page_offset
    data = bytearray(path.read_bytes())
    data[start : start + 40] = bytes(40)
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(data)
    return broken


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_damaged_row_group_leaves_nothing_behind(form, truths, tmp_path, monkeypatch):
    """The fourth group is damaged: three are read, and disguised, before it shows."""
    monkeypatch.setattr(sources, "BATCH_ROWS", 500)
    monkeypatch.setattr(sinks, "GROUP_ROWS", 500)
    broken = damaged(truths, 3, tmp_path)
    before, seen = sorted(tmp_path.iterdir()), []
    with pytest.raises(SottovoceError, match=r"broken\.parquet must be a whole Parquet file \(.*a damaged one"):
        disguise_file(broken, tmp_path / f"r.{form}", PLAN, progress=lambda done, _: seen.append(done))
    assert seen == [500, 1000, 1500, 2000, 2500, 3000]
    assert sorted(tmp_path.iterdir()) == before


def test_a_flipped_bit_shows_where_pages_have_checksums(tmp_path):
    """Uncompressed numbers: only the checksum knows that one of them was another."""
    path = tmp_path / "truths.parquet"
    pq.write_table(
        pa.table({"n": np.arange(1000) % 20}), path, write_page_checksum=True, compression="none", use_dictionary=False
    )
    offset = pq.ParquetFile(path).metadata.row_group(0).column(0).data_page_offset
    data = bytearray(path.read_bytes())
    data[offset + 1000] ^= 1
    path.write_bytes(data)
    plan = new_plan(Schema([Attribute("n", range(20))]), odds=3)
    with pytest.raises(SottovoceError, match=r"truths\.parquet must be a whole Parquet file \(.*CRC"):
        disguise_file(path, tmp_path / "r.parquet", plan)
    assert sorted(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_a_truncated_file_leaves_nothing_behind(share, truths, tmp_path):
    data = truths.read_bytes()
    truths.write_bytes(data[: int(share * len(data))])
    with pytest.raises(SottovoceError, match=r"truths\.parquet must be a Parquet file"):
        disguise_file(truths, tmp_path / "r.parquet", PLAN)
    assert sorted(tmp_path.iterdir()) == [truths]


def test_a_file_cut_while_it_is_read_leaves_nothing_behind(truths, tmp_path, monkeypatch):
    """A stream that ends in the middle of a row group: the footer was read before the end was gone."""
    monkeypatch.setattr(sources, "BATCH_ROWS", 500)
    opened = ParquetSource(str(truths))
    monkeypatch.setattr(tables, "open_source", lambda _: opened)
    third = pq.ParquetFile(truths).metadata.row_group(2).column(0).data_page_offset
    truths.write_bytes(truths.read_bytes()[: third + 20])
    with pytest.raises(SottovoceError, match=r"truths\.parquet must be a whole Parquet file"):
        disguise_file(truths, tmp_path / "r.parquet", PLAN)
    assert sorted(tmp_path.iterdir()) == [truths]


def test_errors_of_the_operating_system_while_reading_name_the_input(truths, tmp_path, monkeypatch):
    def iter_batches(**_):
        raise OSError(5, "Input/output error")
        yield

    source = ParquetSource(str(truths))
    monkeypatch.setattr(source._file, "iter_batches", iter_batches)
    monkeypatch.setattr(tables, "open_source", lambda _: source)
    with pytest.raises(OSError, match=r"\[Errno 5\] Input/output error: '.*truths\.parquet'"):
        disguise_file(truths, tmp_path / "r.parquet", PLAN)
    assert sorted(tmp_path.iterdir()) == [truths]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_error_of_the_caller_stops_all_stages(form, truths, tmp_path, monkeypatch):
    """The callback fails while both other stages have batches ready."""
    monkeypatch.setattr(sources, "BATCH_ROWS", 10)

    def progress(done, _):
        if done == 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        disguise_file(truths, tmp_path / f"r.{form}", PLAN, progress=progress)
    assert sorted(tmp_path.iterdir()) == [truths]


def test_unknown_values_are_named_through_the_pipeline(truths, tmp_path):
    plan = new_plan(Schema([Attribute("s", LABELS[:9]), *list(SCHEMA)[1:]]), odds=3)
    with pytest.raises(SottovoceError, match=r"^s must be one of its categories \(.*\)\. Got 'category 9'"):
        disguise_file(truths, tmp_path / "r.parquet", plan)
    assert sorted(tmp_path.iterdir()) == [truths]


SCRIPT = """
import signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from sottovoce.disguises.tables import disguise_file
from sottovoce.plans.budget import new_plan
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.schema import Schema
from sottovoce.tables import sink, source
source.BATCH_ROWS = sink.GROUP_ROWS = 1000
plan = new_plan(Schema([Attribute("n", range(200))]), odds=3)
def progress(done, _):
    if done == 2000:
        print("ready", flush=True)
        sys.stdin.readline()
disguise_file("t.parquet", sys.argv[1], plan, progress=progress)
"""


@pytest.fixture
def many(tmp_path):
    pq.write_table(pa.table({"n": np.arange(300_000) % 200}), tmp_path / "t.parquet")
    return tmp_path


@pytest.mark.parametrize("reports", ["r.csv", "r.parquet"])
def test_a_disk_that_fills_up_while_others_read_on_names_the_output(reports, many):
    """RLIMIT_FSIZE stands for the full disk; 40 kB are reached long before the last batch is read."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, reports],
        cwd=many,
        input="\n",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("OSError: [Errno 27]")
    assert done.stderr.splitlines()[-1].endswith(f": '{reports}'")
    assert [path.name for path in many.iterdir()] == ["t.parquet"]


@pytest.mark.parametrize("reports", ["r.csv", "r.parquet"])
def test_an_interrupt_leaves_nothing_behind(reports, many):
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, reports], cwd=many, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=-1
    ) as child:
        assert child.stdout.readline() == b"ready\n"
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=120)
    assert b"KeyboardInterrupt" in errors
    assert [path.name for path in many.iterdir()] == ["t.parquet"]
