"""Fronts: designs to choose from, each with its measures and, where certified, a proven lower bound."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.channels.set_valued import LARGEST_LISTED
from sottovoce.checks import Array, Progress
from sottovoce.designs.exact_scheme import ExactScheme, SetDesign, relative_gap, set_design
from sottovoce.display import html_table
from sottovoce.errors import SottovoceError, Words
from sottovoce.measures.matrices import as_prior
from sottovoce.measures.privacy import adversary_accuracy, mutual_information, worst_posterior
from sottovoce.measures.utility import average_mean_squared_error, distortion
from sottovoce.schemes.scheme import Sizes

LARGEST_MATRIX = 10**6
"""Most entries of a matrix that JSON contains."""

MEASURES = ("mse", "adversary_accuracy", "worst_posterior", "epsilon", "mutual_information", "distortion")
"""Names of measures; less is better in all. Distortion is only defined if reports are categories of the truth."""

UNBOUNDED = ("mse", "epsilon")
"""Measures that may be infinite (a singular channel, one that is not deniable), which JSON writes as null."""

BLOCK = 2**22
"""Most matrix entries that are measured at a time."""

Measures = dict[str, float]

TOLERANCE = 1e-9
"""Relative excess over a bound that is attributed to rounding."""

SHORT_NAMES = {"accuracy": "adversary_accuracy", "delta": "worst_posterior", "information": "mutual_information"}
"""Short names of measures, as keywords of `pick` and `within`."""


@dataclass(frozen=True)
class Objective:
    """A measure to be minimised, or maximised if `more`."""

    name: str
    more: bool = False

    def loss(self, value: float) -> float:
        """Return the value, negated if more is better."""
        return -value if self.more else value


ACCURACY_AND_ERROR = (Objective("adversary_accuracy"), Objective("mse"))
"""Objectives of OptRR (Huang & Du 2008): accuracy of the adversary, and error of the estimate."""

INFORMATION_AND_DISTORTION = (Objective("mutual_information"), Objective("distortion"))
"""Objectives of MOPSO (Gao et al. 2018): mutual information in bits, and share of wrong reports."""


def non_dominated(losses: Array) -> NDArray[np.bool_]:
    """Return a mask of the rows that no other row dominates; the first of equal rows is kept.

    A row dominates another if it is at most as large everywhere and smaller somewhere.

    >>> non_dominated(np.array([[1.0, 2.0], [2.0, 1.0], [2.0, 2.0], [1.0, 2.0]]))
    array([ True,  True, False, False])
    """
    if losses.shape[1] == 2:
        return _non_dominated_pairs(losses)
    kept = np.ones(len(losses), bool)
    for i, row in enumerate(losses):
        no_worse = (losses <= row).all(axis=1)
        less = (losses < row).any(axis=1)
        less[:i] = True  # an equal row before this one stands for both
        less[i] = False
        kept[i] = not (no_worse & less).any()
    return kept


def _non_dominated_pairs(losses: Array) -> NDArray[np.bool_]:
    """Sort by the first loss, then the second; a row stays if its second loss is below all earlier ones."""
    order = np.lexsort((losses[:, 1], losses[:, 0]))
    second = losses[order, 1]
    kept = np.ones(len(losses), bool)
    kept[order[1:]] = second[1:] < np.minimum.accumulate(second)[:-1]
    return kept


def hypervolume(losses: Array, reference: Array) -> float:
    """Return the area that points in the plane dominate up to a reference point; more is better.

    Each point dominates the rectangle between itself and the reference; this is the exact area of their union. Points
    that are not better than the reference in both objectives add nothing (Zitzler & Thiele 1999, IEEE Trans. Evol.
    Comp. 3).

    >>> hypervolume(np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 0.0]]), np.array([2.0, 2.0]))
    3.0
    """
    inside = losses[(losses < reference).all(axis=1)]
    steps = inside[np.lexsort((inside[:, 1], inside[:, 0]))]
    floor = np.minimum.accumulate(np.append(reference[1], steps[:, 1]))
    return float(((reference[0] - steps[:, 0]) * (floor[:-1] - floor[1:])).sum())


def measures_of(channel: Channel, prior: Any, respondents: float) -> Measures:
    """Return every measure of a channel by name.

    `mse` is the mean squared error of the best linear unbiased estimate of a proportion from so many respondents,
    averaged over the categories.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> measures_of(KeepOrUniform((2,), Fraction(1, 2)), [0.8, 0.2], 1000)["adversary_accuracy"]
    0.8
    """
    return measures_of_all([channel], prior, respondents)[0]


def measures_of_all(
    channels: Sequence[Channel], prior: Any, respondents: float, progress: Progress | None = None
) -> list[Measures]:
    """Return the measures of channels of one shape, many at a time where their matrices can be listed."""
    distribution = as_prior(prior, channels[0].n_in)
    step = max(1, BLOCK // (channels[0].n_in * channels[0].n_out))
    measures: list[Measures] = []
    for start in range(0, len(channels), step):
        block = channels[start : start + step]
        design = _unlisted_design(block[0])
        if design is None:
            measures += _measures_of_matrices(block, distribution, respondents)
        else:
            measures.append(_measures_of_sets(design, block[0], distribution, respondents))
        if progress is not None:
            progress(len(measures), len(channels))
    return measures


def accuracy_and_posterior(channel: Channel, prior: Array) -> tuple[float, float]:
    """Return the adversary's accuracy and the worst posterior alone, which need no matrix inverse.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> accuracy_and_posterior(KeepOrUniform((2,), Fraction(1, 2)), np.array([0.75, 0.25]))
    (0.75, 0.9)
    """
    design = _unlisted_design(channel)
    if design is None:
        matrix = channel.dense()
        return float(adversary_accuracy(matrix, prior)), float(worst_posterior(matrix, prior))
    from sottovoce.designs.large import set_measures

    return set_measures.adversary_accuracy(design, prior), set_measures.worst_posterior(design, prior)


def _unlisted_design(channel: Channel) -> SetDesign | None:
    """Set design of a channel with too many sets to list, or None."""
    return set_design(channel) if channel.n_in > LARGEST_LISTED else None


def _measures_of_matrices(channels: Sequence[Channel], prior: Array, respondents: float) -> list[Measures]:
    """Measures from dense matrices; epsilon is exact."""
    matrices = np.stack([channel.dense() for channel in channels])
    columns = {
        "mse": average_mean_squared_error(matrices, prior, respondents),
        "adversary_accuracy": adversary_accuracy(matrices, prior),
        "worst_posterior": worst_posterior(matrices, prior),
        "epsilon": np.array([channel.epsilon for channel in channels]),
        "mutual_information": mutual_information(matrices, prior),
    }
    if channels[0].shape_out == channels[0].shape_in:
        columns["distortion"] = distortion(matrices, prior)
    return [{name: float(values[i]) for name, values in columns.items()} for i in range(len(channels))]


def _measures_of_sets(design: SetDesign, channel: Channel, prior: Array, respondents: float) -> Measures:
    from sottovoce.designs.large import set_measures

    accuracy, worst = accuracy_and_posterior(channel, prior)
    return {
        "mse": set_measures.mean_squared_error(design, prior) / respondents,
        "adversary_accuracy": accuracy,
        "worst_posterior": worst,
        "epsilon": channel.epsilon,
        "mutual_information": set_measures.mutual_information(design, prior),
    }


@dataclass(frozen=True)
class Certificate:
    """Proof that no channel that meets the requirement has an `objective` below `lower_bound`.

    `rounding_loss` is the relative increase of the objective when the optimum was rounded to exact integers.
    """

    objective: str
    lower_bound: float
    rounding_loss: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """All fields, as JSON."""
        return {
            "objective": self.objective,
            "lower_bound": self.lower_bound,
            "rounding_loss": self.rounding_loss,
        }


@dataclass(frozen=True)
class Point:
    """A design: an exact `scheme` that plans accept, its `measures` by name, and a certificate if it is optimal.

    Measures that are not defined for the scheme are absent.

    >>> from sottovoce.schemes.warner import Warner
    >>> point = Point(ExactScheme.of(Warner(p=0.75), (2,)), {"mse": 3e-4}, Certificate("mse", 2e-4))
    >>> point["mse"], round(point.gap, 6)
    (0.0003, 0.5)
    """

    scheme: ExactScheme
    measures: Mapping[str, float]
    certificate: Certificate | None = None

    def __repr__(self) -> str:
        """Return scheme, measures and gap in one line."""
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in self.measures.items())
        return f"<Point, {self.scheme.scheme}: {numbers}{'' if self.gap is None else f', gap {self.gap:.2g}'}>"

    def _repr_html_(self) -> str:
        rows = [(name.replace("_", " "), f"{value:.6g}") for name, value in self.measures.items()]
        notes = [] if self.gap is None else [f"no channel has less than {self.lower_bound:.6g}; gap {self.gap:.2g}"]
        return html_table(f"Design: {self.scheme.scheme}", ["measure", "value"], rows, notes)

    def __getitem__(self, measure: str) -> float:
        """Return the value of a measure."""
        if measure not in self.measures:
            raise SottovoceError("measure", f"must be one of {', '.join(self.measures)}", measure)
        return self.measures[measure]

    @property
    def channel(self) -> Channel:
        """Channel of the exact scheme."""
        return self.scheme.channel

    @property
    def deniable(self) -> bool:
        """Whether every report is possible for every truth."""
        return self.channel.odds is not None

    @property
    def lower_bound(self) -> float | None:
        """Proven lower bound of the objective, or None."""
        return None if self.certificate is None else self.certificate.lower_bound

    @property
    def gap(self) -> float | None:
        """Relative gap between the objective and its proven lower bound, or None."""
        if self.certificate is None:
            return None
        return relative_gap(self[self.certificate.objective], self.certificate.lower_bound)

    def matrix(self) -> Array | None:
        """Matrix of reports by truths without impossible sets; None if it has more than a million entries."""
        channel = self.channel
        if channel.n_in * channel.n_out > LARGEST_MATRIX:
            return None
        matrix = channel.dense()
        return matrix[matrix.any(axis=1)] if len(channel.shape_out) > 1 else matrix

    def to_json(self) -> dict[str, Any]:
        """Matrix, scheme, measures, bound and gap as JSON; infinite or undefined values are null."""
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
        """Read what `to_json` wrote, for attributes of these sizes; the matrix is recomputed from the exact scheme."""
        if not isinstance(json, dict) or "channel" not in json:
            raise SottovoceError("point", "must be an object with a channel", json)
        measures = {
            name: inf if value is None else float(value)
            for name, value in json.items()
            if name not in _NOT_MEASURES and (value is not None or name in UNBOUNDED)
        }
        proof: dict[str, Any] = {key: json.get(key) for key in _CERTIFICATE_KEYS}
        certificate = None if proof["lower_bound"] is None else Certificate(**proof)
        return cls(ExactScheme.from_json(sizes, json["channel"]), measures, certificate)


_CERTIFICATE_KEYS = ("objective", "lower_bound", "rounding_loss")
_NOT_MEASURES = {"matrix", "channel", "gap", *_CERTIFICATE_KEYS}


@dataclass(frozen=True)
class Front:
    """Designs for a `prior` and a number of `respondents`, sorted by the last objective, the best first.

    >>> from sottovoce.designs.sweeps import warner_sweep
    >>> front = warner_sweep([0.5, 0.3, 0.2], respondents=1000, steps=100)
    >>> round(front.pick(accuracy=0.6)["mse"], 6)
    0.001373
    """

    points: tuple[Point, ...]
    prior: tuple[float, ...]
    respondents: float
    name: str = "front"
    objectives: tuple[Objective, ...] = ACCURACY_AND_ERROR

    def __post_init__(self) -> None:
        """Sort the points."""
        last = self.objectives[-1]
        ordered = sorted(self.points, key=lambda point: last.loss(point[last.name]))
        object.__setattr__(self, "points", tuple(ordered))

    def __repr__(self) -> str:
        """Return the number of points and the ranges of the objectives in one line."""
        ranges = "".join(f", {goal.name} {self._range(goal.name)}" for goal in self.objectives if self.points)
        return f"<Front {self.name!r}: {self._size}{ranges}>"

    def _repr_html_(self) -> str:
        measures = list(dict.fromkeys(name for point in self.points for name in point.measures))
        columns = ["scheme", *(name.replace("_", " ") for name in measures), "gap"]
        rows = [[point.scheme.scheme, *map(point.measures.get, measures), point.gap] for point in self.points]
        shown = [[f"{cell:.4g}" if isinstance(cell, float) else cell for cell in row] for row in rows]
        return html_table(f"Front: {self.name}", columns, shown, [self._size])

    def __len__(self) -> int:
        """Number of points."""
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        """Iterate over the points."""
        return iter(self.points)

    def __getitem__(self, index: int) -> Point:
        """Return the point at an index."""
        return self.points[index]

    def losses(self) -> Array:
        """Array of points by objectives, negated where more is better."""
        rows = [[goal.loss(point[goal.name]) for goal in self.objectives] for point in self.points]
        return np.array(rows).reshape(len(rows), len(self.objectives))

    def non_dominated(self) -> "Front":
        """Return the front without dominated points."""
        kept = non_dominated(self.losses())
        return replace(self, points=tuple(point for point, keep in zip(self.points, kept, strict=True) if keep))

    def within(self, **levels: float) -> "Front":
        """Return the points whose measures are all at most these levels, or at least where more is better."""
        return replace(self, points=tuple(point for point in self.points if self._meets(point, levels)))

    def pick(self, **levels: float) -> Point:
        """Return the best point that meets every level, such as `accuracy=.5`, `epsilon=1`, `delta=.75` or `mse=1e-4`.

        The best point minimises the last objective for which no level is given.
        """
        points = self.within(**levels).points
        if not points:
            raise self._unmet(levels)
        given = {SHORT_NAMES.get(name, name) for name in levels}
        open_goals = [goal for goal in self.objectives if goal.name not in given] or list(self.objectives)
        return min(points, key=lambda point: open_goals[-1].loss(point[open_goals[-1].name]))

    def hypervolume(self, reference: Sequence[float]) -> float:
        """Area that this front dominates up to a reference point, a value for each of the two objectives."""
        if len(self.objectives) != 2 or len(reference) != 2:
            raise SottovoceError("reference", "must have a value for each of two objectives", reference)
        losses = [goal.loss(value) for goal, value in zip(self.objectives, reference, strict=True)]
        return hypervolume(self.losses(), np.array(losses))

    def plot(self, *others: "Front", axes: Any = None, path: Any = None) -> Any:
        """Draw this front together with others; needs matplotlib (extra `plot`)."""
        from sottovoce.designs.pictures import draw_fronts

        return draw_fronts((self, *others), axes, path)

    def to_json(self) -> dict[str, Any]:
        """Points, prior, respondents and objectives, as JSON."""
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

    @property
    def _size(self) -> str:
        return f"{len(self)} points, {len(self.prior)} categories, {self.respondents:,.6g} respondents"

    def _range(self, name: str) -> str:
        values = [point[name] for point in self.points]
        return f"{min(values):.4g} to {max(values):.4g}"

    def _meets(self, point: Point, levels: Mapping[str, float]) -> bool:
        return all(self._loss(point, name) <= self._allowed(name, level) for name, level in levels.items())

    def _allowed(self, name: str, level: float) -> float:
        loss = self._goal(name).loss(level)
        return loss + TOLERANCE * abs(loss)

    def _loss(self, point: Point, name: str) -> float:
        goal = self._goal(name)
        return goal.loss(point[goal.name])

    def _goal(self, name: str) -> Objective:
        full = SHORT_NAMES.get(name, name)
        return next((goal for goal in self.objectives if goal.name == full), Objective(full))

    def _unmet(self, levels: Mapping[str, float]) -> SottovoceError:
        """Error that names the first level that no point meets, and the nearest value that one does."""
        for name, level in levels.items():
            if self.points and not len(self.within(**{name: level})):
                nearest = min(self.points, key=lambda point: self._loss(point, name))
                side = "at most" if self._goal(name).more else "at least"
                value = nearest[self._goal(name).name]
                if value == inf:
                    return SottovoceError(name, "must be left out: it is unbounded at every point of this front", level)
                return SottovoceError(name, f"must be {side} {value:.6g}, the best on this front", level)
        return SottovoceError("levels", "must be met by some point all together, not only one by one", dict(levels))
