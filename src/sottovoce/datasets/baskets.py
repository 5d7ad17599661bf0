"""Transactions: clicks in two web shops, and the synthetic baskets T10.I4.D100K."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import whole_number
from sottovoce.datasets.files import FILES
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.bitsets import Csr


def bms_webview(number: int) -> tuple[ItemSet, Csr]:
    """Return clicks in a web shop (KDD Cup 2000): 59,601 sessions of 497 pages, or 77,512 of 3,340."""
    whole_number("number", number, most=2)
    return _baskets("pages", FILES[f"bms-webview-{number}"].text().replace(" -1", ""))


def t10i4d100k() -> tuple[ItemSet, Csr]:
    """Return 100,000 baskets of about ten of 870 items, made by IBM's Quest generator."""
    return _baskets("basket", FILES["t10i4d100k"].text())


def repeat_baskets(csr: Csr, times: int) -> Csr:
    """Return the baskets repeated, as the thesis of EMASK enlarges small data.

    >>> repeat_baskets((np.array([0, 2, 3]), np.array([0, 1, 1], np.int32)), 2)
    (array([0, 2, 3, 5, 6]), array([0, 1, 1, 0, 1, 1], dtype=int32))
    """
    indptr, indices = csr
    ends = [indptr[1:] + time * indptr[-1] for time in range(times)]
    return np.concatenate([indptr[:1], *ends]), np.tile(indices, times)


def chosen_items(items: ItemSet, csr: Csr, chosen: NDArray[np.bool_]) -> tuple[ItemSet, Csr]:
    """Return the chosen items, renumbered from 0, and the baskets with these items only.

    >>> chosen_items(ItemSet("basket", list("abc")), (np.array([0, 2, 3]), np.array([0, 2, 1])), np.arange(3) > 0)
    (ItemSet(name='basket', items=('b', 'c')), (array([0, 1, 2]), array([1, 0], dtype=int32)))
    """
    indptr, indices = csr
    kept = chosen[indices]
    numbers = np.cumsum(chosen, dtype=np.int32) - 1
    labels = [label for label, wanted in zip(items.items, chosen, strict=True) if wanted]
    return ItemSet(items.name, labels), (np.concatenate([[0], np.cumsum(kept)])[indptr], numbers[indices[kept]])


def _baskets(name: str, text: str) -> tuple[ItemSet, Csr]:
    """Read a basket from each line; its items, which are numbers, become indices in the sorted universe."""
    lines = [np.unique(np.array(line.split(), np.int64)) for line in text.splitlines() if line.strip()]
    universe, indices = np.unique(np.concatenate(lines), return_inverse=True)
    indptr = np.concatenate([[0], np.cumsum([len(line) for line in lines])]).astype(np.int64)
    return ItemSet(name, universe.tolist()), (indptr, indices.astype(np.int32))
