"""Sets that are drawn: designs to integers and back, and measures without a list against those with one."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.random_set import RandomSet
from sottovoce.channels.slabs import Slab
from sottovoce.channels.subset_selection import SubsetSelection
from sottovoce.designs.exact_scheme import SetComponent, SetDesign, round_sets, set_design
from sottovoce.designs.front import measures_of
from sottovoce.errors import SottovoceError

LENGTHS = np.array([1.0, 1.0, 2.0, 1.0, 3.0])
DESIGN = SetDesign(
    (
        SetComponent(0.3, 2, np.array([1.0, 0.7, 0.5, 0.4, 0.2]), np.ones(5)),
        SetComponent(0.7, 4, np.array([1.0, 2.0, 1.5, 0.3, 0.9]), LENGTHS),
    ),
    odds=3.0,
    tilt=np.array([0.4, 0.2, 0.2, 0.1, 0.1]),
)


def test_designs_become_integers_and_come_back():
    channel = round_sets(DESIGN, Fraction(3)).channel
    assert channel.odds <= 3
    back = set_design(channel)
    assert back.tilt == pytest.approx(DESIGN.tilt)
    for part, given in zip(back.components, DESIGN.components, strict=True):
        assert (part.mass, part.size) == (pytest.approx(given.mass), given.size)
        assert part.lengths == pytest.approx(given.lengths)
        logs = np.log(part.weights / given.weights)  # equal but for c^length
        assert logs == pytest.approx(logs[0] * given.lengths, abs=1e-8)


def test_without_odds_nothing_is_deniable():
    free = SetDesign(DESIGN.components[:1], odds=None)
    channel = round_sets(free, None).channel
    assert channel.odds is None
    assert set_design(channel).odds is None
    assert set_design(SubsetSelection((4,), 2, 1)).odds is None


def test_other_channels_are_no_sets():
    assert set_design(KeepOrUniform((3,), Fraction(1, 2))) is None


@pytest.mark.parametrize(
    "channel",
    [
        SubsetSelection((8,), 3, Fraction(3, 5)),
        RandomSet((6,), [Slab(7, 1, [5, 1, 1, 2, 9, 3]), Slab(2, 3, [1, 4, 2, 2, 1, 1])], 2),
        round_sets(DESIGN, Fraction(3)).channel,
        round_sets(SetDesign(DESIGN.components[:1], odds=None), None).channel,
    ],
)
def test_measures_without_a_list_are_those_with_one(channel, monkeypatch):
    prior = np.arange(1, channel.n_in + 1) / sum(range(1, channel.n_in + 1))
    listed = measures_of(channel, prior, 1000)
    monkeypatch.setattr("sottovoce.designs.front.LARGEST_LISTED", 1)
    assert measures_of(channel, prior, 1000) == pytest.approx(listed, rel=1e-7)


def test_sets_too_uneven_for_exact_integers_name_the_prior(monkeypatch):
    """A geometric prior over 100 categories with ratio .8 needs weights longer than 2^8192; a smaller limit will do."""
    monkeypatch.setattr("sottovoce.channels.slabs.LARGEST_WEIGHT", 2**8)
    with pytest.raises(SottovoceError, match=r"^prior must be less uneven for sets to be drawn with exact integers"):
        round_sets(DESIGN, Fraction(3))
