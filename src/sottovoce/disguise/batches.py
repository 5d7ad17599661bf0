"""Reports of a table, batch by batch, from where its rows come from to where they go."""

from collections.abc import Iterator
from typing import Any

from sottovoce.disguise.bit_noise import disguised_bitsets
from sottovoce.disguise.records import disguise_codes
from sottovoce.disguise.transactions import flipped_items
from sottovoce.mechanism.coins import RandomWords
from sottovoce.mechanism.flips import Flips
from sottovoce.plan.plan import Plan
from sottovoce.schema.item_set import ItemSet
from sottovoce.table.listed import gathered, listed_batches
from sottovoce.table.pipeline import Ahead
from sottovoce.table.sink import Sink
from sottovoce.table.source import BATCH_ROWS, Source

MOST_BITS = 2**30
"""Bits of a batch of sets of items: 128 MiB."""


def disguise_batches(
    source: Source, plan: Plan, words: RandomWords, sink: Sink, ahead: Ahead[Any] = iter
) -> Iterator[int]:
    """Write batches of reports and say how many rows each has; `ahead` lets the stages overlap.

    One thread alone draws the words, batch after batch: a seed gives the same reports however the
    stages take turns.
    """
    basket = flipped_items(plan)
    if basket is not None:
        yield from _baskets(source, *basket, words, sink, ahead)
        return
    truths = ahead(source.coded(plan.schema))
    for columns in ahead(disguise_codes(columns, plan, words) for columns in truths):
        sink.write(columns)
        yield len(columns[0])


def _baskets(
    source: Source, variable: ItemSet, flips: Flips, words: RandomWords, sink: Sink, ahead: Ahead[Any]
) -> Iterator[int]:
    """The same of a set of items alone, by those it holds: most of a thousand items are in no basket."""
    rows = max(1, min(BATCH_ROWS, MOST_BITS // len(variable.items)))
    truths = ahead(gathered(listed_batches(source, variable), rows))
    for reports in ahead(disguised_bitsets(batch, flips, words).to_csr() for batch in truths):
        sink.write_listed(variable, reports)
        yield len(reports[0]) - 1
