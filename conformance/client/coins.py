"""Words become sides of coins, and sides become entries of lists and the order of shuffled ones."""

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

Entry = TypeVar("Entry")


def flip(coins: Sequence[int], words: Sequence[int], used: int) -> tuple[list[int], int]:
    """What the coins of one record show, and how many words of the stream are used after it.

    The first word is not accepted by a coin of six sides:

    >>> flip([6], [2**32 - 1, 715827882], 0)
    ([1], 2)
    """
    while True:
        shown, accepted = [], True
        for sides in coins:
            wide = sides > 2**32 or 2**32 % sides > 2**20
            value = words[used] * 2**32 + words[used + 1] if wide else words[used]
            used += 2 if wide else 1
            step = (2**64 if wide else 2**32) // sides
            accepted = accepted and value < step * sides
            shown.append(value // step)
        if accepted:
            return shown, used


def picked(runs: Sequence[int], side: int) -> int:
    """Entry of a list in whose run of sides a side falls.

    >>> [picked([3, 0, 2], side) for side in range(5)]
    [0, 0, 0, 2, 2]
    """
    return next(entry for entry, end in enumerate(accumulate(runs)) if side < end)


def shuffled(entries: Sequence[Entry], shown: Sequence[int]) -> list[Entry]:
    """Entries after each place in turn was swapped with the one as far behind it as its coin shows.

    >>> shuffled("abcd", [2, 0])
    ['c', 'b', 'a', 'd']
    """
    order = list(entries)
    for place, jump in enumerate(shown):
        order[place], order[place + jump] = order[place + jump], order[place]
    return order
