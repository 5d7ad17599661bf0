"""Coins of items, of which each is reported by itself."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.channel.kronecker import Kronecker
from sottovoce.errors import SottovoceError, Words
from sottovoce.mine.candidates import Numbers
from sottovoce.plan.plan import Plan
from sottovoce.schema.item_set import ItemSet


@dataclass(frozen=True, eq=False)
class Coins:
    """Channel of each item, and the probabilities that a one and a zero are reported as they are."""

    factors: tuple[Channel, ...]
    ones: Array
    zeros: Array

    @cached_property
    def channel(self) -> Channel:
        """All items side by side."""
        return Kronecker(self.factors)

    def chosen(self, items: Numbers) -> "Coins":
        """Coins of some items."""
        return Coins(tuple(self.factors[item] for item in items), self.ones[items], self.zeros[items])


def coins_of(plan: Plan, variable: ItemSet, more: str = "") -> Coins:
    """Coins of all items; refused where reports do not split into items, with `more` on what would do."""
    channel = plan.channel([variable.name])
    factors = channel.factors if isinstance(channel, Kronecker) else (channel,)
    if any(factor.shape_in != (2,) or factor.n_out != 2 for factor in factors):
        scheme = Words(plan.group_of(variable.name).scheme)
        raise SottovoceError(variable.name, f"must be disguised item by item{more}", scheme)
    ones, zeros = (np.array([float(factor.entry(bit, bit)) for factor in factors]) for bit in (1, 0))
    return Coins(factors, ones, zeros)
