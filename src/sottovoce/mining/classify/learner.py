"""What scikit-learn asks of a classifier, for those that learn from disguised records."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.estimates.counted import categories_of
from sottovoce.mining.classify.coding import check_carried_plan, coded, feature_names, is_array
from sottovoce.mining.classify.question import reports_of
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

CLEAR_TARGET = "class"
"""Name of the target where there is no plan to name it."""


def clear_plan(rows: NDArray[Any], classes: int, target: str) -> Plan:
    """Plan with theta = 1 of records coded 0, 1, ..., and a target behind them; it promises nothing.

    >>> import numpy as np
    >>> clear_plan(np.array([[0, 2], [1, 0]]), 2, "class").schema.sizes
    (2, 3, 2)
    """
    sizes = [max(int(most) + 1, 2) for most in rows.max(axis=0)]
    variables = [Attribute(f"x{place}", range(size)) for place, size in enumerate(sizes)]
    schema = Schema([*variables, Attribute(target, range(classes))])
    return Plan.of(schema, {schema.names: UnrelatedQuestion(theta=1)})


def counted_codes(rows: NDArray[Any], sizes: Sequence[int]) -> Columns:
    """Columns of an array of codes, refusing values that were not there to be learned."""
    for place, size in enumerate(sizes):
        if rows[:, place].max() >= size:
            raise SottovoceError("X", f"must have values below {size} in column {place}", int(rows[:, place].max()))
    return tuple(narrow(rows[:, place], size) for place, size in enumerate(sizes))


class DisguisedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier of clear records that is fitted to disguised ones, under the plan that disguised them."""

    plan: Plan | None
    target: str | None
    attributes: Sequence[str] | None

    def __sklearn_tags__(self) -> Any:
        """Categories as numbers that are not negative, where there is no plan to name them."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each record in clear."""
        best = self._predict_codes(self._clear_codes(X))
        return np.asarray(self.classes_[best])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy on records in clear; without `y` the table holds the target too."""
        truth = y
        if y is None:
            plan = self._agreed_plan()
            truth = plan.schema[self._target()].decode(coded(X, plan.schema.project([self._target()])))
        return float(super().score(X, truth, sample_weight))

    @abstractmethod
    def _predict_codes(self, columns: Columns) -> NDArray[np.intp]:
        """Number of each record's class."""

    def _prepare(self, X: Any, y: Any) -> tuple[Plan, dict[str, Any], Any]:
        """Plan, columns beside the table, and the table, with what scikit-learn wants to be remembered."""
        if self.plan is None:
            return self._prepare_clear(X, y)
        names = feature_names(self.plan, self._target(), self.attributes)
        self.feature_names_in_: NDArray[Any] = np.array(names, dtype=object)
        self.n_features_in_: int = len(names)
        (categories,) = categories_of(self.plan, [self._target()])
        self.classes_: NDArray[Any] = label_array(categories)
        self.plan_: Plan = self.plan
        check_carried_plan(X, self.plan)
        if y is None:
            return self.plan, {}, X
        if self._target() not in self.plan.report_schema.names:
            rule = "must be left out where its report is not a column of its own; give the whole table"
            raise SottovoceError("y", rule, self._target())
        return self.plan, {self._target(): y}, X

    def _prepare_clear(self, X: Any, y: Any) -> tuple[Plan, dict[str, Any], Any]:
        if self.target is not None or self.attributes is not None:
            raise SottovoceError("plan", "must be given with target and attributes", None)
        rows, given = validate_data(self, X, y, dtype="int")
        check_non_negative(rows, type(self).__name__)
        check_classification_targets(given)
        self.classes_, codes = np.unique(given, return_inverse=True)
        if len(self.classes_) < 2:
            raise SottovoceError("y", "must have more than one class", self.classes_.tolist())
        self.plan_ = clear_plan(rows, len(self.classes_), CLEAR_TARGET)
        return self.plan_, {CLEAR_TARGET: codes}, rows

    def _clear_codes(self, X: Any) -> Columns:
        """Codes of the attributes of records in clear."""
        plan = self._agreed_plan()
        if self.plan is None:
            rows = validate_data(self, X, dtype="int", reset=False)
            check_non_negative(rows, type(self).__name__)
            return counted_codes(rows, plan.schema.sizes[:-1])
        names = self._features()
        if is_array(X) and np.ndim(X) == 2 and np.shape(X)[1] == len(names) + 1:
            names.append(self._target())
        return coded(X, plan.schema.project(names))[: len(self._features())]

    def _reports(self) -> Schema:
        """Report columns that are looked at."""
        return reports_of(self.plan_, [*self._features(), self._target()])

    def _features(self) -> list[str]:
        """Names of the attributes in the plan."""
        if self.plan is None:
            return list(self.plan_.schema.names[:-1])
        return [str(name) for name in self.feature_names_in_]

    def _agreed_plan(self) -> Plan:
        check_is_fitted(self, "classes_")
        return self.plan_

    def _target(self) -> str:
        if self.plan is None:
            return CLEAR_TARGET
        if not isinstance(self.plan, Plan):
            raise SottovoceError("plan", "must be a plan; read_plan reads one from its file", self.plan)
        names = self.plan.schema.names
        if self.target not in names:
            raise SottovoceError("target", f"must be one of the plan's attributes ({', '.join(names)})", self.target)
        return self.target
