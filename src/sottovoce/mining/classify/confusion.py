"""Confusion matrices from disguised records: unbiased where the attributes were asked together, else by a model."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import lcm, prod

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.channels.complement import Complement
from sottovoce.channels.dense import Dense
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.checks import Array, Target
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.likelihood import observed
from sottovoce.estimates.log_linear import fit_log_linear
from sottovoce.estimates.proportions import NeverAskedError, needed_attributes
from sottovoce.mining.classify.joint_table import JointTable, unbiased_scores
from sottovoce.mining.classify.learner import Question
from sottovoce.mining.classify.whole_record import MOST_CELLS, Outcomes, WholeRecord
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Codes, Columns, ravel, unravel
from sottovoce.schemas.schema import Schema

ROWS_AT_ONCE = 2**15

MOST_MODEL_CELLS, MOST_MODEL_REPORTS = 2**11, 2**16
"""Joint cells, and joint reports, of the attributes that are modelled together."""

ORDER = 3
"""Attributes between which a model has dependence, where so many were asked together."""

DRAWS = 2**14
"""Records of each class that are drawn from a model of several blocks of attributes."""

WHOLE = "whole records"
"""Method for plans that keep or replace whole records."""

ReportScores = Callable[[Columns], Array]
"""Score of each coded report for each outcome; its mean is the outcome's share among the truths."""


MOST_BOUNDED_CELLS = 2**15
"""Joint cells of features and label up to which the accuracy is bounded; the linear program has a row for each."""

MOST_TABLE_CELLS = 128
"""Joint cells of attributes asked together that the bounds use as one table; of larger ones they use the pairs."""

LARGEST_TERM = 2.0
"""Largest absolute value of a bound's term: larger ones gain little, and add the noise of the reports."""


MOST_SECONDS = 60.0
"""Time limit of a linear program; those of 7,000 cells take about a second."""


@dataclass(frozen=True)
class Bounds:
    """Estimated lower and upper bound of a share, with standard errors."""

    low: float
    low_error: float
    high: float
    high_error: float


class TooManyRecordsError(SottovoceError):
    """There are too many joint records or reports for a channel to be inverted."""


@dataclass(frozen=True)
class Confusion:
    """Share of each true class and prediction, row by row, with its covariance, and the method of estimation.

    That of a model has no covariance, but may have bounds of the accuracy, which take a while to find. `resolution` is
    how much a single report may change a share: a few reports that agree have no variance, but tell no more than that.
    """

    value: Array
    covariance: Array
    method: str
    find_bounds: Callable[[], Bounds | None] | None = None
    resolution: float = 0.0

    @property
    def accuracy_error(self) -> float:
        """Standard error of the accuracy, and what one report may change."""
        correct = np.eye(int(len(self.value) ** 0.5)).ravel()
        return float(np.hypot(max(float(correct @ self.covariance @ correct), 0.0) ** 0.5, self.resolution))


@dataclass(frozen=True)
class DisguisedTest:
    """Coded disguised records, their plan, and the label to be predicted."""

    plan: Plan
    label: str
    classes: int
    reports: Schema
    columns: Columns

    @property
    def rows(self) -> int:
        """Number of reports."""
        return len(self.columns[0])

    def unbiased(self, questions: Sequence[Question], target: Target, rng: np.random.Generator) -> Confusion:
        """Sum the unbiased shares of all questions, each from the reports in which its attributes were asked.

        The mean `v = sum_q mean_q h_q` of scores h has the covariance of its influence function,
        `sum_q N / N_q 1[asked q] (h_q - v_q) + v`, over the N reports; N_q are those asked all that question q needs.
        """
        estimators = [Estimator.of(self, question, rng) for question in questions]
        counts = [sum(int(e.asked(piece).sum()) for piece in self._pieces()) for e in estimators]
        for estimator, count in zip(estimators, counts, strict=True):
            if count < 2:
                asked = " and ".join(estimator.table.names)
                raise SottovoceError("reports", f"must be at least 2 that answer {asked}", count)
        parts = list(zip(estimators, counts, strict=True))
        means = [sum(e.scores(piece).sum(axis=0) for piece in self._pieces()) / n for e, n in parts]
        value, products = np.sum(means, axis=0), np.zeros((self.classes**2, self.classes**2))
        for piece in self._pieces():
            influence = np.tile(value, (len(piece[0]), 1))
            for (estimator, count), mean in zip(parts, means, strict=True):
                influence[estimator.asked(piece)] += self.rows / count * (estimator.scores(piece) - mean)
            products += influence.T @ influence
        covariance = (products / self.rows - np.outer(value, value)) / self.rows
        if target == "table":
            covariance -= (np.diag(value) - np.outer(value, value)) / self.rows
        method = next((e.method for e in estimators if e.method != WHOLE), WHOLE)
        if min(counts) < self.rows:
            method += f", {min(counts)} asked together"
        covariance += np.sum([e.simulation for e in estimators], axis=0)
        known = 1.0 if target == "table" else 0.0  # the truths of a table do not vary, only the coins do
        resolution = float(np.linalg.norm([(e.spread - known) / count for e, count in parts]))
        return Confusion(value, covariance, method, resolution=resolution)

    def modelled(self, question: Question, rng: np.random.Generator) -> Confusion:
        """Estimate the joint distribution of features and label by a model, and sum what the classifier makes of it.

        The model is that of `estimates.log_linear`: dependence of all pairs of attributes, and of three where three
        were asked together. Features with too many joint cells are divided into blocks, each modelled with the label
        and taken as independent of the others given the label. No standard error could say how far the model is from
        the truth, so there is none, but bounds of the accuracy.
        """
        blocks = [self._fit(names) for names in self._blocks(question.names)]
        records, weights = self._model_records(question.names, blocks, rng)
        predicted = question.predict(records[:-1])
        outcomes = records[-1].astype(np.intp) * self.classes + predicted
        value = np.asarray(np.bincount(outcomes, weights, self.classes**2), np.float64)
        text = "" if len(blocks) == 1 else f" of {len(blocks)} blocks of attributes"
        unknown = np.full((len(value), len(value)), np.nan)
        bounds = partial(accuracy_bounds, self, question, records, weights)
        return Confusion(value, unknown, f"log-linear model{text}", bounds)

    def _blocks(self, names: Sequence[str]) -> list[list[str]]:
        """Return the features divided into blocks that can be modelled with the label, in their order."""
        blocks: list[list[str]] = []
        for name in names:
            if blocks and self._fits([*blocks[-1], name]):
                blocks[-1].append(name)
            else:
                blocks.append([name])
        return blocks

    def _fits(self, names: Sequence[str]) -> bool:
        channel = JointTable.unchecked(self.plan, [*names, self.label], self.reports).channel
        return channel.n_in <= MOST_MODEL_CELLS and channel.n_out <= MOST_MODEL_REPORTS

    def _fit(self, names: Sequence[str]) -> Array:
        """Return the modelled shares of the joint cells of some features, in rows, and of the classes, in columns."""
        table = JointTable.unchecked(self.plan, [*names, self.label], self.reports)
        fit = fit_log_linear(observed(table.channel, table.count(self.columns)), ORDER)
        return table.table(fit.value[:, None]).reshape(-1, self.classes)

    def _model_records(
        self, names: Sequence[str], blocks: Sequence[Array], rng: np.random.Generator
    ) -> tuple[Columns, Array]:
        """Return all records and their modelled shares or, with several blocks, records drawn from the model."""
        classes = np.arange(self.classes)
        if len(blocks) == 1:
            cells = [np.repeat(np.arange(len(blocks[0])), self.classes)]
            truths, weights = np.tile(classes, len(blocks[0])), blocks[0].ravel()
        else:
            prior = np.mean([block.sum(axis=0) for block in blocks], axis=0)
            drawn = [[rng.choice(len(b), DRAWS, p=b[:, c] / b[:, c].sum()) for c in classes] for b in blocks]
            cells = [np.concatenate(by_class) for by_class in drawn]
            truths, weights = np.repeat(classes, DRAWS), np.repeat(prior / DRAWS, DRAWS)
        sizes = iter(self.sizes(names))
        columns: list[Codes] = []
        for own, block in zip(self._blocks(names), cells, strict=True):
            columns += unravel(block, [next(sizes) for _ in own])
        return (*columns, truths), weights

    def sizes(self, names: Sequence[str]) -> list[int]:
        """Return the numbers of categories of some attributes."""
        return [self.plan.schema.project([name]).cells for name in names]

    def _pieces(self) -> Iterator[Columns]:
        for start in range(0, self.rows, ROWS_AT_ONCE):
            yield tuple(codes[start : start + ROWS_AT_ONCE] for codes in self.columns)


@dataclass(frozen=True)
class Estimator:
    """Unbiased scores of the reports for the outcomes of one question, where all that it needs was asked.

    `simulation` is the covariance that simulated probabilities add, `spread` the range of an outcome's scores.
    """

    table: JointTable
    score: ReportScores
    simulation: Array
    method: str
    spread: float

    @classmethod
    def of(cls, test: DisguisedTest, question: Question, rng: np.random.Generator) -> "Estimator":
        """Look up the channel of the question's attributes and the label, and invert it for the outcomes."""
        names = [*question.names, test.label]
        table = JointTable.unchecked(test.plan, names, test.reports)
        channel = asked_together(table.channel)
        if channel is None:
            raise NeverAskedError(names)
        count = test.classes**2
        outcomes = partial(_outcomes, test, question)
        score = partial(_one_hot, outcomes, count)
        nothing = np.zeros((count, count))
        whole = WholeRecord.of(channel)
        if whole is not None:
            shares, draws = whole.outcomes(outcomes, count + 1, rng)
            shares = shares[:-1]
            weight = (1 - whole.keep) / whole.keep
            extra = nothing if draws is None else weight**2 * (np.diag(shares) - np.outer(shares, shares)) / draws
            return cls(
                table, lambda columns: score(columns) / whole.keep - weight * shares, extra, WHOLE, 1 / whole.keep
            )
        if isinstance(channel, Complement):
            keep = float(channel.keep)
            return cls(table, _complement_scores(score, keep), nothing, WHOLE, 1 / abs(2 * keep - 1))
        if max(channel.n_in, channel.n_out) > MOST_CELLS:
            rule = f"must have at most {MOST_CELLS} joint records for a test through the channel"
            raise TooManyRecordsError("plan", rule, Words(f"{channel.n_in}"))
        every = unbiased_scores(channel, score(unravel(np.arange(channel.n_in), channel.shape_in)))
        shape, spread = channel.shape_out, float(np.ptp(every, axis=0).max())
        return cls(table, lambda columns: every[ravel(columns, shape)], nothing, "through the channel", spread)

    def asked(self, columns: Columns) -> NDArray[np.bool_]:
        """Return in which reports all attributes of the question were asked."""
        asked = np.ones(len(columns[0]), bool)
        sampled = _sampled_columns(self.table.channel)
        for index, size, may_be_missing in zip(self.table.columns, self.table.sizes, sampled, strict=True):
            if may_be_missing:
                asked &= columns[index] < size - 1
        return asked

    def scores(self, columns: Columns) -> Array:
        """Return the scores of the reports in which all attributes of the question were asked."""
        asked = self.asked(columns)
        return self.score(tuple(columns[index][asked] for index in self.table.columns))


def _outcomes(test: DisguisedTest, question: Question, columns: Columns) -> NDArray[np.intp]:
    """Return the index of truth and prediction, from columns in the channel's order; the last where there is none."""
    names = [*question.names, test.label]
    ordered = test.plan.in_group_order(needed_attributes(test.plan, names))
    *features, truth = (columns[ordered.index(name)] for name in names)
    predicted = question.predict(tuple(features))
    return np.where(predicted < 0, test.classes**2, truth.astype(np.intp) * test.classes + predicted)


def _one_hot(outcomes: Outcomes, count: int, columns: Columns) -> Array:
    return np.eye(count + 1, count)[outcomes(columns)]


def _complement_scores(one_hot: ReportScores, keep: float) -> ReportScores:
    """Return scores under the complement channel: `(keep f(y) - (1 - keep) f(complement of y)) / (2 keep - 1)`."""

    def scores(columns: Columns) -> Array:
        complement = one_hot(tuple(1 - codes.astype(np.int64) for codes in columns))
        return (keep * one_hot(columns) - (1 - keep) * complement) / (2 * keep - 1)

    return scores


def asked_together(channel: Channel) -> Channel | None:
    """Return the channel of reports in which all attributes were asked; None if they are never asked together.

    Where several parts ask them, a report does not show which it came from: it is that of their mixture.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.channel import Part
    >>> from sottovoce.channels.sampled import Sampled
    >>> coin, both = KeepOrUniform((2,), Fraction(1, 2)), KeepOrUniform((2, 2), Fraction(1, 3))
    >>> asked_together(Sampled((2, 2), [Part((0,), coin), Part((0, 1), both)])) == both
    True
    >>> asked_together(Sampled((2, 2), [Part((0,), coin), Part((1,), coin)])) is None
    True
    """
    if not any(factor.samples for factor in channel.factors):
        return channel
    factors = [_all_asked(factor) if factor.samples else factor for factor in channel.factors]
    known = [factor for factor in factors if factor is not None]
    if len(known) < len(factors):
        return None
    return known[0] if len(known) == 1 else Kronecker(known)


def _all_asked(channel: Channel) -> Channel | None:
    """Return the mixture of the parts of a sampled channel that ask all attributes."""
    weights: dict[Channel, int] = {}
    for part in channel.parts:
        if part.channel is not None and len(part.axes) == len(channel.shape_in):
            weights[part.channel] = weights.get(part.channel, 0) + part.weight
    if len(weights) < 2:
        return next(iter(weights), None)
    total = sum(weights.values())
    diagonal = [(weight, part.keep) for part, weight in weights.items() if isinstance(part, KeepOrUniform)]
    if len(diagonal) == len(weights):
        return KeepOrUniform(channel.shape_in, sum(weight * keep for weight, keep in diagonal) / total)
    cells = range(channel.n_in)
    entries = [
        [
            sum(Fraction(weight, total) * part.entry(report, truth) for part, weight in weights.items())
            for truth in cells
        ]
        for report in cells
    ]
    scale = lcm(*(entry.denominator for row in entries for entry in row))
    return Dense([[int(entry * scale) for entry in row] for row in entries], scale, channel.shape_in, channel.shape_in)


def _sampled_columns(channel: Channel) -> list[bool]:
    """Return for each column of a report whether its last code means that the attribute was not asked."""
    return [factor.samples for factor in channel.factors for _ in factor.shape_out]


def accuracy_bounds(test: DisguisedTest, question: Question, records: Columns, weights: Array) -> Bounds | None:
    """Bound the accuracy by functions of attributes that were asked together, whatever the joint distribution is.

    With functions f of tables T that were asked, `sum_T f_T(x_T) <= 1[prediction(x) is the class]` for all records x
    makes the mean of the left side a lower bound of the accuracy, and it is estimated without bias from the reports.
    The largest such bound under the modelled distribution, given as weighted records, is found by linear programming:
    it is the smallest accuracy of all distributions with the model's tables. The upper bound is found likewise. None if
    there are too many joint cells.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    names = [*question.names, test.label]
    sizes = test.sizes(names)
    if prod(sizes) > MOST_BOUNDED_CELLS:
        return None
    cells = unravel(np.arange(prod(sizes)), sizes)
    correct = (question.predict(cells[:-1]) == cells[-1]).astype(float)
    tables = [JointTable.of(test.plan, table, test.reports) for table in _asked_tables(test, names)]
    shapes = [table.shape[: len(table.names)] for table in tables]

    def indices(columns: Columns) -> list[NDArray[np.integer]]:
        """Cell of each record in each table."""
        return [
            ravel([columns[names.index(name)] for name in table.names], shape)
            for table, shape in zip(tables, shapes, strict=True)
        ]

    rows, ones = np.arange(len(correct)), np.ones(len(correct))
    members = [
        csr_array((ones, (rows, own)), (len(rows), prod(s))) for own, s in zip(indices(cells), shapes, strict=True)
    ]
    shares = [np.bincount(own, weights, prod(s)) for own, s in zip(indices(records), shapes, strict=True)]
    limits: list[float] = []
    for sign in (1, -1):
        found = linprog(
            -sign * np.concatenate(shares),
            A_ub=sign * hstack(members).tocsr(),
            b_ub=sign * correct,
            bounds=(-LARGEST_TERM, LARGEST_TERM),
            method="highs-ipm",
            options={"time_limit": MOST_SECONDS},
        )
        if found.status != 0:
            return None
        limits += _mean_of_terms(test, tables, np.split(found.x, np.cumsum([len(own) for own in shares])[:-1]))
    return Bounds(*limits)


def _mean_of_terms(test: DisguisedTest, tables: Sequence[JointTable], terms: Sequence[Array]) -> tuple[float, float]:
    """Return the unbiased mean of a sum of functions of tables, and its standard error.

    The latter includes what one report may change, as the `resolution` of a confusion matrix.
    """
    scores, spread = np.zeros(test.rows), 0.0
    for table, term in zip(tables, terms, strict=True):
        by_report = unbiased_scores(table.channel, table.expand(term[:, None]))[:, 0]
        scores += by_report[ravel([test.columns[index] for index in table.columns], table.sizes)]
        spread += float(np.ptp(by_report))
    return float(scores.mean()), float(np.hypot(scores.std(ddof=1) / test.rows**0.5, spread / test.rows))


def _asked_tables(test: DisguisedTest, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the sets of these attributes that were asked together, and pairs: the largest ones that are small."""
    sets: set[tuple[str, ...]] = set(combinations(names, 2))
    for group in test.plan.groups:
        for part in group.mechanism.channel.parts if group.mechanism.channel.samples else ():
            asked = tuple(name for name in names if name in {group.attributes[axis] for axis in part.axes})
            if len(asked) > 2 and prod(test.sizes(asked)) <= MOST_TABLE_CELLS:
                sets.add(asked)
    return sorted(one for one in sets if not any(set(one) < set(other) for other in sets))
