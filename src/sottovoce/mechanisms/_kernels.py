"""Loops over rows, for `bulk` to compile; as plain Python they say the same, only slowly.

Every number is an unsigned integer of at most 64 bits, and none wraps: words, sides and cells are
below 2^32. A division is a multiplication, an addition and a shift (`bulk.reciprocal`), which
compilers turn into vector instructions. Nothing here checks bounds: `bulk.check_codes` must have
seen the truths, and `coins.take_blocks` the words.
"""

from typing import Any

import numpy as np


def join(codes: Any, size: Any, joint: Any) -> None:
    """Append an attribute of this size to the numbers of the joint cells."""
    for row in range(len(joint)):
        joint[row] = joint[row] * size + np.uint64(codes[row])


def split(joint: Any, size: Any, factor: Any, addend: Any, shift: Any, codes: Any) -> None:
    """Take the last attribute of this size off the numbers of the joint cells: the inverse of `join`."""
    for row in range(len(joint)):
        cell = np.uint64(joint[row])
        rest = (cell * factor + addend) >> shift
        codes[row] = cell - rest * size
        joint[row] = rest


def go_round(words: Any, coin: Any, joint: Any) -> None:
    """Report of the diagonal mechanism in place of the truth; `coin` as `Diagonal` lays it out."""
    factor, addend, shift, truth, turn_factor, turn_addend, turn_shift, cells = coin
    for row in range(len(joint)):
        side = (words[row] * factor + addend) >> shift
        beyond = side - truth if side >= truth else np.uint64(0)
        turn = ((beyond * turn_factor + turn_addend) >> turn_shift) + np.uint64(1)
        report = joint[row] + (turn if side >= truth else np.uint64(0))
        joint[row] = report - cells if report >= cells else report


def look_up(words: Any, coin: Any, guide: Any, ends: Any, joint: Any) -> None:
    """Report of a listed matrix in place of the truth; `coin` and both tables as `Listed` lays them out."""
    factor, addend, shift, sides, coarse, reports = coin
    for row in range(len(joint)):
        side = (words[row] * factor + addend) >> shift
        first = joint[row] * reports
        key = joint[row] * sides + side
        report = np.uint64(guide[joint[row], side >> coarse])
        while key >= ends[first + report]:
            report += np.uint64(1)
        joint[row] = report
