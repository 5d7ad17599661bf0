"""Loops over transactions and their items that `parallel` compiles; as plain Python they give the same, slowly.

`bits` is one block of `Bitsets`; `indptr` and `indices` list the items of its transactions. Nothing
here checks bounds except `first_invalid_row`, which is called before anything is written.
"""

from typing import Any

import numpy as np

PRIME = np.uint64(67)
"""All powers of two below 2^64 differ modulo this prime."""

LANES = np.zeros(67, np.int64)
LANES[[2**lane % 67 for lane in range(64)]] = np.arange(64)
"""Exponent of a power of two, by its remainder modulo the prime."""

ONE, SIX, LOW = np.uint64(1), 6, 63


def first_invalid_row(indptr: Any, indices: Any, items: int) -> int:
    """Index of the first row whose items are not ascending numbers below `items`, each once; -1 if there is none.

    A row is read to its end whatever it holds: a loop without an early exit is vectorised by the compiler.
    """
    for row in range(len(indptr) - 1):
        members = indices[indptr[row] : indptr[row + 1]]
        if len(members) == 0:
            continue
        later, descents = members[1:], 0
        for position in range(len(later)):
            descents += later[position] <= members[position]
        if descents or np.int64(members[0]) < 0 or np.int64(members[-1]) >= items:
            return row
    return -1


def set_bits(bits: Any, indptr: Any, indices: Any) -> None:
    """Set the bits of the items of each transaction."""
    for lane in range(len(indptr) - 1):
        word = lane >> SIX
        bit = ONE << np.uint64(lane & LOW)
        for position in range(indptr[lane], indptr[lane + 1]):
            bits[indices[position], word] |= bit


def add_sizes(bits: Any, sizes: Any) -> None:
    """Add the number of items of each transaction to `sizes`."""
    for item in range(bits.shape[0]):
        for word in range(bits.shape[1]):
            left = bits[item, word]
            while left:
                rest = left & (left - ONE)
                sizes[(word << SIX) + LANES[(left ^ rest) % PRIME]] += 1
                left = rest


def list_items(bits: Any, starts: Any, indices: Any) -> None:
    """Write the items of each transaction into `indices`, ascending, from its start."""
    ends = starts.copy()
    for item in range(bits.shape[0]):
        for word in range(bits.shape[1]):
            left = bits[item, word]
            while left:
                rest = left & (left - ONE)
                lane = (word << SIX) + LANES[(left ^ rest) % PRIME]
                indices[ends[lane]] = item
                ends[lane] += 1
                left = rest
