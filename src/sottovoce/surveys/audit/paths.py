"""Paths through a survey: what somebody answers on every screen, and two truths with the largest odds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from sottovoce.channels.channel import Channel
from sottovoce.checks import Array
from sottovoce.disguises.records import disguise_codes
from sottovoce.mechanisms.coins import RandomWords
from sottovoce.schemas.attribute import Columns, ravel
from sottovoce.surveys.client.client import is_asked
from sottovoce.surveys.definition.questions import Question
from sottovoce.surveys.definition.survey import Survey

CANDIDATES = 120
"""Random paths among which the two truths are chosen."""

LARGEST_CHANNEL = 2**14
"""Most reports times truths of a group whose odds between two truths are computed; beyond, answers are counted."""

MOST_SCORE = 20.0
"""Score of a report that rules an answer out."""


@dataclass(frozen=True, eq=False)
class Path:
    """Labels that somebody chooses, by question; of questions that are not asked, none."""

    survey: Survey
    chosen: dict[str, tuple[str, ...]]

    @cached_property
    def truth(self) -> dict[str, Any]:
        """Value of every question, as the plan's schema takes them."""
        labels = {q.id: self.chosen.get(q.id, (str(q.not_asked),)) for q in self.survey.questions}
        return {q.id: list(labels[q.id]) if q.kind == "several" else labels[q.id][0] for q in self.survey.questions}

    @cached_property
    def screens(self) -> list[list[list[str]]]:
        """For each screen, the answers to choose for every question that is asked on it.

        Items of a matrix that follow each other share a screen.
        """
        grouped = groupby(enumerate(self.survey.questions), lambda pair: _screen(*pair))
        return [[list(self.chosen[q.id]) for _, q in part if q.id in self.chosen] for _, part in grouped]

    @cached_property
    def public_codes(self) -> tuple[int, ...]:
        """Codes of the public answers, as the report must have them."""
        return tuple(int(q.variable.encode([self.truth[q.id]])[0][0]) for q in self.survey.public)

    def words(self) -> str:
        """Return the answers to the protected questions in a line."""
        told = ((q.id, self.truth[q.id]) for q in self.survey.protected)
        return ", ".join(f"{name} = {' + '.join(v) or 'none' if isinstance(v, list) else v}" for name, v in told)


def _screen(index: int, question: Question) -> str:
    return f"matrix {question.matrix.id}" if question.matrix else f"question {index}"


def random_path(survey: Survey, rng: np.random.Generator) -> Path:
    """Draw answers to all questions that these answers lead to; the public ones are always the same."""
    chosen: dict[str, tuple[str, ...]] = {}
    for question in survey.questions:
        if is_asked(question, chosen):
            public = (public_answer(survey, question),)
            chosen[question.id] = public if question.public else _random_labels(question, rng)
    return Path(survey, chosen)


def public_answer(survey: Survey, question: Question) -> str:
    """Return the answer to a public question after which most other questions are asked."""
    wanted = [c.answers for other in survey.questions for c in other.when if c.question == question.id]
    return max((answer.id for answer in question.answers), key=lambda label: sum(label in each for each in wanted))


def _random_labels(question: Question, rng: np.random.Generator) -> tuple[str, ...]:
    labels = [answer.id for answer in question.answers]
    one = [*labels, *([question.no_answer] if question.no_answer else [])]
    if question.kind != "several":
        return (one[int(rng.integers(len(one)))],)
    if question.no_answer and rng.random() < 1 / len(one):
        return (question.no_answer,)
    least, most = question.limits or (0, len(labels))
    size = [least, most, int(rng.integers(least, most + 1))][int(rng.integers(3))]  # few and many differ the most
    return tuple(labels[index] for index in sorted(rng.permutation(len(labels))[:size].tolist()))


def coded(survey: Survey, paths: Sequence[Path]) -> Columns:
    """Return the coded truths of some paths."""
    return survey.plan.schema.encode({q.id: [path.truth[q.id] for path in paths] for q in survey.protected})


def expected_reports(survey: Survey, paths: Sequence[Path], words: RandomWords) -> Columns:
    """Return disguised columns as the installed release draws them, one row for each path."""
    return disguise_codes(coded(survey, paths), survey.plan, words)


def two_truths(survey: Survey, rng: np.random.Generator) -> tuple[Path, Path]:
    """Return the paths that differ in most protected questions, and of these the pair with the largest odds."""
    paths = [random_path(survey, rng) for _ in range(CANDIDATES)]
    columns = coded(survey, paths)
    score = np.zeros((CANDIDATES, CANDIDATES))
    for group in survey.plan.groups:
        channel = group.mechanism.channel
        score += _log_odds(channel, [columns[index] for index in survey.plan.truth_columns(group)])
    truths = [[str(path.truth[question.id]) for question in survey.protected] for path in paths]
    differing = np.array([[sum(map(str.__ne__, a, b)) for b in truths] for a in truths])
    best = np.unravel_index(np.argmax(differing * 1e6 + score), score.shape)
    return paths[int(best[0])], paths[int(best[1])]


def _log_odds(channel: Channel, columns: Iterable[Any]) -> Array:
    """Largest log odds of a report between any two rows of coded truths, or the number of answers that differ."""
    codes = list(columns)
    if channel.n_in * channel.n_out > LARGEST_CHANNEL:
        return np.asarray(np.sum([column[:, None] != column for column in codes], axis=0), np.float64)
    with np.errstate(divide="ignore"):
        logs = np.log(channel.dense())
    cells = ravel(codes, channel.shape_in)
    odds = np.zeros((channel.n_in, channel.n_in))
    for row in logs[np.isfinite(logs).any(axis=1)]:
        lowest = np.where(np.isfinite(row), row, row[np.isfinite(row)].max() - MOST_SCORE)
        odds = np.maximum(odds, lowest[:, None] - lowest)
    return odds[np.ix_(cells, cells)]
