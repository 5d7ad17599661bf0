"""Triangles of each node and of the graph, and clustering coefficients.

A triangle has one tie between each two of three nodes. Of the eight directions two are cycles, and six are transitive:
one node is tied to both others, and one of those to the other. If all pairs are tied both ways, all eight are present.

With unbiased bits `x = (y - q) / g` in place of the reports y, both `D_ij = sum_k (x_ik, x_ki) matrix (x_jk, x_kj)` and
the bit x_ij are linear in six numbers (see `neighbours`); arrays of coefficients stand for them below.

G. Fagiolo (2007), Phys. Rev. E 76, 026107, counts all eight at each node; cycles and transitive triangles are parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.checks import Array, one_of
from sottovoce.display import html_text
from sottovoce.errors import SottovoceError
from sottovoce.estimates.derived import CLEAR_OF_ZERO, Derived
from sottovoce.estimates.intervals import critical_value
from sottovoce.graphs.degrees import NodeEstimates, estimate_edges, graph_estimate, unbiased_degrees
from sottovoce.graphs.graph import MEMORY
from sottovoce.graphs.neighbours import Dyads, SharedNeighbours, check_size, closing_products, shared_neighbours
from sottovoce.graphs.reports import GraphReports
from sottovoce.graphs.stars import node_stars, star_variance

LEAVING, COMING = 3, 4
"""Indices of the bits y_ij and y_ji among the six numbers."""

BYTES_A_NODE = 1000
"""Memory of the sums of products for each node, both ways, while they are computed."""


@dataclass(frozen=True, repr=False)
class Triangles:
    """Triangles at each node and in all, with the number of pairs of ties that meet at a node (2-stars).

    All estimates are unbiased, also the variances and the covariance, which may be negative; `least` and `stars_least`
    are the variances that are due to the coins alone. One triangle closes `closed` of the counted 2-stars.
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
        """Return the number of triangles of the graph."""
        return graph_estimate(self.nodes.statistic, self.value, max(self.variance, self.least), level)

    def clustering(self, level: float = 0.95) -> Derived:
        """Return the clustering coefficient `closed T / W` of T triangles and W 2-stars, by the delta method.

        The bias of the ratio, at most `sd(W) / W` standard errors, is subtracted. If W is not clearly above zero,
        there is no interval, with the reason.
        """
        t, w, name, deviations = self.value, self.stars, "clustering coefficient", critical_value(level)
        deviation = max(self.stars_variance, self.stars_least) ** 0.5
        if w <= CLEAR_OF_ZERO * deviation:
            reason = "the number of 2-stars is not clearly above zero"
            return Derived(name, float("nan"), 0.0, None, None, None, level, reason, None)
        bias = self.closed * (t * deviation**2 / w - self.covariance) / w**2
        variance = self.variance - 2 * t / w * self.covariance + (t / w * deviation) ** 2
        value, error = self.closed * t / w - bias, self.closed / w * max(variance, 0.0) ** 0.5
        half = deviations * error
        return Derived(name, value, bias, error, value - half, value + half, level)

    def __repr__(self) -> str:
        """Summarize in one line."""
        return f"<Triangles: {self.total()}>"

    def __str__(self) -> str:
        """Return the number of triangles and the clustering coefficient."""
        return f"{self.total()}\n{self.clustering()}"

    def _repr_html_(self) -> str:
        return html_text(str(self))


@dataclass(frozen=True)
class Motif:
    """`matrix[r, s]` is one if a node k with ties of kinds r to i and s to j closes a tie i -> j to a triangle.

    Kinds are 0 for a tie towards k, 1 for one from k. The clustering coefficient counts two ties at one node with
    weight `paths` if they are a path (one comes, one leaves), in either order, and `forks` if they are a fork; one
    triangle closes `closed` of them.
    """

    name: str
    matrix: Array
    paths: float
    forks: float
    closed: int

    @property
    def stars_closed(self) -> float:
        """Weighted number of 2-stars that a tie closes."""
        by_first, by_second = self.matrix.sum(axis=1), self.matrix.sum(axis=0)
        return float(self.forks * (by_first[0] + by_second[1]) + self.paths * (by_first[1] + by_second[0]))


MOTIFS = {
    "all": Motif("directed triangles", np.array([[1, 1], [1, 1]]), 1, 1, 3),
    "cycles": Motif("cycles", np.array([[0, 0], [1, 0]]), 0.5, 0, 3),
    "transitive": Motif("transitive triangles", np.array([[1, 1], [0, 1]]), 0.5, 0, 1),
}
"""Motifs by name."""

_FROM_STATES = np.array([[1, 0, 0], [0, 1, 0], [-1, -1, 1]])
"""Coefficients of a, b and ab from the values at (1, 0), (0, 1) and (1, 1)."""


def motif_named(name: str) -> Motif:
    """Return the motif of this name.

    >>> motif_named("cycles").matrix.tolist()
    [[0, 0], [1, 0]]
    """
    return MOTIFS[one_of("motif", name, tuple(MOTIFS))]


def squared(matrix: Array) -> Array:
    """Return `|matrix (a, b)|^2` of two bits as coefficients of a, b and ab, since bits are their own squares.

    >>> squared(np.array([[1, 1]])).tolist()
    [1, 1, 2]
    """
    first, second = matrix[:, 0], matrix[:, 1]
    return np.array([first @ first, second @ second, 2 * first @ second])


def squared_product(matrix: Array) -> Array:
    """Return `((a, b) matrix (c, d))^2` of four bits as coefficients of a, b, ab times c, d, cd.

    >>> squared_product(np.array([[1, 1], [0, 0]])).tolist()
    [[1, 1, 2], [0, 0, 0], [0, 0, 0]]
    """
    states: Sequence[Sequence[int]] = ((1, 0), (0, 1), (1, 1))
    values = (np.array(states) @ matrix @ np.array(states).T) ** 2
    return np.asarray(_FROM_STATES @ values @ _FROM_STATES.T)


def unbiased_dyads(reports: GraphReports, dyads: Dyads) -> Array:
    """Estimate out-degree, in-degree and number of mutual ties of each node: three columns."""
    q, g, others = reports.flip, reports.gap, reports.graph.nodes - 1
    leaving, coming, both = dyads.sums.T.astype(np.float64)
    single = [(leaving - q * others) / g, (coming - q * others) / g]
    return np.stack([*single, (both - q * (leaving + coming) + q**2 * others) / g**2], axis=1)


@dataclass(frozen=True, eq=False)
class ClosedTies:
    """Sums over j for ties i -> j; with `tie` COMING and the transposed matrix for ties j -> i."""

    reports: GraphReports
    dyads: Dyads
    matrix: Array
    tie: int
    products: Array

    def sum_products(self, first: Array, second: Array) -> Array:
        """Return `sum_j F_ij G_ij` for each node, of two linear forms with these coefficients."""
        return np.asarray(np.einsum("na,nab,nb->n", first, self.products, second))

    @cached_property
    def bits(self) -> Array:
        """Coefficients of the bit of the tie."""
        coefficients = np.zeros((len(self.products), 6))
        coefficients[:, [0, self.tie]] = -self.reports.flip, 1
        return coefficients / self.reports.gap

    @cached_property
    def closes(self) -> Array:
        """Coefficients of D_ij, which does not involve the bits between i and j."""
        q, n = self.reports.flip, self.reports.graph.nodes
        by_first, by_second = self.matrix.sum(axis=1), self.matrix.sum(axis=0)
        coefficients = np.empty((len(self.products), 6))
        coefficients[:, 0] = q**2 * (n - 2) * self.matrix.sum() - q * (self.dyads.sums[:, :2] @ by_first)
        coefficients[:, 1:] = [*(-q * by_second), *(q * (by_first + by_second[::-1])), 1]
        return coefficients / self.reports.gap**2

    @property
    def triangles(self) -> Array:
        """`sum_j x_ij D_ij`: triangles at each node, counted once for each such tie of the node in them."""
        return self.sum_products(self.bits, self.closes)

    @property
    def squares(self) -> Array:
        """Unbiased estimate of `sum_j D_ij^2`: squares of the estimates less their variances."""
        v, n = self.reports.noise, self.reports.graph.nodes
        degrees = unbiased_dyads(self.reports, self.dyads)
        second, first = degrees @ squared(self.matrix), degrees @ squared(self.matrix.T)
        variance = v * ((n - 3) * first + second.sum() - second) + v**2 * (self.matrix**2).sum() * (n - 1) * (n - 2)
        return np.asarray(self.sum_products(self.closes, self.closes) - variance)


def squares_between(reports: GraphReports, dyads: Dyads, matrix: Array) -> Array:
    """Return the sum over ordered pairs of other nodes of the squared number of triangles that each node closes.

    It is the sum over all products of its pairs, less those of a pair with itself, by the four states of a pair.
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
    """Estimate directed triangles by sums of products of three unbiased bits of different ordered pairs.

    With v the variance of a bit, D_ij the triangles that a tie i -> j is in and G_ij the 2-stars, both without the bits
    between i and j, h_ij the squares of what one of those bits closes, u the 2-stars that a tie closes, m the ties,

        Var(triangles) = v sum D_ij^2 + v^2 (n - 2) sum_{i<j} h_ij + v^3 |matrix|^2 n (n - 1) (n - 2) / 3
        Cov(triangles, 2-stars) = v sum D_ij G_ij + v^2 (n - 2) u m
        Var(2-stars) = v sum G_ij^2 + 4 v^2 (forks^2 + paths^2) n (n - 1) (n - 2)

    over ordered pairs. Products of estimated sums exceed the true ones by their covariance, which is subtracted.
    """
    steps = float(((reports.graph.degrees + reports.graph.in_degrees).astype(np.float64) ** 2).sum())
    left = check_size(reports.graph, steps, memory, BYTES_A_NODE)
    n, v, dyads = reports.graph.nodes, reports.noise, Dyads(reports.graph)
    matrix, transposed = motif.matrix, motif.matrix.T
    products = closing_products(dyads, matrix, threads, memory=left)
    leaving = ClosedTies(reports, dyads, matrix, LEAVING, products)
    symmetric = (matrix == transposed).all()
    others = products if symmetric else closing_products(dyads, transposed, threads, memory=left)
    coming = ClosedTies(reports, dyads, transposed, COMING, others)
    degrees, triples = unbiased_dyads(reports, dyads), n * (n - 1) * (n - 2)
    stars, size = _star_coefficients(reports, dyads, motif), float((matrix**2).sum())
    least, alone = v**3 * size * triples / 3, 4 * v**2 * (motif.forks**2 + motif.paths**2) * triples
    two = v**2 * (n - 2) * (degrees @ squared(matrix)).sum()
    shared = v**2 * (n - 2) * motif.stars_closed * degrees[:, 0].sum()
    triangles = (leaving.triangles + coming.triangles) / 2
    variance = _node_variances(reports, dyads, matrix, leaving.squares + coming.squares)
    return Triangles(
        NodeEstimates(motif.name, reports.graph.labels, triangles, variance, v**3 * size * (n - 1) * (n - 2)),
        float(triangles.sum()) / 3,
        float(v * leaving.squares.sum() + two + least),
        least,
        float(leaving.sum_products(leaving.bits, stars).sum() / 2),
        float(v * leaving.sum_products(stars, stars).sum()) - alone,
        alone,
        float(v * leaving.sum_products(leaving.closes, stars).sum() - shared),
        motif.closed,
    )


def _node_variances(reports: GraphReports, dyads: Dyads, matrix: Array, squares: Array) -> Array:
    """Return the variance at each node, from its own ties and all that closes them, and other ties that it closes."""
    v, n = reports.noise, reports.graph.nodes
    closed = unbiased_dyads(reports, dyads) @ (squared(matrix) + squared(matrix.T))
    two = closed.sum() / 2 + (n - 3) * closed
    one = squares + squares_between(reports, dyads, matrix)
    return np.asarray(v * one + v**2 * two + v**3 * (matrix**2).sum() * (n - 1) * (n - 2))


def _star_coefficients(reports: GraphReports, dyads: Dyads, motif: Motif) -> Array:
    """Return the coefficients of G_ij, the 2-stars that a tie i -> j is in, centred at either end."""
    forks, paths, others = 2 * motif.forks, 2 * motif.paths, reports.graph.nodes - 2
    coefficients = np.empty((reports.graph.nodes, 6))
    coefficients[:, 0] = dyads.sums[:, :2] @ [forks, paths] - 2 * reports.flip * (forks + paths) * others
    coefficients[:, 1:] = paths, forks, -2 * forks, -2 * paths, 0
    return coefficients / reports.gap


def symmetric_triangles(reports: GraphReports, shared: SharedNeighbours) -> Triangles:
    """Estimate triangles of an undirected graph by sums of products of three unbiased bits.

    With v the variance of a bit, c_ij the neighbours that i and j share, d the degrees, W the 2-stars and m the edges,

        Var(triangles) = v sum_{i<j} c_ij (c_ij - 1) + v W + v^2 (n - 2) m + v^3 C(n, 3)
        Cov(triangles, 2-stars) = 2 v W + v^2 (n - 2) m + v sum_{i<j} c_ij (d_i + d_j - 2 x_ij - 2);

    for two triangles share one bit, all or none. The variances at single nodes follow likewise.
    """
    v, n = reports.noise, reports.graph.nodes
    ties = v**2 * (n - 2) * estimate_edges(reports).value
    least = v**3 * n * (n - 1) * (n - 2) / 6
    stars = node_stars(reports)
    return Triangles(
        _at_nodes(reports, shared),
        float(shared.triangles.sum()) / 3,
        least + ties + v * float((shared.squares + shared.paths).sum()) / 2,
        least,
        float(stars.value.sum()),
        star_variance(reports, stars, 2),
        stars.least * n,
        ties + v * float(shared.paths.sum()) + v * float(shared.forks.sum()) / 2,
    )


def _at_nodes(reports: GraphReports, shared: SharedNeighbours) -> NodeEstimates:
    v, n = reports.noise, reports.graph.nodes
    degrees = unbiased_degrees(reports, reports.graph.degrees)
    one = degrees * (n - 2) + estimate_edges(reports).value - degrees
    two = node_stars(reports).value + shared.paths
    least = v**3 * (n - 1) * (n - 2) / 2
    variance = least + v**2 * one + v * (shared.squares + two)
    return NodeEstimates("triangles", reports.graph.labels, shared.triangles, variance, least)


def estimate_triangles(
    reports: GraphReports, motif: str = "all", *, memory: float = MEMORY, threads: int | None = None
) -> Triangles:
    """Estimate triangles from reported pairs; the work grows with the squares of the reported degrees.

    In directed graphs, three nodes have up to two `cycles` (a to b to c to a) and six `transitive` triangles (a to b to
    c, and a to c). "all" counts both kinds, as networkx's `clustering` does (Fagiolo 2007). The clustering coefficient
    is their number over that of all possible ones at the pairs of ties that meet at a node; for cycles and for
    transitive triangles it is the share of the paths a to b to c, with a not c, that are closed so.

    >>> from sottovoce.graphs.reports import disguise_graph
    >>> from sottovoce.graphs.graph import Graph
    >>> pairs = [(i, j) for i in range(6) for j in range(i)]
    >>> triangles = estimate_triangles(disguise_graph(Graph.of_edges(pairs), epsilon=9, rng=1))
    >>> print(triangles.total())
    triangles: 20.0074 +- 0.1722  [19.6700, 20.3448]
    >>> ranks = disguise_graph(Graph.of_edges(pairs, directed=True), epsilon=9, rng=1)
    >>> print(estimate_triangles(ranks, "transitive").total())
    transitive triangles: 20.0025 +- 0.2137  [19.5836, 20.4214]
    """
    kind = motif_named(motif)
    if reports.graph.directed:
        return directed_triangles(reports, kind, memory, threads)
    if motif != "all":
        raise SottovoceError("motif", "must be all for undirected graphs", motif)
    return symmetric_triangles(reports, shared_neighbours(reports, memory, threads))
