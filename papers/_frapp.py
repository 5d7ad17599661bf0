"""Shared by FRAPP's Table 4.3 and Figures 4.1 to 4.4: tables of categories, mined under each disguise of gamma = 19."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers._repeated import frequent
from sottovoce.datasets.published import Columns, census, health_stand_in
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.scheme import Scheme
from sottovoce.tables.bitsets import Csr
from sottovoce.tables.source import open_source

GAMMA, MIN_SUPPORT = 19, 0.02
CUTOFF, PASTED = 3, 0.494


@dataclass(frozen=True)
class Data:
    """A table of categories, also as transactions of attribute = value."""

    name: str
    load: Callable[[], tuple[Schema, Columns]]
    counts: tuple[int, ...]
    note: str = ""

    @cached_property
    def table(self) -> tuple[Schema, Columns]:
        """Schema and columns."""
        return self.load()

    @cached_property
    def arrow(self) -> Any:
        """Columns as Arrow holds them, which are coded many times as fast as lists."""
        import pyarrow

        return pyarrow.table({name: pyarrow.array(list(values)) for name, values in self.table[1].items()})

    @property
    def cells(self) -> int:
        """Joint cells."""
        return prod(self.table[0].sizes)

    @cached_property
    def truth(self) -> Itemsets:
        """Frequent itemsets of the original."""
        return frequent(self.transactions, self.items_under(Emask(p=1, q=1)), MIN_SUPPORT)

    @cached_property
    def transactions(self) -> Csr:
        """Numbers of each record's values, numbered through."""
        schema, columns = self.table
        codes = [np.concatenate(parts) for parts in zip(*open_source(columns).coded(schema), strict=True)]
        firsts = np.cumsum([0, *schema.sizes[:-1]])
        items = np.stack([column + first for column, first in zip(codes, firsts, strict=True)], axis=1)
        return np.arange(len(items) + 1) * items.shape[1], items.ravel().astype(np.int32)

    def items_under(self, scheme: Scheme) -> Plan:
        """Plan for the transactions."""
        return Plan.of(Schema([ItemSet("items", self.labels)]), {"items": scheme})

    @cached_property
    def labels(self) -> list[str]:
        """Items: attribute = value, as mined tables have them."""
        schema, _ = self.table
        plan = Plan.of(schema, {schema.names: GammaDiagonal(gamma=GAMMA)})
        named = zip(schema.names, plan.categories_of(schema.names), strict=True)
        return [f"{name}={label}" for name, categories in named for label in categories]

    def possible(self, found: Itemsets) -> Itemsets:
        """Sets that have no attribute twice."""
        ends = np.cumsum(self.table[0].sizes)
        return found.select([_once(np.searchsorted(ends, level.items, side="right")) for level in found.levels])


CENSUS = Data("CENSUS", census, (19, 102, 203, 165, 64, 10))
HEALTH = Data(
    "HEALTH",
    health_stand_in,
    (23, 123, 292, 361, 250, 86, 12),
    "HEALTH, the NHIS of 1993, could not be had: ours is a table of the NHIS of 2009 with as many joint cells.",
)


def _once(attributes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the attributes of a set, in ascending order, differ."""
    return np.asarray((attributes[:, 1:] != attributes[:, :-1]).all(axis=1))
