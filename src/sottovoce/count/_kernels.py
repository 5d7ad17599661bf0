"""Loops over rows, for `mechanism.bulk` to compile. `contingency` checks the bounds."""

from typing import Any


def tally(joint: Any, counts: Any) -> None:
    """Add one to the count of each row's joint cell."""
    for row in range(len(joint)):
        counts[joint[row]] += 1
