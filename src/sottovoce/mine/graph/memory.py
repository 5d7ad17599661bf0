"""Memory that a graph may take: said before anything is started."""

from typing import Any

from sottovoce.errors import SottovoceError

MEMORY = 2**31
"""Bytes that a call may take unless it is told otherwise."""

BYTES_A_PAIR = 48
"""Of a reported pair, while it is drawn, sorted and turned into rows."""


def checked_memory(memory: Any) -> float:
    """A positive number of bytes."""
    if isinstance(memory, bool) or not isinstance(memory, int | float) or not memory > 0:
        raise SottovoceError("memory", "must be a positive number of bytes", memory)
    return float(memory)


def in_gigabytes(count: float) -> str:
    """Bytes for people.

    >>> in_gigabytes(2**31)
    '2.15 GB'
    """
    return f"{count / 1e9:.3g} GB"
