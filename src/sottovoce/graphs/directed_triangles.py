"""Triangles of a directed graph, by motif.

Each of the three pairs is tied one way; two of the eight ways go round (cycles), and six have a node that both others
are tied from, one that both are tied to, and one in between (transitive). If all pairs are tied both ways all
eight are there.

With bits `x = (y - q) / g` in place of the reports y, `D_ij = sum_k (x_ik, x_ki) matrix (x_jk, x_kj)` is a sum of six
numbers, known up to factors (see `closings`), and so is the bit x_ij: coefficients of them are what is worked with.

G. Fagiolo (2007), Phys. Rev. E 76, 026107, counts all eight at each node; cycles and transitive triangles are parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimates.derived import CLEAR_OF_ZERO, Derived
from sottovoce.estimates.intervals import critical_value
from sottovoce.graphs.degrees import NodeEstimates, number
from sottovoce.graphs.graph import MEMORY
from sottovoce.graphs.neighbours import Dyads, check_size, closing_products
from sottovoce.graphs.reports import GraphReports

LEAVING, COMING = 3, 4
"""Places of the bits y_ij and y_ji among the six numbers."""
BYTES_A_NODE = 1000
"""Of the sums of products for each node, both ways, while they are made."""


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


@dataclass(frozen=True)
class Motif:
    """`matrix[r, s]` says whether a tie i -> j is closed by a third node k, tied by kinds r with i and s with j.

    Kinds are 0 for a tie towards k, 1 for one from k. Two ties at one node are counted by the clustering coefficient
    if they are a path (one comes, one leaves) as often as `paths` says, both ways round, and if they are a fork, as
    often as `forks`; `closed` of them are closed by one triangle.
    """

    name: str
    matrix: Array
    paths: float
    forks: float
    closed: int

    @property
    def stars_closed(self) -> float:
        """2-stars that a tie closes, as often as they are counted."""
        own, other = self.matrix.sum(axis=1), self.matrix.sum(axis=0)
        return float(self.forks * (own[0] + other[1]) + self.paths * (own[1] + other[0]))


MOTIFS = {
    "all": Motif("directed triangles", np.array([[1, 1], [1, 1]]), 1, 1, 3),
    "cycles": Motif("cycles", np.array([[0, 0], [1, 0]]), 0.5, 0, 3),
    "transitive": Motif("transitive triangles", np.array([[1, 1], [0, 1]]), 0.5, 0, 1),
}
"""What may be counted, by name."""

_FROM_STATES = np.array([[1, 0, 0], [0, 1, 0], [-1, -1, 1]])
"""Coefficients of a, b and ab from the values at (1, 0), (0, 1) and (1, 1)."""


def motif_named(name: str) -> Motif:
    """Motif of this name.

    >>> motif_named("cycles").matrix.tolist()
    [[0, 0], [1, 0]]
    """
    if name not in MOTIFS:
        raise SottovoceError("motif", f"must be one of {', '.join(MOTIFS)}", name)
    return MOTIFS[name]


def squared(matrix: Array) -> Array:
    """`|matrix (a, b)|^2` of two bits, as coefficients of a, b and ab: bits are their own squares.

    >>> squared(np.array([[1, 1]])).tolist()
    [1, 1, 2]
    """
    first, second = matrix[:, 0], matrix[:, 1]
    return np.array([first @ first, second @ second, 2 * first @ second])


def squared_product(matrix: Array) -> Array:
    """`((a, b) matrix (c, d))^2` of four bits, as coefficients of a, b, ab times c, d, cd.

    >>> squared_product(np.array([[1, 1], [0, 0]])).tolist()
    [[1, 1, 2], [0, 0, 0], [0, 0, 0]]
    """
    states: Sequence[Sequence[int]] = ((1, 0), (0, 1), (1, 1))
    values = (np.array(states) @ matrix @ np.array(states).T) ** 2
    return np.asarray(_FROM_STATES @ values @ _FROM_STATES.T)


def unbiased_dyads(reports: GraphReports, dyads: Dyads) -> Array:
    """Ties that leave each node, ties that come to it, and neighbours with both: three columns."""
    q, g, others = reports.flip, reports.gap, reports.graph.nodes - 1
    leaving, coming, both = dyads.sums.T.astype(np.float64)
    single = [(leaving - q * others) / g, (coming - q * others) / g]
    return np.stack([*single, (both - q * (leaving + coming) + q**2 * others) / g**2], axis=1)


@dataclass(frozen=True, eq=False)
class ClosedTies:
    """Sums over j for ties i -> j; for ties j -> i with `tie` COMING and the transposed matrix."""

    reports: GraphReports
    dyads: Dyads
    matrix: Array
    tie: int
    products: Array

    def summed(self, first: Array, second: Array) -> Array:
        """`sum_j F_ij G_ij` for each node, of two sums with these coefficients."""
        return np.asarray(np.einsum("na,nab,nb->n", first, self.products, second))

    @cached_property
    def bits(self) -> Array:
        """Coefficients of the bit of the tie."""
        found = np.zeros((len(self.products), 6))
        found[:, [0, self.tie]] = -self.reports.flip, 1
        return found / self.reports.gap

    @cached_property
    def closes(self) -> Array:
        """Coefficients of D_ij, which leaves out the bits between i and j."""
        q, n = self.reports.flip, self.reports.graph.nodes
        own, other = self.matrix.sum(axis=1), self.matrix.sum(axis=0)
        found = np.empty((len(self.products), 6))
        found[:, 0] = q**2 * (n - 2) * self.matrix.sum() - q * (self.dyads.sums[:, :2] @ own)
        found[:, 1:] = [*(-q * other), *(q * (own + other[::-1])), 1]
        return found / self.reports.gap**2

    @property
    def triangles(self) -> Array:
        """`sum_j x_ij D_ij`: triangles at each node, as often as such ties of the node are in them."""
        return self.summed(self.bits, self.closes)

    @property
    def squares(self) -> Array:
        """`sum_j D_ij^2`: squares of the estimates, less their variances."""
        v, n = self.reports.noise, self.reports.graph.nodes
        degrees = unbiased_dyads(self.reports, self.dyads)
        ends, own = degrees @ squared(self.matrix), degrees @ squared(self.matrix.T)
        variance = v * ((n - 3) * own + ends.sum() - ends) + v**2 * (self.matrix**2).sum() * (n - 1) * (n - 2)
        return np.asarray(self.summed(self.closes, self.closes) - variance)


def squares_between(reports: GraphReports, dyads: Dyads, matrix: Array) -> Array:
    """Squares of what each node closes between two others, summed over the ordered pairs of them.

    The products of all its pairs, less those of a pair with itself, by the four states of a pair.
    """
    q, g, weights = reports.flip, reports.gap, squared_product(matrix)
    low, high = -q / g, (1 - q) / g
    bits = np.array([(low, low), (high, low), (low, high), (high, high)])
    terms = np.column_stack([bits, bits.prod(axis=1)])
    leaving, coming, both = dyads.sums.T
    states = np.stack([reports.graph.nodes - 1 - leaving - coming + both, coming - both, leaving - both, both], axis=1)
    alone = states @ np.einsum("sa,ab,sb->s", terms, weights, terms)
    total = states @ terms
    return np.asarray(np.einsum("na,ab,nb->n", total, weights, total) - alone)


def directed_triangles(
    reports: GraphReports, motif: Motif, memory: float = MEMORY, threads: int | None = None
) -> Triangles:
    """Products of three unbiased bits of different ordered pairs, each with a coin of its own, summed.

    With v the variance of a bit, D_ij what closes a tie i -> j and G_ij the 2-stars that it is in, both free of the
    bits between i and j, h_ij the squares of what one of those bits closes, u the 2-stars that it does, m the ties,

        Var(triangles) = v sum D_ij^2 + v^2 (n - 2) sum_{i<j} h_ij + v^3 |matrix|^2 n (n - 1) (n - 2) / 3
        Cov(triangles, 2-stars) = v sum D_ij G_ij + v^2 (n - 2) u m
        Var(2-stars) = v sum G_ij^2 + 4 v^2 (forks^2 + paths^2) n (n - 1) (n - 2)

    over ordered pairs. Products of estimated sums exceed the true ones by a covariance, which is taken off.
    """
    steps = float(((reports.graph.degrees + reports.graph.in_degrees).astype(np.float64) ** 2).sum())
    left = check_size(reports.graph, steps, memory, BYTES_A_NODE)
    n, v, dyads = reports.graph.nodes, reports.noise, Dyads(reports.graph)
    there, back = motif.matrix, motif.matrix.T
    products = closing_products(dyads, there, threads, memory=left)
    leaving = ClosedTies(reports, dyads, there, LEAVING, products)
    again = products if (there == back).all() else closing_products(dyads, back, threads, memory=left)
    coming = ClosedTies(reports, dyads, back, COMING, again)
    degrees, triples = unbiased_dyads(reports, dyads), n * (n - 1) * (n - 2)
    meets, size = _meets(reports, dyads, motif), float((there**2).sum())
    least, alone = v**3 * size * triples / 3, 4 * v**2 * (motif.forks**2 + motif.paths**2) * triples
    two = v**2 * (n - 2) * (degrees @ squared(there)).sum()
    in_common = v**2 * (n - 2) * motif.stars_closed * degrees[:, 0].sum()
    triangles = (leaving.triangles + coming.triangles) / 2
    spread = _spread(reports, dyads, there, leaving.squares + coming.squares)
    return Triangles(
        NodeEstimates(motif.name, reports.graph.labels, triangles, spread, v**3 * size * (n - 1) * (n - 2)),
        float(triangles.sum()) / 3,
        float(v * leaving.squares.sum() + two + least),
        least,
        float(leaving.summed(leaving.bits, meets).sum() / 2),
        float(v * leaving.summed(meets, meets).sum()) - alone,
        alone,
        float(v * leaving.summed(leaving.closes, meets).sum() - in_common),
        motif.closed,
    )


def _spread(reports: GraphReports, dyads: Dyads, matrix: Array, squares: Array) -> Array:
    """Variances at each node: its own ties count with all that closes them, other ties with what it closes."""
    v, n = reports.noise, reports.graph.nodes
    closed = unbiased_dyads(reports, dyads) @ (squared(matrix) + squared(matrix.T))
    two = closed.sum() / 2 + (n - 3) * closed
    one = squares + squares_between(reports, dyads, matrix)
    return np.asarray(v * one + v**2 * two + v**3 * (matrix**2).sum() * (n - 1) * (n - 2))


def _meets(reports: GraphReports, dyads: Dyads, motif: Motif) -> Array:
    """Coefficients of G_ij, the 2-stars that a tie i -> j is in, either end their centre."""
    forks, paths, others = 2 * motif.forks, 2 * motif.paths, reports.graph.nodes - 2
    found = np.empty((reports.graph.nodes, 6))
    found[:, 0] = dyads.sums[:, :2] @ [forks, paths] - 2 * reports.flip * (forks + paths) * others
    found[:, 1:] = paths, forks, -2 * forks, -2 * paths, 0
    return found / reports.gap
