"""What a miner is given, as what it asks of it: transactions to count, and how their counts become supports."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.channel.cut_and_paste import CutAndPaste
from sottovoce.channel.keep_or_uniform import KeepOrUniform
from sottovoce.count.protocol import Counter
from sottovoce.count.streamed import AskedTransactions, StreamedTransactions
from sottovoce.count.transactions import HeldTransactions, SparseTransactions, Transactions
from sottovoce.disguise.transactions import listed_transactions
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimate.cut_and_paste import counts_for
from sottovoce.estimate.itemsets import item_attribute
from sottovoce.mine.coins import coins_of
from sottovoce.mine.reconstruction import Reconstruction, by_number, equal_coins, own_coins
from sottovoce.plan.plan import Plan
from sottovoce.schema.item_set import ItemSet
from sottovoce.table.bitsets import Bitsets
from sottovoce.table.plan_file import read_plan
from sottovoce.table.source import is_table, open_source

LONGEST = 30
"""Items of the longest sets that are looked for: beyond, powers of weak coins leave double precision."""


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
