"""Distributions of weighted sets and their moments, without listing the sets."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array
from sottovoce.designs.exact_scheme import SetComponent, SetDesign

Complex = NDArray[np.complex128]
_STEP = 0.15
_NODES = np.arange(-4.0, 30.0, _STEP)
"""Nodes of the double-exponential quadrature, before its change of variable."""


@dataclass(frozen=True)
class ConditionalPoisson:
    """Distribution of sets with `lengths . z = size`, in proportion to `prod_{i in S} w_i`, z the indicator of S.

    The condition is a sum over roots of unity, `sum_r omega_r^(lengths . z - size)`, and under each root categories
    are independent, with the complex "chances" `w_i omega^l_i / (1 + w_i omega^l_i)` (S. X. Chen & J. S. Liu
    (1997), Statistica Sinica 7, 875-892, for unit lengths). Roots come in conjugate pairs, of which one is kept.
    """

    shares: Complex
    chances: Complex
    log_total: float

    @cached_property
    def inclusion(self) -> Array:
        """`P(i in S)`."""
        return np.asarray((self.shares @ self.chances).real)

    @cached_property
    def pairs(self) -> Array:
        """`P(i in S and j in S)`."""
        pairs = np.asarray((self.chances.T @ (self.shares[:, None] * self.chances)).real)
        np.fill_diagonal(pairs, self.inclusion)
        return pairs

    def mean(self, values: Any) -> float:
        """Mean of a variable with these means under each root."""
        return float((self.shares @ values).real)


def conditional_poisson(log_weights: Array, lengths: Array, size: int) -> ConditionalPoisson:
    """Return the distribution of sets with these weights, which are first multiplied by `exp(shift lengths)`.

    That does not change the distribution, but makes the size typical, so that the sum over roots loses no digits. The
    number of roots is odd, so that none is -1, and large enough for no other total to alias with the size.

    >>> sets = conditional_poisson(np.log([1.0, 2.0, 3.0]), np.ones(3), 2)
    >>> sets.inclusion.round(12), round(np.exp(sets.log_total), 9)
    (array([0.45454545, 0.72727273, 0.81818182]), np.float64(11.0))
    """
    shift = typical_shift(log_weights, lengths, size)
    # Far beyond any effect, and short of overflow.
    weights = np.exp(np.clip(log_weights + shift * lengths, -700, 700))
    count = max(size, int(lengths.sum()) - size) // 2 * 2 + 3
    angles = 2j * np.pi * np.arange(count // 2 + 1) / count
    odds = weights * np.exp(angles[:, None] * lengths)
    logs = np.log1p(odds).sum(axis=1)
    terms = np.exp(logs - logs[0].real - angles * size) * np.where(angles == 0, 1.0, 2.0) / count
    # If the size is improbable, digits are lost; the terms times the total remain accurate even so.
    total = max(float(terms.real.sum()), 1e-200)
    log_total = float(np.log(total) + logs[0].real - shift * size)
    return ConditionalPoisson(terms / total, odds / (1 + odds), log_total)


def typical_shift(log_weights: Array, lengths: Array, size: int) -> float:
    """Return the shift at which independent draws have the size as mean total length, by bisection."""
    reach = 50 + float(np.abs(log_weights).max())
    low, high = -reach, reach
    for _ in range(50):
        middle = (low + high) / 2
        below = lengths @ (1 + np.tanh((log_weights + middle * lengths) / 2)) < 2 * size
        low, high = (middle, high) if below else (low, middle)
    return low


def lightest_sets(part: SetComponent, loads: Array, *, member: bool) -> Array:
    """Return, for each x, the least load of the other members over the sets with x, or without x; infinite if none.

    An exactly filled knapsack of the categories before x and those after it.

    >>> pairs = SetComponent(1.0, 2, np.ones(3), np.ones(3))
    >>> lightest_sets(pairs, np.array([1.0, 2.0, 4.0]), member=True)
    array([2., 1., 1.])
    """
    lengths = part.lengths.astype(int)
    before = _lightest(part.size, lengths, loads)
    after = _lightest(part.size, lengths[::-1], loads[::-1])[::-1]
    least = np.full(len(loads), np.inf)
    for x, length in enumerate(lengths):
        room = part.size - length if member else part.size
        if room >= 0:
            least[x] = (before[x][: room + 1] + after[x + 1][: room + 1][::-1]).min()
    return least


def _lightest(size: int, lengths: NDArray[np.int64], loads: Array) -> Array:
    """Least load for each total length up to the size, among the first 0, 1, ... categories."""
    rows = np.full((len(loads) + 1, size + 1), np.inf)
    rows[0, 0] = 0.0
    for i, (length, load) in enumerate(zip(lengths, loads, strict=True)):
        rows[i + 1] = rows[i]
        if length <= size:
            rows[i + 1, length:] = np.minimum(rows[i, length:], rows[i, : size + 1 - length] + load)
    return rows


@dataclass(frozen=True)
class Moments:
    """`E[t]`, `E[t z_x]` and `E[t z_x z_y]` for the indicator z of a set and a linear `t = constant + slope . z`."""

    total: float
    single: Array
    double: Array


def moments(sets: ConditionalPoisson, constant: float, slope: Array) -> Moments:
    """Return the moments of one distribution, from `E[z_x z_y z_w]` of independent draws under each root."""
    chances = sets.chances
    mean = constant + chances @ slope
    shared = sets.shares[:, None] * chances
    variance = chances * (1 - chances) * slope
    single = np.asarray((mean @ shared + sets.shares @ variance).real)
    cross = variance.T @ shared
    double = np.asarray((chances.T @ (mean[:, None] * shared) + cross + cross.T).real)
    np.fill_diagonal(double, single)
    return Moments(sets.mean(mean), single, double)


@dataclass(frozen=True)
class SetDistribution:
    """Distribution of the reported set of a design, under a prior.

    `u = base + rise z` for the indicator z of the set, `P(S) = m(S) t_S s_S` with `s = u . q`, `q_x = p_x / norm_x`.
    """

    design: SetDesign
    prior: Array

    @property
    def base(self) -> float:
        """Value of u outside the set."""
        return 0.0 if self.design.odds is None else 1.0

    @property
    def rise(self) -> float:
        """Difference of u inside and outside the set."""
        return 1.0 if self.design.odds is None else self.design.odds - 1

    @property
    def tilt(self) -> tuple[float, Array]:
        """Constant and slope of `t_S` in z."""
        tilt = self.design.tilt
        if tilt is None:
            return 1.0, np.zeros(len(self.prior))
        return self.base * float(tilt.sum()), self.rise * tilt

    @cached_property
    def components(self) -> list[ConditionalPoisson]:
        """Distributions of the components."""
        return [_component(part.weights, part.lengths, part.size) for part in self.design.components]

    @cached_property
    def moments(self) -> Moments:
        """Moments of the mixture."""
        return _mixed(
            [(part.mass, sets) for part, sets in zip(self.design.components, self.components, strict=True)], self.tilt
        )

    @cached_property
    def norm(self) -> Array:
        """`norm_x = E[t u_x]`, the same for all truths in a good design under bounded odds."""
        return self.base * self.moments.total + self.rise * self.moments.single

    @property
    def lifts(self) -> Array:
        """`q = p / norm`."""
        return self.prior / self.norm

    def decays(self) -> Iterator[tuple[float, float, Moments]]:
        """Yield nodes tau, their weights `d tau`, and moments of `t exp(-tau s)`, to integrate over tau > 0.

        `tau = exp(y - exp(-y))` with equal steps in y (H. Takahasi & M. Mori (1974), Publ. RIMS 9, 721-741); s is
        in units of its mean. Nodes at which the integrand vanishes are skipped.
        """
        q, scale = self.lifts, self.scale
        least = (self.base * q.sum() + self.rise * (1 - self.base) * q.min()) / scale
        taus = np.exp(_NODES - np.exp(-_NODES))
        steps = _STEP * taus * (1 + np.exp(-_NODES))
        kept = taus * least < 60
        for tau, step in zip(taus[kept].tolist(), steps[kept].tolist(), strict=True):
            mixture = []
            for part, sets in zip(self.design.components, self.components, strict=True):
                faded = _component(part.weights, part.lengths, part.size, tau * self.rise * q / scale)
                fall = faded.log_total - sets.log_total - tau * self.base * q.sum() / scale
                mixture.append((part.mass * float(np.exp(fall)), faded))
            yield tau, step, _mixed(mixture, self.tilt)

    @cached_property
    def scale(self) -> float:
        """Mean of s under m t; `E[t s]` is one."""
        return 1 / self.moments.total


def _mixed(mixture: list[tuple[float, ConditionalPoisson]], tilt: tuple[float, Array]) -> Moments:
    parts = [(mass, moments(sets, *tilt)) for mass, sets in mixture]
    return Moments(
        sum(mass * part.total for mass, part in parts),
        np.sum([mass * part.single for mass, part in parts], axis=0),
        np.sum([mass * part.double for mass, part in parts], axis=0),
    )


def _component(weights: Array, lengths: Array, size: int, fade: Array | float = 0.0) -> ConditionalPoisson:
    return conditional_poisson(np.log(weights) - fade, lengths, size)
