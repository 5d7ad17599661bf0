"""Loops over rows that `mechanisms.bulk` compiles; callers check the bounds.

A loop that clears the lowest bit until none is left is compiled to the processor's instruction that counts bits.
"""

from typing import Any

import numpy as np

ONE = np.uint64(1)


def tally(joint: Any, counts: Any) -> None:
    """Add one to the count of each row's joint cell."""
    for row in range(len(joint)):
        counts[joint[row]] += 1


def all_ones(words: Any, sets: Any, fresh: Any, counts: Any) -> None:
    """Add the number of transactions that hold all items of each set, block by block.

    The items that a set shares with the one before it, those before index `fresh`, are not intersected again.
    """
    length = sets.shape[1]
    common = np.empty((length, words.shape[2]), np.uint64)
    for block in range(words.shape[0]):
        for row in range(sets.shape[0]):
            for index in range(fresh[row], length - 1):
                item = words[block, sets[row, index]]
                for word in range(len(item)):
                    common[index, word] = item[word] & common[index - 1, word] if index else item[word]
            last = words[block, sets[row, length - 1]]
            prefix = common[length - 2] if length > 1 else last
            held = 0
            for word in range(len(last)):
                left = prefix[word] & last[word]
                while left:
                    left &= left - ONE
                    held += 1
            counts[row] += held


def pairs(words: Any, counts: Any) -> None:
    """Add the number of transactions that hold both of two items, `i <= j`, four pairs at a time.

    So each loaded word serves several pairs. The number of items is a multiple of four.
    """
    for block in range(words.shape[0]):
        for i in range(words.shape[1]):
            item = words[block, i]
            for j in range(i // 4 * 4, words.shape[1], 4):
                a, b, c, d = words[block, j], words[block, j + 1], words[block, j + 2], words[block, j + 3]
                with_a = with_b = with_c = with_d = 0
                for word in range(len(item)):
                    left = item[word] & a[word]
                    while left:
                        left &= left - ONE
                        with_a += 1
                    left = item[word] & b[word]
                    while left:
                        left &= left - ONE
                        with_b += 1
                    left = item[word] & c[word]
                    while left:
                        left &= left - ONE
                        with_c += 1
                    left = item[word] & d[word]
                    while left:
                        left &= left - ONE
                        with_d += 1
                counts[i, j] += with_a
                counts[i, j + 1] += with_b
                counts[i, j + 2] += with_c
                counts[i, j + 3] += with_d


def singles(indices: Any, counts: Any) -> None:
    """Add one to the count of each item that is listed."""
    for item in indices:
        counts[item] += 1


def listed_pairs(indptr: Any, indices: Any, numbers: Any, counts: Any) -> None:
    """Add one for every two chosen items of each transaction; `numbers` has -1 for items that are not chosen."""
    chosen = np.empty(len(numbers), np.int64)
    for row in range(len(indptr) - 1):
        held = 0
        for position in range(indptr[row], indptr[row + 1]):
            chosen[held] = numbers[indices[position]]
            held += chosen[held] >= 0
        for first in range(held):
            for second in range(first + 1, held):
                counts[chosen[first], chosen[second]] += 1


def set_chosen_bits(bits: Any, indptr: Any, indices: Any, numbers: Any) -> None:
    """Set the bits of the chosen items of each transaction of one block, 64 transactions at a time.

    The words of 64 transactions are gathered in the cache; items that are not chosen share the last word.
    """
    gathered = np.zeros(len(bits) + 1, np.uint64)
    rows = len(indptr) - 1
    for word in range((rows + 63) // 64):
        for row in range(64 * word, min(rows, 64 * word + 64)):
            bit = ONE << np.uint64(row & 63)
            for position in range(indptr[row], indptr[row + 1]):
                gathered[numbers[indices[position]]] |= bit
        for item in range(len(bits)):
            bits[item, word] = gathered[item]
            gathered[item] = 0


def copy_rows(indptr: Any, indices: Any, rows: Any, starts: Any, copied: Any) -> None:
    """Copy the items of some transactions one after the other, each to its start."""
    for index in range(len(rows)):
        items = indices[indptr[rows[index]] : indptr[rows[index] + 1]]
        copied[starts[index] : starts[index] + len(items)] = items
