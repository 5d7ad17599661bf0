"""A limit on reports from one address, kept in memory and forgotten within seconds."""

import time
from collections import Counter
from collections.abc import Callable

WINDOW_SECONDS = 10.0
MOST_ADDRESSES = 100_000


class RateLimit:
    """So many requests from an address in a window; at its end all addresses are forgotten.

    >>> limit = RateLimit(2, clock=lambda: 0.0)
    >>> [limit.allows("here"), limit.allows("here"), limit.allows("here"), limit.allows("there")]
    [True, True, False, True]
    """

    def __init__(self, most: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        """Allow `most` in a window; None allows any number."""
        self._most = most
        self._clock = clock
        self._ends = 0.0
        self._seen: Counter[str] = Counter()

    def allows(self, address: str) -> bool:
        """Count a request, and say whether it is within the limit."""
        if self._most is None:
            return True
        if self._clock() >= self._ends or len(self._seen) >= MOST_ADDRESSES:
            self._seen.clear()
            self._ends = self._clock() + WINDOW_SECONDS
        self._seen[address] += 1
        return self._seen[address] <= self._most
