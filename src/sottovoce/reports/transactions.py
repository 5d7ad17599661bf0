"""Transactions of one set of items as sparse rows and as bitsets, and apart by the sizes of the true ones."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.counts.frequencies import as_numbers, plain_list
from sottovoce.counts.tally import Tally
from sottovoce.errors import SottovoceError, Words
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.bitsets import Bitsets, Csr
from sottovoce.tables.sink import file_sink
from sottovoce.tables.source import Source, is_table, open_source, some_rows
from sottovoce.tables.sparse_rows import column_to_csr, csr_batches, transactions_to_csr


def item_set(plan: Plan) -> ItemSet:
    """Return the one set of items that transactions are of."""
    variable = plan.schema.variables[0]
    if not isinstance(variable, ItemSet):
        raise SottovoceError("sizes", "must be left out for attributes with categories", Words(variable.name))
    return variable


def sparse_rows(transactions: Any, plan: Plan) -> Csr:
    """Return transactions as the ends of their rows and the indices of their items."""
    return transactions_to_csr(transactions, item_set(plan))


def as_bitsets(transactions: Any, plan: Plan) -> Bitsets:
    """Return transactions in the form in which sets of items are counted."""
    return Bitsets.from_csr(*sparse_rows(transactions, plan), len(item_set(plan).items))


def stacked(rows: Sequence[Csr]) -> Csr:
    """Sparse rows one after the other."""
    lengths = np.concatenate([np.diff(starts) for starts, _ in rows])
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return starts, np.concatenate([indices for _, indices in rows])


def save_transactions(transactions: Any, plan: Plan, path: str | Path, *, overwrite: bool) -> None:
    """Write disguised transactions and their plan to a file."""
    with file_sink(path, plan, overwrite=overwrite) as sink:
        sink.write_transactions(item_set(plan), sparse_rows(transactions, plan))


def bitsets_by_size(table: Any, plan: Plan, sizes: str | Sequence[int] | None) -> dict[int, Bitsets] | None:
    """Return reports as bitsets, apart for each size of the true transactions; None where sizes are not needed."""
    if sizes is not None and not isinstance(table, Tally):
        return _by_size(table, item_set(plan), sizes)
    sets = [variable.name for variable in plan.schema if isinstance(variable, ItemSet)]
    if sizes is not None or any(plan.group_of(name).scheme == "cut_and_paste" for name in sets):
        rule = "must be those of the true transactions, one for each report, which cut_and_paste needs"
        raise SottovoceError("sizes", rule, Words("a tally") if isinstance(table, Tally) else sizes)
    return None


def _by_size(table: Any, items: ItemSet, sizes: str | Sequence[int]) -> dict[int, Bitsets]:
    """Return reported transactions apart for each size of the true ones, given as a column or one for each report."""
    if is_table(table):
        rows, sizes = _rows_and_sizes(open_source(table), items, sizes)
    else:
        rows = [transactions_to_csr(table, items)]
    starts, indices = stacked(rows)
    given = None if isinstance(sizes, str) or not isinstance(sizes, Iterable) else plain_list(sizes)
    if given is None or len(given) != len(starts) - 1:
        got = sizes if given is None else Words(f"{len(given)} of them")
        raise SottovoceError("sizes", f"must be one for each of the {len(starts) - 1} reports", got)
    checked = as_numbers(given)
    wrong = np.flatnonzero(~((checked >= 0) & (checked <= len(items.items)) & (checked == np.round(checked))))
    if len(wrong):
        rule = f"must be whole numbers from 0 to {len(items.items)}, as many as there are items; row {wrong[0] + 1}"
        raise SottovoceError("sizes", rule, given[wrong[0]])
    lengths, found = np.diff(starts), {}
    for size in map(int, np.unique(checked)):
        chosen = checked == size
        ends = np.concatenate([[0], np.cumsum(lengths[chosen])])
        found[size] = Bitsets.from_csr(ends, indices[np.repeat(chosen, lengths)], len(items.items))
    return found


def _rows_and_sizes(
    source: Source, items: ItemSet, sizes: str | Sequence[int]
) -> tuple[list[Csr], str | Sequence[int]]:
    """Transactions of a table, and the sizes in one of its columns, or as they are given, in the same order."""
    if not isinstance(sizes, str):
        if not source.ordered:
            rule = "must be a column of the table, whose rows need not come in the same order twice"
            raise SottovoceError("sizes", rule, Words("a number for each row"))
        return list(csr_batches(source, items)), sizes
    if sizes not in source.names:
        raise SottovoceError("sizes", f"must be a column of the table ({', '.join(source.names)})", sizes)
    source.check_names([items.name])
    rows, found = [], []
    for batch in source.batches([items.name, sizes]):
        rows.append(column_to_csr(source, items, batch[items.name]))
        found += plain_list(batch[sizes])
    some_rows(len(rows))
    return rows, found
