"""Supports of item sets from disguised transactions, by the number of reports with all items of a set."""

from collections.abc import Iterable
from functools import cache, reduce
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.channel.kronecker import Kronecker
from sottovoce.count.memory import as_counter
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimate.moments import Items, Weigh
from sottovoce.estimate.pooled import pooled
from sottovoce.estimate.singular import named_singular
from sottovoce.estimate.spread import Target, inverse_rows
from sottovoce.estimate.supports import Supports
from sottovoce.plan.plan import Plan
from sottovoce.schema.item_set import ItemSet

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

    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.emask import Emask
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
