"""Association rules from supports that were found in disguised data, with their uncertainty."""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.intervals import critical_value
from sottovoce.estimate.supports import Supports
from sottovoce.mine.checked import checked_share
from sottovoce.mine.covariances import Items, Known, OfParts
from sottovoce.mine.itemsets import Itemsets
from sottovoce.mine.rule_measures import valued
from sottovoce.mine.rules import Labels, Rules
from sottovoce.schema.variable import Label

LONGEST = 12
"""Items of the longest sets that are cut into rules: there are 2^n - 2 of each."""


def association_rules(supports: Any, min_confidence: float = 0.8) -> Rules:
    """Cut sets of items into rules A -> C of at least this confidence, with errors by the delta method.

    `confidence = support(A and C) / support(A)`; lift, leverage and conviction likewise follow from three supports,
    whose joint covariance gives the standard error and interval of each: that of the coins for the table, of
    coins and sampling for the population, as the supports were found. They are what `frequent_itemsets` or
    `modelled_itemsets` found, or `estimate_supports` of sets one asks about; of these, sets with all of their parts
    make rules.

    >>> from sottovoce.mine.frequent import frequent_itemsets
    >>> from sottovoce.plan.plan import Plan
    >>> from sottovoce.schema.item_set import ItemSet
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.emask import Emask
    >>> plan = Plan.of(Schema([ItemSet("basket", ["ale", "bread", "cheese"])]), {"basket": Emask(p=0.95, q=0.95)})
    >>> reports = [["ale", "bread"]] * 390 + [["ale"]] * 70 + [["bread"]] * 300 + [["cheese"]] * 240
    >>> print(association_rules(frequent_itemsets(reports, plan, min_support=0.3), min_confidence=0.6))
    1000 reports, min_confidence 0.6, in the table: 1 rule
      ale -> bread    0.9079 +- 0.0146  [ 0.8792,  0.9365]
    """
    least = checked_share("min_confidence", min_confidence)
    if isinstance(supports, Itemsets):
        return _gathered(supports, _of_itemsets(supports), supports.labels, least)
    if isinstance(supports, Supports):
        labels = tuple({label: None for items in supports.itemsets for label in items})
        return _gathered(supports, _of_supports(supports, labels), labels, least)
    rule = "must be what frequent_itemsets, modelled_itemsets or estimate_supports found"
    raise SottovoceError("supports", rule, Words(type(supports).__name__))


Source = tuple[Known, Callable[[Items], OfParts], bool]
"""Supports by set, how those of a set and its parts scatter together, and whether every part must be there."""


def _of_itemsets(found: Itemsets) -> Source:
    if found.covariances is None:
        rule = (
            "must be of items with a coin each, or of a table, for rules; of other sets pass "
            "what estimate_supports found"
        )
        raise SottovoceError("supports", rule, Words("sets of items under a coin for all of them"))
    known = {
        tuple(items): (support, error)
        for level in found.levels
        for items, support, error in zip(
            level.items.tolist(), level.support.tolist(), level.standard_error.tolist(), strict=True
        )
    }
    covariances = found.covariances
    return known, lambda items: covariances.of_set(items, known), True


def _of_supports(found: Supports, labels: Labels) -> Source:
    number = {label: place for place, label in enumerate(labels)}
    sets = [tuple(sorted(number[label] for label in items)) for items in found.itemsets]
    place = {items: row for row, items in enumerate(sets)}
    known = dict(zip(sets, zip(found.value.tolist(), found.standard_error.tolist(), strict=True), strict=True))

    def of_set(items: Items) -> OfParts:
        return lambda first, second: found.spread.covariance([place[items], place[first], place[second]])

    return known, of_set, False


def _gathered(found: Itemsets | Supports, source: Source, labels: tuple[Label, ...], least: float) -> Rules:
    """Rules of all sets, the surest first."""
    known, of_set, whole = source
    rules = []
    for items in known:
        kept = list(_parts(items, known, least, whole=whole))
        matrices = of_set(items) if kept else None
        rules += [(items, first, then, matrices(first, then)) for first, then in kept if matrices]
    supports = np.array([[known[part][0] for part in rule[:3]] for rule in rules]).reshape(-1, 3)
    covariances = np.array([rule[3] for rule in rules]).reshape(-1, 3, 3)
    order = _surest_first(supports, covariances)
    sides = [[tuple(labels[item] for item in rules[row][side]) for row in order] for side in (1, 2)]
    numbers = supports[order], covariances[order]
    return Rules(tuple(sides[0]), tuple(sides[1]), *numbers, found.respondents, least, found.target)


def _surest_first(supports: Array, covariances: Array) -> NDArray[np.intp]:
    """By the lower end of the confidence's interval: the highest confidences of all are mostly noise."""
    value, error = valued("confidence", supports, covariances)
    return np.argsort(critical_value(0.95) * error - value, kind="stable")


def _parts(items: Items, known: Known, least: float, *, whole: bool) -> Iterator[tuple[Items, Items]]:
    """Antecedents and consequents of one set; of sets that were mined every part is known."""
    if len(items) > LONGEST:
        raise SottovoceError("supports", f"must be of at most {LONGEST} items each, for rules", len(items))
    for size in range(1, len(items)):
        for first in combinations(items, size):
            then = tuple(item for item in items if item not in first)
            if first in known and then in known:
                if known[first][0] > 0 and known[items][0] >= least * known[first][0]:
                    yield first, then
            elif whole:
                rule = "must be with all of their subsets, as frequent_itemsets finds them"
                raise SottovoceError("supports", rule, Words("maximal, closed or likely sets"))
