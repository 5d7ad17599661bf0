"""Unbiased sums over what closes the ties of each node to triangles of a directed graph.

With bits `x = (y - q) / g` in place of the reports y, `D_ij = sum_k (x_ik, x_ki) matrix (x_jk, x_kj)` is a sum of six
numbers, known up to factors (see `closings`), and so is the bit x_ij: coefficients of them are what is worked with.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.mine.graph.dyads import Dyads
from sottovoce.mine.graph.motifs import squared, squared_product
from sottovoce.mine.graph.reports import GraphReports

LEAVING, COMING = 3, 4
"""Places of the bits y_ij and y_ji among the six numbers."""


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
