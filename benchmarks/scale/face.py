"""What `sv.disguise` and `Reports.estimate` cost beside the kernels under them, for every kind of column.

A million rows on one core, with secure coins. The peer of categories, booleans and integers is the kernel: coded arrays
disguised by `disguise_codes`, or counted by `count_cells` and estimated from the counts. The peer of text is the
dictionary encoding of the same column by its own library. Calls take turns, and the best of several counts.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import sottovoce as sv
from benchmarks.disguise.values import EPSILON, VALUES, multi_freq_ldpy, one_core, pure_ldp
from benchmarks.measure import Row, best_seconds
from sottovoce.counts.counter import count_cells
from sottovoce.disguises.records import disguise_codes
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.mechanisms.coins import random_words
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Codes
from sottovoce.schemas.schema import Schema
from sottovoce.tables.source import open_source

WORDS = ("never", "once", "monthly", "weekly", "daily")
NUMBERS = (0, 1, 2, 3, 5)
"""With a gap, so that codes have to be looked up."""

ROUNDS, TEXT_ROUNDS = 40, 10
"""Calls of a few milliseconds need many rounds for one that nothing interrupts; text takes longer."""

Table = Any
Case = tuple[str, sv.Attribute, Table, Callable[[Any], Any] | None]
"""Name, attribute, table of truths, and how the library of the table encodes a column of text as a dictionary."""


@dataclass(frozen=True)
class CodedCounter:
    """Counter of coded reports: the kernel and nothing else."""

    codes: Codes

    def rows(self) -> int:
        """Number of reports."""
        return len(self.codes)

    def contingency(self, schema: Schema) -> Any:
        """Count with the kernel."""
        return count_cells([self.codes], schema.sizes)

    def all_ones(self, schema: Schema, sets: Any) -> Any:
        """Nobody asks."""
        raise NotImplementedError


def rows(values: int = VALUES) -> Iterator[Row]:
    """The README's example, and each kind of column, of so many values."""
    with one_core():
        yield from _example(values)
        yield from columns(values)


def _example(values: int) -> Iterator[Row]:
    """The example of the README with more answers: an array of booleans, disguised and estimated; and by peers."""
    people = {"evaded tax": np.random.default_rng(1).random(values) < 0.17}
    plan = sv.plan(people, odds="3:1")
    codes = people["evaded tax"].astype(np.uint8)
    calls = [peer(codes, 2) for peer in (multi_freq_ldpy, pure_ldp)]
    (ours,) = best_seconds(lambda: sv.disguise(people, plan).estimate("evaded tax").standard_error, rounds=ROUNDS)
    for name, seconds in zip(("multi-freq-ldpy", "pure-ldp"), best_seconds(*calls, rounds=2), strict=True):
        yield Row("the README's example", name, 1e9 * ours / values, 1e9 * seconds / values, "ns per value")


def columns(values: int) -> Iterator[Row]:
    """Disguise and estimate each kind of column."""
    for case in _cases(values):
        yield from _compared(*case)


def _compared(name: str, attribute: sv.Attribute, table: Table, encoded: Callable[[Any], Any] | None) -> Iterator[Row]:
    plan = sv.plan(sv.Schema([attribute]), epsilon=EPSILON)
    codes = np.concatenate([columns[0] for columns in open_source(table).coded(plan.schema)])
    reports, counter = sv.disguise(table, plan), CodedCounter(_disguised(codes, plan))
    reported = reports.table["answer"]
    calls = (lambda: sv.disguise(table, plan), lambda: _estimated(reports))
    peers = (lambda: _disguised(codes, plan), lambda: estimate_proportions(counter, plan, "answer").standard_error)
    if encoded is not None:
        peers = (lambda: encoded(table["answer"]), lambda: encoded(reported))
    for verb, call, peer in zip(("sv.disguise", "Reports.estimate"), calls, peers, strict=True):
        rounds = TEXT_ROUNDS if encoded else ROUNDS
        ours, theirs = (1e9 * seconds / len(codes) for seconds in best_seconds(call, peer, rounds=rounds))
        yield Row(f"{verb}, {name}", "dictionary" if encoded else "kernel", ours, theirs, "ns per value")


def _disguised(codes: Codes, plan: Plan) -> Codes:
    return disguise_codes([codes], plan, random_words())[0]


def _estimated(reports: sv.Reports) -> Any:
    return reports.estimate("answer").standard_error


def _cases(values: int) -> Iterator[Case]:
    codes = np.random.default_rng(1).integers(0, len(WORDS), values)
    words, numbers, answers = np.array(WORDS, dtype=object)[codes], np.array(NUMBERS)[codes], codes > 2
    category = sv.Attribute("answer", WORDS)
    typed = {"booleans": (sv.boolean("answer"), answers), "integers": (sv.Attribute("answer", NUMBERS), numbers)}
    for library, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("Arrow", pa.table), ("arrays", dict)):
        for kind, (attribute, column) in typed.items():
            yield f"{library}, {kind}", attribute, frame({"answer": column}), None
    for name, table in _categorical(codes, words):
        yield name, category, table, None
    for name, table, encoded in _texts(words):
        yield name, category, table, encoded


def _categorical(codes: Any, words: Any) -> Iterator[tuple[str, Table]]:
    yield "pandas, categorical", pd.DataFrame({"answer": pd.Categorical.from_codes(codes, list(WORDS))})
    for kind in (pl.Categorical(), pl.Enum(WORDS)):
        yield f"polars, {type(kind).__name__}", pl.DataFrame({"answer": pl.Series(words.tolist(), dtype=kind)})
    dictionary = pa.DictionaryArray.from_arrays(codes.astype(np.int32), list(WORDS))
    yield "Arrow, dictionary", pa.table({"answer": dictionary})


def _texts(words: Any) -> Iterator[tuple[str, Table, Callable[[Any], Any]]]:
    yield "pandas, text", pd.DataFrame({"answer": words}), lambda column: column.factorize()
    typed = pd.array(words, dtype="string[pyarrow]")
    yield "pandas, text of Arrow", pd.DataFrame({"answer": typed}), lambda column: column.factorize()
    yield "polars, text", pl.DataFrame({"answer": words.tolist()}), lambda column: column.cast(pl.Categorical)
    yield "Arrow, text", pa.table({"answer": pa.array(words)}), lambda column: column.dictionary_encode()
    yield "arrays, text", {"answer": words.astype(str)}, lambda column: pa.array(column).dictionary_encode()
    yield "arrays, text as objects", {"answer": words}, pd.factorize
