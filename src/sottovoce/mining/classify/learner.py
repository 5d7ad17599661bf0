"""Base of scikit-learn classifiers that learn from disguised records."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array
from sottovoce.errors import MissingExtraError, SottovoceError, SottovoceWarning
from sottovoce.mining.classify.coding import (
    check_carried_plan,
    coded,
    feature_names,
    is_array,
    is_disguised,
    warn_of_empty_classes,
)
from sottovoce.mining.classify.joint_table import report_schema_of
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, Columns, label_array, narrow
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.unrelated_question import UnrelatedQuestion

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data
except ImportError:  # pragma: no cover  # tests have it; a missing extra is tested in a process of its own
    raise MissingExtraError("a classifier", "scikit-learn", "mine") from None

CLEAR_LABEL = "class"
"""Name of the label if there is no plan."""


PLAIN_SCORE = (
    "X is disguised, so this accuracy compares predictions from disguised values with disguised labels. For the "
    "accuracy on true records use score_disguised or, in cross_val_score and GridSearchCV, scoring=DisguisedScorer()."
)


@dataclass(frozen=True)
class Question:
    """Predicted class of each record from the codes of some attributes; -1 where another question has the answer."""

    names: tuple[str, ...]
    predict: Callable[[Columns], NDArray[np.intp]]


def clear_plan(rows: NDArray[Any], classes: int, label: str) -> Plan:
    """Return a plan that disguises nothing, for records coded 0, 1, ... and a label as the last column.

    >>> import numpy as np
    >>> clear_plan(np.array([[0, 2], [1, 0]]), 2, "class").schema.sizes
    (2, 3, 2)
    """
    sizes = [max(int(most) + 1, 2) for most in rows.max(axis=0)]
    variables = [Attribute(f"x{index}", range(size)) for index, size in enumerate(sizes)]
    schema = Schema([*variables, Attribute(label, range(classes))])
    return Plan.of(schema, {schema.names: UnrelatedQuestion(theta=1)})


def counted_codes(rows: NDArray[Any], sizes: Sequence[int]) -> Columns:
    """Return the columns of an array of codes; raise for values that the training data did not have."""
    for column, size in enumerate(sizes):
        if rows[:, column].max() >= size:
            raise SottovoceError("X", f"must have values below {size} in column {column}", int(rows[:, column].max()))
    return tuple(narrow(rows[:, column], size) for column, size in enumerate(sizes))


class DisguisedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier of undisguised records that is fitted to disguised ones, under the plan that disguised them."""

    plan: Plan | None
    label: str | None
    attributes: Sequence[str] | None

    def __sklearn_tags__(self) -> Any:
        """Declare that without a plan categories are non-negative integers."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from disguised records: a table or file that holds the label too, or the label's reports as `y`.

        A class whose estimated share is not positive is learned as one that hardly anybody is in, with a warning.
        """
        self._check()
        plan, beside, table = self._prepare(X, y)
        shares = self._learn(plan, table, beside)
        if self.plan is not None:
            warn_of_empty_classes(self.classes_.tolist(), shares)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each undisguised record."""
        best = self._predict_codes(self._clear_codes(X))
        return np.asarray(self.classes_[best])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy on undisguised records; without `y` the table holds the label too.

        On disguised records this compares guesses from disguised values with disguised labels, which says little about
        the classifier: it warns where it knows. See `score_disguised`, and `DisguisedScorer` for scikit-learn.
        """
        truth = y
        if self.plan is not None and is_disguised(X):
            warnings.warn(PLAIN_SCORE, SottovoceWarning, stacklevel=2)
        if y is None:
            plan = self._agreed_plan()
            truth = plan.schema[self._label()].decode(coded(X, plan.schema.project([self._label()])))
        return float(super().score(X, truth, sample_weight))

    def _questions(self) -> list[Question]:
        """Return functions of few attributes each that make up the prediction: here one of all of them."""
        return [Question(tuple(self._features()), self._predict_codes)]

    @abstractmethod
    def _check(self) -> None:
        """Check the settings."""

    @abstractmethod
    def _learn(self, plan: Plan, table: Any, beside: dict[str, Any]) -> Array:
        """Learn from disguised records; return unbiased estimates of the shares of the classes."""

    @abstractmethod
    def _predict_codes(self, columns: Columns) -> NDArray[np.intp]:
        """Return the index of each record's class."""

    def _prepare(self, X: Any, y: Any) -> tuple[Plan, dict[str, Any], Any]:
        """Return the plan, columns beside the table, and the table; set scikit-learn's fitted attributes."""
        if self.plan is None:
            return self._prepare_clear(X, y)
        names = feature_names(self.plan, self._label(), self.attributes)
        self.feature_names_in_: NDArray[Any] = np.array(names, dtype=object)
        self.n_features_in_: int = len(names)
        (categories,) = self.plan.categories_of([self._label()])
        self.classes_: NDArray[Any] = label_array(categories)
        self.plan_: Plan = self.plan
        check_carried_plan(X, self.plan)
        if y is None:
            return self.plan, {}, X
        if self._label() not in self.plan.report_schema.names:
            rule = "must be left out if its report is not a column of its own; pass the whole table as X"
            raise SottovoceError("y", rule, self._label())
        return self.plan, {self._label(): y}, X

    def _prepare_clear(self, X: Any, y: Any) -> tuple[Plan, dict[str, Any], Any]:
        if self.label is not None or self.attributes is not None:
            raise SottovoceError("plan", "must be given with label and attributes", None)
        rows, given = validate_data(self, X, y, dtype="int")
        check_non_negative(rows, type(self).__name__)
        check_classification_targets(given)
        self.classes_, codes = np.unique(given, return_inverse=True)
        if len(self.classes_) < 2:
            raise SottovoceError("y", "must have more than one class", self.classes_.tolist())
        self.plan_ = clear_plan(rows, len(self.classes_), CLEAR_LABEL)
        return self.plan_, {CLEAR_LABEL: codes}, rows

    def _clear_codes(self, X: Any) -> Columns:
        """Return the codes of the attributes of undisguised records."""
        plan = self._agreed_plan()
        if self.plan is None:
            rows = validate_data(self, X, dtype="int", reset=False)
            check_non_negative(rows, type(self).__name__)
            return counted_codes(rows, plan.schema.sizes[:-1])
        names = self._features()
        if is_array(X) and np.ndim(X) == 2 and np.shape(X)[1] == len(names) + 1:
            names.append(self._label())
        return coded(X, plan.schema.project(names))[: len(self._features())]

    def _reports(self) -> Schema:
        """Return the report columns in use."""
        return report_schema_of(self.plan_, [*self._features(), self._label()])

    def _features(self) -> list[str]:
        """Return the names of the attributes in use."""
        if self.plan is None:
            return list(self.plan_.schema.names[:-1])
        return [str(name) for name in self.feature_names_in_]

    def _agreed_plan(self) -> Plan:
        check_is_fitted(self, "classes_")
        return self.plan_

    def _label(self) -> str:
        if self.plan is None:
            return CLEAR_LABEL
        if not isinstance(self.plan, Plan):
            raise SottovoceError("plan", "must be a plan; read_plan reads one from its file", self.plan)
        names = self.plan.schema.names
        if self.label not in names:
            raise SottovoceError("label", f"must be one of the plan's attributes ({', '.join(names)})", self.label)
        return self.label
