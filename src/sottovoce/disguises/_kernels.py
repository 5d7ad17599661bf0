"""Loops over random bits, for `tables.parallel` to compile; as plain Python they say the same, slowly.

`bits` is one block of `table.bitsets.Bitsets`. Nothing here checks bounds; `bit_noise` does.
"""

from typing import Any

import numpy as np

ONE, SIX, LOW = np.uint64(1), np.uint64(6), np.uint64(63)


def scatter(bits: Any, counts: Any, lanes: Any, missing: Any) -> None:
    """Set as many lanes of each item as its count says; `missing` says how many were set already."""
    inside = np.uint64(64 * bits.shape[1] - 1)
    position = 0
    for item in range(len(counts)):
        row = bits[item]
        again = np.uint64(0)
        for drawn in range(position, position + counts[item]):
            lane = np.uint64(lanes[drawn]) & inside
            word = lane >> SIX
            bit = ONE << (lane & LOW)
            before = row[word]
            again += (before >> (lane & LOW)) & ONE
            row[word] = before | bit
        position += counts[item]
        missing[item] = again


def compare(bits: Any, places: Any, undecided: Any, digits: Any, words: Any) -> int:
    """Compare random bits with one binary digit of each item's chance, 64 lanes at a time.

    A random bit below the digit shows a one, above it a zero; equal ones leave the lane undecided.
    `places` are the words of the flat block with `undecided` lanes, as many as there are random words;
    those that stay so move to the front, and their number comes back.
    """
    flat = bits.reshape(-1)
    shift = 0
    while 1 << shift < bits.shape[1]:
        shift += 1
    left = 0
    for position in range(len(words)):
        place = places[position]
        lanes = undecided[position]
        digit = digits[place >> shift]
        drawn = words[position]
        flat[place] |= lanes & ~drawn & digit
        lanes &= ~(drawn ^ digit)
        places[left] = place
        undecided[left] = lanes
        left += lanes != 0
    return left


def overwrite(bits: Any, indptr: Any, indices: Any, words: Any, thresholds: Any) -> int:
    """Show a one for each true item whose word is below its threshold; count words that equal it."""
    start = indptr[0]
    ties = 0
    for lane in range(len(indptr) - 1):
        word = lane >> 6
        shift = np.uint64(lane & 63)
        others = ~(ONE << shift)
        for position in range(start, indptr[lane + 1]):
            item = indices[position]
            drawn = words[position - indptr[0]]
            bits[item, word] = (bits[item, word] & others) | (np.uint64(drawn < thresholds[item]) << shift)
            ties += drawn == thresholds[item]
        start = indptr[lane + 1]
    return ties
