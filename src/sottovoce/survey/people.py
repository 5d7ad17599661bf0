"""Made-up people with known answers, for simulations: their truths, and what is true of all of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.disguise.records import disguise_codes
from sottovoce.mechanism.coins import random_words
from sottovoce.survey.report import ReportFormat
from sottovoce.survey.survey import Survey

Flags = NDArray[np.bool_]
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
    holds: dict[str, dict[str, Flags]] = {}
    truths: dict[str, list[Any]] = {}
    for question in survey.questions:
        asked = np.ones(count, np.bool_)
        for condition in question.when:
            asked &= np.any([holds[condition.question][label] for label in condition.answers], axis=0)
        drawn = _drawn(question.kind, shares[question.id], count, rng)
        holds[question.id] = {label: asked & drawn.get(label, np.zeros(count, np.bool_)) for label in question.labels}
        if question.not_asked is not None:
            holds[question.id][question.not_asked] = ~asked
        truths[question.id] = _labels(question.kind, holds[question.id])
    return People(survey, truths)


def _drawn(kind: str, shares: Mapping[str, float], count: int, rng: np.random.Generator) -> dict[str, Flags]:
    """Who would give which answer, if asked."""
    chances = np.array(list(shares.values()))
    if kind == "several":
        flags = rng.random((len(chances), count)) < chances[:, None]
    else:
        flags = np.arange(len(chances))[:, None] == rng.choice(len(chances), count, p=chances / chances.sum())
    return dict(zip(shares, flags, strict=True))


def _labels(kind: str, holds: Mapping[str, Flags]) -> list[Any]:
    labels, flags = list(holds), np.stack(list(holds.values()), axis=1)
    if kind == "several":
        return [[labels[place] for place in np.flatnonzero(row)] for row in flags]
    return [labels[place] for place in flags.argmax(axis=1)]


def _drawn_law(survey: Survey, rng: np.random.Generator) -> Law:
    law = {}
    for question in survey.questions:
        labels = [answer.id for answer in question.answers]
        several = question.kind == "several"
        shares = rng.uniform(0.05, 0.6, len(labels)) if several else rng.dirichlet(np.full(len(labels), 2.0))
        law[question.id] = dict(zip(labels, shares.tolist(), strict=True))
    return law
