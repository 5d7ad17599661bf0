"""Supports of item sets from cut-and-paste reports, one transaction size at a time."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.channel.cut_and_paste import CutAndPaste
from sottovoce.count.memory import as_counter
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.itemsets import item_attribute, looked_up
from sottovoce.estimate.moments import Items
from sottovoce.estimate.pooled import pooled
from sottovoce.estimate.spread import Target
from sottovoce.estimate.supports import Supports
from sottovoce.plan.plan import Plan


def estimate_supports_by_size(
    reports: Mapping[int, Any],
    plan: Plan,
    itemsets: Iterable[Any],
    *,
    attribute: str | None = None,
    target: Target = "population",
) -> Supports:
    """Estimate supports under the cut-and-paste operator, from the reports of each size of true transactions.

    `reports[m]` holds the reports of the transactions of m items: a table, its path, bitsets or a counter. In a
    table of categories every record has as many items as there are attributes: one size. Otherwise sizes must
    be public, as Evfimievski et al. (2002) assume: those above the cutoff leave no trace in a report, and
    what a few items tell depends on them. For a set of k items the numbers of its items that are true and that
    are reported are related by a matrix P of k + 1 by k + 1 (Agrawal 2004, 4.12), and a report with a of them counts
    for `P^-1[k, a]`. The estimate is the mean over all reports, so that sizes are weighed by how many have them.
    P has rank cutoff + 1 at the most: supports of longer sets are lost, and refused.

    >>> from sottovoce.schema.item_set import ItemSet
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.cut_and_paste import CutAndPaste
    >>> basket = ItemSet("basket", ["ale", "bread", "cheese"])
    >>> plan = Plan.of(Schema([basket]), {"basket": CutAndPaste(1, 0.25)})
    >>> print(estimate_supports_by_size({1: {"basket": ["ale"] * 70 + ["bread"] * 30}}, plan, [["ale"]]))
    basket: 100 reports, supports in the population by inversion for each size
      ale    1.2000 +- 0.1222  [ 0.9605,  1.4395]
    """
    variable = item_attribute(plan, attribute)
    labels, sets = looked_up(variable, itemsets)
    channel = _channel(plan, variable.name)
    for items, chosen in zip(labels, sets, strict=True):
        if len(chosen) > channel.cutoff:
            rule = f"must have at most {channel.cutoff} items, the cutoff: of longer ones, counts have rank cutoff + 1"
            raise SottovoceError("itemsets", rule, list(items))
    _check_sizes(reports, channel.items)
    schema = plan.report_schema.project([variable.name])
    parts = [(as_counter(table), partial(_weights, channel, size)) for size, table in reports.items()]
    value, spread, rows = pooled(parts, schema, sets, target, longest=channel.cutoff)
    return Supports(variable.name, labels, value, spread, rows, target, "inversion for each size")


def counts_for(channel: CutAndPaste, sizes: Sequence[int], length: int) -> list[Array]:
    """What a report with 0, 1, ... of so many items counts for towards their support, for each size."""
    return [_by_number(channel, size, length) for size in sizes]


def _weights(channel: CutAndPaste, size: int, items: Items) -> Array:
    """What each report of these items counts for: by how many of them it has."""
    return np.asarray(_by_number(channel, size, len(items))[np.indices([2] * len(items)).sum(axis=0)])


@lru_cache(maxsize=1024)
def _by_number(channel: CutAndPaste, size: int, length: int) -> Array:
    """Last row of the inverse; zeros where no transaction of this size has so many items."""
    if length > size:
        return np.zeros(length + 1)
    matrix = np.array(channel.counts_matrix(size, length), dtype=np.float64)
    return np.asarray(np.linalg.solve(matrix.T, np.eye(length + 1)[length]))


def _channel(plan: Plan, name: str) -> CutAndPaste:
    group = plan.group_of(name)
    channel = group.mechanism.channel
    if not isinstance(channel, CutAndPaste) or len(group.attributes) > 1:
        rule = "must be disguised by cut_and_paste, alone in its group, for supports by size"
        raise SottovoceError(name, rule, Words(f"{group.scheme} of {', '.join(group.attributes)}"))
    return channel


def _check_sizes(reports: Any, items: int) -> None:
    if not isinstance(reports, Mapping) or not reports:
        raise SottovoceError("reports", "must be a mapping from sizes to the reports of each", type(reports))
    for size in reports:
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 0 <= size <= items:
            raise SottovoceError("reports", f"must be by sizes of transactions, 0 to {items}", size)
