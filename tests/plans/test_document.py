"""Plan documents: stable bytes, a hash anyone can recompute, and every forgery refused."""

import json
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.plans.canonical import canonical_bytes
from sottovoce.plans.document import plan_from_json, plan_from_text, plan_hash, plan_to_json, plan_to_text
from sottovoce.plans.plan import Plan, PriorSource
from sottovoce.schemas.attribute import boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.warner import Warner

SMALL = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=Fraction(3, 4))})
SMALL_BYTES = (
    b'{"groups":[{"attributes":["tax"],"mechanism":{"kind":"diagonal","other":"1","truth":"3"},"scheme":"warner"}],'
    b'"odds":"3/1","prior":null,"schema":[{"categories":[false,true],"kind":"categories","name":"tax"}],"version":1}'
)


def test_canonical_bytes_are_frozen():
    """These bytes are what earlier plans were hashed from: a change here is a new version."""
    assert canonical_bytes(plan_to_json(SMALL)) == SMALL_BYTES
    assert plan_hash(SMALL) == sha256(SMALL_BYTES).hexdigest()


def test_round_trip(plan):
    assert plan_from_text(plan_to_text(plan)) == plan
    assert plan_from_text(plan_to_text(plan).encode(), plan_hash(plan)) == plan


def test_odds_of_thousands_of_items_are_written_in_full():
    """More digits than Python's own conversion of integers takes, 4,300: (.535 / .0042)^3340, as in BMS-WebView-2."""
    items = ItemSet("basket", range(3340))
    plan = Plan.of(Schema([items]), {"basket": Emask(p=0.535, q=0.9958)})
    text = plan_to_text(plan)
    found = plan_from_text(text)
    assert found == plan
    assert found.guarantee.odds == Fraction(2675, 21) ** 3340
    assert len(json.loads(text)["plan"]["odds"]) > 8000
    assert repr(plan.guarantee) == "Guarantee(1.11945e+7031 : 1 (epsilon 16189.6))"
    assert Fraction(*map(int, map(Decimal, found.guarantee.exact.split("/")))) == plan.guarantee.odds


def test_the_order_of_keys_and_white_space_do_not_matter(plan):
    loose = json.dumps(json.loads(plan_to_text(plan)), indent=3)
    assert plan_hash(plan_from_text(loose)) == plan_hash(plan)


def test_priors_survive():
    plan = Plan.of(SMALL.schema, {"tax": Warner(0.6)}, prior=PriorSource("pilot", "wave 1, disguised"))
    assert plan_from_text(plan_to_text(plan)).prior == plan.prior


def test_documents_hold_no_number_that_a_reader_could_round(plan):
    def walk(node):
        if isinstance(node, dict):
            yield from (leaf for value in node.values() for leaf in walk(value))
        elif isinstance(node, list):
            yield from (leaf for value in node for leaf in walk(value))
        else:
            yield node

    leaves = list(walk(plan_to_json(plan)))
    assert not any(isinstance(leaf, float) for leaf in leaves)
    assert all(abs(leaf) < 2**53 for leaf in leaves if isinstance(leaf, int))


def forged(**changes) -> dict:
    return plan_to_json(SMALL) | changes


def with_mechanism(**changes) -> dict:
    document = json.loads(SMALL_BYTES)
    document["groups"][0]["mechanism"] |= changes
    return document


@pytest.mark.parametrize(
    ("document", "parameter"),
    [
        (forged(version=2), "version"),
        (forged(version="1"), "version"),
        (forged(extra=1), "plan"),
        ({"version": 1}, "plan"),
        ([], "version"),
        (forged(groups=[]), "groups"),
        (forged(groups=[{"attributes": ["tax"]}]), "plan"),
        (forged(groups=7), "plan"),
        (forged(groups=[{"attributes": ["tax"], "scheme": "magic", "mechanism": {}}]), "scheme"),
        (forged(odds="5/2"), "odds"),
        (forged(odds="1/2"), "odds"),
        (forged(odds=float), "odds"),
        (forged(prior={"source": "private", "note": "x"}), "source"),
        (forged(prior={"where": "x"}), "plan"),
        (forged(schema={}), "schema"),
        (forged(version=True), "plan"),
        (forged(version=1.0), "plan"),
        (forged(odds=3), "plan"),
        (forged(odds="6/2"), "plan"),
        (forged(prior={"source": "public", "note": "x", "forced": False}), "plan"),
        (forged(schema=[{"kind": "categories", "name": "tax", "categories": [False, True], "missing": None}]), "plan"),
        (with_mechanism(truth="03"), "plan"),
        (with_mechanism(extra="1"), "plan"),
        (with_mechanism(truth="4"), "odds"),
        (with_mechanism(other="0"), "truth"),
        (with_mechanism(kind="listed"), "mechanism"),
    ],
)
def test_forgeries_are_refused(document, parameter):
    """Odds above the promise are recomputed from the integers, never believed."""
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        plan_from_json(document)


def test_a_promise_may_be_larger_than_the_odds_but_not_smaller():
    assert plan_from_json(forged(odds="4/1")).guarantee.odds == 3
    assert plan_from_json(forged(odds=None)).guarantee.odds == 3


def test_wrong_hashes_are_refused():
    document = json.loads(plan_to_text(SMALL))
    document["sha256"] = "0" * 64
    with pytest.raises(SottovoceError, match=r"^sha256 must be the hash of the plan"):
        plan_from_text(json.dumps(document))
    with pytest.raises(SottovoceError, match=r"^sha256 must be the hash of the plan"):
        plan_from_text(plan_to_text(SMALL), "f" * 64)
    document["sha256"] = None
    with pytest.raises(SottovoceError, match=r"^sha256 must be the hash of the plan"):
        plan_from_text(json.dumps(document))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"plan": {}}',
        b"\xff\xfe",
        '{"plan": NaN, "sha256": ""}',
        '{"plan": "\\ud800", "sha256": ""}',
        "[" * 10**5,
    ],
)
def test_what_is_no_document_is_refused(text):
    with pytest.raises(SottovoceError, match=r"^plan must be"):
        plan_from_text(text)
