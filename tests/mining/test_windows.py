"""Windows: each set is within one, none is too wide, and what belongs together stays together."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.mining.itemsets.pattern_model import cover_with_windows

SETS = st.lists(st.sets(st.integers(0, 15), min_size=2, max_size=5), min_size=1, max_size=30)


@given(SETS, st.integers(5, 9))
def test_every_set_is_within_a_window_that_is_not_too_wide(sets, most):
    families = [np.array(sorted(sorted(s) for s in sets if len(s) == size)) for size in range(2, 6)]
    found = cover_with_windows([family for family in families if len(family)], most)
    assert all(len(window) <= most and (np.diff(window) > 0).all() for window in found)
    assert all(any(own <= set(window.tolist()) for window in found) for own in sets)


def test_a_window_takes_what_shares_the_most():
    quads = np.array([[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 5, 6], [7, 8, 9, 10]])
    assert [window.tolist() for window in cover_with_windows([quads], 5)] == [
        [0, 1, 2, 3, 4],
        [0, 1, 5, 6],
        [7, 8, 9, 10],
    ]
    assert [window.tolist() for window in cover_with_windows([quads], 7)] == [[0, 1, 2, 3, 4, 5, 6], [7, 8, 9, 10]]


def test_sets_with_one_item_in_common_have_windows_of_their_own():
    assert [window.tolist() for window in cover_with_windows([np.array([[0, 1, 2], [2, 3, 4]])], 12)] == [
        [0, 1, 2],
        [2, 3, 4],
    ]
