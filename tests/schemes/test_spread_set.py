"""Sets of favoured cells: difference sets where there are any, and never less information than one cell gives."""

from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.disguises.tables import disguise_frame
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.mechanisms.diagonal import Diagonal
from sottovoce.mechanisms.matrix import Listed
from sottovoce.mechanisms.sampling import Sampling
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.attribute_sampling import MOST_CELLS, AttributeSampling, spread_set, spread_sets, translated


def information_of(channel) -> float:
    """Harmonic mean, over contrasts of uniform truths, of the information in a report: by the matrix itself."""
    matrix = channel.dense()
    cells = len(matrix)
    moments = matrix.T @ matrix * cells / cells  # sum_y A[y, x] A[y, x'] / l(y), for unit contrasts over n cells
    values = np.sort(np.linalg.eigvalsh(moments))[:-1]
    return len(values) / np.sum(1 / np.maximum(values, 1e-12))


@pytest.mark.parametrize(
    ("sizes", "odds", "size"), [((7,), 2, 3), ((4, 2, 2), 3, 6), ((2, 2, 2, 2), 3, 6), ((13,), 2, 4)]
)
def test_difference_sets_are_found(sizes, odds, size):
    """(7, 3, 1), (16, 6, 2) and (13, 4, 1): every difference but 0 comes as often as any other (Colbourn & Dinitz)."""
    members = spread_set(sizes, Fraction(odds))
    assert len(members) == size
    cells = np.array(np.unravel_index(members, sizes)).T
    steps = (cells[:, None] - cells[None]) % np.array(sizes)
    counts = np.bincount(np.ravel_multi_index(tuple(steps.reshape(-1, len(sizes)).T), sizes), minlength=prod(sizes))
    assert set(counts[1:].tolist()) == {size * (size - 1) // (prod(sizes) - 1)}


@pytest.mark.parametrize("sizes", [(4, 5), (5, 5), (5, 2, 2), (9, 3)])
def test_a_spread_set_doubles_the_information_for_many_cells(sizes):
    odds = Fraction(2)
    spread = translated(sizes, spread_set(sizes, odds), odds).channel
    limit = float((odds - 1) ** 2 / (4 * odds)) / (prod(sizes) - 1)  # for any mechanism: Ye & Barg (2018)
    assert 2 * information_of(Diagonal.with_ratio(sizes, odds).channel) < information_of(spread) <= limit


@given(st.lists(st.integers(2, 4), min_size=1, max_size=3), st.fractions(Fraction(11, 10), 30, max_denominator=10))
def test_odds_are_exact_and_information_is_never_less(sizes, odds):
    members = spread_set(sizes, odds)
    mechanism = translated(sizes, members, odds)
    assert mechanism.channel.odds == odds
    assert information_of(mechanism.channel) >= information_of(Diagonal.with_ratio(sizes, odds).channel) * (1 - 1e-9)


def test_odds_of_an_epsilon_are_never_exceeded():
    """exp(1) is no fraction: rounded towards privacy, by less than a millionth."""
    scheme = AttributeSampling(epsilon=1, subsets=[[0, 1]], spread=True)
    mechanism = scheme.mechanism((5, 5))
    assert isinstance(mechanism.parts[0][1], Listed)
    assert scheme.odds * (1 - Fraction(1, 10**6)) < mechanism.channel.odds <= scheme.odds
    assert mechanism.channel.marginal([0]).parts[0].channel.shape_in == (5,)  # rounding keeps the marginals


def test_attributes_of_a_spread_part_have_margins_of_their_own():
    channel = translated((4, 5), spread_set((4, 5), Fraction(3)), Fraction(3)).channel
    truth = np.random.default_rng(0).dirichlet(np.ones(20)).reshape(4, 5)
    whole = channel.matvec(truth.ravel()).reshape(4, 5)
    np.testing.assert_allclose(channel.marginal([0]).matvec(truth.sum(axis=1)), whole.sum(axis=1))


def test_parts_are_spread_if_that_is_more_informative():
    parts = AttributeSampling(odds=2, subsets=[[0], [0, 1], [1, 2]], spread=True).mechanism((3, 7, 20)).parts
    assert [type(mechanism) for _, mechanism in parts] == [Diagonal, Listed, Diagonal]
    assert MOST_CELLS < 7 * 20  # no set is searched for so many


@pytest.mark.parametrize(
    ("sizes", "odds", "size"), [((2, 2, 3, 3), 2, 3), ((5, 5, 5, 5), 2, 3), ((5, 5, 5, 2), Fraction(3, 2), 2)]
)
def test_single_attributes_are_told_by_the_mixture_of_all_sets(sizes, odds, size):
    """Reports of an attribute in several sets do not cancel out: no contrast is told much worse than by one set."""
    subsets = list(combinations(range(len(sizes)), size))
    as_found = {shape: spread_set(shape, Fraction(odds)) for shape in {tuple(sizes[a] for a in s) for s in subsets}}
    moved = spread_sets(sizes, subsets, Fraction(odds))
    assert moved != as_found
    channel = AttributeSampling(odds=odds, size=size, spread=True).mechanism(sizes).channel
    before = Sampling(sizes, [(s, translated(*_shape_and_set(s, sizes, as_found), Fraction(odds))) for s in subsets])
    for attribute in range(len(sizes)):
        now, then = (each.marginal([attribute]).condition_number for each in (channel, before.channel))
        assert now < 1.3 * then
    worst = [max(each.marginal([a]).condition_number for a in range(len(sizes))) for each in (channel, before.channel)]
    assert worst[0] < worst[1] / 1.5


def _shape_and_set(subset, sizes, found):
    shape = tuple(sizes[a] for a in subset)
    return shape, found[shape]


def test_moved_sets_tell_as_much_of_whole_reports():
    sizes, odds = (2, 2, 3, 3), Fraction(2)
    for shape, members in spread_sets(sizes, combinations(range(4), 3), odds).items():
        found = spread_set(shape, odds)
        assert len(members) == len(found)
        assert information_of(translated(shape, members, odds).channel) == pytest.approx(
            information_of(translated(shape, found, odds).channel)
        )


def test_sets_stay_where_nothing_cancels():
    for sizes, subsets in (((2, 5, 3), [(0, 1), (2,)]), ((5, 5), [(0, 1)]), ((3, 7, 20), [(0,), (0, 1), (1, 2)])):
        moved = spread_sets(sizes, subsets, Fraction(2))
        small = {shape: members for shape, members in moved.items() if prod(shape) <= MOST_CELLS}
        assert small == {shape: spread_set(shape, Fraction(2)) for shape in small}
        assert all(moved[shape] == (0,) for shape in moved if shape not in small)


def test_triples_estimate_single_attributes():
    sizes, people = (2, 2, 3, 3), 4000
    names = [f"q{number}" for number in range(4)]
    schema = Schema([Attribute(name, range(size)) for name, size in zip(names, sizes, strict=True)])
    plan = Plan.of(schema, {tuple(names): AttributeSampling(odds=2, size=3, spread=True)})
    truth = {name: [0] * (people * 3 // 4) + [1] * (people // 4) for name in names}
    reports = disguise_frame(truth, plan, rng=5)
    for name in names:
        for method in ("inversion", "blue"):
            estimate = estimate_proportions(reports, plan, name, method=method)
            assert estimate.standard_error.max() < 0.15
            assert abs(estimate.value[0] - 0.75) < 4 * estimate.standard_error[0]
