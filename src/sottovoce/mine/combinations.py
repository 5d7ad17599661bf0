"""Frequent combinations of categories: attribute = value, one of each attribute at the most, length by length."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.count.memory import as_counter
from sottovoce.errors import SottovoceError
from sottovoce.estimate.counted import categories_of
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.factor import margin_of
from sottovoce.estimate.modelled import estimate_joint
from sottovoce.estimate.spread import MOST_CELLS
from sottovoce.plan.plan import Plan

Axes = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Combinations:
    """Combinations of one length: items by number, supports, and standard errors.

    Items are the categories of all attributes, numbered through: those of the second begin where the first one's end.
    """

    items: NDArray[np.int64]
    support: Array
    standard_error: Array


def frequent_combinations(
    reports: Any, plan: Plan, min_support: float, *, longest: int | None = None, order: int = 3
) -> list[Combinations]:
    """Find what is frequent in a table of categories by a model of its joint cells, from reports under any plan.

    The combinations of each length whose modelled support reaches `min_support`, and all of whose parts are frequent.
    Up to 4,096 joint cells all attributes are modelled at once (`estimate_joint`). Of more, each set of attributes
    is modelled on its own cells, from what every report says of them; a set of more than 4,096 cells is left out.

    >>> from sottovoce.mine.mining_plan import mining_plan
    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> plan = mining_plan(Schema([boolean("a"), boolean("b")]), gamma=9)
    >>> found = frequent_combinations({"a": [True, False] * 50, "b": [True, False] * 50}, plan, min_support=0.3)
    >>> [level.items.tolist() for level in found]
    [[[0], [1], [2], [3]], [[0, 2], [1, 3]]]
    """
    share = checked_share(min_support)
    names = plan.schema.names
    shape = tuple(map(len, categories_of(plan, names)))
    most = len(names) if longest is None else longest
    if plan.schema.cells <= MOST_CELLS:
        return combinations_of(estimate_joint(reports, plan, order=order), share, longest=most)
    counter = as_counter(reports)

    def modelled(axes: Axes) -> Estimate | None:
        chosen = [names[a] for a in axes]
        few = plan.schema.project(chosen).cells <= MOST_CELLS
        return estimate_joint(counter, plan, chosen, order=order) if few else None

    return _levels(shape, modelled, share, most)


def combinations_of(joint: Estimate, min_support: float, *, longest: int | None = None) -> list[Combinations]:
    """Frequent combinations of an estimate's categories, from the margins of its joint cells.

    >>> from sottovoce.estimate.spread import MatrixSpread
    >>> p = np.array([0.6, 0.1, 0.2, 0.1])
    >>> joint = Estimate(("a", "b"), ((0, 1), (0, 1)), p, MatrixSpread(np.eye(4) / 100), p, 10, "table", "inversion")
    >>> [level.items.tolist() for level in combinations_of(joint, 0.25)]
    [[[0], [1], [2]], [[0, 2]]]
    """
    share = checked_share(min_support)
    most = len(joint.attributes) if longest is None else longest
    return _levels(joint.shape, lambda axes: margin_of(joint, [joint.attributes[a] for a in axes]), share, most)


def checked_share(min_support: float) -> float:
    """A support that something can reach."""
    if isinstance(min_support, bool) or not isinstance(min_support, int | float) or not 0 < min_support <= 1:
        raise SottovoceError("min_support", "must be above 0 and at most 1", min_support)
    return float(min_support)


def _levels(
    shape: Sequence[int], estimate_of: Callable[[Axes], Estimate | None], min_support: float, longest: int
) -> list[Combinations]:
    """Sets of attributes by length; a cell is a candidate where all its cells of one attribute less are frequent."""
    starts = np.concatenate([[0], np.cumsum(shape)])
    frequent: dict[Axes, NDArray[np.bool_]] = {(): np.ones((), bool)}
    found = []
    for length in range(1, longest + 1):
        levels = []
        for axes in combinations(range(len(shape)), length):
            candidates = _candidates(frequent, axes, shape)
            estimate = estimate_of(axes) if candidates.any() else None
            if estimate is not None:
                kept = candidates & (estimate.value.reshape(candidates.shape) >= min_support)
                frequent[axes] = kept
                cells = np.flatnonzero(kept)
                items = np.stack(np.unravel_index(cells, kept.shape), axis=1) + starts[list(axes)]
                levels.append(Combinations(items, estimate.value[cells], estimate.standard_error[cells]))
        if not any(len(level.items) for level in levels):
            break
        found.append(_joined(levels))
    return found


def _candidates(frequent: dict[Axes, NDArray[np.bool_]], axes: Axes, shape: Sequence[int]) -> NDArray[np.bool_]:
    candidates = np.ones([shape[a] for a in axes], bool)
    for place in range(len(axes)):
        shorter = frequent.get(axes[:place] + axes[place + 1 :])
        candidates &= False if shorter is None else np.expand_dims(shorter, place)
    return candidates


def _joined(levels: Sequence[Combinations]) -> Combinations:
    items, support, errors = zip(*((c.items, c.support, c.standard_error) for c in levels), strict=True)
    return Combinations(np.concatenate(items), np.concatenate(support), np.concatenate(errors))
