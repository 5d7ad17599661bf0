"""Candidates by whole numbers: the same sets that a search through all of them finds."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.mining.itemsets import candidates
from sottovoce.mining.itemsets.candidates import Family, together


def by_search(sets: set[tuple[int, ...]], items: int, length: int) -> list[tuple[int, ...]]:
    every = combinations(range(items), length)
    return [s for s in every if all(subset in sets for subset in combinations(s, length - 1))]


@pytest.mark.parametrize("at_once", [1, 3, 2**21])
@given(st.integers(1, 7), st.integers(0, 2**32))
def test_joined_by_search(at_once, items, seed):
    """Keep random sets of every length, and compare what they are joined to, and the numbers of their subsets."""
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "MOST_AT_ONCE", at_once)
        family = Family.of_singles(items)
        while len(family):
            kept = rng.random(len(family)) < 0.8
            if family.length == 1:
                kept[:] = True  # items that did not survive have no number
            family = family.chosen(kept)
            listed = list(map(tuple, family.items.tolist()))
            parts = list(family.joined())
            joined = together(parts, family.length + 1)
            assert list(map(tuple, joined.items.tolist())) == by_search(set(listed), items, family.length + 1)
            assert len(joined) <= family.most_joined
            for own, without in zip(joined.items.tolist(), joined.without.tolist(), strict=True):
                for place, number in enumerate(without):
                    assert listed[number] == (*own[:place], *own[place + 1 :])
            family = joined
