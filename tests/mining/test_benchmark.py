"""The benchmark of a file larger than memory runs, and finds the same with and without keeping bits; that of errors."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from benchmarks.itemsets import accuracy, intervals, picked
from benchmarks.measure import Row
from sottovoce.datasets.quest import quest_transactions

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


@pytest.mark.slow
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


@pytest.mark.slow
def test_intervals_are_told_by_length(data_sets, monkeypatch):
    """One sample and one disguise of the smallest tables, hidden by nothing where the truth should come out."""
    certain = (*accuracy.FIRST[:2], (1, 1))
    table = ("BMS-WebView-1 (3.4)", 0.003)
    monkeypatch.setattr(intervals, "POPULATIONS", {"certain": (certain, 0, 1, 0.2, (3, 4))})
    monkeypatch.setattr(intervals, "SURVIVING", {"T10I4D2K x10": (0.02, 2000, 2)})
    monkeypatch.setattr(intervals, "TABLES", {table: (accuracy.FIRST, {4: (2, 0, 0)})})
    monkeypatch.setattr(intervals, "CALIBRATED", 1)
    monkeypatch.setattr(intervals, "STATED", ((0.0, 1.01),))
    rows = {row.name: row for row in intervals.rows()}
    for length in (3, 4):
        confidence = rows[f"certain, rules of {length} items, confidence missed by, by a model"]
        assert 0 < confidence.ours < 0.02  # of sampling alone: 596,000 transactions, at least .3 % of them
        assert confidence.ours == pytest.approx(confidence.peer, rel=1e-6)
        assert rows[f"certain, rules of {length} items, lift covered, without"].ours > 50
    (high,), (cover,) = (
        [row.ours for name, row in rows.items() if "length 1, " in name and name.endswith(end)]
        for end in ("survivors too high by", "survivors covered")
    )
    assert abs(high) < 1
    assert cover > 80
    assert rows["BMS-WebView-1 (3.4), 0.3 %, covered by a model"].unit == "%"
    assert rows["probability of 0 to 1.01 by a model, in the mean, beside what is so"].peer <= 1


@pytest.mark.slow
def test_picked_rules_are_told_by_list(monkeypatch):
    """Two disguises of a few baskets: shown, not adjusted and by halves, for each measure and length of the list."""
    small = partial(quest_transactions, 5000, items=100, patterns=50, seed=1)
    monkeypatch.setattr(picked, "CASES", {"small": (small, 1, 0.05)})
    monkeypatch.setattr(picked, "COINS", (0.9, 0.95))
    monkeypatch.setattr(picked, "DISGUISES", 2)
    rows = picked.selected_rules_rows(2)
    assert len(rows) == 27
    assert {row.name.partition(", top")[0] for row in rows} == {"small"}
    for row in rows:
        assert 0 <= row.worst <= row.covered <= 1
        assert row.runs == 2
    adjusted = [row for row in rows if row.name.endswith(("confidence", "lift", "leverage"))]
    assert len(adjusted) == 9
    assert min(row.covered for row in adjusted) > 0.9
    assert max(row.width_cut for row in adjusted) < 1.1
    assert [row.peer_name for row in picked._of_order("small", 1)] == [
        "estimates",
        "highest estimates",
        "highest lower ends",
    ]
