"""The compiler of loops: numba where the extra `fast` is installed, imported on the first bulk call only."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

Loop = Callable[..., Any]


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
