"""Flip the bits of item sets in bulk, with exactly the distribution of `Flips`, without a random number for each bit.

A uniform number U in [0, 1) is read bit by bit. After b bits it is known to lie in `[u, u + 1) / 2^b`; as soon as that
interval lies within one part of [0, 1), that part is drawn, whatever bits would follow. So a part of length k/D is
drawn with probability k/D exactly, for any integers, and nothing is rounded.

How the random words are used, exactly; `words` are little-endian and have 64 bits, shorter numbers are taken from
their low end first:

1. `random_words(rng)` gives each block of transactions 8 words of 32 bits, in order: a key. The words of the block are
   the AES-256-CTR key stream of that key, from counter 0. So the reports do not depend on the number of threads. Each
   request below takes whole words.
2. Noise, as if every set of the whole block were empty. A *lane* is one transaction's bit of an item.
   `SparseNoise`, if all items have the same coin and it sets less than 1/8 (or more than 7/8) of the lanes: one word
   for each item draws the number of lanes that differ from the rest (`draw` from the binomial distribution); then 16
   bits for each such lane, items in order, draw which lane (the low bits, as many as the lanes need). Lanes that
   were drawn before are drawn again, items in order, until none is missing.
   `DenseNoise`, for any other coins: the binary digits of each item's probability, one after the other, are compared
   with the bits of one word for every 64 lanes that are not all decided.
3. True items, transaction by transaction: 32 bits each; the bit becomes one if they are below the first 32 digits of
   the probability, which overwrites the noise. If they are equal, the words that follow decide, in order.
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
"""`SparseNoise` is faster if fewer than one in so many lanes differ."""


def draw(ends: Sequence[int], known: int, bits: int, more: Callable[[], int], step: int = 64) -> int:
    """Index of the part of [0, 1) that U falls into; part i ends at `ends[i] / ends[-1]`.

    `known` holds the first `bits` bits of U; `more()` returns the next `step` bits when they are needed.

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


def digit(part: int, whole: int, position: int) -> int:
    """Binary digit of part/whole at a position after the point, by long division; 1 is written .111...

    >>> [digit(1, 3, position) for position in range(1, 7)], [digit(1, 1, position) for position in range(1, 4)]
    ([0, 1, 0, 1, 0, 1], [1, 1, 1])
    """
    return 1 if part == whole else (part << position) // whole & 1


def binomial_ends(trials: int, part: int, whole: int) -> Iterator[int]:
    """Cumulative binomial distribution, in integers, for the success probability part/whole < 1.

    `ends[c] = sum_{j <= c} C(n, j) k^j (D - k)^(n - j)`, out of `D^n`.

    >>> list(binomial_ends(2, 1, 3))
    [4, 8, 9]
    """
    return accumulate(_terms(trials, part, whole - part))


@lru_cache(maxsize=64)
def binomial_digits(trials: int, part: int, whole: int) -> NDArray[np.uint64]:
    """First 64 bits of the cumulative binomial distribution, rounded down, up to the first that are all ones."""
    total = whole**trials
    digits = ((end << 64) // total for end in binomial_ends(trials, part, whole))
    return np.array([*takewhile(lambda bits: bits < FULL, digits), FULL], np.uint64)


def _terms(trials: int, part: int, rest: int) -> Iterator[int]:
    term = rest**trials
    for successes in range(trials + 1):
        yield term
        term = term * (trials - successes) * part // ((successes + 1) * rest)


class BlockWords:
    """Random words of one block: the AES-256-CTR key stream of its key."""

    def __init__(self, key: NDArray[np.uint32]) -> None:
        """Start at the first word."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        self._stream = Cipher(algorithms.AES(key.astype("<u4").tobytes()), modes.CTR(bytes(16))).encryptor()

    def take(self, count: int, kind: str = "<u8") -> NDArray[Any]:
        """Take the next numbers of a type from whole words; there may be up to three more than asked for."""
        words = -(-count * np.dtype(kind).itemsize // 8)
        return np.frombuffer(self._stream.update(bytes(8 * words)), kind)

    def more(self) -> int:
        """Take the next word."""
        return int(self.take(1)[0])


@dataclass(frozen=True)
class SparseNoise:
    """Noise of one coin for all items: draw the number of lanes that differ, then which ones."""

    coin: BitCoin

    def fill(self, bits: NDArray[np.uint64], words: BlockWords) -> None:
        """Fill a block of zeros."""
        rare = min(self.coin.zero, self.coin.sides - self.coin.zero)
        missing = binomial_counts(64 * bits.shape[1], Fraction(rare, self.coin.sides), len(bits), words)
        set_lanes = kernel(_kernels.set_random_lanes, _arrays.set_random_lanes)
        while total := int(missing.sum()):
            counts = missing.copy()
            set_lanes(bits, counts, words.take(total, "<u2"), missing)
        if rare != self.coin.zero:
            np.invert(bits, out=bits)


@dataclass(frozen=True)
class DenseNoise:
    """Noise of any coins: compare random bits with the digits of each item's probability, digit by digit."""

    coins: Sequence[BitCoin]

    def fill(self, bits: NDArray[np.uint64], words: BlockWords) -> None:
        """Fill a block of zeros."""
        compare = kernel(_kernels.compare_digits, _arrays.compare_digits)
        open_words = np.arange(bits.size)
        undecided = np.full(bits.size, FULL, np.uint64)
        left, position = bits.size, 0
        while left:
            position += 1
            left = int(compare(bits, open_words, undecided, self._digits(position), words.take(left)))

    def _digits(self, position: int) -> NDArray[np.uint64]:
        """All ones or all zeros for each item, computed once for all blocks."""
        if position not in self._known_digits:
            digits = {coin: digit(coin.zero, coin.sides, position) for coin in set(self.coins)}
            self._known_digits[position] = np.array([digits[coin] * FULL for coin in self.coins], np.uint64)
        return self._known_digits[position]

    @cached_property
    def _known_digits(self) -> dict[int, NDArray[np.uint64]]:
        return {}


def binomial_counts(trials: int, chance: Fraction, how_many: int, words: BlockWords) -> NDArray[np.int64]:
    """Draw binomial numbers of successes with an exact probability, from one word each and more if needed."""
    binomial = (trials, *chance.as_integer_ratio())
    drawn = words.take(how_many)
    digits = binomial_digits(*binomial)
    counts = np.searchsorted(digits, drawn).astype(np.int64)
    for tie in np.flatnonzero(digits[counts] == drawn):
        counts[tie] = draw(list(binomial_ends(*binomial)), int(drawn[tie]), 64, words.more)
    return counts


def disguised_bitsets(truths: Csr, flips: Flips, words: RandomWords, threads: int | None = None) -> Bitsets:
    """Disguise transactions whose items are listed, as the docstring of this module says."""
    indptr, indices = truths
    coins = flips.bit_coins
    reports = Bitsets.empty(len(indptr) - 1, len(coins))
    keys = words.take(KEY_WORDS * len(reports.words)).reshape(-1, KEY_WORDS)
    noise = _noise(flips)
    thresholds = np.array([min((coin.one << 32) // coin.sides, 2**32 - 1) for coin in coins], np.uint32)

    def disguise(block: int) -> None:
        block_words = BlockWords(keys[block])
        noise.fill(reports.words[block], block_words)
        _overwrite(reports.words[block], reports.rows(indptr, block), indices, thresholds, coins, block_words)

    in_threads(disguise, len(reports.words), threads)
    reports.clear_beyond()
    return reports


def _noise(flips: Flips) -> SparseNoise | DenseNoise:
    """Choose the faster noise for these coins."""
    coin = flips.bits[0]
    rare = min(coin.zero, coin.sides - coin.zero)
    return (
        SparseNoise(coin) if len(set(flips.bits)) == 1 and SPARSE * rare < coin.sides else DenseNoise(flips.bit_coins)
    )


def _overwrite(
    bits: NDArray[np.uint64], indptr: Any, indices: Any, thresholds: Any, coins: Sequence[BitCoin], words: BlockWords
) -> None:
    """Draw the bits of true items, which overwrite the noise."""
    drawn = words.take(int(indptr[-1] - indptr[0]), "<u4")
    if not kernel(_kernels.overwrite, _arrays.overwrite)(bits, indptr, indices, drawn, thresholds):
        return
    items = indices[indptr[0] : indptr[-1]]
    for position in np.flatnonzero(drawn[: len(items)] == thresholds[items]):
        coin = coins[items[position]]
        lane = int(np.searchsorted(indptr, indptr[0] + position, side="right")) - 1
        part = draw([coin.one, coin.sides], int(drawn[position]), 32, words.more)
        bits[items[position], lane >> 6] |= np.uint64((1 - part) << (lane & 63))
