"""A log-linear model of joint cells whose coefficients are shrunk as the reports themselves suggest.

    p(x) ~ exp(sum_S Z_S(x) b_S),   b_S ~ N(0, tau_S I),

with contrasts Z_S of the sets S of at most `order` attributes. Given the variances tau, the most plausible
coefficients are found by Fisher scoring on the likelihood of the reports: with `H = sum_Q N_Q B_Q^T diag(1 / l_Q) B_Q`,
B_Q what the derivative `diag(p) (Z - p^T Z)` becomes in the reports of block Q, and `C = (H + diag(1 / tau))^-1`, a
step is `C (score - b / tau)`. Given the coefficients, `tau_S = |b_S|^2 / (D_S - tr C_SS / tau_S)`, D_S the number of
contrasts (MacKay 1992, Neural Computation 4, 415-447): a set of attributes that shows no dependence loses its terms.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimate.contrasts import contrasts, sets_up_to
from sottovoce.estimate.em import Progress
from sottovoce.estimate.observed import Axes, Observed
from sottovoce.estimate.scoring import Model, most_plausible

ROUNDS = 30
"""Rounds of variances, at the most."""

SETTLED = 0.003
"""Change of the scale of any set's terms, the square root of its variance, below which it is taken as found."""

LEAST, MOST, LEAST_ALONE = 1e-5, 4.0, 0.05
"""Bounds of the variances; those of single attributes, whose proportions are anything, stay wide."""

MOST_TERMS = 2000
"""Terms of a model: each step solves as many equations."""

FLOOR = 0.01
"""Least variance of a pair's terms in standard errors: a dependence of .1 that was shrunk away may still be there."""


@dataclass(frozen=True, eq=False)
class LogLinear:
    """Law of the joint cells, and its factor: covariance `factor factor^T`.

    `variances` holds tau for each set of attributes: what the reports show of its dependence.
    """

    value: Array
    factor: Array
    variances: dict[Axes, float]
    rounds: int
    converged: bool


def fit_log_linear(reports: Observed, order: int = 2, progress: Progress | None = None) -> LogLinear:
    """Fit coefficients and variances in turn until the variances settle.

    >>> from fractions import Fraction
    >>> from sottovoce.channel.keep_or_uniform import KeepOrUniform
    >>> from sottovoce.estimate.observed import observed
    >>> reports = observed(KeepOrUniform((2, 2), Fraction(1, 2)), np.array([350, 150, 150, 350]))
    >>> fit_log_linear(reports).value.round(2)
    array([0.45, 0.05, 0.05, 0.45])
    """
    sets = _terms(reports, order)
    columns, owner = contrasts(reports.sizes, sets)
    model, lengths = Model(reports, columns), np.array([len(axes) for axes in sets])
    tau, b = 0.1 ** (lengths - 1.0), np.zeros(columns.shape[1])
    for done in range(1, ROUNDS + 1):
        b = most_plausible(model, b, 1 / tau[owner], 40 if done == 1 else 3)
        before, tau = tau, _variances(b, _covariance(model, b, tau[owner]), tau, owner)
        tau = np.where(lengths == 1, np.maximum(tau, LEAST_ALONE), tau)
        settled = bool(np.abs(np.sqrt(tau) - np.sqrt(before)).max() < SETTLED)
        if progress is not None:
            progress(done, ROUNDS)
        if settled:
            break
    b = most_plausible(model, b, 1 / tau[owner], 40)
    wide = np.where(lengths == 2, np.maximum(tau, FLOOR), tau)
    factor = model.derivative(model.law(b)) @ np.linalg.cholesky(_covariance(model, b, wide[owner]))
    return LogLinear(model.law(b), factor, dict(zip(sets, tau.tolist(), strict=True)), done, settled)


def _terms(reports: Observed, order: int) -> list[Axes]:
    """Sets of attributes that have terms: up to pairs all of them, beyond those that were asked together."""
    asked = [set(block.axes) for block in reports.blocks]
    wanted = sets_up_to(len(reports.sizes), min(order, len(reports.sizes)))
    sets = [axes for axes in wanted if len(axes) <= 2 or any(own.issuperset(axes) for own in asked)]
    terms = sum(prod(reports.sizes[a] - 1 for a in axes) for axes in sets)
    if terms > MOST_TERMS:
        rule = f"must leave a model of at most {MOST_TERMS} terms; with order {order} it has"
        raise SottovoceError("attributes", rule, terms)
    return sets


def _covariance(model: Model, b: Array, tau: Array) -> Array:
    """Of the coefficients, given these prior variances: the inverse of information and precision."""
    return np.asarray(np.linalg.inv(model.information(b) + np.diag(1 / tau)), np.float64)


def _variances(b: Array, covariance: Array, tau: Array, owner: NDArray[np.intp]) -> Array:
    """Of each set's terms: by what they show beyond their own uncertainty."""
    squares, uncertain = (np.bincount(owner, terms) for terms in (b**2, np.diag(covariance)))
    sizes = np.bincount(owner)
    seen = sizes - uncertain / tau
    found = np.where(seen > 0.05, squares / np.maximum(seen, 0.05), (squares + uncertain) / sizes)
    return np.asarray(np.clip(found, LEAST, MOST), np.float64)
