"""The functions of `_kernels` on whole arrays, for installations without numba. The bytes are the same."""

from typing import Any

import numpy as np

from sottovoce.tables._bit_arrays import addresses


def set_random_lanes(bits: Any, counts: Any, lanes: Any, missing: Any) -> None:
    """Set `counts[i]` drawn lanes of item i; `missing[i]` becomes the number that were set already."""
    before = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
    inside = lanes[: counts.sum()].astype(np.int64) & (64 * bits.shape[1] - 1)
    words = np.repeat(np.arange(len(counts)), counts) * bits.shape[1] + (inside >> 6)
    np.bitwise_or.at(bits.reshape(-1), words, np.uint64(1) << (inside & 63).astype(np.uint64))
    missing[:] = counts - (np.bitwise_count(bits).sum(axis=1, dtype=np.int64) - before)


def compare_digits(bits: Any, open_words: Any, undecided: Any, digits: Any, words: Any) -> int:
    """Compare random bits with one binary digit of each item's probability, 64 lanes at a time."""
    still_open, lanes = open_words[: len(words)], undecided[: len(words)]
    digit = digits[still_open // bits.shape[1]]
    bits.reshape(-1)[still_open] |= lanes & ~words & digit
    lanes = lanes & ~(words ^ digit)
    stay = np.flatnonzero(lanes)
    open_words[: len(stay)], undecided[: len(stay)] = still_open[stay], lanes[stay]
    return len(stay)


def overwrite(bits: Any, indptr: Any, indices: Any, words: Any, thresholds: Any) -> int:
    """Set the bit of each true item to whether its word is below its threshold; return the number of ties."""
    where, bit = addresses(bits, indptr, indices)
    limits = thresholds[indices[indptr[0] : indptr[-1]]]
    ones = words[: len(limits)] < limits
    flat = bits.reshape(-1)
    np.bitwise_and.at(flat, where, ~bit)
    np.bitwise_or.at(flat, where[ones], bit[ones])
    return int((words[: len(limits)] == limits).sum())
