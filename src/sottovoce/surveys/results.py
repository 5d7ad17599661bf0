"""Results of a survey: estimates of every question, cross tables, and forged reports.

Everything is computed from disguised reports alone, and nothing is returned of fewer reports than the survey's
minimum.
"""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.checks import Progress
from sottovoce.counts.counter import CodedCounter
from sottovoce.display import html_table
from sottovoce.errors import SottovoceError
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.independence import IndependenceTest, independence_test
from sottovoce.estimates.itemsets import estimate_supports
from sottovoce.estimates.proportions import estimate_proportions, is_sampled, never_asked
from sottovoce.plans.plan import Plan
from sottovoce.reports.reports import Reports
from sottovoce.reports.views import with_public_attributes
from sottovoce.schemas.attribute import Columns
from sottovoce.schemas.schema import Schema
from sottovoce.surveys.definition.questions import Question
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.report import ReportFormat
from sottovoce.surveys.report_weights import (
    Range,
    forged_reports,
    joint_weight_range,
    picked_weight_range,
    report_weight_range,
)
from sottovoce.surveys.scales import ScaleEstimate, ScaleSummary, scale_mean, scale_summary, shares_up_to

if TYPE_CHECKING:
    from sottovoce.surveys.collect.store import Store


FEWEST = 2
"""Fewest reports with an estimate: one has no standard error."""

TOO_FEW = "Too few reports tell of this question: nothing can be estimated yet."


@dataclass(frozen=True)
class AnswerEstimate:
    """Estimated proportion of one answer, or of one combination of two answers.

    `forged` is the number of forged reports that would move the estimate out of its interval; None if no number
    would, or if it is not known.
    """

    labels: tuple[str, ...]
    estimate: float
    standard_error: float
    low: float
    high: float
    forged: int | None


@dataclass(frozen=True, repr=False)
class QuestionResult:
    """Estimates of one question or of a cross table, with the test of independence or the reason for its absence.

    `group` has the public answers of the respondents, where they are estimated by public questions. Of a scale, `mean`
    is the mean of its scores and `up_to` has the shares up to each step but the last, where these are wanted. Without
    `lines`, `missing` is the reason.
    """

    questions: tuple[str, ...]
    respondents: int
    level: float
    lines: tuple[AnswerEstimate, ...]
    test: IndependenceTest | None = None
    untested: str | None = None
    rehearsal: bool = False
    group: tuple[str, ...] | None = None
    mean: ScaleEstimate | None = None
    up_to: tuple[ScaleEstimate, ...] = ()
    missing: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return all fields as JSON."""
        return asdict(self)

    @property
    def headline(self) -> str:
        """Questions, number of reports and level, in one line."""
        group = "" if self.group is None else f" ({', '.join(self.group)})"
        kind = "reports of a rehearsal" if self.rehearsal else "reports"
        return f"{' x '.join(self.questions)}{group}: {self.respondents} {kind}, {100 * self.level:g} % intervals"

    def __repr__(self) -> str:
        """Return the headline and one line for each answer."""
        rows = [
            f"  {', '.join(line.labels)}: {line.estimate:.4f} ({line.low:.4f} to {line.high:.4f})"
            for line in self.lines
        ]
        scale = [f"  {name}: {each.value:.4f} ({each.low:.4f} to {each.high:.4f})" for name, each in self.scale_lines]
        return "\n".join([self.headline, *rows, *scale, *self._notes()])

    @property
    def scale_lines(self) -> list[tuple[str, ScaleEstimate]]:
        """What is wanted of a scale beside the shares of its steps, with names."""
        mean = [] if self.mean is None else [("mean", self.mean)]
        return mean + [(f"1 to {step}", each) for step, each in enumerate(self.up_to, 1)]

    def _repr_html_(self) -> str:
        columns = (*self.questions, "estimate", "standard error", "low", "high", "forged reports")
        rows = [(*x.labels, x.estimate, x.standard_error, x.low, x.high, x.forged) for x in self.lines]
        blanks = [""] * (len(self.questions) - 1)
        scale = [(name, *blanks, x.value, x.standard_error, x.low, x.high, None) for name, x in self.scale_lines]
        return html_table(self.headline, columns, [*rows, *scale], self._notes())

    def _notes(self) -> Iterator[str]:
        if self.test is not None:
            yield str(self.test)
        if self.untested is not None:
            yield f"not tested for independence: {self.untested}"
        if self.missing is not None:
            yield self.missing


@dataclass(frozen=True, eq=False)
class CodedReports:
    """Reports of a survey that were decoded once, for several results: a column of codes for each report column.

    Public answers stand behind the disguised columns.
    """

    columns: Columns

    @classmethod
    def of(cls, survey: Survey, reports: Iterable[bytes]) -> "CodedReports":
        """Decode stored reports (`Store.reports`)."""
        return cls(ReportFormat(survey.plan).to_columns(reports))

    def __len__(self) -> int:
        """Number of reports."""
        return len(self.columns[0])


StoredReports = Iterable[bytes] | CodedReports
"""Reports as the database has them, or decoded already."""


def survey_results(
    survey: Survey, reports: StoredReports, *, level: float = 0.95, progress: Progress | None = None
) -> list[QuestionResult]:
    """Estimate every question of a survey from its stored reports (`Store.reports`).

    Where devices pick the answers that they send, a question of which too few reports tell has no estimates, and says
    so; the others have.
    """
    columns = _checked_columns(survey, reports)
    results = []
    for question in survey.questions:
        results.append(_estimated(survey, columns, question, level).result)
        if progress is not None:
            progress(len(results), len(survey.questions))
    return results


@dataclass(frozen=True)
class DetailedResult:
    """A question's estimates; of a scale also its mean, its median and its shares up to each step, wanted or not."""

    result: QuestionResult
    scale: ScaleSummary | None = None


def detailed_results(survey: Survey, reports: StoredReports, *, level: float = 0.95) -> list[DetailedResult]:
    """Estimate every question of a survey as `survey_results` does, and summarise its scales."""
    columns = _checked_columns(survey, reports)
    return [_estimated(survey, columns, question, level, detailed=True) for question in survey.questions]


def _estimated(
    survey: Survey, columns: Columns, question: Question, level: float, *, detailed: bool = False
) -> DetailedResult:
    """Estimate a question; without estimates if the device picks answers, and too few reports tell of this one."""
    try:
        if not detailed or question.kind != "scale":
            return DetailedResult(_question_result(survey, columns, question.id, level))
        result, shares = _proportions(survey, columns, (question.id,), level)
        return DetailedResult(result, scale_summary(shares, len(question.answers), level))
    except SottovoceError as reason:
        if reason.parameter != "reports" or len(columns[0]) < FEWEST:
            raise
        about = (question.id,), len(columns[0]), level, ()
        return DetailedResult(QuestionResult(*about, rehearsal=survey.rehearsal, missing=TOO_FEW))


def results_by(
    survey: Survey, reports: StoredReports, by: Sequence[str], *, level: float = 0.95
) -> tuple[list[QuestionResult], dict[tuple[str, ...], int]]:
    """Estimate the protected questions for each group of respondents with the same answers to public questions.

    Nothing is estimated for groups with fewer reports than the survey's minimum, nor of a single one: they come back
    with their numbers.
    """
    public = {question.id: question for question in survey.public}
    if not by or not set(by) <= set(public) or len(set(by)) < len(by):
        rule = f"must name different public questions ({', '.join(public) or 'there are none'})"
        raise SottovoceError("by", rule, list(by))
    asked = [public[name] for name in by]
    columns = _checked_columns(survey, reports)
    first = len(survey.plan.report_schema.sizes)
    codes = [columns[first + survey.public.index(question)] for question in asked]
    results, small = [], {}
    for cell in np.ndindex(*(len(question.labels) for question in asked)):
        rows = np.logical_and.reduce([column == code for column, code in zip(codes, cell, strict=True)])
        group = tuple(question.labels[code] for question, code in zip(asked, cell, strict=True))
        count = int(rows.sum())
        if count >= max(survey.minimum, FEWEST):
            chosen = tuple(column[rows] for column in columns)
            found = [_estimated(survey, chosen, question, level) for question in survey.protected]
            results += [replace(each.result, group=group) for each in found]
        elif count:
            small[group] = count
    return results, small


def question_result(survey: Survey, reports: StoredReports, question: str, *, level: float = 0.95) -> QuestionResult:
    """Estimate the proportion of every answer to a question; with several choices, of each choice by itself."""
    return _question_result(survey, _checked_columns(survey, reports), question, level)


def cross_table(
    survey: Survey, reports: StoredReports, first: str, second: str, *, level: float = 0.95
) -> QuestionResult:
    """Estimate the proportions of all combinations of two answers, and test whether the questions are independent.

    With too few reports for the test, the result has the reason in `untested`.
    """
    if first == second:
        raise SottovoceError("cross", "must name two different questions", first)
    for name in (first, second):
        if survey.question(name).kind == "several":
            raise SottovoceError("cross", "must name questions with one answer each", name)
    if never_asked(survey.plan, (first, second)):
        rule = "must name two questions that a report tells together: in this survey the device picks one of the two at"
        advice = (
            "most. A definition that lists the pair, together: [[a, b]], makes a survey in which they can be crossed"
        )
        raise SottovoceError("cross", f"{rule} {advice}", f"{first},{second}")
    columns = _checked_columns(survey, reports)
    result, _ = _proportions(survey, columns, (first, second), level)
    try:
        plan = with_public_attributes(survey.plan, (first, second))
        test = independence_test(report_counter(survey, columns), plan, first, second)
    except SottovoceError as reason:
        return replace(result, untested=str(reason))
    return replace(result, test=test)


def reports(database: str | Path, survey: str | None = None) -> Reports:
    """Return the reports of a survey in a database: its id, or the beginning of it, if there are several.

    They come in random order, and only if there are as many as the survey's minimum.
    """
    from sottovoce.surveys.collect.store import opened

    if "://" not in str(database) and not Path(database).exists():
        raise SottovoceError("database", "must be the file or URL of a survey database", str(database))
    with opened(str(database)) as store:
        asked = store.select(survey)
        return Reports(disguised_table(store, asked), asked.plan)


def disguised_table(store: "Store", survey: Survey) -> dict[str, Any]:
    """Return the stored reports as columns of labels by name, in random order.

    Nothing links a row to the time or the place of its arrival. Fewer reports than the survey's minimum are refused.
    """
    shuffled = _shuffled(_checked_columns(survey, store.reports(survey.id)))
    return labelled_columns(survey, CodedReports(tuple(shuffled)))


def labelled_columns(survey: Survey, reports: CodedReports) -> dict[str, Any]:
    """Return reports as columns of labels by name, disguised ones first."""
    columns = _checked_columns(survey, reports)
    return survey.plan.report_schema.decode(columns) | _public_labels(survey, columns)


def _checked_columns(survey: Survey, reports: StoredReports) -> Columns:
    """Decode reports, and refuse fewer than the survey's minimum."""
    coded = reports if isinstance(reports, CodedReports) else CodedReports.of(survey, reports)
    if len(coded) < survey.minimum:
        rule = f"must be at least {survey.minimum}, the survey's minimum, before any result is shown"
        raise SottovoceError("reports", rule, len(coded))
    return coded.columns


def _shuffled(columns: Columns) -> list[NDArray[Any]]:
    order = np.random.default_rng(secrets.randbits(256)).permutation(len(columns[0]))
    return [codes[order] for codes in columns]


def report_counter(survey: Survey, columns: Columns) -> CodedCounter:
    """Return a counter of disguised columns and public answers: estimates need counts, not labels."""
    public = [question.variable.as_report() for question in survey.public]
    return CodedCounter(Schema([*survey.plan.report_schema, *public]), columns)


def _public_labels(survey: Survey, columns: Sequence[NDArray[Any]]) -> dict[str, Any]:
    """Return the answers to public questions, which stand behind the disguised columns."""
    public = columns[len(survey.plan.report_schema.sizes) :]
    return {q.id: q.variable.decode((codes,)) for q, codes in zip(survey.public, public, strict=True)}


def _question_result(survey: Survey, columns: Columns, question: str, level: float) -> QuestionResult:
    asked = survey.question(question)
    if asked.kind == "several":
        return _choice_supports(survey, columns, question, level)
    result, shares = _proportions(survey, columns, (question,), level)
    if asked.wanted == "mean":
        return replace(result, mean=scale_mean(shares, len(asked.answers), level))
    return replace(result, up_to=shares_up_to(shares, len(asked.answers), level)) if asked.wanted == "trend" else result


def _proportions(
    survey: Survey, columns: Columns, questions: tuple[str, ...], level: float
) -> tuple[QuestionResult, Estimate]:
    plan = with_public_attributes(survey.plan, questions)
    result, found = proportions_result(plan, report_counter(survey, columns), questions, level)
    return replace(result, rehearsal=survey.rehearsal), found


def proportions_result(
    plan: Plan, counter: CodedCounter, questions: tuple[str, ...], level: float
) -> tuple[QuestionResult, Estimate]:
    """Estimate the joint proportions of some attributes of a plan, with the forged reports that would move each."""
    respondents, picked = counter.rows(), is_sampled(plan, questions)
    found = estimate_proportions(counter, plan, questions, method="best")
    rows = [(tuple(map(str, row["values"].values())), row["estimate"], row) for row in found.to_rows(level)]
    if picked:
        weights, told = picked_weight_range(plan, questions), _told(plan, counter, questions)
        return replace(_result(questions, told, level, rows, weights), respondents=respondents), found
    return _result(questions, respondents, level, rows, joint_weight_range(plan, questions)), found


def _told(plan: Plan, counter: CodedCounter, questions: Sequence[str]) -> int:
    """Return the number of reports that tell something about all of some questions."""
    codes = [counter.columns[counter.schema.columns_of(name)][0] for name in questions]
    sizes = [plan.schema[name].sizes[0] for name in questions]
    return int(np.all([own < size for own, size in zip(codes, sizes, strict=True)], axis=0).sum())


def _choice_supports(survey: Survey, columns: Columns, question: str, level: float) -> QuestionResult:
    """Estimate how many respondents selected each of several choices."""
    itemsets = [[label] for label in survey.question(question).labels]
    found = estimate_supports(report_counter(survey, columns), survey.plan, itemsets, attribute=question)
    ranges = [report_weight_range(channel, np.array([1])) for channel in column_channels(survey.plan, question)]
    weights = np.concatenate([low for low, _ in ranges]), np.concatenate([high for _, high in ranges])
    rows = [(tuple(row["items"]), row["support"], row) for row in found.to_rows(level)]
    return replace(_result((question,), len(columns[0]), level, rows, weights), rehearsal=survey.rehearsal)


def _result(
    questions: tuple[str, ...],
    respondents: int,
    level: float,
    rows: list[tuple[tuple[str, ...], float, dict[str, Any]]],
    weights: Range,
) -> QuestionResult:
    lines = []
    for (labels, value, row), low, high in zip(rows, *weights, strict=True):
        forged = forged_reports(value, (row["low"], row["high"]), (float(low), float(high)), respondents)
        lines.append(AnswerEstimate(labels, value, row["standard_error"], row["low"], row["high"], forged))
    return QuestionResult(questions, respondents, level, tuple(lines))


def column_channels(plan: Plan, name: str) -> list[Channel]:
    """Return the channel of each column of an attribute: a set of items has one for each item.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.item_set import ItemSet
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([ItemSet("seen", ["words", "touch"])]), odds=3)
    >>> [str(channel.entry(1, 1)) for channel in column_channels(plan, "seen")]
    ['2/3', '2/3']
    """
    group = plan.group_of(name)
    schema = plan.schema.project(group.attributes)
    alike = name in plan.report_schema.names and plan.report_schema[name] == plan.schema[name].as_report()
    if not alike:
        raise SottovoceError(name, "must have reports of the same form as its answers", group.scheme)
    return [group.mechanism.channel.marginal([axis]) for axis in range(len(schema.sizes))[schema.columns_of(name)]]


def shuffled_columns(store: "Store", survey: Survey) -> list[NDArray[Any]]:
    """Return the stored reports as columns of codes in random order, public answers behind the disguised ones.

    Fewer reports than the survey's minimum are refused.
    """
    return _shuffled(_checked_columns(survey, store.reports(survey.id)))
