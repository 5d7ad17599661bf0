"""What is true of the group, from stored reports alone: every question, and tables of two."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sottovoce.errors import SottovoceError
from sottovoce.estimate.em import Progress
from sottovoce.estimate.independence import IndependenceTest, independence_test
from sottovoce.estimate.itemsets import estimate_supports
from sottovoce.estimate.proportions import estimate_proportions
from sottovoce.schema.cells import Columns
from sottovoce.survey.forged import Ends, extreme_weights, forged_reports, joint_weights
from sottovoce.survey.margins import column_channels
from sottovoce.survey.report import ReportFormat
from sottovoce.survey.survey import Survey


@dataclass(frozen=True)
class Line:
    """One answer's proportion; `forged` reports would move it out of its interval."""

    labels: tuple[str, ...]
    estimate: float
    standard_error: float
    low: float
    high: float
    forged: int | None


@dataclass(frozen=True)
class Result:
    """Proportions of one question, or of combinations of two, with the test of independence, or why there is none."""

    questions: tuple[str, ...]
    respondents: int
    level: float
    lines: tuple[Line, ...]
    test: IndependenceTest | None = None
    untested: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Everything, for programs."""
        return asdict(self)


class Reports:
    """Reports of one survey, counted as often as wanted."""

    def __init__(self, survey: Survey, reports: Iterable[bytes]) -> None:
        """Take the reports apart."""
        self.survey = survey
        self.columns: Columns = ReportFormat(survey.plan).to_columns(reports)

    def __len__(self) -> int:
        """Number of reports."""
        return len(self.columns[0])

    def results(self, *, level: float = 0.95, progress: Progress | None = None) -> list[Result]:
        """All questions."""
        found = []
        for question in self.survey.questions:
            found.append(self.result(question.id, level=level))
            if progress is not None:
                progress(len(found), len(self.survey.questions))
        return found

    def result(self, question: str, *, level: float = 0.95) -> Result:
        """Proportion of every answer to a question; of several choices, of each by itself."""
        if self.survey.question(question).kind == "several":
            return self._items(question, level)
        return self._proportions((question,), level)

    def cross(self, first: str, second: str, *, level: float = 0.95) -> Result:
        """Proportions of all combinations of two answers, and whether the questions are independent."""
        if first == second:
            raise SottovoceError("cross", "must name two different questions", first)
        for name in (first, second):
            if self.survey.question(name).kind == "several":
                raise SottovoceError("cross", "must be of questions with one answer each", name)
        found = self._proportions((first, second), level)
        try:
            test = independence_test(self._table(first, second), self.survey.plan, first, second)
        except SottovoceError as reason:  # too few reports for a test are enough for a table
            return replace(found, untested=str(reason))
        return replace(found, test=test)

    def _proportions(self, questions: tuple[str, ...], level: float) -> Result:
        self._check_enough()
        plan = self.survey.plan
        found = estimate_proportions(self._table(*questions), plan, questions)
        rows = [(tuple(map(str, row["values"].values())), row["estimate"], row) for row in found.to_rows(level)]
        return Result(questions, len(self), level, self._lines(rows, joint_weights(plan, questions)))

    def _items(self, question: str, level: float) -> Result:
        self._check_enough()
        labels = self.survey.question(question).labels
        found = estimate_supports(
            self._table(question), self.survey.plan, [[label] for label in labels], attribute=question
        )
        ends = [extreme_weights(channel, np.array([1])) for channel in column_channels(self.survey.plan, question)]
        weights = np.concatenate([low for low, _ in ends]), np.concatenate([high for _, high in ends])
        rows = [(tuple(row["items"]), row["support"], row) for row in found.to_rows(level)]
        return Result((question,), len(self), level, self._lines(rows, weights))

    def _lines(self, rows: list[tuple[tuple[str, ...], float, dict[str, Any]]], weights: Ends) -> tuple[Line, ...]:
        lines = []
        for (labels, value, row), low, high in zip(rows, *weights, strict=True):
            half = (row["high"] - row["low"]) / 2
            forged = forged_reports(value, half, (float(low), float(high)), len(self))
            lines.append(Line(labels, value, row["standard_error"], row["low"], row["high"], forged))
        return tuple(lines)

    def _check_enough(self) -> None:
        """Refuse to show anything before there is enough to see."""
        if len(self) < self.survey.minimum:
            rule = f"must be at least {self.survey.minimum} before anything is shown of them"
            raise SottovoceError("reports", rule, len(self))

    def _table(self, *questions: str) -> dict[str, Any]:
        """Columns of the report that speak of some questions, as labels."""
        plan = self.survey.plan
        names = plan.report_names(questions)
        schema = plan.report_schema.project(names)
        columns = [codes for name in names for codes in self.columns[plan.report_schema.columns_of(name)]]
        return dict(schema.decode(columns))
