"""The thesis' data and coins: published sets repeated until they have its numbers of transactions."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from sottovoce.datasets.published import bms_webview, repeat_baskets, t10i4d100k
from sottovoce.datasets.quest import quest_transactions
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.emask import Emask
from sottovoce.tables.bitsets import Csr


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
    data, (p, q) = DATA[name]
    items, once = data()
    schema = Schema([items])
    coins, certain = (Plan.of(schema, {items.name: scheme}) for scheme in (Emask(p=p, q=q), Emask(p=1, q=1)))
    original = repeat_baskets(once, repeated)
    disguised = disguise_transactions(original, coins, rng=seed)
    title = f"{name} x{repeated}" if repeated > 1 else name
    return Case(title, items, original, disguised, coins, certain)


def lists(csr: Csr) -> list[list[int]]:
    """Transactions as lists, which peers take."""
    return [part.tolist() for part in np.split(csr[1], csr[0][1:-1])]


SYNTHETIC = (0.5051, 0.9696)

DATA: dict[str, tuple[Callable[[], tuple[ItemSet, Csr]], tuple[float, float]]] = {
    "T10I4D1M": (partial(quest_transactions, 1_000_000, seed=1), SYNTHETIC),
    "T10I4D100K": (t10i4d100k, SYNTHETIC),
    "BMS-WebView-1": (partial(bms_webview, 1), (0.5673, 0.9877)),
    "BMS-WebView-2": (partial(bms_webview, 2), (0.5350, 0.9958)),
}
"""Each data set, and the (p, q) of the thesis' Table 3.1 for it."""
