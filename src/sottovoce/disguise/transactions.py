"""Reports from many transactions at once: market baskets as lists, sparse or dense matrices, or bitsets."""

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.disguise.bit_noise import disguised_bitsets
from sottovoce.errors import SottovoceError, Words
from sottovoce.mechanism.coins import Randomness, random_words
from sottovoce.mechanism.flips import Flips
from sottovoce.plan.plan import Plan
from sottovoce.schema.item_set import ItemSet
from sottovoce.table.bitsets import Bitsets, Csr, checked_csr
from sottovoce.table.listed import in_order

KINDS = ("lists", "csr", "sparse", "matrix", "bitsets")
"""What transactions may be: see `disguise_transactions`."""


def disguise_transactions(
    transactions: Any, plan: Plan, rng: Randomness = None, kind: str | None = None, *, threads: int | None = None
) -> Any:
    """Disguise sets of items, and give back the same kind unless another one is asked for.

    The kinds: `lists` of the labels of the items, one list a transaction; `csr`, a pair (indptr,
    indices) of arrays, with the items by number; `sparse`, a scipy matrix of zeros and ones;
    `matrix`, a boolean array of transactions x items; `bitsets`, as in `table.bitsets`. The plan
    must disguise one set of items by a coin for each (MASK, EMASK). Pass a seed or a generator as
    `rng` for experiments only. Reports depend on the sets, the plan and `rng`, not on the kind and
    not on `threads` (None: one a core); `bit_noise` says how.

    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.emask import Emask
    >>> basket = ItemSet("basket", ["ale", "bread", "cheese"])
    >>> plan = Plan.of(Schema([basket]), {"basket": Emask(p=0.9, q=0.8)})
    >>> disguise_transactions([["bread"], [], ["ale", "cheese"]], plan, rng=1)
    [['ale', 'bread'], [], ['ale', 'cheese']]
    """
    items, flips = _checked_items(plan)
    given = _kind_of(transactions)
    wanted = given if kind is None else kind
    if wanted not in KINDS:
        raise SottovoceError("kind", f"must be one of {', '.join(KINDS)}", kind)
    truths = _listed(transactions, given, items, threads)
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


def listed_transactions(transactions: Any, items: ItemSet, threads: int | None = None) -> Csr:
    """Numbers of the items of each transaction, ascending, from transactions of any kind.

    >>> listed_transactions([["bread"], [], ["bread", "ale"]], ItemSet("basket", ["ale", "bread"]))
    (array([0, 1, 1, 3]), array([1, 0, 1], dtype=int32))
    """
    return _listed(transactions, _kind_of(transactions), items, threads)


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


def _kind_of(transactions: Any) -> str:
    """What the caller passed."""
    if isinstance(transactions, Bitsets):
        return "bitsets"
    if "scipy.sparse" in sys.modules and sys.modules["scipy.sparse"].issparse(transactions) and transactions.ndim == 2:
        return "sparse"
    if isinstance(transactions, np.ndarray) and transactions.ndim == 2:
        return "matrix"
    if isinstance(transactions, tuple) and [type(part) for part in transactions] == [np.ndarray] * 2:
        return "csr"
    if isinstance(transactions, Iterable) and not isinstance(transactions, str):
        return "lists"
    raise SottovoceError("transactions", f"must be one of {', '.join(KINDS)}", transactions)


def _listed(transactions: Any, kind: str, items: ItemSet, threads: int | None) -> Csr:
    """Numbers of the items of each transaction, ascending."""
    universe = len(items.items)
    if kind == "csr":
        return checked_csr(transactions[0], transactions[1], universe)
    if kind == "lists":
        return checked_csr(*in_order(*items.listed(transactions), universe), universe)
    width = transactions.items if kind == "bitsets" else transactions.shape[1]
    if width != universe:
        raise SottovoceError("transactions", f"must have a column for each of the {universe} items", width)
    if kind == "bitsets":
        listed: Csr = transactions.to_csr(threads)
        return listed
    if kind == "sparse":
        return _from_scipy(transactions)
    if transactions.dtype != bool:
        raise SottovoceError("transactions", "must be a matrix of booleans", Words(str(transactions.dtype)))
    return Bitsets.from_matrix(transactions).to_csr(threads)


def _from_scipy(matrix: Any) -> Csr:
    """Rows of a sparse matrix; zeros that are stored are not items."""
    rows = matrix.tocsr(copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    other = rows.data[rows.data != 1]
    if len(other):
        raise SottovoceError("transactions", "must be a matrix of zeros and ones", other[0])
    return checked_csr(rows.indptr, rows.indices, matrix.shape[1])


def _scipy_matrix(indptr: NDArray[np.int64], indices: NDArray[np.int32], items: int, like: Any) -> Any:
    """Sparse matrix of the reports, of the same format and type of numbers as the truths."""
    sparse = import_module("scipy.sparse")

    kind = sparse.csr_matrix if like is not None and not isinstance(like, sparse.sparray) else sparse.csr_array
    ones = np.ones(len(indices), np.uint8 if like is None else like.dtype)
    rows = kind((ones, indices, indptr), shape=(len(indptr) - 1, items))
    return rows if like is None else rows.asformat(like.format)
