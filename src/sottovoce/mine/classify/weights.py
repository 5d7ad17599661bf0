"""What a naive Bayes classifier knows: logarithms of P(c) and P(a | c), for one classifier or many at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.mine.classify.laws import Repair, reconstructed
from sottovoce.mine.classify.question import Question

TINY = 1e-300


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
