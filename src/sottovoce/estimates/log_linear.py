"""A shrunken log-linear model of all joint cells, fitted to disguised reports by Fisher scoring.

    p(x) ~ exp(sum_S Z_S(x) b_S),   b_S ~ N(0, tau_S I),

with contrasts Z_S of the sets S of at most `order` attributes. Given the variances tau, the most plausible
coefficients are found by Fisher scoring on the likelihood of the reports: with `H = sum_Q N_Q B_Q^T diag(1 / l_Q) B_Q`,
B_Q what the derivative `diag(p) (Z - p^T Z)` becomes in the reports of block Q, and `C = (H + diag(1 / tau))^-1`, a
step is `C (score - b / tau)`. Given the coefficients, `tau_S = |b_S|^2 / (D_S - tr C_SS / tau_S)`, D_S the number of
contrasts (MacKay 1992, Neural Computation 4, 415-447): a set of attributes that shows no dependence loses its terms.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimates.asked_together import ByPart, count_by_part, drawn_with
from sottovoce.estimates.counted import check_number
from sottovoce.estimates.covariance import MOST_CELLS, MatrixSpread, Spread
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.likelihood import Axes, Observed, Progress, em
from sottovoce.estimates.proportions import needed_attributes
from sottovoce.plans.plan import Plan

GAINED = 1e-3
"""Gain of plausibility, in units of log-likelihood, below which a step is the last."""

HALVINGS = 14
"""How often a step is halved that lowers the plausibility."""
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
class FactorSpread:
    """Covariance `F F^T` by a factor with a row for each cell: margins of cells are sums of rows."""

    factor: Array

    @cached_property
    def variances(self) -> Array:
        """Sums of squares of the rows."""
        return np.asarray((self.factor**2).sum(axis=1))

    def covariance(self, cells: Sequence[int] | NDArray[np.intp]) -> Array:
        """Products of the rows of these cells."""
        rows = self.factor[np.asarray(cells)]
        return np.asarray(rows @ rows.T)


def margin_of(joint: Estimate, attributes: Sequence[str]) -> Estimate:
    """Proportions of some attributes of an estimate, in the order given: sums of its cells, with their covariance.

    >>> import numpy as np
    >>> spread = FactorSpread(np.array([[0.1], [0.0], [0.0], [-0.1]]))
    >>> flat = np.full(4, 0.25)
    >>> joint = Estimate(("a", "b"), ((0, 1), (0, 1)), flat, spread, flat, 10, "population", "model")
    >>> print(margin_of(joint, ["b"]))
    b: 10 reports, proportions in the population by model
      0    0.5000 +- 0.1000  [ 0.3040,  0.6960]
      1    0.5000 +- 0.1000  [ 0.3040,  0.6960]
    """
    unknown = [name for name in attributes if name not in joint.attributes]
    if unknown or not attributes or len(set(attributes)) < len(attributes):
        raise SottovoceError(
            "attributes", f"must be some of {', '.join(joint.attributes)}, once each", list(attributes)
        )
    kept = [joint.attributes.index(name) for name in attributes]
    dropped = [place for place in range(len(joint.shape)) if place not in kept]

    def summed(cells: Array) -> Array:
        table = cells.reshape(*joint.shape, -1).transpose(*kept, *dropped, len(joint.shape))
        sums = table.reshape(prod(joint.shape[place] for place in kept), -1, table.shape[-1]).sum(axis=1)
        return np.asarray(sums.reshape(-1, *cells.shape[1:]))

    spread: Spread
    if isinstance(joint.spread, FactorSpread):
        spread = FactorSpread(summed(joint.spread.factor))
    else:
        spread = MatrixSpread(summed(summed(joint.covariance).T))
    return replace(
        joint,
        attributes=tuple(joint.attributes[place] for place in kept),
        categories=tuple(joint.categories[place] for place in kept),
        value=summed(joint.value),
        spread=spread,
    )


def helmert(size: int) -> Array:
    """Columns orthogonal to each other and to the constant, of mean square 1: `size - 1` contrasts.

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
    """Contrasts of some sets of attributes as columns over the joint cells, and the number of each one's set.

    Those of a set are the products of its attributes' own, so all columns have mean square 1 and are
    orthogonal: the Kronecker basis of the analysis of variance.

    >>> columns, owner = contrasts((2, 2), [(0,), (1,), (0, 1)])
    >>> columns[:, owner == 2].T
    array([[ 1., -1., -1.,  1.]])
    """
    cells = prod(sizes)
    found = [_contrasts_of(sizes, axes).reshape(cells, -1) for axes in sets]
    owner = np.repeat(np.arange(len(sets), dtype=np.intp), [columns.shape[1] for columns in found])
    return np.concatenate(found, axis=1), owner


def sets_up_to(attributes: int, order: int) -> list[Axes]:
    """Sets of at most so many attributes, shorter ones first."""
    return [axes for size in range(1, order + 1) for axes in combinations(range(attributes), size)]


def _contrasts_of(sizes: Sequence[int], axes: Axes) -> Array:
    table = np.ones((*sizes, 1))
    for a in axes:
        shape = [sizes[a] if b == a else 1 for b in range(len(sizes))]
        own = helmert(sizes[a]).reshape(*shape, 1, sizes[a] - 1)
        table = (table[..., None] * own).reshape(*sizes, -1)
    return table


@dataclass(frozen=True, eq=False)
class Model:
    """Reports, and the contrasts of the joint cells: `p ~ exp(Z b)`."""

    reports: Observed
    columns: Array

    def law(self, b: Array) -> Array:
        """Law of the joint cells."""
        heights = self.columns @ b
        cells = np.exp(heights - heights.max())
        return np.asarray(cells / cells.sum())

    def plausibility(self, b: Array, precision: Array) -> float:
        """Log-likelihood and prior of coefficients."""
        return self.reports.log_likelihood(self.law(b)) - 0.5 * float(precision @ b**2)

    def derivative(self, cells: Array) -> Array:
        """Of the joint cells by the coefficients."""
        return np.asarray(cells[:, None] * (self.columns - cells @ self.columns))

    def information(self, b: Array) -> Array:
        """Expected information about the coefficients."""
        cells = self.law(b)
        return self.reports.information(cells, self.derivative(cells))

    def score(self, b: Array) -> Array:
        """Derivative of the log-likelihood."""
        cells = self.law(b)
        return np.asarray(self.columns.T @ (cells * (self.reports.gradient(cells) - self.reports.total)))


def most_plausible(model: Model, b: Array, precision: Array, steps: int) -> Array:
    """Coefficients from these on, given the inverses of their prior variances.

    A step is `(H + diag(precision))^-1 (score - precision b)`; one that lowers the plausibility is halved.
    """
    height = model.plausibility(b, precision)
    for _ in range(steps):
        step = np.linalg.solve(model.information(b) + np.diag(precision), model.score(b) - precision * b)
        for halvings in range(HALVINGS):
            reached = model.plausibility(b + step / 2**halvings, precision)
            if reached >= height - 1e-6:
                break
        else:
            break
        b, gained, height = b + step / 2**halvings, reached - height, reached
        if gained < GAINED:
            break
    return b


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


def estimate_joint(
    reports: Any,
    plan: Plan,
    attributes: str | Sequence[str] | None = None,
    *,
    order: int = 3,
    progress: Progress | None = None,
) -> Estimate:
    """Estimate the joint proportions of attributes, even of those never asked together, by a shrunken log-linear model.

    Dependence is modelled between all pairs of attributes, and between up to `order` of them where they were asked
    together; the reports decide how much of each they believe (see `estimates.log_linear`). Standard errors are by the
    delta method, with at least .1 as the scale of every pair's terms. They count what the coins and the sample scatter,
    not what the model leaves out: `docs/mining.md` says how often intervals covered. Where all attributes that are
    drawn from together have at most 4,096 joint cells, they are modelled at once; of more, those wanted are, on
    their own cells. Any plan whose reports are categories will do.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.attribute_sampling import AttributeSampling
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {("a", "b"): AttributeSampling(odds=3, size=2)})
    >>> rows = {"a": [True, True, False, False] * 50, "b": [True, False, False, False] * 50}
    >>> estimate_joint(rows, plan).value.round(2)
    array([0.76, 0.01, 0.12, 0.12])
    """
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise SottovoceError("order", "must be a positive whole number", order)
    names, modelled = _modelled(plan, attributes)
    found = _counted(reports, plan, modelled)
    fit = fit_log_linear(found.reports, order, progress)
    settled = "" if fit.converged else f", NOT settled after {fit.rounds} rounds"
    return margin_of(_estimate(found, fit.value, fit.factor, f"log-linear model{settled}"), names)


def most_likely_joint(
    reports: Any,
    plan: Plan,
    attributes: str | Sequence[str] | None = None,
    *,
    most_steps: int = 1000,
    progress: Progress | None = None,
) -> Estimate:
    """Estimate the joint proportions that make the reports most likely, without any model of them.

    The iterative step over the joint cells is `p(x) <- p(x) / N sum_Q N_Q sum_y f_Q(y) A_Q[y, x_Q] / l_Q(y)`, f_Q the
    frequencies of the reports of part Q (see `likelihood`). Attributes that were never asked together are joined
    somehow, since the likelihood does not care: the estimate has no standard errors, and where small parts leave
    much open it fits the noise. `estimate_joint` is better as a rule.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.attribute_sampling import AttributeSampling
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {("a", "b"): AttributeSampling(odds=3, size=2)})
    >>> rows = {"a": [True, True, False, False] * 50, "b": [True, False, False, False] * 50}
    >>> most_likely_joint(rows, plan).value.round(2)
    array([0.75, 0.  , 0.13, 0.13])
    """
    names, modelled = _modelled(plan, attributes)
    found = _counted(reports, plan, modelled)
    fit = em(found.counted.channel, found.counted.counts, tolerance=1e-9, most_steps=most_steps, progress=progress)
    return margin_of(_estimate(found, fit.value, np.full((len(fit.value), 1), np.nan), fit.method), names)


def _modelled(plan: Plan, attributes: str | Sequence[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Attributes wanted, and those to be modelled: all that are drawn from together, where their cells are few enough.

    What a report says of one attribute helps with the others, and a part of a report may say less than the whole.
    """
    given = plan.schema.names if attributes is None else [attributes] if isinstance(attributes, str) else attributes
    names = plan.schema.project(given).names
    together = drawn_with(plan, needed_attributes(plan, names))
    if plan.schema.project(together).cells <= MOST_CELLS:
        return names, together
    if plan.schema.project(names).cells > MOST_CELLS:
        rule = f"must have at most {MOST_CELLS} joint cells for a joint model; model fewer of them at a time"
        raise SottovoceError("attributes", rule, names)
    return names, names


def _counted(reports: Any, plan: Plan, names: Sequence[str]) -> ByPart:
    found = count_by_part(reports, plan, names)
    check_number(int(found.reports.total))
    return found


def _estimate(found: ByPart, value: Array, factor: Array, method: str) -> Estimate:
    counted = found.counted
    about = counted.attributes, counted.categories, value[counted.order], FactorSpread(factor[counted.order])
    return Estimate(*about, counted.seen, counted.respondents, "population", method)
