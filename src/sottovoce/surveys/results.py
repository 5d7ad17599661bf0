"""Results of a survey: estimates of every question, cross tables, forged reports, and export.

Everything is computed from disguised reports alone, and nothing is returned of fewer reports than the survey's
minimum.
"""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import floor, inf, isfinite, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.channels.subset_selection import SubsetSelection
from sottovoce.checks import Array, Progress
from sottovoce.display import html_table
from sottovoce.errors import SottovoceError
from sottovoce.estimates.covariance import inverse_rows
from sottovoce.estimates.independence import IndependenceTest, independence_test
from sottovoce.estimates.itemsets import estimate_supports
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.plans.plan import Group, Plan
from sottovoce.reports.reports import Reports
from sottovoce.schemas.attribute import Columns
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.report import ReportFormat
from sottovoce.tables.sink import file_sink

if TYPE_CHECKING:
    from sottovoce.surveys.collect.store import Store

Range = tuple[Array, Array]
"""Smallest and largest value of each cell."""

SUFFIXES = (".csv", ".parquet")


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
    """Estimates of one question or of a cross table, with the test of independence or the reason for its absence."""

    questions: tuple[str, ...]
    respondents: int
    level: float
    lines: tuple[AnswerEstimate, ...]
    test: IndependenceTest | None = None
    untested: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return all fields as JSON."""
        return asdict(self)

    @property
    def headline(self) -> str:
        """Questions, number of reports and level, in one line."""
        return f"{' x '.join(self.questions)}: {self.respondents} reports, {100 * self.level:g} % intervals"

    def __repr__(self) -> str:
        """Return the headline and one line for each answer."""
        rows = [
            f"  {', '.join(line.labels)}: {line.estimate:.4f} ({line.low:.4f} to {line.high:.4f})"
            for line in self.lines
        ]
        return "\n".join([self.headline, *rows, *self._notes()])

    def _repr_html_(self) -> str:
        columns = (*self.questions, "estimate", "standard error", "low", "high", "forged reports")
        rows = [(*x.labels, x.estimate, x.standard_error, x.low, x.high, x.forged) for x in self.lines]
        return html_table(self.headline, columns, rows, self._notes())

    def _notes(self) -> Iterator[str]:
        if self.test is not None:
            yield str(self.test)
        if self.untested is not None:
            yield f"not tested for independence: {self.untested}"


def survey_results(
    survey: Survey, reports: Iterable[bytes], *, level: float = 0.95, progress: Progress | None = None
) -> list[QuestionResult]:
    """Estimate every question of a survey from its stored reports (`Store.reports`)."""
    columns = _checked_columns(survey, reports)
    results = []
    for question in survey.questions:
        results.append(_question_result(survey, columns, question.id, level))
        if progress is not None:
            progress(len(results), len(survey.questions))
    return results


def question_result(survey: Survey, reports: Iterable[bytes], question: str, *, level: float = 0.95) -> QuestionResult:
    """Estimate the proportion of every answer to a question; with several choices, of each choice by itself."""
    return _question_result(survey, _checked_columns(survey, reports), question, level)


def cross_table(
    survey: Survey, reports: Iterable[bytes], first: str, second: str, *, level: float = 0.95
) -> QuestionResult:
    """Estimate the proportions of all combinations of two answers, and test whether the questions are independent.

    With too few reports for the test, the result has the reason in `untested`.
    """
    if first == second:
        raise SottovoceError("cross", "must name two different questions", first)
    for name in (first, second):
        if survey.question(name).kind == "several":
            raise SottovoceError("cross", "must name questions with one answer each", name)
    columns = _checked_columns(survey, reports)
    result = _proportions(survey, columns, (first, second), level)
    try:
        test = independence_test(_table(survey, columns, (first, second)), survey.plan, first, second)
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
    return dict(survey.plan.report_schema.decode(_shuffled(_checked_columns(survey, store.reports(survey.id)))))


def export_reports(store: "Store", survey: Survey, path: str | Path, *, overwrite: bool = False) -> int:
    """Write the stored reports to a CSV or Parquet file that carries its plan, in random order; return their number.

    No header and no cell begins like a formula of a spreadsheet: definitions refuse such names. Fewer reports than
    the survey's minimum are refused.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise SottovoceError("output", f"must end in {' or '.join(SUFFIXES)}", str(path))
    columns = _shuffled(_checked_columns(survey, store.reports(survey.id)))
    with file_sink(path, survey.plan, overwrite=overwrite) as sink:
        sink.write(columns)
    return len(columns[0])


def _checked_columns(survey: Survey, reports: Iterable[bytes]) -> Columns:
    """Decode reports, and refuse fewer than the survey's minimum."""
    columns = ReportFormat(survey.plan).to_columns(reports)
    if len(columns[0]) < survey.minimum:
        rule = f"must be at least {survey.minimum}, the survey's minimum, before any result is shown"
        raise SottovoceError("reports", rule, len(columns[0]))
    return columns


def _shuffled(columns: Columns) -> list[NDArray[Any]]:
    order = np.random.default_rng(secrets.randbits(256)).permutation(len(columns[0]))
    return [codes[order] for codes in columns]


def _table(survey: Survey, columns: Columns, questions: Sequence[str]) -> dict[str, Any]:
    """Return the report columns that depend on some questions, as labels."""
    plan = survey.plan
    names = plan.report_names(questions)
    selected = [codes for name in names for codes in columns[plan.report_schema.columns_of(name)]]
    return dict(plan.report_schema.project(names).decode(selected))


def _question_result(survey: Survey, columns: Columns, question: str, level: float) -> QuestionResult:
    if survey.question(question).kind == "several":
        return _choice_supports(survey, columns, question, level)
    return _proportions(survey, columns, (question,), level)


def _proportions(survey: Survey, columns: Columns, questions: tuple[str, ...], level: float) -> QuestionResult:
    found = estimate_proportions(_table(survey, columns, questions), survey.plan, questions)
    rows = [(tuple(map(str, row["values"].values())), row["estimate"], row) for row in found.to_rows(level)]
    return _result(questions, len(columns[0]), level, rows, joint_weight_range(survey.plan, questions))


def _choice_supports(survey: Survey, columns: Columns, question: str, level: float) -> QuestionResult:
    """Estimate how many respondents selected each of several choices."""
    itemsets = [[label] for label in survey.question(question).labels]
    found = estimate_supports(_table(survey, columns, [question]), survey.plan, itemsets, attribute=question)
    ranges = [report_weight_range(channel, np.array([1])) for channel in column_channels(survey.plan, question)]
    weights = np.concatenate([low for low, _ in ranges]), np.concatenate([high for _, high in ranges])
    rows = [(tuple(row["items"]), row["support"], row) for row in found.to_rows(level)]
    return _result((question,), len(columns[0]), level, rows, weights)


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


def forged_reports(
    value: float, interval: tuple[float, float], weights: tuple[float, float], respondents: int
) -> int | None:
    """Return the smallest number of forged reports that move an estimate out of its interval.

    Added to n honest reports, m reports of weight w move an estimate p by `m (w - p) / (n + m)`; an estimate outside
    its interval, below zero say, counts as the nearest end. None if no number is enough, or if the weights are not
    known (NaN).

    >>> forged_reports(0.2, (0.14, 0.26), (-0.5, 1.5), 1000)
    49
    """
    start = min(max(value, interval[0]), interval[1])
    needed = inf
    for end, weight in zip(interval, weights, strict=True):
        distance, reach = abs(end - start), abs(weight - start)
        if reach > distance:
            needed = min(needed, respondents * distance / (reach - distance))
    return floor(needed) + 1 if isfinite(needed) else None


def report_weight_range(channel: Channel, order: NDArray[np.intp]) -> Range:
    """Return the smallest and largest contribution of a single report to the estimate of each cell.

    NaN where there are too many reports to list. At 3 : 1, one forged report counts for up to 1.5 respondents with
    two categories, and for 4.5 with eight:

    >>> from sottovoce.schemes.randomized_response import RandomizedResponse
    >>> channels = [RandomizedResponse(odds=3).mechanism((k,)).channel for k in (2, 8)]
    >>> [float(report_weight_range(channel, np.arange(channel.n_in))[1][0]) for channel in channels]
    [1.5, 4.5]
    """
    if channel.inclusion is not None:
        inside, outside = channel.inclusion
        reach = float(inside - outside)
        low, high = -float(outside) / reach, float(1 - outside) / reach
        return np.full(len(order), low), np.full(len(order), high)
    try:
        weights = inverse_rows(channel, order)
    except SottovoceError:
        return _unknown(len(order))
    return weights.min(axis=1), weights.max(axis=1)


def joint_weight_range(plan: Plan, questions: Sequence[str]) -> Range:
    """Return the same for every joint cell of some questions. Groups are disguised independently: weights multiply.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.randomized_response import RandomizedResponse
    >>> coin = RandomizedResponse(odds=3)
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {"a": coin, "b": coin})
    >>> [float(end[0]) for end in joint_weight_range(plan, ["a", "b"])]
    [-0.75, 2.25]
    """
    sizes = {name: plan.schema.project([name]).cells for name in questions}
    codes = dict(zip(questions, np.indices(list(sizes.values())).reshape(len(sizes), -1), strict=True))
    low = high = np.ones(prod(sizes.values()))
    for group in plan.groups:
        names = [name for name in group.attributes if name in sizes]
        if names:
            cells = np.ravel_multi_index([codes[name] for name in names], [sizes[name] for name in names])
            ends = _group_weight_range(plan, group, names)
            products = np.stack([before * end[cells] for before in (low, high) for end in ends])
            low, high = products.min(axis=0), products.max(axis=0)
    return low, high


def _group_weight_range(plan: Plan, group: Group, names: Sequence[str]) -> Range:
    """Return the range of weights of the joint cells of some questions of a group.

    Under subset selection, the weight depends on how many of the reported cells of the group lie in the joint cell.
    """
    channel, cells = group.mechanism.channel, plan.schema.project(names).cells
    if isinstance(channel, SubsetSelection):
        among = channel.n_in // cells
        fewest, most = max(0, channel.size - channel.n_in + among), min(channel.size, among)
        ends = [float((k - among * channel.outside) / (channel.inside - channel.outside)) for k in (fewest, most)]
        return np.full(cells, ends[0]), np.full(cells, ends[1])
    try:
        return report_weight_range(plan.channel(names), np.arange(cells))
    except SottovoceError:  # another joint report, which cannot be split into questions
        return _unknown(cells)


def _unknown(cells: int) -> Range:
    return np.full(cells, np.nan), np.full(cells, np.nan)


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
