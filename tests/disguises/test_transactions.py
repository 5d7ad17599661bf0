"""Item sets in bulk: the exact law of their coins, the same bytes however computed, every kind in and out."""

import itertools
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy import sparse
from scipy.stats import chi2, chisquare

from sottovoce.disguises import bit_noise
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import random_words
from sottovoce.mechanisms.flips import BitCoin, Flips
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.warner import Warner
from sottovoce.tables import parallel
from sottovoce.tables.bitsets import MOST_WORDS, Bitsets, first_invalid_row
from sottovoce.tables.sparse_rows import KINDS

COINS = {
    "EMASK's": [BitCoin(5051, 304, 10000)],
    "scattered zeros": [BitCoin(1, 19, 20)],
    "thirds": [BitCoin(2, 1, 3)],
    "most sides": [BitCoin(2**63 + 1, 2**62 + 1, 2**64)],
    "a large prime of sides": [BitCoin(2**62, 2**55 + 1, 2**64 - 59)],
    "one an item": [BitCoin(5, 1, 7), BitCoin(3, 1, 4), BitCoin(1, 0, 2), BitCoin(9, 5, 11), BitCoin(1, 1, 97)],
}
"""Sparse noise, sparse noise inverted, and dense noise; sides that are powers of two, and not."""


def emask_plan(p, q, items=5):
    return Plan.of(Schema([ItemSet("basket", [f"i{n}" for n in range(items)])]), {"basket": Emask(p=p, q=q)})


def sets(count, items, seed=1, share=0.3):
    """Sets of any items, as lists of numbers; some are empty."""
    return [np.flatnonzero(row).tolist() for row in np.random.default_rng(seed).random((count, items)) < share]


def as_csr(listed):
    return np.cumsum([0, *map(len, listed)]), np.array([i for s in listed for i in s], np.int32)


@pytest.fixture(params=["numpy", "plain loops", "numba"])
def way(request, monkeypatch):
    """Every way to compute: arrays, the loops as plain Python, the loops compiled."""
    if request.param == "numba":
        pytest.importorskip("numba")
    else:
        compiler = {"numpy": None, "plain loops": lambda loop: loop}[request.param]
        monkeypatch.setattr(parallel, "compiler", lambda: compiler)
    return request.param


@pytest.mark.parametrize("coins", COINS.values(), ids=COINS)
def test_every_bit_follows_its_coin(coins):
    """Chi-square of the ones among 60,000 reports of each item's two truths, with exact chances, at 1e-6."""
    flips = Flips((2,) * 5, coins)
    truths = np.arange(60_000 * 2) % 2 == 1
    listed = as_csr([range(5) if has else [] for has in truths])
    shown = bit_noise.disguised_bitsets(listed, flips, random_words(11)).to_matrix()
    statistic, freedom = 0.0, 0
    for item, coin in enumerate(flips.bit_coins):
        for truth, sides in ((True, coin.one), (False, coin.zero)):
            ones, chance = shown[truths == truth, item].sum(), sides / coin.sides
            if chance in (0, 1):
                assert ones == 60_000 * chance
            else:
                statistic += (ones - 60_000 * chance) ** 2 / (60_000 * chance * (1 - chance))
                freedom += 1
    assert 1e-6 < chi2.sf(statistic, freedom) < 1 - 1e-6


@pytest.mark.parametrize("coin", [BitCoin(5, 1, 20), BitCoin(2, 1, 3)], ids=["scattered", "sliced"])
def test_bits_are_independent(coin):
    """Chi-square of joint patterns at 1e-6: 3 items of one set, and 3 sets that follow each other."""
    listed = as_csr([[0]] * 120_000)
    shown = bit_noise.disguised_bitsets(listed, Flips((2,) * 3, [coin]), random_words(5)).to_matrix().astype(int)
    ones = [coin.one / coin.sides, coin.zero / coin.sides, coin.zero / coin.sides]
    for bits, chances in ((shown, ones), (shown[:, 1].reshape(-1, 3), ones[1:2] * 3)):
        law = [
            np.prod([c if b else 1 - c for b, c in zip(cell, chances, strict=True)])
            for cell in itertools.product((0, 1), repeat=3)
        ]
        assert chisquare(np.bincount(bits @ [4, 2, 1], minlength=8), len(bits) * np.array(law)).pvalue > 1e-6


@pytest.mark.parametrize("coins", COINS.values(), ids=COINS)
def test_every_way_and_any_threads_give_the_same_bytes(coins, way):
    """Against numpy on one thread; two blocks, the second one with room left."""
    listed = as_csr(sets(64 * MOST_WORDS + 100, 5, share=0.05))
    flips = Flips((2,) * 5, coins)
    found = bit_noise.disguised_bitsets(listed, flips, random_words(3), threads=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "compiler", lambda: None)
        reference = bit_noise.disguised_bitsets(listed, flips, random_words(np.random.default_rng(3)), threads=1)
    assert len(found.words) == 2
    assert found.words.tobytes() == reference.words.tobytes()
    assert not found.words[1, :, 2:].any()


def test_words_are_used_as_the_module_says():
    """The rule of `bit_noise` for scattered noise, followed word by word with Python's own integers."""
    coin, truths, items = BitCoin(1, 1, 16), [[0, 2], [], [1]], 3
    key = np.random.default_rng(4).integers(0, 2**32, size=8, dtype=np.uint32)
    stream = Cipher(algorithms.AES(key.astype("<u4").tobytes()), modes.CTR(bytes(16))).encryptor().update(bytes(4096))
    words = iter(np.frombuffer(stream, "<u8").tolist())

    def parts(count, width):
        taken = [next(words) for _ in range(-(-count * width // 64))]
        return [taken[n * width // 64] >> n * width % 64 & 2**width - 1 for n in range(count)]

    ends = np.cumsum([Fraction(15, 16) ** (64 - c) * Fraction(1, 16) ** c * _choose(64, c) for c in range(65)])
    missing = [sum(Fraction(word, 2**64) >= end for end in ends) for word in parts(items, 64)]
    noise = [set() for _ in range(items)]
    while sum(missing):
        drawn = iter(parts(sum(missing), 16))
        for item in range(items):
            lanes = [next(drawn) % 64 for _ in range(missing[item])]
            missing[item] -= len(noise[item] | set(lanes)) - len(noise[item])
            noise[item] |= set(lanes)
    drawn = iter(parts(3, 32))
    for lane, truth in enumerate(truths):
        for item in truth:
            (noise[item].add if next(drawn) < 2**32 // 16 else noise[item].discard)(lane)
    reports = bit_noise.disguised_bitsets(as_csr(truths), Flips((2,) * items, [coin]), random_words(4)).to_matrix()
    assert reports.tolist() == [[lane in noise[item] for item in range(items)] for lane in range(3)]


def _choose(n, k):
    return Fraction(1) if k == 0 else _choose(n, k - 1) * (n - k + 1) / k


class Ties:
    """Words that leave everything open at first, and then decide by `then`."""

    def __init__(self, first, then):
        self.first, self.then = first, then

    def take(self, count, kind="<u8"):
        return np.resize(np.array(self.first, kind), count)

    def more(self):
        return self.then


@pytest.mark.parametrize(("then", "count", "bit"), [(0, 3, 1), (2**64 - 1, 4, 0)])
def test_words_that_decide_nothing_are_followed_by_others(then, count, bit):
    """First words that equal the digits: U is just below the end of the part, or just above it."""
    coin = BitCoin(1, 1, 11)
    digits = bit_noise.binomial_digits(64, 1, 11)
    assert bit_noise.binomial_counts(64, Fraction(1, 11), 2, Ties(digits[3], then)).tolist() == [count, count]
    bits = np.zeros((2, 1), np.uint64)
    threshold = np.array([2**32 // 11] * 2, np.uint32)
    indptr, indices = as_csr([[], [0], [0, 1]])
    bit_noise._overwrite(bits, indptr, indices, threshold, [coin, coin], Ties(threshold[0], then))
    assert bits.tolist() == [[0b110 * bit], [0b100 * bit]]


def test_blocks_take_the_words_of_their_key_in_order():
    """Parts of a word are not shared between requests: 5 parts of 16 bits take two words."""
    key = np.arange(8, dtype=np.uint32)
    whole = bit_noise.BlockWords(key).take(4)
    cut = bit_noise.BlockWords(key)
    assert cut.take(5, "<u2").tobytes() == whole[:2].tobytes()
    assert [cut.more(), cut.more()] == whole[2:].tolist()


def test_bitsets_are_laid_out_as_their_module_says(way):
    count = 64 * MOST_WORDS + 130
    listed = sets(count, 5)
    bitsets = Bitsets.from_csr(*as_csr(listed), 5)
    assert bitsets.words.shape == (2, 5, MOST_WORDS)
    for t in (0, 63, 64, 1000, count - 131, count - 130, count - 1):
        words = bitsets.words[t // (64 * MOST_WORDS), :, t % (64 * MOST_WORDS) // 64]
        assert [item for item in range(5) if int(words[item]) >> t % 64 & 1] == listed[t]
    assert int(np.bitwise_count(bitsets.words).sum()) == sum(map(len, listed))


def test_coins_that_are_certain(way):
    listed = sets(300, 5)
    labels = [[f"i{n}" for n in s] for s in listed]
    others = [[f"i{n}" for n in range(5) if n not in s] for s in listed]
    assert disguise_transactions(labels, emask_plan(1, 1)) == labels
    assert disguise_transactions(labels, emask_plan(0, 0)) == others
    toggled = [sorted({*s} ^ {"i1"}) for s in labels]
    assert disguise_transactions(labels, emask_plan([1, 0, 1, 1, 1], [1, 0, 1, 1, 1])) == toggled


def test_without_a_seed_nothing_repeats():
    truths = [["i1"]] * 200
    assert disguise_transactions(truths, emask_plan(0.5, 0.9)) != disguise_transactions(truths, emask_plan(0.5, 0.9))


def kinds_of(listed, items):
    """The same sets, in every kind."""
    indptr, indices = as_csr(listed)
    matrix = np.zeros((len(listed), items), bool)
    matrix[np.repeat(np.arange(len(listed)), np.diff(indptr)), indices] = True
    return {
        "lists": [[f"i{n}" for n in s] for s in listed],
        "csr": (indptr, indices),
        "sparse": sparse.csr_array(matrix.astype(np.int8)),
        "matrix": matrix,
        "bitsets": Bitsets.from_csr(indptr, indices, items),
    }


def same(left, right):
    if isinstance(left, Bitsets):
        return left.count == right.count and np.array_equal(left.words, right.words)
    if isinstance(left, tuple):
        return all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))
    if sparse.issparse(left):
        return left.shape == right.shape and (left != right).nnz == 0
    return np.array_equal(left, right) if isinstance(left, np.ndarray) else left == right


@pytest.mark.parametrize("count", [1, 64, 65, 1000, pytest.param(64 * MOST_WORDS + 1, marks=pytest.mark.slow)])
def test_every_kind_gives_every_kind(count, way):
    """Certain coins give the truths back, and a seed the same reports, whatever the kinds."""
    kinds = kinds_of(sets(count, 5), 5)
    reports = kinds_of(
        [[int(i[1:]) for i in s] for s in disguise_transactions(kinds["lists"], emask_plan(0.6, 0.9), 2)], 5
    )
    assert set(kinds) == set(KINDS)
    for given in kinds.values():
        for kind in KINDS:
            assert same(disguise_transactions(given, emask_plan(1, 1), kind=kind), kinds[kind])
            assert same(disguise_transactions(given, emask_plan(0.6, 0.9), 2, kind), reports[kind])
        assert type(disguise_transactions(given, emask_plan(1, 1))) is type(given)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix])
def test_scipy_formats_come_back(make):
    truths = make(np.eye(5, dtype=np.float32))
    reports = disguise_transactions(truths, emask_plan(1, 1))
    assert (type(reports), reports.dtype, reports.format) == (type(truths), truths.dtype, truths.format)
    assert np.array_equal(reports.toarray(), np.eye(5))


def test_scipy_matrices_out_of_order_or_with_zeros_are_understood():
    truths = sparse.csr_array((np.array([1, 1, 0]), np.array([3, 1, 2]), np.array([0, 3])), shape=(1, 5))
    assert disguise_transactions(truths, emask_plan(1, 1), kind="lists") == [["i1", "i3"]]
    assert truths.indices.tolist() == [3, 1, 2]


def test_sets_hold_an_item_once_and_may_be_written_as_text():
    assert disguise_transactions([["i1", "i0", "i1"], "i4;i2", ""], emask_plan(1, 1)) == [
        ["i0", "i1"],
        ["i2", "i4"],
        [],
    ]


@pytest.mark.parametrize(
    ("transactions", "message"),
    [
        ([], r"^transactions must be at least one\. Got 0"),
        (np.zeros((0, 5), bool), r"^transactions must be at least one\. Got 0"),
        ((np.array([0]), np.array([], int)), r"^transactions must be at least one\. Got 0"),
        ([["i9"]], r"^basket must be one of its categories \(i0, i1, i2, i3, i4\)\. Got 'i9'"),
        ([None], r"^basket must be a collection of items, empty if there are none\. Got None"),
        ([7], r"^basket must be a collection of items, empty if there are none\. Got 7"),
        (7, r"^transactions must be one of lists, csr, sparse, matrix, bitsets\. Got 7"),
        ("i1", r"^transactions must be one of lists, .* Got 'i1'"),
        ((np.array([0, 1, 2]), np.array([1, 5])), r"^indices must be .* from 0 to 4; transaction 1\. Got \[5\]"),
        ((np.array([0, 1, 2]), np.array([-1, 1])), r"^indices must be .*; transaction 0\. Got \[-1\]"),
        ((np.array([0, 0, 2]), np.array([2, 1])), r"^indices must be ascending .* transaction 1\. Got \[2, 1\]"),
        ((np.array([0, 2, 2]), np.array([3, 3])), r"^indices must be .* each once, .* transaction 0\. Got \[3, 3\]"),
        ((np.array([0, 2]), np.array([3])), r"^indptr must ascend from 0 to the 1 indices"),
        ((np.array([0, 2, 1]), np.array([3])), r"^indptr must ascend from 0 to the 1 indices"),
        ((np.array([1, 1]), np.array([3])), r"^indptr must ascend from 0 to the 1 indices"),
        ((np.array([0, 1]), np.array([0.5])), r"^indices must be a one-dimensional array of integers"),
        ((np.array([[0, 1]]), np.array([1])), r"^indptr must be a one-dimensional array of integers"),
        (np.zeros((2, 4), bool), r"^transactions must have a column for each of the 5 items\. Got 4"),
        (np.zeros((2, 5)), r"^transactions must be a matrix of booleans\. Got float64"),
        (sparse.csr_array(2 * np.eye(5)), r"^transactions must be a matrix of zeros and ones\. Got 2\.0"),
        (sparse.csr_array(np.eye(4)), r"^transactions must have a column for each of the 5 items\. Got 4"),
        (Bitsets.empty(3, 4), r"^transactions must have a column for each of the 5 items\. Got 4"),
    ],
)
def test_bad_transactions_are_refused(transactions, message, way):
    with pytest.raises(SottovoceError, match=message):
        disguise_transactions(transactions, emask_plan(0.5, 0.9))


def test_the_first_invalid_row_is_found_wherever_it_is(way):
    """Against looking at every row by itself; rows are shared among cores, and may be empty."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        listed = [sorted(rng.choice(9, rng.integers(0, 6), replace=False)) for _ in range(rng.integers(1, 30))]
        indptr, indices = as_csr(listed)
        for place in rng.integers(0, max(1, len(indices)), rng.integers(0, 3)):
            indices[place : place + 1] = rng.integers(-2, 12)
        rows = [indices[start:end].tolist() for start, end in itertools.pairwise(indptr)]
        wrong = [n for n, row in enumerate(rows) if row != sorted(set(row) & set(range(9)))]
        assert first_invalid_row(indptr, indices, 9) == (wrong[0] if wrong else None)


def test_plans_for_anything_else_are_refused():
    basket = ItemSet("basket", ["ale", "bread"])
    for schemes, found in (
        ({"basket": GammaDiagonal(gamma=3)}, r"basket \(items, diagonal\)"),
        ({"basket": Emask(0.5, 0.9), "tax": Warner(0.7)}, r"basket \(items, flips\), tax \(categories, diagonal\)"),
        ({"tax": Warner(0.7)}, r"tax \(categories, diagonal\)"),
    ):
        schema = Schema([v for v in (basket, boolean("tax")) if v.name in schemes])
        with pytest.raises(SottovoceError, match=rf"^plan must disguise one set of items, by flips, .* Got {found}"):
            disguise_transactions([["ale"]], Plan.of(schema, schemes))


def test_other_bad_arguments_are_refused():
    with pytest.raises(SottovoceError, match=r"^kind must be one of lists, csr, .*\. Got 'arrow'"):
        disguise_transactions([["i1"]], emask_plan(0.5, 0.9), kind="arrow")
    for threads in (0, 1.5, True):
        with pytest.raises(SottovoceError, match=rf"^threads must be a positive whole number. Got {threads} instead"):
            disguise_transactions([["i1"]], emask_plan(0.5, 0.9), threads=threads)
    with pytest.raises(SottovoceError, match=r"^bitsets must be uint64 words of shape \(1, 5, 2\)\. Got int64 words"):
        Bitsets(np.zeros((1, 5, 2), np.int64), 100)
    with pytest.raises(SottovoceError, match=r"^bitsets must be uint64 words of shape \(1, 0, 1\)\. Got uint64"):
        Bitsets(np.zeros(5, np.uint64), 3)


def test_numba_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert parallel.compiler() is None


def test_neither_numba_nor_scipy_is_loaded_before_it_is_needed():
    script = (
        "import sys, sottovoce.disguises.transactions as t, sottovoce.tables.parallel as f;"
        "assert not {'numba', 'scipy'} & {m.split('.')[0] for m in sys.modules};"
        "from sottovoce import ItemSet, Plan, Schema; from sottovoce.schemes.emask import Emask;"
        "f.compiler = lambda: None;"
        "plan = Plan.of(Schema([ItemSet('basket', ['ale', 'bread'])]), {'basket': Emask(p=1, q=1)});"
        "assert t.disguise_transactions([['ale']], plan) == [['ale']];"
        "assert not {'numba', 'scipy'} & {m.split('.')[0] for m in sys.modules}"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
