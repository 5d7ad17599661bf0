"""Supports of item sets from disguised transactions, also from cut-and-paste reports by size."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial, reduce
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array, Channel
from sottovoce.channels.cut_and_paste import CutAndPaste
from sottovoce.channels.kronecker import Kronecker
from sottovoce.counts.counter import as_counter
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimates.covariance import Target, inverse_rows
from sottovoce.estimates.proportions import named_singular
from sottovoce.estimates.supports import Items, Supports, Weigh, pooled
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet

LONGEST = 12
"""Items of one set: all of its subsets are counted."""


def estimate_supports(
    reports: Any,
    plan: Plan,
    itemsets: Iterable[Any],
    *,
    attribute: str | None = None,
    target: Target = "population",
) -> Supports:
    """Estimate the supports of item sets that a plan disguises item by item, with their covariance.

    An item with coins `P(1 | 1) = p`, `P(0 | 0) = q` counts for `q / d` where it is reported and `-(1-q) / d` where it
    is not, `d = p + q - 1`; a set counts for the product over its items. With n_J the number of reports
    that have all items of J this is

        support(I) = 1/N sum_{J in I} n_J prod_{i in I, not J} -(1-q_i) / prod_{i in I} d_i,

    for equal coins `sum_j S_j (-(1-q))^(n-j) / d^n` over the sums S_j of the counts of the subsets of j items
    (MASK: Rizvi & Haritsa 2002; EMASK: Agrawal, Krishnan & Haritsa 2004). Any other channel that has marginals, such as
    the gamma-diagonal matrix over all sets, is inverted likewise. `reports` is a disguised table, its path,
    bitsets or a counter; the attribute need not be named where only one holds sets. For the
    cut-and-paste operator see `estimate_supports_by_size`.

    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.emask import Emask
    >>> basket = ItemSet("basket", ["ale", "bread", "cheese"])
    >>> plan = Plan.of(Schema([basket]), {"basket": Emask(p=0.9, q=0.8)})
    >>> reports = {"basket": [["ale", "bread"]] * 40 + [["bread"]] * 30 + [["cheese"]] * 30}
    >>> print(estimate_supports(reports, plan, [["bread"], ["ale", "bread"]]))
    basket: 100 reports, supports in the population by inversion
      bread         0.7143 +- 0.0655  [ 0.5860,  0.8426]
      ale, bread    0.4490 +- 0.0717  [ 0.3084,  0.5896]
    """
    variable = item_attribute(plan, attribute)
    labels, sets = looked_up(variable, itemsets)
    channel = _channel(plan, variable.name)
    try:
        value, spread, rows = pooled(
            [(as_counter(reports), _weigher(channel))],
            plan.report_schema.project([variable.name]),
            sets,
            target,
            longest=LONGEST,
        )
    except SingularChannelError as reason:
        raise named_singular(reason, plan, [variable.name]) from None
    return Supports(variable.name, labels, value, spread, rows, target, "inversion")


def item_attribute(plan: Plan, name: str | None) -> ItemSet:
    """Attribute that holds sets of items: the one named, or the only one."""
    found = [v for v in plan.schema if isinstance(v, ItemSet) and name in (None, v.name)]
    if len(found) != 1:
        names = [v.name for v in plan.schema if isinstance(v, ItemSet)]
        raise SottovoceError("attribute", f"must name one of the attributes that hold sets of items: {names}", name)
    return found[0]


def looked_up(variable: ItemSet, itemsets: Iterable[Any]) -> tuple[tuple[tuple[Any, ...], ...], list[Items]]:
    """Labels and numbers of the items of each set, in the order of the universe."""
    asked = list(itemsets)
    if not asked:
        raise SottovoceError("itemsets", "must be at least one", asked)
    bits = variable.encode(asked)
    sets = [tuple(np.flatnonzero(row).tolist()) for row in np.stack(bits, axis=1)]
    for given, items in zip(asked, sets, strict=True):
        if not 1 <= len(items) <= LONGEST:
            raise SottovoceError("itemsets", f"must have 1 to {LONGEST} items each", given)
    return tuple(map(tuple, variable.decode(bits))), sets


def _weigher(channel: Channel) -> Weigh:
    """Last row of the left inverse of a set's channel: what each report of its items counts for."""

    def weigh(items: Items) -> Array:
        return _last_row(channel.marginal(items)) if items else np.ones(())

    if isinstance(channel, Kronecker) and len(channel.factors) == len(channel.shape_in):
        alone = cache(_last_row)  # items with equal coins share their channel
        return lambda items: reduce(np.multiply.outer, [alone(channel.factors[item]) for item in items], np.ones(()))
    return weigh


def _last_row(channel: Channel) -> Array:
    return inverse_rows(channel, np.array([channel.n_in - 1])).reshape([2] * len(channel.shape_in))


def _channel(plan: Plan, name: str) -> Channel:
    """Channel whose reports have the items of the truth."""
    scheme = Words(plan.group_of(name).scheme)
    if scheme == "cut_and_paste":
        raise SottovoceError(name, "must be estimated by estimate_supports_by_size, for its channel has sizes", scheme)
    channel = plan.channel([name])
    if channel.shape_out != channel.shape_in or plan.report_names([name]) != (name,):
        raise SottovoceError(name, "must be reported as sets of the same items", scheme)
    return channel


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

    >>> from sottovoce.schemas.item_set import ItemSet
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.cut_and_paste import CutAndPaste
    >>> basket = ItemSet("basket", ["ale", "bread", "cheese"])
    >>> plan = Plan.of(Schema([basket]), {"basket": CutAndPaste(1, 0.25)})
    >>> print(estimate_supports_by_size({1: {"basket": ["ale"] * 70 + ["bread"] * 30}}, plan, [["ale"]]))
    basket: 100 reports, supports in the population by inversion for each size
      ale    1.2000 +- 0.1222  [ 0.9605,  1.4395]
    """
    variable = item_attribute(plan, attribute)
    labels, sets = looked_up(variable, itemsets)
    channel = _cut_and_paste_channel(plan, variable.name)
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


def _cut_and_paste_channel(plan: Plan, name: str) -> CutAndPaste:
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
