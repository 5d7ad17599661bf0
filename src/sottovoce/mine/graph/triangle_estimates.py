"""Triangles with their uncertainty, and how often two ties of a node are closed by a third."""

from dataclasses import dataclass

from sottovoce.estimate.derived import CLEAR_OF_ZERO, Derived
from sottovoce.estimate.intervals import critical_value
from sottovoce.mine.graph.estimates import NodeEstimates, number


@dataclass(frozen=True)
class Triangles:
    """Triangles at each node and their number, with the number of pairs of ties that meet at a node (2-stars).

    All are products of unbiased bits, and so are the variances and the covariance, which noise may carry below
    zero; `least` and `stars_least` are what the coins alone make of them. `closed` says how many of the 2-stars that
    are counted one triangle closes.
    """

    nodes: NodeEstimates
    value: float
    variance: float
    least: float
    stars: float
    stars_variance: float
    stars_least: float
    covariance: float
    closed: int = 3

    def total(self, level: float = 0.95) -> Derived:
        """Triangles of the graph."""
        return number(self.nodes.statistic, self.value, max(self.variance, self.least), level)

    def clustering(self, level: float = 0.95) -> Derived:
        """`closed T / W`, T triangles and W 2-stars: how often two ties of a node are closed, by the delta method.

        The quotient's bias, at most `sd(W) / W` standard errors, is taken off. There is no interval, and a reason,
        where W is not clear of zero.
        """
        t, w, name, deviations = self.value, self.stars, "clustering coefficient", critical_value(level)
        deviation = max(self.stars_variance, self.stars_least) ** 0.5
        if w <= CLEAR_OF_ZERO * deviation:
            reason = "the number of 2-stars is not clear of zero"
            return Derived(name, float("nan"), 0.0, None, None, None, level, reason, None)
        bias = self.closed * (t * deviation**2 / w - self.covariance) / w**2
        spread = self.variance - 2 * t / w * self.covariance + (t / w * deviation) ** 2
        value, error = self.closed * t / w - bias, self.closed / w * max(spread, 0.0) ** 0.5
        half = deviations * error
        return Derived(name, value, bias, error, value - half, value + half, level)
