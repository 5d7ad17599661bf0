"""The figures of Zhan & Matwin (2006), quickly: every row has the verdict that the full run has."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

UNSAID = {"related, theta = 0.51, mean", "related, theta = 0.51, variance"}
"""The paper does not say what it does with negative estimates, which are common there."""


def failing(identifier: str, folder: Path) -> set[str]:
    result, picture = folder / "result.json", folder / "figure.png"
    files = ("--json", str(result), "--figure", str(picture))
    command = [sys.executable, "-m", "papers", "run", identifier, "--quick", *files]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    assert picture.stat().st_size > 1000
    rows = json.loads(result.read_text())["rows"]
    assert rows
    return {row["name"] for row in rows if row["verdict"] in ("differs", "claim fails")}


def test_privacy_of_an_entry(tmp_path):
    assert not failing("nb-fig6", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 3, 4, 5, 7])
def test_accuracies(data_sets, tmp_path, number):
    assert failing(f"nb-fig{number}", tmp_path) <= UNSAID
