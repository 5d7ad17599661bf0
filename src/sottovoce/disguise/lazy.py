"""Exact draws from few random bits: more are taken only where those at hand do not decide.

A uniform number U in [0, 1) is read bit by bit. After b bits it is known to lie in `[u, u + 1) / 2^b`;
as soon as that interval lies in one part of [0, 1), the part is drawn, whatever bits would follow. So
a part of length k/D is drawn with probability k/D exactly, for any whole numbers, and nothing is rounded.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, takewhile

import numpy as np
from numpy.typing import NDArray

FULL = 2**64 - 1


def draw(ends: Sequence[int], known: int, bits: int, more: Callable[[], int], step: int = 64) -> int:
    """Number of the part that U falls into; the parts end at `ends` of `ends[-1]`.

    `known` holds the first bits of U, `more()` gives the next `step` of them when they are needed.

    >>> draw([1, 3], known=0, bits=1, more=iter([1, 0, 0]).__next__, step=1)  # .0100 < 1/3 = .0101...
    0
    """
    total = ends[-1]
    while True:
        first = bisect_right(ends, known * total >> bits)
        last = bisect_left(ends, -(-(known + 1) * total >> bits))
        if first == last:
            return first
        known, bits = known << step | more(), bits + step


def digit(part: int, whole: int, place: int) -> int:
    """Binary digit of part/whole at a place after the point, by long division; 1 is written .111...

    >>> [digit(1, 3, place) for place in range(1, 7)], [digit(1, 1, place) for place in range(1, 4)]
    ([0, 1, 0, 1, 0, 1], [1, 1, 1])
    """
    return 1 if part == whole else (part << place) // whole & 1


def binomial_ends(trials: int, part: int, whole: int) -> Iterator[int]:
    """Distribution function of the number of successes among trials of chance part/whole < 1.

    `ends[c] = sum_{j <= c} C(n, j) k^j (D - k)^(n - j)`, out of `D^n`.

    >>> list(binomial_ends(2, 1, 3))
    [4, 8, 9]
    """
    return accumulate(_terms(trials, part, whole - part))


@lru_cache(maxsize=64)
def binomial_digits(trials: int, part: int, whole: int) -> NDArray[np.uint64]:
    """First 64 bits of the distribution function, rounded down, as far as they are not all ones."""
    total = whole**trials
    digits = ((end << 64) // total for end in binomial_ends(trials, part, whole))
    return np.array([*takewhile(lambda bits: bits < FULL, digits), FULL], np.uint64)


def _terms(trials: int, part: int, rest: int) -> Iterator[int]:
    term = rest**trials
    for successes in range(trials + 1):
        yield term
        term = term * (trials - successes) * part // ((successes + 1) * rest)
