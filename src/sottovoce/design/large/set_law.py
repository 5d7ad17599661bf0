"""Moments of a set design without listing its sets."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.large.slab import Slab, slab
from sottovoce.design.solution import SetDesign

_STEP = 0.15
_NODES = np.arange(-4.0, 30.0, _STEP)


@dataclass(frozen=True)
class Moments:
    """`E[t]`, `E[t z_x]` and `E[t z_x z_y]` for the indicator z of a set and a linear `t = constant + slope . z`."""

    total: float
    single: Array
    double: Array


def moments(law: Slab, constant: float, slope: Array) -> Moments:
    """Moments under one slab, from `E[z_x z_y z_w]` of independent draws under each root."""
    chances = law.chances
    mean = constant + chances @ slope
    shared = law.shares[:, None] * chances
    own = chances * (1 - chances) * slope
    single = np.asarray((mean @ shared + law.shares @ own).real)
    cross = own.T @ shared
    double = np.asarray((chances.T @ (mean[:, None] * shared) + cross + cross.T).real)
    np.fill_diagonal(double, single)
    return Moments(law.mean(mean), single, double)


@dataclass(frozen=True)
class SetLaw:
    """A set design in the face of a prior.

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
        """What being in the set adds to u."""
        return 1.0 if self.design.odds is None else self.design.odds - 1

    @property
    def tilt(self) -> tuple[float, Array]:
        """Constant and slope of `t_S` in z."""
        tilt = self.design.tilt
        if tilt is None:
            return 1.0, np.zeros(len(self.prior))
        return self.base * float(tilt.sum()), self.rise * tilt

    @cached_property
    def slabs(self) -> list[Slab]:
        """Laws of the components."""
        return [_slab(part.weights, part.lengths, part.size) for part in self.design.components]

    @cached_property
    def moments(self) -> Moments:
        """Moments of the mixture."""
        return _mixed(
            [(part.mass, law) for part, law in zip(self.design.components, self.slabs, strict=True)], self.tilt
        )

    @cached_property
    def norm(self) -> Array:
        """`norm_x = E[t u_x]`, the same for all truths in a good design under LDP."""
        return self.base * self.moments.total + self.rise * self.moments.single

    @property
    def lifts(self) -> Array:
        """`q = p / norm`."""
        return self.prior / self.norm

    def decays(self) -> Iterator[tuple[float, float, Moments]]:
        """Nodes tau, their weights `d tau`, and moments of `t exp(-tau s)`, to integrate over tau > 0.

        `tau = exp(y - exp(-y))` with equal steps in y (H. Takahasi & M. Mori (1974), Publ. RIMS 9, 721-741); s is
        in units of its mean. Nodes at which nothing is left of it are left out.
        """
        q, scale = self.lifts, self.scale
        least = (self.base * q.sum() + self.rise * (1 - self.base) * q.min()) / scale
        taus = np.exp(_NODES - np.exp(-_NODES))
        steps = _STEP * taus * (1 + np.exp(-_NODES))
        kept = taus * least < 60
        for tau, step in zip(taus[kept].tolist(), steps[kept].tolist(), strict=True):
            mixture = []
            for part, law in zip(self.design.components, self.slabs, strict=True):
                faded = _slab(part.weights, part.lengths, part.size, tau * self.rise * q / scale)
                fall = faded.log_total - law.log_total - tau * self.base * q.sum() / scale
                mixture.append((part.mass * float(np.exp(fall)), faded))
            yield tau, step, _mixed(mixture, self.tilt)

    @cached_property
    def scale(self) -> float:
        """Mean of s under m t; `E[t s]` is one."""
        return 1 / self.moments.total


def _mixed(mixture: list[tuple[float, Slab]], tilt: tuple[float, Array]) -> Moments:
    parts = [(mass, moments(law, *tilt)) for mass, law in mixture]
    return Moments(
        sum(mass * part.total for mass, part in parts),
        np.sum([mass * part.single for mass, part in parts], axis=0),
        np.sum([mass * part.double for mass, part in parts], axis=0),
    )


def _slab(weights: Array, lengths: Array, size: int, fade: Array | float = 0.0) -> Slab:
    return slab(np.log(weights) - fade, lengths, size)
