"""The best attainment of three goals, and the coins that reach it (Gembicki's method).

Privacy breach and error depend on the squared correlation c of a true and a reported bit alone. The best c is found by
bisection, for some losses rise and the error falls with it; which coins of its curve to take is the tie's to decide.
"""

from math import inf

from sottovoce.design.goals.curve import Coins, Curve, item_error
from sottovoce.design.goals.goals import Goals
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, fraction, probability

TIES = {"odds": "odds", "posterior": "worst_posterior", "density": "slowdown", "pair_error": "pair_error"}
"""What may decide among pairs of equal attainment, and the field that holds it."""

HALVINGS = 200
"""Of an interval, until floating point can halve it no further."""


def attain_goals(density: Number, transactions: float, goals: Goals, tie: str = "odds") -> Coins:
    """Coins of EMASK that minimise `max_i (f_i - F_i) / w_i` (Gembicki; Agrawal 2004, 3.3.5), ties broken as named.

    `density` is the average support s of an item, from public knowledge or a disguised sample; f2 has `N s^2` under its
    root, where eq. 3.7 prints `N s`: only so Table 3.1 comes out.

    >>> found = attain_goals(0.01, 1_000_000, Goals(breach=0.06, error=0.03, slowdown=5))
    >>> round(found.attainment, 4), round(found.breach, 3), round(found.error, 4)  # Table 3.1: .075, .0375
    (0.2507, 0.075, 0.0375)
    """
    curve = equal_optima(density, transactions, goals)
    if tie not in TIES:
        raise SottovoceError("tie", f"must be one of {', '.join(TIES)}", tie)
    return curve.best(lambda coins: float(getattr(coins, TIES[tie])))


def equal_optima(density: Number, transactions: float, goals: Goals) -> Curve:
    """All coins of the best attainment: what each costs in odds, density and pair error is the caller's to weigh.

    >>> curve = equal_optima(0.01, 1_000_000, Goals(breach=0.06, error=0.03, slowdown=5))
    >>> ends = curve.at(curve.low), curve.at(curve.high)
    >>> [round(coins.slowdown, 2) for coins in ends], [round(coins.attainment, 4) for coins in ends]
    ([0.07, 6.25], [0.2507, 0.2507])
    """
    s = float(probability("density", density))
    if not 0 < s < 1:
        raise SottovoceError("density", "must be between 0 and 1, and neither", density)
    n = float(fraction("transactions", transactions))
    if n <= 0:
        raise SottovoceError("transactions", "must be a positive number", transactions)
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
    """Least density of reports with this correlation: every reported 1 is true, q = 1."""
    return s * c / (1 - s + s * c)


def _densest(s: float, c: float) -> float:
    """Largest density: every true 1 is reported, p = 1."""
    return s / (s + (1 - s) * c)


def _losses(s: float, n: float, goals: Goals, c: float) -> tuple[float, float]:
    """The parts of the attainment that grow with the correlation, and the one that falls."""
    weights = goals.weights or goals.targets
    rising = ((s + (1 - s) * c, 0), (_sparsest(s, c) / s, 2))
    grows = max((value - goals.targets[i]) / weights[i] if weights[i] else -inf for value, i in rising)
    return grows, (item_error(s, n, c) - goals.error) / weights[1] if weights[1] else -inf


def _allowed(s: float, n: float, goals: Goals) -> tuple[float, float]:
    """Correlations that keep the hard goals."""
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
        rule = f"contradicts the other hard goals: the nearest feasible value is {item_error(s, n, high):.6g}"
        raise SottovoceError("error", rule, goals.error)
    return low, high
