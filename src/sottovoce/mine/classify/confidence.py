"""How sure the log-odds of a naive Bayes classifier are: the covariance of all its tables together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimate.intervals import Ends, critical_value
from sottovoce.mine.classify.question import Question
from sottovoce.mine.classify.unbiased import report_functions
from sottovoce.mine.classify.weights import TINY, Weights
from sottovoce.schema.cells import Codes, Columns, ravel

MOST_TABLE_CELLS = 4096
ROWS_AT_ONCE = 2**13


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
