"""Millions of rows: compiled loops where numba is installed, numpy where it is not, with identical bytes."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from inspect import isfunction
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import WORD
from sottovoce.schemas.attribute import Codes, Columns

Loop = Callable[..., Any]
BULK_ROWS = 2**16
"""Fewer rows than this are disguised before numba would be imported."""

Joint = NDArray[np.uint32]
"""Numbers of joint cells, of which there are at most 2^32."""


def compiler() -> Callable[[Loop], Loop] | None:
    """What compiles a loop, or None where numba is not installed."""
    try:
        import_module("numba")
    except ImportError:
        return None
    return compile_loop


def compile_loop(loop: Loop) -> Loop:
    """A loop in machine code that lets go of the interpreter's lock, kept on disk for the next run."""
    numba = import_module("numba")
    try:
        compiled: Loop = numba.njit(cache=True, nogil=True)(loop)
    except RuntimeError:  # no folder that could keep what is compiled
        compiled = numba.njit(nogil=True)(loop)
    return compiled


@cache
def kernels(module: str = "sottovoce.mechanisms._kernels") -> Any:
    """Functions of a `_kernels` module, compiled and kept on disk; None where numba is not installed."""
    compile_loop = compiler()
    if compile_loop is None:
        return None
    plain = vars(import_module(module)).items()
    return SimpleNamespace(**{name: compile_loop(loop) for name, loop in plain if isfunction(loop)})


def check_codes(columns: Sequence[Codes], sizes: Sequence[int]) -> None:
    """Refuse codes that are none of their attribute's: compiled loops would read beyond their tables.

    >>> check_codes([np.array([0, 1, 2])], (3,))
    """
    for codes, size in zip(columns, sizes, strict=True):
        ends = (codes.min().item(), codes.max().item()) if len(codes) else (0, 0)
        if ends[0] < 0 or ends[1] >= size:
            raise SottovoceError("codes", f"must be whole numbers from 0 to {size - 1}", ends)


def reciprocal(divisor: int) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Factor, addend and shift with `u // divisor == (u factor + addend) >> shift` for every word u.

    The factor has 32 bits, so that nothing exceeds 64 (A. D. Robison 2005, Proc. 17th IEEE
    Symposium on Computer Arithmetic, 131-139): `2^shift / divisor`, rounded up where that is near
    enough, else rounded down with the factor itself as addend. A power of two needs the shift only.

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
    """Numbers of the joint cells, as `schemas.cells.ravel` computes them."""
    joint: Joint = columns[0].astype(np.uint32)
    for codes, size in zip(columns[1:], sizes[1:], strict=True):
        loops.join(read_only(codes), np.uint64(size), joint)
    return joint


def split(loops: Any, joint: Joint, sizes: Sequence[int]) -> Columns:
    """Codes of each attribute, as `schemas.cells.unravel` computes them; `joint` is used up."""
    columns: list[Codes] = []
    for size in reversed(sizes[1:]):
        codes = np.empty(len(joint), np.min_scalar_type(size - 1))
        loops.split(joint, np.uint64(size), *reciprocal(size), codes)
        columns.append(codes)
    first = joint.astype(np.min_scalar_type(sizes[0] - 1))
    return (first, *reversed(columns))


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    """Same values in one piece, not to be written: one kind of array, so that each loop is compiled once."""
    view = np.ascontiguousarray(values).view()
    view.flags.writeable = False
    return view
