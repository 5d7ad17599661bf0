"""Reports from plans, truths and words: every case of every scheme there is, and plans of several groups."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from conformance.draws import (
    CountedWords,
    outermost_blocks,
    rejected_block,
    rejected_values,
    spread,
    unchosen_blocks,
    with_rejected,
)
from conformance.edges import edge_blocks, truths_of
from conformance.plans import case_plans, made_up_plans
from sottovoce.disguises.records import disguise_codes
from sottovoce.mechanisms.coins import Coin
from sottovoce.plans.document import plan_to_text
from sottovoce.plans.plan import Plan

MOST_WORDS = 256
"""Of the chosen and unchosen blocks of a vector, as long as every coin has an edge: files stay small."""

UNCHOSEN = 4
REJECTED = 3
"""So many records whose words nobody chose, and at most so many coins that are rejected."""


def vectors() -> Iterator[dict[str, Any]]:
    """Cases of schemes first, in the order they are found."""
    for name, plan in [*case_plans(), *made_up_plans()]:
        yield _vector(name, plan)


def _vector(name: str, plan: Plan) -> dict[str, Any]:
    truths = truths_of(plan, name)
    chosen = _chosen(plan, truths)
    accepted = [block for _, block in chosen]
    words = with_rejected(accepted, _rejected(plan.coins)) + unchosen_blocks(plan.coins, name, UNCHOSEN)
    records = [truth for truth, _ in chosen] + [truths[i % len(truths)] for i in range(UNCHOSEN)]
    stream = CountedWords(words)
    reports = disguise_codes([np.array(column) for column in zip(*records, strict=True)], plan, stream)
    return {
        "name": name,
        "document": plan_to_text(plan),
        "truths": [list(record) for record in records],
        "words": words,
        "reports": [list(row) for row in zip(*(column.tolist() for column in reports), strict=True)],
        "consumed": stream.consumed,
    }


def _chosen(plan: Plan, truths: Sequence[tuple[int, ...]]) -> list[tuple[tuple[int, ...], list[int]]]:
    """Outermost sides, and as many edges as there is room for."""
    outermost = [(truths[i % len(truths)], block) for i, block in enumerate(outermost_blocks(plan.coins))]
    room = MOST_WORDS // len(outermost[0][1]) - len(outermost) - UNCHOSEN
    return outermost + edge_blocks(plan, truths, room // 2)


def _rejected(coins: Sequence[Coin]) -> list[list[int]]:
    """Blocks thrown away because of a single coin: at the least word that is not accepted."""
    culprits = [i for i, coin in enumerate(coins) if rejected_values(coin)]
    return [rejected_block(coins, i, rejected_values(coins[i])[0]) for i in spread(culprits, REJECTED)]
