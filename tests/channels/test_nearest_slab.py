"""Rounding a design to integers keeps its distribution, and odds below those asked for."""

from itertools import combinations
from math import log

import numpy as np
import pytest

from sottovoce.channels.slabs import nearest_slabs, whole_weights
from sottovoce.errors import SottovoceError
from sottovoce.schemes.random_set import RandomSet


def float_distribution(components, odds, tilt) -> dict[frozenset[int], np.ndarray]:
    """`m(S) t_S u_S(x) / norm_x` for all sets and truths, from the definition in floating point."""
    n = len(components[0][2])
    distribution: dict[frozenset[int], np.ndarray] = {}
    for share, size, weights, lengths in components:
        steps = np.ones(n, int) if lengths is None else lengths
        sets = [s for k in range(n) for s in combinations(range(n), k) if sum(steps[i] for i in s) == size]
        products = np.array([np.prod([weights[i] for i in s]) for s in sets])
        for members, mass in zip(sets, share * products / products.sum(), strict=True):
            inside = np.isin(np.arange(n), members)
            likelihood = np.where(inside, 1.0 if odds is None else odds, 0.0 if odds is None else 1.0)
            weight = mass * likelihood * (1 if tilt is None else likelihood @ tilt)
            distribution[frozenset(members)] = distribution.get(frozenset(members), np.zeros(n)) + weight
    norm = sum(distribution.values())
    return {members: weight / norm for members, weight in distribution.items()}


def spanning(ratio: float, seed: int) -> np.ndarray:
    logs = np.random.default_rng(seed).uniform(-0.5, 0.5, 7)
    return np.asarray(np.exp(log(ratio) * (logs - logs.min()) / np.ptp(logs)) * 1e-3)


LENGTHS = [1, 40, 1, 2, 3, 1, 1]
TILT = np.array([0.4, 0.3, 0.1, 0.1, 0.05, 0.04, 0.01])


@pytest.mark.parametrize("tilt", [None, TILT])
@pytest.mark.parametrize("odds", [None, 5.0])
def test_probabilities_are_kept_to_a_hundred_millionth(odds, tilt):
    """Weights over six powers of ten, lengths up to 40: every probability is within 1e-8 of the float design's."""
    components = [
        (0.5, 3, spanning(1e6, 1), None),
        (0.3, 42, spanning(1e6, 2), LENGTHS),
        (0.2, 4, spanning(1e6, 3), LENGTHS),
        (1e-9, 1, np.ones(7), None),
    ]
    scheme = RandomSet.near(components, float("inf") if odds is None else odds, tilt)
    mechanism = scheme.mechanism((7,))
    favour = None if odds is None else float(mechanism.favour)
    for members, expected in float_distribution(components, favour, tilt).items():
        rounded = [float(mechanism.channel.probability(set(members), x)) for x in range(7)]
        np.testing.assert_allclose(rounded, expected, rtol=1e-8)
    if odds is None:
        assert mechanism.channel.odds is None
    else:
        assert odds * (1 - 1e-6) < mechanism.channel.odds <= odds


def test_a_balanced_design_keeps_its_favour():
    """If all norms are equal, g is the odds asked for; rounding must not cost more than 1e-9 of it."""
    scheme = RandomSet.near([(0.5, 2, [0.3] * 12, None), (0.5, 3, [7.0] * 12, None)], 20.0, [0.1] * 12)
    mechanism = scheme.mechanism((12,))
    assert mechanism.channel.odds <= 20
    assert float(mechanism.favour) == pytest.approx(20, rel=1e-9)


def test_equal_weights_are_written_as_ones():
    assert whole_weights("weights", [0.3] * 4) == [1] * 4
    assert RandomSet.near([(1.0, 2, [0.3] * 4, None)], 3).components[0].items == (1,) * 4


def test_weights_too_far_apart_are_cut_at_one():
    """The largest has 2^256, what is below 1 then becomes 1, and the others are rounded to whole numbers."""
    most, middle, least = whole_weights("weights", [1.0, 1e-70, 1e-90])
    assert (most, least) == (2**256, 1)
    assert middle == pytest.approx(2.0**256 * 1e-70, rel=1e-7)
    mechanism = RandomSet.near([(1.0, 2, [1.0, 1e-70, 1e-90, 1.0], None)], 3).mechanism((4,))
    assert 3 * (1 - 1e-6) < mechanism.channel.odds <= 3


def test_lengths_leave_room_for_longer_weights():
    """c is the least with all `w_i c^(g_i)` at 2^36 or more: here 2^36 from the second, which has length 1."""
    assert whole_weights("weights", [2.0**-30, 1.0, 8.0], [3, 1, 2]) == [2**78, 2**36, 2**75]


def test_shares_are_those_of_the_components():
    first, second = nearest_slabs([(0.7, 3, spanning(1e6, 1), LENGTHS), (0.1, 2, spanning(10, 4), None)])
    assert first.total / second.total == pytest.approx(7, rel=1e-11)


@pytest.mark.parametrize(
    ("component", "parameter"),
    [
        ((0.0, 1, [1, 1], None), "mass"),
        ((float("nan"), 1, [1, 1], None), "mass"),
        ((float("inf"), 1, [1, 1], None), "mass"),
        ((1.0, 1, [1, 0], None), "weights"),
        ((1.0, 1, [1, float("nan")], None), "weights"),
        ((1.0, 1, [], None), "items"),
        ((1.0, 1, 3.0, None), "items"),
        ((1.0, 1, [[1, 1]], None), "weights"),
        ((1.0, 1, [1, 1], [1, 1, 1]), "lengths"),
        ((1.0, 1, [1, 1], [1, 0]), "lengths"),
        ((1.0, 1, [1, 1], [1, 1.5]), "lengths"),
        ((1.0, 2, [1, 1], None), "size"),
    ],
)
def test_invalid_designs_are_refused(component, parameter):
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        nearest_slabs([component])


def test_empty_designs_are_refused():
    with pytest.raises(SottovoceError, match=r"^components must be at least one"):
        RandomSet.near([], 3)
    with pytest.raises(SottovoceError, match=r"^tilt must be a list of positive numbers"):
        RandomSet.near([(1.0, 1, [1, 1], None)], 3, tilt=[])
