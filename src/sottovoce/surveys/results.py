"""Estimates of every question and tables of two, from stored reports alone; forged reports; export."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from math import floor, inf, isfinite, prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array, Channel
from sottovoce.channels.set_valued import SetValued
from sottovoce.channels.subset_selection import SubsetSelection
from sottovoce.errors import SottovoceError
from sottovoce.estimates.covariance import inverse_rows
from sottovoce.estimates.independence import IndependenceTest, independence_test
from sottovoce.estimates.itemsets import estimate_supports
from sottovoce.estimates.likelihood import Progress
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.plans.plan import Group, Plan
from sottovoce.schemas.attribute import Columns
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.report import ReportFormat
from sottovoce.tables.sink import file_sink

Ends = tuple[Array, Array]
SUFFIXES = (".csv", ".parquet")


def extreme_weights(channel: Channel, order: NDArray[np.intp]) -> Ends:
    """Least and largest contribution of a single report to each cell's estimate; NaN of reports too many to list.

    At 3 : 1, one forged report counts for up to 1.5 people of two categories, and 4.5 of eight:

    >>> from sottovoce.schemes.randomized_response import RandomizedResponse
    >>> [float(extreme_weights(RandomizedResponse(odds=3).mechanism((k,)).channel, np.arange(k))[1][0]) for k in (2, 8)]
    [1.5, 4.5]
    """
    if isinstance(channel, SetValued):
        reach = float(channel.inside - channel.outside)
        low, high = -float(channel.outside) / reach, float(1 - channel.outside) / reach
        return np.full(len(order), low), np.full(len(order), high)
    try:
        weights = inverse_rows(channel, order)
    except SottovoceError:
        return _unknown_weights(len(order))
    return weights.min(axis=1), weights.max(axis=1)


def joint_weights(plan: Plan, questions: Sequence[str]) -> Ends:
    """The same for every joint cell of some questions, in their order: groups have own coins, so weights multiply.

    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.randomized_response import RandomizedResponse
    >>> coin = RandomizedResponse(odds=3)
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {"a": coin, "b": coin})
    >>> [float(end[0]) for end in joint_weights(plan, ["a", "b"])]
    [-0.75, 2.25]
    """
    sizes = {name: plan.schema.project([name]).cells for name in questions}
    codes = dict(zip(questions, np.indices(list(sizes.values())).reshape(len(sizes), -1), strict=True))
    low = high = np.ones(prod(sizes.values()))
    for group in plan.groups:
        own = [name for name in group.attributes if name in sizes]
        if own:
            cells = np.ravel_multi_index([codes[name] for name in own], [sizes[name] for name in own])
            ends = _group_weights(plan, group, own)
            products = np.stack([before * end[cells] for before in (low, high) for end in ends])
            low, high = products.min(axis=0), products.max(axis=0)
    return low, high


def _group_weights(plan: Plan, group: Group, own: Sequence[str]) -> Ends:
    """Of the joint cells of some questions of a group. Of w cells reported, K are among the m that make up a cell."""
    channel, cells = group.mechanism.channel, plan.schema.project(own).cells
    if isinstance(channel, SubsetSelection):
        among = channel.n_in // cells
        fewest, most = max(0, channel.size - channel.n_in + among), min(channel.size, among)
        ends = [float((k - among * channel.outside) / (channel.inside - channel.outside)) for k in (fewest, most)]
        return np.full(cells, ends[0]), np.full(cells, ends[1])
    try:
        return extreme_weights(plan.channel(own), np.arange(cells))
    except SottovoceError:  # another common report that does not split
        return _unknown_weights(cells)


def _unknown_weights(cells: int) -> Ends:
    """What is said of cells whose reports cannot be listed."""
    return np.full(cells, np.nan), np.full(cells, np.nan)


def forged_reports(value: float, half_width: float, weights: tuple[float, float], respondents: int) -> int | None:
    """Fewest forged reports, added to n honest ones, that carry an estimate p out of `p +- half_width`.

    m reports of weight w move it by `m (w - p) / (n + m)`. None: no number of them would, or none is known.

    >>> forged_reports(0.2, 0.05, (-0.5, 1.5), 1000)
    41
    """
    reach = max(weights[1] - value, value - weights[0])
    needed = respondents * half_width / (reach - half_width) if not reach <= half_width else inf
    return floor(needed) + 1 if isfinite(needed) else None


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


def export_reports(reports: Reports, path: str | Path, *, overwrite: bool = False) -> int:
    """Write a CSV or Parquet file that carries its plan, rows shuffled; returns their number.

    No header and no cell starts as a spreadsheet's formula does: names that would are refused in definitions.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise SottovoceError("output", f"must end in {' or '.join(SUFFIXES)}", str(path))
    order = np.random.default_rng(secrets.randbits(256)).permutation(len(reports))
    with file_sink(path, reports.survey.plan, overwrite=overwrite) as sink:
        sink.write([codes[order] for codes in reports.columns])
    return len(reports)


def column_channels(plan: Plan, name: str) -> list[Channel]:
    """One channel for each column: of a set of items, one for each item.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.item_set import ItemSet
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([ItemSet("seen", ["words", "touch"])]), odds=3)
    >>> [str(channel.entry(1, 1)) for channel in column_channels(plan, "seen")]
    ['2/3', '2/3']
    """
    group = plan.group_of(name)
    own = plan.schema.project(group.attributes)
    alike = name in plan.report_schema.names and plan.report_schema[name] == plan.schema[name].as_report()
    if not alike:
        raise SottovoceError(name, "must have reports that look like its answers to be read by itself", group.scheme)
    return [group.mechanism.channel.marginal([axis]) for axis in range(len(own.sizes))[own.columns_of(name)]]
