"""Frequent itemsets from disguised data alone, with their uncertainty."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from numbers import Integral
from pathlib import Path
from statistics import NormalDist
from typing import Any, get_args

import numpy as np

from sottovoce.channels.channel import Array, Channel
from sottovoce.channels.cut_and_paste import CutAndPaste
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.counts.protocol import Counter
from sottovoce.counts.transactions import (
    AskedTransactions,
    HeldTransactions,
    SparseTransactions,
    StreamedTransactions,
    Transactions,
)
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimates.counted import check_number
from sottovoce.estimates.covariance import Target
from sottovoce.estimates.itemsets import counts_for, item_attribute
from sottovoce.mining.itemsets.candidates import Level
from sottovoce.mining.itemsets.categories import Cells, mine_cells
from sottovoce.mining.itemsets.reconstruct import (
    CoinCovariances,
    Covariances,
    Reconstruction,
    by_number,
    coins_of,
    equal_coins,
    own_coins,
)
from sottovoce.mining.itemsets.result import Itemsets, _is_number
from sottovoce.mining.itemsets.search import mine_levels
from sottovoce.mining.itemsets.selection import FALSE_POSITIVES, GROWING, Progress, Search
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.bitsets import Bitsets
from sottovoce.tables.plan_file import read_plan
from sottovoce.tables.source import is_table, open_source
from sottovoce.tables.sparse_rows import listed_transactions

LONGEST = 30
"""Items of the longest sets that are looked for: beyond, powers of weak coins leave double precision."""
DEVIATIONS = 2.0
"""Standard errors that a support has to be away from zero to mean anything."""


SHOWN = 3
"""Sets of attributes that a warning names."""


def checked_support(value: Any) -> float:
    """Threshold of supports.

    >>> checked_support(1)
    1.0
    """
    if not _is_number(value) or not 0 < value <= 1:
        raise SottovoceError("min_support", "must be above 0 and at most 1", value)
    return float(value)


def checked_recall(value: Any) -> float:
    """Chance of a frequent set to survive.

    >>> checked_recall(0.9)
    0.9
    """
    if not _is_number(value) or not 0.5 <= value < 1:
        raise SottovoceError("recall", "must be at least .5, the bare threshold, and below 1", value)
    return float(value)


def checked_longest(value: Any, most: int) -> int:
    """Items of the longest sets that are looked for, at the most so many; as many if nothing is asked.

    >>> checked_longest(None, 30), checked_longest(4, 30), checked_longest(40, 30)
    (30, 4, 30)
    """
    if value is None:
        return most
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise SottovoceError("longest", "must be a positive whole number, or None", value)
    return min(int(value), most)


def agreed_plan(reports: Any, plan: Plan | None) -> Plan:
    """The plan given, or the one that a file carries."""
    if isinstance(plan, Plan):
        return plan
    if plan is None and isinstance(reports, str | Path):
        return read_plan(reports)
    given = Words("none" if plan is None else type(plan).__name__)
    raise SottovoceError("plan", "must be the one that the reports were disguised under", given)


def names_of(plan: Plan, attributes: str | Sequence[str] | None) -> tuple[str, ...]:
    """Attributes that are asked for, one or several; all of the plan where none are."""
    return (
        plan.schema.names if attributes is None else (attributes,) if isinstance(attributes, str) else tuple(attributes)
    )


def items_among(plan: Plan, names: Sequence[str]) -> ItemSet | None:
    """The one attribute that holds sets, if such a one is asked for or there is no other kind."""
    sets = [name for name in names if isinstance(plan.schema[name], ItemSet)]
    if not sets:
        return None
    if len(names) > 1:
        raise SottovoceError(
            "attributes", f"must be one that holds sets ({', '.join(sets)}), or only others", list(names)
        )
    return item_attribute(plan, sets[0])


def transactions_of(reports: Any, plan: Plan, variable: ItemSet) -> Transactions:
    """Reports of any kind: a counter, bitsets, sparse rows, lists, a column of them, a matrix, a table or its path."""
    if isinstance(reports, Bitsets):
        if reports.items != len(variable.items):
            raise SottovoceError("bitsets", f"must have {len(variable.items)} items, as the plan", reports.items)
        return HeldTransactions(reports)
    if isinstance(reports, Counter):
        return AskedTransactions(reports, plan.report_schema.project([variable.name]))
    if _are_listed(reports):
        return SparseTransactions(listed_transactions(reports, variable), len(variable.items))
    return StreamedTransactions(open_source(reports), variable)


def sources_of(reports: Any, plan: Plan, variable: ItemSet) -> tuple[list[Transactions], Reconstruction]:
    """Transactions, by size where the channel needs it, and what their counts say under the plan."""
    channel = plan.channel([variable.name])
    if isinstance(channel, CutAndPaste):
        if not isinstance(reports, Mapping) or not all(isinstance(size, int) for size in reports):
            rule = "must be a mapping from sizes of transactions to the reports of each, under cut_and_paste"
            raise SottovoceError("reports", rule, Words(type(reports).__name__))
        sizes = list(reports)
        how = by_number(partial(counts_for, channel, sizes), channel.cutoff)
        return [transactions_of(reports[size], plan, variable) for size in sizes], how
    return [transactions_of(reports, plan, variable)], reconstruction_of(channel, plan, variable)


def reconstruction_of(channel: Channel, plan: Plan, variable: ItemSet) -> Reconstruction:
    """How all-ones counts of the items become supports."""
    if isinstance(channel, KeepOrUniform) and len(channel.shape_in) > 1:
        _check_told(channel.keep != 0, variable, ())
        return by_number(partial(_all_or_noise, float(channel.keep)), LONGEST)
    coins = coins_of(plan, variable, ", by cut_and_paste or gamma_diagonal")
    pairs = zip(variable.items, coins.factors, strict=True)
    silent = [item for item, factor in pairs if factor.entry(1, 1) + factor.entry(0, 0) == 1]
    _check_told(not silent, variable, silent)
    ones, zeros = coins.ones, coins.zeros
    if (ones == ones[0]).all() and (zeros == zeros[0]).all():
        return equal_coins(float(ones[0]), float(zeros[0]), LONGEST)
    return own_coins(ones, zeros, LONGEST)


def _all_or_noise(keep: float, length: int) -> Sequence[Array]:
    """What a report counts for under the gamma-diagonal matrix over all sets: all items of a set, or noise."""
    noise = (1 - keep) / 2.0**length
    function = np.full(length + 1, -noise / keep)
    function[-1] += 1 / keep
    return [function]


def _check_told(tells: bool, variable: ItemSet, silent: Sequence[Any]) -> None:  # noqa: FBT001  # what is checked
    """Refuse coins that say nothing, and say what to choose."""
    if not tells:
        which = f"{variable.name} ({', '.join(map(str, silent[:8]))})" if silent else variable.name
        rule = (
            "cannot be mined: with p + q = 1 a report is the same whether an item is there or not; "
            "choose p + q above 1, the further the more is told, such as p = .5 and q = .97"
        )
        raise SingularChannelError(which, rule, Words("p + q = 1"))


def _are_listed(reports: Any) -> bool:
    """Whether reports come one after the other, not as a table: a collection of any kind, or a matrix."""
    return not is_table(reports) and (isinstance(reports, Iterable) or hasattr(reports, "tocsr"))


class ResolutionWarning(UserWarning):
    """Reports do not tell what was asked: supports so small, sets so long, attributes that were not asked together."""


def smallest_support(level: Level, rows: int) -> float:
    """Smallest meaningful support at a length: two standard errors of its sets, and one report of all.

    The median over the lower half of the sets is taken: near the threshold, not of the few large ones.

    >>> level = Level(np.arange(4)[:, None], np.array([0.1, 0.1, 0.2, 0.3]), np.array([0.01, 0.03, 0.04, 0.05]))
    >>> smallest_support(level, rows=1000)
    0.04
    """
    lower = level.support <= np.median(level.support)
    return float(max(DEVIATIONS * np.median(level.standard_error[lower]), 1 / rows))


def warn_below(min_support: float, levels: Sequence[Level], rows: int) -> None:
    """Warn of the first length at which the threshold is below what can be resolved."""
    for length, level in enumerate(levels, start=1):
        least = smallest_support(level, rows)
        if min_support < least:
            told = (
                f"min_support {min_support:g} is below what {rows} reports can resolve at length {length}: "
                f"there, supports under {least:.2g} cannot be told from none"
            )
            warnings.warn(told, ResolutionWarning, stacklevel=3)
            return


def warn_of_length(levels: Sequence[Level], most: int, wanted: int) -> None:
    """Warn where longer sets were wanted, and could be there, than the disguise lets anyone recover."""
    if len(levels) == most < wanted and len(levels[-1].items) > most:
        told = f"of sets of more than {most} items such reports tell nothing: longer ones are not looked for"
        warnings.warn(told, ResolutionWarning, stacklevel=3)


def warn_of_unasked(sets: Sequence[Sequence[str]]) -> None:
    """Warn where nothing is known of sets that could be frequent because nobody was asked about all of their items."""
    if sets:
        shown = "; ".join([*(", ".join(names) for names in sets[:SHOWN]), *(["..."] if len(sets) > SHOWN else [])])
        told = (
            f"of attributes not asked together nothing is known without a model (modelled_itemsets, --model): {shown}"
        )
        warnings.warn(told, ResolutionWarning, stacklevel=3)


def frequent_itemsets(
    reports: Any,
    plan: Plan | None = None,
    min_support: float = 0.01,
    *,
    attributes: str | Sequence[str] | None = None,
    recall: float | None = None,
    longest: int | None = None,
    target: Target = "table",
    progress: Progress | None = None,
) -> Itemsets:
    """Find the sets of items that at least `min_support` of the transactions hold, from reports under a plan.

    Level by level, on supports reconstructed from all-ones counts (see `reconstruct`). `reports` are
    transactions of any kind that `disguise_transactions` takes or gives, a table or its path, or a counter; under
    cut_and_paste a mapping from sizes of transactions to the reports of each. A file that carries its plan needs no
    other. Of a plan without sets of items the items are attribute = value; name some `attributes` for less
    than all.

    By default sets survive that are likelier frequent than not, and the surest of the others while false ones are
    expected to be at most 8 % of the frequent ones of their length. How sure it is that a set is frequent is judged by
    its own support and, where all items have the same coin, by those of its subsets, too (`smoothing`). This
    decides what is reported; supports and standard errors stay those of a set alone, unbiased. With a `recall` a
    set survives where its own estimate is above `min_support - z se` instead, z being the normal quantile of `recall`:
    a frequent set passes its own test with at least that probability, and .5 is the bare threshold. Supports are
    those of this table, which only coins hide, or of the population it is a sample of (`target`). With p = q = 1 this
    is exact mining.

    >>> from sottovoce.schemas.item_set import ItemSet
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.emask import Emask
    >>> basket = ItemSet("basket", ["ale", "bread", "cheese"])
    >>> plan = Plan.of(Schema([basket]), {"basket": Emask(p=0.95, q=0.95)})
    >>> reports = [["ale", "bread"]] * 450 + [["bread"]] * 300 + [["cheese"]] * 250
    >>> print(frequent_itemsets(reports, plan, min_support=0.3))
    1000 reports, min_support 0.3, supports in the table: 2 of length 1, 1 of length 2
      ale           0.4444 +- 0.0077  [ 0.4291,  0.4592]
      bread         0.7778 +- 0.0077  [ 0.7626,  0.7926]
      ale, bread    0.4846 +- 0.0087  [ 0.4672,  0.5012]
      Picked supports are too high on the average; intervals are corrected, supports are not.
    """
    agreed = agreed_plan(reports, plan)
    deviations, mistaken = (GROWING, FALSE_POSITIVES) if recall is None else (_deviations(recall), None)
    most = checked_longest(longest, LONGEST)
    search = Search(checked_support(min_support), deviations, _checked(target), most, progress, mistaken)
    names = names_of(agreed, attributes)
    variable = items_among(agreed, names)
    if variable is None:
        cells = Cells(reports, agreed, names, search.target)
        levels, labels, rows = mine_cells(cells, search), cells.labels, cells.counter.rows()
        covariances: Covariances | None = cells
        warn_of_unasked(cells.unasked)
    else:
        sources, how = sources_of(reports, agreed, variable)
        levels, labels = mine_levels(sources, how, search), variable.items
        warn_of_length(levels, how.longest, search.longest)
        rows = sum(source.rows() for source in sources)
        covariances = None if how.square is None else CoinCovariances(how.square, rows, search.target)
    check_number(rows)
    warn_below(search.min_support, levels, rows)
    return Itemsets(labels, tuple(levels), rows, search.min_support, search.target, covariances)


def _deviations(recall: float) -> float:
    return NormalDist().inv_cdf(checked_recall(recall))


def _checked(target: Target) -> Target:
    if target not in get_args(Target):
        raise SottovoceError("target", f"must be one of {', '.join(get_args(Target))}", target)
    return target
