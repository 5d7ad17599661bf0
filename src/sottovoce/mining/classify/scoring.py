"""Accuracy, confusion matrix, precision and recall of a classifier on a disguised test set."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce import checks
from sottovoce.channels.complement import Complement
from sottovoce.checks import Array, Target, number
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.covariance import MatrixCovariance
from sottovoce.estimates.derived import Derived
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.intervals import critical_value, wald
from sottovoce.estimates.presentation import ResultTable, cell_rows
from sottovoce.estimates.proportions import needed_attributes
from sottovoce.mining.classify.coding import check_carried_plan, coded_batches
from sottovoce.mining.classify.joint_table import column_indices, unbiased_scores
from sottovoce.mining.classify.learner import DisguisedClassifier
from sottovoce.mining.classify.whole_record import MOST_CELLS, Outcomes, WholeRecord
from sottovoce.plans.document import plan_hash
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Columns, Label, ravel, unravel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROWS_AT_ONCE = 2**15

ReportScores = Callable[[Columns], Array]
"""Score of each coded report for each outcome; its mean is the outcome's share among the truths."""


@dataclass(frozen=True, repr=False)
class Scores(ResultTable):
    """Confusion matrix of a classifier (truths in rows) with its covariance, and the measures that follow from it.

    `covariance` is that of its cells, row by row. All are unbiased and never clipped; precision and recall have
    intervals by the delta method. A measure whose interval would be wider than `widest` has none, with the reason.
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
        number("widest", self.widest, 0, open_ends=True)

    @property
    def confusion(self) -> Array:
        """Share of the records with each true class (row) and prediction (column)."""
        return self.cells.reshape(len(self.classes), len(self.classes))

    @property
    def accuracy(self) -> Derived:
        """Share of the records that are classified correctly."""
        return self._linear("accuracy", np.eye(len(self.classes)).ravel())

    @property
    def precision(self) -> tuple[Derived, ...]:
        """Share of the records predicted to be in a class that are in it, for each class."""
        return tuple(self._ratio("precision", index, axis=0) for index in range(len(self.classes)))

    @property
    def recall(self) -> tuple[Derived, ...]:
        """Share of the records in a class that are predicted to be in it, for each class."""
        return tuple(self._ratio("recall", index, axis=1) for index in range(len(self.classes)))

    def to_json(self) -> dict[str, Any]:
        """Return everything, for programs."""
        return {
            "method": self.method,
            "target": self.target,
            "respondents": self.respondents,
            "level": self.level,
            "classes": list(self.classes),
            "accuracy": self.accuracy.to_json(),
            "confusion": self.to_rows(),
            "precision": [measure.to_json() for measure in self.precision],
            "recall": [measure.to_json() for measure in self.recall],
        }

    def to_rows(self) -> list[dict[str, Any]]:
        """Return the share of every true class and prediction, with standard error and interval."""
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0))
        low, high = wald(self.cells, errors, critical_value(self.level))
        numbers = {"share": self.cells, "standard_error": errors, "low": low, "high": high}
        return cell_rows(("truth", "prediction"), (self.classes, self.classes), numbers)

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Plot the confusion matrix as a heat map with standard errors, on these matplotlib axes or new ones."""
        return self._estimate().plot(self.level, axes)

    def _estimate(self) -> Estimate:
        """Return the confusion matrix as an estimate of two attributes."""
        about = ("truth", "prediction"), (self.classes, self.classes), self.cells, MatrixCovariance(self.covariance)
        return Estimate(*about, self.cells, self.respondents, self.target, self.method)

    @property
    def headline(self) -> str:
        """Summary of the test in one line."""
        return f"{self.respondents} disguised test records, {self.method}, {self.target}"

    @property
    def notes(self) -> list[str]:
        """Accuracy, then precision and recall of each class."""
        return [str(measure) for measure in (self.accuracy, *self.precision, *self.recall)]

    def __str__(self) -> str:
        """Return accuracy, precision and recall; the confusion matrix is in `to_rows`."""
        return "\n".join([self.headline, *(f"  {note}" for note in self.notes)])

    def _linear(self, name: str, weights: Array) -> Derived:
        return self._derived(name, float(weights @ self.cells), weights)

    def _ratio(self, measure: str, index: int, axis: int) -> Derived:
        """Return `p / s` with gradient `(1_p - (p / s) 1_s) / s`."""
        name = f"{measure} of {self.classes[index]}"
        inside = np.zeros_like(self.confusion)
        np.moveaxis(inside, axis, 0)[:, index] = 1
        total = float((inside * self.confusion).sum())
        correct = float(self.confusion[index, index])
        if total <= 0:
            reason = "the estimated number of such records is not positive"
            return Derived(name, float("nan"), 0.0, None, None, None, self.level, reason, None)
        unit = np.zeros_like(inside)
        unit[index, index] = 1
        return self._derived(name, correct / total, ((unit - correct / total * inside) / total).ravel())

    def _derived(self, name: str, value: float, gradient: Array) -> Derived:
        error = max(float(gradient @ self.covariance @ gradient), 0.0) ** 0.5
        half = critical_value(self.level) * error
        if 2 * half > self.widest:
            reason = f"it would be {2 * half:.2g} wide, more than {self.widest:g}"
            return Derived(name, value, 0.0, error, None, None, self.level, reason, None)
        return Derived(name, value, 0.0, error, value - half, value + half, self.level)


def score_disguised(
    classifier: DisguisedClassifier,
    reports: Any,
    plan: Plan | None = None,
    *,
    target: Target = "population",
    widest: float = 0.5,
    rng: np.random.Generator | int | None = None,
) -> Scores:
    """Estimate accuracy, confusion matrix, precision and recall on true records from their disguised reports.

    If the plan keeps or replaces whole records, `P(cc) = (P*(cc) - (1 - theta) P_Y(cc)) / theta` (Zhan & Matwin 2006,
    3.4) for every cell of the confusion matrix, with P_Y from the known distribution; for other plans it is the mean of
    unbiased scores of the reports. Intervals wider than `widest` are not given. `plan` is that of the test set, which
    must be the classifier's. With more than 2^20 joint records P_Y is simulated by as many draws, whose variance is
    added; `rng` makes them repeatable.

    >>> from sottovoce.disguises.tables import disguise_frame
    >>> from sottovoce.mining.classify.naive_bayes import NaiveBayes
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.unrelated_question import UnrelatedQuestion
    >>> schema = Schema([boolean("smokes"), boolean("ill")])
    >>> plan = Plan.of(schema, {schema.names: UnrelatedQuestion(theta=0.5)})
    >>> people = {"smokes": [True] * 500 + [False] * 500, "ill": [True] * 400 + [False] * 550 + [True] * 50}
    >>> model = NaiveBayes(plan, "ill").fit(disguise_frame(people, plan, rng=1))
    >>> print(score_disguised(model, disguise_frame(people, plan, rng=3)).accuracy)
    accuracy: 0.8920 +- 0.0291  [0.8350, 0.9490]
    """
    if not isinstance(classifier, DisguisedClassifier):
        raise SottovoceError("classifier", "must be a NaiveBayes or a DecisionTree", Words(type(classifier).__name__))
    checks.target(target)
    agreed = classifier._agreed_plan()
    if plan is not None and plan_hash(plan) != plan_hash(agreed):
        raise SottovoceError("plan", "must be the one that the classifier was fitted under", Words("another"))
    check_carried_plan(reports, agreed)
    names = [*classifier._features(), classifier._label()]
    scores, extra, method = _report_scores(classifier, agreed, names, np.random.default_rng(rng))
    sums, products, rows = _moments(scores, coded_batches(reports, classifier._reports()))
    if rows < 2:
        raise SottovoceError("reports", "must be at least 2 for a standard error", rows)
    value = sums / rows
    centre = np.outer(value, value) if target == "population" else np.diag(value)
    covariance = (products / rows - centre) / rows + extra
    return Scores(tuple(classifier.classes_.tolist()), value, covariance, rows, target, method, widest)


def _report_scores(
    classifier: DisguisedClassifier, plan: Plan, names: Sequence[str], rng: np.random.Generator
) -> tuple[ReportScores, Array, str]:
    """Return the scores of reports, the covariance that simulation adds, and the name of the method."""
    needed = needed_attributes(plan, names)
    channel = plan.channel(needed)
    ordered = plan.in_group_order(needed)
    classes = len(classifier.classes_)
    sizes = [plan.schema.project([name]).cells for name in ordered]
    indices = [ordered.index(name) for name in names]

    def outcomes(columns: Columns) -> Any:
        """Index of truth and prediction, from columns in the channel's order."""
        *features, truth = (columns[index] for index in indices)
        return truth.astype(np.intp) * classes + classifier._predict_codes(tuple(features))

    wanted = column_indices(plan, needed, classifier._reports())
    whole = WholeRecord.of(channel)
    no_simulation = np.zeros((classes**2, classes**2))
    if whole is not None:
        drawn, draws = whole.outcomes(outcomes, classes**2, rng)
        weight = (1 - whole.keep) / whole.keep
        extra = no_simulation if draws is None else weight**2 * (np.diag(drawn) - np.outer(drawn, drawn)) / draws
        one_hot = _select_columns(_one_hot(outcomes, classes**2), wanted)
        return lambda columns: one_hot(columns) / whole.keep - weight * drawn, extra, "whole records"
    if isinstance(channel, Complement):
        scores = _complement_scores(_one_hot(outcomes, classes**2), float(channel.keep))
        return _select_columns(scores, wanted), no_simulation, "whole records"
    if max(channel.n_in, channel.n_out) > MOST_CELLS:
        rule = f"must have at most {MOST_CELLS} joint records for a test through the channel"
        raise SottovoceError("plan", rule, Words(f"{channel.n_in}"))
    every = _one_hot(outcomes, classes**2)(unravel(np.arange(channel.n_in), sizes))
    table, shape = unbiased_scores(channel, every), channel.shape_out
    scores = _select_columns(lambda columns: table[ravel(columns, shape)], wanted)
    return scores, no_simulation, "through the channel"


def _one_hot(outcomes: Outcomes, count: int) -> ReportScores:
    return lambda columns: np.eye(count)[outcomes(columns)]


def _complement_scores(one_hot: ReportScores, keep: float) -> ReportScores:
    """Return scores under the complement channel: `(keep f(y) - (1 - keep) f(complement of y)) / (2 keep - 1)`."""

    def scores(columns: Columns) -> Array:
        complement = one_hot(tuple(1 - codes.astype(np.int64) for codes in columns))
        return (keep * one_hot(columns) - (1 - keep) * complement) / (2 * keep - 1)

    return scores


def _select_columns(scores: ReportScores, wanted: Sequence[int]) -> ReportScores:
    """Return scores of all columns of a report, of which only some matter."""
    return lambda columns: scores(tuple(columns[index] for index in wanted))


def _moments(scores: ReportScores, batches: Iterable[Columns]) -> tuple[Array, Array, int]:
    """Return sums of the scores, sums of their products, and the number of reports."""
    parts = [(part.sum(axis=0), part.T @ part, len(part)) for part in map(scores, _pieces(batches))]
    sums, products, rows = zip(*parts, strict=True)
    return np.sum(sums, axis=0), np.sum(products, axis=0), sum(rows)


def _pieces(batches: Iterable[Columns]) -> Iterator[Columns]:
    for columns in batches:
        for start in range(0, len(columns[0]), ROWS_AT_ONCE):
            yield tuple(codes[start : start + ROWS_AT_ONCE] for codes in columns)
