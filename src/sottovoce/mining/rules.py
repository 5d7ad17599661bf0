"""Association rules from supports estimated from disguised data; every number with its standard error."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, groupby
from math import isfinite
from typing import Any

import numpy as np

from sottovoce.checks import Array, Target, number, one_of, whole_number
from sottovoce.display import html_table
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.cell_tests import Ends
from sottovoce.estimates.intervals import wald
from sottovoce.estimates.presentation import MOST_LINES, Backend, ResultTable
from sottovoce.estimates.supports import Supports
from sottovoce.mining.itemsets.reconstruct import Items, PartSupports, SupportTable
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.mining.itemsets.selection import Level
from sottovoce.mining.itemsets.shrinkage import possible_supports
from sottovoce.mining.picked import IntervalKind, Picked, Unresolved, checked_kind, possible_interval
from sottovoce.mining.rule_measures import (
    MEASURES,
    POSSIBLE,
    confidence_slope,
    estimate_measure,
    measure_values,
    reciprocal,
)
from sottovoce.schemas.attribute import Label

Labels = tuple[Label, ...]
Split = tuple[Items, Items, Items]
"""A set, and the antecedents and consequents that it is split into."""


@dataclass(frozen=True, eq=False, repr=False)
class Rules(ResultTable):
    """Rules A -> C: `supports[rule]` of both together, of A and of C, and their covariance matrices.

    `value` is what is shown: it follows from `shrunken`, the supports that `Itemsets` shows, so that confidences are
    from 0 to 1. `estimate` follows from `supports`, and `standard_error` is its standard error. Rules are sorted by
    `value(sort_by)`, highest first, and intervals are adjusted for having been picked out of `searched` rules
    (`picked`). With `halves`, one half of the reports (`picked_on` of them) picked and sorted the rules, and all
    numbers come from the other half.
    """

    antecedents: tuple[Labels, ...]
    consequents: tuple[Labels, ...]
    supports: Array
    covariances: Array
    respondents: int
    min_confidence: float
    target: Target
    shrunken: Array
    searched: int
    sort_by: str = "confidence"
    picked_on: int = 0

    def value(self, measure: str) -> Array:
        """Return a measure of each rule, by mlxtend's name: support, confidence, lift, leverage, conviction ...

        It follows from shrunken supports; nan where it has no meaning, as the lift of what nobody holds.
        """
        value = measure_values(_checked_measure(measure), self.shrunken)
        return reciprocal(value) if measure == "conviction" else value

    def estimate(self, measure: str) -> Array:
        """Return a measure of each rule from supports that are not shrunk; nan where a denominator is not positive."""
        value, _ = self._estimate(measure)
        return reciprocal(value) if measure == "conviction" else value

    def standard_error(self, measure: str) -> Array:
        """Return the standard error of the estimate of a measure of each rule, by the delta method."""
        value, error = self._estimate(measure)
        if measure != "conviction":
            return error
        return np.multiply(error, reciprocal(value) ** 2, out=np.zeros_like(error), where=error > 0)

    @property
    def picked(self) -> Picked:
        """How many rules were picked out of how many that were searched."""
        return Picked(len(self), self.searched, self.picked_on)

    def interval(self, measure: str, level: float = 0.95, kind: IntervalKind = "default") -> Ends:
        """Return the ends of each rule's interval; of conviction, from the interval of its reciprocal.

        By default, of all intervals of this list at least a share `level` hold on average, although its rules were
        picked: `estimate +- z standard_error` at the level of the false coverage rate (`picked`), cut to
        what is possible. "wald" is for a rule that was given in advance, and is not cut. An end may be infinite.
        """
        low, high = wald(*self._estimate(measure), self.picked.deviations(level, checked_kind(kind)))
        if kind == "default":
            ends = POSSIBLE.get(measure, (0, 1))
            low, high = possible_interval(self._estimate(measure), self.picked, level, ends, self._unresolved(measure))
            shown = measure_values(measure, self.shrunken)
            low, high = np.fmin(low, shown), np.fmax(high, shown)
        return (reciprocal(high), reciprocal(low)) if measure == "conviction" else (low, high)

    def top(self, count: int) -> "Rules":
        """Return the first so many rules; the fewer are picked, the wider are their intervals."""
        rows = slice(whole_number("count", count))
        return replace(
            self,
            antecedents=self.antecedents[rows],
            consequents=self.consequents[rows],
            supports=self.supports[rows],
            covariances=self.covariances[rows],
            shrunken=self.shrunken[rows],
        )

    def columns(self, level: float = 0.95, *, raw: bool = False) -> dict[str, list[float | None]]:
        """Return all measures by mlxtend's names, then their standard errors and intervals, and with `raw` estimates.

        None stands for what is infinite or undefined.
        """
        columns = {name: self.value(name) for name in MEASURES}
        for name in MEASURES:
            low, high = self.interval(name, level)
            uncertainty = {"estimate": self.estimate(name)} if raw else {}
            uncertainty |= {"standard_error": self.standard_error(name), "low": low, "high": high}
            columns |= {f"{name}_{kind}": numbers for kind, numbers in uncertainty.items()}
        return {
            name: [value if isfinite(value) else None for value in numbers.tolist()]
            for name, numbers in columns.items()
        }

    def to_rows(self, level: float = 0.95, *, raw: bool = False) -> list[dict[str, Any]]:
        """Return everything about each rule, as plain Python; None for what is infinite or undefined."""
        columns = self.columns(level, raw=raw)
        sides = zip(self.antecedents, self.consequents, strict=True)
        numbers = zip(*columns.values(), strict=True)
        return [
            {"antecedents": list(antecedent), "consequents": list(consequent), **dict(zip(columns, row, strict=True))}
            for (antecedent, consequent), row in zip(sides, numbers, strict=True)
        ]

    def to_json(self, level: float = 0.95, *, raw: bool = False) -> dict[str, Any]:
        """Return everything, for programs."""
        return {
            "respondents": self.respondents,
            "min_confidence": self.min_confidence,
            "target": self.target,
            "sort_by": self.sort_by,
            "level": level,
            "interval": self.picked.to_json(level),
            "rules": self.to_rows(level, raw=raw),
        }

    def to_columns(self, backend: Backend, level: float = 0.95, *, raw: bool = False) -> dict[str, Any]:
        """Return columns that begin with mlxtend's; sets are frozensets in pandas, else lists."""
        kind: Callable[[Labels], Any] = frozenset if backend == "pandas" else list
        sides = {"antecedents": self.antecedents, "consequents": self.consequents}
        sets = {name: [kind(labels) for labels in side] for name, side in sides.items()}
        return {**sets, **self.columns(level, raw=raw)}

    def __len__(self) -> int:
        """Return the number of rules."""
        return len(self.antecedents)

    @property
    def headline(self) -> str:
        """Summary in one line: reports, threshold, number of rules."""
        count = f"{len(self)} rule" + ("" if len(self) == 1 else "s")
        return f"{self.respondents} reports, min_confidence {self.min_confidence:g}, in the {self.target}: {count}"

    def to_lines(self, level: float = 0.95) -> list[str]:
        """Return a line with the measure that rules are sorted by, and its interval, for each of the first 60 rules."""
        rows = self._printed(level, self.sort_by)
        width = max((len(arrow) for arrow, *_ in rows), default=0)
        lines = [
            f"  {arrow:<{width}}  {_text(value)}  [{_text(low)}, {_text(high)}]" for arrow, value, low, high in rows
        ]
        return lines if len(self) <= MOST_LINES else [*lines, f"  ... and {len(self) - MOST_LINES} more rules"]

    @property
    def notes(self) -> list[str]:
        """Remarks about the rules that are printed: what is shown, and what their intervals are."""
        if not len(self) or not self.covariances.any():
            return []
        shown = f"Shown is the {self.sort_by} of shrunken supports; raw=True shows the unbiased estimates, too."
        return [shown, self.top(MOST_LINES).picked.note(0.95)]

    def _repr_html_(self) -> str:
        first = self.top(MOST_LINES)
        others = ["support", *(name for name in ("confidence", "lift") if name != self.sort_by)]
        columns = ("rule", self.sort_by, "95 % low", "95 % high", *others)
        measures = zip(*(first.value(name).tolist() for name in others), strict=True)
        rows = [
            tuple(cell if isinstance(cell, str) or isfinite(cell) else None for cell in (*row, *more))
            for row, more in zip(self._printed(0.95, self.sort_by), measures, strict=True)
        ]
        more = [f"{len(self) - MOST_LINES} more rules"] if len(self) > MOST_LINES else []
        return html_table(self.headline, columns, rows, [*more, *self.notes])

    def _printed(self, level: float, measure: str) -> list[tuple[str, float, float, float]]:
        """Return rule, value and interval of the first rules, with the interval of so short a list."""
        first = self.top(MOST_LINES)
        sides = zip(first.antecedents, first.consequents, strict=True)
        arrows = [f"{', '.join(map(str, one))} -> {', '.join(map(str, then))}" for one, then in sides]
        numbers = (each.tolist() for each in (first.value(measure), *first.interval(measure, level)))
        return list(zip(arrows, *numbers, strict=True))

    def _unresolved(self, measure: str) -> Unresolved:
        """Return half-widths for rules that never fail, or never hold, among those with the antecedents."""
        _, a, c = self.shrunken.T
        scale, reports = confidence_slope(measure, a, c), np.full(len(self), self.respondents)
        known = np.isfinite(scale)
        reports = np.where(known, reports * a, reports)
        return Unresolved(reports, np.where(known, scale, 1.0), exact=self.target == "table")

    def _estimate(self, measure: str) -> tuple[Array, Array]:
        return self._estimates[_checked_measure(measure)]

    @cached_property
    def _estimates(self) -> dict[str, tuple[Array, Array]]:
        return {name: estimate_measure(name, self.supports, self.covariances) for name in MEASURES}


def _checked_measure(measure: str) -> str:
    return one_of("measure", measure, tuple(MEASURES))


def _text(value: float) -> str:
    return f"{value:.4f}" if isfinite(value) else "-"


def association_rules(
    supports: Any,
    min_confidence: float = 0.8,
    *,
    sort_by: str = "confidence",
    top: int | None = None,
    longest: int = 12,
) -> Rules:
    """Split sets of items into rules A -> C of at least this confidence, with standard errors by the delta method.

    `confidence = support(A and C) / support(A)`; lift, leverage and conviction follow from three supports likewise,
    and their standard errors from the joint covariance of these: that of the coins for the table, of coins and
    sampling for the population, as the supports were estimated. Where respondents are asked some of the attributes
    only, all three estimates of a rule come from those who were asked all that it is about. `supports` are a result of
    `frequent_itemsets` or `modelled_itemsets`, or of `estimate_supports`, whose sets make rules if all of their parts
    are among them. A set of n items makes `2^n - 2` rules, so that sets of more than `longest` items are refused.

    What is shown, compared with `min_confidence` and sorted (`sort_by` any measure, highest first) follows from
    shrunken supports, so that a list does not begin with the noisiest rules; `top` keeps the first so many. Intervals
    hold for a list that was picked out of all rules that were searched: `2^n - 2` for each candidate of n items
    that was estimated, frequent or not. Of sets found with `halves`, the half that picked them picks the rules, too.

    >>> from sottovoce.mining.itemsets.frequent import frequent_itemsets
    >>> from sottovoce.plans.plan import Plan
    >>> from sottovoce.schemas.item_set import ItemSet
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.emask import Emask
    >>> plan = Plan.of(Schema([ItemSet("basket", ["ale", "bread", "cheese"])]), {"basket": Emask(p=0.95, q=0.95)})
    >>> reports = [["ale", "bread"]] * 390 + [["ale"]] * 70 + [["bread"]] * 300 + [["cheese"]] * 240
    >>> sets = frequent_itemsets(reports, plan, min_support=0.3, target="table")
    >>> print(association_rules(sets, min_confidence=0.6))
    1000 reports, min_confidence 0.6, in the table: 1 rule
      ale -> bread  0.9079  [0.8750, 0.9407]
      Shown is the confidence of shrunken supports; raw=True shows the unbiased estimates, too.
      Each interval is at 97.5 %, so that 95 % of a list of 1 picked out of 2 hold (false coverage rate).
    """
    wanted = Wanted(
        number("min_confidence", min_confidence, 0, 1),
        one_of("sort_by", sort_by, tuple(MEASURES)),
        None if top is None else whole_number("top", top),
        whole_number("longest", longest),
    )
    if isinstance(supports, Itemsets):
        return _rules_of_itemsets(supports, wanted)
    if isinstance(supports, Supports):
        labels = tuple({label: None for items in supports.itemsets for label in items})
        return _find_rules(supports, _source_of_supports(supports, labels), labels, wanted)
    rule = "must be a result of frequent_itemsets, modelled_itemsets or estimate_supports"
    raise SottovoceError("supports", rule, Words(type(supports).__name__))


@dataclass(frozen=True)
class Wanted:
    """Which rules are wanted, and in which order."""

    min_confidence: float
    sort_by: str
    top: int | None
    longest: int


def _rules_of_itemsets(sets: Itemsets, wanted: Wanted) -> Rules:
    """Return the rules of mined sets; if one half of the reports picked the sets, it picks the rules as well."""
    source = _source_of_itemsets(sets)
    if sets.picks is None:
        found = _find_rules(sets, source, sets.labels, wanted)
        searched = sum(count * (2**length - 2) for length, count in sets.searched.items())
        return replace(found, searched=max(searched, found.searched))
    picked = _rules_of_itemsets(sets.picks, wanted)
    index = {label: item for item, label in enumerate(sets.labels)}
    sides = zip(picked.antecedents, picked.consequents, strict=True)
    splits = [tuple(tuple(index[label] for label in side) for side in rule) for rule in sides]
    rules = [(tuple(sorted(one + then)), one, then) for one, then in splits]
    found = _estimated_rules(sets, source, sets.labels, rules, wanted)
    return replace(found, searched=picked.searched, picked_on=sets.picks.respondents)


@dataclass(frozen=True, eq=False)
class Source:
    """Supports and standard errors by set, shrunken supports, and covariances of a set and its parts.

    If `complete`, every part of a set must have a support.
    """

    known: SupportTable
    shrunken: Mapping[Items, float]
    of_set: Callable[[Items], PartSupports]
    complete: bool


def _source_of_itemsets(sets: Itemsets) -> Source:
    if sets.covariances is None:
        rule = "must be of items with a coin each, or of a table; for other sets pass a result of estimate_supports"
        raise SottovoceError("supports", rule, Words("sets of items that are disguised together"))
    indices = [tuple(items) for level in sets.levels for items in level.items.tolist()]
    known = dict(zip(indices, zip(sets.estimate.tolist(), sets.standard_error.tolist(), strict=True), strict=True))
    shrunken = dict(zip(indices, sets.support.tolist(), strict=True))
    covariances = sets.covariances
    return Source(known, shrunken, lambda items: covariances.of_set(items, known), complete=True)


def _source_of_supports(supports: Supports, labels: Labels) -> Source:
    index = {label: item for item, label in enumerate(labels)}
    sets = [tuple(sorted(index[label] for label in items)) for items in supports.itemsets]
    row = {items: number for number, items in enumerate(sets)}
    known = dict(zip(sets, zip(supports.value.tolist(), supports.standard_error.tolist(), strict=True), strict=True))

    def of_set(items: Items) -> PartSupports:
        def of_parts(first: Items, second: Items) -> tuple[Array, Array]:
            rows = [row[items], row[first], row[second]]
            return supports.value[rows], supports.covariances.block(rows)

        return of_parts

    return Source(known, _shrunken(known), of_set, complete=False)


def _shrunken(known: SupportTable) -> dict[Items, float]:
    """Return shrunken supports of sets that somebody asked about, of any lengths."""
    sets = sorted(known, key=len)
    levels = [
        Level(np.array(same), *np.array([known[items] for items in same]).T)
        for same in (list(group) for _, group in groupby(sets, key=len))
    ]
    return dict(zip(sets, np.concatenate(possible_supports(levels)).tolist(), strict=True))


def _find_rules(supports: Itemsets | Supports, source: Source, labels: Labels, wanted: Wanted) -> Rules:
    """Return the rules of all sets, sorted by a measure of their shrunken supports."""
    rules, searched = [], 0
    for items in source.known:
        if len(items) > wanted.longest:
            raise SottovoceError("supports", f"must be of at most {wanted.longest} items each, for rules", len(items))
        splits = list(_split(items, source))
        searched += len(splits)
        both, least = source.shrunken[items], wanted.min_confidence
        rules += [(items, one, then) for one, then in splits if both >= least * source.shrunken[one]]
    shown = np.array([[source.shrunken[part] for part in rule] for rule in rules]).reshape(-1, 3)
    value = measure_values(wanted.sort_by, shown)
    value = reciprocal(value) if wanted.sort_by == "conviction" else value
    first = [rules[row] for row in np.argsort(-value, kind="stable")[: wanted.top]]
    return replace(_estimated_rules(supports, source, labels, first, wanted), searched=searched)


def _estimated_rules(
    supports: Itemsets | Supports, source: Source, labels: Labels, rules: Sequence[Split], wanted: Wanted
) -> Rules:
    """Return these rules with their supports and covariances."""
    shrunken = np.array([[source.shrunken[part] for part in rule] for rule in rules]).reshape(-1, 3)
    values, covariances = np.zeros((len(rules), 3)), np.zeros((len(rules), 3, 3))
    position = {items: at for at, items in enumerate(source.known)}
    # Set by set in the order of the search, in which neighbours share joint estimates.
    by_set = sorted(range(len(rules)), key=lambda row: position[rules[row][0]])
    for items, rows in groupby(by_set, key=lambda row: rules[row][0]):
        of_parts = source.of_set(items)
        for row in rows:
            values[row], covariances[row] = of_parts(*rules[row][1:])
    sides = [tuple(tuple(labels[item] for item in rule[side]) for rule in rules) for side in (1, 2)]
    described = supports.respondents, wanted.min_confidence, supports.target
    return Rules(sides[0], sides[1], values, covariances, *described, shrunken, len(rules), wanted.sort_by)


def _split(items: Items, source: Source) -> Iterator[tuple[Items, Items]]:
    """Yield antecedents and consequents of one set whose confidence can be estimated."""
    for size in range(1, len(items)):
        for first in combinations(items, size):
            then = tuple(item for item in items if item not in first)
            if first in source.known and then in source.known:
                if source.known[first][0] > 0:
                    yield first, then
            elif source.complete:
                rule = "must be with all of their subsets, as frequent_itemsets returns them"
                raise SottovoceError("supports", rule, Words("maximal, closed or likely sets"))
