"""Mixtures of weighted sets as LDP designs: their error, its slope, and how to make columns sum to one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.large.slab import Slab, slab
from sottovoce.design.solution import SetComponent, SetDesign

Condition = Callable[[Array], tuple[float, Array]]
"""Value and gradient."""

Support = tuple[Array, int]
"""Lengths and size: the sets of one component."""


@dataclass(frozen=True)
class SetMixture:
    """`A(S|x) = m_S (u_S . p) u_S(x)`, m a mixture of slabs and `u = 1 + (odds - 1) z`, so that `J = sum_S m_S u u^T`.

    Parameters are the log-weights of each component, one after another, and the components' log-masses. Columns sum
    to one where `J p = 1`.
    """

    prior: Array
    odds: float
    supports: Sequence[Support]

    def laws(self, parameters: Array) -> tuple[list[Slab], Array]:
        """Components and masses."""
        n = len(self.prior)
        rows = parameters[: n * len(self.supports)].reshape(-1, n)
        laws = [slab(row, lengths, size) for row, (lengths, size) in zip(rows, self.supports, strict=True)]
        return laws, np.exp(parameters[n * len(self.supports) :])

    def information(self, laws: list[Slab], masses: Array) -> Array:
        """`J = a^2 E[z z^T] + a (E[z] 1^T + 1 E[z]^T) + c`, a = odds - 1, c the total mass."""
        rise = self.odds - 1
        single = sum(mass * law.inclusion for law, mass in zip(laws, masses, strict=True))
        double = sum(mass * law.pairs for law, mass in zip(laws, masses, strict=True))
        return np.asarray(rise**2 * double + rise * np.add.outer(single, single) + masses.sum())

    def lagrangian(self, parameters: Array, price: Array, penalty: float) -> tuple[float, Array]:
        """`tr J^-1 + price . r + penalty |r|^2 / 2`, `r = J p - 1`, and its gradient."""
        laws, masses = self.laws(parameters)
        values, vectors = np.linalg.eigh(self.information(laws, masses))
        if values[0] <= 1e-12:
            return 1e12, np.zeros_like(parameters)
        excess = (vectors * values) @ (vectors.T @ self.prior) - 1
        worth = float((1 / values).sum() + price @ excess + penalty * (excess @ excess) / 2)
        half = np.outer(price + penalty * excess, self.prior) / 2
        slopes = half + half.T - (vectors / values**2) @ vectors.T
        by_law = [self._slope(law, slopes) for law in laws]
        rows = [mass * row for mass, (row, _) in zip(masses, by_law, strict=True)]
        return worth, np.concatenate([*rows, masses * [total for _, total in by_law]])

    def _slope(self, law: Slab, slopes: Array) -> tuple[Array, float]:
        """`Cov(u^T G u, z)` and `E[u^T G u]` under one law, for G the slopes by J."""
        rise = self.odds - 1
        linear = 2 * rise * slopes.sum(axis=1) + rise**2 * np.diag(slopes)
        square = rise**2 * (slopes - np.diag(np.diag(slopes)))
        chances, shares = law.chances, law.shares
        through = chances @ square
        form = chances @ linear + (through * chances).sum(axis=1)
        mean = law.mean(form)
        own = shares[:, None] * chances * (1 - chances) * (linear + 2 * through)
        row = ((shares * form) @ chances).real - law.inclusion * mean + own.sum(axis=0).real
        return np.asarray(row), mean + float(slopes.sum())

    def jacobian(self, laws: list[Slab], masses: Array) -> Array:
        """Derivatives of `J p` by all parameters."""
        blocks = [mass * self._columns(law) for law, mass in zip(laws, masses, strict=True)]
        return np.hstack([block[:, :-1] for block in blocks] + [block[:, -1:] for block in blocks])

    def _columns(self, law: Slab) -> Array:
        """Derivatives of one law's `E[u (u . p)]` by its log-weights, and the mean itself as last column."""
        p, rise, chances = self.prior, self.odds - 1, law.chances
        shared, own = law.shares[:, None] * chances, chances * (1 - chances)
        hits = (chances @ p)[:, None]
        centred = chances - law.inclusion
        joint = hits + p * (1 - chances)
        single = (shared.T @ centred).real + np.diag((law.shares @ own).real)
        double = ((shared * joint).T @ centred).real + (shared.T @ (own * p)).real
        double += np.diag((law.shares @ (own * (hits + p * (1 - 2 * chances)))).real)
        slopes = rise**2 * double + rise * (single + p @ single)
        means = rise**2 * (law.pairs @ p) + rise * (law.inclusion + law.inclusion @ p) + 1
        return np.column_stack([slopes, means])

    def normalised(self, parameters: Array, also: Condition | None = None, *, most: int = 60) -> tuple[Array, float]:
        """Nearby parameters with `J p = 1`, by Newton steps of least length; and the largest residual left.

        `also` is a further condition: what is to become zero, and its gradient.
        """
        excess = self._excess(parameters, also)
        for _ in range(most):
            if np.abs(excess).max() < 1e-12:
                break
            step = np.linalg.lstsq(self._slopes(parameters, also), -excess, rcond=1e-9)[0]
            length = min(1.0, 1 / np.abs(step).max())
            while length > 1e-4:
                new = self._excess(parameters + length * step, also)
                if np.linalg.norm(new) < np.linalg.norm(excess) * (1 - 0.1 * length):
                    break
                length /= 2
            else:
                break
            parameters, excess = parameters + length * step, new
        return parameters, float(np.abs(excess).max())

    def _excess(self, parameters: Array, also: Condition | None) -> Array:
        """What should be zero."""
        excess = self.information(*self.laws(parameters)) @ self.prior - 1
        return excess if also is None else np.append(excess, also(parameters)[0])

    def _slopes(self, parameters: Array, also: Condition | None) -> Array:
        """Derivatives of what should be zero."""
        slopes = self.jacobian(*self.laws(parameters))
        return slopes if also is None else np.vstack([slopes, also(parameters)[1]])

    def error(self, parameters: Array) -> float:
        """`(tr J^-1 - |p|^2) / n`."""
        inverse = np.linalg.inv(self.information(*self.laws(parameters)))
        return float((np.trace(inverse) - self.prior @ self.prior) / len(self.prior))

    def design(self, parameters: Array) -> SetDesign:
        """The design, with the prior as tilt: `t_S = u_S . p`."""
        n = len(self.prior)
        rows = parameters[: n * len(self.supports)].reshape(-1, n)
        masses = np.exp(parameters[n * len(self.supports) :])
        parts = [
            SetComponent(float(mass), size, np.exp(row), lengths)
            for row, mass, (lengths, size) in zip(rows, masses, self.supports, strict=True)
        ]
        return SetDesign(tuple(parts), self.odds, self.prior)
