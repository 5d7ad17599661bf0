"""Coins are exact: every side is equally likely, whatever the words, and rejection sees no truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import WORD, Coin, ListedWords, SecureWords, flip, random_words

SIDES = st.one_of(st.integers(1, 100), st.integers(1, 2**32), st.integers(2**32 - 100, 2**32), st.integers(1, 2**64))


def by_the_book(sides: list[int], count: int, words: list[int]) -> list[list[int]]:
    """The rule of `coins`, word by word in plain integers, as another language would follow it."""
    stream, records = iter(words), []
    while len(records) < count:
        shown, accepted = [], True
        for d in sides:
            wide = d > 2**32 or 2**32 % d > 2**20
            u = next(stream) * 2**32 + next(stream) if wide else next(stream)
            step = (2**64 if wide else 2**32) // d
            accepted &= u < step * d
            shown.append(u // step)
        if accepted:
            records.append(shown)
    return records


@given(st.lists(SIDES, min_size=1, max_size=4), st.integers(0, 6), st.data())
def test_flipping_follows_the_written_rule(sides, count, data):
    width = sum(Coin(d).width for d in sides)
    rejected_too = 4 * width
    edges = [0, 1, 2**31, 2**32 - 1, 2**32 - 2] + [Coin(d).step * d % WORD for d in sides]
    word = st.one_of(st.integers(0, 2**32 - 1), st.sampled_from(edges))
    words = data.draw(st.lists(word, min_size=count * width + rejected_too, max_size=count * width + rejected_too))
    words += [0] * (count * width)
    expected = by_the_book(sides, count, words)
    drawn = flip([Coin(d) for d in sides], count, ListedWords(words))
    assert [list(map(int, row)) for row in zip(*drawn, strict=True)] == expected


@given(SIDES)
def test_every_side_owns_equally_many_words(sides):
    coin = Coin(sides)
    space = WORD**coin.width
    assert coin.step * sides <= space < (coin.step + 1) * sides  # as many words a side as fit, the rest rejected
    if coin.width == 1:
        assert space - coin.step * sides <= 2**20  # one word is rejected at most once in 4,096 draws


def test_a_block_with_a_rejected_word_is_thrown_away_whole():
    words = ListedWords([5 * Coin(6).step, WORD - 1, 0, 1 * Coin(6).step, 7])
    assert [column.tolist() for column in flip([Coin(6), Coin(6)], 1, words)] == [[0], [1]]
    assert words.take(1).tolist() == [7]  # nothing beyond the accepted block was used


def test_a_coin_of_all_words_needs_no_division_and_no_rejection():
    words = [3, 2**32 - 1, 2**31, 1]
    assert flip([Coin(2**32)], 4, ListedWords(words))[0].tolist() == words
    assert flip([Coin(2**64)], 2, ListedWords(words))[0].tolist() == [3 * 2**32 + 2**32 - 1, 2**63 + 1]


@pytest.mark.parametrize("sides", [6, 10, 2**32 - 5, 2**33 // 3])
def test_secure_coins_are_uniform(sides):
    """Chi-square over ten classes, 200,000 secure flips: fails by chance once in a million runs."""
    shown = flip([Coin(sides)], 200_000, SecureWords())[0]
    classes = min(sides, 10)
    edges = [-(-sides * i // classes) for i in range(classes + 1)]
    counts = np.histogram(shown.astype(float), bins=[e - 0.5 for e in edges])[0]
    assert chisquare(counts, np.diff(edges) / sides * 200_000).pvalue > 1e-6


def test_secure_streams_never_repeat():
    assert (SecureWords().take(8) != SecureWords().take(8)).any()


def test_seeded_words_repeat_however_they_are_cut():
    whole = random_words(3).take(9)
    cut = random_words(np.random.default_rng(3))
    assert np.concatenate([cut.take(2), cut.take(0), cut.take(7)]).tolist() == whole.tolist()


@pytest.mark.parametrize("rng", [-1, 1.5, "seed", True, np.random])
def test_other_randomness_is_refused(rng):
    with pytest.raises(SottovoceError, match=r"^rng must be a numpy Generator, a seed"):
        random_words(rng)


@pytest.mark.parametrize("sides", [0, -1, 2**64 + 1, 1.5, True])
def test_impossible_coins_are_refused(sides):
    with pytest.raises(SottovoceError, match=r"^sides must be a whole number from 1 to 2\^64"):
        Coin(sides)


def test_running_out_of_listed_words_is_an_error():
    with pytest.raises(SottovoceError, match=r"^words must hold at least 2 more"):
        flip([Coin(6), Coin(6)], 1, ListedWords([1]))
