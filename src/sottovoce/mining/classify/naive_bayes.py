"""Naive Bayes from disguised records, for any plan, with the covariance of its log-odds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimates.counted import categories_of
from sottovoce.estimates.intervals import Ends, critical_value
from sottovoce.mining.classify.coding import check_classes, checked_positive, coded_batches
from sottovoce.mining.classify.learner import DisguisedClassifier
from sottovoce.mining.classify.question import (
    Question,
    Repair,
    count_all,
    pair_questions,
    reconstructed,
    report_functions,
)
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Codes, Columns, ravel

TINY = 1e-300
MOST_TABLE_CELLS = 4096
ROWS_AT_ONCE = 2**13


@dataclass(frozen=True)
class Weights:
    """Prior (classes, classifiers) and tables (values, classes, classifiers), as logarithms of absolute values.

    `negative` says which of them stand for negative numbers, as plain estimates may be: prior first.
    """

    prior: Array
    tables: tuple[Array, ...]
    negative: tuple[NDArray[np.bool_], ...] | None = None

    def scores(self, indicators: Array) -> Array:
        """`log P(c) + sum_i log P(a_i | c)` for rows of indicators of all values: (rows, classes, classifiers)."""
        return self._added(indicators, self.prior, self.tables)

    def predict(self, indicators: Array) -> NDArray[np.intp]:
        """Number of the best class of each row, for each classifier; any positive score beats a negative one."""
        scores = self.scores(indicators)
        if self.negative is not None:
            scores = np.where(self._odd(indicators, self.negative), -1e9 - scores, scores)
        return np.asarray(scores.argmax(axis=1))

    def probabilities(self, indicators: Array) -> Array:
        """Shares of the classes given each row: (rows, classes, classifiers).

        A negative estimate has none; if all are negative they share alike.
        """
        scores = self.scores(indicators)
        if self.negative is not None:
            odd = self._odd(indicators, self.negative)
            scores = np.where(odd & ~odd.all(axis=1, keepdims=True), -np.inf, np.where(odd, 0, scores))
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _odd(self, indicators: Array, negative: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """Whether an odd number of a score's factors are negative."""
        signs = [part.astype(float) for part in negative]
        return np.asarray(np.rint(self._added(indicators, signs[0], signs[1:])) % 2 == 1)

    def _added(self, indicators: Array, prior: Array, tables: Sequence[Array]) -> Array:
        stacked = np.concatenate(tables)
        sums = indicators @ stacked.reshape(len(stacked), -1)
        return np.asarray(sums.reshape(-1, *prior.shape) + prior)


def naive_bayes_weights(
    questions: Sequence[Question], counts: Sequence[Array], repair: Repair, smoothing: float
) -> Weights:
    """Weights from the counts of reports of the class, first, and of each attribute with the class.

    `P(a | c) = (N_eff p(a, c) + s) / sum_a (N_eff p(a, c) + s)`: Laplace's smoothing, with as many records as the
    reports are worth. The prior needs none where records are clear; it gets `s (1 - N_eff / N)`. In clear this is
    the standard classifier. "plain" takes the estimates as they come (Zhan & Matwin 2006, 3.3).
    """
    respondents = int(counts[0][:, 0].sum())
    tables, worths = [], []
    for question, counted in zip(questions, counts, strict=True):
        law, worth = reconstructed(question.channel, counted / respondents, respondents, repair)
        tables.append(question.table(law))
        worths.append(worth)
    if repair == "plain":
        return _plain(tables[0], tables[1:])
    extra = smoothing * (1 - worths[0] / respondents)
    prior = worths[0] * tables[0] + extra
    smoothed = [worth * table + smoothing for table, worth in zip(tables[1:], worths[1:], strict=True)]
    with np.errstate(divide="ignore"):  # a class that clear records do not have
        logs = np.log(prior / prior.sum(axis=0))
    return Weights(logs, tuple(np.log(cells / cells.sum(axis=0)) for cells in smoothed))


def _plain(prior: Array, joint: Sequence[Array]) -> Weights:
    """`P(c) prod P(a_i and c) / P(c)`, with the signs that noise gives it."""
    conditional = [table / np.where(prior == 0, TINY, prior) for table in joint]
    negative = tuple(numbers < 0 for numbers in (prior, *conditional))
    logs = [np.log(np.maximum(np.abs(numbers), TINY)) for numbers in (prior, *conditional)]
    return Weights(logs[0], tuple(logs[1:]), negative)


def indicators_of(columns: Sequence[NDArray[np.integer]], sizes: Sequence[int]) -> Array:
    """A row for each record with a one for each of its values, attribute after attribute.

    >>> indicators_of([np.array([0, 1]), np.array([2, 0])], (2, 3))
    array([[1., 0., 0., 0., 1.],
           [0., 1., 1., 0., 0.]])
    """
    wide = np.zeros((len(columns[0]), sum(sizes)))
    start = 0
    for codes, size in zip(columns, sizes, strict=True):
        wide[np.arange(len(codes)), start + codes.astype(np.intp)] = 1
        start += size
    return wide


@dataclass(frozen=True)
class LogOdds:
    """Logarithms of the odds between two classes, one a record, with standard errors."""

    value: Array
    standard_error: Array

    def interval(self, level: float = 0.95) -> Ends:
        """Ends of each record's interval."""
        half = critical_value(level) * self.standard_error
        return self.value - half, self.value + half


class TableCovariance:
    """Gathers, report by report, what the tables' unbiased estimates have in common."""

    def __init__(self, questions: Sequence[Question]) -> None:
        """Work out what each joint report of each question counts for."""
        shapes = [question.shape[: len(question.names)] for question in questions]
        self._cells = [prod(shape) for shape in shapes]
        if sum(self._cells) > MOST_TABLE_CELLS:
            rule = f"must be left out for more than {MOST_TABLE_CELLS} cells of all tables together"
            raise SottovoceError("confidence", rule, sum(self._cells))
        self._questions = questions
        self._functions = [
            report_functions(question.channel, question.spread_out(np.eye(cells)))
            for question, cells in zip(questions, self._cells, strict=True)
        ]
        total = sum(self._cells)
        self._sum, self._products, self._rows = np.zeros(total), np.zeros((total, total)), 0

    def watch(self, batches: Iterable[Columns]) -> Iterator[Columns]:
        """Let batches through, and look at them."""
        for columns in batches:
            for start in range(0, len(columns[0]), ROWS_AT_ONCE):
                self._add([codes[start : start + ROWS_AT_ONCE] for codes in columns])
            yield columns

    def matrix(self) -> "FittedCovariance":
        """Covariance matrix of all cells of all tables."""
        mean = self._sum / self._rows
        return FittedCovariance((self._products / self._rows - np.outer(mean, mean)) / self._rows, tuple(self._cells))

    def _add(self, columns: Sequence[Codes]) -> None:
        parts = [
            function[ravel([columns[place] for place in question.columns], question.sizes)]
            for question, function in zip(self._questions, self._functions, strict=True)
        ]
        rows = np.hstack(parts)
        self._sum += rows.sum(axis=0)
        self._products += rows.T @ rows
        self._rows += len(rows)


@dataclass(frozen=True)
class FittedCovariance:
    """Covariance matrix of the class table, then of each attribute's, cells as the questions number them."""

    covariance: Array
    cells: tuple[int, ...]

    def log_odds(self, weights: Weights, indicators: Array, up: int, down: int) -> LogOdds:
        """Delta method, at the fitted law.

        `d log P(c) = dp(c) / P(c)`, and for each attribute of a record
        `d log P(a | c) = dp(a, c) / (P(a | c) P(c)) - sum_b dp(b, c) / P(c)`.
        """
        scores = weights.scores(indicators)[..., 0]
        shares = np.exp(weights.prior[:, 0])
        signs = np.zeros(len(shares))
        signs[up] += 1
        signs[down] -= 1
        per_share = signs / np.maximum(shares, TINY)
        gradients, start = [np.tile(per_share, (len(indicators), 1))], 0
        for table in weights.tables:
            own = indicators[:, start : start + len(table)]
            by_value = (own[:, :, None] / np.exp(table[..., 0]) - 1) * per_share
            gradients.append(by_value.reshape(len(own), -1))
            start += len(table)
        rows = np.hstack(gradients)
        variance = np.einsum("ij,jk,ik->i", rows, self.covariance, rows)
        return LogOdds(scores[:, up] - scores[:, down], np.sqrt(np.maximum(variance, 0)))


class NaiveBayes(DisguisedClassifier):
    """`argmax_c P(c) prod_i P(a_i and c) / P(c)`, all P reconstructed from disguised records (Zhan & Matwin 2006, 3.3).

    Estimates outside the simplex are replaced by the most likely law of each small table ("em") or the nearest one
    ("simplex"), and `smoothing` adds records to as many as the reports are worth (`weights`). "plain" takes the
    estimates as they come. With `confidence`, fitting also keeps what `log_odds` needs for its standard errors. Without
    a plan it is the standard classifier of records in clear, coded by numbers from zero up.

    >>> from sottovoce.disguises.tables import disguise_frame
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.unrelated_question import UnrelatedQuestion
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
