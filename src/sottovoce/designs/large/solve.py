"""Designs of low error for 21 to 150 categories, by distributions of sets, with a proven gap."""

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

import numpy as np

from sottovoce.checks import Array, Progress
from sottovoce.designs.exact_scheme import SetComponent, SetDesign, Solution
from sottovoce.designs.large.bound import Certificate, climb, pair_cuts
from sottovoce.designs.large.mixture import ROUNDS, accuracy_bounded_mixture, best_mixture
from sottovoce.designs.large.set_distribution import ConditionalPoisson, conditional_poisson
from sottovoce.designs.large.set_measures import adversary_accuracy, mean_squared_error, worst_posterior
from sottovoce.designs.least_error.atoms import MOST_ODDS, Limits, checked_limits
from sottovoce.designs.least_error.closed_form import closed_form_bound
from sottovoce.designs.least_error.symmetry import (
    MOST_GROUPS,
    MOST_KINDS,
    Grouping,
    SymmetricOptimum,
    group_equal,
    group_similar,
    symmetric_optimum,
)
from sottovoce.designs.requirement import LARGEST_CERTIFIED
from sottovoce.errors import SottovoceError

_LEAST = 1e-6
"""Least share of either size for any truth: weights stay positive, and can be rounded to whole numbers."""

_MARGIN = 1e-9
"""Share of the accuracy reserved for rounding weights to whole numbers."""

_MOST_STEPS = 50

_SIZES = 16
"""Number of larger sizes that are tried."""

ENOUGH = 0.005
"""Gap up to which subset selection is preferred for its simplicity."""

_STEPS = ROUNDS + 3

_LONGEST = 12
"""Longest length that tells counts apart: weights of sets are integers of as many times 36 bits."""

_WIDEST = 180
"""Largest difference of total lengths: components then weigh less than 2^8192 times one another."""

_WIDE = 0.05
"""Gap above which other designs than decoy sets are tried."""


def subset_design(categories: int, size: int, odds: float) -> SetDesign:
    """Return subset selection: sets of one size, those with the truth `odds` times as likely.

    M. Ye & A. Barg (2018), IEEE Transactions on Information Theory 64, 5662.
    """
    ones = np.ones(categories)
    return SetDesign((SetComponent(1.0, size, ones, ones),), odds)


def best_subset_design(prior: Array, odds: float) -> tuple[SetDesign, float]:
    """Return subset selection with the best set size, next to `n / (odds + 1)`, and its error."""
    n = len(prior)
    middle = int(n / (odds + 1))
    sizes = range(max(1, middle - 1), min(n - 1, middle + 2) + 1)
    return _best_subset(prior, [subset_design(n, size, odds) for size in sizes])


def best_subset_within(prior: Array, odds: float, allowed: Callable[[SetDesign], bool]) -> tuple[SetDesign, float]:
    """Return subset selection with the largest odds allowed for its size, of the best size, and its error.

    Smaller odds need larger sets, so sizes go from that of the odds to half of the categories.
    """
    n = len(prior)
    sizes = np.unique(np.geomspace(max(1, n / (odds + 1)), n / 2, 8).round().astype(int))
    return _best_subset(prior, [_largest_allowed(n, int(size), odds, allowed) for size in sizes])


def _largest_allowed(categories: int, size: int, odds: float, allowed: Callable[[SetDesign], bool]) -> SetDesign:
    """Find the largest odds allowed by bisection on epsilon; odds of one are always allowed."""
    low, high = 0.0, float(np.log(odds))
    for _ in range(40):
        middle = (low + high) / 2
        kept = allowed(subset_design(categories, size, float(np.exp(middle))))
        low, high = (middle, high) if kept else (low, middle)
    return subset_design(categories, size, float(np.exp(low)))


def _best_subset(prior: Array, designs: list[SetDesign]) -> tuple[SetDesign, float]:
    errors = [mean_squared_error(design, prior) for design in designs]
    best = int(np.argmin(errors))
    return designs[best], errors[best]


def decoy_sets(prior: Array, accuracy: float, delta: float = 1.0) -> tuple[SetDesign, float] | None:
    """Return sets of two sizes with uniform posteriors, `E[1/|S| | x] = 1 - s + s p_x`, and their error.

    The adversary is right with `E[1/|S|]`, at most `accuracy`, and no set is smaller than `1/delta`. With that mean
    the closed-form bound would be attained if J had no other deviation; s is `(1 - accuracy) / (1 - |p|^2)`, or where
    sizes of at least `1/delta` cannot follow, what makes the accuracy right. None if no such sets keep the bounds: sets
    of two categories or more leave the adversary half of the cases at most, which a category of more than half exceeds.
    """
    designs = [
        (error, (small, large), parts)
        for small, large, shares in _sizes(prior, accuracy, delta)
        for parts, error in [_mixed(prior, small, large, shares)]
        if parts
    ]
    if not designs:
        return None
    error, _, parts = min(designs)
    return SetDesign(parts, None), error


def _sizes(prior: Array, accuracy: float, delta: float) -> Iterator[tuple[int, int, Array]]:
    """Yield pairs of sizes around the wanted ones, and each truth's share of the smaller."""
    least = int(np.ceil(1 / delta - 1e-9))
    bound = min(accuracy * (1 - _MARGIN), 1 / least)
    steepness = (1 - bound) / (1 - prior @ prior)
    wanted = 1 - steepness + steepness * prior
    smallest, largest = int(1 / wanted.max() + 1e-9), int(np.ceil(1 / wanted.min() - 1e-9)) + 5
    others = np.unique(np.linspace(int(1 / bound), min(largest, len(prior) - 1), _SIZES).astype(int))
    for small in range(least, max(least, min(smallest, least + 3)) + 1):
        for large in others[others > small]:
            shares = _shares(prior, bound, small, int(large))
            if shares is not None:
                yield small, int(large), shares


def _shares(prior: Array, accuracy: float, small: int, large: int) -> Array | None:
    """Shares of the smaller size at which the adversary has this accuracy, by bisection on s; None if none."""
    low, high = 0.0, 2 / (1 - prior.max())
    for _ in range(50):
        middle = (low + high) / 2
        above = _accuracy(prior, _shares_at(prior, middle, small, large), small, large) > accuracy
        low, high = (middle, high) if above else (low, middle)
    shares = _shares_at(prior, high, small, large)
    return shares if _accuracy(prior, shares, small, large) <= accuracy * (1 + 1e-12) else None


def _accuracy(prior: Array, shares: Array, small: int, large: int) -> float:
    return float(prior @ (shares / small + (1 - shares) / large))


def _shares_at(prior: Array, steepness: float, small: int, large: int) -> Array:
    """Shares with mean `1 - s + s p` of 1/|S|, raised so that no category would be in more than all larger sets.

    That caps `p (1 - share)` at 1/large of its sum: with the j most frequent capped, at `rest_j / (large - j)`.
    """
    shares = (1 - steepness + steepness * prior - 1 / large) / (1 / small - 1 / large)
    others = prior * (1 - np.clip(shares, _LEAST, 1 - _LEAST))
    largest = np.sort(others)[::-1][: large - 1]
    rests = others.sum() - np.cumsum(largest) + largest
    size = large / (1 - _LEAST)
    caps = rests / (size - np.arange(len(largest)))
    fits = largest <= caps
    cap = caps[np.argmax(fits)] if fits.any() else caps[-1]
    return np.asarray(1 - np.minimum(others, cap) / prior)


def _mixed(prior: Array, small: int, large: int, shares: Array) -> tuple[tuple[SetComponent, ...], float]:
    """Return components with these shares, and `(tr J^-1 - |p|^2) / n`; no components if a share is too large."""
    information, parts, ones = np.zeros((len(prior), len(prior))), [], np.ones(len(prior))
    for size, part in ((small, prior * shares), (large, prior * (1 - shares))):
        inclusion = size * part / part.sum()
        if inclusion.max() >= 1:
            return (), np.inf
        weights, sets = _weights(inclusion, size)
        information += part.sum() / size**2 * sets.pairs / np.outer(prior, prior)
        parts.append(SetComponent(float(part.sum()) / size, size, weights, ones))
    return tuple(parts), float((np.trace(np.linalg.inv(information)) - prior @ prior) / len(prior))


def _weights(inclusion: Array, size: int) -> tuple[Array, ConditionalPoisson]:
    """Find the weights with these inclusion probabilities by Newton steps on the log-weights."""
    logs, ones = np.log(inclusion / (1 - inclusion)), np.ones(len(inclusion))
    sets, steps = conditional_poisson(logs, ones, size), 0
    while np.abs(sets.inclusion / inclusion - 1).max() > 1e-12 and steps < _MOST_STEPS:
        # A factor common to all weights changes nothing: the covariance is zero along it, and needs a shift.
        covariance = sets.pairs - np.outer(sets.inclusion, sets.inclusion) + 1 / len(logs)
        step = np.linalg.solve(covariance, inclusion - sets.inclusion)
        logs = logs + step / max(1.0, np.abs(step).max())
        sets, steps = conditional_poisson(logs, ones, size), steps + 1
    return np.exp(logs - logs.mean()), sets


def odds_bounded_sets(prior: Array, odds: float, progress: Callable[[int, int], Any]) -> Solution:
    """Return a design under bounded odds, with the best bound found.

    The design is subset selection, or a mixture if subset selection is not good enough and the mixture is better. For a
    prior with few different entries the bound is exact (`least_error.symmetry`), and so is the mixture if it can be
    drawn. Bounds for other priors come from the relaxation of moments, or from a similar prior with equal entries; pair
    cuts are only tried where these are not good enough.
    """
    best = best_subset_design(prior, odds)
    progress(1, _STEPS)
    equal = group_equal(prior)
    lower = -np.inf if equal is not None else _as_error(prior, _best(prior, odds, pairs=False).bound)
    progress(2, _STEPS)
    for grouping in [equal] if equal is not None else _similar_groupings(prior):
        # What a grouping loses must be less than the gap for its bound to be better.
        if best[1] > (1 + ENOUGH) * lower and grouping.share * best[1] > lower:
            optimum = symmetric_optimum(grouping, odds)
            lower = max(lower, _as_error(prior, grouping.share * optimum.lower))
            best = _better(best, symmetric_sets(grouping, optimum, odds), prior, lower)
    if best[1] > (1 + ENOUGH) * lower:
        certificate = _best(prior, odds, pairs=True)
        lower = max(lower, _as_error(prior, certificate.bound))
        progress(3, _STEPS)
        if best[1] > (1 + ENOUGH) * lower:
            mixture = best_mixture(certificate, lambda step: progress(step + 4, _STEPS))
            best = best if mixture is None else min(best, mixture, key=itemgetter(1))
    return Solution(best[1], lower, sets=best[0])


def _similar_groupings(prior: Array) -> list[Grouping]:
    """Return groupings of a prior with many different entries, few groups first."""
    groupings = [group_similar(prior, number) for number in range(1, MOST_GROUPS + 1)]
    return [each for each in groupings if each.kinds <= MOST_KINDS]


def _better(
    best: tuple[SetDesign, float], design: SetDesign | None, prior: Array, lower: float
) -> tuple[SetDesign, float]:
    """Return the design if it is better; the best so far if that is good enough, or there is no other."""
    if design is None or best[1] <= (1 + ENOUGH) * lower:
        return best
    return min(best, (design, mean_squared_error(design, prior)), key=itemgetter(1))


def symmetric_sets(grouping: Grouping, optimum: SymmetricOptimum, odds: float) -> SetDesign | None:
    """Return the sets of an invariant optimum, drawn by their counts; None if the lengths that tell them are too long.

    With lengths `1, n_1 + 1, (n_1 + 1) (n_2 + 1), ...` for the categories of the groups, the smallest first, the total
    length of a set tells how many of each group it holds.
    """
    smallest = np.argsort(grouping.sizes, kind="stable")
    lengths = np.ones(len(grouping.sizes), dtype=np.int64)
    lengths[smallest[1:]] = np.cumprod(grouping.sizes[smallest[:-1]] + 1)
    totals = optimum.counts @ lengths
    if lengths.max() > _LONGEST or np.ptp(totals) > _WIDEST:
        return None
    means = 1 + (odds - 1) * optimum.counts / grouping.sizes
    masses = optimum.weights / (means @ (grouping.sizes * grouping.prior)) ** 2
    each, ones = lengths[grouping.groups].astype(float), np.ones(len(grouping.groups))
    parts = [
        SetComponent(float(mass / masses.sum()), int(total), ones, each)
        for mass, total in zip(masses, totals, strict=True)
    ]
    return SetDesign(tuple(parts), odds, grouping.prior[grouping.groups])


def _best(prior: Array, odds: float, *, pairs: bool) -> Certificate:
    return max(climb(prior, odds, pair_cuts(prior) if pairs else []), key=lambda each: each.bound)


def _as_error(prior: Array, trace: float) -> float:
    """Mean squared error times respondents, for a bound of `tr J^-1`."""
    return float((trace - prior @ prior) / len(prior))


def large_least_error(
    prior: Any,
    *,
    accuracy: float | None = None,
    delta: float | None = None,
    odds: float | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Return a set design of near least error for a required privacy, with a proven gap, for up to 150 categories.

    - `odds` (e^epsilon): subset selection where it is within half a percent of the bound, else the best mixture of
      weighted sets found; the optimum for a prior with few different entries.
    - `accuracy`, `delta` or both: decoy sets against the closed-form bound. They rule categories out, and if `1/delta`
      is no whole number, posteriors, uniform on sets, do not reach delta. Where no decoy sets keep the bounds, or
      their gap is wide, subset selection with the largest odds that keeps them, if it is better.
    - `odds` together with these: the design for the odds if it keeps the other bounds, else subset selection with
      smaller odds, or a mixture with a bounded accuracy, whichever has the smaller error. The gap is to the larger of
      two bounds, each of which ignores the other's requirement, so it may be wide.

    >>> solution = large_least_error([1 / 24] * 24, odds=3)
    >>> solution.sets.components[0].size, round(solution.value, 4), solution.gap < 1e-3
    (6, 2.7552, True)
    """
    limits = checked_limits(prior, accuracy, delta, odds, most_categories=LARGEST_CERTIFIED)
    if limits.unbounded:
        raise SottovoceError(
            "odds, accuracy or delta", "must be given: without a bound, reporting the truth is best", None
        )
    report = progress or _silent
    floor = closed_form_bound(limits.prior, limits.accuracy, limits.delta)
    if limits.odds is None:
        sets, error = _without_odds(limits, floor)
        report(1, 1)
        return Solution(error, floor, sets=sets)
    solution = odds_bounded_sets(limits.prior, limits.odds, report)
    lower = max(floor, solution.lower_bound)
    if solution.sets is not None and _keeps(limits, solution.sets):
        return Solution(solution.value, lower, sets=solution.sets)
    sets, error = best_subset_within(limits.prior, limits.odds, lambda design: _keeps(limits, design))
    mixture = None
    if limits.accuracy is not None:
        mixture = accuracy_bounded_mixture(_best(limits.prior, limits.odds, pairs=False), limits.accuracy, report)
    if mixture is not None and mixture[1] < error and _keeps(limits, mixture[0]):
        sets, error = mixture
    return Solution(error, lower, sets=sets)


def _without_odds(limits: Limits, floor: float) -> tuple[SetDesign, float]:
    """Return the better of decoy sets and subset selection, which is only tried where decoys are not good enough."""
    decoys = decoy_sets(limits.prior, limits.accuracy or 1.0, limits.delta or 1.0)
    if decoys is not None and decoys[1] <= (1 + _WIDE) * floor:
        return decoys
    subset = best_subset_within(limits.prior, MOST_ODDS, lambda design: _keeps(limits, design))
    return subset if decoys is None or subset[1] < decoys[1] else decoys


def _silent(done: int, most: int | None) -> None:
    """Default progress callback."""


def _keeps(limits: Limits, design: SetDesign) -> bool:
    """Whether a design keeps the bounds on accuracy and posteriors."""
    accurate = limits.accuracy is not None and adversary_accuracy(design, limits.prior) > limits.accuracy
    return not accurate and (limits.delta is None or worst_posterior(design, limits.prior) <= limits.delta)
