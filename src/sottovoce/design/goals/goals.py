"""Goals for privacy breach, error and run time, and how far values are from attaining them."""

from dataclasses import dataclass
from math import inf

from sottovoce.errors import SottovoceError


@dataclass(frozen=True)
class Goals:
    """Wanted: at most this privacy breach (one minus basic privacy), relative error of a support, and slowdown.

    A weight says how much of a goal's own unit one unit of attainment is worth; the goals themselves where none is
    given, so that all are missed by the same percentage. A weight of 0 makes a goal hard: it must be met.
    """

    breach: float
    error: float
    slowdown: float
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse goals and weights that are none."""
        for name in ("breach", "error", "slowdown"):
            if not 0 < getattr(self, name) < inf:
                raise SottovoceError(name, "must be a positive number", getattr(self, name))
        given = self.weights
        if given is not None and (len(given) != 3 or not all(0 <= w < inf for w in given) or not any(given)):
            raise SottovoceError("weights", "must be three numbers that are not negative, and not all 0", given)

    @property
    def targets(self) -> tuple[float, float, float]:
        """The three goals."""
        return self.breach, self.error, self.slowdown

    def attainment(self, values: tuple[float, float, float]) -> float:
        """Gembicki's g: the least with `f_i - w_i g <= F_i` for all i; infinite where a hard goal is missed."""
        weights = self.weights or self.targets
        worst = -inf
        for value, goal, weight in zip(values, self.targets, weights, strict=True):
            if weight > 0:
                worst = max(worst, (value - goal) / weight)
            elif value > goal * (1 + 1e-12):
                return inf
        return worst
