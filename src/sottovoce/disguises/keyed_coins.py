"""Coins from a keyed pseudo-random function of row id and truth, for engines that may compute a row more than once.

An engine that distributes work runs a task again when a machine fails or is slow. With coins drawn anew, one truth
would then have two reports; with coins of a row's number alone, two truths could share their coins. Here the words of a
row are a function of the run's key and of (group, row id, truth, word number): every attempt at a row, in any order
or batch, tosses the same coins, and another truth of the same id has independent ones.

The function, exactly. E is AES-256 under the third of three independent keys; integers are little-endian:

1. The row id is a block of 128 bits, as `row_ids` says, where the first key hashes long ids.
2. The truth of a group is the codes of its columns, each in as few bytes as its largest code needs, or one bit each if
   all of them are yes/no (the first in the lowest bit). Up to 16 bytes are padded with zeros to a block. More are
   hashed by a CBC-MAC under the second key, whose first block holds the group's number (4 bytes) and the number of
   bytes (4 bytes).
3. `state = E(E(id) xor truth)`, and words 4 j ... 4 j + 3 of a group are the four numbers of 32 bits of
   `E(state xor counter)`, where the counter holds the group's number (4 bytes), the attempt (4 bytes) and j (8 bytes).
   This is a CBC-MAC of messages of three blocks, a pseudo-random function (M. Bellare, J. Kilian & P. Rogaway 2000,
   Journal of Computer and System Sciences 61, 362-399).
4. The words of a group's coins are one block, accepted or discarded by the rule of `mechanisms.coins`. A row whose
   block is discarded uses the words of its next attempt, in this group only.

So the guarantee of the plan holds against anyone who cannot tell AES from a random permutation: it is computational.
Key and reports together tell which truths fit: the key is drawn for one run and written nowhere.
"""

import os
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.disguises.records import ROWS_AT_ONCE, group_reports
from sottovoce.disguises.row_ids import BlocksOf128, Encrypt, row_ids
from sottovoce.errors import SottovoceError, Words
from sottovoce.mechanisms.bulk import BULK_ROWS
from sottovoce.mechanisms.coins import WORD, Blocks, Coin, accepted_blocks
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Codes, Columns, check_codes

KEY_BYTES = 32

MOST_WORDS = 2**16
"""Most words of one row: 10^4 items of a set take 10^4 words and some 20 microseconds a row."""

LEAST_ACCEPTED = 1 / 16
"""Smallest probability that a block of words is accepted, lest rows need too many attempts."""

WORDS_AT_ONCE = 2**21
"""Words that are held at once: rows of many coins are disguised in smaller parts."""


class RunKey:
    """Secret of one run: three independent AES-256 keys from the operating system's randomness.

    It cannot be made from a key of the caller: one key over data that changed would show which rows changed. Pickling
    copies it to the workers of an engine, and that copy and the reports together reveal truths.

    >>> RunKey()
    RunKey()
    """

    __slots__ = ("_secret",)

    def __init__(self) -> None:
        """Draw a new key."""
        self._secret = os.urandom(3 * KEY_BYTES)

    def __repr__(self) -> str:
        """Show nothing of the key."""
        return "RunKey()"

    def __reduce__(self) -> tuple[Any, ...]:
        """Let an engine send the key to its workers."""
        return _same_key, (self._secret,)

    def ciphers(self) -> tuple[Encrypt, Encrypt, Encrypt]:
        """Ciphers that hash ids, hash truths and toss coins; not shared by threads."""
        first, second, third = (_cipher(self._secret[start : start + KEY_BYTES]) for start in range(0, 96, KEY_BYTES))
        return first, second, third


def _same_key(secret: bytes) -> RunKey:
    key = RunKey.__new__(RunKey)
    key._secret = secret
    return key


def _cipher(key: bytes) -> Encrypt:
    """AES of many blocks in one call; what is chained is chained across calls, for all rows at once."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    context = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305  # blocks of a CBC-MAC

    def encrypt(blocks: BlocksOf128) -> BlocksOf128:
        return np.frombuffer(context.update(blocks.tobytes()), "<u8").reshape(-1, 2)

    return encrypt


def check_words(plan: Plan, most: int = MOST_WORDS, least_accepted: float = LEAST_ACCEPTED) -> None:
    """Refuse a plan whose coins need too many words, or too many attempts, in a row."""
    words = sum(coin.width for coin in plan.coins)
    if words > most:
        rule = f"must need at most {most} random words in each row to be disguised by an engine"
        raise SottovoceError("plan", rule, words)
    for group in plan.groups:
        chance = prod(coin.step * coin.sides / WORD**coin.width for coin in group.mechanism.coins)
        if chance < least_accepted:
            rule = f"must have coins that are rarely flipped again to be disguised by an engine; {group.scheme} accepts"
            raise SottovoceError("plan", rule, Words(f"a block of words in {1 / chance:.3g}"))


def disguise_keyed(columns: Sequence[Codes], ids: Any, plan: Plan, key: RunKey, row_id: str = "row_id") -> Columns:
    """Disguise coded columns by coins of their row ids, an Arrow array; `row_id` is its name for errors.

    The reports depend on plan, key, ids and truths alone. Ids must be unique in a run: rows with the same id and the
    same truth have the same coins.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.tables.values import pyarrow
    >>> plan, key = new_plan(Schema([boolean("evaded tax")]), odds=3), RunKey()
    >>> truths, people = np.array([1, 0, 0, 1]), pyarrow().array(["ann", "bob", "cid", "dee"])
    >>> (once,), (again,) = disguise_keyed([truths], people, plan, key), disguise_keyed([truths], people, plan, key)
    >>> bool((once == again).all())
    True
    """
    check_codes(columns, plan.schema.sizes)
    checked = row_ids(ids, row_id)
    if len(checked) != len(columns[0]):
        raise SottovoceError("ids", f"must be {len(columns[0])}, one for each row", len(checked))
    ciphers, bulk = key.ciphers(), len(columns[0]) >= BULK_ROWS
    parts, rows = [], _rows_at_once(plan)
    for start in range(0, max(len(checked), 1), rows):
        stop = min(start + rows, len(checked))
        blocks = checked.blocks(start, stop, ciphers[0])
        parts.append(_disguised([codes[start:stop] for codes in columns], blocks, plan, ciphers, bulk=bulk))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _rows_at_once(plan: Plan) -> int:
    """Rows whose words, truths and reports fit into memory at once."""
    widths = [sum(coin.width for coin in group.mechanism.coins) for group in plan.groups]
    widest = max(*widths, len(plan.schema.sizes), len(plan.report_schema.sizes))
    return max(1, min(ROWS_AT_ONCE, WORDS_AT_ONCE // widest))


def _disguised(
    columns: Sequence[Codes], ids: BlocksOf128, plan: Plan, ciphers: tuple[Encrypt, ...], *, bulk: bool
) -> list[Codes]:
    _, hash_truth, toss = ciphers
    id_states = toss(ids)
    reports: dict[int, Codes] = {}
    for number, group in enumerate(plan.groups):
        axes = plan.truth_columns(group)
        sizes = [plan.schema.sizes[axis] for axis in axes]
        truth = _truth_blocks([columns[axis] for axis in axes], sizes, number, hash_truth)
        words = _accepted_words(group.mechanism.coins, toss(id_states ^ truth), number, toss)
        reports |= zip(plan.report_columns(group), group_reports(group, columns, plan, words, bulk=bulk), strict=True)
    return [reports[position] for position in sorted(reports)]


def _truth_blocks(columns: Sequence[Codes], sizes: Sequence[int], group: int, encrypt: Encrypt) -> BlocksOf128:
    """Truths of a group as blocks of 128 bits."""
    truths = _truth_bytes(columns, sizes)
    rows, width = truths.shape
    steps = -(-width // 16)
    padded = np.zeros((rows, 16 * steps), np.uint8)
    padded[:, :width] = truths
    blocks = padded.view("<u8").reshape(rows, steps, 2)
    if width <= 16:
        return blocks[:, 0]
    state = encrypt(np.array([[group | width << 32, 0]], "<u8"))
    for step in range(steps):
        state = encrypt(state ^ blocks[:, step])
    return state


def _truth_bytes(columns: Sequence[Codes], sizes: Sequence[int]) -> NDArray[np.uint8]:
    """Codes of each row as bytes."""
    if all(size == 2 for size in sizes):
        bits = np.stack([codes.astype(np.uint8, copy=False) for codes in columns], axis=1)
        return np.packbits(bits, axis=1, bitorder="little")
    parts = []
    for codes, size in zip(columns, sizes, strict=True):
        width = max(1, -(-(size - 1).bit_length() // 8))
        parts.append(codes.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :width])
    return np.concatenate(parts, axis=1)


def _accepted_words(coins: Sequence[Coin], states: BlocksOf128, group: int, toss: Encrypt) -> Blocks:
    """Words of a group's coins, of the first attempt that is accepted in each row."""
    width = sum(coin.width for coin in coins)
    words = _words(states, group, 0, width, toss)
    accepted = accepted_blocks(coins, words)
    if accepted is None or accepted.all():
        return words
    words, left, attempt = words.copy(), np.flatnonzero(~accepted), 0
    while len(left):
        attempt += 1
        words[left] = _words(states[left], group, attempt, width, toss)
        left = left[~np.asarray(accepted_blocks(coins, words[left]))]
    return words


def _words(states: BlocksOf128, group: int, attempt: int, width: int, toss: Encrypt) -> Blocks:
    """First words of one attempt in each row."""
    counters = np.zeros((-(-width // 4), 2), "<u8")
    counters[:, 0] = group | attempt << 32
    counters[:, 1] = np.arange(len(counters))
    stream = toss(states[:, None] ^ counters)
    return stream.view("<u4").reshape(len(states), 4 * len(counters))[:, :width]
