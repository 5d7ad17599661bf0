"""Smoothed supports: means and noise by brute force, and what they buy where long sets scatter."""

from itertools import combinations

import numpy as np
import pytest

from sottovoce.datasets.quest import quest_transactions
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.mining.itemsets.evaluation import mining_errors
from sottovoce.mining.itemsets.frequent import ResolutionWarning, frequent_itemsets
from sottovoce.mining.itemsets.selection import Search
from sottovoce.mining.itemsets.smoothing import Smoothed, smooth_supports, subset_moments
from sottovoce.plans.plan import Plan
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.emask import Emask

COIN = (0.6, 0.9)
RNG = np.random.default_rng(1)
TABLE = RNG.random((300, 4)) < np.where(RNG.random((300, 1)) < 0.4, 0.8, 0.3)


def sums_of(bits: np.ndarray) -> np.ndarray:
    """`S_j` by counting all subsets."""
    return np.array([sum(bits[:, s].all(axis=1).sum() for s in combinations(range(4), j)) for j in range(5)], float)


def counted_for(bits: np.ndarray, ones: float, zeros: float) -> np.ndarray:
    """What each report counts for towards the mean support of subsets of 4, 3, 2 and 1 items."""
    f = (bits - (1 - zeros)) / (ones + zeros - 1)
    sets = [list(combinations(range(4), k)) for k in (4, 3, 2, 1)]
    return np.stack([np.mean([f[:, s].prod(axis=1) for s in own], axis=0) for own in sets], axis=1)


def test_means_and_products_by_brute_force():
    to_means, to_squares, _ = subset_moments(*COIN, 4)
    each = counted_for(TABLE, *COIN)
    np.testing.assert_allclose(to_means @ sums_of(TABLE), each.sum(axis=0))
    np.testing.assert_allclose(to_squares @ sums_of(TABLE), each.T @ each)


def test_nothing_scatters_where_nothing_is_hidden():
    _, to_squares, to_held = subset_moments(1.0, 1.0, 4)
    np.testing.assert_allclose(to_squares @ sums_of(TABLE), to_held @ sums_of(TABLE))


def test_the_noise_is_that_of_the_coins():
    """Covariances over 4,000 disguises of one table, beside their estimates: each within 10 % and its own error."""
    rng = np.random.default_rng(2)
    to_means, to_squares, to_held = subset_moments(*COIN, 4)
    means, stated = [], []
    for _ in range(4000):
        sums = sums_of(np.where(TABLE, rng.random(TABLE.shape) < COIN[0], rng.random(TABLE.shape) >= COIN[1]))
        means.append(to_means @ sums)
        stated.append((to_squares - to_held) @ sums)
    found = np.cov(np.array(means).T)
    np.testing.assert_allclose(found, np.mean(stated, axis=0), rtol=0.1)


BELOW = Smoothed(np.full(60, 1.1), 0.05, np.zeros(1), 0.9)
SEARCH = Search(0.3, "smoothed", "table", 9)


def candidates(
    supports: np.ndarray, length: int = 3, coin: tuple[float, float] = COIN, seed: int = 3
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of sets of some items, each in a table of its own of 2,000 reports, and true supports by the threshold."""
    rng = np.random.default_rng(seed)
    found, true = [], []
    for support in supports:
        truth = rng.random((2000, length)) < np.where(rng.random((2000, 1)) < support, 1, 0.2)
        bits = np.where(truth, rng.random(truth.shape) < coin[0], rng.random(truth.shape) >= coin[1])
        subsets = ([bits[:, s].all(axis=1).sum() for s in combinations(range(length), j)] for j in range(length + 1))
        found.append([sum(own) for own in subsets])
        true.append(truth.all(axis=1).mean() / 0.3)
    return np.array(found, float), np.array(true)


def test_too_few_sets_teach_nothing():
    few, _ = candidates(np.full(5, 0.3))
    assert smooth_supports(few, np.zeros((5, 3), int), BELOW, COIN, SEARCH, 2000) is None
    certain = Smoothed(BELOW.support, 0.0, BELOW.sensitivity, BELOW.cut_off)
    assert smooth_supports(candidates(np.full(20, 0.3))[0], np.zeros((20, 3), int), certain, COIN, SEARCH, 2000) is None
    far, _ = candidates(np.full(20, 0.9))
    assert smooth_supports(far, np.zeros((20, 3), int), BELOW, COIN, SEARCH, 2000) is None


def test_smoothed_supports_are_nearer_to_the_truth():
    """Sixty sets that pairs and single items tell of: half the mean square error, and a spread that is said."""
    sums, truth = candidates(np.linspace(0.2, 0.36, 60))
    places = np.tile(np.arange(60)[:, None], 3)
    found = smooth_supports(sums, places, BELOW, COIN, SEARCH, 2000)
    own = sums @ subset_moments(*COIN, 3)[0][0] / (0.3 * 2000)
    assert found is not None
    error = np.sqrt(np.mean((found.support - truth) ** 2))
    assert error < np.sqrt(np.mean((own - truth) ** 2) / 2)
    assert found.standard_deviation == pytest.approx(error, rel=0.6)
    whole = smooth_supports(sums, places, BELOW, COIN, Search(0.3, "smoothed", "population", 9), 2000)
    assert whole is not None
    assert whole.sensitivity[0] < found.sensitivity[0]  # sampling scatters supports of the set itself the most


def test_sets_that_are_all_of_one_pattern_do_not_set_their_own_level():
    """48 sets of five whose errors are one error, and sets of four that are .05 below their lowest subset.

    Over twelve patterns what sets of four say leaves less than a third of the mean square error of a fit to the
    48 alone; and a single set, of which nothing can be learnt, is smoothed by it as well.
    """
    coin = (0.65, 0.95)
    fours, truth = candidates(np.linspace(0.2, 0.36, 240), 4, coin, seed=4)
    threes = Smoothed(truth + 0.05, 0.05, np.zeros(1), 0.5)
    shorter = smooth_supports(fours, np.tile(np.arange(240)[:, None], 4), threes, coin, SEARCH, 2000)
    assert shorter is not None
    fives, truth = candidates(np.full(12, 0.3), 5, coin, seed=5)
    places, errors = np.arange(240).reshape(48, 5), np.zeros((2, 12))
    for pattern, (sums, true) in enumerate(zip(fives, truth, strict=True)):
        for way, taught in enumerate((shorter.training, None)):
            below = Smoothed(np.full(240, true + 0.05), shorter.standard_deviation, np.zeros(1), 0.5, taught)
            found = smooth_supports(np.tile(sums, (48, 1)), places, below, coin, SEARCH, 2000)
            assert found is not None
            errors[way, pattern] = found.support.mean() - true
            single = smooth_supports(sums[None], places[30:31], below, coin, SEARCH, 2000)
            assert (single is None) == (taught is None)
    together, alone = (errors**2).mean(axis=1)
    assert together < alone / 3


def test_what_is_left_when_none_is_kept():
    none = BELOW.select(np.zeros(60, bool))
    assert (len(none.support), none.cut_off) == (0, 0.9)
    assert BELOW.select(np.ones(60, bool)).cut_off == pytest.approx(1.1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sottovoce.mining.itemsets.frequent.ResolutionWarning")
def test_fewer_are_lost_and_fewer_are_false():
    """100,000 baskets, 12 disguises: of 1,164 sets of 4 to 6 items, against the bare threshold; and probabilities."""
    assert issubclass(ResolutionWarning, UserWarning)
    items, (indptr, indices) = quest_transactions(10_000, items=200, patterns=120, seed=3)
    ends = [indptr[1:] + time * indptr[-1] for time in range(10)]
    many = np.concatenate([indptr[:1], *ends]), np.tile(indices, 10)
    certain, plan = (Plan.of(Schema([items]), {items.name: Emask(p=p, q=q)}) for p, q in ((1, 1), (0.55, 0.97)))
    truth = frequent_itemsets((indptr, indices), certain, 0.012, target="table")
    frequent, lost, false = set(truth.itemsets), np.zeros(2), np.zeros(2)
    expected, right = [], []
    for seed in range(12):
        reports = disguise_transactions(many, plan, rng=seed, kind="bitsets")
        for way, selection in enumerate(("smoothed", "threshold")):
            found = frequent_itemsets(reports, plan, 0.012, selection=selection, target="table")
            for errors in mining_errors(found, truth)[3:6]:
                lost[way] += errors.false_negatives * errors.frequent / 100
                false[way] += errors.false_positives * errors.frequent / 100
            if selection == "smoothed":
                long = found.length > 2
                expected.append(found.probability[long].sum())
                right.append(sum(items in frequent for items in found.itemsets if len(items) > 2))
    assert lost[0] < 0.95 * lost[1]
    assert false[0] < 0.95 * false[1]
    assert false[0] < 0.1 * 12 * sum(list(truth.by_length.values())[3:6])
    assert np.mean(expected) == pytest.approx(np.mean(right), rel=0.03)
