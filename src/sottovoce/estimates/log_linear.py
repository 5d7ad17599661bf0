"""A shrunken log-linear model of all joint cells, fitted to disguised reports by Fisher scoring.

    p(x) ~ exp(sum_S Z_S(x) b_S),   b_S ~ N(0, tau_S I),

with contrasts Z_S of the sets S of at most `order` attributes. Given the variances tau, the posterior mode of the
coefficients is found by Fisher scoring on the likelihood of the reports: with `H = sum_Q N_Q B_Q^T diag(1 / l_Q) B_Q`,
B_Q the derivative `diag(p) (Z - p^T Z)` seen through the channel of block Q, and `C = (H + diag(1 / tau))^-1`, a
step is `C (score - b / tau)`. Given the coefficients, `tau_S = |b_S|^2 / (D_S - tr C_SS / tau_S)`, D_S the number of
contrasts (MacKay 1992, Neural Computation 4, 415-447): a set of attributes that shows no dependence loses its terms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, Progress, whole_number
from sottovoce.counts.frequencies import Frequencies
from sottovoce.errors import SottovoceError
from sottovoce.estimates.asked_together import ByPart, count_by_part, sampled_with
from sottovoce.estimates.counted import Counted, check_number
from sottovoce.estimates.covariance import MOST_CELLS, FactorCovariance
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.likelihood import Axes, Observed, em
from sottovoce.estimates.proportions import needed_attributes
from sottovoce.plans.plan import Plan

LEAST_GAIN = 1e-3
"""Gain of log posterior below which a scoring step is the last."""

HALVINGS = 14
"""Most halvings of a step that lowers the posterior."""

ROUNDS = 30
"""Most updates of the prior variances."""

TOLERANCE = 0.003
"""Convergence tolerance on the prior standard deviation of a set's terms."""

LEAST_VARIANCE, MOST_VARIANCE, LEAST_OF_SINGLES = 1e-5, 4.0, 0.05
"""Bounds of the prior variances; those of single attributes, whose proportions are arbitrary, stay wide."""

MOST_TERMS = 2000
"""Most terms of a model: each step solves as many equations."""

FLOOR = 0.01
"""Least prior variance of a pair's terms in standard errors: a dependence of .1 may have been shrunk to nothing."""


def helmert(size: int) -> Array:
    """Return `size - 1` contrasts: columns orthogonal to each other and to the constant, of mean square 1.

    >>> helmert(2)
    array([[ 1.],
           [-1.]])
    """
    columns = np.zeros((size, size - 1))
    for k in range(1, size):
        columns[:k, k - 1] = np.sqrt(size / (k + k * k))
        columns[k, k - 1] = -k * np.sqrt(size / (k + k * k))
    return columns


def contrasts(sizes: Sequence[int], sets: Sequence[Axes]) -> tuple[Array, NDArray[np.intp]]:
    """Return contrasts of some sets of attributes as columns over the joint cells, and the index of each one's set.

    Those of a set are products of the contrasts of its attributes, so all columns have mean square 1 and are
    orthogonal: the Kronecker basis of the analysis of variance.

    >>> columns, owner = contrasts((2, 2), [(0,), (1,), (0, 1)])
    >>> columns[:, owner == 2].T
    array([[ 1., -1., -1.,  1.]])
    """
    cells = prod(sizes)
    by_set = [_contrasts_of(sizes, axes).reshape(cells, -1) for axes in sets]
    owner = np.repeat(np.arange(len(sets), dtype=np.intp), [columns.shape[1] for columns in by_set])
    return np.concatenate(by_set, axis=1), owner


def sets_up_to(attributes: int, order: int) -> list[Axes]:
    """Return all sets of at most `order` attributes, shorter ones first."""
    return [axes for size in range(1, order + 1) for axes in combinations(range(attributes), size)]


def _contrasts_of(sizes: Sequence[int], axes: Axes) -> Array:
    table = np.ones((*sizes, 1))
    for a in axes:
        shape = [sizes[a] if b == a else 1 for b in range(len(sizes))]
        factor = helmert(sizes[a]).reshape(*shape, 1, sizes[a] - 1)
        table = (table[..., None] * factor).reshape(*sizes, -1)
    return table


@dataclass(frozen=True, eq=False)
class Model:
    """Log-linear model of the joint cells given reports: `p ~ exp(Z b)`, Z the contrasts."""

    reports: Observed
    columns: Array

    def distribution(self, b: Array) -> Array:
        """Return the distribution of the joint cells."""
        logarithms = self.columns @ b
        cells = np.exp(logarithms - logarithms.max())
        return np.asarray(cells / cells.sum())

    def log_posterior(self, b: Array, precision: Array) -> float:
        """Return the log posterior of the coefficients, up to a constant."""
        return self.reports.log_likelihood(self.distribution(b)) - 0.5 * float(precision @ b**2)

    def derivative(self, cells: Array) -> Array:
        """Return the derivative of the joint cells by the coefficients."""
        return np.asarray(cells[:, None] * (self.columns - cells @ self.columns))

    def information(self, b: Array) -> Array:
        """Return the expected information about the coefficients."""
        cells = self.distribution(b)
        return self.reports.information(cells, self.derivative(cells))

    def score(self, b: Array) -> Array:
        """Return the derivative of the log-likelihood by the coefficients."""
        cells = self.distribution(b)
        return np.asarray(self.columns.T @ (cells * (self.reports.gradient(cells) - self.reports.total)))


def posterior_mode(model: Model, b: Array, precision: Array, steps: int) -> Array:
    """Return the posterior mode of the coefficients by Fisher scoring from b, given their prior precisions.

    A step is `(H + diag(precision))^-1 (score - precision b)`; one that lowers the posterior is halved.
    """
    posterior = model.log_posterior(b, precision)
    for _ in range(steps):
        step = np.linalg.solve(model.information(b) + np.diag(precision), model.score(b) - precision * b)
        for halvings in range(HALVINGS):
            reached = model.log_posterior(b + step / 2**halvings, precision)
            if reached >= posterior - 1e-6:
                break
        else:
            break
        b, gain, posterior = b + step / 2**halvings, reached - posterior, reached
        if gain < LEAST_GAIN:
            break
    return b


@dataclass(frozen=True, eq=False)
class LogLinear:
    """Fitted distribution of the joint cells, with covariance `factor factor^T`.

    `variances` has the prior variance tau of each set of attributes: how much dependence the reports show.
    """

    value: Array
    factor: Array
    variances: dict[Axes, float]
    rounds: int
    converged: bool


def fit_log_linear(reports: Observed, order: int = 2, progress: Progress | None = None) -> LogLinear:
    """Fit coefficients and prior variances in turn until the variances converge.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> from sottovoce.estimates.likelihood import observed
    >>> reports = observed(KeepOrUniform((2, 2), Fraction(1, 2)), np.array([350, 150, 150, 350]))
    >>> fit_log_linear(reports).value.round(2)
    array([0.45, 0.05, 0.05, 0.45])
    """
    sets = _terms(reports, order)
    columns, owner = contrasts(reports.sizes, sets)
    model, lengths = Model(reports, columns), np.array([len(axes) for axes in sets])
    tau, b = 0.1 ** (lengths - 1.0), np.zeros(columns.shape[1])
    for done in range(1, ROUNDS + 1):
        b = posterior_mode(model, b, 1 / tau[owner], 40 if done == 1 else 3)
        before, tau = tau, _prior_variances(b, _posterior_covariance(model, b, tau[owner]), tau, owner)
        tau = np.where(lengths == 1, np.maximum(tau, LEAST_OF_SINGLES), tau)
        converged = bool(np.abs(np.sqrt(tau) - np.sqrt(before)).max() < TOLERANCE)
        if progress is not None:
            progress(done, ROUNDS)
        if converged:
            break
    b = posterior_mode(model, b, 1 / tau[owner], 40)
    wide = np.where(lengths == 2, np.maximum(tau, FLOOR), tau)
    cells = model.distribution(b)
    factor = model.derivative(cells) @ np.linalg.cholesky(_posterior_covariance(model, b, wide[owner]))
    return LogLinear(cells, factor, dict(zip(sets, tau.tolist(), strict=True)), done, converged)


def _terms(reports: Observed, order: int) -> list[Axes]:
    """Return the sets of attributes that have terms: all up to pairs, and larger ones that were asked together."""
    asked = [set(block.axes) for block in reports.blocks]
    wanted = sets_up_to(len(reports.sizes), min(order, len(reports.sizes)))
    sets = [axes for axes in wanted if len(axes) <= 2 or any(block.issuperset(axes) for block in asked)]
    terms = sum(prod(reports.sizes[a] - 1 for a in axes) for axes in sets)
    if terms > MOST_TERMS:
        rule = f"must leave a model of at most {MOST_TERMS} terms; with order {order} it has"
        raise SottovoceError("attributes", rule, terms)
    return sets


def _posterior_covariance(model: Model, b: Array, tau: Array) -> Array:
    """Return the posterior covariance of the coefficients, `(information + prior precision)^-1`."""
    return np.asarray(np.linalg.inv(model.information(b) + np.diag(1 / tau)), np.float64)


def _prior_variances(b: Array, covariance: Array, tau: Array, owner: NDArray[np.intp]) -> Array:
    """Return the updated prior variance of each set's terms (MacKay 1992), within bounds."""
    squares, uncertain = (np.bincount(owner, terms) for terms in (b**2, np.diag(covariance)))
    sizes = np.bincount(owner)
    determined = sizes - uncertain / tau
    updated = np.where(determined > 0.05, squares / np.maximum(determined, 0.05), (squares + uncertain) / sizes)
    return np.asarray(np.clip(updated, LEAST_VARIANCE, MOST_VARIANCE), np.float64)


def estimate_joint(
    reports: Any,
    plan: Plan,
    attributes: str | Sequence[str] | None = None,
    *,
    order: int = 3,
    frequencies: Frequencies = None,
    progress: Progress | None = None,
) -> Estimate:
    """Estimate the joint proportions of attributes, even of those never asked together, by a shrunken log-linear model.

    Dependence is modelled between all pairs of attributes, and between up to `order` of them where they were asked
    together; the prior variances are estimated from the reports (see `estimates.log_linear`). Standard errors are by
    the delta method, with at least .1 as the prior standard deviation of every pair's terms. They include the noise of
    coins and sampling, but not the error of the model: `docs/mining.md` says how often intervals covered. Where all
    attributes of the sampled group have at most 4,096 joint cells, they are modelled at once; otherwise only those
    wanted are. The plan's reports must be categories. `frequencies` say how many equal reports each row stands for.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.attribute_sampling import AttributeSampling
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {("a", "b"): AttributeSampling(odds=3, size=2)})
    >>> rows = {"a": [True, True, False, False] * 50, "b": [True, False, False, False] * 50}
    >>> estimate_joint(rows, plan).value.round(2)
    array([0.76, 0.01, 0.12, 0.12])
    """
    whole_number("order", order)
    names, modelled = _modelled_attributes(plan, attributes)
    by_part = _count_modelled(reports, plan, modelled, frequencies)
    fit = fit_log_linear(by_part.reports, order, progress)
    converged = "" if fit.converged else f", NOT converged after {fit.rounds} rounds"
    return _estimate(by_part.counted, fit.value, fit.factor, f"log-linear model{converged}").marginal(names)


def most_likely_joint(
    reports: Any,
    plan: Plan,
    attributes: str | Sequence[str] | None = None,
    *,
    most_steps: int = 1000,
    frequencies: Frequencies = None,
    progress: Progress | None = None,
) -> Estimate:
    """Estimate joint proportions by maximum likelihood, without a model of them.

    The EM step over the joint cells is `p(x) <- p(x) / N sum_Q N_Q sum_y f_Q(y) A_Q[y, x_Q] / l_Q(y)`, f_Q the
    frequencies of the reports of part Q (see `likelihood`). The likelihood does not determine the joint cells of
    attributes that were never asked together: the estimate has no standard errors, and small parts overfit.
    `estimate_joint` is better as a rule.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.attribute_sampling import AttributeSampling
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {("a", "b"): AttributeSampling(odds=3, size=2)})
    >>> rows = {"a": [True, True, False, False] * 50, "b": [True, False, False, False] * 50}
    >>> most_likely_joint(rows, plan).value.round(2)
    array([0.75, 0.  , 0.13, 0.13])
    """
    names, modelled = _modelled_attributes(plan, attributes)
    counted = _count_modelled(reports, plan, modelled, frequencies).counted
    fit = em(counted.channel, counted.counts, tolerance=1e-9, most_steps=most_steps, progress=progress)
    return _estimate(counted, fit.value, np.full((len(fit.value), 1), np.nan), fit.method).marginal(names)


def _modelled_attributes(plan: Plan, attributes: str | Sequence[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the attributes wanted, and those to be modelled: the whole sampled group, if its cells are few enough.

    A report about one attribute is informative about the others, and a part of a report may tell less than the whole.
    """
    given = plan.schema.names if attributes is None else [attributes] if isinstance(attributes, str) else attributes
    names = plan.schema.project(given).names
    group = sampled_with(plan, needed_attributes(plan, names))
    if plan.schema.project(group).cells <= MOST_CELLS:
        return names, group
    if plan.schema.project(names).cells > MOST_CELLS:
        rule = f"must have at most {MOST_CELLS} joint cells for a joint model; model fewer of them at a time"
        raise SottovoceError("attributes", rule, names)
    return names, names


def _count_modelled(reports: Any, plan: Plan, names: Sequence[str], frequencies: Frequencies) -> ByPart:
    by_part = count_by_part(reports, plan, names, frequencies)
    check_number(int(by_part.reports.total))
    return by_part


def _estimate(counted: Counted, value: Array, factor: Array, method: str) -> Estimate:
    return Estimate(
        counted.attributes,
        counted.categories,
        value[counted.order],
        FactorCovariance(factor[counted.order]),
        counted.reported,
        counted.respondents,
        "population",
        method,
    )
