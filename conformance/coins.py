"""Coins from words: first and last word of the outermost sides, and every edge of rejection."""

from collections.abc import Iterator, Sequence
from typing import Any

from conformance.draws import (
    CountedWords,
    outermost_blocks,
    rejected_block,
    rejected_values,
    unchosen_blocks,
    with_rejected,
)
from sottovoce.mechanisms.coins import RARELY_REJECTED, WORD, Coin, flip

ONE_WORD_STILL = WORD - RARELY_REJECTED
"""A coin for which one word is rejected exactly as often as is allowed: 2^32 mod D = 2^20."""

ALONE = [
    *(1, 2, 3, 6, 10),
    *(ONE_WORD_STILL - 1, ONE_WORD_STILL, 2**31 + 1, 2**32 - 5, 2**32),
    *(2**32 + 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64),
]
TOGETHER = [
    [6, 6],
    [1, 1, 1],
    [6, 2**33 + 1, 3],
    [2**63 + 1, 2**32 - 5, 10, 2**64],
    [2**31 + 1, 2**31 + 1],
    [3, 2**64 - 1, 2, 10, 6],
]
UNCHOSEN = 4
"""Records whose words nobody chose, after the chosen ones."""


def vectors() -> Iterator[dict[str, Any]]:
    """Each coin alone, then several in a block."""
    for sides in [*([d] for d in ALONE), *TOGETHER]:
        yield _vector([Coin(d) for d in sides])


def _vector(coins: Sequence[Coin]) -> dict[str, Any]:
    name = "coins of " + ", ".join(str(coin.sides) for coin in coins)
    accepted = outermost_blocks(coins)
    rejected = [rejected_block(coins, i, value) for i, coin in enumerate(coins) for value in rejected_values(coin)]
    words = with_rejected(accepted, rejected) + unchosen_blocks(coins, name, UNCHOSEN)
    stream = CountedWords(words)
    shown = flip(coins, len(accepted) + UNCHOSEN, stream)
    return {
        "name": name,
        "sides": [str(coin.sides) for coin in coins],
        "words": words,
        "shown": [[str(side) for side in row] for row in zip(*(column.tolist() for column in shown), strict=True)],
        "consumed": stream.consumed,
    }
