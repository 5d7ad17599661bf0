"""Unbiased proportions from the respondents who were asked all the attributes in question."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.channels.sampled import Sampled
from sottovoce.counts.counter import as_counter
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimates.counted import Counted, check_number, count_reports
from sottovoce.estimates.covariance import MatrixSpread, Target
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.likelihood import Axes, Block, Observed, observed
from sottovoce.estimates.proportions import estimate_proportions, is_large_set
from sottovoce.plans.plan import Plan

MOST_REPORTS = 2**22
"""Joint cells of a whole group's reports that are counted to tell its parts apart."""


@dataclass(frozen=True, eq=False)
class ByPart:
    """Counts of the reports about some attributes; and the same reports in full, apart by what was asked.

    `around` may speak of further attributes, which were drawn from together with those wanted; `kept` are the
    places of the latter.
    """

    counted: Counted
    around: Observed
    kept: Axes

    @property
    def reports(self) -> Observed:
        """What the reports say of the attributes wanted."""
        return self.around if len(self.kept) == len(self.around.sizes) else self.around.margin(self.kept)


def count_by_part(reports: Any, plan: Plan, attributes: Sequence[str]) -> ByPart:
    """Count reports about some attributes, apart by the part of the plan they came through.

    Where the reports of all sampled attributes have too many joint cells, only the columns of those wanted are counted:
    parts that have the same attributes in common with them are then one block, of the mixture of their channels.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.attribute_sampling import AttributeSampling
    >>> names = ("a", "b", "c")
    >>> plan = Plan.of(Schema(map(boolean, names)), {names: AttributeSampling(odds=3, subsets=[[0, 1], [2]])})
    >>> no = plan.report_schema["a"].categories[-1]
    >>> rows = {"a": [True, no], "b": [False, no], "c": [no, True]}
    >>> [block.axes for block in count_by_part(rows, plan, ["b", "c"]).reports.blocks]
    [(0,), (1,)]
    """
    wanted = plan.schema.project(attributes).names
    if is_large_set(plan.channel(wanted)):
        scheme = Words(plan.group_of(wanted[0]).scheme)
        raise SottovoceError("plan", "must give reports in categories, or sets of a few of them", scheme)
    counter, together = as_counter(reports), drawn_with(plan, wanted)
    counted = count_reports(counter, plan, wanted)
    if len(together) > len(wanted) and plan.group_of(wanted[0]).mechanism.channel.n_out <= MOST_REPORTS:
        full = count_reports(counter, plan, together)
        kept = tuple(place for place, name in enumerate(together) if name in wanted)
        return ByPart(counted, observed(full.channel, full.counts), kept)
    return ByPart(counted, observed(counted.channel, counted.counts), tuple(range(len(wanted))))


def drawn_with(plan: Plan, names: Sequence[str]) -> tuple[str, ...]:
    """All attributes that a plan draws from together with these; just these where it draws from none."""
    return plan.group_of(names[0]).attributes if is_drawn(plan, names) else tuple(names)


def is_drawn(plan: Plan, names: Sequence[str]) -> bool:
    """Whether these attributes are among those of one group that each respondent is asked some of."""
    group = plan.group_of(names[0])
    return isinstance(group.mechanism.channel, Sampled) and set(names) <= set(group.attributes)


class NeverAskedError(SingularChannelError):
    """No respondent was asked all the attributes in question."""


def estimate_covered(
    reports: Any, plan: Plan, attributes: str | Sequence[str], *, target: Target = "population"
) -> Estimate:
    """Estimate joint proportions from every part of a sampling plan that asks all the attributes, the surest most.

    Each such part Q gives `p_Q = B_Q c_Q / N_Q`, unbiased whatever the number N_Q of its respondents; they are averaged
    with the inverses of the variances that they would have if all cells were alike, `N_Q keep_Q^2` for gamma-diagonal
    parts. The weights do not look at the answers, so the average is unbiased too. A cell of the table has the variance

        sum_Q w_Q^2 l (1 - l) / (keep_Q^2 N_Q) - s (1 - s) / N,   l = (1 - keep_Q) / n + keep_Q s;

    of the population, without the last term. Where nothing is sampled this is `estimate_proportions`.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.attribute_sampling import AttributeSampling
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {("a", "b"): AttributeSampling(odds=3)})
    >>> no = plan.report_schema["a"].categories[-1]
    >>> rows = {"a": [True] * 40 + [False] * 60 + [no] * 100, "b": [no] * 100 + [True, False] * 50}
    >>> print(estimate_covered(rows, plan, "a"))
    a: 200 reports, proportions in the population by inverse-variance weighting
      False    0.7000 +- 0.0980  [ 0.5080,  0.8920]
      True     0.3000 +- 0.0980  [ 0.1080,  0.4920]
    """
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    if not is_drawn(plan, names):
        return estimate_proportions(reports, plan, names, target=target)
    found = count_by_part(reports, plan, names)
    blocks = [block for block in found.around.blocks if set(found.kept) <= set(block.axes)]
    if not blocks:
        rule = "must be asked together of some respondents; a model joins what was not (estimate_joint)"
        raise NeverAskedError("attributes", rule, Words(" and ".join(names)))
    check_number(int(sum(block.total for block in blocks)))
    value, covariance = _weighted([_alone(block, found.kept, found.around.sizes) for block in blocks])
    counted = found.counted
    if target == "table":
        covariance = covariance - (np.diag(value) - np.outer(value, value)) / counted.respondents
    spread = MatrixSpread(covariance[np.ix_(counted.order, counted.order)])
    about = counted.attributes, counted.categories, value[counted.order], spread
    return Estimate(*about, counted.seen, counted.respondents, target, "inverse-variance weighting")


def _alone(block: Block, kept: Axes, sizes: Sequence[int]) -> tuple[Array, Array, float]:
    """Estimate of one block, its covariance, and its precision at the uniform law.

    The whole report is undone and then summed over what is not wanted: a part of it can say less.
    """
    shape = [sizes[a] for a in block.axes]
    dropped = tuple(place for place, a in enumerate(block.axes) if a not in kept)
    whole = np.linalg.pinv(block.law(np.eye(prod(shape))))
    inverse = whole.reshape(*shape, -1).sum(axis=dropped).reshape(-1, whole.shape[1])
    seen = block.counts / block.total
    value = inverse @ seen
    covariance = ((inverse * seen) @ inverse.T - np.outer(value, value)) / block.total
    alike = inverse**2 @ block.law(np.full(prod(shape), 1 / prod(shape)))
    return value, covariance, block.total / float(alike.mean() - 1 / len(value) ** 2)


def _weighted(estimates: Sequence[tuple[Array, Array, float]]) -> tuple[Array, Array]:
    """Mean of unbiased estimates by their precisions, and its covariance."""
    values, spreads, precisions = zip(*estimates, strict=True)
    shares = np.array(precisions) / sum(precisions)
    return np.tensordot(shares, np.array(values), axes=1), np.tensordot(shares**2, np.array(spreads), axes=1)
