"""Loops over rows that `bulk` compiles; as plain Python they give the same results, slowly.

All numbers are unsigned integers of at most 64 bits, and none overflows: words, sides and cells are below 2^32. A
division is a multiplication, an addition and a shift (`bulk.reciprocal`), which compilers turn into vector
instructions. Bounds are not checked here: the truths must have passed `bulk.check_codes`, and the words must come from
`coins.take_blocks`.
"""

from typing import Any

import numpy as np


def join(codes: Any, size: Any, joint: Any) -> None:
    """Append the codes of an attribute of this size to the numbers of the joint cells."""
    for row in range(len(joint)):
        joint[row] = joint[row] * size + np.uint64(codes[row])


def split(joint: Any, size: Any, factor: Any, addend: Any, shift: Any, codes: Any) -> None:
    """Split the codes of the last attribute off the numbers of the joint cells: the inverse of `join`."""
    for row in range(len(joint)):
        cell = np.uint64(joint[row])
        rest = (cell * factor + addend) >> shift
        codes[row] = cell - rest * size
        joint[row] = rest


def diagonal_reports(words: Any, coin: Any, joint: Any) -> None:
    """Replace truths by reports of the diagonal mechanism; `coin` is `Diagonal._kernel_arguments`."""
    factor, addend, shift, truth, turn_factor, turn_addend, turn_shift, cells = coin
    for row in range(len(joint)):
        side = (words[row] * factor + addend) >> shift
        beyond = side - truth if side >= truth else np.uint64(0)
        turn = ((beyond * turn_factor + turn_addend) >> turn_shift) + np.uint64(1)
        report = joint[row] + (turn if side >= truth else np.uint64(0))
        joint[row] = report - cells if report >= cells else report


def matrix_reports(words: Any, coin: Any, guide: Any, ends: Any, joint: Any) -> None:
    """Replace truths by reports of a matrix; `coin`, `guide` and `ends` are `Listed._kernel_arguments`."""
    factor, addend, shift, sides, coarse, reports = coin
    for row in range(len(joint)):
        side = (words[row] * factor + addend) >> shift
        first = joint[row] * reports
        key = joint[row] * sides + side
        report = np.uint64(guide[joint[row], side >> coarse])
        while key >= ends[first + report]:
            report += np.uint64(1)
        joint[row] = report
