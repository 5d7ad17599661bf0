"""A limit on reports from one address, kept in memory and forgotten within seconds."""

import time
from collections import Counter
from collections.abc import Callable
from ipaddress import IPv6Address

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
        sender = _sender(address)
        self._seen[sender] += 1
        return self._seen[sender] <= self._most


def _sender(address: str) -> str:
    """Who is counted: an address, or the network of an IPv6 address, for a household has 2^64 of those.

    >>> _sender("2001:db8::1") == _sender("2001:db8::2:3"), _sender("192.0.2.1")
    (True, '192.0.2.1')
    """
    if ":" not in address:
        return address
    try:
        found = IPv6Address(address)
    except ValueError:
        return address  # whatever a proxy may say
    return str(found.ipv4_mapped or found.packed[:8].hex())
