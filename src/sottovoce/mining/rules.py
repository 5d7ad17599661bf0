"""Association rules from supports found in disguised data; every number with its standard error."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.covariance import Target
from sottovoce.estimates.intervals import Ends, critical_value
from sottovoce.estimates.presentation import Backend, new_frame, row_lines
from sottovoce.estimates.supports import Supports
from sottovoce.mining.itemsets.reconstruct import Items, Known, OfParts
from sottovoce.mining.itemsets.result import Itemsets, checked_share
from sottovoce.schemas.attribute import Label

Valued = tuple[Array, Array]
"""Values by rule, and gradients by rule and support: of both, of A, of C."""
Labels = tuple[Label, ...]
LONGEST = 12
"""Items of the longest sets that are cut into rules: there are 2^n - 2 of each."""


def confidence(s: Array, a: Array, _c: Array) -> Valued:
    """Share of those with A that have C too: `s / a`."""
    return s / a, _gradient(1 / a, -s / a**2, 0)


def lift(s: Array, a: Array, c: Array) -> Valued:
    """How much likelier C is with A: `s / (a c)`, one where they are independent (S. Brin et al. 1997)."""
    return s / (a * c), _gradient(1 / (a * c), -s / (a**2 * c), -s / (a * c**2))


def leverage(s: Array, a: Array, c: Array) -> Valued:
    """Share beyond what independent A and C would have: `s - a c` (G. Piatetsky-Shapiro 1991)."""
    return s - a * c, _gradient(1, -c, -a)


def doubt(s: Array, a: Array, c: Array) -> Valued:
    """How much rarer the rule fails than for independent A and C: `(a - s) / (a (1 - c))`, conviction's reciprocal.

    Conviction has no bound, and noise carries it to infinity and back; this is nearly a line in the supports.
    """
    rest = a * (1 - c)
    return (a - s) / rest, _gradient(-1 / rest, s / (a * rest), (a - s) / (rest * (1 - c)))


MEASURES: dict[str, Callable[[Array, Array, Array], Valued]] = {
    "antecedent support": lambda s, a, c: (a, _gradient(0 * s, 1, 0)),
    "consequent support": lambda s, a, c: (c, _gradient(0 * s, 0, 1)),
    "support": lambda s, a, c: (s, _gradient(0 * s + 1, 0, 0)),
    "confidence": confidence,
    "lift": lift,
    "leverage": leverage,
    "conviction": doubt,
}
"""By mlxtend's names, in its order; conviction by its reciprocal."""


def valued(name: str, supports: Array, covariances: Array) -> tuple[Array, Array]:
    """Values and standard errors by the delta method: `g^T S g`, S the covariance of the three supports."""
    value, gradient = MEASURES[name](*supports.T)
    variance = np.einsum("ri,rij,rj->r", gradient, covariances, gradient)
    return np.asarray(value, float), np.sqrt(np.maximum(variance, 0))


def turned(value: Array) -> Array:
    """Reciprocals; infinite where nothing, or less than nothing, is left."""
    return np.divide(1, value, out=np.full_like(value, np.inf), where=value > 0)


def _gradient(*parts: Array | float) -> Array:
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules A -> C: `supports[rule]` of both together, of A and of C, and their covariance.

    The surest come first, those whose confidence has the highest lower end of a 95 % interval.

    Standard errors and intervals are those of a rule that one asks about. Of rules picked because their confidence
    is high the confidence is too high on the average, the more so the larger its standard error.
    """

    antecedents: tuple[Labels, ...]
    consequents: tuple[Labels, ...]
    supports: Array
    covariances: Array
    respondents: int
    min_confidence: float
    target: Target

    def value(self, measure: str) -> Array:
        """A measure of each rule, by mlxtend's name: support, confidence, lift, leverage, conviction ..."""
        value, _ = self._of(measure)
        return turned(value) if measure == "conviction" else value

    def standard_error(self, measure: str) -> Array:
        """How far it scatters, by the delta method."""
        value, error = self._of(measure)
        if measure != "conviction":
            return error
        return np.multiply(error, turned(value) ** 2, out=np.zeros_like(error), where=error > 0)

    def interval(self, measure: str, level: float = 0.95) -> Ends:
        """Ends of each rule's interval; that of conviction is the one of its reciprocal, turned."""
        value, error = self._of(measure)
        half = critical_value(level) * error
        if measure == "conviction":
            return turned(value + half), turned(value - half)
        return value - half, value + half

    def columns(self, level: float = 0.95) -> dict[str, list[float]]:
        """Numbers by mlxtend's names, then their standard errors and ends."""
        found = {name: self.value(name) for name in MEASURES}
        for name in MEASURES:
            low, high = self.interval(name, level)
            own = {"standard_error": self.standard_error(name), "low": low, "high": high}
            found |= {f"{name}_{kind}": numbers for kind, numbers in own.items()}
        return {name: numbers.tolist() for name, numbers in found.items()}

    def to_rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Everything about each rule, as plain Python; None for what has no bound."""
        columns = self.columns(level)
        sides = zip(self.antecedents, self.consequents, strict=True)
        numbers = zip(*columns.values(), strict=True)
        return [
            {"antecedents": list(first), "consequents": list(then)}
            | {name: number if isfinite(number) else None for name, number in zip(columns, row, strict=True)}
            for (first, then), row in zip(sides, numbers, strict=True)
        ]

    def to_json(self, level: float = 0.95) -> dict[str, Any]:
        """Everything, for programs."""
        return {
            "respondents": self.respondents,
            "min_confidence": self.min_confidence,
            "target": self.target,
            "level": level,
            "rules": self.to_rows(level),
        }

    def to_frame(self, backend: Backend = "pandas", level: float = 0.95) -> Any:
        """Data frame that begins with mlxtend's columns; sets are lists but in pandas."""
        kind: Callable[[Labels], Any] = frozenset if backend == "pandas" else list
        sides = {"antecedents": self.antecedents, "consequents": self.consequents}
        sets = {name: [kind(labels) for labels in side] for name, side in sides.items()}
        return new_frame({**sets, **self.columns(level)}, backend)

    def __len__(self) -> int:
        """Number of rules."""
        return len(self.antecedents)

    @property
    def headline(self) -> str:
        """How many there are, of how many reports."""
        number = f"{len(self)} rule" + ("" if len(self) == 1 else "s")
        return f"{self.respondents} reports, min_confidence {self.min_confidence:g}, in the {self.target}: {number}"

    def __str__(self) -> str:
        """Readable table of confidences."""
        names = ("standard_error", "low", "high")
        rows = [
            {
                "values": {
                    "rule": f"{', '.join(map(str, row['antecedents']))} -> {', '.join(map(str, row['consequents']))}"
                }
            }
            | {"confidence": row["confidence"], **{name: row[f"confidence_{name}"] for name in names}}
            for row in self.to_rows()
        ]
        return "\n".join([self.headline, *(row_lines(rows, "confidence") if rows else [])])

    def _of(self, measure: str) -> tuple[Array, Array]:
        if measure not in MEASURES:
            raise SottovoceError("measure", f"must be one of {', '.join(MEASURES)}", measure)
        return self._valued[measure]

    @cached_property
    def _valued(self) -> dict[str, tuple[Array, Array]]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return {name: valued(name, self.supports, self.covariances) for name in MEASURES}


def association_rules(supports: Any, min_confidence: float = 0.8) -> Rules:
    """Cut sets of items into rules A -> C of at least this confidence, with errors by the delta method.

    `confidence = support(A and C) / support(A)`; lift, leverage and conviction likewise follow from three supports,
    whose joint covariance gives the standard error and interval of each: that of the coins for the table, of
    coins and sampling for the population, as the supports were found. They are what `frequent_itemsets` or
    `modelled_itemsets` found, or `estimate_supports` of sets one asks about; of these, sets with all of their parts
    make rules.

    >>> from sottovoce.mining.itemsets.frequent import frequent_itemsets
    >>> from sottovoce.plans.plan import Plan
    >>> from sottovoce.schemas.item_set import ItemSet
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.emask import Emask
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
