"""Proportions of all joint cells of a few attributes, whoever was asked which of them: by a model."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimate.by_part import ByPart, count_by_part, drawn_with
from sottovoce.estimate.em import Progress, em
from sottovoce.estimate.enough import check_number
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.factor import FactorSpread, margin_of
from sottovoce.estimate.log_linear import fit_log_linear
from sottovoce.estimate.marginals import needed_attributes
from sottovoce.estimate.spread import MOST_CELLS
from sottovoce.plan.plan import Plan


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
    together; the reports decide how much of each they believe (see `estimate.log_linear`). Standard errors are by the
    delta method, with at least .1 as the scale of every pair's terms. They count what the coins and the sample scatter,
    not what the model leaves out: `docs/mining.md` says how often intervals covered. Where all attributes that are
    drawn from together have at most 4,096 joint cells, they are modelled at once; of more, those wanted are, on
    their own cells. Any plan whose reports are categories will do.

    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.attribute_sampling import AttributeSampling
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
    frequencies of the reports of part Q (see `estimate.em`). Attributes that were never asked together are joined
    somehow, since the likelihood does not care: the estimate has no standard errors, and where small parts leave
    much open it fits the noise. `estimate_joint` is better as a rule.

    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.attribute_sampling import AttributeSampling
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
