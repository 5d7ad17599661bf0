"""What pages of results ask of the reports of a survey: computed in a process of its own, from decoded reports.

Every analysis is a plain function of the survey, its reports, a level and texts that a query may have. What it returns
travels between processes. Nothing is returned of fewer reports than the survey's minimum.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from sottovoce.checks import number, one_of
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.itemsets import estimate_supports
from sottovoce.estimates.proportions import NeverAskedError
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.mining.rules import Rules, association_rules
from sottovoce.reports.reports import Reports
from sottovoce.reports.views import with_public_attributes
from sottovoce.surveys.crossing import Crossing, cross_sides, side_named
from sottovoce.surveys.dashboard.result_cards import group_cards, question_cards
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.results import (
    CodedReports,
    labelled_columns,
    question_result,
    report_counter,
)

if TYPE_CHECKING:
    from sottovoce.mining.classify.scoring import Scores

Model = Literal["naive_bayes", "tree"]

MOST_SHOWN = 50
"""Most sets, and most rules, that are shown."""

LONGEST = 5
"""Most choices of a set that is searched: longer ones are rarely resolved."""

MOST_FEATURES = 12
"""Most questions that a classifier learns from."""


NEVER_TOGETHER = (
    "must be questions that some reports tell of together. In this survey the device picks a few of the answers, and "
    "never these; a definition that lists them (together: [[a, b]]) makes a survey in which it can"
)


IN_WORDS = {
    "min_support": "A share of",
    "at length 1:": "for single choices:",
    "at length ": "for sets of ",
    "supports": "shares",
}


@dataclass(frozen=True)
class PatternRow:
    """Choices that go together: the share of respondents who made all of them, with an interval."""

    items: tuple[str, ...]
    support: float
    low: float
    high: float


@dataclass(frozen=True)
class RuleRow:
    """Of those who made the first choices, the share who made the second ones, too; and how much that is above all."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    confidence: float
    low: float
    high: float
    lift: float | None


@dataclass(frozen=True)
class Patterns:
    """Frequent sets of choices and rules, with notes about their intervals and what could not be resolved."""

    sets: tuple[PatternRow, ...]
    rules: tuple[RuleRow, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Measured:
    """A measure of a classifier with its interval, or the reason why it has none."""

    name: str
    value: float
    low: float | None
    high: float | None
    reason: str | None


@dataclass(frozen=True)
class Classified:
    """A classifier that learned from a random half of the reports, and how it does on the other half.

    `guess` is the most frequent answer, and `share` how many have it: what somebody who always guesses it gets right.
    """

    accuracy: Measured
    recall: tuple[Measured, ...]
    classes: tuple[str, ...]
    guess: str
    share: float
    reports: int
    method: str
    tree: str | None
    notes: tuple[str, ...]


def crossing(survey: Survey, reports: CodedReports, level: float, first: str, second: str) -> Crossing:
    """Cross two questions, or single choices."""
    return cross_sides(survey, reports, side_named(survey, first), side_named(survey, second), level=level)


def patterns(
    survey: Survey, reports: CodedReports, level: float, question: str, support: str, confidence: str
) -> Patterns:
    """Find choices of a question that go together, and rules between them."""
    if survey.question(question).kind != "several":
        raise SottovoceError("question", "must be one with several choices", question)
    least, surest = (
        number(name, float(text), 0, 1) for name, text in (("support", support), ("confidence", confidence))
    )
    with _warnings_as_notes() as notes:
        table = Reports(labelled_columns(survey, reports), survey.plan)
        found = table.itemsets(least, names=question, longest=LONGEST)
        rules = list(_rule_rows(_rules(survey, reports, question, found, surest), level)) if found.itemsets else []
        low, high = found.interval(level)
        rows = [
            PatternRow(tuple(map(str, items)), *map(float, numbers))
            for items, *numbers in zip(found.itemsets, found.support, low, high, strict=True)
        ]
    return Patterns(_by_support(rows), tuple(rules[:MOST_SHOWN]), (found.picked.note(level), *notes))


def _by_support(rows: Sequence[PatternRow]) -> tuple[PatternRow, ...]:
    return tuple(sorted(rows, key=lambda row: (len(row.items), -row.support)))[:MOST_SHOWN]


def _rules(survey: Survey, reports: CodedReports, question: str, found: Itemsets, confidence: float) -> Rules:
    """Return rules between the sets that were found; of choices that are disguised together, from their supports."""
    try:
        return found.rules(confidence)
    except SottovoceError:
        counter, sets = report_counter(survey, reports.columns), [list(items) for items in found.itemsets]
        return association_rules(estimate_supports(counter, survey.plan, sets, attribute=question), confidence)


def _rule_rows(rules: Rules, level: float) -> Iterator[RuleRow]:
    low, high = rules.interval("confidence", level)
    numbers = zip(rules.value("confidence"), low, high, rules.value("lift"), strict=True)
    for first, second, (confidence, least, most, lift) in zip(
        rules.antecedents, rules.consequents, numbers, strict=True
    ):
        sides = tuple(map(str, first)), tuple(map(str, second))
        yield RuleRow(*sides, float(confidence), float(least), float(most), float(lift) if isfinite(lift) else None)


def classifier(
    survey: Survey, reports: CodedReports, level: float, label: str, model: str, *features: str
) -> Classified:
    """Learn to predict the answer to a question from others, with one half of the reports, and test it on the rest."""
    from sottovoce.mining.classify.scoring import score_disguised

    one_of("model", model, get_args(Model))
    _check_features(survey, label, features)
    shares = question_result(survey, reports, label, level=level)
    plan = with_public_attributes(survey.plan, [label, *features])
    half = np.random.default_rng(int(survey.hash[:16], 16)).permutation(len(reports)) < len(reports) // 2
    learned, tested = (
        labelled_columns(survey, CodedReports(tuple(column[mask] for column in reports.columns)))
        for mask in (half, ~half)
    )
    with _warnings_as_notes() as notes:
        try:
            found = Reports(learned, plan).classify(label, features=list(features), model=model)  # type: ignore[arg-type]
            scores = score_disguised(found, tested, plan)
        except NeverAskedError as reason:
            raise SottovoceError("Predict it from", NEVER_TOGETHER, Words(_texts(survey, reason.names))) from None
        accuracy, recall = _measured(scores.accuracy), tuple(map(_measured, _recalls(scores)))
    most = max(shares.lines, key=lambda line: line.estimate)
    tree = str(found) if model == "tree" else None
    guess = most.labels[0], most.estimate
    classes = tuple(map(str, scores.classes))
    return Classified(accuracy, recall, classes, *guess, len(reports), scores.method, tree, tuple(notes))


def _check_features(survey: Survey, label: str, features: Sequence[str]) -> None:
    for name in (label, *features):
        if survey.question(name).kind == "several":
            raise SottovoceError("Predict it from", "must be questions with one answer each", name)
    if not 0 < len(set(features)) == len(features) <= MOST_FEATURES or label in features:
        rule = f"must be 1 to {MOST_FEATURES} different questions, and not the one to predict"
        raise SottovoceError("Predict it from", rule, Words(", ".join(features) or "none"))


def _texts(survey: Survey, names: Sequence[str]) -> str:
    """Return the texts of questions, for a message on the page."""
    return " and ".join(f"“{survey.question(name).text[survey.languages[0]]}”" for name in names)


def _recalls(scores: "Scores") -> list[Any]:
    return list(scores.recall) if scores.bounds is None else []


def _measured(found: Any) -> Measured:
    return Measured(found.name, found.value, found.low, found.high, found.reason)


@contextmanager
def _warnings_as_notes() -> Iterator[list[str]]:
    """Collect what the library warns of, for the page."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
        notes += dict.fromkeys(_in_words(str(warning.message)) for warning in caught)


def _in_words(warning: str) -> str:
    """Return a warning of the library in the words of the page."""
    for term, words in IN_WORDS.items():
        warning = warning.replace(term, words)
    return warning


ANALYSES: dict[str, Callable[..., Any]] = {
    "questions": question_cards,
    "groups": group_cards,
    "crossing": crossing,
    "patterns": patterns,
    "classifier": classifier,
}
"""All analyses by name."""
