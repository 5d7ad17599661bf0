"""Records in clear as a plan that keeps everything: the standard classifiers, by the same code."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from sottovoce.errors import SottovoceError
from sottovoce.plan.plan import Plan
from sottovoce.schema.attribute import Attribute
from sottovoce.schema.cells import Columns, narrow
from sottovoce.schema.schema import Schema
from sottovoce.scheme.unrelated_question import UnrelatedQuestion


def clear_plan(rows: NDArray[Any], classes: int, target: str) -> Plan:
    """Plan with theta = 1 of records coded 0, 1, ..., and a target behind them; it promises nothing.

    >>> import numpy as np
    >>> clear_plan(np.array([[0, 2], [1, 0]]), 2, "class").schema.sizes
    (2, 3, 2)
    """
    sizes = [max(int(most) + 1, 2) for most in rows.max(axis=0)]
    variables = [Attribute(f"x{place}", range(size)) for place, size in enumerate(sizes)]
    schema = Schema([*variables, Attribute(target, range(classes))])
    return Plan.of(schema, {schema.names: UnrelatedQuestion(theta=1)})


def counted_codes(rows: NDArray[Any], sizes: Sequence[int]) -> Columns:
    """Columns of an array of codes, refusing values that were not there to be learned."""
    for place, size in enumerate(sizes):
        if rows[:, place].max() >= size:
            raise SottovoceError("X", f"must have values below {size} in column {place}", int(rows[:, place].max()))
    return tuple(narrow(rows[:, place], size) for place, size in enumerate(sizes))
