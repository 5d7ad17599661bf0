"""Triangles of a graph without direction, from the neighbours that two nodes share."""

from sottovoce.mine.graph.degrees import estimate_edges, unbiased_degrees
from sottovoce.mine.graph.estimates import NodeEstimates
from sottovoce.mine.graph.reports import GraphReports
from sottovoce.mine.graph.shared_neighbours import SharedNeighbours
from sottovoce.mine.graph.stars import node_stars, star_variance
from sottovoce.mine.graph.triangle_estimates import Triangles


def symmetric_triangles(reports: GraphReports, shared: SharedNeighbours) -> Triangles:
    """Products of three unbiased bits, summed.

    With v the variance of a bit, c_ij the neighbours that i and j share, d the degrees, W the 2-stars and m the edges,

        Var(triangles) = v sum_{i<j} c_ij (c_ij - 1) + v W + v^2 (n - 2) m + v^3 C(n, 3)
        Cov(triangles, 2-stars) = 2 v W + v^2 (n - 2) m + v sum_{i<j} c_ij (d_i + d_j - 2 x_ij - 2);

    two triangles have one bit in common, or all of them, or none. Likewise for those of one node.
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
