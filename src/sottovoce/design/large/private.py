"""Least error under epsilon-LDP alone: what is offered, and the bound it is held against."""

from collections.abc import Callable
from typing import Any

from sottovoce.channel.channel import Array
from sottovoce.design.large.barrier import climb
from sottovoce.design.large.mixture_search import ROUNDS, best_mixture
from sottovoce.design.large.relaxation import Certificate, pair_cuts
from sottovoce.design.large.subset import best_subset_design
from sottovoce.design.solution import Solution

ENOUGH = 0.005
"""Gap at which subset selection is offered, being simpler than what might be a little better."""

_STEPS = ROUNDS + 3


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
