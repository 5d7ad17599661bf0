"""Candidates by whole numbers: the same sets that a search through all of them finds."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.mining.itemsets.selection import Candidates


def by_search(sets: set[tuple[int, ...]], items: int, length: int) -> list[tuple[int, ...]]:
    every = combinations(range(items), length)
    return [s for s in every if all(subset in sets for subset in combinations(s, length - 1))]


@pytest.mark.parametrize("at_once", [1, 3, 2**21])
@given(st.integers(1, 7), st.integers(0, 2**32))
def test_extended_by_search(at_once, items, seed):
    """Keep random sets of every length, and compare what they are extended to, and the rows of their subsets."""
    rng = np.random.default_rng(seed)
    candidates = Candidates.single_items(items)
    while len(candidates):
        kept = rng.random(len(candidates)) < 0.8
        if candidates.length == 1:
            kept[:] = True  # items that did not survive have no index
        candidates = candidates.select(kept)
        listed = list(map(tuple, candidates.items.tolist()))
        longer = Candidates.concatenate(list(candidates.extend(at_once)), candidates.length + 1)
        assert list(map(tuple, longer.items.tolist())) == by_search(set(listed), items, candidates.length + 1)
        assert len(longer) <= candidates.most_extensions
        for own, subsets in zip(longer.items.tolist(), longer.subsets.tolist(), strict=True):
            for position, row in enumerate(subsets):
                assert listed[row] == (*own[:position], *own[position + 1 :])
        candidates = longer
