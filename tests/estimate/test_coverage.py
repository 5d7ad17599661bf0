"""Intervals cover as often as they say: for the table and for the population, through every kind of channel.

Report counts are drawn from the channel itself (that the samplers follow it is tested elsewhere), 4,000
times with a fixed seed. The mean coverage of the cells' 95 % intervals must lie between 93.5 and 96.5 %,
and the mean estimate within five Monte-Carlo errors of the truth.
"""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.channel.channel import Channel
from sottovoce.channel.kronecker import Kronecker
from sottovoce.estimate.counted import Counted
from sottovoce.estimate.methods import by_blue, by_inversion
from sottovoce.scheme.attribute_sampling import AttributeSampling
from sottovoce.scheme.emask import Emask
from sottovoce.scheme.gamma_diagonal import GammaDiagonal
from sottovoce.scheme.randomized_response import RandomizedResponse
from sottovoce.scheme.subset_selection import SubsetSelection
from sottovoce.scheme.unrelated_question import UnrelatedQuestion
from sottovoce.scheme.warner import Warner

SIMULATIONS = 4000


def _kronecker() -> Channel:
    return Kronecker([RandomizedResponse(epsilon=1).mechanism((k,)).channel for k in (3, 4)])


SETTINGS: dict[str, tuple[Channel, int]] = {
    "Warner, binary": (Warner(p=Fraction(3, 4)).mechanism((2,)).channel, 1000),
    "gamma-diagonal, k = 10": (GammaDiagonal(gamma=19).mechanism((10,)).channel, 5000),
    "Kronecker 3 x 4": (_kronecker(), 20_000),
    "unrelated question": (UnrelatedQuestion(theta=0.6, known=[0.2, 0.3, 0.5]).mechanism((3,)).channel, 2000),
    "EMASK pair": (Emask(p=0.5051, q=0.9696).mechanism((2, 2)).channel, 50_000),
    "subset selection": (SubsetSelection(odds=3, size=2).mechanism((6,)).channel, 5000),
    "attribute sampling": (AttributeSampling(odds=4).mechanism((3, 4)).channel.marginal([1]), 10_000),
}


def truths(cells: int) -> np.ndarray:
    """An uneven law without tiny cells: Wald intervals are for those."""
    return np.arange(2, cells + 2) / np.arange(2, cells + 2).sum()


@pytest.mark.parametrize("target", ["population", "table"])
@pytest.mark.parametrize("name", SETTINGS)
def test_intervals_cover(name, target):
    channel, people = SETTINGS[name]
    rng = np.random.default_rng([len(name), len(target)])
    law = truths(channel.n_in)
    fixed = np.round(law * people).astype(int)
    truth = law if target == "population" else fixed / fixed.sum()
    estimate = by_blue if channel.n_out > channel.n_in else lambda c, t: by_inversion(c, t, "inversion")
    columns = channel.matvec(np.eye(channel.n_in)).clip(0)
    columns /= columns.sum(axis=0)
    covered, values = np.zeros(channel.n_in), np.zeros((SIMULATIONS, channel.n_in))
    for run in range(SIMULATIONS):
        if target == "population":
            counts = rng.multinomial(people, columns @ law)
        else:
            counts = sum(rng.multinomial(n, column) for n, column in zip(fixed, columns.T, strict=True))
        counted = Counted(("a",), (tuple(range(channel.n_in)),), channel, counts, np.arange(channel.n_in))
        found = estimate(counted, target)
        low, high = found.interval(0.95)
        covered += (low <= truth) & (truth <= high)
        values[run] = found.value
    assert 0.935 < covered.mean() / SIMULATIONS < 0.965
    errors = values.std(axis=0, ddof=1) / np.sqrt(SIMULATIONS)
    assert (np.abs(values.mean(axis=0) - truth) < 5 * errors).all()
