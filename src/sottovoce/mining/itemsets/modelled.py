"""Frequent itemsets by a model of joint cells, under any plan: of categories, or of patterns of items."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sottovoce.estimates.covariance import MOST_CELLS
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.log_linear import estimate_joint, margin_of
from sottovoce.mining.itemsets.categories import Cells, mine_cells
from sottovoce.mining.itemsets.frequent import agreed_plan, checked_longest, checked_support, items_among, names_of
from sottovoce.mining.itemsets.pattern_model import WIDEST, likely_itemsets
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.mining.itemsets.selection import FALSE_POSITIVES, GROWING, Progress, Search
from sottovoce.plans.plan import Plan


class JointCells(Cells):
    """Supports from the margins of one joint estimate."""

    def __init__(self, joint: Estimate) -> None:
        """Number the categories of the estimate."""
        self._number(joint.attributes, joint.categories)
        self._whole = joint

    def _estimate(self, attributes: tuple[int, ...]) -> Estimate:
        return margin_of(self._whole, self._named(attributes))


class ModelledCells(Cells):
    """Supports from a model of each set of attributes, on its own cells."""

    def _estimate(self, attributes: tuple[int, ...]) -> Estimate:
        return estimate_joint(self.counter, self._plan, self._named(attributes))


def modelled_itemsets(
    reports: Any,
    plan: Plan | None = None,
    min_support: float = 0.01,
    *,
    attributes: str | Sequence[str] | None = None,
    longest: int | None = None,
    progress: Progress | None = None,
) -> Itemsets:
    """Find the combinations attribute = value, or the sets of items, that are frequent by a model of joint cells.

    Where they are at most 4,096, all attributes are modelled at once (`estimate_joint`); of more, each set of
    attributes is modelled on its own cells, from what every report says of them: keep `longest` small enough for those
    to be at most 4,096. A model finds long combinations that no respondent was asked together, under any plan; for
    supports without one, of what was asked together, see `frequent_itemsets`. Supports are those of the population. A
    file that carries its plan needs no other.

    Sets of items of which each has its own coin, up to 14 long, are found as by `frequent_itemsets`; those of four and
    more items are then judged by the most likely patterns of the items around them (`pattern_model`), which scatter
    a good deal less than unbiased supports do, but are not unbiased. Rules follow either way (`association_rules`).

    >>> from sottovoce.mining.mining_plan import mining_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = mining_plan(Schema([boolean("a"), boolean("b")]), gamma=9)
    >>> reports = {"a": [True, False] * 500, "b": [True, False] * 500}
    >>> modelled_itemsets(reports, plan, min_support=0.3).itemsets[-2:]
    (('a=False', 'b=False'), ('a=True', 'b=True'))
    """
    agreed = agreed_plan(reports, plan)
    names = agreed.schema.project(names_of(agreed, attributes)).names
    variable = items_among(agreed, names)
    if variable is not None:
        bare = _search(min_support, longest, WIDEST, progress)
        search = replace(bare, deviations=GROWING, false_positives=FALSE_POSITIVES)
        return likely_itemsets(reports, agreed, variable, search)
    if agreed.schema.project(names).cells <= MOST_CELLS:
        return itemsets_of(estimate_joint(reports, agreed, names), min_support, longest=longest, progress=progress)
    cells = ModelledCells(reports, agreed, names, "population")
    search = _search(min_support, longest, len(names), progress)
    levels = mine_cells(cells, search)
    return Itemsets(cells.labels, tuple(levels), cells.counter.rows(), search.min_support, "population", cells)


def itemsets_of(
    joint: Estimate, min_support: float, *, longest: int | None = None, progress: Progress | None = None
) -> Itemsets:
    """Combinations of an estimate's categories whose support, a sum of its joint cells, reaches the least one.

    >>> import numpy as np
    >>> from sottovoce.estimates.covariance import MatrixSpread
    >>> p = np.array([0.6, 0.1, 0.2, 0.1])
    >>> joint = Estimate(("a", "b"), ((0, 1), (0, 1)), p, MatrixSpread(np.eye(4) / 1e4), p, 10, "table", "inversion")
    >>> itemsets_of(joint, 0.25).itemsets
    (('a=0',), ('a=1',), ('b=0',), ('a=0', 'b=0'))
    """
    cells = JointCells(joint)
    search = _search(min_support, longest, len(joint.attributes), progress)
    levels = mine_cells(cells, search)
    return Itemsets(cells.labels, tuple(levels), joint.respondents, search.min_support, joint.target, cells)


def _search(min_support: float, longest: int | None, attributes: int, progress: Progress | None) -> Search:
    """The bare threshold: a shrunken estimate is as good a guess as there is."""
    return Search(checked_support(min_support), 0.0, "population", checked_longest(longest, attributes), progress)
