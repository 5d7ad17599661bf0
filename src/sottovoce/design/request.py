"""A request for a design, in plain values."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.design.front import Front
from sottovoce.design.objective import BITS_AND_DISTORTION
from sottovoce.design.point import Point
from sottovoce.design.requirement import Requirement
from sottovoce.errors import SottovoceError

OBJECTIVES = ("mse", "information")


@dataclass(frozen=True)
class Request:
    """What is asked for; levels of accuracy or distortion where single points are wanted instead of a front."""

    prior: Any
    respondents: float
    objective: str = "mse"
    accuracies: Sequence[float] | None = None
    distortions: Sequence[float] | None = None
    delta: float | None = None
    odds: Fraction | None = None
    points: int | None = None
    max_reports: int | None = None
    generations: int | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        if self.objective not in OBJECTIVES:
            raise SottovoceError("objective", f"must be one of {', '.join(OBJECTIVES)}", self.objective)
        for name in ("accuracies", "delta", "max_reports") if self.objective == "information" else ("distortions",):
            if getattr(self, name) is not None:
                singular = {"accuracies": "accuracy", "distortions": "distortion"}.get(name, name)
                raise SottovoceError(
                    singular, f"must be left out for the objective {self.objective}", getattr(self, name)
                )

    @property
    def single(self) -> bool:
        """Whether odds are the level: under them alone one channel has the least error; `points` ask for a front."""
        return self.odds is not None and self.points is None

    @property
    def requirement(self) -> Requirement:
        """Bounds that hold at every point."""
        return Requirement.of(self.prior, delta=self.delta, odds=self.odds)

    def front(self, points: Sequence[Point], name: str) -> Front:
        """Front of points made to order."""
        objectives = {"objectives": BITS_AND_DISTORTION} if self.objective == "information" else {}
        return Front(tuple(points), self.requirement.prior, self.respondents, name, **objectives)
