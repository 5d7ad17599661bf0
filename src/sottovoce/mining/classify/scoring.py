"""How good a classifier is, from a test set that is itself disguised."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.channels.channel import Array
from sottovoce.channels.complement import Complement
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.counted import check_number
from sottovoce.estimates.covariance import MatrixSpread, Target
from sottovoce.estimates.derived import Derived
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.intervals import critical_value
from sottovoce.estimates.presentation import Backend, cell_rows, rows_to_frame
from sottovoce.estimates.proportions import needed_attributes
from sottovoce.measures.utility import checked_target
from sottovoce.mining.classify.coding import check_carried_plan, coded_batches
from sottovoce.mining.classify.learner import DisguisedClassifier
from sottovoce.mining.classify.question import columns_of, report_functions
from sottovoce.mining.classify.whole_record import MOST_CELLS, Outcomes, WholeRecord
from sottovoce.plans.document import plan_hash
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Columns, Label, ravel, unravel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROWS_AT_ONCE = 2**15

Meaning = Callable[[Columns], Array]
"""What each coded report counts for, for each outcome: its mean is the outcome's share among the truths."""


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


def score_disguised(
    classifier: DisguisedClassifier,
    reports: Any,
    plan: Plan | None = None,
    *,
    target: Target = "population",
    widest: float = 0.5,
    rng: np.random.Generator | int | None = None,
) -> Scores:
    """Accuracy, confusion matrix, precision and recall on truths that only their disguised reports are known of.

    Where whole records are kept or replaced, `P(cc) = (P*(cc) - (1 - theta) P_Y(cc)) / theta` (Zhan & Matwin 2006, 3.4)
    for every cell of the confusion matrix, with P_Y from the known law; for other plans the mean of what each report
    counts for through the channel. Numbers whose interval is wider than `widest` are declined. `plan` is that of the
    test set, which must be the classifier's; `target` the population the test set is a sample of, or its table.
    Where there are more than 2^20 joint records, P_Y is found by as many draws, with their error; `rng` repeats them.

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
    checked_target(target)
    agreed = classifier._agreed_plan()
    if plan is not None and plan_hash(plan) != plan_hash(agreed):
        raise SottovoceError("plan", "must be the one that the classifier learns under", Words("another"))
    check_carried_plan(reports, agreed)
    names = [*classifier._features(), classifier._target()]
    meaning, extra, method = _meaning(classifier, agreed, names, np.random.default_rng(rng))
    sums, products, rows = _moments(meaning, coded_batches(reports, classifier._reports()))
    check_number(rows)
    value = sums / rows
    taken = np.outer(value, value) if target == "population" else np.diag(value)
    covariance = (products / rows - taken) / rows + extra
    return Scores(tuple(classifier.classes_.tolist()), value, covariance, rows, target, method, widest)


def _meaning(
    classifier: DisguisedClassifier, plan: Plan, names: Sequence[str], rng: np.random.Generator
) -> tuple[Meaning, Array, str]:
    """What reports count for; the covariance that draws add; and how it was found."""
    needed = needed_attributes(plan, names)
    channel = plan.channel(needed)
    inner = plan.in_group_order(needed)
    classes = len(classifier.classes_)
    sizes = [plan.schema.project([name]).cells for name in inner]
    places = [inner.index(name) for name in names]

    def outcomes(columns: Columns) -> Any:
        """Truth and prediction as one number, from columns in the channel's order."""
        *features, truth = (columns[place] for place in places)
        return truth.astype(np.intp) * classes + classifier._predict_codes(tuple(features))

    wanted = columns_of(plan, needed, classifier._reports())
    whole = WholeRecord.of(channel)
    nothing = np.zeros((classes**2, classes**2))
    if whole is not None:
        drawn, draws = whole.outcomes(outcomes, classes**2, rng)
        weight = (1 - whole.keep) / whole.keep
        extra = nothing if draws is None else weight**2 * (np.diag(drawn) - np.outer(drawn, drawn)) / draws
        count = _picked(_one_hot(outcomes, classes**2), wanted)
        return lambda columns: count(columns) / whole.keep - weight * drawn, extra, "whole records"
    if isinstance(channel, Complement):
        return _picked(_turned(_one_hot(outcomes, classes**2), float(channel.keep)), wanted), nothing, "whole records"
    if max(channel.n_in, channel.n_out) > MOST_CELLS:
        rule = f"must have at most {MOST_CELLS} joint records to be tested through the channel"
        raise SottovoceError("plan", rule, Words(f"{channel.n_in}"))
    every = _one_hot(outcomes, classes**2)(unravel(np.arange(channel.n_in), sizes))
    functions = report_functions(channel, every)
    shape = channel.shape_out
    return _picked(lambda columns: functions[ravel(columns, shape)], wanted), nothing, "through the channel"


def _one_hot(outcomes: Outcomes, count: int) -> Meaning:
    return lambda columns: np.eye(count)[outcomes(columns)]


def _turned(count: Meaning, keep: float) -> Meaning:
    """Inverse of the complement: `(keep f(y) - (1 - keep) f(opposite of y)) / (2 keep - 1)`."""

    def meaning(columns: Columns) -> Array:
        opposite = count(tuple(1 - codes.astype(np.int64) for codes in columns))
        return (keep * count(columns) - (1 - keep) * opposite) / (2 * keep - 1)

    return meaning


def _picked(meaning: Meaning, wanted: Sequence[int]) -> Meaning:
    """The same for all columns of a report, of which those wanted count."""
    return lambda columns: meaning(tuple(columns[place] for place in wanted))


def _moments(meaning: Meaning, batches: Iterable[Columns]) -> tuple[Array, Array, int]:
    """Sums, sums of products, and number of reports."""
    parts = [(part.sum(axis=0), part.T @ part, len(part)) for part in map(meaning, _pieces(batches))]
    sums, products, rows = zip(*parts, strict=True)
    return np.sum(sums, axis=0), np.sum(products, axis=0), sum(rows)


def _pieces(batches: Iterable[Columns]) -> Iterator[Columns]:
    for columns in batches:
        for start in range(0, len(columns[0]), ROWS_AT_ONCE):
            yield tuple(codes[start : start + ROWS_AT_ONCE] for codes in columns)
