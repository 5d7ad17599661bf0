"""Reports from many transactions at once: market baskets as lists, sparse or dense matrices, or bitsets."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.disguises.bit_noise import disguised_bitsets
from sottovoce.errors import SottovoceError, Words
from sottovoce.mechanisms.coins import Randomness, random_words
from sottovoce.mechanisms.flips import Flips
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.sparse_rows import KINDS, rows_of_transactions, transaction_kind


def disguise_transactions(
    transactions: Any, plan: Plan, rng: Randomness = None, kind: str | None = None, *, threads: int | None = None
) -> Any:
    """Disguise sets of items, and give back the same kind unless another one is asked for.

    The kinds: `lists` of the labels of the items, one list a transaction; `csr`, a pair (indptr,
    indices) of arrays, with the items by number; `sparse`, a scipy matrix of zeros and ones;
    `matrix`, a boolean array of transactions x items; `bitsets`, as in `tables.bitsets`. The plan
    must disguise one set of items by a coin for each (MASK, EMASK). Pass a seed or a generator as
    `rng` for experiments only. Reports depend on the sets, the plan and `rng`, not on the kind and
    not on `threads` (None: one a core); `bit_noise` says how.

    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.emask import Emask
    >>> basket = ItemSet("basket", ["ale", "bread", "cheese"])
    >>> plan = Plan.of(Schema([basket]), {"basket": Emask(p=0.9, q=0.8)})
    >>> disguise_transactions([["bread"], [], ["ale", "cheese"]], plan, rng=1)
    [['ale', 'bread'], [], ['ale', 'cheese']]
    """
    items, flips = _checked_items(plan)
    given = transaction_kind(transactions)
    wanted = given if kind is None else kind
    if wanted not in KINDS:
        raise SottovoceError("kind", f"must be one of {', '.join(KINDS)}", kind)
    truths = rows_of_transactions(transactions, given, items, threads)
    reports = disguised_bitsets(truths, flips, random_words(rng), threads)
    if wanted == "bitsets":
        return reports
    if wanted == "matrix":
        return reports.to_matrix()
    indptr, indices = reports.to_csr(threads)
    if wanted == "csr":
        return indptr, indices
    if wanted == "lists":
        return items.labelled(indptr, indices)
    return _scipy_matrix(indptr, indices, len(items.items), like=transactions if given == "sparse" else None)


def flipped_items(plan: Plan) -> tuple[ItemSet, Flips] | None:
    """The one set of items of a plan, and the coins of its bits; None where it is anything else."""
    variables = plan.schema.variables
    mechanism = plan.groups[0].mechanism
    if len(variables) == 1 and isinstance(variables[0], ItemSet) and isinstance(mechanism, Flips):
        return variables[0], mechanism
    return None


def _checked_items(plan: Plan) -> tuple[ItemSet, Flips]:
    basket = flipped_items(plan)
    if basket is not None:
        return basket
    variables = plan.schema.variables
    found = ", ".join(f"{v.name} ({v.kind}, {plan.group_of(v.name).mechanism.kind})" for v in variables)
    raise SottovoceError("plan", "must disguise one set of items, by flips, and nothing else", Words(found))


def _scipy_matrix(indptr: NDArray[np.int64], indices: NDArray[np.int32], items: int, like: Any) -> Any:
    """Sparse matrix of the reports, of the same format and type of numbers as the truths."""
    sparse = import_module("scipy.sparse")

    kind = sparse.csr_matrix if like is not None and not isinstance(like, sparse.sparray) else sparse.csr_array
    ones = np.ones(len(indices), np.uint8 if like is None else like.dtype)
    rows = kind((ones, indices, indptr), shape=(len(indptr) - 1, items))
    return rows if like is None else rows.asformat(like.format)
