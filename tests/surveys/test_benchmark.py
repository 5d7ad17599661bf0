"""The survey's benchmark runs, and says what it measured; no speed is asserted here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_benchmark_loads_all_three_servers(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "run", "survey", "--json", str(tmp_path / "rows.json")],
        cwd=ROOT,
        env=os.environ | {"SOTTOVOCE_SURVEY_SECONDS": "0.3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())["rows"]
    assert [(row["peer_name"], row["unit"]) for row in rows] == [
        ("one commit a report", "us per report"),
        ("no storage", "us per report"),
        ("one commit a report", "ms"),
    ]
    assert all(row["ours"] > 0 and row["ratio"] > 0 for row in rows)
