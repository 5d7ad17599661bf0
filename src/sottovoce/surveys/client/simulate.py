"""Made-up respondents with known answers, sent through the real HTTP interface."""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.disguises.records import disguise_codes
from sottovoce.estimates.likelihood import Progress
from sottovoce.mechanisms.coins import random_words
from sottovoce.surveys.client.client import Client, Seal, sealed
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.links import Link
from sottovoce.surveys.report import ReportFormat

Flags = NDArray[np.bool_]
Law = Mapping[str, Mapping[str, float]]
"""For each question, the share of each answer among those asked; of several choices, the share that has it."""
SENT_AT_ONCE = 256


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


def send_reports(
    links: Iterable[Link], reports: list[bytes], *, connections: int = 8, progress: Progress | None = None
) -> int:
    """Send each report over one of several connections; returns how many were acknowledged.

    `links` are as many as reports, or more, and lead to one server; with an open survey they are all the same.
    """
    work = list(zip(links, reports, strict=False))
    if not work:
        return 0
    server = work[0][0].server
    clients: SimpleQueue[Client] = SimpleQueue()
    for _ in range(connections):
        clients.put(Client(server))

    def send(link: Link, seal: Seal) -> None:
        client = clients.get()
        try:
            client.send(link, seal)
        finally:
            clients.put(client)

    done = 0
    try:
        with ThreadPoolExecutor(connections) as pool:
            waiting = iter(work)
            while batch := list(islice(waiting, SENT_AT_ONCE)):
                list(pool.map(send, *_sealed(batch)))
                done += len(batch)
                if progress is not None:
                    progress(done, len(work))
    finally:
        for _ in range(connections):
            clients.get().close()
    return done


def _sealed(batch: list[tuple[Link, bytes]]) -> Iterator[list[Link] | list[Seal]]:
    yield [link for link, _ in batch]
    yield [sealed(link.hash, report, link.token) for link, report in batch]
