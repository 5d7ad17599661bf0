"""Triangles of a graph with direction, from what closes each tie.

G. Fagiolo (2007), Phys. Rev. E 76, 026107, counts all eight at each node; cycles and transitive triangles are parts.
"""

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.mine.graph.closed_ties import COMING, LEAVING, ClosedTies, squares_between, unbiased_dyads
from sottovoce.mine.graph.closings import closing_products
from sottovoce.mine.graph.dyads import Dyads
from sottovoce.mine.graph.estimates import NodeEstimates
from sottovoce.mine.graph.memory import MEMORY
from sottovoce.mine.graph.motifs import Motif, squared
from sottovoce.mine.graph.passes import check_size
from sottovoce.mine.graph.reports import GraphReports
from sottovoce.mine.graph.triangle_estimates import Triangles

BYTES_A_NODE = 1000
"""Of the sums of products for each node, both ways, while they are made."""


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
