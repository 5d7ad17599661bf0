"""The benchmark of a file larger than memory runs, and finds the same with and without keeping bits; that of errors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.itemsets import accuracy
from benchmarks.measure import Row

SCRIPT = "from benchmarks.itemsets.stream import rows; print([row.unit for row in rows()])"


@pytest.mark.slow
def test_any_number_of_transactions(data_sets):
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root / "src"), str(root)])
    environment = os.environ | {"SOTTOVOCE_STREAM_TRANSACTIONS": "100000", "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['seconds', 'MiB', 'seconds', 'MiB']"


def test_errors_of_nothing_have_no_ratio():
    assert Row("lost", "thesis", 0.0, 1.07, "%").to_json()["ratio"] is None
    assert Row("lost", "thesis", 0.5, 1.0, "%").to_json()["ratio"] == 2


def test_errors_are_told_by_length(data_sets, monkeypatch):
    """One disguise of the smallest table: lost and mistaken, by default and by a model, beside either peer."""
    name = ("BMS-WebView-1 (3.4)", 0.003)
    monkeypatch.setattr(accuracy, "TABLES", {name: accuracy.TABLES[name]})
    monkeypatch.setattr(accuracy, "DISGUISES", 1)
    rows = accuracy.rows()
    assert [(row.name, row.peer_name) for row in rows] == [
        (f"BMS-WebView-1 (3.4), 0.3 %, length 4, {kind}{way}", peer)
        for kind in ("lost", "found by mistake")
        for way in ("", ", by a model")
        for peer in ("bare threshold", "thesis")
    ]
    assert [row.peer for row in rows if row.peer_name == "thesis"] == [0, 0, 0, 0]
    assert all(row.ours in {0, 50, 100} for row in rows)
