"""Conformance vectors: the committed ones are the code's, and a client written from docs/format.md alone agrees.

A new kind of mechanism needs a class in conformance/client, written from that page.
"""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.mechanism.mechanism import mechanism_kinds
from sottovoce.plan.document import plan_from_text
from sottovoce.scheme.scheme import schemes

ROOT = Path(__file__).parent.parent
FILES = {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "conformance").glob("*.json"))}

sys.path.append(str(ROOT))  # the conformance suite is no part of the installed package
Client = import_module("conformance.client.plan").Client
RefusedError = import_module("conformance.client.rules").RefusedError
MECHANISMS = import_module("conformance.client.sampling").MECHANISMS
flip = import_module("conformance.client.coins").flip


def vectors(file: str) -> list:
    return [pytest.param(vector, id=vector["name"]) for vector in FILES[file]["vectors"]]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "conformance", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_committed_vectors_are_what_the_code_produces():
    done = run("check")
    assert done.returncode == 0, done.stderr


def test_writing_repeats_the_same_bytes_and_checking_sees_a_changed_one(tmp_path):
    assert run("write", "--folder", str(tmp_path)).returncode == 0
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {
        p.name: p.read_bytes() for p in (ROOT / "conformance").glob("*.json")
    }
    changed = tmp_path / "coins.json"
    changed.write_text(changed.read_text().replace('"consumed": 8', '"consumed": 9', 1))
    (tmp_path / "reports.json").unlink()
    done = run("check", "--folder", str(tmp_path))
    assert done.returncode == 1
    assert "not what the code produces: coins.json, reports.json; run: python -m conformance write" in done.stderr


def test_files_stay_small():
    """A browser's tests load them; 300 KB is the limit that was set for each."""
    assert set(FILES) == {"coins", "refused", "reports"}
    for path in (ROOT / "conformance").glob("*.json"):
        assert path.stat().st_size < 300_000


def test_every_case_of_every_scheme_has_a_vector():
    names = {vector["name"] for vector in FILES["reports"]["vectors"]}
    assert {f"{name} {i}" for name, found in schemes().items() for i, _ in enumerate(found.cases())} <= names


@pytest.mark.parametrize("kind", sorted(mechanism_kinds()))
def test_the_reference_client_knows_every_kind(kind):
    assert kind in MECHANISMS, f"the reference client lacks the mechanism kind {kind!r}: write it from docs/format.md"


@pytest.mark.parametrize("vector", vectors("coins"))
def test_the_reference_client_shows_the_same_sides(vector):
    used, shown = 0, []
    for _ in vector["shown"]:
        sides, used = flip([int(d) for d in vector["sides"]], vector["words"], used)
        shown.append([str(side) for side in sides])
    assert (shown, used) == (vector["shown"], vector["consumed"])


@pytest.mark.parametrize("vector", vectors("reports"))
def test_the_reference_client_reports_the_same(vector):
    client, used, reports = Client(vector["document"]), 0, []
    for truth in vector["truths"]:
        shown, used = flip(client.coins, vector["words"], used)
        reports.append(client.respond(truth, shown))
    assert (reports, used) == (vector["reports"], vector["consumed"])
    assert used < len(vector["words"])


@pytest.mark.parametrize("vector", vectors("reports"))
def test_the_reference_client_names_the_columns_of_reports_the_same(vector):
    client, plan = Client(vector["document"]), plan_from_text(vector["document"])
    assert client.columns == plan.report_schema.to_json()
    assert client.report_sizes == list(plan.report_schema.sizes)
    assert all(
        code < size for report in vector["reports"] for code, size in zip(report, client.report_sizes, strict=True)
    )


@pytest.mark.parametrize("vector", vectors("refused"))
def test_forged_documents_are_refused(vector):
    with pytest.raises(RefusedError):
        Client(vector["document"])
    with pytest.raises(SottovoceError) as refusal:
        plan_from_text(vector["document"])
    assert refusal.value.parameter == vector["parameter"]
