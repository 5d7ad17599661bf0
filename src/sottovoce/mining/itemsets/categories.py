"""Frequent itemsets of tables of categories: items are attribute = value, at most one of each attribute.

Supports are cells of joint proportions, by whatever estimates those. Under the gamma-diagonal matrix (DET-GD, RAN-GD)
the marginal over the attributes C_s of a set keeps the truth with the same probability, and
`support = (share of reports - (1 - keep) / n_Cs) / keep` (Agrawal 2004, 4.28); under independent columns and groups of
columns it is a Kronecker product of such marginals. Under attribute sampling, only sets that were asked together have
supports without a model (see `modelled`).
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np

from sottovoce.checks import Array, Target
from sottovoce.counts.counter import MarginCounter, as_counter
from sottovoce.estimates.asked_together import estimate_asked_together, sampled_with
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.proportions import NeverAskedError
from sottovoce.mining.itemsets.reconstruct import Items, PartSupports, SupportTable
from sottovoce.mining.itemsets.selection import Candidates, Indices, Level, Search
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Label


class CategoryItems:
    """Items attribute = value of some attributes, indexed one attribute after the other, and their joint estimates."""

    def __init__(self, reports: Any, plan: Plan, names: Sequence[str], target: Target) -> None:
        """Index the categories and prepare counting."""
        wanted = plan.schema.project(names).names
        self._plan, self._target = plan, target
        self._index_categories(wanted, plan.categories_of(wanted))
        together = dict.fromkeys(other for name in wanted for other in sampled_with(plan, [name]))
        columns = plan.report_schema.project(plan.report_names(tuple(together)))
        self.counter = MarginCounter(as_counter(reports), columns)

    def _index_categories(self, names: tuple[str, ...], categories: Sequence[Sequence[Label]]) -> None:
        self._names = names
        self.not_asked_together: list[list[str]] = []
        self._joint = lru_cache(maxsize=64)(self._estimate_joint)
        self._starts = np.concatenate([[0], np.cumsum([len(labels) for labels in categories])])
        named = zip(names, categories, strict=True)
        self.labels: tuple[Label, ...] = tuple(f"{name}={label}" for name, labels in named for label in labels)

    def attributes_of(self, items: Indices) -> Indices:
        """Return the index of each item's attribute."""
        return np.searchsorted(self._starts, items, side="right") - 1

    def estimate(self, items: Indices) -> tuple[Array, Array]:
        """Return supports and standard errors of sets; those of the same attributes are estimated together.

        Both are nan for attributes that no respondent was asked together, so that no such set survives; the attributes
        are appended to `not_asked_together`.
        """
        attributes = self.attributes_of(items)
        support, error = np.full(len(items), np.nan), np.full(len(items), np.nan)
        order = np.lexsort(attributes.T)
        for indices, group in groupby(order.tolist(), key=lambda row: tuple(attributes[row].tolist())):
            rows = np.array(list(group))
            try:
                joint = self._joint(indices)
            except NeverAskedError:
                self.not_asked_together.append(self._named(indices))
                continue
            codes = items[rows] - self._starts[list(indices)]
            cells = np.ravel_multi_index(tuple(codes.T), joint.shape)
            support[rows], error[rows] = joint.value[cells], joint.standard_error[cells]
        return support, error

    def of_set(self, items: Items, _known: SupportTable, /) -> PartSupports:
        """Sum supports and covariances of a set and parts of it over the joint cells of its attributes."""
        attributes = tuple(self.attributes_of(np.array(items)).tolist())
        joint = self._joint(attributes)
        codes = dict(zip(items, (np.array(items) - self._starts[list(attributes)]).tolist(), strict=True))
        cells, matrix = np.arange(len(joint.value)).reshape(joint.shape), joint.covariance

        def cells_of(part: Items) -> Indices:
            return cells[tuple(codes[i] if i in part else slice(None) for i in items)].ravel()

        def of_parts(first: Items, second: Items) -> tuple[Array, Array]:
            summed = [cells_of(part) for part in (items, first, second)]
            support = np.array([joint.value[part].sum() for part in summed])
            return support, np.array([[matrix[np.ix_(left, right)].sum() for right in summed] for left in summed])

        return of_parts

    def _named(self, attributes: Sequence[int]) -> list[str]:
        return [self._names[attribute] for attribute in attributes]

    def _estimate_joint(self, attributes: tuple[int, ...]) -> Estimate:
        return estimate_asked_together(self.counter, self._plan, self._named(attributes), target=self._target)


def mine_categories(cells: CategoryItems, search: Search) -> list[Level]:
    """Return the reported sets of each length."""
    items = np.arange(len(cells.labels))
    candidates, levels = Candidates.single_items(len(items)), []
    search.searched.clear()
    while len(candidates) and candidates.length <= search.longest:
        search.report_progress(candidates.length, 0, len(candidates))
        support, error = cells.estimate(items[candidates.items])
        search.report_progress(candidates.length, len(candidates), len(candidates))
        search.searched[candidates.length] = int(np.isfinite(support).sum())
        kept = search.select(support, error)
        if not kept.any():
            break
        levels.append(Level(items[candidates.items[kept]], support[kept], error[kept]))
        candidates = candidates.select(kept)
        if candidates.length == 1:
            items, candidates = items[kept], Candidates.single_items(len(candidates))
        candidates = _extend(cells, items, candidates, search.tuning.candidates_at_once)
    return levels


def estimate_categories(cells: CategoryItems, levels: Sequence[Level]) -> list[Level]:
    """Estimate the sets of some levels, without selecting any."""
    return [Level(level.items, *cells.estimate(level.items)) for level in levels]


def _extend(cells: CategoryItems, items: Indices, candidates: Candidates, at_once: int) -> Candidates:
    """Return sets of one more item, all of different attributes."""
    longer = Candidates.concatenate(list(candidates.extend(at_once)), candidates.length + 1)
    attributes = cells.attributes_of(items[longer.items])
    return longer.select((attributes[:, 1:] != attributes[:, :-1]).all(axis=1))
