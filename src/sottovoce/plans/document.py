"""A plan as canonical JSON: stable bytes, a version, and a hash that anyone can recompute.

The canonical form holds text, lists, objects and small integers only: keys sorted, no white space,
UTF-8. Integers of mechanisms are decimal text, so that no reader rounds them. A plan document is
`{"plan": ..., "sha256": ...}`, the hash being that of the canonical bytes of `plan`.
"""

import json
from hashlib import sha256
from typing import Any

from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import odds, ratio_text
from sottovoce.mechanisms.mechanism import mechanism_from_json
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Group, Plan, PriorSource
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.scheme import schemes

VERSION = 1
_KEYS = {"version", "schema", "groups", "odds", "prior"}


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """Everything a plan is, in plain JSON."""
    return {
        "version": VERSION,
        "schema": plan.schema.to_json(),
        "groups": [group.to_json() for group in plan.groups],
        "odds": None if plan.promise.odds is None else ratio_text(plan.promise.odds),
        "prior": None if plan.prior is None else plan.prior.to_json(),
    }


def canonical_bytes(document: Any) -> bytes:
    """One way to write a JSON value: sorted keys, no white space, UTF-8.

    >>> canonical_bytes({"b": 1, "a": ["é"]}).decode()
    '{"a":["é"],"b":1}'
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def plan_hash(plan: Plan) -> str:
    """SHA-256 of the canonical bytes, in hexadecimal: the name of the plan."""
    return sha256(canonical_bytes(plan_to_json(plan))).hexdigest()


def plan_to_text(plan: Plan) -> str:
    """Document with the plan and its hash, to be kept beside the data."""
    return canonical_bytes({"plan": plan_to_json(plan), "sha256": plan_hash(plan)}).decode()


def plan_from_text(text: str | bytes, expected_hash: str | None = None) -> Plan:
    """Read a plan document; refuse another version, a wrong hash, or odds above the stated ones."""
    try:
        document = json.loads(text)
        written = canonical_bytes(document)
    except (ValueError, RecursionError) as reason:
        raise SottovoceError("plan", f"must be JSON ({reason})", Words("something else")) from None
    if not isinstance(document, dict) or set(document) != {"plan", "sha256"}:
        raise SottovoceError("plan", "must be a document with the keys plan and sha256", written)
    found = sha256(canonical_bytes(document["plan"])).hexdigest()
    for stated in (document["sha256"], expected_hash or found):
        if stated != found:
            raise SottovoceError("sha256", f"must be the hash of the plan, {found}", stated)
    return plan_from_json(document["plan"])


def plan_from_json(document: Any) -> Plan:
    """Read what `plan_to_json` wrote, recomputing every guarantee from the integers.

    A plan has one way to be written: whatever this release would write differently is refused, so
    that nothing unread hides behind the hash.
    """
    if not isinstance(document, dict) or document.get("version") != VERSION:
        version = document.get("version") if isinstance(document, dict) else document
        raise SottovoceError("version", f"must be {VERSION}, the one this release reads", version)
    if set(document) != _KEYS:
        raise SottovoceError("plan", f"must have the keys {sorted(_KEYS)}", sorted(document))
    schema = Schema.from_json(document["schema"])
    try:
        groups = tuple(_group(schema, group) for group in document["groups"])
        prior = None if document["prior"] is None else PriorSource(**document["prior"])
    except (KeyError, TypeError) as reason:
        raise SottovoceError("plan", f"must be written in full ({reason})", Words("one that is not")) from None
    promise = None if document["odds"] is None else odds("odds", document["odds"])
    plan = Plan(schema, groups, Guarantee(promise), prior)
    if canonical_bytes(plan_to_json(plan)) != canonical_bytes(document):
        raise SottovoceError("plan", "must be written in the one way there is", canonical_bytes(document))
    return plan


def _group(schema: Schema, entry: dict[str, Any]) -> Group:
    if entry["scheme"] not in schemes():
        raise SottovoceError("scheme", f"must be one of {', '.join(sorted(schemes()))}", entry["scheme"])
    names = tuple(entry["attributes"])
    mechanism = mechanism_from_json(schema.project(names).sizes, entry["mechanism"])
    return Group(names, entry["scheme"], mechanism)
