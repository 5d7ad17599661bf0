"""The thesis' data and coins: published sets repeated until they have its numbers of transactions."""

from dataclasses import dataclass

import numpy as np

from sottovoce.disguise.transactions import disguise_transactions
from sottovoce.plan.plan import Plan
from sottovoce.schema.item_set import ItemSet
from sottovoce.schema.schema import Schema
from sottovoce.scheme.emask import Emask
from sottovoce.table.bitsets import Csr
from sottovoce.table.datasets.baskets import bms_webview, repeat_baskets, t10i4d100k


@dataclass(frozen=True)
class Case:
    """Transactions as they are and disguised, and both plans."""

    name: str
    items: ItemSet
    original: Csr
    disguised: Csr
    coins: Plan
    certain: Plan


def case(name: str, repeated: int, seed: int = 1) -> Case:
    """A data set so many times over, under the coins that the thesis chose for it."""
    items, once = {"T10I4D100K": t10i4d100k, "BMS-WebView-1": _first, "BMS-WebView-2": _second}[name]()
    p, q = {"T10I4D100K": (0.5051, 0.9696), "BMS-WebView-1": (0.5673, 0.9877), "BMS-WebView-2": (0.5350, 0.9958)}[name]
    schema = Schema([items])
    coins, certain = (Plan.of(schema, {items.name: scheme}) for scheme in (Emask(p=p, q=q), Emask(p=1, q=1)))
    original = repeat_baskets(once, repeated)
    disguised = disguise_transactions(original, coins, rng=seed)
    return Case(f"{name} x{repeated}", items, original, disguised, coins, certain)


def lists(csr: Csr) -> list[list[int]]:
    """Transactions as lists, which peers take."""
    return [part.tolist() for part in np.split(csr[1], csr[0][1:-1])]


def _first() -> tuple[ItemSet, Csr]:
    return bms_webview(1)


def _second() -> tuple[ItemSet, Csr]:
    return bms_webview(2)
