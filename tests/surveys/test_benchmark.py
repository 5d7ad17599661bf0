"""The survey's benchmark runs, and says what it measured; no speed is asserted here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


SHORT = {"SOTTOVOCE_SURVEY_SECONDS": "0.2", "SOTTOVOCE_SURVEY_TURNS": "1", "SOTTOVOCE_SURVEY_MINUTE": "3"}
SHORT |= {"SOTTOVOCE_SURVEY_REPORTS": "2000"}


@pytest.mark.slow
def test_the_benchmark_loads_all_servers(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "run", "survey", "--json", str(tmp_path / "rows.json")],
        cwd=ROOT,
        env=os.environ | SHORT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())["rows"]
    peers = {row["peer_name"] for row in rows}
    assert peers >= {
        "one commit a report",
        "no storage",
        "with invitations, as 0.1",
        "a bare power",
        "after 2 s",
        "while nobody does",
    }
    names = " ".join(row["name"] for row in rows)
    for part in (
        "SQLite, 2 processes",
        "PostgreSQL, 1 process",
        "longest wait for a report",
        "processor slowed down",
        "results page",
    ):
        assert part in names
    assert all(row["ours"] >= 0 for row in rows)
