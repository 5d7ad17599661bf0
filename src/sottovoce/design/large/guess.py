"""The adversary's best guess from a set."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.design.large.first_member import FirstMembers


@dataclass(frozen=True)
class Guess:
    """`max_x q_x u_x`, which depends on a set's first member alone, with categories in order of q.

    It is that of the first member, or of the first of all categories if that has the larger `q u`. Chances are means
    of `t_S max_x q_x u_x` over a component's sets, `t = constant + slope . z`.
    """

    order: NDArray[np.intp]
    gains: Array
    constant: float
    slope: Array

    @staticmethod
    def of(lifts: Array, base: float, rise: float, tilt: tuple[float, Array]) -> "Guess":
        """Gains for `u = base + rise z` and `q = lifts`."""
        order = np.argsort(-lifts, kind="stable")
        gains = (base + rise) * lifts[order]
        gains[1:] = np.maximum(gains[1:], base * lifts[order[0]])
        return Guess(order, gains, tilt[0], tilt[1][order])

    def chance(self, log_weights: Array, lengths: Array, size: int) -> float:
        """Chance of a right guess."""
        return float(self.gains @ self._members(log_weights, lengths, size).shares(self.constant))

    def chance_and_slopes(self, log_weights: Array, lengths: Array, size: int) -> tuple[float, Array]:
        """Chance, and its derivatives by the log-weights."""
        members, found = self._members(log_weights, lengths, size), np.zeros(len(self.order))
        found[self.order] = members.slopes(self.constant, self.gains)
        return float(self.gains @ members.shares(self.constant)), found

    def _members(self, log_weights: Array, lengths: Array, size: int) -> FirstMembers:
        return FirstMembers.of(log_weights[self.order], lengths[self.order], size, self.slope)
