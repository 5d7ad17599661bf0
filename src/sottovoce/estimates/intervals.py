"""Confidence intervals of estimated proportions: exact, score, profile likelihood, Wald and bootstrap.

The default depends on the plan and the method of an estimate, never on what came out:

* exact, where a cell is estimated from the number of reports with one property (`exact_intervals`);
* constrained score, for other cells of unbiased estimates: the test of a proportion with the variance it would have,
  other proportions at their most likely values (`linear_tests`);
* profile likelihood for maximum likelihood, two samples, weights and strata (`profile_likelihood`);
* normal, for estimates of which no more than a covariance is known.

All of them stay within [0, 1] and are never empty: tests order estimates by their likelihood ratio against the best
proportion in [0, 1] (Feldman & Cousins 1998).
"""

from statistics import NormalDist
from typing import Literal, Protocol, TypedDict, get_args

import numpy as np

from sottovoce.checks import Array, Progress, one_of
from sottovoce.checks import level as checked_level
from sottovoce.errors import SottovoceError
from sottovoce.estimates.bootstrap import DRAWS, bootstrap_ends
from sottovoce.estimates.cell_tests import (
    MOST_EXACT,
    CellTests,
    Ends,
    NormalTests,
    PlainScoreTests,
    ScoreTests,
)
from sottovoce.estimates.covariance import MOST_CELLS, Covariance, InversionCovariance
from sottovoce.estimates.linear_tests import LinearTests, inversion_tests
from sottovoce.mechanisms.coins import Randomness

Kind = Literal["default", "exact", "score", "profile", "wald", "bootstrap"]


class IntervalOptions(TypedDict, total=False):
    """Options of an interval; `draws`, `rng` and `progress` are for the bootstrap."""

    kind: Kind
    simultaneous: bool
    draws: int
    rng: Randomness
    progress: Progress | None


class Estimated(Protocol):
    """Estimates with standard errors."""

    @property
    def value(self) -> Array:
        """Estimates."""

    @property
    def standard_error(self) -> Array:
        """Standard error of each estimate."""


class Tested(Protocol):
    """An estimate with its covariance, and tests of its cells unless those follow from the covariance."""

    @property
    def value(self) -> Array:
        """Estimates."""

    @property
    def covariances(self) -> Covariance:
        """Covariance of the estimates."""

    @property
    def tests(self) -> "CellTests | None":
        """Tests of the cells' proportions."""


class WaldIntervals:
    """Mixin that gives a result with `value` and `standard_error` its confidence intervals."""

    def interval(self: Estimated, level: float = 0.95, *, simultaneous: bool = False) -> Ends:
        """Return the ends of the Wald interval of each estimate, `value +- z standard_error`.

        With `simultaneous` all of them hold at once with this probability (Bonferroni).
        """
        return wald(self.value, self.standard_error, critical_value(level, len(self.value) if simultaneous else 1))


def interval_ends(
    estimate: Tested,
    level: float,
    *,
    kind: Kind = "default",
    simultaneous: bool = False,
    draws: int = DRAWS,
    rng: Randomness = None,
    progress: Progress | None = None,
) -> Ends:
    """Return the ends of every cell's interval, of the kind asked for; see `Estimate.interval`."""
    value, covariances = estimate.value, estimate.covariances
    deviations = critical_value(level, len(value) if simultaneous else 1)
    if kind == "wald":
        return wald(value, standard_errors(covariances), deviations)
    if kind == "bootstrap":
        if not isinstance(covariances, InversionCovariance) or len(value) > MOST_CELLS:
            raise _other_kind(kind, f"unbiased estimates without weights or strata, of at most {MOST_CELLS} cells")
        return bootstrap_ends(covariances, level, simultaneous=simultaneous, draws=draws, rng=rng, progress=progress)
    return chosen_tests(estimate, kind).ends(deviations)


def interval_method(estimate: Tested, kind: Kind = "default") -> str:
    """Return the name of the method by which intervals of a kind are computed."""
    return kind if kind in ("wald", "bootstrap") else chosen_tests(estimate, kind).method


def chosen_tests(estimate: Tested, kind: Kind) -> CellTests:
    """Return the tests that an interval of this kind inverts."""
    one_of("kind", kind, get_args(Kind))
    value, covariances = estimate.value, estimate.covariances
    default = estimate.tests or default_tests(value, covariances)
    if kind == "score" and isinstance(default, LinearTests):
        score = default if isinstance(default, ScoreTests) else default.score
        return PlainScoreTests(score.value, score.variance)
    if kind == "profile" and isinstance(default, LinearTests):
        return _profile(covariances)
    if kind in ("default", default.method):
        return default
    rules = {
        "exact": f"cells that depend on one property of a report each, at most {MOST_EXACT} of them",
        "score": f"unbiased estimates without weights or strata, of at most {MOST_CELLS} cells",
        "profile": "maximum likelihood, two samples, weights and strata, or unbiased estimates of a population",
    }
    raise _other_kind(kind, rules[kind])


def default_tests(value: Array, covariances: Covariance) -> CellTests:
    """Return the tests of an estimate that brought none."""
    if isinstance(covariances, InversionCovariance) and covariances.channel.n_in <= MOST_CELLS:
        return inversion_tests(covariances)
    return NormalTests(value, standard_errors(covariances))


def _profile(covariances: Covariance) -> CellTests:
    """Return tests by profile likelihood of an unbiased estimate of a population."""
    from sottovoce.estimates.profile_likelihood import ProfileTests

    if not isinstance(covariances, InversionCovariance) or covariances.target != "population":
        raise _other_kind("profile", "estimates of a population from counts of reports")
    counts = covariances.reported * covariances.respondents
    return ProfileTests(covariances.channel, counts, covariances.order)


def _other_kind(kind: str, rule: str) -> SottovoceError:
    return SottovoceError("kind", f"must be default or wald here; {kind} is for {rule}", kind)


def critical_value(level: float, statements: int = 1) -> float:
    """Return the number of standard errors on either side, with Bonferroni's correction for several statements.

    >>> round(critical_value(0.95), 2), round(critical_value(0.95, statements=10), 2)
    (1.96, 2.81)
    """
    return NormalDist().inv_cdf(1 - (1 - checked_level(level)) / (2 * statements))


def standard_errors(covariances: Covariance) -> Array:
    """Return the square roots of the variances; one that rounding left below zero counts as zero."""
    return np.asarray(np.sqrt(np.maximum(covariances.variances, 0)))


def wald(value: Array, standard_error: Array, deviations: float) -> Ends:
    """Return `p +- z se`: good where the estimate is several standard errors away from 0 and 1."""
    half = deviations * standard_error
    return value - half, value + half
