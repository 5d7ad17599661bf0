"""The benchmarks' command line and the shape of what it writes; no speed is asserted here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_benchmarks_are_listed():
    assert {"kronecker", "startup"} <= set(run("list").stdout.split())


@pytest.mark.slow
def test_rows_are_written_as_json(tmp_path):
    assert run("run", "startup", "--json", str(tmp_path / "rows.json")).returncode == 0
    rows = json.loads((tmp_path / "rows.json").read_text())["rows"]
    for row in rows:
        assert set(row) == {"name", "peer_name", "ours", "peer", "unit", "ratio"}
        assert row["ratio"] == (None if row["peer"] is None else row["peer"] / row["ours"])


def test_unknown_benchmarks_are_refused():
    done = run("run", "magic")
    assert done.returncode == 2
    assert "invalid choice: 'magic'" in done.stderr


@pytest.mark.slow
def test_the_benchmark_measures_any_number_of_values():
    """A thousand values here; the memory that an interpreter with pyarrow takes is below the limit."""
    script = (
        "import json; from benchmarks.disguise.stream import rows; print(json.dumps([r.to_json() for r in rows()]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=os.environ | {"SOTTOVOCE_STREAM_VALUES": "1000"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    time, memory = json.loads(done.stdout)
    assert (time["unit"], memory["unit"]) == ("ns per value", "MiB")
    assert 0 < memory["ours"] < 512


@pytest.mark.slow
def test_frames_are_measured_beside_the_kernels():
    """A thousand rows here: every kind of column is disguised and estimated, and has a peer."""
    script = (
        "import json; from benchmarks.scale.face import columns;"
        "print(json.dumps([row.to_json() for row in columns(1000)]))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {row["peer_name"] for row in rows} == {"kernel", "dictionary"}
    assert sum(row["name"].startswith("sv.disguise") for row in rows) == len(rows) / 2 == 18
    assert all(row["ours"] > 0 and row["peer"] > 0 for row in rows)
