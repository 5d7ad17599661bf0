"""Accuracy, confusion matrix, precision and recall of a classifier on a disguised test set."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from sottovoce import checks
from sottovoce.checks import Array, Target, number, one_of
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimates.covariance import MatrixCovariance
from sottovoce.estimates.derived import Derived
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.intervals import critical_value, wald
from sottovoce.estimates.presentation import ResultTable, cell_rows
from sottovoce.mining.classify.coding import check_carried_plan, coded
from sottovoce.mining.classify.confusion import Bounds, Confusion, DisguisedTest, TooManyRecordsError
from sottovoce.mining.classify.learner import DisguisedClassifier, Question
from sottovoce.plans.document import plan_hash
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Method = Literal["best", "unbiased", "model"]
"""Unbiased through the channel, by a model of the joint distribution, or unbiased where the plan allows it."""

MODELLED = "a model fills in what was not asked together, and its error is not known"

WORTHLESS = 0.25
"""Standard error of an unbiased accuracy from which a 95 % interval is as wide as the range from 0 to 1."""

BOUNDED = "bounds that hold whatever was not asked together"

Measure = Literal["accuracy", "balanced_accuracy"]


@dataclass(frozen=True, repr=False)
class Scores(ResultTable):
    """Confusion matrix of a classifier (truths in rows) with its covariance, and the measures that follow from it.

    `covariance` is that of its cells, row by row. All are unbiased and never clipped; the intervals of accuracy,
    precision and recall are around the nearest possible value and cut to the range from 0 to 1, those of the latter by
    the delta method. They include the `resolution`, how much a single report may change a share: a few reports that
    agree have no variance. A measure whose interval would be wider than `widest` has none, with the reason.
    """

    classes: tuple[Label, ...]
    cells: Array = field(repr=False)
    covariance: Array = field(repr=False)
    respondents: int
    target: Target
    method: str
    widest: float = 0.5
    level: float = 0.95
    find_bounds: Callable[[], Bounds | None] | None = field(default=None, repr=False)
    resolution: float = 0.0

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
        weights = np.eye(len(self.classes)).ravel()
        value = float(weights @ self.cells)
        return self._derived("accuracy", value, weights) if self.bounds is None else self._bounded(value, self.bounds)

    @cached_property
    def bounds(self) -> Bounds | None:
        """Bounds of the accuracy where it is that of a model, if there are not too many joint cells."""
        return None if self.find_bounds is None else self.find_bounds()

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
        if self._is_modelled:
            return cell_rows(("truth", "prediction"), (self.classes, self.classes), {"share": self.cells})
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0))
        low, high = wald(self.cells, errors, critical_value(self.level))
        numbers = {"share": self.cells, "standard_error": errors, "low": low, "high": high}
        return cell_rows(("truth", "prediction"), (self.classes, self.classes), numbers)

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Plot the confusion matrix as a heat map with standard errors, on these matplotlib axes or new ones."""
        return self._estimate().plot(self.level, axes)

    @property
    def _is_modelled(self) -> bool:
        """Whether the confusion matrix is that of a model, so that standard errors are not known."""
        return bool(np.isnan(self.covariance).any())

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

    def _bounded(self, value: float, bounds: Bounds) -> Derived:
        """Return the accuracy of a model, within the bounds that hold whatever the joint distribution is."""
        margin = critical_value(self.level)
        ends = bounds.low - margin * bounds.low_error, bounds.high + margin * bounds.high_error
        low, high = (min(max(end, 0.0), 1.0) for end in ends)
        inside = min(max(value, low), high)
        if high - low > self.widest:
            reason = f"it would be {high - low:.2g} wide, more than {self.widest:g}"
            return Derived("accuracy", inside, 0.0, None, None, None, self.level, reason, None)
        return Derived("accuracy", inside, 0.0, None, low, high, self.level, None, BOUNDED)

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
        if self._is_modelled:
            return Derived(name, value, 0.0, None, None, None, self.level, MODELLED, None)
        error = max(float(gradient @ self.covariance @ gradient), 0.0) ** 0.5
        half = critical_value(self.level) * float(np.hypot(error, self.resolution * np.abs(gradient).max()))
        if 2 * half > self.widest:
            reason = f"it would be {2 * half:.2g} wide, more than {self.widest:g}"
            return Derived(name, value, 0.0, error, None, None, self.level, reason, None)
        nearest = min(max(value, 0.0), 1.0)  # an interval around a value beyond 0 or 1 could be cut to nothing
        low, high = max(nearest - half, 0.0), min(nearest + half, 1.0)
        return Derived(name, value, 0.0, error, low, high, self.level)


def score_disguised(
    classifier: DisguisedClassifier,
    reports: Any,
    plan: Plan | None = None,
    *,
    y: Any = None,
    method: Method = "best",
    target: Target = "population",
    widest: float = 0.5,
    rng: np.random.Generator | int | None = None,
) -> Scores:
    """Estimate accuracy, confusion matrix, precision and recall on true records from their disguised reports.

    The reports hold the label too, or its reports are given as `y`. Intervals wider than `widest` are not given. `plan`
    is that of the test set, which must be the classifier's.

    `method="unbiased"`: if the plan keeps or replaces whole records, `P(cc) = (P*(cc) - (1 - theta) P_Y(cc)) / theta`
    (Zhan & Matwin 2006, 3.4) for every cell of the confusion matrix, with P_Y from the known distribution; for other
    plans it is the mean of unbiased scores of the reports in which all that a prediction needs was asked. A tree needs
    the attributes on the path to a leaf, naive Bayes all of them. With more than 2^20 joint records P_Y is simulated by
    as many draws, whose variance is added; `rng` makes them repeatable.

    `method="model"`: the joint distribution of label and attributes is estimated by a log-linear model of their pairs,
    and of three where three were asked together. Nobody knows how far such a model is from the truth: there are no
    standard errors, and the interval of the accuracy is that of bounds which hold for every joint distribution with
    the tables that were asked (`accuracy_bounds`), found when it is asked for.

    "best" is unbiased where the plan allows it, and a model where a plan never asks the attributes together, where they
    have too many joint reports, or where the unbiased accuracy has a standard error above .25 and so says nothing, as
    of many attributes that were each disguised with a share of the budget. The result says which was used.

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
    accuracy: 0.8920 +- 0.0291  [0.8348, 0.9492]
    """
    if not isinstance(classifier, DisguisedClassifier):
        raise SottovoceError("classifier", "must be a NaiveBayes or a DecisionTree", Words(type(classifier).__name__))
    checks.target(target)
    one_of("method", method, get_args(Method))
    agreed, label = classifier._agreed_plan(), classifier._label()
    if plan is not None and plan_hash(plan) != plan_hash(agreed):
        raise SottovoceError("plan", "must be the one that the classifier was fitted under", Words("another"))
    check_carried_plan(reports, agreed)
    classes = tuple(classifier.classes_.tolist())
    schema = classifier._reports()
    columns = coded(reports, schema, None if y is None else {label: y})
    if len(columns[0]) < 2:
        raise SottovoceError("reports", "must be at least 2 for a standard error", len(columns[0]))
    test = DisguisedTest(agreed, label, len(classes), schema, columns)
    found = _confusion(test, classifier, method, target, np.random.default_rng(rng))
    return Scores(
        classes,
        found.value,
        found.covariance,
        test.rows,
        target,
        found.method,
        widest,
        find_bounds=found.find_bounds,
        resolution=found.resolution,
    )


def _confusion(
    test: DisguisedTest,
    classifier: DisguisedClassifier,
    method: Method,
    target: Target,
    rng: np.random.Generator,
) -> Confusion:
    """Return the unbiased confusion matrix or, where it cannot be had or is not wanted, that of a model."""
    whole = Question(tuple(classifier._features()), classifier._predict_codes)
    if method != "model":
        try:
            found = test.unbiased(classifier._questions(), target, rng)
        except (SingularChannelError, TooManyRecordsError):
            if method == "unbiased":
                raise
        else:
            if method == "unbiased" or target == "table" or found.accuracy_error < WORTHLESS:
                return found
    if target == "table":
        rule = "must be the population if a model fills in what was not asked together; it has no table"
        raise SottovoceError("target", rule, target)
    return test.modelled(whole, rng)


@dataclass(frozen=True)
class DisguisedScorer:
    """Scorer for scikit-learn's `cross_val_score` and `GridSearchCV` on disguised records (see `score_disguised`).

    It returns the accuracy on true records, or the mean of the recalls of the classes, instead of comparing predictions
    from disguised values with disguised labels. It may be below 0 or above 1 on a few reports: unbiased estimates are
    not clipped, so that their mean over folds is unbiased, too.

    >>> import pandas as pd
    >>> from sklearn.model_selection import cross_val_score
    >>> from sottovoce.disguises.tables import disguise_frame
    >>> from sottovoce.mining.classify.naive_bayes import NaiveBayes
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.unrelated_question import UnrelatedQuestion
    >>> schema = Schema([boolean("smokes"), boolean("ill")])
    >>> plan = Plan.of(schema, {schema.names: UnrelatedQuestion(theta=0.5)})
    >>> people = {"smokes": [True, False] * 5000, "ill": [True, False] * 4000 + [False, False] * 1000}
    >>> reports = disguise_frame(pd.DataFrame(people), plan, rng=1)
    >>> cross_val_score(NaiveBayes(plan, "ill"), reports, scoring=DisguisedScorer()).mean().round(2)
    np.float64(0.9)
    """

    measure: Measure = "accuracy"
    method: Method = "best"
    rng: int | None = None

    def __post_init__(self) -> None:
        """Check the settings."""
        one_of("measure", self.measure, get_args(Measure))
        one_of("method", self.method, get_args(Method))

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the score of a fitted classifier on disguised records."""
        scores = score_disguised(estimator, X, y=y, method=self.method, rng=self.rng)
        if self.measure == "accuracy":
            return float(np.trace(scores.confusion))
        return float(np.mean([recall.value for recall in scores.recall]))
