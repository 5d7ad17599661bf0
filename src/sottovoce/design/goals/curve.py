"""Coins of EMASK that attain the same: a curve of pairs (p, q) with one squared correlation.

With s the average support and v the density of the reports, `c = s (1-s) (p+q-1)^2 / (v (1-v))` is the squared
correlation of a true and a reported bit. Privacy breach and error depend on c alone, `R1 = s + (1-s) c` and
`sqrt((1-s) (1-c) / (c N s))`; along the curve only the density, the odds and the error of larger itemsets change.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import inf, sqrt
from typing import Any

from sottovoce.design.goals.goals import Goals
from sottovoce.measure.itemset_error import support_error

TOGETHER = 0.5
"""Of those who hold one item of a pair, the share that holds the other: errors of pairs are stated for that."""

POINTS = 400
"""Places of the curve that are compared before the best is refined."""

STEPS = 100
"""Of golden section: floating point can divide the interval no further."""


@dataclass(frozen=True)
class Coins:
    """Probabilities p of keeping a 1 and q of keeping a 0, and what they attain.

    `odds` are those of one item's report, `worst_posterior` what a reported 1 proves of an item of average support,
    `pair_error` the relative error of the support of a pair of which every other holder of one item holds both (for
    independent items it would depend on the correlation alone, like that of one item).
    """

    p: float
    q: float
    attainment: float
    breach: float
    error: float
    slowdown: float
    odds: float
    worst_posterior: float
    pair_error: float

    def to_json(self) -> dict[str, Any]:
        """All fields; infinite odds are null."""
        return {name: None if value == inf else value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Curve:
    """Pairs (p, q) of one squared correlation, by the density of reports from `low` to `high`."""

    support: float
    transactions: float
    goals: Goals
    correlation: float
    low: float
    high: float

    def at(self, density: float) -> Coins:
        """Coins that give reports of this density."""
        s, n = self.support, self.transactions
        slope = sqrt(self.correlation * density * (1 - density) / (s * (1 - s)))
        p, lie = _certain(density + (1 - s) * slope), 1 - _certain(1 - density + s * slope)  # lie is 1 - q
        values = (s + (1 - s) * self.correlation, item_error(s, n, self.correlation), density / s)
        odds = max(p / lie if lie else inf, (1 - lie) / (1 - p) if p < 1 else inf)
        shares = [1 - s * (2 - TOGETHER), 2 * s * (1 - TOGETHER), s * TOGETHER]
        pair = float(support_error(p, 1 - lie, shares, n))
        return Coins(p, 1 - lie, self.goals.attainment(values), *values, odds, min(s * p / density, 1.0), pair)

    def points(self, count: int = POINTS) -> list[Coins]:
        """Coins along the curve, evenly spaced in the density."""
        step = (self.high - self.low) / (count - 1)
        return [self.at(self.low + k * step) for k in range(count)]

    def best(self, cost: Callable[[Coins], float]) -> Coins:
        """Coins of least cost: the best of evenly spaced ones, refined by golden section between its neighbours."""
        step = (self.high - self.low) / (POINTS - 1)
        place = min(range(POINTS), key=lambda k: cost(self.at(self.low + k * step)))
        low, high = (self.low + step * max(place - 1, 0), self.low + step * min(place + 1, POINTS - 1))
        golden = (sqrt(5) - 1) / 2
        for _ in range(STEPS):
            left, right = high - golden * (high - low), low + golden * (high - low)
            low, high = (low, right) if cost(self.at(left)) <= cost(self.at(right)) else (left, high)
        return min((self.at(low), self.at(high), self.at(self.low + place * step)), key=cost)


def item_error(s: float, n: float, c: float) -> float:
    """Relative error of the support of one item, from its correlation."""
    return sqrt((1 - s) * (1 - c) / (c * n * s))


def _certain(keep: float) -> float:
    """Probability that rounding has carried to within 1e-15 of certainty, or beyond it, put right."""
    return 1.0 if keep > 1 - 1e-15 else keep
