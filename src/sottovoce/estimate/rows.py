"""Cells with their labels and numbers, as rows for programs, for data frames and for people."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import isnan
from typing import Any, Literal, get_args

import narwhals.stable.v2 as nw

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.schema.variable import Label

Backend = Literal["pandas", "polars", "pyarrow"]

MOST_LINES = 60
"""Cells that are printed; the rest is counted."""


def cell_rows(
    attributes: Sequence[str], categories: Sequence[Sequence[Label]], numbers: Mapping[str, Array]
) -> list[dict[str, Any]]:
    """Labels and numbers of each cell, as plain Python; the last attribute varies fastest.

    >>> import numpy as np
    >>> cell_rows(["a"], [["x", "y"]], {"estimate": np.array([0.25, 0.75])})[1]
    {'values': {'a': 'y'}, 'estimate': 0.75}
    """
    listed = zip(*(array.tolist() for array in numbers.values()), strict=True)
    return [
        {"values": dict(zip(attributes, cell, strict=True)), **dict(zip(numbers, row, strict=True))}
        for cell, row in zip(product(*categories), listed, strict=True)
    ]


def for_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """The same with None for what is not a number, which JSON cannot say.

    >>> for_json({"estimate": 0.25, "standard_error": float("nan")})
    {'estimate': 0.25, 'standard_error': None}
    """
    return {name: None if isinstance(value, float) and isnan(value) else value for name, value in row.items()}


def rows_to_frame(rows: Sequence[dict[str, Any]], backend: Backend) -> Any:
    """Data frame of the library named, with a column for each attribute and each number."""
    columns = {name: [row["values"][name] for row in rows] for name in rows[0]["values"]}
    numbers = {name: [row[name] for row in rows] for name in rows[0] if name != "values"}
    return new_frame(columns | numbers, backend)


def new_frame(columns: Mapping[str, Any], backend: Backend) -> Any:
    """Data frame of the library named.

    >>> new_frame({"a": [1]}, "excel")
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: backend must be one of pandas, polars, pyarrow. Got 'excel' instead.
    """
    if backend not in get_args(Backend):
        raise SottovoceError("backend", f"must be one of {', '.join(get_args(Backend))}", backend)
    try:
        return nw.from_dict(columns, backend=backend).to_native()
    except ModuleNotFoundError:
        raise SottovoceError("backend", "must be the name of a library that is installed", backend) from None


def row_lines(rows: Sequence[dict[str, Any]], number: str) -> list[str]:
    """Readable table of one number of each cell, with its standard error and interval."""
    shown = rows[:MOST_LINES]
    labels = [", ".join(map(str, row["values"].values())) for row in shown]
    width = max(map(len, labels))
    lines = [
        f"  {label:<{width}}  {row[number]:8.4f} +- {row['standard_error']:.4f}"
        f"  [{row['low']:7.4f}, {row['high']:7.4f}]"
        for label, row in zip(labels, shown, strict=True)
    ]
    return lines if len(rows) <= MOST_LINES else [*lines, f"  ... and {len(rows) - MOST_LINES} more cells"]
