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
from sottovoce.errors import SottovoceError, Words
from sottovoce.mechanisms.coins import Randomness, random_words
from sottovoce.surveys.client.client import Client, disguised_reports, seal_report
from sottovoce.surveys.definition.questions import Question
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.links import Link

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

    def reports(self, rng: Randomness = None) -> list[bytes]:
        """Return everyone's report, with public answers as they are; a seed repeats the coins of made-up people."""
        return disguised_reports(self.survey, self.truths, random_words(rng))


def simulate_respondents(
    survey: Survey, count: int, rng: np.random.Generator, shares: AnswerShares | None = None
) -> SimulatedRespondents:
    """Draw respondents whose answers to different questions are independent, except through conditions.

    Without shares, these are drawn at random; nobody declines unless the shares say so.
    """
    shares = shares or random_shares(survey, rng)
    true: dict[str, dict[str, Flags]] = {}
    truths: dict[str, list[Any]] = {}
    for question in survey.questions:
        asked = np.ones(count, np.bool_)
        for condition in question.when:
            asked &= np.any([true[condition.question][label] for label in condition.answers], axis=0)
        drawn = _draw_answers(question, shares[question.id], count, rng)
        true[question.id] = {label: asked & drawn.get(label, np.zeros(count, np.bool_)) for label in question.labels}
        if question.not_asked is not None:
            true[question.id][question.not_asked] = ~asked
        truths[question.id] = _labels(question.kind, true[question.id])
    return SimulatedRespondents(survey, truths)


def _draw_answers(
    question: Question, shares: Mapping[str, float], count: int, rng: np.random.Generator
) -> dict[str, Flags]:
    """Draw for each answer which respondents would give it if they were asked."""
    chances = np.array(list(shares.values()))
    if question.kind == "several":
        flags = rng.random((len(chances), count)) < chances[:, None]
        if question.limits is not None:
            flags = _within_limits(flags, question.limits, rng)
    else:
        flags = np.arange(len(chances))[:, None] == rng.choice(len(chances), count, p=chances / chances.sum())
    return dict(zip(shares, flags, strict=True))


def _within_limits(flags: Flags, limits: tuple[int, int], rng: np.random.Generator) -> Flags:
    """Drop random choices of those who have too many, and add some to those who have too few."""
    wanted = flags.sum(axis=0).clip(*limits)
    ranks = (-(flags + rng.random(flags.shape))).argsort(axis=0).argsort(axis=0)  # chosen ones come first
    return np.asarray(ranks < wanted)


def _labels(kind: str, true: Mapping[str, Flags]) -> list[Any]:
    labels, flags = list(true), np.stack(list(true.values()), axis=1)
    if kind == "several":
        return [[labels[index] for index in np.flatnonzero(row)] for row in flags]
    return [labels[index] for index in flags.argmax(axis=1)]


def random_shares(survey: Survey, rng: np.random.Generator) -> dict[str, dict[str, float]]:
    """Draw the proportion of every answer of every question."""
    shares = {}
    for question in survey.questions:
        labels = [answer.id for answer in question.answers]
        several = question.kind == "several"
        drawn = rng.uniform(0.05, 0.6, len(labels)) if several else rng.dirichlet(np.full(len(labels), 2.0))
        shares[question.id] = dict(zip(labels, drawn.tolist(), strict=True))
    return shares


def send_reports(
    survey: Survey,
    links: Iterable[Link],
    reports: list[bytes],
    *,
    connections: int = 8,
    progress: Progress | None = None,
) -> int:
    """Send each report at once with a link of its own, over several connections; return how many were acknowledged.

    The survey must be a rehearsal, lest simulated reports are taken for those of people. All links lead to one server,
    and there are at least as many as reports; for an open survey, repeat its link.
    """
    if not survey.rehearsal:
        rule = (
            "must lead to a rehearsal: simulated reports are never mixed with those of people. To make one: "
            f"sottovoce survey rehearse {survey.id} --respondents 0"
        )
        raise SottovoceError("link", rule, Words("a survey that counts"))
    work = list(zip(links, reports, strict=False))
    if not work:
        return 0
    server = work[0][0].server
    clients: SimpleQueue[Client] = SimpleQueue()
    for _ in range(connections):
        clients.put(Client(server))

    def send(link: Link, report: bytes) -> None:
        client = clients.get()
        try:
            credential = client.admit(link, survey)
            client.send(link, seal_report(link.hash, report, link.token, credential))
        finally:
            clients.put(client)

    done = 0
    try:
        with ThreadPoolExecutor(connections) as pool:
            waiting = iter(work)
            while batch := list(islice(waiting, BATCH_SIZE)):
                list(pool.map(send, *zip(*batch, strict=True)))
                done += len(batch)
                if progress is not None:
                    progress(done, len(work))
    finally:
        for _ in range(connections):
            clients.get().close()
    return done
