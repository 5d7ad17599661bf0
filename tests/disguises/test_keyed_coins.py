"""Keyed coins: the exact bytes, the distribution of the reports, and what they may depend on."""

import copy
import pickle
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, chisquare

from sottovoce.disguises.keyed_coins import RunKey, _same_key, check_words, disguise_keyed
from sottovoce.disguises.row_ids import BYTES, INTEGER, TEXT, row_ids
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import Coin
from sottovoce.mechanisms.flips import BitCoin, Flips
from sottovoce.plans.budget import new_plan
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Group, Plan
from sottovoce.schemas.attribute import Attribute, boolean, ravel, unravel
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.cut_and_paste import CutAndPaste
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.scheme import all_schemes
from sottovoce.schemes.warner import Warner

SECRET = bytes(range(96))
KEY = _same_key(SECRET)
CASES = [
    pytest.param(case, id=f"{name}-{number}")
    for name, found in all_schemes().items()
    for number, case in enumerate(found.cases())
]
DRAWS = 20_000


def one_group(scheme, sizes) -> Plan:
    schema = Schema(Attribute(f"q{i}", range(size)) for i, size in enumerate(sizes))
    return Plan.of(schema, {schema.names: scheme})


# A plain implementation of the docstrings of `keyed_coins` and `row_ids`, one row and one block at a time.


CIPHERS = [Cipher(algorithms.AES(SECRET[at : at + 32]), modes.ECB()).encryptor() for at in (0, 32, 64)]  # noqa: S305


def encrypt(number: int, block: bytes) -> bytes:
    return CIPHERS[number].update(block)


def cbc_mac(number: int, *blocks: bytes) -> bytes:
    state = bytes(16)
    for block in blocks:
        state = encrypt(number, bytes(a ^ b for a, b in zip(state, block, strict=True)))
    return state


def cut(message: bytes) -> list[bytes]:
    return [message[start : start + 16].ljust(16, b"\0") for start in range(0, len(message), 16)]


def id_block(value) -> bytes:
    if isinstance(value, int):
        return (value % 2**64).to_bytes(8, "little") + bytes([value < 0]) + bytes(6) + b"\1"
    kind, text = (b"\2", value.encode()) if isinstance(value, str) else (b"\3", value)
    if len(text) <= 14:
        return text.ljust(14, b"\0") + bytes([len(text)]) + kind
    return cbc_mac(0, len(text).to_bytes(8, "little") + bytes(7) + kind, *cut(text))


def truth_block(codes: list[int], sizes: list[int], group: int) -> bytes:
    if set(sizes) == {2}:
        message = sum(bit << i for i, bit in enumerate(codes)).to_bytes((len(codes) + 7) // 8, "little")
    else:
        widths = [max(1, (max(size - 1, 0).bit_length() + 7) // 8) for size in sizes]
        message = b"".join(code.to_bytes(width, "little") for code, width in zip(codes, widths, strict=True))
    if len(message) <= 16:
        return message.ljust(16, b"\0")
    return cbc_mac(1, group.to_bytes(4, "little") + len(message).to_bytes(4, "little") + bytes(8), *cut(message))


def sides(coins: tuple[Coin, ...], value, truth: bytes, group: int) -> list[int]:
    attempt, width = 0, sum(coin.width for coin in coins)
    while True:
        words: list[int] = []
        for j in range((width + 3) // 4):
            counter = group.to_bytes(4, "little") + attempt.to_bytes(4, "little") + j.to_bytes(8, "little")
            block = cbc_mac(2, id_block(value), truth, counter)
            words += [int.from_bytes(block[at : at + 4], "little") for at in range(0, 16, 4)]
        shown, used = [], 0
        for coin in coins:
            number = 0
            for word in words[used : used + coin.width]:
                number = number << 32 | word
            used += coin.width
            shown.append(number // coin.step)
        if all(side < coin.sides for side, coin in zip(shown, coins, strict=True)):
            return shown
        attempt += 1


def plain_reports(columns, values, plan: Plan) -> list[np.ndarray]:
    reports = {}
    for number, group in enumerate(plan.groups):
        axes = plan.truth_columns(group)
        rows = []
        for row, value in enumerate(values):
            codes, sizes = [int(columns[a][row]) for a in axes], [plan.schema.sizes[a] for a in axes]
            shown = sides(group.mechanism.coins, value, truth_block(codes, sizes, number), number)
            flips = tuple(np.array([side], np.uint64) for side in shown)
            rows.append([int(c[0]) for c in group.mechanism.respond(tuple(np.array([c]) for c in codes), flips)])
        reports |= zip(plan.report_columns(group), zip(*rows, strict=True), strict=True)
    return [np.array(reports[position]) for position in sorted(reports)]


LONG_TEXTS = ["", "ann", "a" * 14, "a" * 15, "b" * 16, "é" * 8, "c" * 32, "c" * 33, "ann\0", "d" * 200]
VALUES = {
    "integers": [0, 1, -1, 2**63 - 1, -(2**63), 77, 78, 79, 80, 81],
    "text": LONG_TEXTS,
    "bytes": [text.encode() for text in LONG_TEXTS],
}
BASKET = ItemSet("basket", [f"item {i}" for i in range(150)])
RARE = BitCoin(one=2, zero=1, sides=2**32 // 4097 + 1)
"""A coin whose words are rejected once in 4,097 draws: of 150 of them, one in 28 rows."""


def vector_plans() -> dict[str, Plan]:
    schema = Schema([boolean("tax"), Attribute("drug", ["never", "once", "often"]), Attribute("town", range(300))])
    mixed = Plan.of(schema, {("drug", "town"): GammaDiagonal(gamma=4), "tax": Warner(p=Fraction(3, 4))})
    items = Schema([BASKET, boolean("tax")])
    flips = Flips((2,) * 150, [RARE])
    group = Group(("basket",), "mask", flips)
    tax = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=Fraction(3, 4))}).groups[0]
    many = Schema(Attribute(f"q{i}", range(3)) for i in range(17))
    return {
        "mixed": mixed,
        "items": Plan(items, (group, tax), Guarantee(None)),
        "many": Plan.of(many, {many.names: GammaDiagonal(gamma=4)}),
        "cut": Plan.of(Schema([BASKET]), {"basket": CutAndPaste(cutoff=3, rho=0.2)}),
    }


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("name", ["mixed", "items", "many", "cut"])
def test_reports_are_those_of_the_formula(kind, name):
    plan, values = vector_plans()[name], VALUES[kind]
    rng = np.random.default_rng(5)
    columns = [rng.integers(0, size, len(values)) for size in plan.schema.sizes]
    reports = disguise_keyed(columns, pa.array(values), plan, KEY)
    expected = plain_reports(columns, values, plan)
    assert all(map(np.array_equal, reports, expected))
    assert [r.dtype for r in reports] == [np.min_scalar_type(size - 1) for size in plan.report_schema.sizes]


def test_a_rejected_block_moves_one_row_of_one_group_to_its_next_attempt():
    plan, rows = vector_plans()["items"], 120
    columns = [np.zeros(rows, np.uint8)] * 151
    chance = Coin(RARE.sides).step * RARE.sides / 2**32
    assert 0.9 < chance**150 < 0.99  # so about four of these rows need a second attempt
    reports = disguise_keyed(columns, pa.array(range(rows)), plan, KEY)
    assert all(map(np.array_equal, reports, plain_reports(columns, list(range(rows)), plan)))


@pytest.mark.parametrize("case", CASES)
def test_reports_fit_the_channel(case):
    """Chi-square for every truth, 20,000 ids under a fixed key; at 1e-6 a sound scheme fails once in 10,000 columns."""
    plan = one_group(*case)
    channel, ids = plan.groups[0].mechanism.channel, pa.array(range(DRAWS))
    for truth in range(min(channel.n_in, 6)):
        columns = unravel(np.full(DRAWS, truth), plan.schema.sizes)
        reports = ravel(disguise_keyed(columns, ids, plan, KEY), plan.report_schema.sizes)
        counts, expected = np.bincount(reports, minlength=channel.n_out), channel.column(truth)
        possible = expected > 0
        assert counts[~possible].sum() == 0
        if possible.sum() > 1:
            assert chisquare(counts[possible], DRAWS * expected[possible]).pvalue > 1e-6


def flipped(truth: int, ids, plan: Plan, key: RunKey = KEY) -> list[np.ndarray]:
    columns = [np.full(len(ids), truth, np.uint8) for _ in plan.schema.sizes]
    return [report != truth for report in disguise_keyed(columns, ids, plan, key)]


def independent(first, second) -> bool:
    table = np.array([[np.sum((first == a) & (second == b)) for a in (0, 1)] for b in (0, 1)])
    return bool(chi2_contingency(table, correction=False).pvalue > 1e-6)


def test_groups_rows_truths_ids_and_keys_have_independent_coins():
    plan = Plan.of(Schema([boolean("a"), boolean("b")]), {"a": Warner(p=Fraction(3, 5)), "b": Warner(p=Fraction(3, 5))})
    ids = pa.array(range(50_000))
    a, b = flipped(0, ids, plan)
    assert independent(a, b)  # groups
    assert independent(a[1:], a[:-1])  # rows
    assert independent(a, flipped(1, ids, plan)[0])  # truths of one id
    assert independent(a, flipped(0, ids.cast(pa.string()), plan)[0])  # 1 and "1"
    assert independent(a, flipped(0, ids, plan, RunKey())[0])
    assert not independent(a, a.copy())


def test_the_truth_of_one_group_leaves_the_coins_of_the_others_alone():
    plan = Plan.of(Schema([boolean("a"), boolean("b")]), {"a": Warner(p=Fraction(3, 5)), "b": Warner(p=Fraction(3, 5))})
    ids, zeros = pa.array(range(1000)), np.zeros(1000, np.uint8)
    before, after = (disguise_keyed([truth, zeros], ids, plan, KEY) for truth in (zeros, zeros + 1))
    assert np.array_equal(before[1], after[1])
    assert not np.array_equal(before[0] == 0, after[0] == 1)


@settings(max_examples=30)
@given(st.data())
def test_order_batches_and_repetition_do_not_matter(data):
    plan = vector_plans()["mixed"]
    rows = data.draw(st.integers(0, 40))
    ids = data.draw(st.permutations(range(rows)))
    rng = np.random.default_rng(rows)
    columns = [rng.integers(0, size, rows) for size in plan.schema.sizes]
    whole = disguise_keyed(columns, pa.array(range(rows), pa.int64()), plan, KEY)
    order = np.array(ids, np.int64)
    cuts = [0, *sorted(data.draw(st.lists(st.integers(0, rows), max_size=3))), rows]
    parts = [
        disguise_keyed([c[order[i:j]] for c in columns], pa.array(order[i:j]), plan, KEY) for i, j in pairwise(cuts)
    ]
    for column, pieces in zip(whole, zip(*parts, strict=True), strict=True):
        assert np.array_equal(column[order], np.concatenate(pieces))


def test_wide_rows_are_disguised_in_parts(monkeypatch):
    plan = vector_plans()["items"]
    columns = [np.arange(100) % 2] * 151
    whole = disguise_keyed(columns, pa.array(range(100)), plan, KEY)
    monkeypatch.setattr("sottovoce.disguises.keyed_coins.WORDS_AT_ONCE", 1000)
    assert all(map(np.array_equal, whole, disguise_keyed(columns, pa.array(range(100)), plan, KEY)))


def test_many_rows_go_through_compiled_loops():
    plan = one_group(Warner(p=Fraction(3, 4)), (3,))
    rows = 2**16
    codes = np.arange(rows) % 3
    (bulk,) = disguise_keyed([codes], pa.array(range(rows)), plan, KEY)
    (few,) = disguise_keyed([codes[:100]], pa.array(range(100)), plan, KEY)
    assert np.array_equal(bulk[:100], few)


SAME = [
    pa.array([1, 2, 300], kind) for kind in (pa.int16(), pa.int32(), pa.int64(), pa.uint16(), pa.uint32(), pa.uint64())
]
TEXTS = ["1", "p" * 14, "x" * 40]
ALIKE = {
    "integers": [
        *SAME,
        pa.chunked_array([SAME[0][:1], SAME[0][1:]]),
        SAME[2].dictionary_encode(),
        SAME[2].cast(pa.decimal128(38, 0)),
    ],
    "text": [
        *(pa.array(TEXTS, kind) for kind in (pa.string(), pa.large_string(), pa.string_view())),
        pa.array(TEXTS).dictionary_encode(),
        pa.array(["other", *TEXTS])[1:],
        pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
    ],
    "bytes": [pa.array([t.encode() for t in TEXTS], k) for k in (pa.binary(), pa.large_binary(), pa.binary_view())],
}


def blocks(column) -> list[list[int]]:
    ids = row_ids(column, "id")
    return ids.blocks(0, len(ids), KEY.ciphers()[0]).tolist()


@pytest.mark.parametrize("kind", ALIKE)
def test_equal_ids_of_any_type_are_equal(kind):
    first, *others = ALIKE[kind]
    assert all(blocks(other) == blocks(first) for other in others)


def test_integers_are_told_apart_over_their_whole_range():
    signed = pa.array([-(2**63), -1, 0, 1, 2**63 - 1], pa.int64())
    unsigned = pa.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1], pa.uint64())
    assert blocks(signed)[2:] == blocks(unsigned)[:3]
    assert len({tuple(block) for block in blocks(signed) + blocks(unsigned)}) == 7
    for integers in (signed, unsigned):  # as decimal numbers, which Spark reads integers without a sign as
        assert blocks(pa.array(map(Decimal, integers.to_pylist()), pa.decimal128(20, 0))) == blocks(integers)
    assert blocks(pa.array([], pa.decimal128(20, 0))) == []
    for kind in (pa.decimal32(5, 0), pa.decimal64(12, 0), pa.decimal256(50, 0)):
        assert blocks(pa.array([Decimal(-1), Decimal(7)], kind)) == blocks(pa.array([-1, 7]))


def test_fixed_size_bytes_and_uuids():
    values = [bytes(range(16)), bytes(16)]
    fixed = pa.array(values, pa.binary(16))
    assert blocks(fixed) == blocks(pa.array(values))
    assert blocks(pa.ExtensionArray.from_storage(pa.uuid(), fixed)) == blocks(fixed)


def test_value_and_kind_tell_ids_apart():
    assert [row_ids(pa.array([v]), "id").kind for v in (1, "1", b"1")] == [INTEGER, TEXT, BYTES]
    found = [tuple(blocks(pa.array([v]))[0]) for v in (1, "1", b"1", "1\0", "", "x" * 40, b"x" * 40, "x" * 41)]
    assert len(set(found)) == len(found)


@pytest.mark.slow
@settings(max_examples=20)
@given(st.lists(st.text(max_size=40), max_size=8, unique=True))
def test_different_texts_have_different_blocks(texts):
    found = blocks(pa.array(texts, pa.string()))
    assert found == [list(np.frombuffer(id_block(text), "<u8")) for text in texts]
    assert len({tuple(block) for block in found}) == len(texts)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([1.0]), "row_id must name a column of whole numbers, text or bytes .*; 'id' holds. Got double"),
        (pa.array([True]), "Got bool instead"),
        (pa.array([[1]]), "Got list"),
        (pa.array([1]).cast(pa.decimal128(38, 2)), r"Got decimal128\(38, 2\)"),
        (pa.array([Decimal(2**64), Decimal(1)]), "of at most 64 bits .* Got 18446744073709551616"),
        (pa.array([Decimal(-(10**37) - 1)]), "of at most 64 bits .* Got -10000000000000000000000000000000000001"),
        (pa.array([1]).cast(pa.timestamp("s")), r"Got timestamp\[s\] instead"),
        (pa.array([1.5, 2]).dictionary_encode(), "Got double"),
        (pa.array(["a", None, "b", None]), "row_id must have a value in every row of 'id'. Got 2 rows without one"),
        (pa.array([None]), "Got 1 row without one"),
        (pa.DictionaryArray.from_arrays([0, 0], [None]), "Got 2 rows without one"),
    ],
)
def test_unfit_ids_are_refused(column, message):
    with pytest.raises(SottovoceError, match=message):
        row_ids(column, "id")


def test_ids_and_truths_must_be_of_the_same_rows():
    plan = new_plan(Schema([boolean("a")]), odds=3)
    with pytest.raises(SottovoceError, match=r"ids must be 2, one for each row. Got 3 instead"):
        disguise_keyed([np.array([0, 1])], pa.array([1, 2, 3]), plan, KEY)
    with pytest.raises(SottovoceError, match="codes must be whole numbers from 0 to 1"):
        disguise_keyed([np.array([0, 2])], pa.array([1, 2]), plan, KEY)


def test_plans_of_too_many_coins_are_refused_by_name():
    plan = vector_plans()["items"]
    check_words(plan, most=151)
    with pytest.raises(SottovoceError, match=r"plan must need at most 150 random words in each row.*Got 151 instead"):
        check_words(plan, most=150)
    with pytest.raises(SottovoceError, match=r"rarely flipped again .*mask accepts. Got a block of words in 1\.0"):
        check_words(plan, least_accepted=0.999)


def test_a_key_is_drawn_and_shows_nothing():
    plan, ids = new_plan(Schema([boolean("a")]), odds=3), pa.array(range(200))
    columns = [np.zeros(200, np.uint8)]
    key, other = RunKey(), RunKey()
    (report,), (second,) = (disguise_keyed(columns, ids, plan, k) for k in (key, other))
    assert not np.array_equal(report, second)
    for same in (pickle.loads(pickle.dumps(key)), copy.deepcopy(key)):  # noqa: S301
        assert np.array_equal(disguise_keyed(columns, ids, plan, same)[0], report)
    assert repr(key) == str(key) == f"{key}" == "RunKey()"
    assert not hasattr(key, "__dict__")
    with pytest.raises(TypeError):
        RunKey(bytes(96))
