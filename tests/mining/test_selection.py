"""How many of the most probable sets are reported."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sottovoce.mining.itemsets.selection import Recall, Search, probability_frequent, select_probable
from sottovoce.mining.itemsets.tuning import Tuning


@given(arrays(float, st.integers(0, 60), elements=st.floats(-6, 6)), st.sampled_from([0.01, 0.08, 0.3]))
def test_false_ones_stay_within_their_share(deviations, share):
    """No set survives beside a surer one that does not; beyond the likely, false ones are within their share."""
    kept = select_probable(deviations, Tuning(false_positives=share))
    probability = probability_frequent(deviations)
    assert kept[deviations >= 0].all()
    if kept.any():
        assert probability[~kept].max(initial=0) <= probability[kept].min()
    if deviations[kept].min(initial=0) < 0:
        assert (1 - probability[kept]).sum() <= share * probability.sum() + 1e-9


def test_one_likely_set_is_reported_and_an_unlikely_one_is_not():
    assert select_probable(np.array([0.1])).tolist() == [True]
    assert select_probable(np.array([-1.0, np.nan, -np.inf]), Tuning(false_positives=0.9)).tolist() == [False] * 3


def test_sure_sets_bring_in_doubtful_ones():
    """A thousand sure sets may have 80 false ones beside them: those of 80 % recall and no less."""
    kept = select_probable(np.concatenate([np.full(1000, 9.0), [-0.83, -0.85]]))
    assert kept[-2:].tolist() == [True, False]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [(Recall(0.977), [True, True, False]), ("smoothed", [True, False, False]), ("threshold", [True, False, False])],
)
def test_by_their_own_estimates(selection, expected):
    search = Search(0.1, selection, "table", 5)
    assert search.select(np.array([0.2, 0.085, 0.07]), np.array([0.01, 0.01, 0.01])).tolist() == expected
