"""Naive Bayes from disguised records, for any plan, with standard errors of its log-odds."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, number, one_of
from sottovoce.counts.counter import CodedCounter, joint_counts
from sottovoce.display import html_table, html_text
from sottovoce.errors import SottovoceError
from sottovoce.estimates.intervals import WaldIntervals
from sottovoce.mining.classify.coding import report_counter
from sottovoce.mining.classify.joint_table import (
    JointTable,
    Repair,
    class_tables,
    reconstruct,
    unbiased_scores,
)
from sottovoce.mining.classify.learner import DisguisedClassifier
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Codes, Columns, ravel

TINY = 1e-300
"""Stands for zero in denominators and logarithms."""

MOST_TABLE_CELLS = 4096
"""Cells of all tables together whose covariance matrix is kept."""

ROWS_AT_ONCE = 2**13


@dataclass(frozen=True)
class Weights:
    """Prior (classes, classifiers) and tables (values, classes, classifiers), as logarithms of absolute values.

    `negative` marks those of negative numbers, as plain estimates may be: of the prior first.
    """

    prior: Array
    tables: tuple[Array, ...]
    negative: tuple[NDArray[np.bool_], ...] | None = None

    def scores(self, indicators: Array) -> Array:
        """Return `log P(c) + sum_i log P(a_i | c)` for rows of indicators: (rows, classes, classifiers)."""
        return self._added(indicators, self.prior, self.tables)

    def predict(self, indicators: Array) -> NDArray[np.intp]:
        """Return the index of the best class of each row, for each classifier; positive scores beat negative ones."""
        scores = self.scores(indicators)
        if self.negative is not None:
            scores = np.where(self._odd(indicators, self.negative), -1e9 - scores, scores)
        return np.asarray(scores.argmax(axis=1))

    def probabilities(self, indicators: Array) -> Array:
        """Return the probabilities of the classes given each row: (rows, classes, classifiers).

        That of a negative estimate is zero; if all are negative, they are equal.
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
    joint_tables: Sequence[JointTable], counts: Sequence[Array], repair: Repair, smoothing: float
) -> Weights:
    """Return weights from counts of the reports of the class, first, and of each attribute with the class.

    `P(a | c) = (N_eff p(a, c) + s) / sum_a (N_eff p(a, c) + s)`: Laplace smoothing with the effective number of records
    (`reconstruct`). The prior gets `s (1 - N_eff / N)`, nothing for undisguised records, for which this is the standard
    classifier. "plain" uses the unbiased estimates as they are (Zhan & Matwin 2006, 3.3).
    """
    respondents = int(counts[0][:, 0].sum())
    tables, sizes = [], []
    for joint, count in zip(joint_tables, counts, strict=True):
        distribution, effective = reconstruct(joint.channel, count / respondents, respondents, repair)
        tables.append(joint.table(distribution))
        sizes.append(effective)
    if repair == "plain":
        return _plain(tables[0], tables[1:])
    prior = sizes[0] * tables[0] + smoothing * (1 - sizes[0] / respondents)
    smoothed = [size * table + smoothing for table, size in zip(tables[1:], sizes[1:], strict=True)]
    with np.errstate(divide="ignore"):  # a class that undisguised records do not have
        logs = np.log(prior / prior.sum(axis=0))
    return Weights(logs, tuple(np.log(cells / cells.sum(axis=0)) for cells in smoothed))


def _plain(prior: Array, joint: Sequence[Array]) -> Weights:
    """Return the weights of `P(c) prod P(a_i and c) / P(c)` for estimates that may be negative."""
    conditional = [table / np.where(prior == 0, TINY, prior) for table in joint]
    negative = tuple(numbers < 0 for numbers in (prior, *conditional))
    logs = [np.log(np.maximum(np.abs(numbers), TINY)) for numbers in (prior, *conditional)]
    return Weights(logs[0], tuple(logs[1:]), negative)


def indicators_of(columns: Sequence[NDArray[np.integer]], sizes: Sequence[int]) -> Array:
    """Return a row for each record with a one for each of its values, attribute after attribute.

    >>> indicators_of([np.array([0, 1]), np.array([2, 0])], (2, 3))
    array([[1., 0., 0., 0., 1.],
           [0., 1., 1., 0., 0.]])
    """
    indicators = np.zeros((len(columns[0]), sum(sizes)))
    start = 0
    for codes, size in zip(columns, sizes, strict=True):
        indicators[np.arange(len(codes)), start + codes.astype(np.intp)] = 1
        start += size
    return indicators


@dataclass(frozen=True, repr=False)
class LogOdds(WaldIntervals):
    """Log-odds between two classes for each record, with standard errors."""

    value: Array
    standard_error: Array

    def __repr__(self) -> str:
        """Summarize in one line."""
        return f"<LogOdds of {len(self.value)} records>"

    def __str__(self) -> str:
        """Return a line for each record."""
        pairs = zip(self.value, self.standard_error, *self.interval(), strict=True)
        return "\n".join(f"{value:.4f} +- {error:.4f}  [{low:.4f}, {high:.4f}]" for value, error, low, high in pairs)

    def _repr_html_(self) -> str:
        numbers = (array.tolist() for array in (self.value, self.standard_error, *self.interval()))
        columns = ("log-odds", "standard error", "95 % low", "95 % high")
        return html_table(f"log-odds of {len(self.value)} records", columns, list(zip(*numbers, strict=True)))


class TableCovariance:
    """Covariance of the unbiased estimates of all tables, from the scores of each report."""

    def __init__(self, tables: Sequence[JointTable]) -> None:
        """Compute the scores of each joint report of each table."""
        shapes = [table.shape[: len(table.names)] for table in tables]
        self._cells = [prod(shape) for shape in shapes]
        if sum(self._cells) > MOST_TABLE_CELLS:
            rule = f"must be False for more than {MOST_TABLE_CELLS} cells of all tables together"
            raise SottovoceError("standard_errors", rule, sum(self._cells))
        self._tables = tables
        self._scores = [
            unbiased_scores(table.channel, table.expand(np.eye(cells)))
            for table, cells in zip(tables, self._cells, strict=True)
        ]

    def matrix(self, columns: Columns, times: NDArray[np.int64]) -> "FittedCovariance":
        """Return the covariance matrix of all cells of all tables, from different reports and their numbers."""
        total = sum(self._cells)
        sums, products, rows = np.zeros(total), np.zeros((total, total)), times.sum()
        for start in range(0, len(times), ROWS_AT_ONCE):
            some = slice(start, start + ROWS_AT_ONCE)
            scores = self._scores_of([codes[some] for codes in columns])
            weighted = scores * times[some, None]
            sums += weighted.sum(axis=0)
            products += weighted.T @ scores
        mean = sums / rows
        return FittedCovariance((products / rows - np.outer(mean, mean)) / rows, tuple(self._cells))

    def _scores_of(self, columns: Sequence[Codes]) -> Array:
        """Scores of every table's cells, a row for each report."""
        parts = [
            scores[ravel([columns[index] for index in table.columns], table.sizes)]
            for table, scores in zip(self._tables, self._scores, strict=True)
        ]
        return np.hstack(parts)


@dataclass(frozen=True)
class FittedCovariance:
    """Covariance matrix of the cells of the class table, then of each attribute's."""

    covariance: Array
    cells: tuple[int, ...]

    def log_odds(self, weights: Weights, indicators: Array, up: int, down: int) -> LogOdds:
        """Return log-odds between two classes, with standard errors by the delta method at the fitted distribution.

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
            values = indicators[:, start : start + len(table)]
            by_value = (values[:, :, None] / np.exp(table[..., 0]) - 1) * per_share
            gradients.append(by_value.reshape(len(values), -1))
            start += len(table)
        rows = np.hstack(gradients)
        variance = np.einsum("ij,jk,ik->i", rows, self.covariance, rows)
        return LogOdds(scores[:, up] - scores[:, down], np.sqrt(np.maximum(variance, 0)))


class NaiveBayes(DisguisedClassifier):
    """`argmax_c P(c) prod_i P(a_i and c) / P(c)`, all P reconstruct from disguised records (Zhan & Matwin 2006, 3.3).

    `label` is the attribute to predict. Tables with negative estimates are replaced by the maximum-likelihood
    distribution (`repair="em"`) or the nearest one ("simplex"), and `smoothing` records are added to each value
    (`naive_bayes_weights`); "plain" uses the estimates as they are. With `standard_errors`, fitting also keeps the
    covariance that `log_odds` needs. Without a plan it is the standard classifier of undisguised records, coded by
    integers from zero up.

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
        label: str | None = None,
        *,
        attributes: Sequence[str] | None = None,
        repair: Repair = "em",
        smoothing: float = 1.0,
        standard_errors: bool = False,
    ) -> None:
        """Store the settings; `fit` checks them."""
        self.plan = plan
        self.label = label
        self.attributes = attributes
        self.repair = repair
        self.smoothing = smoothing
        self.standard_errors = standard_errors

    def _check(self) -> None:
        one_of("repair", self.repair, get_args(Repair))
        number("smoothing", self.smoothing, 0, open_ends=True)

    def _learn(self, plan: Plan, table: Any, beside: dict[str, Any]) -> Array:
        self.tables_ = class_tables(plan, self._features(), self._label())
        reports = self._reports()
        counter, subsets = report_counter(table, reports, beside), [each.columns for each in self.tables_]
        self.covariance_ = None
        if self.standard_errors:
            scores, found = TableCovariance(self.tables_), counter.patterns(reports)
            self.covariance_ = scores.matrix(found.columns, found.times)
            counter = CodedCounter(reports, found.columns, found.times)
        self.counts_ = joint_counts(counter, reports, subsets)
        columns = [counts[:, None].astype(float) for counts in self.counts_]
        self.weights_: Weights = naive_bayes_weights(self.tables_, columns, self.repair, float(self.smoothing))
        label = self.tables_[0]
        return np.asarray(label.table(label.channel.solve(columns[0] / self.respondents_))[:, 0])

    @property
    def respondents_(self) -> int:
        """Number of reports used for fitting."""
        return int(self.counts_[0].sum())

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class given each undisguised record, taking attributes as independent."""
        columns = self._clear_codes(X)
        return self.weights_.probabilities(self._indicators(columns))[..., 0]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return the shares of the classes, first, and of each value within each class."""
        names = [self._label(), *self._features()]
        categories = self.plan_.categories_of(names)
        shares = [np.exp(self.weights_.prior), *map(np.exp, self.weights_.tables)]
        rows: list[dict[str, Any]] = [{"attribute": names[0], "value": "all", "shares": shares[0][:, 0].tolist()}]
        for name, labels, table in zip(names[1:], categories[1:], shares[1:], strict=True):
            pairs = zip(labels, table[..., 0].tolist(), strict=True)
            rows += [{"attribute": name, "value": label, "shares": list(row)} for label, row in pairs]
        return rows

    @property
    def headline(self) -> str:
        """Summary of a fitted classifier in one line."""
        return f"naive Bayes of {self._label()} from {self.respondents_} reports; odds {self.plan_.guarantee}"

    def __str__(self) -> str:
        """Return the learned shares; the settings before fitting."""
        if not hasattr(self, "weights_"):
            return repr(self)
        lines = [
            f"  {row['attribute']} = {row['value']}:  " + "  ".join(f"{share:.4f}" for share in row["shares"])
            for row in self.to_rows()
        ]
        return "\n".join([self.headline, f"  classes: {', '.join(map(str, self.classes_))}", *lines])

    def _repr_html_(self) -> str:
        if not hasattr(self, "weights_"):
            return html_text(repr(self))
        rows = [(row["attribute"], row["value"], *row["shares"]) for row in self.to_rows()]
        return html_table(self.headline, ("attribute", "value", *map(str, self.classes_)), rows)

    def log_odds(self, X: Any, positive: Any = None, against: Any = None) -> LogOdds:
        """Return `log P(positive | x) - log P(against | x)` of undisguised records, with standard errors.

        By default the last class is compared with the first. Standard errors are by the delta method, from the joint
        covariance of all tables, which come from the same reports; they include coins and sampling.
        """
        indicators = self._indicators(self._clear_codes(X))
        if self.covariance_ is None:
            raise SottovoceError("standard_errors", "must be True when fitting, for log-odds", self.standard_errors)
        if self.weights_.negative is not None and any(map(np.any, self.weights_.negative)):
            raise SottovoceError("repair", "must be em or simplex if estimates are negative", self.repair)
        up = self._class_code(positive, len(self.classes_) - 1)
        down = self._class_code(against, 0)
        return self.covariance_.log_odds(self.weights_, indicators, up, down)

    def _predict_codes(self, columns: Columns) -> NDArray[np.intp]:
        return self.weights_.predict(self._indicators(columns))[:, 0]

    def _indicators(self, columns: Columns) -> Array:
        return indicators_of(columns, [table.shape[0] for table in self.tables_[1:]])

    def _class_code(self, label: Any, default: int) -> int:
        if label is None:
            return default
        indices = np.flatnonzero(self.classes_ == label)
        if not len(indices):
            raise SottovoceError("class", f"must be one of {self.classes_.tolist()}", label)
        return int(indices[0])
