"""The reference client on its own: its odds are those of its reports, and it shares nothing with the package.

tests/test_conformance.py holds it to the vectors.
"""

import ast
import sys
from collections import Counter
from fractions import Fraction
from importlib import import_module
from itertools import product
from pathlib import Path

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.plans.document import plan_from_text
from sottovoce.schemes.random_set import RandomSet

ROOT = Path(__file__).parent.parent

sys.path.append(str(ROOT))  # the conformance suite is no part of the installed package
Client = import_module("conformance.client.plan").Client
RefusedError = import_module("conformance.client.rules").RefusedError
MECHANISMS = import_module("conformance.client.sampling").MECHANISMS
document = import_module("conformance.forgeries").document

SMALL = {
    "diagonal": [([2, 3], {"truth": "4", "other": "1"}), ([3], {"truth": "1", "other": "2"})],
    "private_diagonal": [
        ([3], {"truth": "6", "other": "2", "spread": "1"}),
        ([2, 2], {"truth": "3", "other": "4", "spread": "1"}),
        ([3], {"truth": "4", "other": "2", "spread": "2"}),
        ([3], {"truth": "1", "other": "0", "spread": "0"}),
    ],
    "replacement": [
        ([2, 3], {"kept": "1", "sides": "3", "known": [["1", "2"], ["1", "3", "1"]]}),
        ([2, 2], {"kept": "2", "sides": "3", "known": [["1", "2", "3", "1"]]}),
    ],
    "listed": [
        ([2], {"matrix": [["1", "4"], ["3", "1"], ["1", "0"]]}),
        ([2], {"matrix": [["1", "4"], ["0", "0"], ["4", "1"]]}),
    ],
    "turning": [([2], {"kept": "1", "sides": "4"}), ([2, 2], {"kept": "1", "sides": "4"})],
    "flips": [
        ([2, 2], {"bits": [["3", "1", "4"]]}),
        ([2, 2], {"bits": [["3", "1", "4"], ["1", "2", "5"]]}),
        ([2], {"bits": [["0", "0", "1"]]}),
        ([2], {"bits": [["3", "0", "4"]]}),
    ],
    "one_hot": [
        ([3], {"bit": ["2", "1", "4"]}),
        ([2, 2], {"bit": ["1", "3", "4"]}),
        ([3], {"bit": ["1", "1", "1"]}),
        ([3], {"bit": ["2", "0", "3"]}),
    ],
    "subset": [
        ([4], {"size": "2", "kept": "3", "sides": "5"}),
        ([2, 3], {"size": "3", "kept": "1", "sides": "4"}),
        ([3], {"size": "1", "kept": "1", "sides": "4"}),
        ([3], {"size": "2", "kept": "1", "sides": "1"}),
    ],
    "cut_paste": [
        ([2] * 3, {"cutoff": "2", "added": "1", "sides": "3"}),
        ([2] * 3, {"cutoff": "3", "added": "2", "sides": "3"}),
        ([2] * 2, {"cutoff": "2", "added": "1", "sides": "5"}),
        ([2], {"cutoff": "1", "added": "2", "sides": "3"}),
        ([2], {"cutoff": "1", "added": "1", "sides": "7"}),
        ([2] * 3, {"cutoff": "0", "added": "1", "sides": "2"}),
    ],
    "sampling": [
        ([2, 3], {"parts": [{"attributes": [0], "mechanism": {"kind": "turning", "kept": "3", "sides": "4"}}]}),
        (
            [2, 2],
            {
                "parts": [
                    {"attributes": [0, 1], "mechanism": {"kind": "diagonal", "truth": "2", "other": "1"}},
                    {"attributes": [1], "mechanism": {"kind": "flips", "bits": [["4", "1", "5"]]}},
                ]
            },
        ),
        ([2, 2], {"parts": [{"attributes": [0, 1], "mechanism": {"kind": "turning", "kept": "3", "sides": "4"}}]}),
    ],
}
"""Integers so small that every way the coins may fall can be gone through."""


def test_odds_of_randomly_drawn_sets():
    """Their coins have 2^64 sides, so the package is held against the client: exactly, and by the bound from 11 on."""
    large = RandomSet([(1, 3, range(1, 13)), (5, 4, [1] * 12)], odds=4), (12,)
    ranked = RandomSet([(1, 6, range(1, 13), [1, 2, 3] * 4), (5, 4, [1] * 12)], odds=4, tilt=range(12, 0, -1)), (12,)
    for scheme, sizes in [*RandomSet.cases(), large, ranked]:
        mechanism = scheme.mechanism(sizes)
        assert MECHANISMS[mechanism.kind](sizes, mechanism.to_json()).odds == mechanism.channel.odds


@pytest.mark.parametrize("kind", sorted(set(MECHANISMS) - {"random_set"}))
def test_the_odds_that_are_documented_are_those_of_all_falls_of_the_coins(kind):
    """Largest ratio between truths of how often they make the same report, counted one by one."""
    for sizes, integers in SMALL[kind]:
        mechanism = MECHANISMS[kind](sizes, integers)
        counts = [
            Counter(str(mechanism.respond(truth, shown)) for shown in product(*map(range, mechanism.coins)))
            for truth in product(*map(range, sizes))
        ]
        ways = [[count[report] for count in counts] for report in set().union(*counts)]
        assert mechanism.odds == (max(Fraction(max(w), min(w)) for w in ways) if all(map(all, ways)) else None), (
            integers
        )


def test_the_reference_client_shares_nothing_with_the_package():
    for path in (ROOT / "conformance" / "client").glob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        foreign = {name for name in names if name.split(".")[0] not in sys.stdlib_module_names}
        assert all(name.startswith("conformance.client.") for name in foreign), path


ITEMS = {"kind": "items", "name": "symptoms", "items": ["cough", "fever"]}
SUBSET = {"kind": "subset", "size": "1", "kept": "3", "sides": "4"}


def yes_no(name: str, *categories: str) -> dict:
    return {"kind": "categories", "name": name, "categories": list(categories)}


@pytest.mark.parametrize(
    ("schema", "mechanism"),
    [
        ([ITEMS], {"kind": "one_hot", "bit": ["2", "1", "4"]}),
        ([ITEMS], SUBSET),
        (
            [ITEMS],
            {
                "kind": "sampling",
                "parts": [{"attributes": [0], "mechanism": {"kind": "turning", "kept": "3", "sides": "4"}}],
            },
        ),
        ([yes_no("tax", "no", "yes; often")], {"kind": "one_hot", "bit": ["2", "1", "4"]}),
        ([yes_no("a", "x", "x & y"), yes_no("b", "y & z", "z")], SUBSET),
    ],
    ids=["one_hot of items", "subset of items", "sample of items", "a separator in a set", "cells named alike"],
)
def test_reports_that_could_not_be_named_are_refused(schema, mechanism):
    group = {"attributes": [a["name"] for a in schema], "scheme": "matrix", "mechanism": mechanism}
    text = document({"version": 1, "schema": schema, "groups": [group], "odds": None, "prior": None})
    with pytest.raises(RefusedError):
        Client(text)
    with pytest.raises(SottovoceError):
        _ = plan_from_text(text).report_schema


def test_a_report_must_not_be_named_like_another():
    """Two attributes reported in one place are called a+b, which is what a third one is called."""
    schema = [yes_no(name, "no", "yes") for name in ("a", "b", "a+b")]
    diagonal = {"kind": "diagonal", "truth": "3", "other": "1"}
    groups = [
        {"attributes": ["a", "b"], "scheme": "matrix", "mechanism": SUBSET},
        {"attributes": ["a+b"], "scheme": "warner", "mechanism": diagonal},
    ]
    text = document({"version": 1, "schema": schema, "groups": groups, "odds": None, "prior": None})
    with pytest.raises(RefusedError, match="twice"):
        Client(text)
    with pytest.raises(SottovoceError):
        _ = plan_from_text(text).report_schema
