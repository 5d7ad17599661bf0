"""The figures of Zhan & Matwin (2006), quickly: a verdict is that of the full run, or too few runs to tell."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def verdicts(identifier: str, folder: Path) -> dict[str, str]:
    result, picture = folder / "result.json", folder / "figure.png"
    files = ("--json", str(result), "--figure", str(picture))
    command = [sys.executable, "-m", "papers", "run", identifier, "--quick", *files]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    assert picture.stat().st_size > 1000
    rows = json.loads(result.read_text())["rows"]
    assert rows
    return {row["name"]: row["verdict"] for row in rows}


def test_privacy_of_an_entry(tmp_path):
    assert set(verdicts("nb-fig6", tmp_path).values()) == {"claim holds"}


@pytest.mark.slow
def test_means_of_figure_2(data_sets, tmp_path):
    """By the median, with values in the order of adult.names; at theta = .5 ours is .82 and not .81."""
    found = verdicts("nb-fig2", tmp_path)
    at = "mean accuracy, theta = {}, cut at the {}"
    assert {found[at.format(theta, "median")] for theta in (0.6, 0.7, 0.8, 0.9)} == {"reproduced"}
    assert {found[at.format(theta, "middle")] for theta in (0.5, 0.6, 0.7, 0.8, 0.9)} == {"differs"}
    assert found[at.format(0.5, "median")] == "differs"
    read = {name: verdict for name, verdict in found.items() if name.startswith("undisguised")}
    assert list(read.values()) == ["reproduced", "differs", "differs", "differs"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [3, 4, 5])
def test_accuracies_and_variances(data_sets, tmp_path, number):
    """No claim fails; of variances that are printed with four decimals some are too small here."""
    found = verdicts(f"nb-fig{number}", tmp_path)
    assert "claim fails" not in found.values()
    assert {verdict for name, verdict in found.items() if name.startswith("theta = 1, ")} <= {"claim holds"}
    assert ("differs" in found.values()) == (number == 4)


@pytest.mark.slow
def test_related_against_unrelated(data_sets, tmp_path):
    """No treatment of negative estimates gives the printed mean at theta = .51."""
    found = verdicts("nb-fig7", tmp_path)
    low = [f"related, theta = 0.51, {repair} estimates, mean" for repair in ("plain", "simplex", "em")]
    assert [found[name] for name in low] == ["differs"] * 3
    high = [name for name in found if "mean" in name and ("0.8" in name or "0.9" in name)]
    assert {found[name] for name in high} == {"reproduced"}
    assert found["theta = .51"] == found["odds at theta = .51"] == "claim holds"
