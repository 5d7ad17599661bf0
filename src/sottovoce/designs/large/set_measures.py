"""Measures of the privacy and error of a set design, without listing its sets."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array
from sottovoce.designs.exact_scheme import SetDesign
from sottovoce.designs.large.set_distribution import SetDistribution, lightest_sets, typical_shift


@dataclass(frozen=True)
class FirstMembers:
    """Sums over the sets of categories from each rank on, by total length, and over those that contain the first.

    Sums of products of weights, and of these times `slope . z`.
    """

    lengths: NDArray[np.int64]
    weights: Array
    slope: Array
    plain: Array
    held: Array
    held_tilted: Array

    @staticmethod
    def of(log_weights: Array, lengths: Array, size: int, slope: Array) -> "FirstMembers":
        """Compute the sums from the last rank up; all arguments are in the order of ranks."""
        weights = np.exp(log_weights + typical_shift(log_weights, lengths, size) * lengths)
        steps, n = lengths.astype(np.int64), len(weights)
        plain, held, held_tilted = np.zeros((n + 1, size + 1)), np.zeros((n, size + 1)), np.zeros((n, size + 1))
        plain[n, 0], tilted = 1.0, np.zeros(size + 1)
        for r in range(n - 1, -1, -1):
            held[r] = weights[r] * _up(plain[r + 1], steps[r])
            held_tilted[r] = weights[r] * _up(tilted, steps[r]) + slope[r] * held[r]
            plain[r], tilted = plain[r + 1] + held[r], tilted + held_tilted[r]
        return FirstMembers(steps, weights, slope, plain, held, held_tilted)

    def shares(self, constant: float) -> Array:
        """`E[t; the first member has rank r]` for each r, with `t = constant + slope . z`.

        >>> FirstMembers.of(np.zeros(3), np.ones(3), 2, np.zeros(3)).shares(1.0).round(12)
        array([0.66666667, 0.33333333, 0.        ])
        """
        return np.asarray((constant * self.held[:, -1] + self.held_tilted[:, -1]) / self.plain[0, -1])

    def slopes(self, constant: float, gains: Array) -> Array:
        """Return the gradient of `gains . shares` by the log-weights, by reverse differentiation."""
        total, gradient = self.plain[0, -1], np.zeros(len(gains))
        by_plain, by_tilted = np.zeros_like(self.plain[0]), np.zeros_like(self.plain[0])
        by_plain[-1] = -gains @ self.shares(constant) / total
        for r, (weight, step) in enumerate(zip(self.weights, self.lengths, strict=True)):
            by_held_tilted = by_tilted.copy()
            by_held_tilted[-1] += gains[r] / total
            by_held = by_plain + self.slope[r] * by_held_tilted
            by_held[-1] += gains[r] * constant / total
            rest = self.held_tilted[r] - self.slope[r] * self.held[r]
            gradient[r] = by_held @ self.held[r] + by_held_tilted @ rest
            by_plain = by_plain + weight * _down(by_held, step)
            by_tilted = by_tilted + weight * _down(by_held_tilted, step)
        return gradient


def _up(row: Array, by: int) -> Array:
    """Shift a row to larger totals."""
    return np.concatenate([np.zeros(min(by, len(row))), row[: max(len(row) - by, 0)]])


def _down(row: Array, by: int) -> Array:
    """Transpose of `_up`."""
    return np.concatenate([row[by:], np.zeros(min(by, len(row)))])


@dataclass(frozen=True)
class BestGuess:
    """The adversary's best guess from a set, which depends on its first member in order of q.

    It is the first member, or the first of all categories if that has the larger `q u`, and right with `max_x q_x u_x`.
    Chances are means of `t_S max_x q_x u_x` over the sets of a component, `t = constant + slope . z`.
    """

    order: NDArray[np.intp]
    gains: Array
    constant: float
    slope: Array

    @staticmethod
    def of(lifts: Array, base: float, rise: float, tilt: tuple[float, Array]) -> "BestGuess":
        """Compute the gains for `u = base + rise z` and `q = lifts`."""
        order = np.argsort(-lifts, kind="stable")
        gains = (base + rise) * lifts[order]
        gains[1:] = np.maximum(gains[1:], base * lifts[order[0]])
        return BestGuess(order, gains, tilt[0], tilt[1][order])

    def chance(self, log_weights: Array, lengths: Array, size: int) -> float:
        """Chance of a right guess."""
        return float(self.gains @ self._members(log_weights, lengths, size).shares(self.constant))

    def chance_and_slopes(self, log_weights: Array, lengths: Array, size: int) -> tuple[float, Array]:
        """Return the chance, and its gradient by the log-weights."""
        members, gradient = self._members(log_weights, lengths, size), np.zeros(len(self.order))
        gradient[self.order] = members.slopes(self.constant, self.gains)
        return float(self.gains @ members.shares(self.constant)), gradient

    def _members(self, log_weights: Array, lengths: Array, size: int) -> FirstMembers:
        return FirstMembers.of(log_weights[self.order], lengths[self.order], size, self.slope)


def information_matrix(design: SetDesign, prior: Array) -> Array:
    """`J = sum_S A(S|x) A(S|y) / P(S) = E[t u_x u_y / s] / (norm_x norm_y)`; `1/s` is the integral of `exp(-tau s)`."""
    sets = SetDistribution(design, prior)
    total = np.zeros((len(prior), len(prior)))
    for _, step, part in sets.decays():
        edge = sets.base * sets.rise * part.single
        total += step * (sets.base**2 * part.total + np.add.outer(edge, edge) + sets.rise**2 * part.double)
    return total / (sets.scale * np.outer(sets.norm, sets.norm))


def mean_squared_error(design: SetDesign, prior: Array) -> float:
    """`(tr J^-1 - |p|^2) / n`: mean squared error of an estimated proportion, times the number of respondents."""
    inverse = np.linalg.inv(information_matrix(design, prior))
    return float((np.trace(inverse) - prior @ prior) / len(prior))


def mutual_information(design: SetDesign, prior: Array) -> float:
    """Mutual information of set and truth in bits, `E[log2(A(S|x) / P(S))]`.

    The logarithm of `A(S|x) / P(S) = u_x / (norm_x s)` has three parts; that of s is the integral of
    `(exp(-tau) - exp(-tau s)) / tau`.
    """
    sets = SetDistribution(design, prior)
    odds, q = design.odds, sets.lifts
    inside = 0.0 if odds is None else odds * float(np.log(odds) * (q @ sets.moments.single))
    log_s = np.log(sets.scale)
    for tau, step, part in sets.decays():
        left = sets.base * q.sum() * part.total + sets.rise * float(q @ part.single)
        log_s += (np.exp(-tau) - left) * step / tau
    nats = inside - prior @ np.log(sets.norm) - log_s
    return max(float(nats / np.log(2)), 0.0)


def adversary_accuracy(design: SetDesign, prior: Array) -> float:
    """Share of right guesses of an adversary who knows the prior, `sum_S m t max_x q_x u_x`.

    With categories in order of `q = p / norm`, the best guess is the first member of the set, or the first of all
    categories if that has the larger `q u`. One minus this is the guess's expected distortion.
    """
    sets = SetDistribution(design, prior)
    guess = BestGuess.of(sets.lifts, sets.base, sets.rise, sets.tilt)
    return float(
        sum(part.mass * guess.chance(np.log(part.weights), part.lengths, part.size) for part in design.components)
    )


def worst_posterior(design: SetDesign, prior: Array) -> float:
    """Largest posterior `P(x | S) = q_x u_x / s` over all sets that can be reported."""
    sets = SetDistribution(design, prior)
    q = sets.lifts
    worst = 0.0
    for part in design.components:
        for member, top in ((1, sets.base + sets.rise), (0, sets.base)):
            rest = lightest_sets(part, q, member=bool(member))
            worst = max(worst, float((q * top / (sets.base * q.sum() + sets.rise * (rest + member * q))).max()))
    return worst


def epsilon(design: SetDesign, prior: Array) -> float:
    """`log max_S max_xy A(S|x) / A(S|y)`, the logarithm of the odds where norms are equal; infinite without odds."""
    if design.odds is None:
        return float("inf")
    norm = SetDistribution(design, prior).norm
    return float(np.log(design.odds * norm.max() / norm.min()))
