"""Frequencies: how many equal reports each row of a table stands for."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array
from sottovoce.counts.protocol import Counts
from sottovoce.errors import SottovoceError, Words
from sottovoce.schemas.attribute import Columns, is_missing
from sottovoce.schemas.schema import Schema
from sottovoce.tables.source import Source

Frequencies = str | Sequence[int] | NDArray[Any] | None
"""A column of the table by name, or a whole number for each of its rows; None if every row is one report."""

MOST_FREQUENT = 2**53
"""Reports that the rows of a batch may stand for: double precision holds their sums exactly."""


def checked_frequencies(values: Any, rows: slice) -> Counts:
    """Return the frequencies of a batch of rows; raise and name the first row that has none.

    >>> checked_frequencies(["1", 3.0, 0], slice(0, 3))
    array([1, 3, 0])
    """
    listed = plain_list(values)
    numbers = as_numbers(listed)
    right = (numbers >= 0) & (numbers <= MOST_FREQUENT) & (numbers == np.floor(numbers))
    check_rows("frequencies", "must be whole numbers from 0 to 2^53", listed, right, rows)
    if numbers.sum() > MOST_FREQUENT:
        raise SottovoceError("frequencies", "must add up to at most 2^53", Words(f"{numbers.sum():.3g}"))
    return numbers.astype(np.int64)


def check_rows(parameter: str, rule: str, values: Sequence[Any], right: NDArray[np.bool_], rows: slice) -> None:
    """Raise for the first value that is not right, naming its row, and unless there is one for each row."""
    wrong = np.flatnonzero(~right)
    if len(wrong):
        value = values[wrong[0]]
        shown = Words("a missing one") if is_missing(value) or value == "" else value
        raise SottovoceError(parameter, f"{rule}; row {rows.start + wrong[0] + 1}", shown)
    if len(values) < rows.stop - rows.start:
        rule = f"must be as many as the reports, of which there are at least {rows.stop}"
        raise SottovoceError(parameter, rule, rows.start + len(values))


def coded_with(source: Source, schema: Schema, **beside: Any) -> Iterator[tuple[Columns, slice, dict[str, Any]]]:
    """Read coded columns and, row by row beside them, columns given by name or as sequences; None stays None.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.tables.source import open_source
    >>> source = open_source({"a": [True, False], "n": [3, 4]})
    >>> schema = Schema([boolean("a")])
    >>> [(rows, beside) for _, rows, beside in coded_with(source, schema, weights="n", frequencies=[1, 2])]
    [(slice(0, 2, None), {'weights': [3, 4], 'frequencies': [1, 2]})]
    """
    named = {name: column for name, column in beside.items() if isinstance(column, str)}
    for name, values in beside.items():
        if values is not None and name not in named and not source.ordered:
            rule = "must be a column of the table, whose rows need not come in the same order twice"
            raise SottovoceError(name, rule, Words("a number for each row"))
    row = source.first_row
    for columns, others in source.coded_with(schema, list(named.values())):
        rows = slice(row, row + len(columns[0]))
        read = dict(zip(named, others, strict=True))
        given = {name: None if values is None else values[rows] for name, values in beside.items() if name not in named}
        yield columns, rows, {name: (read | given)[name] for name in beside}
        row = rows.stop
    for name, values in beside.items():
        if values is not None and name not in named and len(values) > row:
            raise SottovoceError(name, f"must be as many as the {row} reports", len(values))


def plain_list(values: Any) -> list[Any]:
    """Return the values of a column of any library as a list of Python's own.

    >>> plain_list(np.array([1, 2])), plain_list(("a", "b"))
    ([1, 2], ['a', 'b'])
    """
    method = next((name for name in ("to_list", "tolist") if hasattr(values, name)), None)
    return list(values) if method is None else list(getattr(values, method)())


def as_numbers(values: Sequence[Any]) -> Array:
    """Return the numbers that values are or spell, and NaN for anything else.

    >>> as_numbers([1, "2.5", True, None])
    array([1. , 2.5, nan, nan])
    """
    return np.array([_number(value) for value in values], dtype=np.float64)


def _number(value: Any) -> float:
    try:
        return float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
