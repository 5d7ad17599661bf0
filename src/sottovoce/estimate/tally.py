"""One pass over reports: counts by joint cell, apart for each value of a column, with weights or without."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.count.contingency import count_cells
from sottovoce.count.memory import as_counter
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.weights import Weighted, checked_weights, plain_list, weigh
from sottovoce.schema.cells import Codes, Columns
from sottovoce.schema.schema import Schema
from sottovoce.schema.variable import is_missing
from sottovoce.table.source import open_source

Weights = str | Sequence[float] | NDArray[Any] | None
"""A column of the table by name, or a number for each of its rows."""

MOST_GROUPS = 1000
"""Different values of a column that reports are counted apart by."""


@dataclass(frozen=True)
class Tally:
    """Reports in each joint cell, and their weights if they have any."""

    counts: NDArray[np.int64]
    weighted: Weighted | None

    def __add__(self, other: "Tally") -> "Tally":
        """Both together."""
        both = self.weighted and other.weighted and self.weighted + other.weighted
        return Tally(self.counts + other.counts, both)


def tallies(reports: Any, schema: Schema, by: str | None, weights: Weights) -> dict[Any, Tally]:
    """Tally of the reports with each value of the column `by`, or of all, under None."""
    if by is None and weights is None:
        return {None: Tally(as_counter(reports).contingency(schema), None)}
    found: dict[Any, Tally] = {}
    for columns, labels, weight in _batches(reports, schema, by, weights):
        for label, rows in _apart(labels, len(columns[0])):
            own = [codes[rows] for codes in columns]
            weighted = None if weight is None else weigh(own, schema.sizes, weight[rows])
            tally = Tally(count_cells(own, schema.sizes), weighted)
            found[label] = found[label] + tally if label in found else tally
        if len(found) > MOST_GROUPS:
            raise SottovoceError("by", f"must be a column with at most {MOST_GROUPS} different values", by)
    for label, tally in found.items():
        if tally.weighted is not None and not tally.weighted.sums.sum() > 0:
            raise SottovoceError("weights", "must not all be zero", Words("zeros" if by is None else f"zeros: {label}"))
    return found


def _batches(
    reports: Any, schema: Schema, by: str | None, weights: Weights
) -> Iterator[tuple[Columns, list[Any] | None, Array | None]]:
    """Coded columns, labels and weights of the same rows."""
    source, row = open_source(reports), 0
    beside = [name for name in (by, weights) if isinstance(name, str)]
    for columns, others in source.coded_beside(schema, beside):
        rows = slice(row, row + len(columns[0]))
        weight = None if weights is None else others[-1] if isinstance(weights, str) else weights[rows]
        labels = None if by is None else _labels(by, others[0], rows)
        yield columns, labels, None if weight is None else _matching(checked_weights(weight, rows), rows)
        row = rows.stop
    if weights is not None and not isinstance(weights, str) and len(weights) > row:
        raise SottovoceError("weights", f"must be as many as the {row} reports", len(weights))


def _matching(weights: Array, rows: slice) -> Array:
    if len(weights) < rows.stop - rows.start:
        rule = f"must be as many as the reports, of which there are at least {rows.stop}"
        raise SottovoceError("weights", rule, rows.start + len(weights))
    return weights


def _labels(by: str, values: Any, rows: slice) -> list[Any]:
    """Plain values of a column, none of which may be missing."""
    listed = plain_list(values)
    for place, value in enumerate(listed):
        if is_missing(value) or value == "":
            raise SottovoceError(by, f"must be known for every report; row {rows.start + place + 1}", value)
    return listed


def _apart(labels: list[Any] | None, rows: int) -> Iterator[tuple[Any, slice | NDArray[np.intp]]]:
    """Each label with its rows; without labels, all rows at once, under None."""
    if labels is None:
        yield None, slice(0, rows)
        return
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    codes: Codes = np.fromiter(map(places.__getitem__, labels), np.int64, rows)
    for label, place in places.items():
        yield label, np.flatnonzero(codes == place)
