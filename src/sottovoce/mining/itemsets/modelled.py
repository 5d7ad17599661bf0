"""Frequent itemsets by a model of joint cells, under any plan: of categories, or of patterns of items."""

from collections.abc import Sequence
from typing import Any

from sottovoce.checks import Target
from sottovoce.estimates.covariance import MOST_CELLS
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.log_linear import estimate_joint
from sottovoce.mining.itemsets.categories import CategoryItems, mine_categories
from sottovoce.mining.itemsets.frequent import (
    agreed_plan,
    attribute_names,
    checked_longest,
    checked_support,
    item_set_among,
)
from sottovoce.mining.itemsets.pattern_model import modelled_item_sets
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.mining.itemsets.selection import LengthProgress, Search
from sottovoce.mining.itemsets.tuning import DEFAULT_TUNING
from sottovoce.plans.plan import Plan

POPULATION: Target = "population"
"""What models estimate."""


class JointEstimateItems(CategoryItems):
    """Items whose supports are margins of one joint estimate."""

    def __init__(self, joint: Estimate) -> None:
        """Index the categories of the estimate."""
        self._index_categories(joint.attributes, joint.categories)
        self._whole = joint

    def _estimate_joint(self, attributes: tuple[int, ...]) -> Estimate:
        return self._whole.marginal(self._named(attributes))


class ModelledItems(CategoryItems):
    """Items whose supports come from a model of each set of attributes, on its own cells."""

    def _estimate_joint(self, attributes: tuple[int, ...]) -> Estimate:
        return estimate_joint(self.counter, self._plan, self._named(attributes))


def modelled_itemsets(
    reports: Any,
    plan: Plan | None = None,
    min_support: float = 0.01,
    *,
    attributes: str | Sequence[str] | None = None,
    longest: int | None = None,
    progress: LengthProgress | None = None,
) -> Itemsets:
    """Find frequent combinations attribute = value, or frequent sets of items, by a model of joint cells.

    Up to 4,096 joint cells, all attributes are modelled at once (`estimate_joint`); otherwise each set of attributes is
    modelled on its own cells, from all that the reports say about them: keep `longest` small enough for
    those to be at most 4,096. A model finds long combinations that no respondent was asked together, under any plan;
    `frequent_itemsets` estimates those that were asked together without a model. Supports are those of the population,
    and sets whose modelled support reaches the threshold are reported. A file that carries its plan needs no other.

    Sets of items that have a coin each, up to 14 long, are searched as by `frequent_itemsets`; those of four and more
    items are then estimated by maximum-likelihood patterns of the items around them (`pattern_model`), whose variance
    is much smaller than that of unbiased supports, at the price of a small bias. `association_rules` takes both.

    >>> from sottovoce.mining.small_set_plan import mining_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = mining_plan(Schema([boolean("a"), boolean("b")]), odds=9)
    >>> reports = {"a": [True, False] * 500, "b": [True, False] * 500}
    >>> modelled_itemsets(reports, plan, min_support=0.3).itemsets[-2:]
    (('a=False', 'b=False'), ('a=True', 'b=True'))
    """
    agreed = agreed_plan(reports, plan)
    names = agreed.schema.project(attribute_names(agreed, attributes)).names
    variable, threshold = item_set_among(agreed, names), checked_support(min_support)
    if variable is not None:
        most = checked_longest(longest, DEFAULT_TUNING.widest_window)
        search = Search(threshold, "smoothed", POPULATION, most, progress)
        return modelled_item_sets(reports, agreed, variable, search)
    if agreed.schema.project(names).cells <= MOST_CELLS:
        return itemsets_of(estimate_joint(reports, agreed, names), threshold, longest=longest, progress=progress)
    items = ModelledItems(reports, agreed, names, POPULATION)
    search = Search(threshold, "threshold", POPULATION, checked_longest(longest, len(names)), progress)
    levels = mine_categories(items, search)
    return Itemsets(items.labels, tuple(levels), items.counter.rows(), threshold, POPULATION, items)


def itemsets_of(
    joint: Estimate, min_support: float, *, longest: int | None = None, progress: LengthProgress | None = None
) -> Itemsets:
    """Return the combinations of an estimate's categories whose support, a sum of joint cells, is high enough.

    >>> import numpy as np
    >>> from sottovoce.estimates.covariance import MatrixCovariance
    >>> p = np.array([0.6, 0.1, 0.2, 0.1])
    >>> covariance = MatrixCovariance(np.eye(4) / 1e4)
    >>> joint = Estimate(("a", "b"), ((0, 1), (0, 1)), p, covariance, p, 10, "table", "inversion")
    >>> itemsets_of(joint, 0.25).itemsets
    (('a=0',), ('a=1',), ('b=0',), ('a=0', 'b=0'))
    """
    items, threshold = JointEstimateItems(joint), checked_support(min_support)
    most = checked_longest(longest, len(joint.attributes))
    levels = mine_categories(items, Search(threshold, "threshold", joint.target, most, progress))
    return Itemsets(items.labels, tuple(levels), joint.respondents, threshold, joint.target, items)
