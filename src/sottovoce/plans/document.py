"""Plans as canonical JSON: stable bytes, a version, and a hash that anyone can recompute.

Canonical JSON has sorted keys, no white space and UTF-8; it holds text, lists, objects and small integers only.
Integers of mechanisms are decimal text, so that no reader rounds them. A plan document is
`{"plan": ..., "sha256": ...}` with the hash of the canonical bytes of `plan`.
"""

import json
from hashlib import sha256
from typing import Any

from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import odds
from sottovoce.mechanisms.mechanism import mechanism_from_json
from sottovoce.plans.canonical import canonical_bytes, check_version
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Group, Plan, PriorSource
from sottovoce.plans.public import public_from_json
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.scheme import all_schemes

VERSION = 2
"""Newest version of plan documents that this release reads; a plan that needs nothing new is written as version 1."""

_KEYS = {1: {"version", "schema", "groups", "odds", "prior"}}
_KEYS[2] = _KEYS[1] | {"public"}


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """Return a plan as JSON: version 1, or version 2 if it has public columns."""
    return plan.to_json()


def plan_hash(plan: Plan) -> str:
    """SHA-256 of the canonical bytes in hexadecimal, which identifies the plan."""
    return plan.hash


def plan_to_text(plan: Plan) -> str:
    """Plan document: the plan and its hash."""
    return canonical_bytes({"plan": plan_to_json(plan), "sha256": plan_hash(plan)}).decode()


def plan_from_text(text: str | bytes, expected_hash: str | None = None) -> Plan:
    """Read a plan document; refuse a newer version, a wrong hash, or odds above the stated ones."""
    try:
        document = json.loads(text)
        written = canonical_bytes(document)
    except (ValueError, RecursionError) as reason:
        raise SottovoceError("plan", f"must be JSON ({reason})", Words("something else")) from None
    if not isinstance(document, dict) or set(document) != {"plan", "sha256"}:
        raise SottovoceError("plan", "must be a document with the keys plan and sha256", written)
    actual = sha256(canonical_bytes(document["plan"])).hexdigest()
    for stated in (document["sha256"], expected_hash or actual):
        if stated != actual:
            raise SottovoceError("sha256", f"must be the hash of the plan, {actual}", stated)
    return plan_from_json(document["plan"])


def plan_from_json(document: Any) -> Plan:
    """Read what `plan_to_json` wrote, and recompute every guarantee from the integers.

    A plan can be written in one way only. A document that this release would write differently is refused, so that
    the hash covers nothing that was not read.
    """
    version: Any = document.get("version") if isinstance(document, dict) else None
    check_version("plan", version, VERSION)
    if version == 2 and not document.get("public"):
        raise SottovoceError("version", "must be 1 for a plan without public columns", version)
    if set(document) != _KEYS[version]:
        raise SottovoceError("plan", f"must have the keys {sorted(_KEYS[version])}", sorted(document))
    schema = Schema.from_json(document["schema"])
    try:
        groups = tuple(_group(schema, group) for group in document["groups"])
        prior = None if document["prior"] is None else PriorSource(**document["prior"])
    except (KeyError, TypeError) as reason:
        raise SottovoceError("plan", f"must be complete ({reason})", Words("an incomplete one")) from None
    promise = None if document["odds"] is None else odds("odds", document["odds"])
    public = public_from_json(document["public"]) if version == 2 else ()
    plan = Plan(schema, groups, Guarantee(promise), prior, public)
    if canonical_bytes(plan_to_json(plan)) != canonical_bytes(document):
        raise SottovoceError("plan", "must be written in its canonical form", canonical_bytes(document))
    return plan


def _group(schema: Schema, entry: dict[str, Any]) -> Group:
    if entry["scheme"] not in all_schemes():
        raise SottovoceError("scheme", f"must be one of {', '.join(sorted(all_schemes()))}", entry["scheme"])
    names = tuple(entry["attributes"])
    mechanism = mechanism_from_json(schema.project(names).sizes, entry["mechanism"])
    return Group(names, entry["scheme"], mechanism)
