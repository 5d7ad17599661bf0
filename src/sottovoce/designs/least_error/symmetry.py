"""The least error under bounded odds for a prior with equal entries, exactly, from how many of them a report holds.

Exchanging categories of equal probability maps channels to channels of the same error, and `tr J^-1` is convex: some
optimum is invariant. It draws the counts `c = (k_1, ..., k_g)` of a group of n_i equal categories each, and then every
set with these counts alike. So there are `prod (n_i + 1)` kinds of reports instead of `2^n`, and J is known from few
numbers: with `u = 1 + (odds - 1) z` for the indicator z of a set, s_i the sum of u over group i and w_c the probability
of the kind c, J has the eigenvalues

    of `T = sum_c w_c t_c t_c^T`,  `t_ci = s_i / (sqrt(n_i) u.p)`,
    and `lambda_i = sum_c w_c (odds - 1)^2 k_i (n_i - k_i) / (n_i (n_i - 1) (u.p)^2)`,  n_i - 1 times.

Columns sum to one if `sum_c w_c s_i / (n_i u.p) = 1` for every group. The optimum is found by a barrier method with
column generation, and is certified as in `column_generation`: for `Y = J^-1` and any nu,
`tr J^-1 >= 2 tr Y - sum(nu) - max_c (|Y u|^2 / (u.p)^2 - nu.v_c)`, over all kinds of reports.

A prior that is nearly so has a bound, too. If `p >= r q` for a prior q with equal entries, then `A p >= r A q` for
every channel A, so that `J_p <= J_q / r` and `tr J_p^-1 >= r tr J_q^-1`. The best q for given groups has the least
entry of each, divided by r, their sum over all categories.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array
from sottovoce.measures.matrices import basic_weights

MOST_KINDS = 200_000
"""Most kinds of reports that are examined."""

MOST_GROUPS = 6
"""Most groups of equal entries; numbers of kinds limit them further."""

EQUAL = 1e-12
"""Relative difference up to which entries of a prior count as equal."""

_GAP = 1e-8
_ROUNDS, _STEPS = 60, 80


@dataclass(frozen=True)
class Grouping:
    """Groups of categories that are taken to be equally probable: the group of each category.

    `share` is the sum of the least probabilities of all categories' groups: 1 if the entries of each group are equal.
    """

    groups: NDArray[np.intp]
    sizes: NDArray[np.intp]
    prior: Array
    share: float

    @property
    def kinds(self) -> int:
        """Number of kinds of reports."""
        return prod(int(size) + 1 for size in self.sizes)


@dataclass(frozen=True)
class SymmetricOptimum:
    """Counts of the reports that are used, a row each, their probabilities, `tr J^-1` and its proven lower bound."""

    counts: NDArray[np.intp]
    weights: Array
    trace: float
    lower: float


def group_equal(prior: Array) -> Grouping | None:
    """Return the groups of equal entries; None if these are too many, or too large.

    >>> group_equal(np.array([0.7, 0.1, 0.1, 0.1])).sizes
    array([1, 3])
    """
    order = np.argsort(-prior, kind="stable")
    steps = np.diff(prior[order]) < -EQUAL * prior[order][:-1]
    if steps.sum() >= MOST_GROUPS:
        return None
    found = _grouping(prior, order, np.flatnonzero(steps) + 1)
    return found if found.kinds <= MOST_KINDS else None


def group_similar(prior: Array, number: int) -> Grouping:
    """Return the grouping into so many ranges of probabilities that loses the least share, by dynamic programming."""
    order = np.argsort(-prior, kind="stable")
    sorted_prior, n = prior[order], len(prior)
    best, cuts = np.cumsum(sorted_prior) - np.arange(1, n + 1) * sorted_prior, []
    first, last = np.arange(n)[:, None], np.arange(n)
    loss = np.append(0.0, np.cumsum(sorted_prior))
    # Loss of a group from `first` to `last`: what its entries exceed its least one by.
    losses = loss[last + 1] - loss[first] - (last - first + 1) * sorted_prior[last]
    losses = np.where(last >= first, losses, np.inf)
    for _ in range(number - 1):
        total = best[:-1, None] + losses[1:]
        cuts.append(total.argmin(axis=0) + 1)
        best = np.minimum(best, total.min(axis=0))
        best[0] = 0.0
    starts, end = [], n - 1
    for cut in reversed(cuts):
        start = int(cut[end])
        starts.append(start)
        end = start - 1
    return _grouping(prior, order, np.array(sorted(starts), dtype=np.intp))


def _grouping(prior: Array, order: NDArray[np.intp], starts: NDArray[np.intp]) -> Grouping:
    parts = np.split(order, starts)
    groups = np.empty(len(prior), dtype=np.intp)
    for number, part in enumerate(parts):
        groups[part] = number
    least = np.array([prior[part].min() for part in parts])
    sizes = np.array([len(part) for part in parts])
    share = float(least @ sizes)
    return Grouping(groups, sizes, least / share, share)


@dataclass(frozen=True)
class _Kinds:
    """All kinds of reports: ratios v by group, and t and the square roots of the parts of lambda."""

    counts: NDArray[np.intp]
    ratios: Array
    trivial: Array
    contrasts: Array
    multiplicity: Array

    @staticmethod
    def of(grouping: Grouping, odds: float) -> "_Kinds":
        sizes = grouping.sizes
        counts = np.indices([size + 1 for size in sizes]).reshape(len(sizes), -1).T[1:-1]
        means = 1 + (odds - 1) * counts / sizes
        mass = means @ (sizes * grouping.prior)
        ratios = means / mass[:, None]
        apart = counts * (sizes - counts) / (sizes * np.maximum(sizes - 1, 1))
        contrasts = (odds - 1) ** 2 * apart / mass[:, None] ** 2
        several = sizes > 1
        return _Kinds(
            counts, ratios, ratios * np.sqrt(sizes), contrasts[:, several], np.asarray(sizes[several] - 1, np.float64)
        )

    def __getitem__(self, index: NDArray[np.intp]) -> "_Kinds":
        shared = self.multiplicity
        return _Kinds(self.counts[index], self.ratios[index], self.trivial[index], self.contrasts[index], shared)

    def information(self, weights: Array) -> tuple[Array, Array]:
        """`T^-1` and `lambda`."""
        trivial = self.trivial.T @ (weights[:, None] * self.trivial)
        return np.asarray(np.linalg.inv(trivial), np.float64), weights @ self.contrasts

    def trace(self, inverse: Array, contrasts: Array) -> float:
        """`tr J^-1`."""
        return float(np.trace(inverse) + (self.multiplicity / contrasts).sum())

    def scores(self, inverse: Array, contrasts: Array) -> Array:
        """`v^T J^-2 v`, minus the gradient of the trace."""
        squares = ((self.trivial @ inverse) ** 2).sum(axis=1)
        return np.asarray(squares + self.contrasts @ (self.multiplicity / contrasts**2))

    def hessian(self, inverse: Array, contrasts: Array) -> Array:
        """Second derivatives of the trace."""
        scaled = self.trivial @ inverse
        curvature = 2 * (scaled @ self.trivial.T) * (scaled @ scaled.T)
        return np.asarray(curvature + 2 * (self.contrasts * (self.multiplicity / contrasts**3)) @ self.contrasts.T)


def symmetric_optimum(grouping: Grouping, odds: float) -> SymmetricOptimum:
    """Return the optimum for the grouping's prior by column generation over kinds of reports.

    Three groups, and odds of 3 : 1:

    >>> grouping = group_equal(np.array([0.6] + [0.05] * 4 + [0.02] * 10))
    >>> found = symmetric_optimum(grouping, 3.0)
    >>> len(found.counts) < 20, bool(0 <= found.trace / found.lower - 1 < 1e-6)
    (True, True)
    """
    kinds = _Kinds.of(grouping, odds)
    larger, lower = _first_pool(kinds, grouping.sizes, odds), -np.inf
    for _ in range(_ROUNDS):
        pool = larger
        weights, nu = _best_weights(kinds[pool])
        inverse, contrasts = kinds[pool].information(weights)
        trace = kinds.trace(inverse, contrasts)
        excess = kinds.scores(inverse, contrasts) - kinds.ratios @ nu
        lower = max(lower, 2 * trace - float(nu.sum()) - float(excess.max()))
        if trace - lower < _GAP * trace:
            break
        worst = np.argsort(-excess)[: 4 * len(nu) + 4]
        larger = np.union1d(pool[weights > 1e-12], worst[excess[worst] > 0])
    weights = _few(kinds[pool], weights)
    used = weights > 1e-9
    return SymmetricOptimum(kinds.counts[pool[used]], weights[used] / weights[used].sum(), trace, lower)


def _few(pool: _Kinds, weights: Array) -> Array:
    """Weights of few reports with the same J and the same sums of columns."""
    rows, columns = np.triu_indices(pool.trivial.shape[1])
    moments = np.column_stack([pool.trivial[:, rows] * pool.trivial[:, columns], pool.contrasts, pool.ratios])
    return basic_weights(moments, weights)


def _first_pool(kinds: _Kinds, sizes: NDArray[np.intp], odds: float) -> NDArray[np.intp]:
    """Kinds that hold one category, all but one, about `n / (odds + 1)`, or whole groups: they can make a channel."""
    total = kinds.counts.sum(axis=1)
    middle = np.abs(total - sizes.sum() / (odds + 1)) <= 1
    ends = (total == 1) | (total == sizes.sum() - 1) | (kinds.counts % sizes == 0).all(axis=1)
    found = np.flatnonzero(middle | ends)
    keep = found[ends[found]]
    others = found[~ends[found]]
    return np.union1d(keep, others[np.linspace(0, len(others) - 1, min(len(others), 60)).astype(int)])


def _best_weights(pool: _Kinds) -> tuple[Array, Array]:
    """Return weights of these reports with the least trace, and multipliers of the columns' sums.

    Newton steps for `tr J^-1 - mu sum log w` with `sum w v = 1`, mu falling (Boyd & Vandenberghe 2004, 10.3 and 11.3).
    """
    rows = pool.ratios.T
    weights = np.full(rows.shape[1], 1 / rows.shape[1])
    multipliers = np.zeros(len(rows))
    mu = pool.trace(*pool.information(weights)) / len(weights)
    for _ in range(_STEPS):
        inverse, contrasts = pool.information(weights)
        gradient = -pool.scores(inverse, contrasts) - mu / weights
        scale = weights
        system = pool.hessian(inverse, contrasts) * np.outer(scale, scale) + mu * np.eye(len(weights))
        right = np.column_stack([(rows * scale).T, scale * gradient])
        solved = np.linalg.solve(system, right)
        schur = (rows * scale) @ solved[:, :-1]
        missing = 1 - rows @ weights
        multipliers = -np.linalg.lstsq(schur, missing + (rows * scale) @ solved[:, -1], rcond=None)[0]
        step = scale * (-solved[:, -1] - solved[:, :-1] @ multipliers)
        length = min(1.0, 0.9 * float((-weights / np.minimum(step, -1e-300)).min()))
        weights = weights + length * step
        if mu * len(weights) < 1e-11 * pool.trace(inverse, contrasts) and length == 1.0:
            break
        mu *= 0.2 if length > 0.5 else 0.7
    return weights, multipliers


def random_reports(prior: Array, odds: float) -> Array:
    """Return n^2 random reports of the kinds that are optimal for the prior or a similar one, a row of ratios each.

    J has n (n + 1) / 2 entries: some weights of about twice as many reports come near the best J. Column generation,
    which would otherwise find such reports a few at a time, has little left to do. They are the same in every run.
    """
    n, rng = len(prior), np.random.default_rng(len(prior))
    grouping = group_equal(prior) or group_similar(prior, min(3, n))
    optimum = symmetric_optimum(grouping, odds)
    kinds = optimum.counts[rng.choice(len(optimum.weights), n * n, p=optimum.weights)]
    order = rng.permuted(np.tile(np.arange(n), (n * n, 1)), axis=1)
    inside = np.zeros((n * n, n), dtype=bool)
    for group in range(len(grouping.sizes)):
        members = grouping.groups == group
        # The rank of a category among those of its group, in random order.
        ranks = order[:, members].argsort(axis=1).argsort(axis=1)
        inside[:, members] = ranks < kinds[:, group, None]
    ratios = np.where(inside, odds, 1.0)
    return np.asarray(ratios / (ratios @ prior)[:, None])
