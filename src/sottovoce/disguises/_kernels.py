"""Loops over random bits that `tables.parallel` compiles; as plain Python they give the same results, slowly.

`bits` is one block of `tables.bitsets.Bitsets`. Nothing here checks bounds; `bit_noise` does.
"""

from typing import Any

import numpy as np

ONE, SIX, LOW = np.uint64(1), np.uint64(6), np.uint64(63)


def set_random_lanes(bits: Any, counts: Any, lanes: Any, missing: Any) -> None:
    """Set `counts[i]` drawn lanes of item i; `missing[i]` becomes the number that were set already."""
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


def compare_digits(bits: Any, open_words: Any, undecided: Any, digits: Any, words: Any) -> int:
    """Compare random bits with one binary digit of each item's probability, 64 lanes at a time.

    A random bit below the digit sets the lane to one, above it to zero; equal bits leave the lane undecided.
    `open_words` are the indices of the words of the flat block that have `undecided` lanes, one for each random
    word. Those that still have some move to the front; their number is returned.
    """
    flat = bits.reshape(-1)
    shift = 0
    while 1 << shift < bits.shape[1]:
        shift += 1
    left = 0
    for position in range(len(words)):
        index = open_words[position]
        lanes = undecided[position]
        digit = digits[index >> shift]
        drawn = words[position]
        flat[index] |= lanes & ~drawn & digit
        lanes &= ~(drawn ^ digit)
        open_words[left] = index
        undecided[left] = lanes
        left += lanes != 0
    return left


def overwrite(bits: Any, indptr: Any, indices: Any, words: Any, thresholds: Any) -> int:
    """Set the bit of each true item to whether its word is below its threshold; return the number of ties."""
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
