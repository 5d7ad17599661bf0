"""What is true of the group, from stored reports alone: every question, and tables of two."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sottovoce.channel.channel import Channel
from sottovoce.count.contingency import count_cells
from sottovoce.errors import SottovoceError
from sottovoce.estimate.counted import Counted
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.independence import IndependenceTest, independence_test
from sottovoce.estimate.proportions import by_inversion, estimate_proportions
from sottovoce.schema.cells import Columns
from sottovoce.survey.forged import extreme_weights, forged_reports
from sottovoce.survey.margins import column_channels
from sottovoce.survey.question import Question
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
    """Proportions of one question, or of the combinations of two, with the test that they are independent."""

    questions: tuple[str, ...]
    respondents: int
    level: float
    lines: tuple[Line, ...]
    test: IndependenceTest | None = None

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

    def result(self, question: str, *, level: float = 0.95) -> Result:
        """Proportion of every answer to a question; of several choices, of each by itself."""
        self.check_enough()
        asked = self.survey.question(question)
        if asked.kind == "several":
            items = [self._item(asked, place) for place in range(len(asked.labels))]
            return Result((question,), len(self), level, tuple(_line(*item, level) for item in items))
        estimate = estimate_proportions(self._table(question), self.survey.plan, question)
        return Result((question,), len(self), level, _lines(self.survey, estimate, level))

    def results(self, *, level: float = 0.95) -> list[Result]:
        """All questions."""
        return [self.result(question.id, level=level) for question in self.survey.questions]

    def cross(self, first: str, second: str, *, level: float = 0.95) -> Result:
        """Proportions of all combinations of two answers, and whether the questions are independent."""
        self.check_enough()
        for name in (first, second):
            if self.survey.question(name).kind == "several":
                raise SottovoceError("cross", "must be of questions with one answer each", name)
        table = self._table(first, second)
        estimate = estimate_proportions(table, self.survey.plan, [first, second])
        test = independence_test(table, self.survey.plan, first, second)
        return Result((first, second), len(self), level, _lines(self.survey, estimate, level), test)

    def check_enough(self) -> None:
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

    def _item(self, question: Question, place: int) -> tuple[str, Estimate, Channel]:
        """Whether one item is in the set: its own bit, through the margin of the channel."""
        plan = self.survey.plan
        channel = column_channels(plan, question.id)[place]
        own = self.columns[plan.report_schema.columns_of(question.id)][place]
        counted = Counted((question.id,), (("no", "yes"),), channel, count_cells([own], (2,)), np.arange(2))
        return question.labels[place], by_inversion(counted, "population"), channel


def _lines(survey: Survey, estimate: Estimate, level: float) -> tuple[Line, ...]:
    plan = survey.plan
    weights = extreme_weights(plan.channel(estimate.attributes), plan.cell_order(estimate.attributes))
    rows = estimate.to_rows(level)
    return tuple(
        Line(
            tuple(str(label) for label in row["values"].values()),
            row["estimate"],
            row["standard_error"],
            row["low"],
            row["high"],
            forged_reports(
                row["estimate"], (row["high"] - row["low"]) / 2, (float(least), float(most)), estimate.respondents
            ),
        )
        for row, least, most in zip(rows, *weights, strict=True)
    )


def _line(label: str, estimate: Estimate, channel: Channel, level: float) -> Line:
    """The cell "yes" of one item."""
    row = estimate.to_rows(level)[1]
    least, most = (float(ends[1]) for ends in extreme_weights(channel, np.arange(2)))
    half = (row["high"] - row["low"]) / 2
    forged = forged_reports(row["estimate"], half, (least, most), estimate.respondents)
    return Line((label,), row["estimate"], row["standard_error"], row["low"], row["high"], forged)
