"""The thesis' tables and figures on mining, run again in their quick form."""

import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent.parent
MINING = (
    *(f"emask-fig3.{k}" for k in (1, 2, 3)),
    *(f"emask-table3.{k}" for k in range(2, 8)),
    *(f"frapp-fig4.{k}" for k in range(1, 5)),
    "frapp-table4.3",
)


def rows(identifier: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "papers", "run", identifier, "--quick", "--json", "-"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout[done.stdout.index("{") :])["rows"]


def verdicts(identifier: str) -> dict[str, str]:
    """Of all rows but Delta, which is a matter of the machine."""
    return {row["name"]: row["verdict"] for row in rows(identifier) if not row["name"].endswith("Delta")}


@pytest.fixture
def repeated(monkeypatch):
    """What the tables share, which is no part of the package."""
    monkeypatch.syspath_prepend(str(ROOT))
    return import_module("papers._repeated")


@pytest.mark.slow
def test_every_table_and_figure_has_its_module():
    listed = subprocess.run(
        [sys.executable, "-m", "papers", "list"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert set(MINING) <= {line.split()[0] for line in listed.stdout.splitlines()}


def test_basic_privacy_over_all_coins():
    """The band of high privacy is wider than printed: it ends where `1-q = 4 s / (1-s)`, 4.04 % at s = 1 %."""
    assert verdicts("emask-fig3.2") == {
        "q from .1 to .9": "claim holds",
        "q above .9": "claim fails",
        "q below .1": "claim fails",
    }
    told = {row["name"]: row["ours"] for row in rows("emask-fig3.2")}
    assert told["q above .9"].startswith("for all p up to q = 0.959;")
    assert told["q below .1"].startswith("for all p down to q = 0.041;")


@pytest.mark.slow
def test_counts_of_census(data_sets):
    every = rows("frapp-table4.3")
    census = [row for row in every if row["name"].startswith("CENSUS length")]
    expected = {f"CENSUS length {k}": n for k, n in enumerate((19, 102, 203, 165, 64, 10), start=1)}
    assert {row["name"]: row["ours"] for row in census} == expected
    assert {row["verdict"] for row in census} == {"reproduced"}
    printed = [row["verdict"] for row in every if row["name"].startswith("CENSUS, hours closed on the right")]
    assert printed == ["reproduced", *["differs"] * 5]


@pytest.mark.slow
def test_webview_1_at_half_a_percent(data_sets):
    found = rows("emask-table3.5")
    assert [row["ours"] for row in found[:3]] == [150, 45, 6]
    assert [row["name"] for row in found[:2]] == ["BMS-WebView-1 .5 % length 1", "BMS-WebView-1 .5 % length 2"]
    times = [row for row in found if row["name"] == "BMS-WebView-1 .5 % Delta"]
    assert [row["published"] for row in times] == [1.58]
    assert times[0]["ours"] > 0
    assert {row["verdict"] for row in found if row not in times} <= {"reproduced", "too few runs to tell"}


@pytest.mark.slow
@pytest.mark.parametrize("number", [4, 6, 7])
def test_other_tables_of_clicks(data_sets, number):
    """Numbers of itemsets and basic privacy exactly; reinterrogation privacy by no reading that many runs leave."""
    found = verdicts(f"emask-table3.{number}")
    exact = {verdict for name, verdict in found.items() if re.search(r"length \d$|WebView-\d basic privacy$", name)}
    assert exact == {"reproduced"}
    assert sum("reinterrogation privacy" in name for name in found) == (0 if number == 6 else 11)
    errors = [verdict for name, verdict in found.items() if re.search(r"(sigma[+-]|rho)$", name)]
    assert set(errors) <= {"reproduced", "too few runs to tell"}
    assert errors.count("reproduced") > len(errors) / 2


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 3])
def test_tables_of_synthetic_baskets(data_sets, number):
    """No number of itemsets and no error differs from other data sets of the recipe; basic privacy is a formula."""
    found = verdicts(f"emask-table3.{number}")
    others = {verdict for name, verdict in found.items() if "reinterrogation" not in name}
    assert others <= {"reproduced", "too few runs to tell"}
    assert sum("reinterrogation privacy" in name for name in found) == {2: 12, 3: 0}[number]
    assert found.get("T10I4 basic privacy", "reproduced") == "reproduced"


@pytest.mark.slow
def test_errors_of_census_by_length(data_sets):
    """DET-GD is better than both from length 4 up, where the others find nearly nothing; none off the reference."""
    found = verdicts("frapp-fig4.1")
    assert {found[f"CENSUS length {k} sigma-"] for k in (1, 2)} == {"claim fails"}
    assert "claim fails" not in {found[f"CENSUS length {k} sigma-"] for k in (4, 5, 6)}
    assert {found[f"CENSUS MASK length {k} sigma-"] for k in (5, 6)} == {"reproduced"}
    assert found["C&P above length 3"] == "claim holds"
    references = [verdict for name, verdict in found.items() if name.endswith("reference")]
    assert len(references) == 35
    assert "differs" not in references


def test_references_have_a_column_of_their_own(repeated):
    """Normal errors of 200 disguises: another one's mean of 20 within 1.3 standard errors is the same, at 7 not."""
    reference = import_module("papers._frapp_reference")
    errors = np.ma.masked_invalid(np.random.default_rng(1).normal([10, 40, 5], 2, size=(200, 2, 3)))
    given = {"MASK": ((10.2, 40.2, None, None), (None, 43.3, None, 68))}
    rows = reference.reference_rows("data", given, {"MASK": errors})
    assert {row.name: row.verdict for row in rows} == {
        "data MASK length 1 sigma+, reference": "reproduced",
        "data MASK length 1 sigma-, reference": "reproduced",
        "data MASK length 2 sigma-, reference": "differs",
        "data MASK length 2 F1, reference": "differs",
    }
    assert {row.published for row in rows} == {None}
    assert [row.reference for row in rows] == [10.2, 40.2, 43.3, 68]


def test_f1_from_the_shares_of_lost_and_false_sets(repeated):
    """Of ten sets eight were found, and two others: precision and recall are .8; nothing found is zero."""
    reference = import_module("papers._frapp_reference")
    errors = np.ma.masked_invalid([[[20.0, 20.0, 1.0], [0.0, 100.0, np.nan]]])
    assert reference.with_f1(errors)[0, :, 3].tolist() == pytest.approx([80.0, 0.0])


@pytest.mark.slow
def test_the_private_parameter_does_not_change_errors(data_sets):
    found = verdicts("frapp-fig4.3")
    assert set(found.values()) <= {"reproduced", "claim holds", "too few runs to tell"}
    assert found["lower end at alpha = gamma x / 2"] == found["upper end at alpha = gamma x / 2"] == "reproduced"


def test_printed_errors_differ_on_either_side(repeated):
    errors = np.ma.masked_invalid(np.random.default_rng(1).normal(10, 1, size=(30, 1, 3)))
    rows = repeated.error_rows("data", [(10, 0, 20)], errors)
    assert [row.verdict for row in rows] == ["reproduced", "differs", "differs"]
    assert [row.reason.partition(":")[0] for row in rows[1:]] == ["ours is above", "ours is below"]


@pytest.mark.parametrize(
    ("seen", "possible", "holds"),
    [
        ([False] * 20, True, None),
        ([False] * 200, True, True),
        ([False] * 20, False, True),
        ([False, True], False, False),
    ],
)
def test_that_something_never_happens_needs_many_runs_or_a_proof(repeated, seen, possible, holds):
    lengths = import_module("papers._frapp_lengths")
    assert lengths._never(np.array(seen), possible=possible) is holds


def test_growth_of_condition_numbers(repeated):
    lengths = import_module("papers._frapp_lengths")
    assert [lengths._exponential(each) for each in ([2, 4, 8], [2, 8, np.inf], [2, 4, 6], [4, 2, 1])] == [
        True,
        True,
        False,
        False,
    ]
    assert [lengths._order(number, 5) for number in (3.1e5, 9e5, np.inf)] == [True, False, False]


def test_progress_of_a_part(repeated):
    told = []
    repeated.counted(lambda done, total: told.append((done, total)), 5, 20)(2, 10)
    assert told == [(7, 20)]


def test_errors_that_hardly_any_disguise_has_cannot_be_told(repeated):
    errors = np.ma.masked_invalid([[[1.0, 2.0, np.nan]], [[1.5, 2.5, np.nan]], [[1.2, 2.2, 3.0]]])
    rows = repeated.error_rows("data", [(1.2, 2.2, 3.0)], errors)
    assert [row.verdict for row in rows] == ["reproduced", "reproduced", "too few runs to tell"]
