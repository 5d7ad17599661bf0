"""Lists of receipts, with which anybody can check that a report is stored without telling which one.

A receipt is a hash of a report and of random bytes that nobody else knows: it tells nothing about the report. The lists
are sorted, so they tell no order of arrival, and each request gets many receipts at a time.
"""

import re
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence

import msgspec

from sottovoce.surveys.client.client import MOST_WHOLE_RECEIPTS

FIRST_BYTE = re.compile(r"[0-9a-f]{2}")
"""First byte of a receipt, by which a part of a list is asked for."""

FRESH_SECONDS = 2.0
"""Time for which a list is not read again: those who miss a receipt ask once more after a while."""

MOST_LISTS = 8
"""Most surveys whose lists are in memory."""


class ReceiptList:
    """The receipts of a survey at a moment, as JSON.

    >>> listed = ReceiptList([bytes.fromhex("00ab"), bytes.fromhex("01cd")], 0.0)
    >>> listed.whole, listed.part("01"), listed.part("02")
    (b'{"count":2,"receipts":["00ab","01cd"]}', b'["01cd"]', b'[]')
    """

    def __init__(self, receipts: Sequence[bytes], read_at: float) -> None:
        """Keep sorted receipts, and when they were read."""
        self.read_at = read_at
        self._receipts = [receipt.hex() for receipt in receipts]

    @property
    def whole(self) -> bytes:
        """Number of receipts, and all of them unless they are many."""
        listed = self._receipts if len(self._receipts) <= MOST_WHOLE_RECEIPTS else None
        return msgspec.json.encode({"count": len(self._receipts), "receipts": listed})

    def part(self, first: str) -> bytes:
        """Return the receipts that begin with two hexadecimal digits."""
        start, stop = bisect_left(self._receipts, first), bisect_left(self._receipts, first + "g")
        return msgspec.json.encode(self._receipts[start:stop])


class ReceiptLists:
    """The lists of a few surveys, each kept for a moment, so that many requests cost no more than one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without any list."""
        self._clock = clock
        self._lists: dict[str, ReceiptList] = {}

    def fresh(self, survey: str) -> ReceiptList | None:
        """Return the list of a survey if it was read a moment ago."""
        kept = self._lists.get(survey)
        return kept if kept is not None and self._clock() - kept.read_at <= FRESH_SECONDS else None

    def keep(self, survey: str, listed: ReceiptList) -> ReceiptList:
        """Keep a list, and forget those that were kept longest if there are too many."""
        self._lists.pop(survey, None)
        self._lists[survey] = listed
        while len(self._lists) > MOST_LISTS:
            del self._lists[next(iter(self._lists))]
        return listed
