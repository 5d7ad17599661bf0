"""Bits of pairs disguised without a random number for each: work and memory follow the ones that are reported.

The law is that of one coin a pair, exactly. First noise, as if no pair were tied: pairs are cut into blocks of
equal size, one word draws how many of a block are reported (from the binomial law of the exact chance), and
then which ones are; those drawn before are drawn anew until none is missing. Then every true tie is reported
or not by a coin of its own, which overwrites the noise.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sottovoce.disguise.bit_noise import KEY_WORDS, BlockWords, binomial_counts
from sottovoce.mechanism.bit_coin import BitCoin
from sottovoce.mechanism.coins import Coin, RandomWords, flip
from sottovoce.mine.graph.pairs import Numbers

SMALL_BLOCK, LARGE_BLOCK = 2**10, 2**13
"""Pairs of a block: the law of the number of ones in a large one takes longer to write down, and fewer words."""

MANY_PAIRS = 2**22

AT_ONCE = 2**20
"""Ones that are drawn together, or blocks if those are fewer."""


def reported_pairs(ties: Numbers, pairs: int, coin: BitCoin, words: RandomWords) -> Numbers:
    """Numbers of the pairs reported as tied, in ascending order, where `ties` really are.

    >>> from sottovoce.mechanism.coins import random_words
    >>> reported_pairs(np.array([3, 5]), 8, BitCoin(one=9, zero=1, sides=10), random_words(2))
    array([3, 5])
    """
    noise = _noise(pairs, coin, BlockWords(words.take(KEY_WORDS)))
    (side,) = flip([Coin(coin.sides)], len(ties), words)
    shown = ties[side < np.uint64(coin.one)]
    return np.sort(np.concatenate([noise[~_held(ties, noise)], shown]))


def _noise(pairs: int, coin: BitCoin, words: BlockWords) -> Numbers:
    """Pairs that would be reported if none were tied."""
    if coin.zero == 0:
        return np.zeros(0, np.int64)
    chance = Fraction(coin.zero, coin.sides)
    lanes = SMALL_BLOCK if pairs <= MANY_PAIRS else LARGE_BLOCK
    blocks = -(-pairs // lanes)
    step = int(min(AT_ONCE, max(1, AT_ONCE // (lanes * chance))))
    parts = [_in_blocks(first, min(step, blocks - first), lanes, chance, words) for first in range(0, blocks, step)]
    found = np.concatenate([np.zeros(0, np.int64), *parts])
    return found[: np.searchsorted(found, pairs)]


def _in_blocks(first: int, blocks: int, lanes: int, chance: Fraction, words: BlockWords) -> Numbers:
    """Ones of some whole blocks, in ascending order."""
    missing = binomial_counts(lanes, chance, blocks, words)
    parts: list[Numbers] = []
    while total := int(missing.sum()):
        block = np.repeat(np.arange(blocks), missing)
        lane = words.take(total, "<u2")[:total].astype(np.int64) & (lanes - 1)
        drawn = np.sort(block * lanes + lane)
        drawn = drawn[np.append(True, drawn[1:] != drawn[:-1])]
        for part in parts:
            drawn = drawn[~_held(part, drawn)]
        parts.append(drawn)
        missing -= np.bincount(drawn // lanes, minlength=blocks)
    return np.sort(np.concatenate([np.zeros(0, np.int64), *parts])) + first * lanes


def _held(ascending: Numbers, wanted: Numbers) -> NDArray[np.bool_]:
    """Which of the wanted numbers are among ascending ones."""
    return np.asarray(np.append(ascending, -1)[np.searchsorted(ascending, wanted)] == wanted)
