"""Least error for more than 20 categories: constructions without a list of sets, with a proven gap."""

from typing import Any

from sottovoce.design.large.decoys import decoy_sets
from sottovoce.design.large.guarded_mixture import guarded_mixture
from sottovoce.design.large.measures import adversary_accuracy, worst_posterior
from sottovoce.design.large.private import private_sets
from sottovoce.design.large.subset import best_subset_within
from sottovoce.design.least_error.closed_form import closed_form_bound
from sottovoce.design.least_error.limits import Limits, limits
from sottovoce.design.requirement import LARGEST_CERTIFIED
from sottovoce.design.solution import SetDesign, Solution
from sottovoce.errors import SottovoceError
from sottovoce.estimate.em import Progress


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
