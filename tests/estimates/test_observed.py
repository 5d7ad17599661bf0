"""Reports by the attributes asked: distributions, derivatives and margins, against the whole channel."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.channels.channel import Part
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.sampled import Sampled
from sottovoce.estimates.likelihood import observed
from sottovoce.estimates.log_linear import contrasts, helmert, sets_up_to
from sottovoce.schemes.attribute_sampling import AttributeSampling

SIZES = (2, 3, 2)
TRUTH = np.random.default_rng(3).dirichlet(np.ones(12))
CHANNELS = {
    "pairs": AttributeSampling(odds=4, size=2).mechanism(SIZES).channel,
    "repeated": AttributeSampling(odds=4, subsets=[[0, 1], [0, 1], [2]]).mechanism(SIZES).channel,
    "spread": AttributeSampling(odds=2, subsets=[[0, 1, 2], [1, 2]], spread=True).mechanism(SIZES).channel,
    "joint": KeepOrUniform(SIZES, Fraction(1, 3)),
}


@pytest.fixture(params=CHANNELS, ids=str)
def channel(request):
    return CHANNELS[request.param]


@pytest.fixture
def counts(channel):
    return np.random.default_rng(1).multinomial(1000, channel.matvec(TRUTH))


def test_blocks_hold_every_report_once_and_have_its_law(channel, counts):
    found = observed(channel, counts)
    assert found.total == 1000
    shares = np.concatenate(
        [block.total / 1000 * law for block, law in zip(found.blocks, found.report_distributions(TRUTH), strict=True)]
    )
    assert shares.sum() == pytest.approx(1)
    # Given the numbers of each block, the likelihood is that of the channel but for those numbers' own.
    expected = channel.matvec(TRUTH)
    whole = counts[counts > 0] @ np.log(expected[counts > 0])
    own = sum(block.total * np.log(expected_share(channel, block)) for block in found.blocks)
    assert found.log_likelihood(TRUTH) + own == pytest.approx(whole)


def expected_share(channel, block) -> float:
    """Chance that a report is of this block."""
    if not isinstance(channel, Sampled):
        return 1.0
    weights = {part.axes: 0 for part in channel.parts}
    for part in channel.parts:
        weights[part.axes] += part.weight
    return weights[block.axes] / sum(weights.values())


def test_the_gradient_is_the_derivative(channel, counts):
    found = observed(channel, counts)
    step = 1e-6
    differences = [
        (found.log_likelihood(TRUTH + step * unit) - found.log_likelihood(TRUTH - step * unit)) / (2 * step)
        for unit in np.eye(12)
    ]
    np.testing.assert_allclose(found.gradient(TRUTH), differences, rtol=1e-5)
    assert found.gradient(TRUTH) @ TRUTH == pytest.approx(found.total)


def test_the_information_is_the_expected_curvature(channel, counts):
    """`E[-d^2 log-likelihood]` along directions, from the law of the reports, by differences of the expected score."""
    found = observed(channel, counts)
    directions = helmert(12)[:, :4] / 100
    distributions = found.report_distributions(TRUTH)
    expected = np.zeros((4, 4))
    for block, law in zip(found.blocks, distributions, strict=True):
        moved = np.stack([block.report_distribution(found.asked(block, column)) for column in directions.T], axis=1)
        expected += sum(block.total * np.outer(row, row) / chance for row, chance in zip(moved, law, strict=True))
    np.testing.assert_allclose(found.information(TRUTH, directions), expected)


@pytest.mark.parametrize("kept", [(0,), (1, 2), (0, 2)])
def test_margins_say_of_the_kept_attributes_what_the_reports_say(counts, channel, kept):
    """A margin's distributions are those of the truth's margin, and no report is lost but the mute."""
    found = observed(channel, counts)
    margin = found.margin(kept)
    others = tuple(a for a in range(3) if a not in kept)
    truth = TRUTH.reshape(SIZES).sum(axis=others).ravel()
    speaking = [block for block in found.blocks if set(kept) & set(block.axes)]
    assert margin.total == sum(block.total for block in speaking)
    assert margin.sizes == tuple(SIZES[a] for a in kept)
    for block in margin.blocks:
        law = block.report_distribution(margin.asked(block, truth))
        assert law.shape == block.counts.shape
        assert law.sum() == pytest.approx(1)


def test_blocks_that_come_to_the_same_are_one():
    pairs = observed(CHANNELS["pairs"], np.random.default_rng(1).multinomial(900, CHANNELS["pairs"].matvec(TRUTH)))
    margin = pairs.margin([0])
    # Through (0, 1) of six cells and (0, 2) of four the first attribute is kept with different probabilities.
    assert [block.axes for block in margin.blocks] == [(0,), (0,)]
    same = AttributeSampling(odds=4, size=2).mechanism((2, 2, 2)).channel
    merged = observed(same, np.random.default_rng(1).multinomial(900, same.matvec(np.full(8, 1 / 8)))).margin([0])
    assert len(merged.blocks) == 1


def test_parts_that_ask_nothing_say_nothing():
    coin = KeepOrUniform((2,), Fraction(1, 2))
    channel = Sampled((2, 2), [Part((0,), coin), Part((0,), KeepOrUniform((2,), Fraction(1, 4)), 3), Part((), None)])
    counts = np.zeros((3, 3), int)
    counts[0, 2], counts[1, 2], counts[2, 2] = 3, 4, 100
    (block,) = observed(channel, counts.ravel()).blocks
    assert (block.axes, block.total) == ((0,), 7)
    np.testing.assert_allclose(
        block.report_distribution(np.array([1.0, 0.0])), [1 / 4 * 3 / 4 + 3 / 4 * 5 / 8, 1 / 4 / 4 + 3 / 4 * 3 / 8]
    )


def test_contrasts_are_an_orthogonal_basis():
    sets = sets_up_to(3, 3)
    columns, owner = contrasts(SIZES, sets)
    assert np.bincount(owner).tolist() == [1, 2, 1, 2, 1, 2, 2]
    basis = np.column_stack([np.ones(12), columns])
    np.testing.assert_allclose(basis.T @ basis / 12, np.eye(12), atol=1e-12)
    # Those of the first attribute do not change with the others.
    first = columns[:, owner == 0].reshape(SIZES)
    np.testing.assert_allclose(first, np.broadcast_to(first[:, :1, :1], SIZES))
