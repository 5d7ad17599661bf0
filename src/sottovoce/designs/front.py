"""Fronts: channels to choose from, what each attains, and, where certified, what nothing can beat."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array, Channel
from sottovoce.designs.exact_scheme import Settled, relative_gap
from sottovoce.designs.measures import MEASURES, UNBOUNDED
from sottovoce.errors import SottovoceError, Words
from sottovoce.schemes.scheme import Sizes
from sottovoce.tables.figures import new_axes, save_figure

LARGEST_MATRIX = 10**6
"""Entries of a matrix that is written out."""
LABELS = {
    "mse": "mean squared error of a proportion",
    "iterative_mse": "mean squared error of the most likely distribution",
    "adversary_accuracy": "right guesses of the best adversary",
    "worst_posterior": "worst posterior",
    "mutual_information": "bits told by a report",
    "distortion": "wrong reports",
}
MARKED = 60
"""Points up to which each is marked."""
TOLERANCE = 1e-9
"""Relative excess over a level that is put down to rounding."""

SHORT = {"accuracy": "adversary_accuracy", "delta": "worst_posterior", "information": "mutual_information"}
"""Levels that have a shorter name."""


@dataclass(frozen=True)
class Objective:
    """A measure of which less is wanted, or more where it says so."""

    name: str
    more: bool = False

    def loss(self, value: float) -> float:
        """Value turned so that less is better."""
        return -value if self.more else value


GUESSES_AND_ERROR = (Objective("adversary_accuracy"), Objective("mse"))
"""OptRR's trade (Huang & Du 2008): right guesses of the adversary against the error of the estimate."""

BITS_AND_DISTORTION = (Objective("mutual_information"), Objective("distortion"))
"""MOPSO's trade (Gao et al. 2018): bits told against wrong reports."""


def non_dominated(losses: Array) -> NDArray[np.bool_]:
    """Rows that no other row beats: at most as large everywhere, and less somewhere. The first of equals stays.

    >>> non_dominated(np.array([[1.0, 2.0], [2.0, 1.0], [2.0, 2.0], [1.0, 2.0]]))
    array([ True,  True, False, False])
    """
    if losses.shape[1] == 2:
        return _in_the_plane(losses)
    kept = np.ones(len(losses), bool)
    for i, row in enumerate(losses):
        no_worse = (losses <= row).all(axis=1)
        less = (losses < row).any(axis=1)
        less[:i] = True  # an equal row before this one stands for both
        less[i] = False
        kept[i] = not (no_worse & less).any()
    return kept


def _in_the_plane(losses: Array) -> NDArray[np.bool_]:
    """In order of the first loss, then of the second: a row stays if its second is less than any before it."""
    order = np.lexsort((losses[:, 1], losses[:, 0]))
    second = losses[order, 1]
    kept = np.ones(len(losses), bool)
    kept[order[1:]] = second[1:] < np.minimum.accumulate(second)[:-1]
    return kept


def hypervolume(losses: Array, reference: Array) -> float:
    """Area between the points and a reference point that is worse than they: more is better. Exact, in the plane.

    Each point dominates the rectangle between itself and the reference; this is the area of their union. Points that
    are not better than the reference in both add nothing (Zitzler & Thiele 1999, IEEE Trans. Evol. Comp. 3).

    >>> hypervolume(np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 0.0]]), np.array([2.0, 2.0]))
    3.0
    """
    inside = losses[(losses < reference).all(axis=1)]
    steps = inside[np.lexsort((inside[:, 1], inside[:, 0]))]
    floor = np.minimum.accumulate(np.append(reference[1], steps[:, 1]))
    return float(((reference[0] - steps[:, 0]) * (floor[:-1] - floor[1:])).sum())


@dataclass(frozen=True)
class Certificate:
    """No channel that meets the requirement has an `objective` below `lower_bound`.

    `rounding_loss` is the part by which whole sides of coins made the objective worse than the optimiser left it.
    """

    objective: str
    lower_bound: float
    rounding_loss: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return {
            "objective": self.objective,
            "lower_bound": self.lower_bound,
            "rounding_loss": self.rounding_loss,
        }


@dataclass(frozen=True)
class Point:
    """`scheme` may stand in a plan; `measures` are of its integers, by name. Absent ones have no meaning for it.

    >>> from sottovoce.schemes.warner import Warner
    >>> point = Point(Settled.of(Warner(p=0.75), (2,)), {"mse": 3e-4}, Certificate("mse", 2e-4))
    >>> point["mse"], round(point.gap, 6)
    (0.0003, 0.5)
    """

    scheme: Settled
    measures: Mapping[str, float]
    certificate: Certificate | None = None

    def __getitem__(self, measure: str) -> float:
        """Value of a measure."""
        if measure not in self.measures:
            raise SottovoceError("measure", f"must be one of {', '.join(self.measures)}", measure)
        return self.measures[measure]

    @property
    def channel(self) -> Channel:
        """Channel of the very integers that a device will use."""
        return self.scheme.settled.channel

    @property
    def deniable(self) -> bool:
        """Whether every report could have come from every truth."""
        return self.channel.odds is not None

    @property
    def lower_bound(self) -> float | None:
        """What no channel can beat, where it is proven."""
        return None if self.certificate is None else self.certificate.lower_bound

    @property
    def gap(self) -> float | None:
        """Relative distance of the rounded channel from the proven bound."""
        if self.certificate is None:
            return None
        return relative_gap(self[self.certificate.objective], self.certificate.lower_bound)

    def matrix(self) -> Array | None:
        """Reports by truths, of sets only those that can come; None where it has more than a million entries."""
        channel = self.channel
        if channel.n_in * channel.n_out > LARGEST_MATRIX:
            return None
        matrix = channel.dense()
        return matrix[matrix.any(axis=1)] if len(channel.shape_out) > 1 else matrix

    def to_json(self) -> dict[str, Any]:
        """Matrix, scheme, every measure, bound and gap; what is infinite or has no meaning is null."""
        matrix = self.matrix()
        certificate = Certificate("", 0) if self.certificate is None else self.certificate
        numbers = {name: self.measures.get(name) for name in (*MEASURES, *self.measures)}
        return {
            "matrix": None if matrix is None else matrix.tolist(),
            "channel": self.scheme.to_json(),
            **{name: value if value is not None and isfinite(value) else None for name, value in numbers.items()},
            **{key: None if self.certificate is None else value for key, value in certificate.to_json().items()},
            "gap": self.gap,
        }

    @classmethod
    def from_json(cls, sizes: Sizes, json: Any) -> "Point":
        """Read what `to_json` wrote, for truths of these sizes; the matrix is that of the channel's integers."""
        if not isinstance(json, dict) or "channel" not in json:
            raise SottovoceError("point", "must be an object with a channel", json)
        given = {name: value for name, value in json.items() if name not in _OTHERS}
        measures = {
            name: inf if value is None else float(value)
            for name, value in given.items()
            if value is not None or name in UNBOUNDED
        }
        proof: dict[str, Any] = {key: json.get(key) for key in _PROOF}
        certificate = None if proof["lower_bound"] is None else Certificate(**proof)
        return cls(Settled.from_json(sizes, json["channel"]), measures, certificate)


_PROOF = ("objective", "lower_bound", "rounding_loss")
_OTHERS = {"matrix", "channel", "gap", *_PROOF}


def draw(fronts: "Sequence[Front]", axes: Any = None, path: str | Path | None = None) -> Any:
    """Draw fronts of the same two objectives; give back matplotlib's axes, and write a file where asked to."""
    first, second = _shared_objectives(fronts)
    canvas = new_axes(7, 5) if axes is None else axes
    for front in fronts:
        kept = front.non_dominated()
        values = np.array([[point[first.name], point[second.name]] for point in kept]).reshape(-1, 2)
        seen = values[np.isfinite(values).all(axis=1)]
        marker = "o" if len(seen) <= MARKED else ""
        canvas.plot(*seen[np.argsort(seen[:, 0])].T, marker=marker, markersize=3, label=front.name)
    canvas.set(xlabel=LABELS.get(first.name, first.name), ylabel=LABELS.get(second.name, second.name))
    if second.name.endswith("mse"):
        canvas.set_yscale("log")
    canvas.grid(visible=True, alpha=0.3)
    canvas.legend()
    if path is not None:
        save_figure(canvas, path)
    return canvas


def _shared_objectives(fronts: "Sequence[Front]") -> Any:
    goals = fronts[0].objectives
    if len(goals) != 2 or any(front.objectives != goals for front in fronts):
        raise SottovoceError("fronts", "must have the same two objectives", [front.name for front in fronts])
    return goals


@dataclass(frozen=True)
class Front:
    """Points in order of the last objective, the best first; `prior` and `respondents` are what they were made for.

    >>> from sottovoce.designs.sweeps import warner_sweep
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
