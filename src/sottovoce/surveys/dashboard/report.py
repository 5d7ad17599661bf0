"""Documents for others: a report of all estimates in one file, and what an ethics board wants to know.

The report has its style in it, no script, and nothing that a browser would load.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from sottovoce.surveys.collect.audit import audit_sentences
from sottovoce.surveys.dashboard.charts import IntervalRow, interval_chart, line_chart, percent
from sottovoce.surveys.dashboard.visit import FOLDER, templates
from sottovoce.surveys.definition.ceilings import protection_in_words
from sottovoce.surveys.definition.facts import facts_of, per_hundred
from sottovoce.surveys.definition.questions import Question
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.methods import methods_paragraph, references
from sottovoce.surveys.results import QuestionResult
from sottovoce.surveys.sentences import sentences_in

STYLES = ("colours.css", "report.css", "charts.css")
"""Style sheets that the report has in it."""


@dataclass(frozen=True)
class ReportedQuestion:
    """A question of the report: its text, its charts, the rows of its table, and sentences about it."""

    text: str
    charts: tuple[Markup, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def html_report(
    survey: Survey, results: Sequence[QuestionResult], counts: dict[str, int], *, level: float = 0.95
) -> str:
    """Return all estimates of a survey as one HTML file, for screens and for paper.

    `counts` are the survey's numbers (`Store.counts`).
    """
    return (
        templates()
        .get_template("report.html")
        .render(
            survey=survey,
            language=survey.languages[0],
            counts=counts,
            level=f"{100 * level:g}",
            widest=percent(max((line.high - line.low) / 2 for result in results for line in result.lines)),
            questions=[_reported(survey, result) for result in results],
            methods=methods_paragraph(survey, counts["reports"], level=level),
            references=references(survey),
            promise=protection_in_words(survey.plan.guarantee, all_together=True),
            styles="".join((FOLDER / "files" / name).read_text(encoding="utf-8") for name in STYLES),
        )
    )


def _reported(survey: Survey, result: QuestionResult) -> ReportedQuestion:
    (name,) = result.questions
    question, language = survey.question(name), survey.languages[0]
    text, levels = question.full_text(language), f"{100 * result.level:g}"
    if result.missing is not None:
        return ReportedQuestion(text, (), (), (result.missing,))
    words = [question.words(line.labels[0], language) for line in result.lines]
    rows = [
        IntervalRow(label, line.estimate, line.low, line.high) for label, line in zip(words, result.lines, strict=True)
    ]
    charts = [interval_chart(text, f"Estimated shares with {levels} % intervals.", rows, result.level)]
    if result.up_to:
        steps = [IntervalRow(label, each.value, each.low, each.high) for label, each in result.scale_lines]
        charts.append(line_chart(text, f"Shares up to each step with {levels} % intervals.", steps, result.level))
    table = [
        (
            label,
            f"{percent(line.estimate)} %",
            f"{percent(line.low)} to {percent(line.high)}",
            f"{percent(line.standard_error)}",
            "-" if line.forged is None else f"{line.forged:,}",
        )
        for label, line in zip(words, result.lines, strict=True)
    ]
    return ReportedQuestion(text, tuple(charts), tuple(table), tuple(_notes(question, result)))


def _notes(question: Question, result: QuestionResult) -> list[str]:
    notes = []
    if question.public:
        notes.append("Public: these answers were sent as they were given.")
    if question.kind == "several":
        notes.append("Several answers were possible: each share is of all respondents.")
    if result.mean is not None:
        mean = result.mean
        notes.append(
            f"Mean of the scores among those who gave one: {mean.value:.2f} ({mean.low:.2f} to {mean.high:.2f})."
        )
    if any(line.estimate < 0 for line in result.lines):
        notes.append("A share below zero is noise around a rare answer: chance sent it less often than expected.")
    return notes


def ethics_context(survey: Survey) -> dict[str, Any]:
    """Return what the page for ethics boards says about a survey, beside what is the same for all."""
    language, told = survey.languages[0], audit_sentences(survey, "en")
    questions = [
        {
            "text": question.full_text(language),
            "help": None if question.help is None else question.help[language],
            "answers": [question.words(label, language) for label in question.labels if label != question.not_asked],
            "unrelated": None if question.unrelated is None else question.unrelated[language],
            "asked_after": [_condition(survey, name.question, name.answers) for name in question.when],
            "public": question.public,
            "sentences": sentences if question.public else _odds_in_words(survey, question, sentences),
        }
        for question, sentences in zip(survey.questions, told["questions"], strict=True)
    ]
    return {
        "language": language,
        "told": told,
        "asked": questions,
        "limits": sentences_in("en").several("limits"),
        "consent": None if survey.presentation is None else survey.presentation.texts.get("consent"),
        "references": references(survey),
    }


def _condition(survey: Survey, name: str, answers: Sequence[str]) -> str:
    """Return after which answers to an earlier question a question is asked."""
    question, language = survey.question(name), survey.languages[0]
    return f"{question.full_text(language)} {' / '.join(question.words(label, language) for label in answers)}"


def _odds_in_words(survey: Survey, question: Question, sentences: Sequence[str]) -> list[str]:
    odds, *others = sentences
    return [f"Odds of a response: {odds}", *others, *chance_sentences(survey, question)]


def chance_sentences(survey: Survey, question: Question) -> list[str]:
    """Return how often each answer of a protected question is sent by people for whom it is not true, at least.

    >>> from sottovoce.surveys.definition.definition import survey_from_text
    >>> survey = survey_from_text('''{title: T, asker: A, purpose: P, until: 2999-12-31, odds: 3,
    ...     questions: [{id: q, kind: yes_no, text: Q}]}''')
    >>> chance_sentences(survey, survey.questions[0])[1]
    'Of 100 people for whom “Yes” is not true, at least 25 send it all the same.'
    """
    facts, language = facts_of(survey.plan, question.id), survey.languages[0]
    if facts.form == "symbols":
        return [_chance("people", f"send “{label}”, whatever is true", share) for label, share in facts.shares.items()]
    sent = "send it among other answers" if facts.form == "set" else "send it all the same"
    named = {label: question.words(str(label), language) for label in facts.shares}
    added = [_chance(f"people for whom “{named[x]}” is not true", sent, share) for x, share in facts.shares.items()]
    omitted = [
        _chance(f"people for whom “{named[x]}” is true", "do not send it", share)
        for x, share in (facts.omitted or {}).items()
    ]
    return added + omitted


def _chance(whose: str, sent: str, share: Fraction) -> str:
    """Return a share of some people in words, rounded down.

    >>> _chance("people", "send it", Fraction(0)), _chance("people", "send it", Fraction(1, 500))
    ('No people send it.', 'Of 500 people, about one would send it.')
    """
    found = per_hundred(share)
    if "never" in found:
        return f"No {whose} {sent}."
    if "count" in found:
        return f"Of 100 {whose}, at least {found['count']} {sent}."
    return f"Of {found['one_in']:,} {whose}, about one would {sent}."
