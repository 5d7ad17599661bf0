"""Loops over rows that `mechanisms.bulk` compiles; as plain Python they give the same results, slowly.

Bounds are not checked here.
"""

from typing import Any

import numpy as np


def look_up(table: Any, positions: Any, first: Any, entries: Any) -> None:
    """Write the entry of a table that starts at `first` for each position."""
    for row in range(len(positions)):
        entries[row] = table[np.uint64(np.int64(positions[row]) - first)]
