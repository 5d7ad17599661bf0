"""Made-up people with known answers, for simulations: their truths, and what is true of all of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.disguise.records import disguise_codes
from sottovoce.mechanism.coins import random_words
from sottovoce.survey.report import ReportFormat
from sottovoce.survey.survey import Survey
from sottovoce.survey.truth import is_asked

Law = Mapping[str, Mapping[str, float]]
"""For each question, the share of each answer among those asked; of several choices, the share that has it."""


@dataclass(frozen=True)
class People:
    """Truths by question: one label each, or a list of labels for several choices."""

    survey: Survey
    truths: Mapping[str, list[Any]]

    def __len__(self) -> int:
        """Number of people."""
        return len(next(iter(self.truths.values())))

    def share(self, question: str, label: str) -> float:
        """Share of the people of whom an answer is true."""
        has = [label in value if isinstance(value, list) else label == value for value in self.truths[question]]
        return float(np.mean(has))

    def reports(self) -> list[bytes]:
        """Disguise everyone, each with coins of their own."""
        plan = self.survey.plan
        columns = disguise_codes(plan.schema.encode(self.truths), plan, random_words())
        return ReportFormat(plan).to_bytes(columns)


def make_people(survey: Survey, count: int, rng: np.random.Generator, law: Law | None = None) -> People:
    """Draw people who answer independently from question to question, along the branches.

    Without a law, one is drawn; nobody declines unless the law says so.
    """
    shares = law or _drawn_law(survey, rng)
    truths: dict[str, list[Any]] = {question.id: [] for question in survey.questions}
    for _ in range(count):
        reached: dict[str, tuple[str, ...]] = {}
        for question in survey.questions:
            if is_asked(question, reached):
                reached[question.id] = _answer(question.kind, shares[question.id], rng)
            labels = reached.get(question.id, (str(question.not_asked),))
            truths[question.id].append(list(labels) if question.kind == "several" else labels[0])
    return People(survey, truths)


def _answer(kind: str, shares: Mapping[str, float], rng: np.random.Generator) -> tuple[str, ...]:
    labels, chances = list(shares), np.array(list(shares.values()))
    if kind == "several":
        return tuple(label for label, chosen in zip(labels, rng.random(len(labels)) < chances, strict=True) if chosen)
    return (labels[int(np.searchsorted(np.cumsum(chances), rng.random() * chances.sum(), side="right"))],)


def _drawn_law(survey: Survey, rng: np.random.Generator) -> Law:
    law = {}
    for question in survey.questions:
        labels = [answer.id for answer in question.answers]
        several = question.kind == "several"
        shares = rng.uniform(0.05, 0.6, len(labels)) if several else rng.dirichlet(np.full(len(labels), 2.0))
        law[question.id] = dict(zip(labels, shares.tolist(), strict=True))
    return law
