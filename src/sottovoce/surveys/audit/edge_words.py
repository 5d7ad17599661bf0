"""Random numbers at which a page's coins must turn: the last word of one report, and the first of the next.

A page whose odds are not the plan's has its edges elsewhere. Random words show that as seldom as the odds differ, words
at the edges show it at once: the first word of the 82nd side of a coin with odds of 81 : 1 is another side of a coin
with odds of 100 : 1. The smallest and the largest word are edges, too. The words behind those of the coins are all
small or all large, and so is `Math.random`: whatever a page compares with a small chance of its own comes true in half
of these walks.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sottovoce.disguises.records import disguise_codes
from sottovoce.mechanisms.coins import WORD, Coin, ListedWords, SeededWords, take_blocks
from sottovoce.surveys.audit.browser import Numbers
from sottovoce.surveys.audit.paths import Path, coded
from sottovoce.surveys.definition.survey import Survey

POINTS = 64
"""Sides of a coin whose reports are compared at once."""

MOST_COINS = 16
"""Most coins that show an edge in one walk."""

ENDS = 6
"""One of so many edges is the smallest word of a coin, and one the largest."""

REJECTING = 6
"""One of so many walks begins with words that must be discarded."""

SPARE = 128
"""Small or large words behind those of the coins."""


def edge_numbers(survey: Survey, path: Path, rng: np.random.Generator, index: int) -> Numbers:
    """Return random numbers for a walk of a path; walks of a series have other edges by chance and by `index`."""
    coins = survey.plan.coins
    block = take_blocks(coins, 1, SeededWords(rng))[0]
    starts = np.cumsum([0, *(coin.width for coin in coins)]).tolist()
    words = block.copy()
    for at in rng.permutation(len(coins))[:MOST_COINS].tolist():
        part = slice(starts[at], starts[at + 1])
        ends = (0, coins[at].step * coins[at].sides - 1)
        chosen = int(rng.integers(ENDS))
        value = ends[chosen] if chosen < len(ends) else _turn(survey, path, block, part, coins[at], rng)
        if value is not None:
            words[part] = _words_of(value, coins[at].width)
    rejecting = [at for at, coin in enumerate(coins) if coin.step * coin.sides < WORD**coin.width]
    if rejecting and index % REJECTING == REJECTING - 1:
        coin, start = coins[rejecting[0]], starts[rejecting[0]]
        words[start : start + coin.width] = _words_of(coin.step * coin.sides, coin.width)
    extreme = 255 * (index % 2)
    spare = [(WORD - 1) * (index % 2)] * SPARE
    return Numbers(int(rng.integers(2**31)), (*words.tolist(), *spare), extreme)


def _turn(
    survey: Survey,
    path: Path,
    block: NDArray[np.uint32],
    part: slice,
    coin: Coin,
    rng: np.random.Generator,
) -> int | None:
    """Return the value of a coin's words on one side of where the report changes; None if it does not."""
    low, high = 0, coin.sides - 1
    while True:
        sides = sorted({low + (high - low) * index // POINTS for index in range(POINTS + 1)})
        reports = _reports(survey, path, block, part, [_words_of(side * coin.step, coin.width) for side in sides])
        turns = np.flatnonzero((reports[1:] != reports[:-1]).any(axis=1))
        if not len(turns):
            return None
        turn = int(rng.choice(turns))
        low, high = sides[turn], sides[turn + 1]
        if high - low == 1:
            return int(high * coin.step - rng.integers(2))


def _reports(
    survey: Survey, path: Path, block: NDArray[np.uint32], part: slice, words: Sequence[Sequence[int]]
) -> NDArray[np.int64]:
    """Return the reports, one in each row, of a block in which some words are replaced."""
    blocks = np.tile(block, (len(words), 1))
    blocks[:, part] = words
    truth = [np.repeat(column, len(words)) for column in coded(survey, [path])]
    return np.stack(disguise_codes(truth, survey.plan, ListedWords(blocks.ravel().tolist())), axis=1).astype(np.int64)


def _words_of(value: int, width: int) -> list[int]:
    """Return a number as words, the high one first.

    >>> _words_of(2**32 + 5, 2)
    [1, 5]
    """
    return [value >> 32 * place & WORD - 1 for place in reversed(range(width))]
