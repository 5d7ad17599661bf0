"""What a trusted server could answer instead, by Laplace noise and smooth sensitivity, to compare with.

K. Nissim, S. Raskhodnikova & A. Smith (2007), Proc. STOC, 75-84.

These are baselines. They need somebody who is trusted with all ties, each answer spends an epsilon of its own, and
the noise is made of doubles, which a careful release would not do.
"""

from math import exp, expm1

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.errors import MissingExtraError, SottovoceError, Words
from sottovoce.graphs._arrays import codegrees
from sottovoce.graphs.graph import Graph, Numbers
from sottovoce.graphs.neighbours import codegree_sums, undirected
from sottovoce.mechanisms.coins import Randomness, random_words


def smooth_sensitivity(graph: Graph, beta: float) -> float:
    """`max_s e^(-beta s) A(s)` of the number of triangles, A(s) the local sensitivity within s ties.

    A tie {i, j} makes or breaks as many triangles as i and j share neighbours. Of s changed ties each may complete
    a pair of which one half is there; only two together make a new one. So with a_ij shared neighbours and b_ij
    nodes tied to just one of both, `A(s) = max_ij min(a_ij + floor((s + min(s, b_ij)) / 2), n - 2)` (Claim 3.13).

    >>> smooth_sensitivity(Graph.of_edges([(0, 1), (1, 2), (0, 2), (2, 3)]), beta=1.0)
    1.0
    """
    if not beta > 0:
        raise SottovoceError("beta", "must be above 0", beta)
    limit = max(undirected(graph).nodes - 2, 0)
    shared, halves = _frontier(graph)
    best, s = 0.0, 0
    while exp(-beta * s) * limit > best:  # no graph further away can matter more
        reach = np.minimum(shared + (s + np.minimum(s, halves)) // 2, limit)
        best = max(best, exp(-beta * s) * int(reach.max(initial=0)))
        s += 1
    return best


def smoothness(epsilon: float, delta: float, numbers: int = 1) -> float:
    """Largest beta for which Laplace noise of scale `2 S / epsilon` is (epsilon, delta)-private, S smooth with it.

    Half of epsilon is for moving the centre, by the L1 norm; half for the change of scale by `e^b`, |b| <= beta. Of
    d numbers with noise z of norm r the densities then differ by `r (e^b - 1) - d b`. Where b < 0 that is at most
    `d beta`; where b > 0 at most `r (e^beta - 1) - d beta` unless the norm, whose law is Gamma(d), exceeds r:
    with probability delta, if the scale is changed first and the centre moved next. So beta is the largest with
    both at most `epsilon / 2`. (Nissim et al. bound it by `epsilon / (2 ln(2/delta))` for one number.)

    >>> round(smoothness(1, 1e-6), 4), round(smoothness(1, 1e-6, numbers=185), 5)
    (0.0382, 0.0027)
    """
    if not epsilon > 0:
        raise SottovoceError("epsilon", "must be above 0", epsilon)
    if not 0 < delta < 1:
        raise SottovoceError("delta", "must be between 0 and 1", delta)
    radius, low, high = _gamma_quantile(numbers, delta), 0.0, epsilon / (2 * numbers)
    for _ in range(200):
        middle = (low + high) / 2
        fits = radius * expm1(middle) - numbers * middle <= epsilon / 2
        low, high = (middle, high) if fits else (low, middle)
    return low


def _gamma_quantile(numbers: int, delta: float) -> float:
    """Norm that so many Laplace numbers exceed with probability delta."""
    try:
        from scipy.special import gammainccinv
    except ImportError:
        raise MissingExtraError("smooth sensitivity", "scipy", "graphs") from None
    return float(gammainccinv(numbers, delta))


def _frontier(graph: Graph) -> tuple[Numbers, Numbers]:
    """Shared neighbours, and the most nodes tied to one of both among pairs that share as many."""
    indptr, indices = graph.rows
    degrees = np.diff(indptr)
    most = np.full(graph.nodes, -1, np.int64)
    for node in range(graph.nodes - 1):
        shared = codegrees(indptr, indices, node)
        tied = np.zeros(graph.nodes, np.int64)
        tied[indices[indptr[node] : indptr[node + 1]]] = 1
        behind = slice(node + 1, None)
        halves = degrees[node] + degrees - 2 * shared - 2 * tied
        np.maximum.at(most, shared[behind], halves[behind])
    shared = np.flatnonzero(most >= 0)
    return shared, most[shared]


def central_degrees(graph: Graph, epsilon: float, rng: Randomness = None) -> Array:
    """Degrees with Laplace noise of scale `2 / epsilon`: one tie changes two of them by one.

    With direction it changes only one of those that leave a node, and the scale is `1 / epsilon`.
    """
    sensitivity = 1 if graph.directed else 2
    return graph.degrees + laplace_noise(graph.nodes, sensitivity / _positive(epsilon), rng)


def central_triangles(graph: Graph, epsilon: float, rng: Randomness = None) -> Array:
    """Triangles at each node with noise of scale `3 (n - 2) / epsilon`.

    A tie whose ends share c neighbours is in c triangles: both ends have c more, and each of those neighbours one.
    """
    sensitivity = 3 * max(graph.nodes - 2, 0)
    return true_triangles(graph) + laplace_noise(graph.nodes, sensitivity / _positive(epsilon), rng)


def smooth_triangles(graph: Graph, epsilon: float, delta: float, rng: Randomness = None) -> Array:
    """Triangles at each node with noise of scale `2 S / epsilon`, S three times `smooth_sensitivity`.

    (epsilon, delta)-private for all numbers together, by `smoothness` of as many numbers as there are nodes.
    """
    return true_triangles(graph) + laplace_noise(graph.nodes, smooth_scale(graph, epsilon, delta, graph.nodes), rng)


def smooth_scale(graph: Graph, epsilon: float, delta: float, numbers: int) -> float:
    """Scale of the noise of `smooth_triangles`, for so many numbers at a time.

    With `numbers` 1 every node's answer is private alone, but all of them together are not.
    """
    beta = smoothness(_positive(epsilon), delta, numbers)
    return 6 * smooth_sensitivity(graph, beta) / epsilon


def true_triangles(graph: Graph) -> Array:
    """Triangles at each node of a graph that is not disguised."""
    return np.asarray(codegree_sums(graph)[:, 0] / 2)


def laplace_noise(count: int, scale: float, rng: Randomness) -> Array:
    """Independent numbers of density `e^(-|z| / scale) / (2 scale)`."""
    words = random_words(rng).take(2 * count).view("<u8")
    uniform = ((words >> np.uint64(11)).astype(np.float64) + 0.5) / 2**53 - 0.5
    return np.asarray(-scale * np.sign(uniform) * np.log1p(-2 * np.abs(uniform)))


def _positive(epsilon: float) -> float:
    if not epsilon > 0:
        raise SottovoceError("epsilon", "must be above 0", Words(str(epsilon)))
    return epsilon
