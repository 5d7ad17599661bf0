"""Numbers that say how good a classifier is, with intervals."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimate.derived import Derived
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.intervals import critical_value
from sottovoce.estimate.rows import Backend, cell_rows, rows_to_frame
from sottovoce.estimate.spread import MatrixSpread, Target
from sottovoce.schema.variable import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Scores:
    """Shares of every true class and prediction together (`confusion`, truths in rows), and what follows from them.

    `covariance` is that of its cells, row by row. All are unbiased and never clipped; precision and recall have
    intervals by the delta method. A number whose interval would be wider than `widest` has none, and a reason.
    """

    classes: tuple[Label, ...]
    cells: Array = field(repr=False)
    covariance: Array = field(repr=False)
    respondents: int
    target: Target
    method: str
    widest: float = 0.5
    level: float = 0.95

    def __post_init__(self) -> None:
        """Check the width."""
        if not self.widest > 0:
            raise SottovoceError("widest", "must be positive", self.widest)

    @property
    def confusion(self) -> Array:
        """Share of the records with each true class (row) and prediction (column)."""
        return self.cells.reshape(len(self.classes), len(self.classes))

    @property
    def accuracy(self) -> Derived:
        """Share of the records that are classified rightly."""
        return self._linear("accuracy", np.eye(len(self.classes)).ravel())

    @property
    def precision(self) -> tuple[Derived, ...]:
        """Of the records that are said to be in a class, the share that is; for each class."""
        return tuple(self._ratio("precision", place, axis=0) for place in range(len(self.classes)))

    @property
    def recall(self) -> tuple[Derived, ...]:
        """Of the records in a class, the share that is said to be; for each class."""
        return tuple(self._ratio("recall", place, axis=1) for place in range(len(self.classes)))

    def to_json(self) -> dict[str, Any]:
        """Everything, for programs."""
        return {
            "method": self.method,
            "target": self.target,
            "respondents": self.respondents,
            "level": self.level,
            "classes": list(self.classes),
            "accuracy": self.accuracy.to_json(),
            "confusion": self.to_rows(),
            "precision": [number.to_json() for number in self.precision],
            "recall": [number.to_json() for number in self.recall],
        }

    def to_rows(self) -> list[dict[str, Any]]:
        """Share and standard error of every true class and prediction."""
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0))
        half = critical_value(self.level) * errors
        numbers = {"share": self.cells, "standard_error": errors, "low": self.cells - half, "high": self.cells + half}
        return cell_rows(("truth", "prediction"), (self.classes, self.classes), numbers)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Confusion matrix as a data frame, a row for each true class and prediction."""
        return rows_to_frame(self.to_rows(), backend)

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Draw the confusion matrix as a heat map with standard errors, on these matplotlib axes or new ones."""
        return self._estimate().plot(self.level, axes)

    def _estimate(self) -> Estimate:
        """Truth and prediction as a table of two attributes."""
        about = ("truth", "prediction"), (self.classes, self.classes), self.cells, MatrixSpread(self.covariance)
        return Estimate(*about, self.cells, self.respondents, self.target, self.method)

    def __str__(self) -> str:
        """Accuracy, then precision and recall of each class."""
        head = f"{self.respondents} disguised test records, {self.method}, {self.target}"
        return "\n".join([head, *(f"  {number}" for number in (self.accuracy, *self.precision, *self.recall))])

    def _linear(self, name: str, weights: Array) -> Derived:
        return self._derived(name, float(weights @ self.cells), weights)

    def _ratio(self, name: str, place: int, axis: int) -> Derived:
        """`p / s` with gradient `(1_p - (p / s) 1_s) / s`."""
        label = f"{name} of {self.classes[place]}"
        inside = np.zeros_like(self.confusion)
        np.moveaxis(inside, axis, 0)[:, place] = 1
        total = float((inside * self.confusion).sum())
        right = float(self.confusion[place, place])
        if total <= 0:
            return Derived(label, float("nan"), 0.0, None, None, None, self.level, "no record seems to be there", None)
        unit = np.zeros_like(inside)
        unit[place, place] = 1
        return self._derived(label, right / total, ((unit - right / total * inside) / total).ravel())

    def _derived(self, name: str, value: float, gradient: Array) -> Derived:
        error = max(float(gradient @ self.covariance @ gradient), 0.0) ** 0.5
        half = critical_value(self.level) * error
        if 2 * half > self.widest:
            reason = f"it would be {2 * half:.2g} wide, more than {self.widest:g}"
            return Derived(name, value, 0.0, error, None, None, self.level, reason, None)
        return Derived(name, value, 0.0, error, value - half, value + half, self.level)
