"""Forged plans: a small good one, and one change a time that every reader must refuse."""

import json
from collections.abc import Iterator
from copy import deepcopy
from hashlib import sha256
from typing import Any

from sottovoce.plans.canonical import canonical_bytes

Json = dict[str, Any]
Forgery = tuple[str, str | None, Any]
"""What is wrong, the parameter that the refusal names (None: whichever it names), and the plan or text."""

ATTRIBUTE: Json = {"kind": "categories", "name": "tax", "categories": [False, True]}
OTHER: Json = {"kind": "categories", "name": "drug", "categories": ["never", "once"]}
DIAGONAL: Json = {"kind": "diagonal", "truth": "3", "other": "1"}
GROUP: Json = {"attributes": ["tax"], "scheme": "warner", "mechanism": DIAGONAL}
GOOD: Json = {"version": 1, "schema": [ATTRIBUTE], "groups": [GROUP], "odds": "3/1", "prior": None}

REGION: Json = {"kind": "categories", "name": "region", "categories": ["north", "south"]}
WEIGHT: Json = {"kind": "number", "name": "weight"}
SECOND: Json = GOOD | {"version": 2, "public": [REGION, WEIGHT]}
"""A good plan of version 2: it has public columns."""


def document(plan: Any) -> str:
    """Text of a document whose hash is right, whatever the plan."""
    found = sha256(canonical_bytes(plan)).hexdigest()
    return canonical_bytes({"plan": plan, "sha256": found}).decode()


def no_documents() -> Iterator[Forgery]:
    """Texts that are no document, and hashes that are not the plan's."""
    good = document(GOOD)
    stated = json.loads(good)["sha256"]
    yield "no text", "plan", ""
    yield "JSON that is cut off", "plan", good[:-1]
    yield "JSON with something after it", "plan", good + "}"
    yield "JSON in single quotes", "plan", good.replace('"', "'")
    yield "a list", "plan", "[]"
    yield "null", "plan", "null"
    yield "no hash", "plan", json.dumps({"plan": GOOD})
    yield "no plan", "plan", json.dumps({"sha256": stated})
    yield "an unknown key beside plan and sha256", "plan", json.dumps({**json.loads(good), "signature": ""})
    yield "a wrong hash", "sha256", good.replace(stated, "0" * 64)
    yield "null for a hash", "sha256", good.replace(f'"{stated}"', "null")
    yield "a hash in capitals", "sha256", good.replace(stated, stated.upper())
    yield "the hash of another plan", "sha256", good.replace('"truth":"3"', '"truth":"2"')


def plans() -> Iterator[Forgery]:
    """Other versions, keys that are unknown or lacking, promises that are none or not kept, priors."""
    yield "an unknown version", "version", GOOD | {"version": 2}
    yield "a version written as text", "version", GOOD | {"version": "1"}
    yield "a version that only equals 1", "plan", GOOD | {"version": True}
    yield "an unknown key", "plan", GOOD | {"extra": None}
    for key in GOOD:
        parameter = "version" if key == "version" else "plan"
        yield f"no key {key}", parameter, {k: v for k, v in GOOD.items() if k != key}
    yield "a plan that is a list", "version", []
    yield "odds above the promise", "odds", GOOD | {"odds": "5/2"}
    yield "a promise below 1 : 1", "odds", GOOD | {"odds": "1/2"}
    yield "a promise over nothing", "odds", GOOD | {"odds": "3/0"}
    yield "a promise in words", "odds", GOOD | {"odds": "three"}
    yield "a promise that is not in lowest terms", "plan", GOOD | {"odds": "6/2"}
    yield "a promise that is no text", "plan", GOOD | {"odds": 3}
    yield "an unknown key in a group", "plan", GOOD | {"groups": [GROUP | {"extra": None}]}
    twice = [GROUP, GROUP | {"attributes": ["drug"]}]
    yield "odds of two groups above the promise", "odds", _two(twice) | {"odds": "8/1"}
    yield "an unknown source of the prior", "source", GOOD | {"prior": {"source": "hearsay", "note": "x"}}
    yield "a private prior that is not forced", "source", GOOD | {"prior": {"source": "private", "note": "x"}}
    yield "a prior without a note", "note", GOOD | {"prior": {"source": "public", "note": ""}}
    yield "a prior with an unknown key", "plan", GOOD | {"prior": {"source": "public", "note": "x", "where": "x"}}


def schemas() -> Iterator[Forgery]:
    """Attributes that are none, and groups that do not cover each of them once."""
    for wrong, parameter, schema in [
        ("a schema that is no list", "schema", {}),
        ("no attributes", "variables", []),
        ("an unknown kind of attribute", "kind", [ATTRIBUTE | {"kind": "magic"}]),
        ("an attribute without categories", "schema", [{"kind": "categories", "name": "tax"}]),
        ("a single category", "categories", [ATTRIBUTE | {"categories": [False]}]),
        ("a category twice", "categories", [ATTRIBUTE | {"categories": ["no", "no"]}]),
        ("an attribute twice", "variables", [ATTRIBUTE, ATTRIBUTE]),
        ("a missing category that is none", "missing", [ATTRIBUTE | {"missing": "no answer"}]),
        ("categories of several kinds", "categories", [ATTRIBUTE | {"categories": ["no", True]}]),
        ("an attribute without a name", "name", [ATTRIBUTE | {"name": ""}]),
        ("no items", "items", [{"kind": "items", "name": "tax", "items": []}]),
        ("an item that is no label", "items", [{"kind": "items", "name": "tax", "items": [None]}]),
        ("an item with a separator in it", "items", [{"kind": "items", "name": "tax", "items": ["a;b"]}]),
    ]:
        yield wrong, parameter, GOOD | {"schema": schema}
    yield "no groups", "groups", GOOD | {"groups": []}
    yield "groups that are no list", "plan", GOOD | {"groups": 7}
    yield "a group without a mechanism", "plan", GOOD | {"groups": [{"attributes": ["tax"], "scheme": "warner"}]}
    yield "an attribute that no group covers", "groups", _two([GROUP])
    yield "an attribute covered by two groups", "groups", GOOD | {"groups": [GROUP, GROUP], "odds": "9/1"}
    yield "an attribute twice in a group", "variables", GOOD | {"groups": [GROUP | {"attributes": ["tax", "tax"]}]}
    yield "an unknown attribute", "name", GOOD | {"groups": [GROUP | {"attributes": ["taxes"]}]}


def versions() -> Iterator[Forgery]:
    """Versions that are not those of the plan's keys, and public columns that are none."""
    yield "a newer version", "version", SECOND | {"version": 3}
    yield "version 0", "version", GOOD | {"version": 0}
    yield "public columns in version 1", "plan", SECOND | {"version": 1}
    yield "version 2 without public columns", "version", SECOND | {"public": []}
    for wrong, parameter, public in [
        ("public columns that are no list", "public", {"weight": "number"}),
        ("a public column that is no object", "kind", ["weight"]),
        ("a public column that is disguised", "public", [ATTRIBUTE]),
        ("a public number that is disguised", "public", [WEIGHT | {"name": "tax"}]),
        ("a public column twice", "public", [REGION, WEIGHT, REGION]),
        ("a public set of items", "public", [{"kind": "items", "name": "pets", "items": ["cat", "dog"]}]),
        ("a public column of an unknown kind", "kind", [WEIGHT | {"kind": "text"}]),
        ("a public column with one category", "categories", [REGION | {"categories": ["north"]}]),
        ("a public number without a name", "name", [WEIGHT | {"name": ""}]),
        ("a public number with an unknown key", "plan", [WEIGHT | {"unit": "kg"}]),
    ]:
        yield wrong, parameter, SECOND | {"public": public}
    subset = {"kind": "subset", "size": "1", "kept": "1", "sides": "2"}
    joint = [{"attributes": ["tax", "drug"], "scheme": "subset_selection", "mechanism": subset}]
    named = {"version": 2, "public": [WEIGHT | {"name": "tax+drug"}]}
    yield "a public column with the name of a report", "public", _two(joint) | named


def _two(groups: list[Json]) -> Json:
    return deepcopy(GOOD) | {"schema": [ATTRIBUTE, OTHER], "groups": groups}
