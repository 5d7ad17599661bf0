"""Every privacy measure equals what a loop over all truths and reports finds, on random channels and priors."""

from fractions import Fraction
from itertools import product
from math import inf, log, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.channels.channel import Channel
from sottovoce.channels.dense import Dense
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.measures.entries import (
    entry_privacy,
    group_privacy,
    literal_privacy,
    privacy_after_mining,
    privacy_given,
    recoverability_known,
    recoverability_unknown,
)
from sottovoce.measures.item_privacy import basic_privacy, reconstruction_of_ones, reinterrogation_privacy
from sottovoce.measures.matrices import as_matrices, posteriors
from sottovoce.measures.privacy import (
    adversary_accuracy,
    adversary_privacy,
    amplification,
    best_guess,
    conditional_entropy,
    entropy,
    epsilon_of,
    exact_odds,
    individual_reconstruction,
    largest_posterior,
    largest_prior,
    mutual_information,
    odds_of,
    worst_breach,
    worst_posterior,
)
from sottovoce.measures.private_parameter import posterior_range, private_posterior, share_below
from sottovoce.measures.summary import column_matrix
from sottovoce.tables.bitsets import Bitsets

close = pytest.approx


@st.composite
def laws(draw, size: int) -> np.ndarray:
    weights = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any))
    return np.array(weights) / sum(weights)


@st.composite
def channels(draw, truths: int | None = None, reports: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """A matrix of reports by truths with zeros here and there, and a prior."""
    n, m = truths or draw(st.integers(1, 4)), reports or draw(st.integers(1, 4))
    return np.stack([draw(laws(m)) for _ in range(n)], axis=1), draw(laws(n))


def pairs(matrix):
    return product(range(matrix.shape[0]), range(matrix.shape[1]))


def posterior(matrix, prior, y, x):
    seen = sum(matrix[y, z] * prior[z] for z in range(len(prior)))
    return matrix[y, x] * prior[x] / seen if seen else 0.0


@settings(max_examples=30)
@given(channels())
def test_posteriors(case):
    matrix, prior = case
    found = posteriors(matrix, prior)
    assert all(found[y, x] == close(posterior(matrix, prior, y, x)) for y, x in pairs(matrix))


@settings(max_examples=30)
@given(channels(), st.data())
def test_the_best_of_all_strategies_is_found(case, data):
    """All functions from reports to guesses are tried, under 0/1 and under random scores."""
    matrix, prior = case
    m, n = matrix.shape
    rows = data.draw(st.integers(1, 3))
    score = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=rows * n, max_size=rows * n))).reshape(rows, n)
    for table, given_score in ((np.eye(n), None), (score, score), (np.eye(n), lambda guess, x: float(guess == x))):
        gains = [
            sum(table[g[y], x] * matrix[y, x] * prior[x] for y, x in pairs(matrix))
            for g in product(range(len(table)), repeat=m)
        ]
        assert adversary_accuracy(matrix, prior, given_score) == close(max(gains))
        chosen = best_guess(matrix, prior, given_score)
        reached = sum(table[chosen[y], x] * matrix[y, x] * prior[x] for y, x in pairs(matrix))
        assert reached == close(max(gains))
    assert adversary_privacy(matrix, prior) == close(1 - adversary_accuracy(matrix, prior))


@settings(max_examples=30)
@given(channels())
def test_worst_posterior_and_its_floor(case):
    matrix, prior = case
    worst = worst_posterior(matrix, prior)
    assert worst == close(max(posterior(matrix, prior, y, x) for y, x in pairs(matrix)))
    assert worst >= prior.max() - 1e-12  # Huang & Du 2008, Theorem 5


@settings(max_examples=30)
@given(channels())
def test_individual_reconstruction(case):
    matrix, prior = case
    found = individual_reconstruction(matrix, prior)
    for x in range(len(prior)):
        by_hand = sum(matrix[y, x] * posterior(matrix, prior, y, x) for y in range(len(matrix)))
        assert found[x] == close(by_hand)


@settings(max_examples=30)
@given(channels())
def test_bits(case):
    matrix, prior = case
    left = told = 0.0
    for y, x in pairs(matrix):
        together = matrix[y, x] * prior[x]
        if together:
            left -= together * log2(posterior(matrix, prior, y, x))
            told += together * log2(posterior(matrix, prior, y, x) / prior[x])
    assert conditional_entropy(matrix, prior) == close(left, abs=1e-12)
    assert mutual_information(matrix, prior) == close(told, abs=1e-12)
    assert entropy(prior) == close(left + told, abs=1e-12)


@settings(max_examples=30)
@given(channels())
def test_odds(case):
    matrix, _ = case
    ratios = [1.0]
    for row in matrix:
        ratios += [a / b if b else inf for a, b in product(row, row) if a]
    assert odds_of(matrix) == close(max(ratios))
    assert epsilon_of(matrix) == close(log(max(ratios)) if max(ratios) < inf else inf)


@settings(max_examples=30)
@given(channels(), st.data())
def test_breach(case, data):
    matrix, prior = case
    truths = data.draw(st.sets(st.integers(0, len(prior) - 1), min_size=1))
    found = worst_breach(matrix, prior, truths)
    raised = [sum(posterior(matrix, prior, y, x) for x in truths) for y in range(len(matrix))]
    assert found.before == close(sum(prior[x] for x in truths))
    assert found.after == close(max(raised)) == close(raised[found.report])
    odds = odds_of(matrix)
    bound = largest_posterior(min(float(found.before), 1.0), None if odds == inf else float(odds))
    assert found.after <= float(bound) + 1e-9


@given(st.fractions(Fraction(1, 99), Fraction(98, 99)), st.fractions(1, 50))
def test_strict_privacy_goes_both_ways(before, gamma):
    after = largest_posterior(before, gamma)
    assert amplification(before, after) == gamma
    assert largest_prior(after, gamma) == before
    worst = np.array([[1.0, 1 / float(gamma)], [0.0, 1 - 1 / float(gamma)]])  # the worst prior sits on two truths
    assert posteriors(worst, [float(before), float(1 - before)])[0, 0] == close(float(after))


def test_unbounded_odds_may_prove_anything_but_the_impossible():
    assert [largest_posterior(belief, None) for belief in (0, 0.01, 1)] == [0, 1, 1]
    assert [largest_prior(belief, None) for belief in (0, 0.99, 1)] == [0, 0, 1]


@given(channels(truths=2, reports=2))
def test_entry_privacy_is_what_correlation_leaves(case):
    matrix, prior = case
    found = entry_privacy(matrix, prior)
    wrong = sum(matrix[y, x] * prior[x] * posterior(matrix, prior, y, 1 - x) for y, x in pairs(matrix))
    assert found == close(wrong, abs=1e-12)
    share, seen = prior[1], matrix[1] @ prior
    if 0 < share < 1 and 1e-9 < seen < 1 - 1e-9:
        covariance = matrix[1, 1] * share - seen * share
        squared = covariance**2 / (share * (1 - share) * seen * (1 - seen))
        assert found == close(2 * share * (1 - share) * (1 - squared), abs=1e-12)


@settings(max_examples=30)
@given(channels(truths=12, reports=3), st.permutations([0, 1, 2]), st.integers(0, 2))
def test_privacy_after_mining(case, order, count):
    """Three attributes of 2, 3 and 2 categories: evidence is the report and the known truths."""
    matrix, prior = case
    sizes, entry, known = (2, 3, 2), order[0], tuple(order[1 : 1 + count])
    cells = list(product(*map(range, sizes)))
    chances: dict[tuple, float] = {}
    for y, x in pairs(matrix):
        evidence = (y, *(cells[x][a] for a in known))
        chances[evidence, cells[x][entry]] = chances.get((evidence, cells[x][entry]), 0) + matrix[y, x] * prior[x]
    wrong = 0.0
    for (evidence, _), chance in chances.items():
        whole = sum(other for (seen, _), other in chances.items() if seen == evidence)
        wrong += chance * (1 - chance / whole) if whole else 0
    found = privacy_after_mining(matrix, prior, sizes, entry, known)
    assert found == close(wrong, abs=1e-12)
    assert found <= privacy_after_mining(matrix, prior, sizes, entry) + 1e-12  # evidence never protects
    assert group_privacy(matrix, prior, sizes, known) <= found + 1e-12


@settings(max_examples=30)
@given(channels(truths=2), st.data())
def test_evidence_as_a_table_and_the_printed_recoverability(case, data):
    matrix, prior = case
    assert privacy_given(matrix * prior) == close(entry_privacy(matrix, prior), abs=1e-12)
    m = len(matrix)
    weights = data.draw(laws(m))
    known = sum(weights[k] * matrix[k, c] for k, c in pairs(matrix))
    assert recoverability_known(weights, matrix) == close(known)
    assert recoverability_unknown(matrix, prior) == close(sum(matrix[k, c] * prior[c] for k, c in pairs(matrix)))
    assert recoverability_known(weights, np.full((m, 2), 0.5)) == close(1)  # exhaustive rules: 1, whatever the data
    assert literal_privacy(0.3, [known, 1.0]) == close(0.3 - max(known, 1.0))


SHARES = st.floats(0, 1)


@given(SHARES, SHARES, SHARES)
def test_reconstruction_of_ones_is_individual_reconstruction(p, q, support):
    item = [[q, 1 - p], [1 - q, p]]
    found = individual_reconstruction(item, [1 - support, support])[1]
    assert reconstruction_of_ones(p, q, support) == close(found, abs=1e-9)


@given(st.lists(st.tuples(SHARES, st.floats(0.01, 1)), min_size=1, max_size=4))
def test_basic_privacy_weighs_items_by_their_ones(items):
    p, s = np.array(items).T
    by_hand = sum(s[j] * float(reconstruction_of_ones(p[j], 0.9, s[j])) for j in range(len(s))) / s.sum()
    assert basic_privacy(p, 0.9, s) == close(1 - by_hand)
    assert basic_privacy(p[0], 0.9, s[0]) == close(1 - float(reconstruction_of_ones(p[0], 0.9, s[0])))


@settings(max_examples=30)
@given(st.integers(0, 2**24 - 1), st.integers(0, 2**24 - 1), st.sets(st.frozensets(st.integers(0, 3), min_size=1)))
def test_reinterrogation_privacy(true_bits, seen_bits, itemsets):
    """Six records of four items; the four steps of the thesis, one at a time."""
    truths, reports = (np.array([[bits >> (4 * i + j) & 1 for j in range(4)] for i in range(6)])
                       for bits in (true_bits | 1, seen_bits))  # fmt: skip
    breaches = {}
    for itemset in itemsets:
        rows = [i for i in range(6) if all(reports[i, b] for b in itemset)]
        for b in itemset:
            breaches[itemset, b] = sum(truths[i, b] for i in rows) / len(rows) if rows else 0
    privacies = []
    for i, b in zip(*truths.nonzero(), strict=True):
        there = [f for f in itemsets if b in f and all(reports[i, a] for a in f)]
        privacies.append(1 - max(breaches[f, b] for f in there) if there else 0.8)
    found = reinterrogation_privacy(truths, reports, itemsets, basic=0.8)
    assert found == close(np.mean(privacies))
    bitsets = [Bitsets.from_matrix(table.astype(bool)) for table in (truths, reports)]
    assert reinterrogation_privacy(*bitsets, itemsets, basic=0.8) == found


def test_reinterrogation_privacy_of_more_than_a_block_of_records():
    """The same records over and over: nothing changes, also where the last block is not full."""
    rng = np.random.default_rng(1)
    truths, reports = rng.random((2, 300, 5)) < 0.4
    once, often = (
        reinterrogation_privacy(np.tile(truths, (k, 1)), np.tile(reports, (k, 1)), [[0], [1, 2], [2, 3, 4]], basic=0.9)
        for k in (1, 60)
    )
    assert often == close(once)


@given(st.floats(0.01, 0.99), st.floats(1, 50), st.integers(2, 40), st.floats(0.01, 1), SHARES)
def test_the_private_parameter_by_its_matrices(before, gamma, cells, alpha, place):
    """Posteriors of the shifted matrix on the worst prior; shares by counting a fine grid of parameters."""
    own, other = gamma / (gamma + cells - 1), 1 / (gamma + cells - 1)
    reach = min(alpha * own, (cells - 1) * other)

    def by_matrix(r):
        shifted = [[own + r, other - r / (cells - 1)], [1 - own - r, 1 - other + r / (cells - 1)]]
        return posteriors(np.clip(shifted, 0, 1), [before, 1 - before])[0, 0]

    shifts = np.linspace(-reach, reach, 2001)
    found = private_posterior(before, gamma, cells, shifts)
    assert found[::400] == close([by_matrix(r) for r in shifts[::400]])
    told = posterior_range(before, gamma, cells, alpha)
    assert tuple(told) == close((found[0], found[-1], found[1000]))
    wanted = told.low + place * (told.high - told.low)
    assert share_below(wanted, before, gamma, cells, alpha) == close((found <= wanted).mean(), abs=2e-3)
    assert share_below([0, 1], before, gamma, cells, alpha) == close([0, 1], abs=1e-12)


@pytest.mark.slow
@given(channels(truths=12, reports=5), st.integers(0, 2), laws(2), laws(3))
def test_one_attribute_through_the_whole_report(case, axis, two, three):
    numerators = np.floor(case[0] * 2520).astype(int)
    numerators[0] += 2520 - numerators.sum(axis=0)
    group = Dense(numerators.tolist(), 2520, (2, 3, 2))
    priors = [two, three, [0.25, 0.75]]
    cells = list(product(range(2), range(3), range(2)))
    by_hand = np.zeros((5, group.shape_in[axis]))
    for y, (x, cell) in product(range(5), enumerate(cells)):
        others = np.prod([priors[a][cell[a]] for a in range(3) if a != axis])
        by_hand[y, cell[axis]] += group.entry(y, x) * others
    np.testing.assert_allclose(column_matrix(group, axis, priors), by_hand, atol=1e-12)
    coin = KeepOrUniform((3,), Fraction(1, 2))
    product_channel = Kronecker([coin, group, coin])
    everyone = [three, *priors, three]
    np.testing.assert_allclose(column_matrix(product_channel, 1 + axis, everyone), by_hand, atol=1e-12)
    np.testing.assert_allclose(column_matrix(product_channel, 4, everyone), coin.dense())


@pytest.mark.parametrize(
    "measure",
    [
        adversary_accuracy,
        adversary_privacy,
        best_guess,
        worst_posterior,
        individual_reconstruction,
        conditional_entropy,
        mutual_information,
        entry_privacy,
        posteriors,
        lambda a, p: worst_breach(a, p, [0, 2]).after,
        lambda a, p: privacy_after_mining(a, p, (2, 2), 1, [0]),
        lambda a, p: group_privacy(a, p, (2, 2)),
        lambda a, p: odds_of(a) + 0 * p[..., 0],
        lambda a, p: epsilon_of(a) + 0 * p[..., 0],
    ],
)
def test_stacks_are_measured_matrix_by_matrix(measure):
    rng = np.random.default_rng(4)
    stack = rng.dirichlet(np.ones(5), size=(3, 2, 4)).swapaxes(-1, -2)
    priors = rng.dirichlet(np.ones(4), size=2)
    found = measure(stack, priors)
    for i, j in product(range(3), range(2)):
        np.testing.assert_allclose(found[i, j], measure(stack[i, j], priors[j]))


@pytest.mark.parametrize("channel", list(Dense.cases()))
def test_channels_and_plans_are_read_exactly(channel: Channel, plan):
    assert exact_odds(channel) == channel.odds
    assert odds_of(channel) == close(float(odds_of(channel.dense())))
    assert epsilon_of(channel) == close(float(epsilon_of(channel.dense())))
    assert exact_odds(plan) == plan.guarantee.odds == Fraction(12 * 5)  # 4 x 3 x (1 + .5 / (.5 / 4))
    np.testing.assert_allclose(as_matrices(plan), plan.channel().dense())


def test_astronomical_odds_have_an_epsilon():
    items = Kronecker([Dense([[3, 1], [1, 3]], 4)] * 1000)
    assert odds_of(items) == inf  # 3^1000 is beyond double precision
    assert epsilon_of(items) == close(1000 * log(3))
