"""Counts of joint cells, with and without compiled loops, however many rows there are."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.counts import counter
from sottovoce.counts.counter import count_cells
from sottovoce.errors import SottovoceError


@pytest.fixture(scope="module")
def way(bulk_way):
    """Every call is a bulk call, each of the ways."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counter, "BULK_ROWS", 1)
        patch.setattr(counter, "ROWS_AT_ONCE", 4)
        yield bulk_way


@settings(max_examples=30)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.integers(0, 30), st.integers(0, 2**32))
def test_every_row_is_counted_once(way, sizes, rows, seed):
    """The reference numbers and counts one row at a time, in plain Python."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, size, rows).astype(np.uint8) for size in sizes]
    expected = [0] * prod(sizes)
    for row in zip(*columns, strict=True):
        expected[int(np.ravel_multi_index([int(code) for code in row], sizes))] += 1
    counts = count_cells(columns, sizes)
    assert counts.dtype == np.int64
    assert counts.tolist() == expected


def test_codes_that_count_nowhere_are_refused():
    with pytest.raises(SottovoceError, match=r"^codes must be whole numbers from 0 to 1\. Got"):
        count_cells([np.array([0, 2])], (2,))


def test_tables_beyond_memory_are_refused():
    with pytest.raises(SottovoceError, match=r"^sizes must have at most 2\^28 joint cells to be counted"):
        count_cells([np.zeros(1, np.uint8)] * 29, (2,) * 29)
