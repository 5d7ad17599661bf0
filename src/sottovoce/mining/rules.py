"""Association rules from supports estimated from disguised data; every number with its standard error."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, Target, number, whole_number
from sottovoce.display import html_table
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.intervals import Ends, critical_value
from sottovoce.estimates.presentation import Backend, ResultTable, row_lines
from sottovoce.estimates.supports import Supports
from sottovoce.mining.itemsets.reconstruct import Items, PartCovariance, SupportTable
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.schemas.attribute import Label

Measured = tuple[Array, Array]
"""Values by rule, and gradients by rule and support: of both together, of A, of C."""
Labels = tuple[Label, ...]


def confidence(s: Array, a: Array, _c: Array) -> Measured:
    """Share of those with A that have C too: `s / a`."""
    return s / a, _gradient(1 / a, -s / a**2, 0)


def lift(s: Array, a: Array, c: Array) -> Measured:
    """How much likelier C is with A: `s / (a c)`, one if they are independent (S. Brin et al. 1997)."""
    return s / (a * c), _gradient(1 / (a * c), -s / (a**2 * c), -s / (a * c**2))


def leverage(s: Array, a: Array, c: Array) -> Measured:
    """Support beyond that of independent A and C: `s - a c` (G. Piatetsky-Shapiro 1991)."""
    return s - a * c, _gradient(1, -c, -a)


def inverse_conviction(s: Array, a: Array, c: Array) -> Measured:
    """Reciprocal of conviction, `(a - s) / (a (1 - c))`: failures of the rule relative to independent A and C.

    Conviction itself is unbounded, and noise carries it to infinity and back; this is nearly linear in the supports.
    """
    rest = a * (1 - c)
    return (a - s) / rest, _gradient(-1 / rest, s / (a * rest), (a - s) / (rest * (1 - c)))


def _gradient(*parts: Array | float) -> Array:
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


MEASURES: dict[str, Callable[[Array, Array, Array], Measured]] = {
    "antecedent support": lambda s, a, c: (a, _gradient(0 * s, 1, 0)),
    "consequent support": lambda s, a, c: (c, _gradient(0 * s, 0, 1)),
    "support": lambda s, a, c: (s, _gradient(0 * s + 1, 0, 0)),
    "confidence": confidence,
    "lift": lift,
    "leverage": leverage,
    "conviction": inverse_conviction,
}
"""By mlxtend's names, in its order; conviction by its reciprocal."""


def estimate_measure(name: str, supports: Array, covariances: Array) -> tuple[Array, Array]:
    """Return values and standard errors by the delta method: `g^T S g`, S the covariance of the three supports."""
    value, gradient = MEASURES[name](*supports.T)
    variance = np.einsum("ri,rij,rj->r", gradient, covariances, gradient)
    return np.asarray(value, float), np.sqrt(np.maximum(variance, 0))


def reciprocal(value: Array) -> Array:
    """Return reciprocals; infinite for zero and below."""
    return np.divide(1, value, out=np.full_like(value, np.inf), where=value > 0)


@dataclass(frozen=True, eq=False, repr=False)
class Rules(ResultTable):
    """Rules A -> C: `supports[rule]` of both together, of A and of C, and their covariance matrices.

    Rules are sorted by the lower end of the 95 % interval of their confidence, highest first.

    Standard errors and intervals are those of a given rule. The confidences of rules selected for high ones are too
    high on average, the more so the larger their standard error.
    """

    antecedents: tuple[Labels, ...]
    consequents: tuple[Labels, ...]
    supports: Array
    covariances: Array
    respondents: int
    min_confidence: float
    target: Target

    def value(self, measure: str) -> Array:
        """Return a measure of each rule, by mlxtend's name: support, confidence, lift, leverage, conviction ..."""
        value, _ = self._estimate(measure)
        return reciprocal(value) if measure == "conviction" else value

    def standard_error(self, measure: str) -> Array:
        """Return the standard error of a measure of each rule, by the delta method."""
        value, error = self._estimate(measure)
        if measure != "conviction":
            return error
        return np.multiply(error, reciprocal(value) ** 2, out=np.zeros_like(error), where=error > 0)

    def interval(self, measure: str, level: float = 0.95) -> Ends:
        """Return the ends of each rule's confidence interval; of conviction, from the interval of its reciprocal."""
        value, error = self._estimate(measure)
        half = critical_value(level) * error
        if measure == "conviction":
            return reciprocal(value + half), reciprocal(value - half)
        return value - half, value + half

    def columns(self, level: float = 0.95) -> dict[str, list[float]]:
        """Return all measures by mlxtend's names, then their standard errors and intervals."""
        columns = {name: self.value(name) for name in MEASURES}
        for name in MEASURES:
            low, high = self.interval(name, level)
            uncertainty = {"standard_error": self.standard_error(name), "low": low, "high": high}
            columns |= {f"{name}_{kind}": numbers for kind, numbers in uncertainty.items()}
        return {name: numbers.tolist() for name, numbers in columns.items()}

    def to_rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Return everything about each rule, as plain Python; None for infinite values."""
        columns = self.columns(level)
        sides = zip(self.antecedents, self.consequents, strict=True)
        numbers = zip(*columns.values(), strict=True)
        return [
            {"antecedents": list(antecedent), "consequents": list(consequent)}
            | {name: value if isfinite(value) else None for name, value in zip(columns, row, strict=True)}
            for (antecedent, consequent), row in zip(sides, numbers, strict=True)
        ]

    def to_json(self, level: float = 0.95) -> dict[str, Any]:
        """Return everything, for programs."""
        return {
            "respondents": self.respondents,
            "min_confidence": self.min_confidence,
            "target": self.target,
            "level": level,
            "rules": self.to_rows(level),
        }

    def to_columns(self, backend: Backend, level: float = 0.95) -> dict[str, Any]:
        """Return columns that begin with mlxtend's; sets are frozensets in pandas, else lists."""
        kind: Callable[[Labels], Any] = frozenset if backend == "pandas" else list
        sides = {"antecedents": self.antecedents, "consequents": self.consequents}
        sets = {name: [kind(labels) for labels in side] for name, side in sides.items()}
        return {**sets, **self.columns(level)}

    def __len__(self) -> int:
        """Return the number of rules."""
        return len(self.antecedents)

    @property
    def headline(self) -> str:
        """Summary in one line: reports, threshold, number of rules."""
        count = f"{len(self)} rule" + ("" if len(self) == 1 else "s")
        return f"{self.respondents} reports, min_confidence {self.min_confidence:g}, in the {self.target}: {count}"

    def to_lines(self, level: float = 0.95) -> list[str]:
        """Return a line with the confidence of each rule."""
        low, high = self.interval("confidence", level)
        numbers = zip(self.value("confidence"), self.standard_error("confidence"), low, high, strict=True)
        names = ("confidence", "standard_error", "low", "high")
        rows = [
            {"values": {"rule": arrow}, **dict(zip(names, map(float, row), strict=True))}
            for arrow, row in zip(self._arrows, numbers, strict=True)
        ]
        return row_lines(rows, "confidence") if rows else []

    def _repr_html_(self) -> str:
        low, high = self.interval("confidence")
        measures = [self.value(name) for name in ("support", "confidence", "lift")]
        numbers = (array.tolist() for array in (*measures[:2], low, high, measures[2]))
        columns = ("rule", "support", "confidence", "95 % low", "95 % high", "lift")
        return html_table(self.headline, columns, list(zip(self._arrows, *numbers, strict=True)))

    @property
    def _arrows(self) -> list[str]:
        sides = zip(self.antecedents, self.consequents, strict=True)
        return [f"{', '.join(map(str, first))} -> {', '.join(map(str, then))}" for first, then in sides]

    def _estimate(self, measure: str) -> tuple[Array, Array]:
        if measure not in MEASURES:
            raise SottovoceError("measure", f"must be one of {', '.join(MEASURES)}", measure)
        return self._estimates[measure]

    @cached_property
    def _estimates(self) -> dict[str, tuple[Array, Array]]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return {name: estimate_measure(name, self.supports, self.covariances) for name in MEASURES}


def association_rules(supports: Any, min_confidence: float = 0.8, *, longest: int = 12) -> Rules:
    """Split sets of items into rules A -> C of at least this confidence, with standard errors by the delta method.

    `confidence = support(A and C) / support(A)`; lift, leverage and conviction follow from three supports likewise,
    and their standard errors from the joint covariance of these: that of the coins for the table, of coins and
    sampling for the population, as the supports were estimated. `supports` are a result of `frequent_itemsets` or
    `modelled_itemsets`, or of `estimate_supports`, whose sets make rules if all of their parts are among them. A set of
    n items makes `2^n - 2` rules, so that sets of more than `longest` items are refused.

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
      ale -> bread    0.9079 +- 0.0146  [ 0.8792,  0.9365]
    """
    least, most = number("min_confidence", min_confidence, 0, 1), whole_number("longest", longest)
    if isinstance(supports, Itemsets):
        return _find_rules(supports, _source_of_itemsets(supports), supports.labels, least, most)
    if isinstance(supports, Supports):
        labels = tuple({label: None for items in supports.itemsets for label in items})
        return _find_rules(supports, _source_of_supports(supports, labels), labels, least, most)
    rule = "must be a result of frequent_itemsets, modelled_itemsets or estimate_supports"
    raise SottovoceError("supports", rule, Words(type(supports).__name__))


Source = tuple[SupportTable, Callable[[Items], PartCovariance], bool]
"""Supports by set, covariances of a set and its parts, and whether every part of a set must have a support."""


def _source_of_itemsets(sets: Itemsets) -> Source:
    if sets.covariances is None:
        rule = "must be of items with a coin each, or of a table; for other sets pass a result of estimate_supports"
        raise SottovoceError("supports", rule, Words("sets of items that are disguised together"))
    known = {
        tuple(items): (support, error)
        for level in sets.levels
        for items, support, error in zip(
            level.items.tolist(), level.support.tolist(), level.standard_error.tolist(), strict=True
        )
    }
    covariances = sets.covariances
    return known, lambda items: covariances.of_set(items, known), True


def _source_of_supports(supports: Supports, labels: Labels) -> Source:
    index = {label: item for item, label in enumerate(labels)}
    sets = [tuple(sorted(index[label] for label in items)) for items in supports.itemsets]
    row = {items: number for number, items in enumerate(sets)}
    known = dict(zip(sets, zip(supports.value.tolist(), supports.standard_error.tolist(), strict=True), strict=True))

    def of_set(items: Items) -> PartCovariance:
        return lambda first, second: supports.covariances.block([row[items], row[first], row[second]])

    return known, of_set, False


def _find_rules(
    supports: Itemsets | Supports, source: Source, labels: tuple[Label, ...], least: float, longest: int
) -> Rules:
    """Return the rules of all sets, sorted by the lower end of the interval of their confidence."""
    known, of_set, complete = source
    rules = []
    for items in known:
        if len(items) > longest:
            raise SottovoceError("supports", f"must be of at most {longest} items each, for rules", len(items))
        splits = list(_split(items, known, least, complete=complete))
        covariance = of_set(items) if splits else None
        rules += [(items, first, then, covariance(first, then)) for first, then in splits if covariance]
    values = np.array([[known[part][0] for part in rule[:3]] for rule in rules]).reshape(-1, 3)
    covariances = np.array([rule[3] for rule in rules]).reshape(-1, 3, 3)
    order = _by_lower_end(values, covariances)
    sides = [[tuple(labels[item] for item in rules[row][side]) for row in order] for side in (1, 2)]
    numbers = values[order], covariances[order]
    return Rules(tuple(sides[0]), tuple(sides[1]), *numbers, supports.respondents, least, supports.target)


def _by_lower_end(supports: Array, covariances: Array) -> NDArray[np.intp]:
    """Sort by the lower end of the confidence's interval: the highest estimates of all are mostly noise."""
    value, error = estimate_measure("confidence", supports, covariances)
    return np.argsort(critical_value(0.95) * error - value, kind="stable")


def _split(items: Items, known: SupportTable, least: float, *, complete: bool) -> Iterator[tuple[Items, Items]]:
    """Yield antecedents and consequents of one set; if `complete`, every part of it must be known."""
    for size in range(1, len(items)):
        for first in combinations(items, size):
            then = tuple(item for item in items if item not in first)
            if first in known and then in known:
                if known[first][0] > 0 and known[items][0] >= least * known[first][0]:
                    yield first, then
            elif complete:
                rule = "must be with all of their subsets, as frequent_itemsets returns them"
                raise SottovoceError("supports", rule, Words("maximal, closed or likely sets"))
