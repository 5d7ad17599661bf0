"""Counting memberships and adding up scores of sets, in blocks of rows."""

import numpy as np
import pytest

from sottovoce.counts import counter
from sottovoce.counts.counter import count_inclusions, sum_scores


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 10])
def test_blocks_add_up(rows, monkeypatch):
    """By brute force, with blocks of three rows."""
    monkeypatch.setattr(counter, "SETS_AT_ONCE", 3)
    bits = np.random.default_rng(rows).integers(0, 2, (4, rows)).astype(np.uint8)
    np.testing.assert_array_equal(count_inclusions(list(bits)), bits.astype(int) @ bits.T)
    times = np.random.default_rng(rows).integers(0, 5, rows)
    scores = (bits + 1) / (1.0 + bits.sum(axis=0))
    sums, products = sum_scores(list(bits), lambda block: (block + 1) / (1.0 + block.sum(axis=0)), times)
    np.testing.assert_allclose(sums, (scores * times).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(products, (scores * times) @ scores.T, rtol=1e-12)
