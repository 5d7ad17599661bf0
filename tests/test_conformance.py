"""Conformance vectors: the committed ones are the code's, and a client written from docs/format.md alone agrees.

The client below shares nothing with the package. A new kind of mechanism needs a class here, written from that page.
"""

import json
import subprocess
import sys
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate
from math import gcd, prod
from pathlib import Path

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.mechanism.mechanism import mechanism_kinds
from sottovoce.plan.document import plan_from_text
from sottovoce.scheme.scheme import schemes

ROOT = Path(__file__).parent.parent
FILES = {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "conformance").glob("*.json"))}


def vectors(file: str) -> list:
    return [pytest.param(vector, id=vector["name"]) for vector in FILES[file]["vectors"]]


class RefusedError(Exception):
    """The client will not use this document."""


def require(condition: object, rule: str) -> None:
    if not condition:
        raise RefusedError(rule)


def whole(text: object) -> int:
    require(isinstance(text, str) and text and set(text) <= set("0123456789"), f"no integer as text: {text!r}")
    return int(text)


def canonical(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, str):
        short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
        return '"' + "".join(short.get(c, c if c >= " " else f"\\u{ord(c):04x}") for c in value) + '"'
    return {True: "true", False: "false", None: "null"}[value] if type(value) is not int else str(value)


def flip(sides: list[int], stream: list[int], used: int) -> tuple[list[int], int]:
    """What the coins of one record show, and how many words are used after it."""
    while True:
        shown, accepted = [], True
        for d in sides:
            wide = d > 2**32 or 2**32 % d > 2**20
            u = stream[used] * 2**32 + stream[used + 1] if wide else stream[used]
            used += 2 if wide else 1
            step = (2**64 if wide else 2**32) // d
            accepted = accepted and u < step * d
            shown.append(u // step)
        if accepted:
            return shown, used


def owner(runs: list[int], side: int) -> int:
    return next(i for i, end in enumerate(accumulate(runs)) if side < end)


def number(codes: list[int], sizes: list[int]) -> int:
    joint = 0
    for code, size in zip(codes, sizes, strict=True):
        joint = joint * size + code
    return joint


def split(joint: int, sizes: list[int]) -> list[int]:
    codes = []
    for size in reversed(sizes):
        joint, code = divmod(joint, size)
        codes.insert(0, code)
    return codes


class Diagonal:
    def __init__(self, sizes: list[int], json: dict) -> None:
        self.sizes, self.n = sizes, prod(sizes)
        self.truth, self.other = whole(json["truth"]), whole(json["other"])
        require(gcd(self.truth, self.other) == 1, "lowest terms")
        self.coins, self.one_column = [self.truth + (self.n - 1) * self.other], False
        low, high = sorted([self.truth, self.other])
        self.odds = Fraction(high, low) if low else None

    def respond(self, codes: list[int], shown: list[int]) -> list[int]:
        x, s = number(codes, self.sizes), shown[0]
        y = x if s < self.truth else x + 1 + (s - self.truth) // self.other
        return split(y - self.n if y >= self.n else y, self.sizes)


class Replacement:
    def __init__(self, sizes: list[int], json: dict) -> None:
        self.sizes, self.kept, self.one_column = sizes, whole(json["kept"]), False
        self.known, sides = [[whole(w) for w in law] for law in json["known"]], whole(json["sides"])
        require([len(law) for law in self.known] in (sizes, [prod(sizes)]), "lengths of known")
        require(self.kept <= sides and all(gcd(*law) == 1 for law in [[self.kept, sides], *self.known]), "lowest terms")
        self.coins = [sides, *map(sum, self.known)]
        rarest = (sides - self.kept) * prod(map(min, self.known))
        self.odds = 1 + Fraction(self.kept * prod(self.coins[1:]), rarest) if rarest else None
        self.odds = Fraction(1) if self.kept == 0 else self.odds

    def respond(self, codes: list[int], shown: list[int]) -> list[int]:
        drawn = [owner(law, side) for law, side in zip(self.known, shown[1:], strict=True)]
        drawn = drawn if len(drawn) == len(self.sizes) else split(drawn[0], self.sizes)
        return codes if shown[0] < self.kept else drawn


class Listed:
    def __init__(self, sizes: list[int], json: dict) -> None:
        self.sizes, self.matrix = sizes, [[whole(entry) for entry in row] for row in json["matrix"]]
        require(self.matrix and all(len(row) == prod(sizes) for row in self.matrix), "a column for each cell")
        self.columns = list(zip(*self.matrix, strict=True))
        require(len({sum(column) for column in self.columns}) == 1, "columns with the same sum")
        require(gcd(*(entry for row in self.matrix for entry in row)) == 1, "lowest terms")
        names = json.get("reports", range(len(self.matrix)))
        require(len(names) == len(set(names)) == len(self.matrix), "a name for each report")
        self.coins = [sum(self.columns[0])]
        self.one_column = "reports" in json or len(self.matrix) != prod(sizes)
        rows = [row for row in self.matrix if any(row)]
        self.odds = max(Fraction(max(row), min(row)) for row in rows) if all(map(all, rows)) else None

    def respond(self, codes: list[int], shown: list[int]) -> list[int]:
        row = owner(self.columns[number(codes, self.sizes)], shown[0])
        return [row] if self.one_column else split(row, self.sizes)


MECHANISMS = {"diagonal": Diagonal, "replacement": Replacement, "listed": Listed}


def sizes_of(attribute: dict) -> list[int]:
    kind, missing = attribute["kind"], attribute.get("missing")
    require(kind in ("categories", "bins", "items"), f"kind of attribute {kind!r}")
    names = attribute[{"categories": "categories", "bins": "labels", "items": "items"}[kind]]
    names = [*names, missing] if kind == "bins" and missing is not None else names
    require(len(set(names)) == len(names) >= (1 if kind == "items" else 2), "names that differ")
    require(kind != "categories" or missing is None or missing in names, "missing is a category")
    return [2] * len(names) if kind == "items" else [len(names)]


class Client:
    """Reads a plan document, believes nothing of it, and responds."""

    def __init__(self, text: str) -> None:
        try:
            document = json.loads(text)
            require(set(document) == {"plan", "sha256"}, "keys of the document")
            plan = document["plan"]
            require(document["sha256"] == sha256(canonical(plan).encode()).hexdigest(), "hash")
            require(plan["version"] is not True and plan["version"] == 1, "version")
            require(set(plan) == {"version", "schema", "groups", "odds", "prior"}, "keys of the plan")
            self.read(**plan)
        except (ValueError, KeyError, TypeError, AttributeError) as reason:
            raise RefusedError(repr(reason)) from reason

    def read(self, version: int, schema: list, groups: list, odds: str | None, prior: dict | None) -> None:
        sizes, start, self.places = {}, 0, {}
        for attribute in schema:
            require(attribute["name"] not in sizes, "names of attributes differ")
            own = sizes[attribute["name"]] = sizes_of(attribute)
            self.places[attribute["name"]] = list(range(start, start + len(own)))
            start += len(own)
        named = [name for group in groups for name in group["attributes"]]
        require(named and sorted(named) == sorted(sizes), "every attribute once")
        self.groups = [(group["attributes"], self.mechanism(group, sizes)) for group in groups]
        self.coins = [sides for _, mechanism in self.groups for sides in mechanism.coins]
        require(all(1 <= sides <= 2**64 for sides in self.coins), "coins of 1 to 2^64 sides")
        self.check_promise(odds)
        if prior is not None:
            require(set(prior) - {"forced"} == {"source", "note"} and prior["note"], "keys of the prior")
            require(prior["source"] in ("public", "pilot") or prior.get("forced"), "source of the prior")

    @staticmethod
    def mechanism(group: dict, sizes: dict) -> "Diagonal | Replacement | Listed":
        json = group["mechanism"]
        lacking = "the reference client in tests/test_conformance.py lacks the mechanism kind"
        require(json["kind"] in MECHANISMS, f"{lacking} {json['kind']!r}: write it from docs/format.md")
        return MECHANISMS[json["kind"]]([size for name in group["attributes"] for size in sizes[name]], json)

    def check_promise(self, odds: str | None) -> None:
        if odds is not None:
            above, below = map(whole, odds.split("/"))
            require(all(mechanism.odds for _, mechanism in self.groups), "odds are unbounded")
            found = prod(mechanism.odds for _, mechanism in self.groups)
            require(above >= below > 0 and found * below <= above, f"odds {found} above the promise {odds}")

    def respond(self, truth: list[int], shown: list[int]) -> list[int]:
        report, used = {}, 0
        for names, mechanism in self.groups:
            places = [place for name in names for place in self.places[name]]
            own = shown[used : used + len(mechanism.coins)]
            used += len(own)
            codes = mechanism.respond([truth[place] for place in places], own)
            report |= zip([min(places)] if mechanism.one_column else places, codes, strict=True)
        return [report[place] for place in sorted(report)]


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


@pytest.mark.parametrize("vector", vectors("refused"))
def test_forged_documents_are_refused(vector):
    with pytest.raises(RefusedError):
        Client(vector["document"])
    with pytest.raises(SottovoceError) as refusal:
        plan_from_text(vector["document"])
    assert refusal.value.parameter == vector["parameter"]
