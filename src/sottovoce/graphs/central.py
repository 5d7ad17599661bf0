"""Baselines of central differential privacy: Laplace noise and smooth sensitivity, for comparison.

K. Nissim, S. Raskhodnikova & A. Smith (2007), Proc. STOC, 75-84.

They need a server that is trusted with all ties, each answer spends an epsilon of its own, and the noise is made of
doubles, which a careful release would not do.
"""

from math import exp, expm1

import numpy as np

from sottovoce.checks import Array, number
from sottovoce.errors import check_installed
from sottovoce.graphs._arrays import codegrees
from sottovoce.graphs.graph import Graph, Indices
from sottovoce.graphs.neighbours import codegree_sums, undirected
from sottovoce.mechanisms.coins import Randomness, random_words


def smooth_sensitivity(graph: Graph, beta: float) -> float:
    """Return `max_s e^(-beta s) A(s)` of the number of triangles, A(s) the local sensitivity within s changed ties.

    A tie {i, j} is in as many triangles as i and j share neighbours. Each of s changed ties may add a shared neighbour
    where one of its two ties is present; where none is, it takes two. So with a_ij shared neighbours and b_ij nodes
    tied to exactly one of both, `A(s) = max_ij min(a_ij + floor((s + min(s, b_ij)) / 2), n - 2)` (Claim 3.13).

    >>> smooth_sensitivity(Graph.of_edges([(0, 1), (1, 2), (0, 2), (2, 3)]), beta=1.0)
    1.0
    """
    number("beta", beta, 0, open_ends=True)
    limit = max(undirected(graph).nodes - 2, 0)
    shared, halves = _frontier(graph)
    best, s = 0.0, 0
    while exp(-beta * s) * limit > best:  # no graph further away can matter more
        reach = np.minimum(shared + (s + np.minimum(s, halves)) // 2, limit)
        best = max(best, exp(-beta * s) * int(reach.max(initial=0)))
        s += 1
    return best


def smoothness(epsilon: float, delta: float, numbers: int = 1) -> float:
    """Return the largest beta for which Laplace noise of scale `2 S / epsilon` is (epsilon, delta)-private.

    S is the smooth sensitivity for beta. Half of epsilon is spent on moving the centre, by the L1 norm; half on the
    change of scale by `e^b`, |b| <= beta. The log densities of d numbers with noise of norm r then differ by
    `r (e^b - 1) - d b`. For b < 0 that is at most `d beta`; for b > 0 at most `r (e^beta - 1) - d beta` unless the
    norm, whose distribution is Gamma(d), exceeds r: with probability delta, if the scale is changed first and the
    centre moved next. So beta is the largest with both at most `epsilon / 2`. (Nissim et al. bound it by
    `epsilon / (2 ln(2/delta))` for one number.)

    >>> round(smoothness(1, 1e-6), 4), round(smoothness(1, 1e-6, numbers=185), 5)
    (0.0382, 0.0027)
    """
    number("epsilon", epsilon, 0, open_ends=True)
    number("delta", delta, 0, 1, open_ends=True)
    radius, low, high = _gamma_quantile(numbers, delta), 0.0, epsilon / (2 * numbers)
    for _ in range(200):
        middle = (low + high) / 2
        fits = radius * expm1(middle) - numbers * middle <= epsilon / 2
        low, high = (middle, high) if fits else (low, middle)
    return low


def _gamma_quantile(numbers: int, delta: float) -> float:
    """Return the L1 norm that independent standard Laplace variables exceed with probability delta."""
    check_installed("smooth sensitivity", "graphs", "scipy.special")
    from scipy.special import gammainccinv

    return float(gammainccinv(numbers, delta))


def _frontier(graph: Graph) -> tuple[Indices, Indices]:
    """Return numbers of shared neighbours, and for each the most nodes tied to one of both in any such pair."""
    indptr, indices = graph.rows
    degrees = np.diff(indptr)
    most = np.full(graph.nodes, -1, np.int64)
    for node in range(graph.nodes - 1):
        shared = codegrees(indptr, indices, node)
        tied = np.zeros(graph.nodes, np.int64)
        tied[indices[indptr[node] : indptr[node + 1]]] = 1
        later = slice(node + 1, None)
        halves = degrees[node] + degrees - 2 * shared - 2 * tied
        np.maximum.at(most, shared[later], halves[later])
    shared = np.flatnonzero(most >= 0)
    return shared, most[shared]


def central_degrees(graph: Graph, epsilon: float, rng: Randomness = None) -> Array:
    """Return degrees with Laplace noise of scale `2 / epsilon`: a tie changes two of them by one.

    In directed graphs it changes one out-degree, and the scale is `1 / epsilon`.
    """
    sensitivity = 1 if graph.directed else 2
    return graph.degrees + laplace_noise(graph.nodes, sensitivity / _positive(epsilon), rng)


def central_triangles(graph: Graph, epsilon: float, rng: Randomness = None) -> Array:
    """Return the triangles at each node with Laplace noise of scale `3 (n - 2) / epsilon`.

    A tie whose ends share c neighbours is in c triangles: both ends have c more, and each of those neighbours one.
    """
    sensitivity = 3 * max(graph.nodes - 2, 0)
    return true_triangles(graph) + laplace_noise(graph.nodes, sensitivity / _positive(epsilon), rng)


def smooth_triangles(graph: Graph, epsilon: float, delta: float, rng: Randomness = None) -> Array:
    """Return the triangles at each node with noise of scale `2 S / epsilon`, S three times `smooth_sensitivity`.

    All numbers together are (epsilon, delta)-private, by `smoothness` of as many numbers as there are nodes.
    """
    return true_triangles(graph) + laplace_noise(graph.nodes, smooth_scale(graph, epsilon, delta, graph.nodes), rng)


def smooth_scale(graph: Graph, epsilon: float, delta: float, numbers: int) -> float:
    """Return the scale of the noise of `smooth_triangles` for a number of answers.

    With `numbers` 1 each node's answer alone is private, but not all of them together.
    """
    beta = smoothness(epsilon, delta, numbers)
    return 6 * smooth_sensitivity(graph, beta) / epsilon


def true_triangles(graph: Graph) -> Array:
    """Return the triangles at each node of an undisguised graph."""
    return np.asarray(codegree_sums(graph)[:, 0] / 2)


def laplace_noise(count: int, scale: float, rng: Randomness) -> Array:
    """Return independent Laplace noise of density `e^(-|z| / scale) / (2 scale)`."""
    words = random_words(rng).take(2 * count).view("<u8")
    uniform = ((words >> np.uint64(11)).astype(np.float64) + 0.5) / 2**53 - 0.5
    return np.asarray(-scale * np.sign(uniform) * np.log1p(-2 * np.abs(uniform)))


def _positive(epsilon: float) -> float:
    return number("epsilon", epsilon, 0, open_ends=True)
