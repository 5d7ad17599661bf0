"""Reports under a plan, apart by what each respondent was asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.channel.sampled import Sampled
from sottovoce.count.memory import as_counter
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.counted import Counted, count_reports
from sottovoce.estimate.observed import Axes, Observed, observed
from sottovoce.estimate.sets import is_large_set
from sottovoce.plan.plan import Plan

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

    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.attribute_sampling import AttributeSampling
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
    group = plan.group_of(names[0])
    drawn = isinstance(group.mechanism.channel, Sampled) and set(names) <= set(group.attributes)
    return group.attributes if drawn else tuple(names)
