"""Learning from a million disguised records of 14 attributes, against scikit-learn on records in clear."""

from importlib import import_module
from typing import Any

import numpy as np

import sottovoce as sv
from benchmarks.disguise.values import one_core
from benchmarks.measure import Row, best_seconds
from sottovoce.disguises.records import disguise_codes
from sottovoce.mechanisms.coins import random_words
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.randomized_response import RandomizedResponse
from sottovoce.schemes.unrelated_question import UnrelatedQuestion

RECORDS = 10**6
SIZES = (2, 8, 2, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 2)
"""Fourteen attributes with about as many values as Adult's."""


def rows() -> list[Row]:
    """Whole records in one group, and every attribute with coins of its own; whole numbers as scikit-learn has them."""
    with one_core():
        schema = Schema(
            [*(Attribute(f"a{i}", range(size)) for i, size in enumerate(SIZES)), Attribute("class", [0, 1])]
        )
        rng = np.random.default_rng(1)
        truths = tuple(rng.integers(0, size, RECORDS).astype(np.uint8) for size in schema.sizes)
        together = Plan.of(schema, {schema.names: UnrelatedQuestion(theta=0.5)})
        apart = Plan.of(schema, {name: RandomizedResponse(odds=3) for name in schema.names})
        return [
            _row("whole records, one group", truths, together),
            _row("coins of its own for each attribute", truths, apart),
        ]


def _row(name: str, truths: Any, plan: Plan) -> Row:
    clear = np.column_stack(truths).astype(np.int64)
    disguised = np.column_stack(disguise_codes(truths, plan, random_words(1))).astype(np.int64)
    peer = import_module("sklearn.naive_bayes").CategoricalNB(min_categories=np.array(SIZES))
    ours = sv.mining.NaiveBayes(plan, label="class")
    ours.fit(disguised[:1000, :-1], disguised[:1000, -1])  # compiles, and would refuse what cannot be learned
    seconds, theirs = best_seconds(
        lambda: ours.fit(disguised[:, :-1], disguised[:, -1]), lambda: peer.fit(clear[:, :-1], clear[:, -1]), rounds=3
    )
    return Row(f"naive Bayes, 10^6 x 14, {name}", "CategoricalNB, in clear", seconds, theirs, "seconds")
