"""Simulated respondents with known answers, whose reports are sent over the real HTTP interface."""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Progress
from sottovoce.disguises.records import disguise_codes
from sottovoce.mechanisms.coins import random_words
from sottovoce.surveys.client.client import Client, SealedReport, seal_report
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.links import Link
from sottovoce.surveys.report import ReportFormat

Flags = NDArray[np.bool_]
AnswerShares = Mapping[str, Mapping[str, float]]
"""For each question, the proportion of each answer among those asked; of several choices, of those who select it."""

BATCH_SIZE = 256
"""Reports that are sent between two calls of `progress`."""


@dataclass(frozen=True)
class SimulatedRespondents:
    """True answers by question: a label for each respondent, or a list of labels for several choices."""

    survey: Survey
    truths: Mapping[str, list[Any]]

    def __len__(self) -> int:
        """Return the number of respondents."""
        return len(next(iter(self.truths.values())))

    def share(self, question: str, label: str) -> float:
        """Return the proportion of the respondents for whom an answer is true."""
        true = [label in value if isinstance(value, list) else label == value for value in self.truths[question]]
        return float(np.mean(true))

    def reports(self) -> list[bytes]:
        """Return everyone's disguised report."""
        plan = self.survey.plan
        columns = disguise_codes(plan.schema.encode(self.truths), plan, random_words())
        return ReportFormat(plan).to_bytes(columns)


def simulate_respondents(
    survey: Survey, count: int, rng: np.random.Generator, shares: AnswerShares | None = None
) -> SimulatedRespondents:
    """Draw respondents whose answers to different questions are independent, except through conditions.

    Without shares, these are drawn at random; nobody declines unless the shares say so.
    """
    shares = shares or _random_shares(survey, rng)
    true: dict[str, dict[str, Flags]] = {}
    truths: dict[str, list[Any]] = {}
    for question in survey.questions:
        asked = np.ones(count, np.bool_)
        for condition in question.when:
            asked &= np.any([true[condition.question][label] for label in condition.answers], axis=0)
        drawn = _draw_answers(question.kind, shares[question.id], count, rng)
        true[question.id] = {label: asked & drawn.get(label, np.zeros(count, np.bool_)) for label in question.labels}
        if question.not_asked is not None:
            true[question.id][question.not_asked] = ~asked
        truths[question.id] = _labels(question.kind, true[question.id])
    return SimulatedRespondents(survey, truths)


def _draw_answers(kind: str, shares: Mapping[str, float], count: int, rng: np.random.Generator) -> dict[str, Flags]:
    """Draw for each answer which respondents would give it if they were asked."""
    chances = np.array(list(shares.values()))
    if kind == "several":
        flags = rng.random((len(chances), count)) < chances[:, None]
    else:
        flags = np.arange(len(chances))[:, None] == rng.choice(len(chances), count, p=chances / chances.sum())
    return dict(zip(shares, flags, strict=True))


def _labels(kind: str, true: Mapping[str, Flags]) -> list[Any]:
    labels, flags = list(true), np.stack(list(true.values()), axis=1)
    if kind == "several":
        return [[labels[index] for index in np.flatnonzero(row)] for row in flags]
    return [labels[index] for index in flags.argmax(axis=1)]


def _random_shares(survey: Survey, rng: np.random.Generator) -> AnswerShares:
    shares = {}
    for question in survey.questions:
        labels = [answer.id for answer in question.answers]
        several = question.kind == "several"
        drawn = rng.uniform(0.05, 0.6, len(labels)) if several else rng.dirichlet(np.full(len(labels), 2.0))
        shares[question.id] = dict(zip(labels, drawn.tolist(), strict=True))
    return shares


def send_reports(
    links: Iterable[Link], reports: list[bytes], *, connections: int = 8, progress: Progress | None = None
) -> int:
    """Send each report with a link of its own over several connections; return how many were acknowledged.

    All links lead to one server, and there are at least as many as reports; for an open survey, repeat its link.
    """
    work = list(zip(links, reports, strict=False))
    if not work:
        return 0
    server = work[0][0].server
    clients: SimpleQueue[Client] = SimpleQueue()
    for _ in range(connections):
        clients.put(Client(server))

    def send(link: Link, sealed: SealedReport) -> None:
        client = clients.get()
        try:
            client.send(link, sealed)
        finally:
            clients.put(client)

    done = 0
    try:
        with ThreadPoolExecutor(connections) as pool:
            waiting = iter(work)
            while batch := list(islice(waiting, BATCH_SIZE)):
                sealed = [seal_report(link.hash, report, link.token) for link, report in batch]
                list(pool.map(send, [link for link, _ in batch], sealed))
                done += len(batch)
                if progress is not None:
                    progress(done, len(work))
    finally:
        for _ in range(connections):
            clients.get().close()
    return done
