"""Conformance vectors: the committed ones are the code's, and a client that follows docs/format.md agrees.

A new kind of mechanism needs a class in conformance/client, written from that page.
"""

import json
import subprocess
import sys
from importlib import import_module
from itertools import combinations, product
from math import prod
from pathlib import Path

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.mechanism import mechanism_kinds
from sottovoce.plans.document import plan_from_text
from sottovoce.schemes.scheme import all_schemes

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


@pytest.mark.slow
def test_committed_vectors_are_what_the_code_produces_and_a_changed_one_is_seen(tmp_path):
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
    assert {f"{name} {i}" for name, found in all_schemes().items() for i, _ in enumerate(found.cases())} <= names


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


@pytest.mark.parametrize("vector", vectors("reports"))
def test_every_coin_that_can_matter_is_seen_to_matter(vector):
    """Two records with the same truth, in which only this coin shows another side, make different reports."""
    client, used, records = Client(vector["document"]), 0, []
    for truth, report in zip(vector["truths"], vector["reports"], strict=True):
        shown, used = flip(client.coins, vector["words"], used)
        records.append((truth, shown, report))
    seen = set()
    for (truth, shown, report), (other_truth, other_shown, other_report) in combinations(records, 2):
        if truth == other_truth and report != other_report:
            differing = [coin for coin, sides in enumerate(zip(shown, other_shown, strict=True)) if len(set(sides)) > 1]
            seen |= set(differing) if len(differing) == 1 else set()
    unseen = {coin for coin, sides in enumerate(client.coins) if sides > 1} - seen
    if unseen:
        assert prod(client.coins) * prod(client.sizes) < 10_000, f"coins {unseen} may matter"
        assert not unseen & mattering(client)


def mattering(client) -> set[int]:
    """Coins that make a difference, by all their falls."""
    falls = list(product(*map(range, client.coins)))
    found = set()
    for truth, coin in product(product(*map(range, client.sizes)), range(len(client.coins))):
        by_others: dict = {}
        for shown in falls:
            by_others.setdefault((*shown[:coin], *shown[coin + 1 :]), set()).add(tuple(client.respond(truth, shown)))
        found |= {coin} if any(len(reports) > 1 for reports in by_others.values()) else set()
    return found


def test_what_matters_by_all_falls_of_the_coins():
    """Of a coin that keeps and one that draws, each makes a difference to some truth."""
    (vector,) = (v for v in FILES["reports"]["vectors"] if v["name"] == "unrelated_question 0")
    assert mattering(Client(vector["document"])) == {0, 1}


def test_every_part_of_a_sample_is_picked():
    for vector in FILES["reports"]["vectors"]:
        client, used, picked = Client(vector["document"]), 0, set()
        if json.loads(vector["document"])["plan"]["groups"][0]["mechanism"]["kind"] == "sampling":
            for _ in vector["truths"]:
                shown, used = flip(client.coins, vector["words"], used)
                picked.add(shown[0])
            assert picked == set(range(client.coins[0])), vector["name"]


def test_a_newer_version_is_named_as_such():
    newer = next(v["document"] for v in FILES["refused"]["vectors"] if v["name"] == "a newer version")
    for error, read in ((RefusedError, Client), (SottovoceError, plan_from_text)):
        with pytest.raises(error, match=r"written by a newer version of Sottovoce \(document version 3\)"):
            read(newer)


@pytest.mark.parametrize("vector", vectors("refused"))
def test_forged_documents_are_refused(vector):
    with pytest.raises(RefusedError):
        Client(vector["document"])
    with pytest.raises(SottovoceError) as refusal:
        plan_from_text(vector["document"])
    assert refusal.value.parameter == vector["parameter"]
