"""Disguise many transactions at once: market baskets as lists, sparse or dense matrices, or bitsets."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.disguises.bit_noise import disguised_bitsets
from sottovoce.disguises.records import flipped_items
from sottovoce.errors import SottovoceError, Words
from sottovoce.mechanisms.coins import Randomness, random_words
from sottovoce.mechanisms.flips import Flips
from sottovoce.plans.plan import Plan, check_plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.sparse_rows import KINDS, rows_of_transactions, transaction_kind


def disguise_transactions(
    transactions: Any, plan: Plan, rng: Randomness = None, kind: str | None = None, *, threads: int | None = None
) -> Any:
    """Disguise sets of items, and return the kind that was passed, or another `kind`.

    The kinds are `lists` of labels, one list for each transaction; `csr`, a pair of arrays (indptr, indices) with the
    items by number; `sparse`, a scipy matrix of zeros and ones; `matrix`, a boolean array of transactions x items; and
    `bitsets`, as in `tables.bitsets`. The plan must disguise one set of items with a coin for each item (MASK,
    EMASK). Pass a seed or a generator as `rng` for experiments only. Reports depend on the sets, the plan and `rng`,
    not on the kind nor on `threads` (None: one for each core); `bit_noise` says how.

    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.emask import Emask
    >>> basket = ItemSet("basket", ["ale", "bread", "cheese"])
    >>> plan = Plan.of(Schema([basket]), {"basket": Emask(p=0.9, q=0.8)})
    >>> disguise_transactions([["bread"], [], ["ale", "cheese"]], plan, rng=1)
    [['ale', 'bread'], [], ['ale', 'cheese']]
    """
    check_plan(plan)
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
        return items.decode_sparse(indptr, indices)
    return _scipy_matrix(indptr, indices, len(items.items), like=transactions if given == "sparse" else None)


def _checked_items(plan: Plan) -> tuple[ItemSet, Flips]:
    basket = flipped_items(plan)
    if basket is not None:
        return basket
    variables = plan.schema.variables
    columns = [f"{v.name} ({v.kind}, {plan.group_of(v.name).mechanism.kind})" for v in variables]
    columns += [f"{name} (public)" for name in plan.public_names]
    raise SottovoceError(
        "plan", "must disguise one set of items, by flips, and nothing else", Words(", ".join(columns))
    )


def _scipy_matrix(indptr: NDArray[np.int64], indices: NDArray[np.int32], items: int, like: Any) -> Any:
    """Return reports as a sparse matrix, of the format and number type of the truths."""
    sparse = import_module("scipy.sparse")

    kind = sparse.csr_matrix if like is not None and not isinstance(like, sparse.sparray) else sparse.csr_array
    ones = np.ones(len(indices), np.uint8 if like is None else like.dtype)
    rows = kind((ones, indices, indptr), shape=(len(indptr) - 1, items))
    return rows if like is None else rows.asformat(like.format)
