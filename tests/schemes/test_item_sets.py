"""Published facts about schemes for item sets and unary codes, each with its source."""

from fractions import Fraction
from itertools import combinations
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.channels.cut_and_paste import CutAndPaste as CutAndPasteChannel
from sottovoce.errors import SottovoceError
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.cut_and_paste import CutAndPaste
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.mask import Mask
from sottovoce.schemes.optimized_unary import OptimizedUnary
from sottovoce.schemes.symmetric_unary import SymmetricUnary


@pytest.mark.parametrize(("attributes", "published"), [(6, 0.5610), (7, 0.5524)])
def test_mask_under_strict_privacy(attributes, published):
    """Agrawal (2004): p = .5610 for CENSUS (M = 6) and .5524 for HEALTH (M = 7) at gamma = 19."""
    scheme = Mask(gamma=19, ones=attributes)
    assert float(scheme.p) == pytest.approx(published, abs=5e-5)
    channel = scheme.mechanism((2,) * 40).channel
    assert 19 * (1 - 1e-5) < channel.odds_within(2 * attributes) <= 19


def test_promises_for_items_and_for_transactions():
    """EMASK at p = .5051, q = .9696: 16.6 : 1 an item; every further item that differs multiplies."""
    schema = Schema([ItemSet("basket", range(1000))])
    plan = Plan.of(schema, {"basket": Emask(p=0.5051, q=0.9696)})
    item = plan.guarantee_within(1).odds
    assert float(item) == pytest.approx(0.5051 / 0.0304, rel=1e-6)
    assert plan.guarantee_within(3).odds == item**3
    assert plan.guarantee_within(0).odds == 1
    assert plan.guarantee.odds == item**1000
    assert Plan.of(schema, {"basket": Emask(p=0.5, q=1)}).guarantee_within(1).odds is None
    with pytest.raises(SottovoceError, match=r"^changes must be a whole number that is not negative"):
        plan.guarantee_within(-1)


def test_promises_for_single_answers(plan):
    """Of three groups with odds 4, 3 and 5, the two worst may differ."""
    assert [plan.guarantee_within(m).odds for m in (0, 1, 2, 3, 9)] == [1, 5, 20, 60, 60]


@pytest.mark.parametrize("categories", [2, 3, 5])
def test_symmetric_unary_is_mask_on_one_hot_data(categories):
    p = Fraction(3, 4)
    unary = SymmetricUnary(p=p).mechanism((categories,)).channel
    mask = Mask(p=p).mechanism((2,) * categories).channel
    for truth in range(categories):
        one_hot = 1 << (categories - 1 - truth)
        np.testing.assert_allclose(unary.column(truth), mask.column(one_hot), atol=1e-15)
    assert unary.odds == mask.odds_within(2) == 9


@pytest.mark.parametrize("epsilon", [0.5, 1, 2])
def test_optimised_unary_is_emask_on_one_hot_data(epsilon):
    """Wang et al. (2017): p = 1/2 for the one, q = 1 / (e^eps + 1) for the zeros; the odds are e^eps."""
    unary = OptimizedUnary(epsilon=epsilon).mechanism((4,)).channel
    emask = Emask(p=0.5, q=1 - 1 / (exp(epsilon) + 1)).mechanism((2,) * 4).channel
    for truth in range(4):
        np.testing.assert_allclose(unary.column(truth), emask.column(1 << (3 - truth)), atol=1e-8)
    assert epsilon * (1 - 1e-6) < unary.epsilon <= epsilon


def test_unary_codes_of_several_attributes_share_the_odds():
    assert SymmetricUnary(odds=81).mechanism((3, 4)).channel.odds == 81
    assert OptimizedUnary(odds=9).mechanism((3, 4)).channel.odds == 9
    schema = Schema([Attribute("a", ["x", "y"]), Attribute("b", [1, 2, 3])])
    plan = Plan.of(schema, {("a", "b"): SymmetricUnary(odds=81)})
    assert plan.report_schema["b"] == ItemSet("b", [1, 2, 3])


def test_unary_codes_need_categories():
    with pytest.raises(SottovoceError, match=r"^s must have categories for a set of them to be reported"):
        _ = Plan.of(Schema([ItemSet("s", ["x", "y"])]), {"s": SymmetricUnary(odds=3)}).report_schema


def test_amplification_of_cut_and_paste():
    """Agrawal (2004), 4.7: K = 3 and rho = .494 really give 15.4; gamma = 19 is reached at rho = .4514."""
    assert float(CutAndPaste(3, 0.494).mechanism((2,) * 10).channel.odds) == pytest.approx(15.4, abs=0.05)
    found = CutAndPaste(3, gamma=19)
    assert float(found.rho) == pytest.approx(0.4514, abs=5e-5)
    assert 19 * (1 - 1e-8) < found.mechanism((2,) * 10).channel.odds <= 19


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 6])
def test_the_rank_of_cut_and_paste(length):
    """Supports of sets longer than K cannot be recovered: the matrix of counts has rank K + 1 (K = 3)."""
    matrix = CutAndPasteChannel(8, 3, Fraction(494, 1000)).counts_matrix(size=6, length=length)
    assert all(sum(column) == 1 for column in zip(*matrix, strict=True))
    assert np.linalg.matrix_rank(np.array(matrix, float)) == min(length, 3) + 1


def test_counts_of_cut_and_paste_by_brute_force():
    """Sum the channel over all reports of 5 items, for sets of 3 that hold b of the first 2 items."""
    channel = CutAndPasteChannel(5, 2, Fraction(1, 3))
    matrix = channel.counts_matrix(size=3, length=2)
    for items in combinations(range(5), 3):
        truth = sum(1 << (4 - i) for i in items)
        true = sum(i < 2 for i in items)
        reported = [Fraction(0)] * 3
        for report in range(32):
            reported[(report >> 3).bit_count()] += channel.entry(report, truth)
        assert [row[true] for row in matrix] == reported


def test_counts_of_sets_that_are_too_small():
    matrix = CutAndPasteChannel(5, 2, Fraction(1, 3)).counts_matrix(size=1, length=2)
    assert [row[2] for row in matrix] == [0, 0, 1]  # no set of one item holds two


@given(st.integers(1, 4), st.data())
def test_odds_of_cut_and_paste_by_brute_force(items, data):
    cutoff = data.draw(st.integers(0, items))
    rho = data.draw(st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=20))
    channel = CutAndPasteChannel(items, cutoff, rho)
    rows = [[channel.entry(y, x) for x in range(2**items)] for y in range(2**items)]
    assert channel.odds == max(max(row) / min(row) for row in rows)


@pytest.mark.parametrize(
    ("build", "parameter"),
    [
        (lambda: CutAndPaste(3, 0.5).mechanism((2, 2)), "cutoff"),
        (lambda: CutAndPaste(1, 0.5).mechanism((2, 3)), "sizes"),
        (lambda: CutAndPasteChannel(3, 1, 1), "rho"),
        (lambda: CutAndPasteChannel(13, 1, 0.5).dense(), "channel"),
        (lambda: CutAndPasteChannel(3, 1, 0.5).marginal([0]), "axes"),
        (lambda: Mask(p=0.9).mechanism((3,)), "sizes"),
        (lambda: Emask(p=[0.9, 0.8], q=0.9).mechanism((2, 2, 2)), "p"),
    ],
)
def test_item_sets_that_do_not_fit(build, parameter):
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        build()
