"""Goal attainment: the coins of EMASK that come nearest to goals for privacy, error and run time.

With s the average support and v the density of the reports, `c = s (1-s) (p+q-1)^2 / (v (1-v))` is the squared
correlation of a true and a reported bit. Privacy breach and error depend on c alone, `R1 = s + (1-s) c` and
`sqrt((1-s) (1-c) / (c N s))`. The best c is found by bisection, as the breach rises and the error falls with it. All
pairs (p, q) on its curve attain the goals equally well; they differ in density, odds and the error of larger itemsets,
and a tie-breaking rule chooses among them.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import inf, sqrt
from typing import Any

from sottovoce.checks import number, one_of
from sottovoce.designs.requirement import rounded_up
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, fraction, probability
from sottovoce.measures.itemset_error import support_error

PAIRED = 0.5
"""Assumed share, among holders of one item of a pair, of those who hold the other."""

POINTS = 400
"""Points of the curve that are compared before the best is refined."""

STEPS = 100
"""Steps of golden-section search, to the limit of floating point."""

TIES = {"odds": "odds", "posterior": "worst_posterior", "density": "slowdown", "pair_error": "pair_error"}
"""Tie-breaking rules among coins of equal attainment, and the field each minimises."""

HALVINGS = 200
"""Steps of bisection, to the limit of floating point."""


@dataclass(frozen=True)
class Goals:
    """Goals: at most this privacy breach (one minus basic privacy), relative error of a support, and slowdown.

    A weight is how much a goal may be missed by per unit of attainment; by default the goals themselves, so that all
    are missed by the same percentage. A weight of 0 makes a goal hard: it must be met.
    """

    breach: float
    error: float
    slowdown: float
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse goals that are not positive, and bad weights."""
        for name in ("breach", "error", "slowdown"):
            number(name, getattr(self, name), 0, open_ends=True)
        given = self.weights
        if given is not None and (len(given) != 3 or not all(0 <= w < inf for w in given) or not any(given)):
            raise SottovoceError("weights", "must be three numbers that are not negative, and not all 0", given)

    @property
    def targets(self) -> tuple[float, float, float]:
        """The three goals."""
        return self.breach, self.error, self.slowdown

    def attainment(self, values: tuple[float, float, float]) -> float:
        """Gembicki's g, the least with `f_i - w_i g <= F_i` for all i; infinite if a hard goal is missed."""
        weights = self.weights or self.targets
        worst = -inf
        for value, goal, weight in zip(values, self.targets, weights, strict=True):
            if weight > 0:
                worst = max(worst, (value - goal) / weight)
            elif value > goal * (1 + 1e-12):
                return inf
        return worst


@dataclass(frozen=True)
class Coins:
    """Probabilities p of keeping a 1 and q of keeping a 0, and what they attain.

    `odds` are those of one item's report, `worst_posterior` is the posterior probability of an item of average support
    that is reported, `pair_error` the relative error of the support of a pair (for the table, as `error`), half of the
    holders of either item holding both; for independent items it would depend on the correlation alone, like `error`.
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
        """All fields as JSON; infinite odds are null."""
        return {name: None if value == inf else value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Curve:
    """Pairs (p, q) with one squared correlation, parametrised by the density of reports from `low` to `high`."""

    support: float
    transactions: float
    goals: Goals
    correlation: float
    low: float
    high: float

    def at(self, density: float) -> Coins:
        """Return the coins whose reports have this density."""
        s, n = self.support, self.transactions
        slope = sqrt(self.correlation * density * (1 - density) / (s * (1 - s)))
        p, flip = _snapped(density + (1 - s) * slope), 1 - _snapped(1 - density + s * slope)  # flip is 1 - q
        values = (s + (1 - s) * self.correlation, item_error(s, n, self.correlation), density / s)
        odds = max(p / flip if flip else inf, (1 - flip) / (1 - p) if p < 1 else inf)
        shares = [1 - s * (2 - PAIRED), 2 * s * (1 - PAIRED), s * PAIRED]
        pair = float(support_error(p, 1 - flip, shares, n, "table"))
        return Coins(p, 1 - flip, self.goals.attainment(values), *values, odds, min(s * p / density, 1.0), pair)

    def points(self, count: int = POINTS) -> list[Coins]:
        """Return coins along the curve, evenly spaced in density."""
        step = (self.high - self.low) / (count - 1)
        return [self.at(self.low + k * step) for k in range(count)]

    def best(self, cost: Callable[[Coins], float]) -> Coins:
        """Return the coins of least cost: the best of evenly spaced ones, refined by golden-section search."""
        step = (self.high - self.low) / (POINTS - 1)
        index = min(range(POINTS), key=lambda k: cost(self.at(self.low + k * step)))
        low, high = (self.low + step * max(index - 1, 0), self.low + step * min(index + 1, POINTS - 1))
        golden = (sqrt(5) - 1) / 2
        for _ in range(STEPS):
            left, right = high - golden * (high - low), low + golden * (high - low)
            low, high = (low, right) if cost(self.at(left)) <= cost(self.at(right)) else (left, high)
        return min((self.at(low), self.at(high), self.at(self.low + index * step)), key=cost)


def item_error(s: float, n: float, c: float) -> float:
    """Relative error of the support s of one item from n transactions, at the squared correlation c."""
    return sqrt((1 - s) * (1 - c) / (c * n * s))


def _snapped(keep: float) -> float:
    """Return a probability, or 1 if it is within 1e-15 of it or above by rounding."""
    return 1.0 if keep > 1 - 1e-15 else keep


def attain_goals(density: Number, transactions: float, goals: Goals, tie: str = "odds") -> Coins:
    """Return the coins of EMASK that minimise `max_i (f_i - F_i) / w_i` (Gembicki; Agrawal 2004, 3.3.5).

    `density` is the average support s of an item, from public knowledge or a disguised sample; `tie` names the rule
    that chooses among equally good coins. The error f2 has `N s^2` under its root, where eq. 3.7 prints `N s`: only so
    Table 3.1 comes out.

    >>> coins = attain_goals(0.01, 1_000_000, Goals(breach=0.06, error=0.03, slowdown=5))
    >>> round(coins.attainment, 4), round(coins.breach, 3), round(coins.error, 4)  # Table 3.1: .075, .0375
    (0.2507, 0.075, 0.0375)
    """
    curve = equal_optima(density, transactions, goals)
    field = TIES[one_of("tie", tie, list(TIES))]
    return curve.best(lambda coins: float(getattr(coins, field)))


def equal_optima(density: Number, transactions: float, goals: Goals) -> Curve:
    """Return the curve of all coins with the best attainment, which differ in odds, density and pair error.

    >>> curve = equal_optima(0.01, 1_000_000, Goals(breach=0.06, error=0.03, slowdown=5))
    >>> ends = curve.at(curve.low), curve.at(curve.high)
    >>> [round(coins.slowdown, 2) for coins in ends], [round(coins.attainment, 4) for coins in ends]
    ([0.07, 6.25], [0.2507, 0.2507])
    """
    s = number("density", float(probability("density", density)), 0, 1, open_ends=True)
    n = number("transactions", float(fraction("transactions", transactions)), 0, open_ends=True)
    low, high = _allowed(s, n, goals)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        rising, falling = _losses(s, n, goals, middle)
        low, high = (low, middle) if rising > falling else (middle, high)
    least = max(_losses(s, n, goals, high))
    weight = (goals.weights or goals.targets)[2]
    widest = min(s * (goals.slowdown + weight * least), _densest(s, high))
    return Curve(s, n, goals, high, min(_sparsest(s, high), widest), widest)


def _sparsest(s: float, c: float) -> float:
    """Least density of reports at this correlation: every reported 1 is true, q = 1."""
    return s * c / (1 - s + s * c)


def _densest(s: float, c: float) -> float:
    """Largest density: every true 1 is reported, p = 1."""
    return s / (s + (1 - s) * c)


def _losses(s: float, n: float, goals: Goals, c: float) -> tuple[float, float]:
    """Return the largest loss that grows with the correlation, and the one that falls with it."""
    weights = goals.weights or goals.targets
    rising = ((s + (1 - s) * c, 0), (_sparsest(s, c) / s, 2))
    grows = max((value - goals.targets[i]) / weights[i] if weights[i] else -inf for value, i in rising)
    return grows, (item_error(s, n, c) - goals.error) / weights[1] if weights[1] else -inf


def _allowed(s: float, n: float, goals: Goals) -> tuple[float, float]:
    """Return the range of correlations that meet the hard goals."""
    weights = goals.weights or goals.targets
    low, high = 1e-30, 1 - 1e-12
    if weights[0] == 0:
        if goals.breach <= s:
            raise SottovoceError("breach", f"must be above the average support, {s:.6g}, to be met", goals.breach)
        high = min(high, (goals.breach - s) / (1 - s))
    if weights[2] == 0:
        room = goals.slowdown
        high = min(high, room * (1 - s) / (1 - s * room) if s * room < 1 else 1.0)
    if weights[1] == 0:
        low = max(low, (1 - s) / (1 - s + goals.error**2 * n * s))
    if low > high:
        rule = f"contradicts the other hard goals: the nearest feasible value is {rounded_up(item_error(s, n, high))}"
        raise SottovoceError("error", rule, goals.error)
    return low, high
