"""Cards of pages of results, each a question with its chart, its sentences and its table.

They are made where estimates are computed, in a process of its own: drawing a page with ten charts takes longer than
storing a hundred reports.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sottovoce.surveys.dashboard import result_words
from sottovoce.surveys.dashboard.charts import Cell, IntervalRow, heat_map, interval_chart, line_chart, percent
from sottovoce.surveys.definition.questions import Question
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.results import (
    AnswerEstimate,
    CodedReports,
    DetailedResult,
    QuestionResult,
    detailed_results,
    results_by,
)

FORGED = "Forged answers that would move it"
Numbers = tuple[tuple[str, str], ...]
"""Numbers that matter, each with what it is."""


@dataclass(frozen=True)
class QuestionCard:
    """A question: its text, what is shown, charts, sentences, and what respondents were promised."""

    id: str
    text: str
    about: str
    chart: Markup | None
    trend: Markup | None
    sentences: tuple[str, ...]
    promise: str
    odds: str | None


@dataclass(frozen=True)
class QuestionCards:
    """All questions, and the numbers that matter most."""

    cards: tuple[QuestionCard, ...]
    numbers: Numbers


@dataclass(frozen=True)
class GroupCard:
    """A heat map of groups, and its rows with intervals: group, column, estimate and interval."""

    text: str
    map: Markup
    rows: tuple[tuple[str, str, str, str], ...]


@dataclass(frozen=True)
class GroupCards:
    """Heat maps by groups, and the groups below the minimum with their numbers of reports."""

    cards: tuple[GroupCard, ...]
    small: tuple[tuple[str, int], ...]


def question_cards(survey: Survey, reports: CodedReports, level: float, truths: str = "{}") -> QuestionCards:
    """Estimate every question; `truths` has the true shares of a rehearsal as JSON, by question and answer."""
    details, known = detailed_results(survey, reports, level=level), json.loads(truths)
    cards = tuple(_card(survey, detail, known.get(detail.result.questions[0], {})) for detail in details)
    protected = [detail.result for detail in details if not survey.question(detail.result.questions[0]).public]
    return QuestionCards(cards, _numbers([line for result in protected for line in result.lines]))


def _numbers(lines: Sequence[AnswerEstimate]) -> Numbers:
    """Return the widest margin of error, and the forged answers that would move the most fragile result."""
    widest = max(line.high - line.low for line in lines) / 2
    margin = f"± {percent(widest)}", "points, widest margin of error"
    weakest = result_words.most_fragile(lines)
    if weakest is None:
        return (margin,)
    moved = "forged answer" if weakest.forged == 1 else "forged answers"
    return margin, (f"{weakest.forged:,}", f"{moved} would move the most fragile result")


def words_of(survey: Survey, question: Question) -> dict[str, str]:
    """Return the words of all answers to a question, in the survey's first language."""
    return {label: question.words(label, survey.languages[0]) for label in question.labels}


def _card(survey: Survey, detail: DetailedResult, truths: Mapping[str, float]) -> QuestionCard:
    """Return everything on the card of a question."""
    result, language = detail.result, survey.languages[0]
    question = survey.question(result.questions[0])
    words, text, about = words_of(survey, question), question.full_text(language), _about(question, result.level)
    promise = result_words.promise_words(survey, question)
    odds = None if question.public else str(survey.plan.group_of(question.id).guarantee)
    if result.missing is not None:
        return QuestionCard(question.id, text, about, None, None, (result.missing,), promise, odds)
    rows = [estimate_row(words[line.labels[0]], line, truths.get(line.labels[0])) for line in result.lines]
    scale = "" if detail.scale is None else result_words.scale_words(question, detail.scale, language)
    sentences = (
        scale,
        result_words.noise_words(result.lines, words),
        "" if question.public else result_words.fragile_words(result.lines, words),
        result_words.truth_words(result, truths) if truths else "",
    )
    return QuestionCard(
        question.id,
        text,
        about,
        interval_chart(text, about, rows, result.level, note_names=(FORGED,)),
        _trend(text, question, detail, truths),
        tuple(sentence for sentence in sentences if sentence),
        promise,
        odds,
    )


def _about(question: Question, level: float) -> str:
    kind = "Shares of those who made each choice" if question.kind == "several" else "Shares of the answers"
    if question.public:
        return f"{kind}, sent as they were given, with {100 * level:g} % intervals for the population. Public question."
    return f"{kind}, estimated through the coins, with {100 * level:g} % intervals."


def estimate_row(label: str, line: AnswerEstimate, truth: float | None = None) -> IntervalRow:
    """Return an estimate as a row of a chart, with the forged answers that would move it."""
    outside = not line.low <= line.estimate <= line.high
    forged = "outside already" if outside else "not known" if line.forged is None else f"{line.forged:,}"
    return IntervalRow(label, line.estimate, line.low, line.high, truth, (forged,))


def _trend(text: str, question: Question, detail: DetailedResult, truths: Mapping[str, float]) -> Markup | None:
    """Return the shares up to each step of a scale as a line, where that was wanted."""
    if detail.scale is None or question.wanted != "trend":
        return None
    steps = [answer.id for answer in question.answers]
    rows = [
        IntervalRow(
            "1" if number == 1 else f"1 to {number}",
            each.value,
            each.low,
            each.high,
            sum(truths[step] for step in steps[:number]) if truths else None,
        )
        for number, each in enumerate(detail.scale.up_to, 1)
    ]
    about = "Shares of respondents up to each step of the scale."
    return line_chart(f"{text} Up to each step", about, rows, detail.result.level)


def group_cards(survey: Survey, reports: CodedReports, level: float, *by: str) -> GroupCards:
    """Estimate the protected questions by public ones."""
    results, small = results_by(survey, reports, by, level=level)

    def named(group: tuple[str, ...]) -> str:
        return ", ".join(words_of(survey, survey.question(name))[label] for name, label in zip(by, group, strict=True))

    return GroupCards(
        tuple(_group_cards(survey, {group: named(group) for group in _groups(results)}, results)),
        tuple((named(group), count) for group, count in small.items()),
    )


def _groups(results: Sequence[QuestionResult]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(result.group or () for result in results))


def _group_cards(
    survey: Survey, groups: Mapping[tuple[str, ...], str], results: Sequence[QuestionResult]
) -> list[GroupCard]:
    """Return a heat map of all yes/no questions, and one for each other question."""
    found = {(result.questions[0], result.group): result for result in results}
    language, cards = survey.languages[0], []
    yes_no = [question for question in survey.protected if question.kind == "yes_no"]
    if groups and yes_no:
        columns = [question.full_text(language) for question in yes_no]
        lines = [[_yes(found[question.id, group], question) for question in yes_no] for group in groups]
        cards.append(_group_card("Shares of “yes”", list(groups.values()), columns, lines))
    for question in survey.protected:
        if groups and question.kind != "yes_no":
            lines = [_lines(found[question.id, group], question) for group in groups]
            columns = list(words_of(survey, question).values())
            cards.append(_group_card(question.full_text(language), list(groups.values()), columns, lines))
    return cards


def _group_card(
    text: str, names: Sequence[str], columns: Sequence[str], lines: Sequence[Sequence[AnswerEstimate | None]]
) -> GroupCard:
    cells = [[Cell(None) if line is None else margin_cell(line) for line in row] for row in lines]
    rows = [
        (name, column, *_numbers_of(line))
        for name, row in zip(names, lines, strict=True)
        for column, line in zip(columns, row, strict=True)
    ]
    return GroupCard(text, heat_map(text, "Percent with margin of error.", names, columns, cells), tuple(rows))


def _numbers_of(line: AnswerEstimate | None) -> tuple[str, str]:
    if line is None:
        return "-", "too few reports tell of it"
    return f"{percent(line.estimate)} %", f"{percent(line.low)} to {percent(line.high)}"


def _lines(result: QuestionResult, question: Question) -> list[AnswerEstimate | None]:
    """Return the estimates of all answers, None for each if too few reports tell of the question."""
    return list(result.lines) or [None] * len(question.labels)


def _yes(result: QuestionResult, question: Question) -> AnswerEstimate | None:
    """Return the estimate of saying yes, whatever the order of the answers is."""
    said = sorted(question.answers, key=lambda answer: answer.id == "yes")[-1].id
    return next((line for line in result.lines if line.labels[0] == said), None)


def margin_cell(line: AnswerEstimate) -> Cell:
    """Return an estimate as a cell of a heat map, with half the width of its interval."""
    return Cell(line.estimate, (line.high - line.low) / 2)
