"""What reports cannot tell, and when it is said."""

import warnings

import numpy as np
import pytest

from sottovoce.mining.itemsets.frequent import ResolutionWarning, warn_not_asked_together, warn_too_long
from sottovoce.mining.itemsets.selection import Level


def levels(*counts: int) -> list[Level]:
    """So many sets of each length."""
    return [
        Level(np.zeros((count, length), np.int64), np.zeros(count), np.zeros(count))
        for length, count in enumerate(counts, start=1)
    ]


def test_lengths_beyond_what_can_be_recovered():
    with pytest.warns(ResolutionWarning, match=r"^these reports say nothing about sets of more than 2 items"):
        warn_too_long(levels(4, 6), most=2, wanted=30)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [(levels(4, 6), 2), (levels(4), 30), (levels(4, 2), 30), ([], 30)],
    ids=["as long as wanted", "shorter ones only", "too few to grow", "none"],
)
def test_nothing_longer_is_missed(found, wanted):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_too_long(found, most=2, wanted=wanted)
        warn_not_asked_together([])


def test_only_some_sets_of_attributes_are_named():
    with pytest.warns(ResolutionWarning, match=r": a, b; a, c; b, c; \.\.\.$"):
        warn_not_asked_together([["a", "b"], ["a", "c"], ["b", "c"], ["c", "d"]])
