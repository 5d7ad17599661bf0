"""Disguising many rows: loops compiled by numba if it is installed, else numpy, with identical results."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from inspect import isfunction
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.coins import WORD
from sottovoce.schemas.attribute import Codes, Columns

Loop = Callable[..., Any]

Joint = NDArray[np.uint32]
"""Numbers of joint cells, of which there are at most 2^32."""

BULK_ROWS = 2**16
"""Number of rows from which it pays to import numba."""


def compiler() -> Callable[[Loop], Loop] | None:
    """Function that compiles a loop, or None if numba is not installed."""
    try:
        import_module("numba")
    except ImportError:
        return None
    return compile_loop


def compile_loop(loop: Loop) -> Loop:
    """Compile a loop to machine code that releases the GIL, cached on disk for the next run."""
    numba = import_module("numba")
    try:
        compiled: Loop = numba.njit(cache=True, nogil=True)(loop)
    except RuntimeError:  # no folder for the cache is writable
        compiled = numba.njit(nogil=True)(loop)
    return compiled


@cache
def kernels(module: str = "sottovoce.mechanisms._kernels") -> Any:
    """Compiled functions of a `_kernels` module, or None if numba is not installed."""
    compile_loop = compiler()
    if compile_loop is None:
        return None
    plain = vars(import_module(module)).items()
    return SimpleNamespace(**{name: compile_loop(loop) for name, loop in plain if isfunction(loop)})


def reciprocal(divisor: int) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Factor, addend and shift with `u // divisor == (u factor + addend) >> shift` for every 32-bit word u.

    The factor has 32 bits, so that nothing exceeds 64 (A. D. Robison 2005, Proc. 17th IEEE Symposium on Computer
    Arithmetic, 131-139): it is `2^shift / divisor`, rounded up if that is close enough, else rounded down with the
    factor itself as addend. A power of two needs the shift only.

    >>> [int(v) for v in reciprocal(10)]
    [3435973837, 0, 35]
    """
    bits = divisor.bit_length() - 1
    factor, rest = divmod(WORD << bits, divisor)
    if rest == 0:
        return np.uint64(1), np.uint64(0), np.uint64(bits)
    if divisor - rest <= 1 << bits:
        return np.uint64(factor + 1), np.uint64(0), np.uint64(32 + bits)
    return np.uint64(factor), np.uint64(factor), np.uint64(32 + bits)


def join(loops: Any, columns: Sequence[Codes], sizes: Sequence[int]) -> Joint:
    """Numbers of the joint cells, as `schemas.attribute.ravel` computes them."""
    joint: Joint = columns[0].astype(np.uint32)
    for codes, size in zip(columns[1:], sizes[1:], strict=True):
        loops.join(read_only(codes), np.uint64(size), joint)
    return joint


def split(loops: Any, joint: Joint, sizes: Sequence[int]) -> Columns:
    """Codes of each attribute, as `schemas.attribute.unravel` computes them; overwrites `joint`."""
    columns: list[Codes] = []
    for size in reversed(sizes[1:]):
        codes = np.empty(len(joint), np.min_scalar_type(size - 1))
        loops.split(joint, np.uint64(size), *reciprocal(size), codes)
        columns.append(codes)
    first = joint.astype(np.min_scalar_type(sizes[0] - 1))
    return (first, *reversed(columns))


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    """Contiguous read-only view or copy: one type of array, so that each loop is compiled once."""
    view = np.ascontiguousarray(values).view()
    view.flags.writeable = False
    return view
