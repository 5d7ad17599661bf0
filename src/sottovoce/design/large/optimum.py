"""Least error for more than 20 categories: constructions without a list of sets, with a proven gap."""

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.large.barrier import climb
from sottovoce.design.large.mixture_search import ROUNDS, best_mixture
from sottovoce.design.large.relaxation import Certificate, Progress, pair_cuts
from sottovoce.design.large.subset import best_subset_design
from sottovoce.design.solution import Solution

ENOUGH = 0.005
"""Gap at which subset selection is offered, being simpler than what might be a little better."""


def large_least_error(
    prior: Array,
    *,
    accuracy: float | None = None,
    delta: float | None = None,
    odds: float | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Least error for a privacy requirement."""
    if odds is None:
        raise NotImplementedError
    return _private(np.asarray(prior, float), odds, progress or (lambda done, most: None))


def _private(prior: Array, odds: float, progress: Progress) -> Solution:
    """Subset selection, or the best mixture found where it is better, against the best certificate found."""
    most = ROUNDS + 3
    certificate = _last(prior, odds, cut=False)
    progress(1, most)
    sets, error = best_subset_design(prior, odds)
    progress(2, most)
    solution = Solution(error, _error(certificate), sets=sets)
    if solution.gap <= ENOUGH:
        return solution
    finer = _last(prior, odds, cut=True)
    progress(3, most)
    certificate = max(certificate, finer, key=lambda found: found.bound)
    solution = Solution(error, _error(certificate), sets=sets)
    if solution.gap <= ENOUGH:
        return solution
    mixture = best_mixture(certificate, lambda step: progress(step + 4, most))
    if mixture is not None and mixture[1] < error:
        solution = Solution(mixture[1], _error(certificate), sets=mixture[0])
    return solution


def _last(prior: Array, odds: float, *, cut: bool) -> Certificate:
    *_, found = climb(prior, odds, pair_cuts(prior) if cut else [])
    return found


def _error(certificate: Certificate) -> float:
    """The bound in the units of an error."""
    prior = certificate.prior
    return float((certificate.bound - prior @ prior) / len(prior))
