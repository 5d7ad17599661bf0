"""A lower bound on the error of every channel with bounded odds, from a relaxation of second moments of sets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.checks import Array
from sottovoce.errors import SottovoceError

PRECISION = 2e-4
"""Relative distance from the best bound of its kind at which the search ends."""

_STEPS = 60
"""Most Newton steps for each barrier parameter."""


@dataclass(frozen=True)
class Cut:
    """`(left . z - left_offset) (right . z - right_offset) >= 0` for the indicator z of any set.

    Valid if both sides are the same form with whole coefficients and consecutive whole offsets, or if all coefficients
    are non-negative and there are no offsets.
    """

    left: Array
    left_offset: float
    right: Array
    right_offset: float

    def __post_init__(self) -> None:
        """Refuse a form that is negative for some set."""
        whole = np.array_equal(self.left, self.right) and not np.any(self.left % 1) and not self.left_offset % 1
        alike = whole and abs(self.left_offset - self.right_offset) == 1
        positive = min(self.left.min(), self.right.min()) >= 0 and self.left_offset == self.right_offset == 0
        if not (alike or positive):
            raise SottovoceError("cut", "must hold for all sets", (self.left_offset, self.right_offset))


def total_cut(lengths: Array, size: int) -> Cut:
    """Return the cut `(lengths . z - size) (lengths . z - size - 1) >= 0`: no total lies between two whole numbers."""
    return Cut(lengths, size, lengths, size + 1)


@dataclass(frozen=True)
class Certificate:
    """Multipliers that prove a lower bound of `tr J^-1` for every channel whose odds are at most `odds`.

    A channel is a measure m on sets S with `u = 1 + (odds - 1) z`, z the indicator of S, `J = sum_S m_S u u^T` and
    `J p = 1`. In the coordinates (u, 1), put
    `G = sum_i a_i sym((e_i - e_0)(e_i - odds e_0)^T) + sym(nu p^T) - sum_c s_c cut_c`. The first terms
    vanish on sets, cuts are not negative, so `G . moments <= 1.nu`; and with the Schur complement
    `S = G_11 - g g^T / g_0` of its corner, `tr J^-1 + S . J >= 2 tr S^(1/2)`. So `tr J^-1 >= 2 tr S^(1/2) - 1.nu`,
    whatever the multipliers, as long as g_0 > 0, S > 0 and s >= 0.
    """

    prior: Array
    odds: float
    cuts: tuple[Cut, ...]
    multipliers: Array
    """a (n), nu (n), s (one for each cut)."""

    @property
    def bound(self) -> float:
        """Lower bound of `tr J^-1`; minus infinity if the multipliers prove nothing."""
        n = len(self.prior)
        schur, corner = self._schur()
        if corner <= 0 or np.any(self.multipliers[2 * n :] < 0):
            return -np.inf
        values = np.linalg.eigvalsh(schur)
        if values[0] <= 0:
            return -np.inf
        return float(2 * np.sqrt(values).sum() - self.multipliers[n : 2 * n].sum())

    def _schur(self) -> tuple[Array, float]:
        """S and g_0."""
        left, right = factors(self.prior, self.odds, self.cuts)
        form = left.T @ (self.multipliers[:, None] * right)
        form = (form + form.T) / 2
        edge, corner = form[:-1, -1], float(form[-1, -1])
        return form[:-1, :-1] - np.outer(edge, edge) / corner, corner


def factors(prior: Array, odds: float, cuts: Sequence[Cut]) -> tuple[Array, Array]:
    """Return rows l_k and r_k of the forms `sym(l_k r_k^T)` in (u, 1), one for each multiplier; cuts are negated."""
    n, rise = len(prior), odds - 1
    eye, column = np.eye(n), np.ones((n, 1))
    left = [np.hstack([eye, -column]), np.hstack([eye, 0 * column])]
    right = [np.hstack([eye, -odds * column]), np.tile(np.append(prior, 0.0), (n, 1))]
    # z = (u - 1) / rise, so that f.z - t has the coefficients f / rise and -(sum f / rise + t).
    left += [-_in_odds(cut.left, cut.left_offset, rise)[None] for cut in cuts]
    right += [_in_odds(cut.right, cut.right_offset, rise)[None] for cut in cuts]
    return np.vstack(left), np.vstack(right)


def _in_odds(form: Array, offset: float, rise: float) -> Array:
    return np.append(form / rise, -form.sum() / rise - offset)


def pair_cuts(prior: Array, groups: int = 14) -> list[Cut]:
    """Return the cuts `z(A) z(B) >= 0` and `z(A) (z(A) - 1) >= 0` for groups of categories of similar probability.

    They matter where sets are small, as a relaxation of moments allows these to be negative.
    """
    ranks = np.argsort(np.argsort(-prior)) / len(prior)
    falls = np.log(prior.max() / prior)
    position = 0.4 * ranks + 0.6 * falls / max(falls.max(), 1e-9)
    group = np.minimum((groups * position).astype(int), groups - 1)
    members = [(group == number).astype(float) for number in np.unique(group)]
    apart = [Cut(one, 0, other, 0) for i, one in enumerate(members) for other in members[:i]]
    return apart + [total_cut(one, 0) for one in members if one.sum() > 1]


@dataclass(frozen=True)
class _Point:
    """Multipliers inside the barrier, and what the bound is computed from."""

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
        """Return the point, or None outside the barrier."""
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
        """Value of the barrier function."""
        logs = np.log(point.values).sum() + np.log(point.corner) + np.log(point.multipliers[2 * self.n :]).sum()
        return point.bound + mu * float(logs)

    def newton(self, point: _Point, mu: float) -> tuple[Array, float]:
        """Return Newton's step and the predicted gain, `gradient . step`.

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
        """Take damped Newton steps until the predicted gain is small."""
        for _ in range(_STEPS):
            step, predicted = self.newton(point, mu)
            last, point = point, self._search(point, step, predicted, mu)
            if point is last or predicted < mu:
                break
        return point

    def _search(self, point: _Point, step: Array, predicted: float, mu: float) -> _Point:
        """Halve the step until enough of the predicted gain is attained; return the same point if no step does."""
        length, now = 1.0, self.value(point, mu)
        while length > 1e-9:
            new = self.at(point.multipliers + length * step)
            if new is not None and self.value(new, mu) >= now + 0.05 * length * predicted:
                return new
            length /= 2
        return point


def _upper(left: Array, right: Array, scale: Array) -> Array:
    """Scaled upper triangles of the `sym(l r^T)`, a row each, with the inner products of the whole matrices."""
    n = left.shape[1]
    rows = np.empty((len(left), n * (n + 1) // 2))
    end = 0
    for i in range(n):
        start, end = end, end + n - i
        block = left[:, i : i + 1] * right[:, i:] + right[:, i : i + 1] * left[:, i:]
        # An entry off the diagonal counts twice.
        block[:, 1:] *= scale[i, i + 1 :] / np.sqrt(2)
        block[:, 0] *= scale[i, i] / 2
        rows[:, start:end] = block
    return rows


def climb(prior: Array, odds: float, cuts: Sequence[Cut]) -> Iterator[Certificate]:
    """Yield better and better certificates, one for each barrier parameter, down to `PRECISION`."""
    n = len(prior)
    barrier = _Barrier(*factors(prior, odds, cuts), n)
    point = _start(barrier, prior, odds)
    # Start far inside: near the boundary, where S is nearly singular, steps become short.
    mu = 10 * float(np.sqrt(np.median(point.values)))
    while True:
        point = barrier.climb(point, mu)
        yield Certificate(prior, odds, tuple(cuts), point.multipliers)
        if mu * (len(point.multipliers) - n + 1) < PRECISION * abs(point.bound):
            return
        mu *= 0.2


def _start(barrier: _Barrier, prior: Array, odds: float) -> _Point:
    """Start with `a = p`, `nu = c p`: `S = diag p + (c - (odds + 1)^2 / (4 odds)) p p^T`; scale by the best factor."""
    price, slack = 2 * (odds + 1) ** 2 / (4 * odds), 1e-2 / len(prior)
    cuts = np.ones(len(barrier.left) - 2 * len(prior))
    while (point := barrier.at(np.concatenate([prior, price * prior, slack * cuts]))) is None:
        slack /= 4
    # With all multipliers times f^2 the bound is 2 f tr S^(1/2) - f^2 price.
    factor = ((point.bound + price) / (2 * price)) ** 2
    return barrier.at(factor * point.multipliers) or point
