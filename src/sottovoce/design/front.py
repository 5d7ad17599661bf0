"""A front: channels to choose from, with what each attains, in order of what they cost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.objective import GUESSES_AND_ERROR, Objective, hypervolume, non_dominated
from sottovoce.design.point import Point
from sottovoce.errors import SottovoceError, Words

TOLERANCE = 1e-9
"""Relative excess over a level that is put down to rounding."""

SHORT = {"accuracy": "adversary_accuracy", "delta": "worst_posterior", "information": "mutual_information"}
"""Levels that have a shorter name."""


@dataclass(frozen=True)
class Front:
    """Points in order of the last objective, the best first; `prior` and `respondents` are what they were made for.

    >>> from sottovoce.design.sweep import warner_sweep
    >>> front = warner_sweep([0.5, 0.3, 0.2], respondents=1000, steps=100)
    >>> round(front.pick(accuracy=0.6)["mse"], 6)
    0.001373
    """

    points: tuple[Point, ...]
    prior: tuple[float, ...]
    respondents: float
    name: str = "front"
    objectives: tuple[Objective, ...] = GUESSES_AND_ERROR

    def __post_init__(self) -> None:
        """Put the points in order."""
        last = self.objectives[-1]
        ordered = sorted(self.points, key=lambda point: last.loss(point[last.name]))
        object.__setattr__(self, "points", tuple(ordered))

    def __len__(self) -> int:
        """Number of points."""
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        """Points, in order."""
        return iter(self.points)

    def __getitem__(self, place: int) -> Point:
        """Point at a place."""
        return self.points[place]

    def losses(self) -> Array:
        """Objectives of each point, points by objectives, turned so that less is better."""
        rows = [[goal.loss(point[goal.name]) for goal in self.objectives] for point in self.points]
        return np.array(rows).reshape(len(rows), len(self.objectives))

    def non_dominated(self) -> "Front":
        """Points that no other point beats in all objectives."""
        kept = non_dominated(self.losses())
        return replace(self, points=tuple(point for point, keep in zip(self.points, kept, strict=True) if keep))

    def within(self, **levels: float) -> "Front":
        """Points that meet every level: at most so much of each measure, or at least where more is better."""
        return replace(self, points=tuple(point for point in self.points if self._meets(point, levels)))

    def pick(self, **levels: float) -> Point:
        """Best point that meets every level, such as `accuracy=.5`, `epsilon=1`, `delta=.75` or `mse=1e-4`.

        Best is the least of the last objective for which no level was given.
        """
        found = self.within(**levels).points
        if not found:
            raise self._out_of_reach(levels)
        given = {SHORT.get(name, name) for name in levels}
        open_goals = [goal for goal in self.objectives if goal.name not in given] or list(self.objectives)
        return min(found, key=lambda point: open_goals[-1].loss(point[open_goals[-1].name]))

    def hypervolume(self, reference: Sequence[float]) -> float:
        """Area between this front and a reference point, one value for each of the two objectives."""
        if len(self.objectives) != 2 or len(reference) != 2:
            raise SottovoceError("reference", "must have a value for each of two objectives", reference)
        turned = [goal.loss(value) for goal, value in zip(self.objectives, reference, strict=True)]
        return hypervolume(self.losses(), np.array(turned))

    def plot(self, *others: "Front", axes: Any = None, path: Any = None) -> Any:
        """Draw this front, and others over it, on one picture; needs matplotlib (extra `plot`)."""
        from sottovoce.design.picture import draw

        return draw((self, *others), axes, path)

    def to_json(self) -> dict[str, Any]:
        """Points and what they were made for."""
        return {
            "name": self.name,
            "prior": list(self.prior),
            "respondents": self.respondents,
            "objectives": [{"name": goal.name, "more": goal.more} for goal in self.objectives],
            "points": [point.to_json() for point in self.points],
        }

    @classmethod
    def from_json(cls, json: Any) -> "Front":
        """Read what `to_json` wrote."""
        try:
            sizes = (len(json["prior"]),)
            points = tuple(Point.from_json(sizes, point) for point in json["points"])
            goals = tuple(Objective(**goal) for goal in json["objectives"])
            return cls(points, tuple(map(float, json["prior"])), json["respondents"], json["name"], goals)
        except (KeyError, TypeError) as reason:
            raise SottovoceError("front", f"must be written in full ({reason})", Words("one that is not")) from None

    def _meets(self, point: Point, levels: Mapping[str, float]) -> bool:
        return all(self._loss(point, name) <= self._allowed(name, level) for name, level in levels.items())

    def _allowed(self, name: str, level: float) -> float:
        turned = self._goal(name).loss(level)
        return turned + TOLERANCE * abs(turned)

    def _loss(self, point: Point, name: str) -> float:
        goal = self._goal(name)
        return goal.loss(point[goal.name])

    def _goal(self, name: str) -> Objective:
        full = SHORT.get(name, name)
        return next((goal for goal in self.objectives if goal.name == full), Objective(full))

    def _out_of_reach(self, levels: Mapping[str, float]) -> SottovoceError:
        """Name the first level that no point meets, and the nearest one that some point does."""
        for name, level in levels.items():
            if self.points and not len(self.within(**{name: level})):
                nearest = min(self.points, key=lambda point: self._loss(point, name))
                side = "at most" if self._goal(name).more else "at least"
                value = nearest[self._goal(name).name]
                if value == inf:
                    return SottovoceError(name, "must be left out: it is unbounded at every point of this front", level)
                return SottovoceError(name, f"must be {side} {value:.6g}, the best on this front", level)
        return SottovoceError("levels", "must be met by some point together, not only one by one", dict(levels))
