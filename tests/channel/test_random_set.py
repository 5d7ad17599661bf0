"""Randomly drawn sets: the exact law against a client written from the format's words, bounds, estimates."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.channel.conditional_poisson import ConditionalPoisson
from sottovoce.channel.random_set import RandomSet
from sottovoce.channel.set_valued import membership
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.mechanism.coins import flip, random_words
from sottovoce.mechanism.mechanism import mechanism_from_json
from sottovoce.mechanism.random_set import DrawnSet
from sottovoce.schema.attribute import Attribute
from sottovoce.schema.schema import Schema
from sottovoce.scheme.random_set import RandomSet as Scheme
from sottovoce.scheme.subset_selection import SubsetSelection

SIDES = 2**64


@st.composite
def designs(draw) -> DrawnSet:
    """Two to five categories, up to three components, any sizes."""
    n = draw(st.integers(2, 5))
    component = st.builds(
        ConditionalPoisson,
        st.integers(1, 9),
        st.integers(1, n - 1),
        st.lists(st.integers(1, 9), min_size=n, max_size=n),
    )
    favour = draw(st.fractions(1, 20, max_denominator=50))
    return DrawnSet((n,), draw(st.lists(component, min_size=1, max_size=3)), favour)


def polynomial(weights: list[int], degree: int) -> int:
    """The definition: all sets, one by one."""
    return sum(prod(chosen) for chosen in combinations(weights, degree))


Leaf = tuple[list[int], list[int], frozenset[int]]
"""First and last side of every coin, and the set that all sides between them draw."""


def leaves(mechanism: DrawnSet, truth: int) -> Iterator[Leaf]:
    """Every way through the rule of docs/format.md, written from its words alone."""
    weights = []
    for c in mechanism.components:
        others = [w for i, w in enumerate(c.items) if i != truth]
        weights.append(
            mechanism.favour.numerator * c.weight * c.items[truth] * polynomial(others, c.size - 1),
        )
        weights.append(mechanism.favour.denominator * c.weight * polynomial(others, c.size))
    sides = [max(1, SIDES * w // sum(weights)) for w in weights]
    largest = weights.index(max(weights))
    sides[largest] = SIDES - sum(s for k, s in enumerate(sides) if k != largest)
    start = 0
    for k, run in enumerate(sides):
        c = mechanism.components[k // 2]
        items = [i for i in range(len(c.items)) if i != truth]
        members = frozenset() if k % 2 else frozenset({truth})
        yield from steps(c, items, c.size - 1 + k % 2, ([start], [start + run - 1], members))
        start += run


def steps(component: ConditionalPoisson, items: list[int], left: int, so_far: Leaf) -> Iterator[Leaf]:
    if not items:
        yield so_far
        return
    first, last, members = so_far
    rest = [component.items[i] for i in items[1:]]
    own = component.items[items[0]]
    taken = SIDES * own * polynomial(rest, left - 1) // polynomial([own, *rest], left) if left else 0
    if taken:
        yield from steps(component, items[1:], left - 1, ([*first, 0], [*last, taken - 1], members | {items[0]}))
    if taken < SIDES:
        yield from steps(component, items[1:], left, ([*first, taken], [*last, SIDES - 1], members))


@settings(max_examples=40)
@given(designs())
def test_the_mechanism_and_its_channel_follow_the_format_side_by_side(mechanism):
    """Every run of sides, at both its ends, draws the set it should; runs add up to the entries exactly."""
    n = mechanism.sizes[0]
    for truth in range(n):
        found = list(leaves(mechanism, truth))
        for end in (0, 1):
            flips = tuple(np.array(coin, np.uint64) for coin in zip(*(leaf[end] for leaf in found), strict=True))
            bits = np.array(mechanism.respond((np.full(len(found), truth),), flips))
            assert [frozenset(np.flatnonzero(column).tolist()) for column in bits.T] == [leaf[2] for leaf in found]
        ways: Counter[int] = Counter()
        for first, last, members in found:
            report = sum(1 << (n - 1 - i) for i in members)
            ways[report] += prod(high - low + 1 for low, high in zip(first, last, strict=True))
        assert sum(ways.values()) == SIDES**n
        assert all(mechanism.channel.entry(y, truth) == Fraction(ways[y], SIDES**n) for y in range(2**n))


@settings(max_examples=40)
@given(designs())
def test_the_bound_on_the_odds_holds_and_is_close(mechanism):
    largest, bound = mechanism.channel.draw.largest_odds(), mechanism.channel.draw.odds_bound()
    assert largest <= bound < largest * (1 + Fraction(1, 10**9))


def test_the_bound_holds_where_weights_and_components_are_as_uneven_as_allowed():
    """A component drawn less often than once in 2^64 keeps a side; the bound counts what that costs."""
    items = [1, 2**32, 1, 2**31]
    channel = RandomSet((4,), [ConditionalPoisson(1, 1, [1] * 4), ConditionalPoisson(2**80, 2, items)], 3)
    assert min(channel.draw.choice(0)) == 1
    assert channel.draw.largest_odds() <= channel.draw.odds_bound()


@settings(max_examples=40)
@given(designs())
def test_the_law_is_the_definition(mechanism):
    """m(S) (g if x in S else 1) / norm_x from the definition; 2^64 sides round at 1e-15 for such weights."""
    n = mechanism.sizes[0]
    held = membership(n)
    measure = np.zeros(2**n)
    for c in mechanism.components:
        products = np.prod(np.where(held == 1, np.array(c.items)[:, None], 1), axis=0)
        measure += c.weight * np.where(held.sum(axis=0) == c.size, products, 0)
    law = measure[:, None] * np.where(held.T == 1, float(mechanism.favour), 1)
    np.testing.assert_allclose(mechanism.channel.dense(), law / law.sum(axis=0), atol=1e-14)


@pytest.mark.parametrize(("n", "size", "epsilon"), [(3, 1, 1), (5, 2, 0.5), (6, 4, 3), (8, 3, 2)])
def test_equal_weights_are_subset_selection(n, size, epsilon):
    """Ye & Barg (2018): one size, all sets alike."""
    drawn = Scheme([(7, size, [3] * n)], epsilon=epsilon).mechanism((n,)).channel
    known = SubsetSelection(epsilon=epsilon, size=size).mechanism((n,)).channel
    np.testing.assert_allclose(drawn.dense(), known.dense(), atol=1e-9)  # its coin has 2^32 sides
    include = size * np.exp(epsilon) / (size * np.exp(epsilon) + n - size)
    exact = type(known)((n,), size, Fraction(include))
    np.testing.assert_allclose(drawn.dense(), exact.dense(), atol=1e-15)
    np.testing.assert_allclose(drawn.score_matrix().diagonal(), include, atol=1e-15)


@pytest.mark.parametrize("n", [4, 11, 60])
@pytest.mark.parametrize("epsilon", ["1/1000", 0.5, 1, 4])
def test_a_balanced_design_keeps_its_epsilon_and_hardly_misses_it(n, epsilon):
    mechanism = Scheme([(1, 1, [1] * n), (2, 3, [1] * n)], epsilon=epsilon).mechanism((n,))
    asked = Scheme([(1, 1, [1, 1])], epsilon=epsilon).odds
    assert mechanism.channel.odds <= asked
    assert mechanism.channel.epsilon == pytest.approx(float(Fraction(epsilon)), rel=1e-6)
    assert float(mechanism.favour) == pytest.approx(float(asked), rel=1e-9)


@pytest.mark.parametrize("n", [6, 30])
def test_an_unbalanced_design_pays_with_its_favour(n):
    """The odds are g max norm / min norm, so g is what was asked for over the spread of the norms."""
    mechanism = Scheme([(1, 2, [40, 9, *[1] * (n - 2)])], odds=5).mechanism((n,))
    norms = [sum(mechanism.channel.draw.weights(x)) for x in range(n)]
    assert mechanism.channel.odds <= 5
    assert float(mechanism.channel.odds) == pytest.approx(5, rel=1e-9)
    assert float(mechanism.favour * max(norms) / min(norms)) == pytest.approx(5, rel=1e-9)
    assert mechanism.favour < 3


@pytest.mark.parametrize(
    ("weights", "odds"),
    [([1, 2, 3], 1), ([1] * 4, 10**40), ([1] * 12, 10**40), ([1] * 12, 1)],
)
def test_odds_out_of_reach_of_the_coins_are_refused(weights, odds):
    with pytest.raises(SottovoceError, match=r"^odds must be above 1 : 1 and within reach .* Got e\^.* : 1 instead\.$"):
        Scheme([(1, 2, weights)], odds=odds).mechanism((len(weights),))


@pytest.mark.parametrize("channel", list(RandomSet.cases()), ids=repr)
def test_shares_are_those_of_the_matrix(channel):
    np.testing.assert_allclose(channel.score_matrix(), membership(channel.n_in) @ channel.dense(), atol=1e-14)


def large_design(n: int, sizes: list[int]) -> RandomSet:
    """Skewed weights with repeats; components of equal total weight."""
    items = [1 + 997 * i**2 % 1000 for i in range(n)]
    plain = [ConditionalPoisson(1, size, items[k:] + items[:k]) for k, size in enumerate(sizes)]
    totals = [c.holding(0) + c.lacking(0) for c in plain]
    return RandomSet(
        (n,), [ConditionalPoisson(max(totals) // t, c.size, c.items) for c, t in zip(plain, totals, strict=True)], 7
    )


def test_shares_of_many_categories():
    """Shares of a set of T categories sum to T whatever the truth: n = 150, T = 40."""
    shares = large_design(150, [40]).score_matrix()
    np.testing.assert_allclose(shares.sum(axis=0), 40, rtol=1e-13)
    others = np.where(np.eye(150) == 1, 0, shares)
    assert (shares.diagonal() > others.max(axis=1)).all()
    assert ((shares > 0) & (shares < 1)).all()


def test_estimates_from_shares_are_the_inverse_matrix_where_sets_have_one_size():
    channel = large_design(60, [12])
    seen = np.random.default_rng(3).random(60)
    seen *= 12 / seen.sum()
    expected = np.linalg.solve(channel.score_matrix(), seen)
    np.testing.assert_allclose(channel.solve_inclusions(seen), expected, atol=1e-9)


@pytest.mark.parametrize("sizes", [[12], [9, 12, 3]])
def test_estimates_from_shares_undo_the_channel(sizes):
    channel = large_design(60, sizes)
    truths = np.random.default_rng(3).dirichlet(np.ones(60), size=2).T * [1, 5000]
    found = channel.solve_inclusions(channel.score_matrix() @ truths, [1, 5000])
    np.testing.assert_allclose(found, truths, atol=1e-8)
    np.testing.assert_allclose(found.sum(axis=0), [1, 5000], rtol=1e-12)


def test_estimates_from_shares_and_from_sets_agree_in_the_mean():
    """Least squares over all sets and over shares are both left inverses."""
    *_, channel = (c for c in RandomSet.cases() if c.favour > 1)
    law = np.random.default_rng(1).dirichlet(np.ones(channel.n_in))
    seen = membership(channel.n_in) @ channel.matvec(law)
    np.testing.assert_allclose(channel.solve_inclusions(seen), law, atol=1e-9)
    np.testing.assert_allclose(channel.solve(channel.matvec(law)), law, atol=1e-9)


def test_sets_that_do_not_favour_the_truth_say_nothing():
    channel = RandomSet((20,), [ConditionalPoisson(1, 3, range(1, 21))], 1)
    with pytest.raises(SingularChannelError, match=r"^sets must hold .* Got a singular value of .* instead\."):
        channel.solve_inclusions(np.ones(20))


def test_drawn_sets_of_many_categories_fit_the_shares():
    """100 categories, 20,000 seeded draws: none of 200 z-scores reaches 5, of which chance makes one in 8,000."""
    channel = large_design(100, [20, 9])
    mechanism = DrawnSet((100,), channel.components, channel.favour)
    rows = 20_000
    truth = np.arange(rows) % 100
    bits = np.array(mechanism.respond((truth,), flip(mechanism.coins, rows, random_words(5))))
    assert set(bits.sum(axis=0).tolist()) == {9, 20}
    shares = channel.score_matrix()
    expected = shares.sum(axis=1) * rows / 100
    variance = (shares * (1 - shares)).sum(axis=1) * rows / 100
    assert np.abs((bits.sum(axis=1) - expected) / np.sqrt(variance)).max() < 5
    each = channel.solve_inclusions(bits, np.ones(rows))
    assert np.abs((each.mean(axis=1) - 0.01) / (each.std(axis=1) / np.sqrt(rows))).max() < 5


def test_no_rows_make_no_reports():
    mechanism = Scheme([(1, 2, [1] * 4)], odds=3).mechanism((4,))
    bits = mechanism.respond((np.zeros(0, np.uint8),), flip(mechanism.coins, 0, random_words(1)))
    assert [len(column) for column in bits] == [0] * 4


def test_reports_are_sets_of_categories():
    mechanism = Scheme([ConditionalPoisson(1, 2, [1, 1, 2, 3])], odds=3).mechanism((2, 2))
    truths = Schema([Attribute("a", ["x", "y"]), Attribute("b", [0, 1])])
    assert mechanism.report_schema(truths)["a+b"].items == ("x & 0", "x & 1", "y & 0", "y & 1")
    with pytest.raises(SottovoceError, match=r"^axes must keep all attributes"):
        mechanism.channel.marginal([0])


@pytest.mark.parametrize(
    ("build", "parameter"),
    [
        (lambda: RandomSet((3,), [], 2), "components"),
        (lambda: RandomSet((3,), [ConditionalPoisson(1, 1, [1] * 4)], 2), "items"),
        (lambda: RandomSet((3,), [ConditionalPoisson(1, 1, [1] * 3)], "1/2"), "favour"),
        (lambda: RandomSet((13,), [ConditionalPoisson(1, 1, [1] * 13)], 2).dense(), "channel"),
        (lambda: RandomSet((3,), [ConditionalPoisson(1, 1, [1] * 3)], 2).solve_inclusions([1, 2]), "inclusions"),
        (lambda: ConditionalPoisson(2**8192 + 1, 1, [1] * 3), "weight"),
        (lambda: ConditionalPoisson(1, 1, [1] * 1025), "items"),
        (lambda: Scheme([(1, 1, [1] * 3)], odds=2).mechanism((4,)), "items"),
    ],
)
def test_impossible_designs_are_refused(build, parameter):
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        build()


@pytest.mark.parametrize(
    ("change", "parameter"),
    [
        ({"favour": ["6", "2"]}, "favour"),
        ({"favour": ["3"]}, "favour"),
        ({"favour": "31"}, "favour"),
        ({"favour": ["3", "0"]}, "favour"),
        ({"favour": ["1", "3"]}, "favour"),
        ({"favour": [3, 1]}, "favour"),
        ({"components": []}, "components"),
        ({"components": ["1"]}, "mechanism"),
        ({"components": [{"weight": "1", "size": "1", "items": "11"}]}, "items"),
        ({"components": [{"weight": "1", "size": "2", "items": ["1", "1"]}]}, "size"),
        ({"components": [{"weight": "1", "size": "1"}]}, "mechanism"),
    ],
)
def test_malformed_json_is_refused(change, parameter):
    sound = DrawnSet((2,), [ConditionalPoisson(1, 1, [1, 2])], Fraction(3)).to_json()
    assert mechanism_from_json((2,), sound).favour == 3
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        mechanism_from_json((2,), sound | change)
