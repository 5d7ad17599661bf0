"""Compiled loops, the same loops in plain Python, and numpy give the same bytes from the same words."""

import subprocess
import sys
from math import prod
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.disguises import records
from sottovoce.disguises.records import disguise_codes
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.bulk import BULK_ROWS, kernels, reciprocal
from sottovoce.mechanisms.coins import WORD, Coin, ListedWords, flip, random_words, read_blocks, take_blocks
from sottovoce.mechanisms.diagonal import Diagonal
from sottovoce.mechanisms.matrix import Listed
from sottovoce.mechanisms.rounding import in_lowest_terms
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Group, Plan
from sottovoce.schemas.attribute import Attribute, check_codes, unravel
from sottovoce.schemas.schema import Schema


@st.composite
def diagonals(draw) -> Diagonal:
    """Coins of one word or two, small and nearly full ones, certainty, over one to three attributes."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 7, 256, 300]), min_size=1, max_size=3))
    other = draw(st.sampled_from([0, 1, 2, 5, (WORD - 1) // prod(sizes)]))
    least = 0 if other == 1 and prod(sizes) > 1 else 1  # a truth that is never told needs another answer
    truth = 1 if other == 0 else draw(st.integers(least, 2**32 // 3).filter(lambda t: np.gcd(t, other) == 1))
    return Diagonal(sizes, truth, other)


@st.composite
def matrices(draw) -> Listed:
    """Columns of equal sums, entries that may be zero, as many reports as truths or not."""
    sizes = draw(st.sampled_from([(2,), (3,), (2, 2), (3, 1, 2), (300,)]))
    reports = prod(sizes) if prod(sizes) > 9 else draw(st.integers(1, 7))
    sides = draw(st.sampled_from([1, 2, 6, 97, 2**20 + 7, 2**32 - 5, 2**32, 2**33]))
    cuts = st.lists(st.integers(0, sides), min_size=reports - 1, max_size=reports - 1)
    few = [np.diff([0, *sorted(draw(cuts)), sides]).tolist() for _ in range(min(prod(sizes), 6))]
    columns = [few[x % len(few)] for x in range(prod(sizes))]
    return Listed(sizes, in_lowest_terms(list(zip(*columns, strict=True))))


def words_near(coin: Coin, sides: list[int]) -> st.SearchStrategy[int]:
    """Any words, and those at which the coin starts to show these sides or is not accepted."""
    starts = [coin.step * side + jump for side in [*sides, coin.sides] for jump in (-1, 0)]
    halves = [half for start in starts if start >= 0 for half in (start // WORD % WORD, start % WORD)]
    return st.one_of(st.integers(0, WORD - 1), st.sampled_from([0, WORD - 1, *halves]))


@settings(max_examples=15)
@given(mechanism=st.one_of(diagonals(), matrices()), data=st.data())
def test_bulk_gives_the_bytes_of_the_reference(bulk_way, mechanism, data):
    check_bulk(mechanism, data)


@pytest.mark.slow
@settings(max_examples=300)
@given(mechanism=st.one_of(diagonals(), matrices()), data=st.data())
def test_bulk_gives_the_bytes_of_the_reference_for_many_mechanisms(bulk_way, mechanism, data):
    check_bulk(mechanism, data)


def check_bulk(mechanism, data):
    (coin,) = mechanism.coins
    if isinstance(mechanism, Diagonal):
        edges = [mechanism.truth, mechanism.truth + mechanism.other]
    else:
        edges = np.cumsum([row[0] for row in mechanism.matrix], dtype=object).tolist()
    word = words_near(coin, edges)
    drawn = data.draw(st.lists(word, min_size=6 * coin.width, max_size=12 * coin.width))
    truths = data.draw(st.lists(st.integers(0, prod(mechanism.sizes) - 1), min_size=5, max_size=5))
    truth = unravel(np.array(truths), mechanism.sizes)
    words = drawn + [0] * 5 * coin.width  # whatever is rejected, five blocks are accepted in the end
    expected = mechanism.respond(truth, flip(mechanism.coins, 5, ListedWords(words)))
    reports = mechanism.respond_in_bulk(truth, take_blocks(mechanism.coins, 5, ListedWords(words)))
    assert [(c.dtype, c.tolist()) for c in reports] == [(c.dtype, c.tolist()) for c in expected]


@pytest.mark.parametrize(
    "mechanism",
    [
        Diagonal((3, 4), 9, 7),  # dividing by 7 takes an addend
        Diagonal((300,), 0, 1),
        Diagonal((2,), 1, 0),
        Diagonal((2**16, 2**17), 1, 0),  # more cells than 32 bits number
        Listed((2,), [[40, 0], [30, 41], [0, 9], [27, 47]]),
        Listed((2, 2), [[1, 2, 3, 0], [4, 4, 0, 6], [0, 1, 1, 0], [2, 0, 3, 1]]),
    ],
    ids=str,
)
def test_every_side_and_truth_give_the_bytes_of_the_reference(bulk_way, mechanism):
    """The first and the last word of each side, for the first and the last truths."""
    (coin,) = mechanism.coins
    words = [coin.step * side + end for side in range(coin.sides) for end in (0, coin.step - 1)]
    cells = prod(mechanism.sizes)
    for cell in sorted({0, 1, cells // 2, cells - 1}):
        truth = unravel(np.full(len(words), cell), mechanism.sizes)
        blocks = take_blocks(mechanism.coins, len(words), ListedWords(words))
        expected = mechanism.respond(truth, read_blocks(mechanism.coins, blocks))
        reports = mechanism.respond_in_bulk(truth, blocks)
        assert [(c.dtype, c.tolist()) for c in reports] == [(c.dtype, c.tolist()) for c in expected]


@settings(max_examples=30)
@given(st.lists(st.integers(0, WORD - 1) | st.integers(WORD - 20, WORD - 1), min_size=16, max_size=60), st.data())
def test_whole_plans_use_the_same_words_in_bulk(bulk_way, words, data):
    """Blocks with a word that one coin does not accept are skipped by all groups, and nothing more is used."""
    schema = Schema(Attribute(name, range(size)) for name, size in [("a", 3), ("b", 4), ("c", 2), ("d", 4)])
    mechanisms = {
        ("b",): Diagonal((4,), 2**33 + 1, 2),  # two words
        ("c", "a"): Diagonal((2, 3), 7, 3),
        ("d",): Listed((4,), [[4, 1, 1, 1], [1, 4, 4, 4]]),
    }
    groups = tuple(Group(names, "any", mechanism) for names, mechanism in mechanisms.items())
    plan = Plan(schema, groups, Guarantee(prod(group.guarantee.odds for group in groups)))
    truth = [np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=4, max_size=4))) for n in schema.sizes]
    words += range(5 * 4)  # whatever is rejected, four blocks of four words are accepted in the end
    by_hand, small, bulk = (ListedWords(words) for _ in range(3))
    wide, turned, looked_up = flip(plan.coins, 4, by_hand)
    a, b, c, d = truth
    c, a = mechanisms["c", "a"].respond((c, a), (turned,))
    expected = [a, *mechanisms[("b",)].respond((b,), (wide,)), c, *mechanisms[("d",)].respond((d,), (looked_up,))]
    with pytest.MonkeyPatch.context() as patch:
        reports = [disguise_codes(truth, plan, small)]
        patch.setattr(records, "BULK_ROWS", 1)
        reports.append(disguise_codes(truth, plan, bulk))
    for columns in reports:
        assert [c.tolist() for c in columns] == [c.tolist() for c in expected]
    assert by_hand.take(1) == small.take(1) == bulk.take(1)


def test_a_bulk_call_repeats_what_small_ones_give(bulk_way, plan, schema):
    """Three groups, one of them joint: 70,000 seeded rows at once, and in pieces far from bulk."""
    rng = np.random.default_rng(5)
    truth = [rng.integers(0, size, 70_000).astype(np.uint8) for size in schema.sizes]
    whole = disguise_codes(truth, plan, random_words(7))
    words = random_words(7)
    cuts = [slice(start, start + 9_999) for start in range(0, 70_000, 9_999)]
    parts = [disguise_codes([codes[cut] for codes in truth], plan, words) for cut in cuts]
    for column, pieces in zip(whole, zip(*parts, strict=True), strict=True):
        assert column.tobytes() == np.concatenate(pieces).tobytes()


@given(st.integers(1, WORD) | st.sampled_from([2**bits for bits in range(33)]), st.data())
def test_reciprocals_divide_every_word(divisor, data):
    multiple = divisor * data.draw(st.integers(1, WORD // divisor))
    factor, addend, shift = (int(v) for v in reciprocal(divisor))
    for word in {0, 1, WORD - 1, multiple - 1, multiple % WORD, data.draw(st.integers(0, WORD - 1))}:
        assert word * factor + addend < 2**64
        assert (word * factor + addend) >> shift == word // divisor
    assert shift < 64


@pytest.mark.parametrize("codes", [[0, 3], [-1, 0]])
def test_codes_outside_their_attribute_are_refused(codes):
    with pytest.raises(SottovoceError, match=r"^codes must be whole numbers from 0 to 2\. Got .* instead\.$"):
        check_codes([np.array(codes)], (3,))
    check_codes([np.zeros(0, np.uint8)], (3,))


def test_a_machine_that_keeps_nothing_still_compiles(monkeypatch):
    """Numba refuses `cache=True` where it can write no folder: the loops are compiled for this run only."""
    asked = []

    def njit(**options):
        asked.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function")
        return lambda loop: loop

    monkeypatch.setitem(sys.modules, "numba", SimpleNamespace(njit=njit))
    kernels.cache_clear()
    assert kernels().join.__name__ == "join"
    assert asked[-1] == {"nogil": True}
    kernels.cache_clear()


def test_small_calls_and_plans_from_files_do_not_import_numba():
    script = (
        "import sys, numpy as np;"
        "from sottovoce.disguises.records import disguise_codes;"
        "from sottovoce.mechanisms.coins import random_words;"
        "from sottovoce.plans.budget import new_plan; from sottovoce.schemas.attribute import boolean;"
        "from sottovoce.plans.document import plan_from_text, plan_to_text;"
        "from sottovoce.schemas.schema import Schema;"
        "plan = plan_from_text(plan_to_text(new_plan(Schema([boolean('x')]), odds=3)));"
        f"disguise_codes([np.zeros({BULK_ROWS} - 1, np.uint8)], plan, random_words());"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
