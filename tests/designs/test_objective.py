"""Dominance among more than two objectives, and where an objective is infinite."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sottovoce.designs.front import non_dominated


@given(arrays(np.float64, st.tuples(st.integers(0, 9), st.just(3)), elements=st.integers(0, 3).map(float)))
def test_dominance_of_three_is_what_it_says(losses):
    kept = non_dominated(losses)
    for i, row in enumerate(losses):
        beaten = any((other <= row).all() and (other < row).any() for other in losses)
        twin = any((losses[j] == row).all() for j in range(i))
        assert kept[i] == (not beaten and not twin)


@given(arrays(np.float64, st.tuples(st.integers(0, 9), st.just(2)), elements=st.sampled_from([0.0, 1.0, np.inf])))
def test_two_objectives_are_compared_like_more(losses):
    same = np.column_stack([losses, np.zeros(len(losses))])
    assert non_dominated(losses).tolist() == non_dominated(same).tolist()
