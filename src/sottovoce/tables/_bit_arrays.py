"""The functions of `_bit_loops` on whole arrays, for installations without numba. The bytes are the same."""

from typing import Any

import numpy as np


def first_invalid_row(indptr: Any, indices: Any, items: int) -> int:
    """Index of the first row whose items are not ascending numbers below `items`, each once; -1 if there is none."""
    listed = indices[indptr[0] : indptr[-1]].astype(np.int64, copy=False)
    starts = indptr - indptr[0]
    before = np.concatenate([[-1], listed])[:-1]
    before[starts[:-1][starts[:-1] < len(listed)]] = -1
    invalid = np.flatnonzero((listed <= before) | (listed >= items))
    return int(np.searchsorted(starts, invalid[0], side="right")) - 1 if len(invalid) else -1


def set_bits(bits: Any, indptr: Any, indices: Any) -> None:
    """Set the bits of the items of each transaction."""
    words, bit = addresses(bits, indptr, indices)
    np.bitwise_or.at(bits.reshape(-1), words, bit)


def add_sizes(bits: Any, sizes: Any) -> None:
    """Add the number of items of each transaction to `sizes`."""
    sizes += unpacked(bits).sum(axis=0, dtype=np.int64)[: len(sizes)]


def list_items(bits: Any, starts: Any, indices: Any) -> None:
    """Write the items of each transaction into `indices`, ascending, from its start."""
    items = np.nonzero(unpacked(bits).T)[1]
    indices[starts[0] : starts[0] + len(items)] = items


def addresses(bits: Any, indptr: Any, indices: Any) -> tuple[Any, Any]:
    """Index of the word of each listed item in the flat block, and its bit in that word."""
    lanes = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    words = indices[indptr[0] : indptr[-1]].astype(np.int64) * bits.shape[1] + (lanes >> 6)
    return words, np.uint64(1) << (lanes & 63).astype(np.uint64)


def unpacked(bits: Any) -> Any:
    """Unpack bits into bytes: an array of items x lanes."""
    return np.unpackbits(bits.astype("<u8", copy=False).view(np.uint8), axis=1, bitorder="little")
