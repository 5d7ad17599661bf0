"""Loops over transactions and their items, for `fast` to compile; as plain Python they say the same, slowly.

`bits` is one block of `Bitsets`; `indptr` and `indices` list the items of its transactions. Nothing
here checks bounds but `first_wrong`, which is called before anything is written.
"""

from typing import Any

import numpy as np

PRIME = np.uint64(67)
"""Powers of two below 2^64 all differ modulo this."""

LANES = np.zeros(67, np.int64)
LANES[[2**lane % 67 for lane in range(64)]] = np.arange(64)
"""Which power of two it is, by the rest."""

ONE, SIX, LOW = np.uint64(1), 6, 63


def first_wrong(indptr: Any, indices: Any, items: int) -> int:
    """First row whose items are not in the universe, ascending and each once; -1 if there is none.

    A row is read to its end whatever is found in it: without a way out the loop compares many items at once.
    """
    for row in range(len(indptr) - 1):
        own = indices[indptr[row] : indptr[row + 1]]
        if len(own) == 0:
            continue
        later, repeated = own[1:], 0
        for place in range(len(later)):
            repeated += later[place] <= own[place]
        if repeated or np.int64(own[0]) < 0 or np.int64(own[-1]) >= items:
            return row
    return -1


def place(bits: Any, indptr: Any, indices: Any) -> None:
    """Set the bits of the items of each transaction."""
    for lane in range(len(indptr) - 1):
        word = lane >> SIX
        bit = ONE << np.uint64(lane & LOW)
        for position in range(indptr[lane], indptr[lane + 1]):
            bits[indices[position], word] |= bit


def tally(bits: Any, sizes: Any) -> None:
    """Add the number of items of each transaction to its size."""
    for item in range(bits.shape[0]):
        for word in range(bits.shape[1]):
            left = bits[item, word]
            while left:
                rest = left & (left - ONE)
                sizes[(word << SIX) + LANES[(left ^ rest) % PRIME]] += 1
                left = rest


def collect(bits: Any, starts: Any, indices: Any) -> None:
    """List the items of each transaction, in order, from its start on."""
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
