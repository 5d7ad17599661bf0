"""Least error for more than 20 categories: constructions without a list of sets, with a proven gap."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.designs.exact_scheme import SetComponent, SetDesign, Solution
from sottovoce.designs.large.bound import Certificate, climb, pair_cuts
from sottovoce.designs.large.mixture import ROUNDS, best_mixture, guarded_mixture
from sottovoce.designs.large.set_distribution import Slab, slab
from sottovoce.designs.large.set_measures import adversary_accuracy, mean_squared_error, worst_posterior
from sottovoce.designs.least_error.atoms import Limits, limits
from sottovoce.designs.least_error.closed_form import closed_form_bound
from sottovoce.designs.requirement import LARGEST_CERTIFIED
from sottovoce.errors import SottovoceError
from sottovoce.estimates.likelihood import Progress

_LEAST = 1e-6
"""Least share of either size for any truth: weights stay positive, and within reach of whole numbers."""

_MARGIN = 1e-9
"""Share of the accuracy that is left for weights to be rounded to whole numbers."""

_MOST_STEPS = 50

_SIZES = 16
"""Larger sizes that are tried."""
ENOUGH = 0.005
"""Gap at which subset selection is offered, being simpler than what might be a little better."""

_STEPS = ROUNDS + 3


def subset_design(categories: int, size: int, odds: float) -> SetDesign:
    """Sets of one size, those with the truth `odds` times as likely (M. Ye & A. Barg (2018), IEEE IT 64, 5662)."""
    ones = np.ones(categories)
    return SetDesign((SetComponent(1.0, size, ones, ones),), odds)


def best_subset_design(prior: Array, odds: float) -> tuple[SetDesign, float]:
    """The size with the least error, and the error; for a uniform prior it is next to `n / (odds + 1)`."""
    n = len(prior)
    middle = int(n / (odds + 1))
    sizes = range(max(1, middle - 1), min(n - 1, middle + 2) + 1)
    return _best_subset(prior, [subset_design(n, size, odds) for size in sizes])


def best_subset_within(prior: Array, odds: float, allowed: Callable[[SetDesign], bool]) -> tuple[SetDesign, float]:
    """The design with the least error among the largest odds that are allowed for each of some sizes, and the error.

    Smaller odds want larger sets, so sizes go from those of the odds to half of the categories.
    """
    n = len(prior)
    sizes = np.unique(np.geomspace(max(1, n / (odds + 1)), n / 2, 8).round().astype(int))
    return _best_subset(prior, [_largest_allowed(n, int(size), odds, allowed) for size in sizes])


def _largest_allowed(categories: int, size: int, odds: float, allowed: Callable[[SetDesign], bool]) -> SetDesign:
    """Bisection on the logarithm of the odds; what says nothing is allowed."""
    low, high = 0.0, float(np.log(odds))
    for _ in range(40):
        middle = (low + high) / 2
        fine = allowed(subset_design(categories, size, float(np.exp(middle))))
        low, high = (middle, high) if fine else (low, middle)
    return subset_design(categories, size, float(np.exp(low)))


def _best_subset(prior: Array, designs: list[SetDesign]) -> tuple[SetDesign, float]:
    errors = [mean_squared_error(design, prior) for design in designs]
    best = int(np.argmin(errors))
    return designs[best], errors[best]


def decoy_sets(prior: Array, accuracy: float, delta: float = 1.0) -> tuple[SetDesign, float]:
    """Sets of two sizes with a uniform posterior, `E[1/|S| | x] = 1 - s + s p_x`, and their error.

    The adversary is right with `E[1/|S|]`, at most `accuracy`, and no set is smaller than `1/delta`. With that mean
    the closed-form bound would be attained if J had no other deviation; s is `(1 - accuracy) / (1 - |p|^2)`, or where
    sizes of at least `1/delta` cannot follow, what makes the accuracy right.
    """
    found = [
        (error, (small, large), parts)
        for small, large, shares in _sizes(prior, accuracy, delta)
        for parts, error in [_mixed(prior, small, large, shares)]
        if parts
    ]
    if not found:
        rule = f"must be further above {prior.max():.6g}, the largest probability of the prior, for sets of decoys"
        raise SottovoceError("accuracy", rule, accuracy)
    error, _, parts = min(found)
    return SetDesign(parts, None), error


def _sizes(prior: Array, accuracy: float, delta: float) -> Iterator[tuple[int, int, Array]]:
    """Pairs of sizes around those wanted, and each truth's share of the smaller."""
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
    """Shares of the smaller size with which the adversary has this accuracy, by bisection on s; None if none have."""
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
    """Shares with mean `1 - s + s p` of 1/|S|, but so large that no category has to be in more than all larger sets.

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
    """Components with these shares, and `(tr J^-1 - |p|^2) / n`; no components where a share is too large for sets."""
    information, parts, ones = np.zeros((len(prior), len(prior))), [], np.ones(len(prior))
    for size, part in ((small, prior * shares), (large, prior * (1 - shares))):
        inclusion = size * part / part.sum()
        if inclusion.max() >= 1:
            return (), np.inf
        weights, law = _weights(inclusion, size)
        information += part.sum() / size**2 * law.pairs / np.outer(prior, prior)
        parts.append(SetComponent(float(part.sum()) / size, size, weights, ones))
    return tuple(parts), float((np.trace(np.linalg.inv(information)) - prior @ prior) / len(prior))


def _weights(inclusion: Array, size: int) -> tuple[Array, Slab]:
    """Weights with which sets of a size hold each category so often, by Newton steps on the log-weights."""
    logs, ones = np.log(inclusion / (1 - inclusion)), np.ones(len(inclusion))
    law, steps = slab(logs, ones, size), 0
    while np.abs(law.inclusion / inclusion - 1).max() > 1e-12 and steps < _MOST_STEPS:
        # The law does not change with a factor common to all weights, along which the covariance is zero.
        covariance = law.pairs - np.outer(law.inclusion, law.inclusion) + 1 / len(logs)
        step = np.linalg.solve(covariance, inclusion - law.inclusion)
        logs = logs + step / max(1.0, np.abs(step).max())
        law, steps = slab(logs, ones, size), steps + 1
    return np.exp(logs - logs.mean()), law


def private_sets(prior: Array, odds: float, progress: Callable[[int, int], Any]) -> tuple[Solution, Certificate]:
    """Subset selection, or the best mixture found where it is better, against the best certificate found, and that.

    Cuts are only made where they may matter, and mixtures only looked for where subset selection is not enough.
    """
    sets, error = best_subset_design(prior, odds)
    progress(1, _STEPS)
    certificate = _best(prior, odds, pairs=False)
    progress(2, _STEPS)
    if error > (1 + ENOUGH) * _as_error(certificate):
        certificate = max(certificate, _best(prior, odds, pairs=True), key=lambda found: found.bound)
        progress(3, _STEPS)
    if error > (1 + ENOUGH) * _as_error(certificate):
        mixture = best_mixture(certificate, lambda step: progress(step + 4, _STEPS))
        if mixture is not None and mixture[1] < error:
            sets, error = mixture
    return Solution(error, _as_error(certificate), sets=sets), certificate


def _best(prior: Array, odds: float, *, pairs: bool) -> Certificate:
    return max(climb(prior, odds, pair_cuts(prior) if pairs else []), key=lambda found: found.bound)


def _as_error(certificate: Certificate) -> float:
    """The bound in the units of an error."""
    prior = certificate.prior
    return float((certificate.bound - prior @ prior) / len(prior))


def large_least_error(
    prior: Any,
    *,
    accuracy: float | None = None,
    delta: float | None = None,
    odds: float | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Sets drawn for a required privacy, with an error near the least, and how near: for up to 150 categories.

    - `odds` (e^epsilon): subset selection where it is within half a percent of the moment relaxation's bound, else
      the best mixture of weighted sets found.
    - `accuracy`, `delta` or both: decoy sets against the closed-form bound. They rule categories out, and where
      `1/delta` is no whole number they do not go to the limit: posteriors are uniform on sets.
    - `odds` together with these: the design for the odds if it keeps the other bounds, or else subset selection
      with the odds at which it does, or a mixture whose accuracy is kept too, whichever has the smaller error. The gap
      is to the larger of the two bounds, neither of which knows of the other's requirement, so it may be wide.

    >>> found = large_least_error([1 / 24] * 24, odds=3)
    >>> found.sets.components[0].size, round(found.value, 4), found.gap < 1e-3
    (6, 2.7552, True)
    """
    asked = limits(prior, accuracy, delta, odds, most_categories=LARGEST_CERTIFIED)
    if asked.free:
        raise SottovoceError("odds, accuracy or delta", "must be given: without a bound the truth is best", None)
    report = progress or _silent
    floor = closed_form_bound(asked.prior, asked.accuracy, asked.delta)
    if asked.odds is None:
        sets, error = decoy_sets(asked.prior, asked.accuracy or 1.0, asked.delta or 1.0)
        report(1, 1)
        return Solution(error, floor, sets=sets)
    found, certificate = private_sets(asked.prior, asked.odds, report)
    lower = max(floor, found.lower_bound)
    if found.sets is not None and _keeps(asked, found.sets):
        return Solution(found.value, lower, sets=found.sets)
    sets, error = best_subset_within(asked.prior, asked.odds, lambda design: _keeps(asked, design))
    mixture = guarded_mixture(certificate, asked.accuracy, report) if asked.accuracy is not None else None
    if mixture is not None and mixture[1] < error and _keeps(asked, mixture[0]):
        sets, error = mixture
    return Solution(error, lower, sets=sets)


def _silent(done: int, most: int | None) -> None:
    """Progress nobody asked for."""


def _keeps(asked: Limits, design: SetDesign) -> bool:
    """Whether a design keeps the bounds on accuracy and posteriors."""
    accurate = asked.accuracy is not None and adversary_accuracy(design, asked.prior) > asked.accuracy
    return not accurate and (asked.delta is None or worst_posterior(design, asked.prior) <= asked.delta)
