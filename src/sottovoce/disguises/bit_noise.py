"""Noise on bits of item sets in bulk, without a random number for each, with exactly the distribution of `Flips`.

A uniform number U in [0, 1) is read bit by bit. After b bits it is known to lie in `[u, u + 1) / 2^b`;
as soon as that interval lies in one part of [0, 1), the part is drawn, whatever bits would follow. So
a part of length k/D is drawn with probability k/D exactly, for any whole numbers, and nothing is rounded.

The words, precisely; `words` are little-endian and of 64 bits, their parts are taken low ones first:

1. `random_words(rng)` gives each block of transactions 8 words of 32 bits, in order: a key. The
   block's own words are the AES-256-CTR key stream of that key, from counter 0. So the reports do not
   depend on threads, nor on who computes them; each request below takes whole words.
2. Noise, as if every set of the (whole) block were empty. With one coin for all items that shows a
   one for less than 1/8 (or more than 7/8) of the empty lanes, *scattered*: one word for each item
   draws how many lanes differ from the rest (`lazy.draw` from the binomial law); then 16 bits a lane,
   items in order, draw which ones (the low bits, as many as number the lanes). Lanes drawn before
   are drawn anew, items in order, until none is missing.
   With any other coins, *sliced*: the digits of each item's chance after the binary point, place by
   place, are compared with the bits of one word for every 64 lanes with an undecided one among them.
3. True items, transaction by transaction: 32 bits each, a one if they are below the chance's digits,
   which overwrites the noise. Where they equal them, words that follow decide, in order.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.disguises import _arrays, _kernels
from sottovoce.mechanisms.coins import RandomWords
from sottovoce.mechanisms.flips import BitCoin, Flips
from sottovoce.tables.bitsets import Bitsets, Csr
from sottovoce.tables.parallel import in_threads, kernel

FULL = 2**64 - 1
KEY_WORDS = 8
SPARSE = 8
"""Scattering is the faster way to noise that is rarer than one in so many."""


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


class BlockWords:
    """Words of one block: the key stream of its key."""

    def __init__(self, key: NDArray[np.uint32]) -> None:
        """Start at the first word."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        self._stream = Cipher(algorithms.AES(key.astype("<u4").tobytes()), modes.CTR(bytes(16))).encryptor()

    def take(self, count: int, kind: str = "<u8") -> NDArray[Any]:
        """Next numbers of a kind, from whole words; there may be up to three more than asked for."""
        words = -(-count * np.dtype(kind).itemsize // 8)
        return np.frombuffer(self._stream.update(bytes(8 * words)), kind)

    def more(self) -> int:
        """Next word, alone."""
        return int(self.take(1)[0])


@dataclass(frozen=True)
class Scattered:
    """Noise of one coin for all items: how many lanes, then which."""

    coin: BitCoin

    def fill(self, bits: NDArray[np.uint64], words: BlockWords) -> None:
        """Fill a block of zeros."""
        rare = min(self.coin.zero, self.coin.sides - self.coin.zero)
        missing = binomial_counts(64 * bits.shape[1], Fraction(rare, self.coin.sides), len(bits), words)
        scatter = kernel(_kernels.scatter, _arrays.scatter)
        while total := int(missing.sum()):
            counts = missing.copy()
            scatter(bits, counts, words.take(total, "<u2"), missing)
        if rare != self.coin.zero:
            np.invert(bits, out=bits)


@dataclass(frozen=True)
class Sliced:
    """Noise of any coins: the digits of each item's chance, place by place."""

    coins: Sequence[BitCoin]

    def fill(self, bits: NDArray[np.uint64], words: BlockWords) -> None:
        """Fill a block of zeros."""
        compare = kernel(_kernels.compare, _arrays.compare)
        places = np.arange(bits.size)
        undecided = np.full(bits.size, 2**64 - 1, np.uint64)
        left, digit_place = bits.size, 0
        while left:
            digit_place += 1
            left = int(compare(bits, places, undecided, self._digits(digit_place), words.take(left)))

    def _digits(self, place: int) -> NDArray[np.uint64]:
        """All ones or all zeros for each item; drawn up once for all blocks."""
        if place not in self._places:
            digits = {coin: digit(coin.zero, coin.sides, place) for coin in set(self.coins)}
            self._places[place] = np.array([digits[coin] * (2**64 - 1) for coin in self.coins], np.uint64)
        return self._places[place]

    @cached_property
    def _places(self) -> dict[int, NDArray[np.uint64]]:
        return {}


def binomial_counts(trials: int, chance: Fraction, how_many: int, words: BlockWords) -> NDArray[np.int64]:
    """Numbers of successes among so many trials of an exact chance, one word each unless that does not decide."""
    law = (trials, *chance.as_integer_ratio())
    drawn = words.take(how_many)
    digits = binomial_digits(*law)
    counts = np.searchsorted(digits, drawn).astype(np.int64)
    for place in np.flatnonzero(digits[counts] == drawn):
        counts[place] = draw(list(binomial_ends(*law)), int(drawn[place]), 64, words.more)
    return counts


def disguised_bitsets(truths: Csr, flips: Flips, words: RandomWords, threads: int | None = None) -> Bitsets:
    """Reports of transactions whose items are listed, by the rule of this module."""
    indptr, indices = truths
    coins = flips.bit_coins
    reports = Bitsets.empty(len(indptr) - 1, len(coins))
    keys = words.take(KEY_WORDS * len(reports.words)).reshape(-1, KEY_WORDS)
    noise = _noise(flips)
    thresholds = np.array([min((coin.one << 32) // coin.sides, 2**32 - 1) for coin in coins], np.uint32)

    def disguise(block: int) -> None:
        own = BlockWords(keys[block])
        noise.fill(reports.words[block], own)
        _overwrite(reports.words[block], reports.rows(indptr, block), indices, thresholds, coins, own)

    in_threads(disguise, len(reports.words), threads)
    reports.clear_beyond()
    return reports


def _noise(flips: Flips) -> Scattered | Sliced:
    """The faster way for these coins."""
    coin = flips.bits[0]
    rare = min(coin.zero, coin.sides - coin.zero)
    return Scattered(coin) if len(set(flips.bits)) == 1 and SPARSE * rare < coin.sides else Sliced(flips.bit_coins)


def _overwrite(
    bits: NDArray[np.uint64], indptr: Any, indices: Any, thresholds: Any, coins: Sequence[BitCoin], words: BlockWords
) -> None:
    """Let the coins of true items decide their bits."""
    drawn = words.take(int(indptr[-1] - indptr[0]), "<u4")
    if not kernel(_kernels.overwrite, _arrays.overwrite)(bits, indptr, indices, drawn, thresholds):
        return
    items = indices[indptr[0] : indptr[-1]]
    for position in np.flatnonzero(drawn[: len(items)] == thresholds[items]):
        coin = coins[items[position]]
        lane = int(np.searchsorted(indptr, indptr[0] + position, side="right")) - 1
        part = draw([coin.one, coin.sides], int(drawn[position]), 32, words.more)
        bits[items[position], lane >> 6] |= np.uint64((1 - part) << (lane & 63))
