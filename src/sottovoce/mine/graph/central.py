"""What a trusted server could answer instead, to compare with: it sees the graph and adds noise to one answer.

These are baselines. They need somebody who is trusted with all ties, each answer spends an epsilon of its own, and
the noise is made of doubles, which a careful release would not do.
"""

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.mechanism.coins import Randomness, random_words
from sottovoce.mine.graph.graph import Graph
from sottovoce.mine.graph.shared_neighbours import codegree_sums
from sottovoce.mine.graph.smooth import smooth_sensitivity, smoothness


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
