"""Frequent itemsets of tables of categories: items are attribute = value, one of each attribute at the most.

Supports are cells of joint proportions, so that whatever estimates those serves: for the gamma-diagonal matrix
(DET-GD, RAN-GD) the marginal over the attributes C_s of a set keeps with the same probability, and
`support = (share of reports - (1 - keep) / n_Cs) / keep` (Agrawal 2004, 4.28); for independent columns and groups of
them it is a Kronecker product of such marginals. Where attributes are sampled, only sets that were asked together
have supports without a model (see `modelled`).
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.counts.counter import MarginCounter, as_counter
from sottovoce.estimates.asked_together import NeverAskedError, drawn_with, estimate_covered
from sottovoce.estimates.counted import categories_of
from sottovoce.estimates.covariance import Target
from sottovoce.estimates.estimate import Estimate
from sottovoce.mining.itemsets.candidates import Family, Level, Numbers, together
from sottovoce.mining.itemsets.reconstruct import Items, Known, OfParts
from sottovoce.mining.itemsets.selection import Search
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Label


class Cells:
    """Items of some attributes, numbered through; and estimates of their joint cells."""

    def __init__(self, reports: Any, plan: Plan, names: Sequence[str], target: Target) -> None:
        """Number the categories."""
        wanted = plan.schema.project(names).names
        self._plan, self._target = plan, target
        self._number(wanted, categories_of(plan, wanted))
        together = dict.fromkeys(other for name in wanted for other in drawn_with(plan, [name]))
        columns = plan.report_schema.project(plan.report_names(tuple(together)))
        self.counter = MarginCounter(as_counter(reports), columns)

    def _number(self, names: tuple[str, ...], categories: Sequence[Sequence[Label]]) -> None:
        """Number the categories through."""
        self._names = names
        self.unasked: list[list[str]] = []
        self._joint = lru_cache(maxsize=64)(self._estimate)
        self._ends = np.concatenate([[0], np.cumsum([len(labels) for labels in categories])])
        named = zip(names, categories, strict=True)
        self.labels: tuple[Label, ...] = tuple(f"{name}={label}" for name, labels in named for label in labels)

    def attributes_of(self, items: Numbers) -> Numbers:
        """Attribute of each item, by number."""
        return np.searchsorted(self._ends, items, side="right") - 1

    def estimates(self, items: Numbers) -> tuple[Array, Array]:
        """Supports and standard errors of sets; those of the same attributes are estimated together.

        Of attributes that no respondent was asked together both are not a number, so that no such set survives; they
        are kept as `unasked`.
        """
        attributes = self.attributes_of(items)
        support, error = np.full(len(items), np.nan), np.full(len(items), np.nan)
        order = np.lexsort(attributes.T)
        for own, rows in groupby(order.tolist(), key=lambda row: tuple(attributes[row].tolist())):
            chosen = np.array(list(rows))
            try:
                found = self._joint(own)
            except NeverAskedError:
                self.unasked.append(self._named(own))
                continue
            codes = items[chosen] - self._ends[list(own)]
            cells = np.ravel_multi_index(tuple(codes.T), found.shape)
            support[chosen], error[chosen] = found.value[cells], found.standard_error[cells]
        return support, error

    def of_set(self, items: Items, _known: Known, /) -> OfParts:
        """Covariances of a set and any two parts of it, for rules: sums over the joint cells of its attributes."""
        own = tuple(self.attributes_of(np.array(items)).tolist())
        found = self._joint(own)
        codes = dict(zip(items, (np.array(items) - self._ends[list(own)]).tolist(), strict=True))
        cells, matrix = np.arange(len(found.value)).reshape(found.shape), found.covariance

        def held(part: Items) -> Numbers:
            return cells[tuple(codes[i] if i in part else slice(None) for i in items)].ravel()

        def of_parts(first: Items, second: Items) -> Array:
            sums = [held(part) for part in (items, first, second)]
            return np.array([[matrix[np.ix_(left, right)].sum() for right in sums] for left in sums])

        return of_parts

    def _named(self, attributes: Sequence[int]) -> list[str]:
        return [self._names[attribute] for attribute in attributes]

    def _estimate(self, attributes: tuple[int, ...]) -> Estimate:
        return estimate_covered(self.counter, self._plan, self._named(attributes), target=self._target)


def mine_cells(cells: Cells, search: Search) -> list[Level]:
    """Survivors of each length."""
    names = np.arange(len(cells.labels))
    family, levels = Family.of_singles(len(names)), []
    while len(family) and family.length <= search.longest:
        search.told(family.length, 0, len(family))
        support, error = cells.estimates(names[family.items])
        search.told(family.length, len(family), len(family))
        kept = search.reported(support, error)
        if not kept.any():
            break
        levels.append(Level(names[family.items[kept]], support[kept], error[kept]))
        family = family.chosen(kept)
        if family.length == 1:
            names, family = names[kept], Family.of_singles(len(family))
        family = _candidates(cells, names, family)
    return levels


def _candidates(cells: Cells, names: Numbers, family: Family) -> Family:
    """Sets of one more item, each of another attribute."""
    found = together(list(family.joined()), family.length + 1)
    attributes = cells.attributes_of(names[found.items])
    return found.chosen((attributes[:, 1:] != attributes[:, :-1]).all(axis=1))
