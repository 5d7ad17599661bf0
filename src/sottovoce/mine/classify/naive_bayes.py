"""Naive Bayes from disguised records, for any plan."""

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimate.counted import categories_of
from sottovoce.mine.classify.checks import check_classes, checked_positive
from sottovoce.mine.classify.coding import coded_batches
from sottovoce.mine.classify.confidence import LogOdds, TableCovariance
from sottovoce.mine.classify.laws import Repair
from sottovoce.mine.classify.learner import DisguisedClassifier
from sottovoce.mine.classify.question import count_all, pair_questions
from sottovoce.mine.classify.weights import Weights, indicators_of, naive_bayes_weights
from sottovoce.plan.plan import Plan
from sottovoce.schema.cells import Columns


class NaiveBayes(DisguisedClassifier):
    """`argmax_c P(c) prod_i P(a_i and c) / P(c)`, all P reconstructed from disguised records (Zhan & Matwin 2006, 3.3).

    Estimates outside the simplex are replaced by the most likely law of each small table ("em") or the nearest one
    ("simplex"), and `smoothing` adds records to as many as the reports are worth (`weights`). "plain" takes the
    estimates as they come. With `confidence`, fitting also keeps what `log_odds` needs for its standard errors. Without
    a plan it is the standard classifier of records in clear, coded by numbers from zero up.

    >>> from sottovoce.disguise.frames import disguise_frame
    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.unrelated_question import UnrelatedQuestion
    >>> schema = Schema([boolean("smokes"), boolean("ill")])
    >>> plan = Plan.of(schema, {schema.names: UnrelatedQuestion(theta=0.5)})
    >>> people = {"smokes": [True] * 500 + [False] * 500, "ill": [True] * 400 + [False] * 550 + [True] * 50}
    >>> model = NaiveBayes(plan, "ill").fit(disguise_frame(people, plan, rng=1))
    >>> model.predict({"smokes": [True, False]}), model.score(people)
    (array([ True, False]), 0.85)
    """

    def __init__(
        self,
        plan: Plan | None = None,
        target: str | None = None,
        *,
        attributes: Sequence[str] | None = None,
        repair: Repair = "em",
        smoothing: float = 1.0,
        confidence: bool = False,
    ) -> None:
        """Keep the settings; they are checked when it is fitted."""
        self.plan = plan
        self.target = target
        self.attributes = attributes
        self.repair = repair
        self.smoothing = smoothing
        self.confidence = confidence

    def fit(self, X: Any, y: Any = None) -> "NaiveBayes":
        """Learn from disguised records: a table or file that holds the target too, or the target's reports as `y`."""
        if self.repair not in get_args(Repair):
            raise SottovoceError("repair", f"must be one of {', '.join(get_args(Repair))}", self.repair)
        smoothing = checked_positive("smoothing", self.smoothing)
        plan, beside, table = self._prepare(X, y)
        self.questions_ = pair_questions(plan, self._features(), self._target())
        covariance = TableCovariance(self.questions_) if self.confidence else None
        batches = coded_batches(table, self._reports(), beside)
        self.counts_ = count_all(self.questions_, batches if covariance is None else covariance.watch(batches))
        self.covariance_ = None if covariance is None else covariance.matrix()
        if self.plan is not None:
            seen = (self.counts_[0] / self.respondents_)[:, None]
            shares = self.questions_[0].table(self.questions_[0].channel.solve(seen))[:, 0]
            check_classes(self.classes_.tolist(), shares)
        columns = [counts[:, None].astype(float) for counts in self.counts_]
        self.weights_: Weights = naive_bayes_weights(self.questions_, columns, self.repair, smoothing)
        return self

    @property
    def respondents_(self) -> int:
        """Number of reports that were learned from."""
        return int(self.counts_[0].sum())

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class given each record in clear, as far as the attributes are independent."""
        columns = self._clear_codes(X)
        return self.weights_.probabilities(self._indicators(columns))[..., 0]

    def to_rows(self) -> list[dict[str, Any]]:
        """What was learned: the share of each value within each class, and of the classes themselves, first."""
        names = [self._target(), *self._features()]
        categories = categories_of(self.plan_, names)
        shares = [np.exp(self.weights_.prior), *map(np.exp, self.weights_.tables)]
        rows: list[dict[str, Any]] = [{"attribute": names[0], "value": "all", "shares": shares[0][:, 0].tolist()}]
        for name, labels, table in zip(names[1:], categories[1:], shares[1:], strict=True):
            pairs = zip(labels, table[..., 0].tolist(), strict=True)
            rows += [{"attribute": name, "value": label, "shares": list(row)} for label, row in pairs]
        return rows

    def log_odds(self, X: Any, positive: Any = None, against: Any = None) -> LogOdds:
        """`log P(positive | x) - log P(against | x)` of records in clear, with standard errors.

        The last class is held against the first unless others are named. The errors are those of the delta method
        through the covariance of all tables together, which share their reports; coins and sampling are in it.
        """
        indicators = self._indicators(self._clear_codes(X))
        if self.covariance_ is None:
            raise SottovoceError("confidence", "must be asked for before fitting", self.confidence)
        if self.weights_.negative is not None and any(map(np.any, self.weights_.negative)):
            raise SottovoceError("repair", "must be em or simplex where estimates are negative", self.repair)
        up = self._class_code(positive, len(self.classes_) - 1)
        down = self._class_code(against, 0)
        return self.covariance_.log_odds(self.weights_, indicators, up, down)

    def _predict_codes(self, columns: Columns) -> NDArray[np.intp]:
        return self.weights_.predict(self._indicators(columns))[:, 0]

    def _indicators(self, columns: Columns) -> Array:
        return indicators_of(columns, [question.shape[0] for question in self.questions_[1:]])

    def _class_code(self, label: Any, default: int) -> int:
        if label is None:
            return default
        places = np.flatnonzero(self.classes_ == label)
        if not len(places):
            raise SottovoceError("class", f"must be one of {self.classes_.tolist()}", label)
        return int(places[0])
