"""Words that make coins show what a vector needs, and words that nobody chose."""

from collections.abc import Sequence
from hashlib import shake_256

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.coins import WORD, Coin, ListedWords, flip


class CountedWords:
    """Listed words, and how many of them were taken."""

    def __init__(self, words: Sequence[int]) -> None:
        """Hold these words."""
        self._words = ListedWords(words)
        self.consumed = 0

    def take(self, count: int) -> NDArray[np.uint32]:
        """Next words, counted."""
        self.consumed += count
        return self._words.take(count)


def block(coins: Sequence[Coin], values: Sequence[int]) -> list[int]:
    """Words of a block in which each coin reads its value: the high word first where it takes two.

    >>> block([Coin(2), Coin(2**33)], [5, 2**32 + 7])
    [5, 1, 7]
    """
    pairs = [divmod(value, WORD) for value in values]
    return [word for coin, pair in zip(coins, pairs, strict=True) for word in pair[2 - coin.width :]]


def first_value(coin: Coin, side: int) -> int:
    """Least value of the words that shows a side."""
    return coin.step * side


def last_value(coin: Coin, side: int) -> int:
    """Greatest value of the words that shows a side."""
    return coin.step * (side + 1) - 1


def outermost_blocks(coins: Sequence[Coin]) -> list[list[int]]:
    """Four blocks: every coin shows its first side by the first and the last word for it, then its last side.

    >>> outermost_blocks([Coin(2)])
    [[0], [2147483647], [2147483648], [4294967295]]
    """
    return [
        block(coins, [value(coin, (coin.sides - 1) * last) for coin in coins])
        for last in (0, 1)
        for value in (first_value, last_value)
    ]


def rejected_values(coin: Coin) -> list[int]:
    """Least and greatest value that a coin does not accept; none where its sides divide the words evenly.

    >>> rejected_values(Coin(6)), rejected_values(Coin(2))
    ([4294967292, 4294967295], [])
    """
    least, greatest = coin.step * coin.sides, WORD**coin.width - 1
    return sorted({least, greatest}) if least <= greatest else []


def rejected_block(coins: Sequence[Coin], culprit: int, value: int) -> list[int]:
    """Words of a block in which one coin is not accepted, and every other would show its last side."""
    values = [value if i == culprit else last_value(coin, coin.sides - 1) for i, coin in enumerate(coins)]
    return block(coins, values)


def with_rejected(accepted: Sequence[list[int]], rejected: Sequence[list[int]]) -> list[int]:
    """Words of accepted blocks with rejected ones among them: all in a row, then one before the last."""
    blocks = [accepted[0], *rejected, *accepted[1:-1], *rejected[:1], accepted[-1]]
    return [word for block in blocks for word in block]


def unchosen_words(seed: str, count: int) -> list[int]:
    """Little-endian words of SHAKE-256 of a text: the same on every machine and release.

    >>> unchosen_words("warner 0", 2)
    [1413518646, 4109293698]
    """
    return [int(word) for word in np.frombuffer(shake_256(seed.encode()).digest(4 * count), "<u4")]


def unchosen_blocks(coins: Sequence[Coin], seed: str, records: int) -> list[int]:
    """Unchosen words for so many records, rejected blocks included, and one block more that nobody may touch."""
    width = sum(coin.width for coin in coins)
    blocks = 0
    while records > 0:
        blocks += 1
        records -= _accepted(coins, unchosen_words(seed, blocks * width)[-width:])
    return unchosen_words(seed, (blocks + 1) * width)


def _accepted(coins: Sequence[Coin], words: list[int]) -> bool:
    """Whether flipping these coins takes these words and no others."""
    stream = CountedWords([*words, *(0 for _ in words)])
    flip(coins, 1, stream)
    return stream.consumed == len(words)


def spread(items: Sequence[int], most: int) -> list[int]:
    """At most so many of the items, evenly spread, the first and the last among them unless there is room for one.

    >>> spread(range(10), 4)
    [0, 3, 6, 9]
    """
    if len(items) <= most:
        return list(items)
    if most == 1:
        return [items[len(items) // 2]]
    return [items[i * (len(items) - 1) // (most - 1)] for i in range(most)]
