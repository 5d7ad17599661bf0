"""Coins with any number of sides from random words: every draw is an exactly uniform integer.

The rule, which a client in any language can follow to the same bytes:

1. Randomness is a stream of 32-bit words. A coin of D sides takes one word; it takes two, the high one first, if
   D > 2^32 or if one word would be rejected too often (2^32 mod D > 2^20).
2. With R = 2^32 or 2^64 and `step = floor(R / D)`, a word u is accepted if `u < step D`, and the coin shows
   `floor(u / step)`. Nothing is rounded, so all sides are equally likely.
3. A record's coins, in order, are one block of words. A block with a word that is not accepted is discarded as a
   whole, and the next one is used. No truth is read before a block is accepted.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import whole_number
from sottovoce.errors import SottovoceError

WORD = 2**32
"""Number of values of a word."""

MOST_SIDES = 2**64
"""Largest number of sides of a coin."""

RARELY_REJECTED = 2**20
"""Rejected values of a word up to which a coin takes one word only."""

Coins = tuple[NDArray[np.uint64], ...]
"""Side that each coin shows, for each record."""

Blocks = NDArray[np.uint32]
"""Words of each record, one row for each."""

Randomness = np.random.Generator | int | None
"""A seeded generator or a seed, for experiments; None for the operating system's randomness."""


class RandomWords(Protocol):
    """A stream of 32-bit words."""

    def take(self, count: int) -> NDArray[np.uint32]:
        """Next words of the stream."""


class SecureWords:
    """Unpredictable words: the AES-256-CTR key stream of a random key from the operating system."""

    def __init__(self) -> None:
        """Draw a new key, used for this stream only and stored nowhere else."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        self._stream = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(bytes(16))).encryptor()

    def take(self, count: int) -> NDArray[np.uint32]:
        """Next words of the key stream, which is the encryption of zeros."""
        return np.frombuffer(self._stream.update(bytes(4 * count)), "<u4")


class SeededWords:
    """Words that a seed repeats: for experiments and tests, never for people's answers."""

    def __init__(self, rng: np.random.Generator) -> None:
        """Take words from this generator."""
        self._rng = rng

    def take(self, count: int) -> NDArray[np.uint32]:
        """Next words of the generator; the same stream in however many calls."""
        return self._rng.integers(0, WORD, size=count, dtype=np.uint32)


class ListedWords:
    """Given words, for test vectors; taking more than there are is an error."""

    def __init__(self, words: Sequence[int]) -> None:
        """Store the words."""
        self._words = np.array(words, dtype=np.uint32)
        self._used = 0

    def take(self, count: int) -> NDArray[np.uint32]:
        """Next of the given words."""
        left = len(self._words) - self._used
        if count > left:
            raise SottovoceError("words", f"must hold at least {count} more", left)
        self._used += count
        return self._words[self._used - count : self._used]


def random_words(rng: Any = None) -> RandomWords:
    """Stream of words: unpredictable ones, or those of a given seed or generator.

    >>> random_words(7).take(2)
    array([4058335883, 2684764585], dtype=uint32)
    """
    if rng is None:
        return SecureWords()
    if isinstance(rng, np.random.Generator):
        return SeededWords(rng)
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return SeededWords(np.random.default_rng(int(rng)))
    raise SottovoceError("rng", "must be a numpy Generator, a seed that is not negative, or None", rng)


@dataclass(frozen=True)
class Coin:
    """A coin with up to 2^64 sides, drawn from random words.

    >>> Coin(6).step, Coin(6).width
    (715827882, 1)
    """

    sides: int

    def __post_init__(self) -> None:
        """Check the number of sides."""
        object.__setattr__(self, "sides", whole_number("sides", self.sides, most=MOST_SIDES))

    @cached_property
    def width(self) -> int:
        """Number of words that one draw takes."""
        return 2 if self.sides > WORD or WORD % self.sides > RARELY_REJECTED else 1

    @cached_property
    def step(self) -> int:
        """Number of values of the words that show the same side."""
        return int(WORD**self.width // self.sides)

    def read(self, words: NDArray[np.uint32]) -> NDArray[np.uint64]:
        """Sides that accepted words show; each row holds the words of one draw."""
        value = self._value(words).astype(np.uint64, copy=False)
        return value if self.step == 1 else value // np.uint64(self.step)

    def accepts(self, words: NDArray[np.uint32]) -> NDArray[np.bool_] | None:
        """Whether the words of each draw are accepted; None if all words are."""
        limit = self.step * self.sides
        if limit == WORD**self.width:
            return None
        value = self._value(words)
        return np.asarray(value < value.dtype.type(limit))

    def _value(self, words: NDArray[np.uint32]) -> NDArray[np.uint32] | NDArray[np.uint64]:
        if self.width == 1:
            return words[:, 0]
        return (words[:, 0].astype(np.uint64) << np.uint64(32)) | words[:, 1]


def flip(coins: Sequence[Coin], count: int, words: RandomWords) -> Coins:
    """Flip coins for a number of records, by the rule of this module.

    >>> flip([Coin(6)], 3, ListedWords([0, 2**32 - 1, 715827882, 2**32 - 5]))
    (array([0, 1, 5], dtype=uint64),)
    """
    return read_blocks(coins, take_blocks(coins, count, words))


def take_blocks(coins: Sequence[Coin], count: int, words: RandomWords) -> Blocks:
    """Accepted blocks of words, one for each record; blocks with a word that is not accepted are discarded.

    >>> take_blocks([Coin(6)], 2, ListedWords([0, 2**32 - 1, 7]))
    array([[0],
           [7]], dtype=uint32)
    """
    width = sum(coin.width for coin in coins)
    parts = [np.zeros((0, width), np.uint32)]
    while count > 0:
        blocks = words.take(count * width).reshape(count, width)
        accepted = accepted_blocks(coins, blocks)
        parts.append(blocks if accepted is None or accepted.all() else blocks[accepted])
        count -= len(parts[-1])
    return parts[1] if len(parts) == 2 else np.concatenate(parts)


def accepted_blocks(coins: Sequence[Coin], blocks: Blocks) -> NDArray[np.bool_] | None:
    """Whether all coins accept their words, for each block; None if no block can be rejected."""
    accepted = None
    for coin, words in zip(coins, _words_of(coins, blocks), strict=True):
        by_coin = coin.accepts(words)
        accepted = by_coin if accepted is None else accepted if by_coin is None else accepted & by_coin
    return accepted


def read_blocks(coins: Sequence[Coin], blocks: Blocks) -> Coins:
    """Sides that the coins show in accepted blocks."""
    return tuple(coin.read(words) for coin, words in zip(coins, _words_of(coins, blocks), strict=True))


def shuffled(count: int, jumps: Coins, rows: int) -> NDArray[np.int64]:
    """Fisher-Yates shuffle of 0 ... count - 1 in every row: index i is swapped with i plus its jump.

    With coins of count, count - 1, ... sides for the first indices, every ordered choice of numbers is equally likely
    at those indices.

    >>> shuffled(3, (np.array([2], np.uint64), np.array([0], np.uint64)), rows=1)
    array([[2, 1, 0]])
    """
    order = np.tile(np.arange(count), (rows, 1))
    every = np.arange(rows)
    for index, jump in enumerate(jumps):
        other = index + jump.astype(np.int64)
        order[every, index], order[every, other] = order[every, other], order[every, index].copy()
    return order


def _words_of(coins: Sequence[Coin], blocks: Blocks) -> list[Blocks]:
    """Columns of the blocks that belong to each coin."""
    ends = list(accumulate((coin.width for coin in coins), initial=0))
    return [blocks[:, start:end] for start, end in pairwise(ends)]
