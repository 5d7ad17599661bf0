"""Joint cells of several attributes, by number: the last attribute varies fastest."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError

Codes = NDArray[np.integer]
"""One column of a coded table: the number of a category for each row."""

Columns = tuple[Codes, ...]
"""A coded table, column by column."""

LARGEST_DOMAIN = 2**63 - 1
"""Joint cells are numbered by 64-bit integers."""


def narrow(codes: Codes, size: int) -> Codes:
    """Store codes below `size` in as few bytes as they need.

    >>> narrow(np.array([0, 1, 1]), 2).dtype
    dtype('uint8')
    """
    return codes.astype(np.min_scalar_type(size - 1), copy=False)


def ravel(columns: Sequence[Codes], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Number of the joint cell of each row, computed row by row; the domain itself is never built.

    >>> ravel([np.array([0, 1]), np.array([2, 0])], (2, 3))
    array([2, 3])
    """
    check_domain(sizes)
    joint = np.zeros(len(columns[0]), np.int64)
    for codes, size in zip(columns, sizes, strict=True):
        joint *= size
        joint += codes.astype(np.int64, copy=False)
    return joint


def unravel(joint: Codes, sizes: Sequence[int]) -> Columns:
    """Codes of each attribute from the number of the joint cell: the inverse of `ravel`.

    >>> unravel(np.array([2, 3]), (2, 3))
    (array([0, 1], dtype=uint8), array([2, 0], dtype=uint8))
    """
    check_domain(sizes)
    columns = []
    for size in reversed(sizes):
        joint, codes = np.divmod(joint, size)
        columns.append(narrow(codes, size))
    return tuple(reversed(columns))


def check_domain(sizes: Sequence[int]) -> int:
    """Count the joint cells, refusing more than 64-bit integers can number."""
    cells = math.prod(sizes)
    if cells > LARGEST_DOMAIN:
        rule = f"must have at most 2^63 - 1 joint cells to be numbered; {len(sizes)} columns give"
        raise SottovoceError("sizes", f"{rule} about {float(cells):.2g}", tuple(sizes))
    return cells
