"""Supports of item sets from disguised transactions, also from cut-and-paste reports by size."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial, reduce
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.channels.cut_and_paste import CutAndPaste
from sottovoce.checks import Array, Target, whole_number
from sottovoce.counts.counter import as_counter
from sottovoce.counts.frequencies import Frequencies
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimates.cell_tests import CellTests, IndicatorTests, JoinedTests, ScoreTests, linear_variance
from sottovoce.estimates.covariance import inverse_rows
from sottovoce.estimates.linear_tests import MOST_CHANCES, ConstrainedTests
from sottovoce.estimates.proportions import singular_channel_error
from sottovoce.estimates.supports import Items, Supports, Weigh, pooled_supports, subsets
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet

LONGEST = 12
"""Most items of a set, all of whose subsets are counted."""


def estimate_supports(
    reports: Any,
    plan: Plan,
    itemsets: Iterable[Any],
    *,
    attribute: str | None = None,
    target: Target = "population",
    frequencies: Frequencies = None,
) -> Supports:
    """Estimate the supports of item sets that a plan disguises item by item, with their covariance.

    An item with coins `P(1 | 1) = p`, `P(0 | 0) = q` contributes `q / d` where it is reported and `-(1-q) / d` where it
    is not, `d = p + q - 1`; a set contributes the product over its items. With n_J the number of reports
    that have all items of J this is

        support(I) = 1/N sum_{J in I} n_J prod_{i in I, not J} -(1-q_i) / prod_{i in I} d_i,

    for equal coins `sum_j S_j (-(1-q))^(n-j) / d^n` over the sums S_j of the counts of the subsets of j items
    (MASK: Rizvi & Haritsa 2002; EMASK: Agrawal, Krishnan & Haritsa 2004). Any other channel that has marginals, such as
    the gamma-diagonal matrix over all sets, is inverted likewise. `reports` is a disguised table, its path,
    bitsets or a counter; `frequencies` say how many equal reports each row of a table stands for. The attribute need
    not be named where only one holds sets. For the cut-and-paste operator see `estimate_supports_by_size`.

    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.emask import Emask
    >>> basket = ItemSet("basket", ["ale", "bread", "cheese"])
    >>> plan = Plan.of(Schema([basket]), {"basket": Emask(p=0.9, q=0.8)})
    >>> reports = {"basket": [["ale", "bread"]] * 40 + [["bread"]] * 30 + [["cheese"]] * 30}
    >>> print(estimate_supports(reports, plan, [["bread"], ["ale", "bread"]]))
    basket: 100 reports, supports in the population by inversion
      bread         0.7143 +- 0.0655  [ 0.5735,  0.8369]
      ale, bread    0.4490 +- 0.0717  [ 0.3081,  0.5980]
    """
    variable = item_attribute(plan, attribute)
    labels, sets = encode_itemsets(variable, itemsets)
    channel = _item_channel(plan, variable.name)
    try:
        value, covariances, counts = pooled_supports(
            [(as_counter(reports, frequencies), _weights_by_inversion(channel))],
            plan.report_schema.project([variable.name]),
            sets,
            target,
            longest=LONGEST,
        )
    except SingularChannelError as reason:
        raise singular_channel_error(reason, plan, [variable.name]) from None
    tests = _support_tests(channel, sets, value, covariances.variances, counts, target)
    return Supports(variable.name, labels, value, covariances, counts[()], target, "inversion", tests)


def _support_tests(
    channel: Channel,
    sets: Sequence[Items],
    value: Array,
    variances: Array,
    counts: Mapping[Items, int],
    target: Target,
) -> CellTests:
    """Return the tests of supports: exact ones for single items, score tests for others, by length.

    A report's mean square contribution to a set, from those who hold all its items, follows from the channel; from
    all others it is what the estimated variance leaves for them, and no less than the least that any of them has.
    """
    lengths, rows = np.array([len(items) for items in sets]), counts[()]
    parts: list[tuple[NDArray[np.intp], CellTests]] = []
    for length in np.unique(lengths).tolist():
        chosen = np.flatnonzero(lengths == length)
        some, support = [sets[int(index)] for index in chosen], value[chosen]
        if length == 1:
            channels = [channel.marginal(items) for items in some]
            inside, outside = (np.array([float(c.entry(1, truth)) for c in channels]) for truth in (1, 0))
            reported = rows * (outside + (inside - outside) * support)
            parts.append((chosen, IndicatorTests(reported, rows, inside, outside, target)))
            continue
        inside, least = np.array([_mean_squares(channel, items) for items in some]).T
        mean = variances[chosen] * rows + (support**2 if target == "population" else support)
        share = np.clip(support, 0, 1)
        outside = np.maximum((mean - inside * share) / np.maximum(1 - share, 1e-12), least)
        score = ScoreTests(support, linear_variance(inside, outside, rows, target))
        parts.append((chosen, _tests_by_pattern(channel, some, counts, target, score)))
    return parts[0][1] if len(parts) == 1 else JoinedTests(tuple(parts))


def _tests_by_pattern(
    channel: Channel, sets: Sequence[Items], counts: Mapping[Items, int], target: Target, score: ScoreTests
) -> ConstrainedTests | ScoreTests:
    """Return tests by which items of each set a report has; `score` where sets are too many or too long."""
    cells = 2 ** len(sets[0])
    if len(sets) * cells**2 > MOST_CHANCES:
        return score
    marginals = [channel.marginal(items) for items in sets]
    numbers = np.array([[counts[subset] for subset in subsets(items)] for items in sets], dtype=np.float64)
    table = numbers.reshape(-1, *[2] * len(sets[0]))
    for axis in range(1, table.ndim):
        along = np.moveaxis(table, axis, 0)
        along[0] -= along[1]  # those with an item are not without it
    return ConstrainedTests(
        np.stack([each.dense().T for each in marginals]),
        np.broadcast_to(np.arange(cells) == cells - 1, (len(sets), cells)),
        np.stack([_last_row(each).ravel() for each in marginals]),
        table.reshape(len(sets), cells),
        target,
        score,
    )


def _mean_squares(channel: Channel, items: Items) -> tuple[float, float]:
    """Return the mean square contribution to a set from those who hold all its items, and the least from others."""
    inside, least = 1.0, inf
    factors = channel.marginal(items).factors
    moments = [_last_row(factor).ravel() ** 2 @ factor.matvec(np.eye(factor.n_in)) for factor in factors]
    for index, moment in enumerate(moments):
        others = prod(float(other.min()) for other in [*moments[:index], *moments[index + 1 :]])
        inside, least = inside * float(moment[-1]), min(least, float(moment[:-1].min()) * others)
    return inside, least


def item_attribute(plan: Plan, name: str | None) -> ItemSet:
    """Return the attribute that holds sets of items: the one named, or the only one."""
    matching = [v for v in plan.schema if isinstance(v, ItemSet) and name in (None, v.name)]
    if len(matching) != 1:
        names = [v.name for v in plan.schema if isinstance(v, ItemSet)]
        raise SottovoceError("attribute", f"must name one of the attributes that hold sets of items: {names}", name)
    return matching[0]


def encode_itemsets(variable: ItemSet, itemsets: Iterable[Any]) -> tuple[tuple[tuple[Any, ...], ...], list[Items]]:
    """Return the labels and the indices of the items of each set, in the order of the universe."""
    given = list(itemsets)
    if not given:
        raise SottovoceError("itemsets", "must be at least one", given)
    bits = variable.encode(given)
    sets = [tuple(np.flatnonzero(row).tolist()) for row in np.stack(bits, axis=1)]
    for itemset, items in zip(given, sets, strict=True):
        if not 1 <= len(items) <= LONGEST:
            raise SottovoceError("itemsets", f"must have 1 to {LONGEST} items each", itemset)
    return tuple(map(tuple, variable.decode(bits))), sets


def _weights_by_inversion(channel: Channel) -> Weigh:
    """Return a function that gives the contribution of each report: the last row of the left inverse for its items."""

    def weigh(items: Items) -> Array:
        return _last_row(channel.marginal(items)) if items else np.ones(())

    if len(channel.factors) == len(channel.shape_in):
        last_row = cache(_last_row)  # items with equal coins share their channel
        return lambda items: reduce(np.multiply.outer, [last_row(channel.factors[item]) for item in items], np.ones(()))
    return weigh


def _last_row(channel: Channel) -> Array:
    return inverse_rows(channel, np.array([channel.n_in - 1])).reshape([2] * len(channel.shape_in))


def _item_channel(plan: Plan, name: str) -> Channel:
    """Return the channel of an attribute whose reports are sets of the same items as the truth."""
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
    be public, as Evfimievski et al. (2002) assume: those above the cutoff leave no trace in a report, but
    the chances of a report depend on them. For a set of k items, a matrix P of k + 1 by k + 1 relates the numbers of
    its items that are true and that are reported (Agrawal 2004, 4.12), and a report with a of them contributes
    `P^-1[k, a]`. The estimate is the mean over all reports, so sizes are weighted by their numbers of reports.
    P has at most rank cutoff + 1: supports of longer sets cannot be estimated, and are refused.

    >>> from sottovoce.schemas.item_set import ItemSet
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.cut_and_paste import CutAndPaste
    >>> basket = ItemSet("basket", ["ale", "bread", "cheese"])
    >>> plan = Plan.of(Schema([basket]), {"basket": CutAndPaste(1, 0.25)})
    >>> print(estimate_supports_by_size({1: {"basket": ["ale"] * 70 + ["bread"] * 30}}, plan, [["ale"]]))
    basket: 100 reports, supports in the population by inversion for each size
      ale    1.2000 +- 0.1222  [ 0.9086,  1.0000]
    """
    variable = item_attribute(plan, attribute)
    labels, sets = encode_itemsets(variable, itemsets)
    channel = _cut_and_paste_channel(plan, variable.name)
    for items in labels:
        if len(items) > channel.cutoff:
            rule = f"must have at most {channel.cutoff} items, the cutoff: of longer ones, counts have rank cutoff + 1"
            raise SottovoceError("itemsets", rule, list(items))
    sizes = _checked_sizes(reports, channel.items)
    schema = plan.report_schema.project([variable.name])
    parts = [
        (as_counter(table), partial(_weights_by_size, channel, size))
        for size, table in zip(sizes, reports.values(), strict=True)
    ]
    value, covariances, counts = pooled_supports(parts, schema, sets, target, longest=channel.cutoff)
    return Supports(variable.name, labels, value, covariances, counts[()], target, "inversion for each size")


def contributions_by_size(channel: CutAndPaste, sizes: Sequence[int], length: int) -> list[Array]:
    """Return, for each size, the contribution of a report with 0, 1, ... of `length` items to their support."""
    return [_by_number(channel, size, length) for size in sizes]


def _weights_by_size(channel: CutAndPaste, size: int, items: Items) -> Array:
    """Return the contribution of each report of these items, which depends on how many of them it has."""
    return np.asarray(_by_number(channel, size, len(items))[np.indices([2] * len(items)).sum(axis=0)])


@lru_cache(maxsize=1024)
def _by_number(channel: CutAndPaste, size: int, length: int) -> Array:
    """Return the last row of the inverse; zeros where no transaction of this size has so many items."""
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


def _checked_sizes(reports: Any, items: int) -> list[int]:
    if not isinstance(reports, Mapping) or not reports:
        raise SottovoceError("reports", "must be a mapping from sizes to the reports of each", type(reports))
    return [whole_number("key of reports, a size of transactions,", size, least=0, most=items) for size in reports]
