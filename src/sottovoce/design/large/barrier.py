"""Best multipliers of the moment relaxation: Newton steps on a concave bound with a log barrier."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.large.relaxation import Certificate, Cut, factors

PRECISION = 2e-4
"""Relative distance from the best bound of its kind at which the search ends."""

_STEPS = 60


@dataclass(frozen=True)
class _Point:
    """Multipliers inside the barrier, and the bound's ingredients there."""

    multipliers: Array
    bound: float
    values: Array
    vectors: Array
    edge: Array
    corner: float


@dataclass(frozen=True)
class _Barrier:
    """`2 tr S^(1/2) - 1.nu + mu (log det S + log g_0 + sum_c log s_c)`."""

    left: Array
    right: Array
    n: int

    def at(self, multipliers: Array) -> _Point | None:
        """The point, or None outside the barrier."""
        form = self.left.T @ (multipliers[:, None] * self.right)
        form = (form + form.T) / 2
        edge, corner = form[:-1, -1], float(form[-1, -1])
        if corner <= 0 or np.any(multipliers[2 * self.n :] <= 0):
            return None
        values, vectors = np.linalg.eigh(form[:-1, :-1] - np.outer(edge, edge) / corner)
        if values[0] <= 0:
            return None
        bound = float(2 * np.sqrt(values).sum() - multipliers[self.n : 2 * self.n].sum())
        return _Point(multipliers, bound, values, vectors, edge, corner)

    def value(self, point: _Point, mu: float) -> float:
        """Barrier function."""
        logs = np.log(point.values).sum() + np.log(point.corner) + np.log(point.multipliers[2 * self.n :]).sum()
        return point.bound + mu * float(logs)

    def newton(self, point: _Point, mu: float) -> tuple[Array, float]:
        """Newton's step and what it promises, `gradient . step`.

        With `d` the derivative of S along a multiplier in S's own basis: `2 tr S^(1/2)` has the second derivative
        `-sum_ij d_ij^2 / (r_i r_j (r_i + r_j))` for the roots r of its values, `log det S` has
        `-sum_ij d_ij^2 / (v_i v_j)`, and S itself bends by `-2/g_0 h h^T`, `h = dg - g dg_0 / g_0`.
        """
        n, values, roots = self.n, point.values, np.sqrt(point.values)
        ratio = point.edge / point.corner
        basis = np.vstack([point.vectors, -ratio @ point.vectors])
        left, right = self.left @ basis, self.right @ basis
        corners = self.left[:, -1] * self.right[:, -1]
        edges = (self.left[:, :-1] * self.right[:, -1:] + self.right[:, :-1] * self.left[:, -1:]) / 2
        bends = (edges - np.outer(corners, ratio)) @ point.vectors
        slopes = 1 / roots + mu / values
        gradient = (left * right) @ slopes + mu * corners / point.corner
        gradient[n : 2 * n] -= 1
        curves = 1 / (np.outer(roots, roots) * np.add.outer(roots, roots)) + mu / np.outer(values, values)
        entries = _upper(left, right, np.sqrt(curves))
        hessian = entries @ entries.T + 2 / point.corner * (bends * slopes) @ bends.T
        hessian += mu * np.outer(corners, corners) / point.corner**2
        slack = point.multipliers[2 * n :]
        gradient[2 * n :] += mu / slack
        np.einsum("ii->i", hessian)[2 * n :] += mu / slack**2
        size = 1 / np.sqrt(np.diag(hessian))
        scaled = hessian * np.outer(size, size) + 1e-13 * np.eye(len(size))
        step = size * np.linalg.solve(scaled, size * gradient)
        return step, float(gradient @ step)

    def climb(self, point: _Point, mu: float) -> _Point:
        """One damped Newton step after another, until they promise little."""
        for _ in range(_STEPS):
            step, promise = self.newton(point, mu)
            last, point = point, self._search(point, step, promise, mu)
            if point is last or promise < mu:
                break
        return point

    def _search(self, point: _Point, step: Array, promise: float, mu: float) -> _Point:
        """The first point that keeps enough of the promise, halving the step; or where it was, at the end of digits."""
        length, now = 1.0, self.value(point, mu)
        while length > 1e-9:
            new = self.at(point.multipliers + length * step)
            if new is not None and self.value(new, mu) >= now + 0.05 * length * promise:
                return new
            length /= 2
        return point


def _upper(left: Array, right: Array, scale: Array) -> Array:
    """Scaled upper triangles of the `sym(l r^T)`, one to a row, whose products are those of the whole matrices."""
    n = left.shape[1]
    found = np.empty((len(left), n * (n + 1) // 2))
    end = 0
    for i in range(n):
        start, end = end, end + n - i
        block = left[:, i : i + 1] * right[:, i:] + right[:, i : i + 1] * left[:, i:]
        # An entry off the diagonal counts twice.
        block[:, 1:] *= scale[i, i + 1 :] / np.sqrt(2)
        block[:, 0] *= scale[i, i] / 2
        found[:, start:end] = block
    return found


def climb(prior: Array, odds: float, cuts: Sequence[Cut]) -> Iterator[Certificate]:
    """Better and better certificates, one for each barrier, down to `PRECISION`."""
    n = len(prior)
    barrier = _Barrier(*factors(prior, odds, cuts), n)
    point = _start(barrier, prior, odds)
    # From far inside: close to the wall, where S is nearly singular, steps become short.
    mu = 10 * float(np.sqrt(np.median(point.values)))
    while True:
        point = barrier.climb(point, mu)
        yield Certificate(prior, odds, tuple(cuts), point.multipliers)
        if mu * (len(point.multipliers) - n + 1) < PRECISION * abs(point.bound):
            return
        mu *= 0.2


def _start(barrier: _Barrier, prior: Array, odds: float) -> _Point:
    """With `a = p` and `nu = c p`, `S = diag p + (c - (odds + 1)^2 / (4 odds)) p p^T`; all times the best factor."""
    price, slack = 2 * (odds + 1) ** 2 / (4 * odds), 1e-2 / len(prior)
    cuts = np.ones(len(barrier.left) - 2 * len(prior))
    while (point := barrier.at(np.concatenate([prior, price * prior, slack * cuts]))) is None:
        slack /= 4
    # With all multipliers times f^2 the bound is 2 f tr S^(1/2) - f^2 price.
    factor = ((point.bound + price) / (2 * price)) ** 2
    return barrier.at(factor * point.multipliers) or point
