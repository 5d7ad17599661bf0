"""Sums over weighted sets of one length, and their numbering, against a list of all sets."""

from itertools import combinations
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.channels.set_rank import SlabRank, Step
from sottovoce.channels.slabs import Slab
from sottovoce.errors import SottovoceError


@st.composite
def slabs(draw) -> Slab:
    """Two to five items, any lengths and a size that some of them sum to."""
    n = draw(st.integers(2, 5))
    items = draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    lengths = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    some = draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=n - 1))
    return Slab(draw(st.integers(1, 9)), sum(lengths[i] for i in some), items, lengths)


def sets(slab: Slab) -> list[tuple[int, ...]]:
    """All sets of this length, those with the first item first, and so on."""
    everything = range(len(slab.items))
    subsets = [s for k in everything for s in combinations(everything, k)]
    of_this_length = [s for s in subsets if sum(slab.lengths[i] for i in s) == slab.size]
    return sorted(of_this_length, key=lambda members: [i not in members for i in everything])


def measure(slab: Slab, members: tuple[int, ...]) -> int:
    return slab.weight * prod(slab.items[i] for i in members)


@given(slabs(), st.lists(st.integers(1, 9), min_size=5, max_size=5))
def test_sums_are_those_of_all_sets(slab, weights):
    def over(condition) -> int:
        return sum(measure(slab, s) for s in sets(slab) if condition(s))

    everything = range(len(slab.items))
    item_weights = weights[: len(slab.items)]
    assert slab.total == over(lambda _: True)
    assert [slab.holding(i) for i in everything] == [over(lambda s, i=i: i in s) for i in everything]
    assert [slab.lacking(i) for i in everything] == [over(lambda s, i=i: i not in s) for i in everything]
    both = [[over(lambda s, i=i, j=j: {i, j} <= set(s)) for j in everything] for i in everything]
    assert [[slab.holding_both(i, j) for j in everything] for i in everything] == both
    weighted = [sum(h * b for h, b in zip(item_weights, row, strict=True)) for row in both]
    assert slab.holding_weighed(item_weights) == weighted


@settings(max_examples=20)
@given(slabs(), st.integers(0, 4), st.integers(1, 5), st.integers(0, 3), st.booleans(), st.data())
def test_every_number_is_assigned_to_its_set(slab, truth, inside, outside, tilted, data):
    n = len(slab.items)
    x = truth % n
    tilt = tuple(data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))) if tilted else None
    rank = SlabRank.of(slab, inside, outside, tilt).favouring(x, inside, outside)
    numbers = []
    for members in sets(slab):
        weights = tilt or ()
        tilt_of_set = sum(h * (inside if i in members else outside) for i, h in enumerate(weights)) if tilted else 1
        size = measure(slab, members) // slab.weight * tilt_of_set * (inside if x in members else outside)
        assert rank.run(members) == (len(numbers), len(numbers) + size)
        numbers += [list(members)] * size
    assert rank.total == len(numbers)
    assert [rank.members(number) for number in range(len(numbers))] == numbers


def test_equal_items_share_their_polynomials():
    slab = Slab(1, 3, [2, 2, 5, 2], [1, 1, 2, 1])
    assert slab.holding(0) == slab.holding(1) == slab.holding(3) == 2 * (2 * 2 + 5)
    assert len(slab._divided) == 1


def test_a_step_without_tilt_counts_products():
    rank = SlabRank(1, (Step(1, 3, 1, 0, 0), Step(1, 2, 4, 0, 0)), start=1)
    assert (rank.total, rank.run({0}), rank.run({1})) == (14, (0, 12), (12, 14))


@pytest.mark.parametrize(
    ("build", "parameter"),
    [
        (lambda: Slab(2**8192 + 1, 1, [1] * 3), "weight"),
        (lambda: Slab(1, 1, [1] * 1025), "items"),
        (lambda: Slab(1, 1, [2**256 + 1, 1]), "items"),
        (lambda: Slab(1, 2, [1, 2**512 + 1, 1], [1, 2, 1]), "items"),
        (lambda: Slab(1, 200, [1, 2**8192 + 1, 1], [1, 200, 1]), "items"),
        (lambda: Slab(1, 1, [1, 1], [1, 1, 1]), "lengths"),
        (lambda: Slab(1, 1, [1, 1], [1, 4097]), "lengths"),
        (lambda: Slab(1, 1, [1, 1], [1.0, 1]), "lengths"),
        (lambda: Slab(1, 5, [1, 1], [3, 4]), "size"),
        (lambda: Slab(1, 4097, [1, 1, 1], [4096, 1, 1]), "size"),
    ],
)
def test_impossible_slabs_are_refused(build, parameter):
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        build()
