"""Randomly drawn sets: exact probabilities against a list of all sets, bounds on the odds, scores and estimates."""

from fractions import Fraction
from itertools import combinations
from math import ceil, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.channels.random_set import RandomSet
from sottovoce.channels.set_valued import membership
from sottovoce.channels.slabs import Slab
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.estimates.proportions import blue_matrix
from sottovoce.mechanisms.coins import flip, random_words
from sottovoce.mechanisms.random_set import SetByRank

SIDES = 2**64


@st.composite
def channels(draw) -> RandomSet:
    """Two to five categories, up to three slabs, any lengths, with a tilt or not; one in five is not deniable."""
    n = draw(st.integers(2, 5))
    numbers = st.lists(st.integers(1, 9), min_size=n, max_size=n)
    lengths = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    components = []
    for _ in range(draw(st.integers(1, 3))):
        some = draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=n - 1))
        components.append(Slab(draw(st.integers(1, 9)), sum(lengths[i] for i in some), draw(numbers), lengths))
    components.append(Slab(1, 1, [1] * n))  # every category is in a set
    favour = draw(st.one_of(*[st.fractions(1, 20, max_denominator=50)] * 4, st.none()))
    return RandomSet((n,), components, favour, draw(st.one_of(st.none(), numbers)))


def numbers_of(channel: RandomSet, truth: int) -> list[tuple[frozenset[int], int]]:
    """Sets in order with how many numbers each is assigned, as docs/format.md says."""
    everything, numbers = range(channel.n_in), []
    a, b = (1, 0) if channel.favour is None else channel.favour.as_integer_ratio()
    for c in channel.components:
        sets = [s for k in everything for s in combinations(everything, k) if sum(c.lengths[i] for i in s) == c.size]
        for s in sorted(sets, key=lambda members: [i not in members for i in everything]):
            tilt = sum(h * (a if i in s else b) for i, h in enumerate(channel.tilt)) if channel.tilt else 1
            weight = c.weight * prod(c.items[i] for i in s) * tilt * (a if truth in s else b)
            numbers.append((frozenset(s), weight))
    return numbers


@settings(max_examples=60, deadline=None)
@given(channels())
def test_the_mechanism_and_its_channel_follow_the_format_number_by_number(channel):
    """Every run of faces, at both its ends, draws the set it should; runs add up to the entries exactly."""
    mechanism = SetByRank(channel.shape_in, channel.components, channel.favour, channel.tilt)
    count = len(mechanism.coins)
    norms = [sum(weight for _, weight in numbers_of(channel, x)) for x in range(channel.n_in)]
    assert channel.rank.norms == norms
    assert 2 ** (64 * (count - 1)) < 2**64 * 2 ** max(norms).bit_length() <= 2 ** (64 * count)
    for truth, norm in enumerate(norms):
        faces, before, ways, ends = SIDES**count, 0, dict[frozenset[int], int](), []
        for members, weight in numbers_of(channel, truth):
            first, end = ceil(Fraction(before * faces, norm)), ceil(Fraction((before + weight) * faces, norm))
            ways[members] = ways.get(members, 0) + end - first
            ends += [(members, first), (members, end - 1)] if weight else []
            before += weight
        digits = [[face >> 64 * (count - 1 - i) & SIDES - 1 for _, face in ends] for i in range(count)]
        bits = np.array(mechanism.respond((np.full(len(ends), truth),), tuple(np.array(d, np.uint64) for d in digits)))
        assert [frozenset(np.flatnonzero(column).tolist()) for column in bits.T] == [members for members, _ in ends]
        assert sum(ways.values()) == faces
        assert all(channel.probability(set(s), truth) == Fraction(count, faces) for s, count in ways.items())


@settings(max_examples=60, deadline=None)
@given(channels())
def test_no_set_is_rounded_by_more_than_one_part_in_2_to_the_64(channel):
    for truth, norm in enumerate(channel.rank.norms):
        exact: dict[frozenset[int], Fraction] = {}
        for members, weight in numbers_of(channel, truth):
            exact[members] = exact.get(members, Fraction(0)) + Fraction(weight, norm)
        for members, chance in exact.items():
            assert abs(channel.probability(set(members), truth) - chance) <= chance / SIDES


@settings(max_examples=25, deadline=None)
@given(channels().filter(lambda channel: channel.favour is not None))
def test_the_bound_on_the_odds_holds_and_is_close(channel):
    largest, bound = channel.rank.largest_odds(), channel.rank.odds_bound()
    assert largest <= bound <= largest * (1 + Fraction(5, SIDES))


def uneven(n: int, tilt: bool, favour: int | None = 7) -> RandomSet:
    """Lengths 1 to 3 and weights over six powers of ten; components of equal total weight."""
    lengths = [1 + i % 3 for i in range(n)]
    items = [10 ** (6 * (i * 7 % n) // n) * 3 ** lengths[i] for i in range(n)]
    plain = [Slab(1, n // 4, items, lengths), Slab(1, n // 4 + 1, items[::-1], lengths), Slab(1, n // 8, [1] * n)]
    most = 2**20 * max(c.total for c in plain)
    components = [Slab(most // c.total, c.size, c.items, c.lengths) for c in plain]
    return RandomSet((n,), components, favour, range(n, 0, -1) if tilt else None)


def test_the_bound_holds_for_sets_that_are_next_to_never_drawn():
    """A set of probability below 2^-100 has the right odds, to one part in 2^63."""
    channel = RandomSet((4,), [Slab(1, 2, [1, 2**64, 1, 2**63]), Slab(2**80, 1, [1] * 4)], 3, [1, 2**64, 1, 1])
    chances = [channel.probability({0, 2}, truth) for truth in range(4)]
    assert max(chances) < Fraction(1, 2**100)
    norms = channel.rank.norms
    exact = Fraction(3 * norms[1], norms[0])
    assert abs(chances[0] / chances[1] / exact - 1) < Fraction(2, SIDES)
    assert channel.rank.largest_odds() <= channel.rank.odds_bound()


@pytest.mark.parametrize("channel", list(RandomSet.cases()), ids=repr)
def test_mean_scores_are_those_of_the_matrix(channel):
    scores = np.zeros((channel.n_in, channel.n_out))
    possible = channel.dense().max(axis=1) > 0
    scores[:, possible] = channel.scores(membership(channel.n_in)[:, possible])
    np.testing.assert_allclose(channel.score_matrix(), scores @ channel.dense(), rtol=1e-12)


@pytest.mark.parametrize("channel", [c for c in RandomSet.cases() if c.condition_number < 1e4], ids=repr)
def test_estimates_from_scores_are_unbiased_and_best_at_their_prior(channel):
    """A left inverse for any truths; at p = h norm (normalised) that of the least variance."""
    possible = channel.dense().max(axis=1) > 0
    matrix = channel.dense()[possible]
    each = channel.solve_inclusions(channel.scores(membership(channel.n_in)[:, possible]), np.ones(possible.sum()))
    np.testing.assert_allclose(each @ matrix, np.eye(channel.n_in), atol=1e-9)
    np.testing.assert_allclose(each.sum(axis=0), 1, atol=1e-9)
    if channel.reference is None:
        return
    prior = np.array(
        [h * n / max(channel.rank.norms) for h, n in zip(channel.reference, channel.rank.norms, strict=True)]
    )
    prior /= prior.sum()
    reports = matrix @ prior
    least = blue_matrix(channel, prior)[:, possible]
    np.testing.assert_allclose((each * reports) @ each.T, (least * reports) @ least.T, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("favour", [7, None])
@pytest.mark.parametrize("tilt", [True, False])
def test_estimates_undo_the_channel_for_many_categories(tilt, favour):
    channel = uneven(40, tilt, favour)
    truths = np.random.default_rng(3).dirichlet(np.ones(40), size=2).T * [1, 5000]
    found = channel.solve_inclusions(channel.score_matrix() @ truths, [1, 5000])
    np.testing.assert_allclose(found, truths, atol=1e-7)
    np.testing.assert_allclose(found.sum(axis=0), [1, 5000], rtol=1e-12)


@pytest.mark.parametrize("favour", [7, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("tilt", [True, False])
def test_drawn_sets_of_many_categories_fit_the_scores(tilt, favour):
    """60 categories, 6,000 seeded draws: no z-score of a mean reaches 5, of which chance makes one in 30,000."""
    channel, rows = uneven(60, tilt, favour), 6_000
    mechanism = SetByRank((60,), channel.components, channel.favour, channel.tilt)
    truth = np.arange(rows) % 60
    bits = np.array(mechanism.respond((truth,), flip(mechanism.coins, rows, random_words(5))))
    totals = np.array(channel.components[0].lengths) @ bits
    assert ((totals == 15) | (totals == 16) | (bits.sum(axis=0) == 7)).all()
    scores = channel.scores(bits.astype(np.float64))
    residuals = scores - channel.score_matrix()[:, truth]
    assert np.abs(residuals.mean(axis=1) / (residuals.std(axis=1) / np.sqrt(rows))).max() < 5
    if favour is None:
        assert bits[truth, np.arange(rows)].all()


def test_impossible_reports_have_no_score():
    channel = RandomSet((3,), [Slab(1, 1, [1, 1, 1])], None)
    with pytest.raises(SottovoceError, match=r"^reports must be sets with a category in them"):
        channel.scores(np.zeros((3, 1)))


def test_sets_that_do_not_favour_the_truth_cannot_be_estimated_from():
    channel = RandomSet((20,), [Slab(1, 3, range(1, 21))], 1, range(1, 21))
    with pytest.raises(SingularChannelError, match=r"^sets must hold .* Got a singular value of .* instead\."):
        channel.solve_inclusions(np.ones(20))


@pytest.mark.parametrize(
    ("build", "parameter"),
    [
        (lambda: RandomSet((3,), [], 2), "components"),
        (lambda: RandomSet((3,), [Slab(1, 1, [1] * 4)], 2), "items"),
        (lambda: RandomSet((3,), [Slab(1, 1, [1] * 3)], "1/2"), "favour"),
        (lambda: RandomSet((3,), [Slab(1, 1, [1] * 3)], 2, [1, 2]), "tilt"),
        (lambda: RandomSet((3,), [Slab(1, 1, [1] * 3)], 2, []), "tilt"),
        (lambda: RandomSet((3,), [Slab(1, 1, [1] * 3)], 2, [1, 2, 0]), "tilt"),
        (lambda: RandomSet((3,), [Slab(1, 2, [1] * 3, [3, 1, 1])], None), "components"),
        (lambda: RandomSet((13,), [Slab(1, 1, [1] * 13)], 2).dense(), "channel"),
        (lambda: RandomSet((3,), [Slab(1, 1, [1] * 3)], 2).solve_inclusions([1, 2]), "inclusions"),
    ],
)
def test_impossible_designs_are_refused(build, parameter):
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        build()
