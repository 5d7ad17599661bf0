"""Rehearsals: copies of a survey that say so in their documents, for simulated respondents and for trial answers.

A rehearsal has a hash, links and reports of its own. Simulated reports are stored in rehearsals only, so none can ever
be counted among those of people.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.errors import SottovoceError, file_errors
from sottovoce.surveys.client.simulate import (
    AnswerShares,
    SimulatedRespondents,
    random_shares,
    simulate_respondents,
)
from sottovoce.surveys.definition.questions import Question
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.definition.yaml_reader import read_yaml
from sottovoce.surveys.results import QuestionResult, survey_results

if TYPE_CHECKING:
    from sottovoce.surveys.collect.store import Store


@dataclass(frozen=True)
class Rehearsal:
    """A rehearsal with its simulated respondents; no results if they are fewer than the survey's minimum."""

    survey: Survey
    respondents: SimulatedRespondents
    results: list[QuestionResult]

    def truth(self, result: QuestionResult) -> list[float]:
        """Return the true proportion of every answer of a question's result."""
        (question,) = result.questions
        return [self.respondents.share(question, line.labels[0]) for line in result.lines]


def rehearse(
    store: "Store",
    survey: Survey,
    respondents: int,
    rng: np.random.Generator,
    shares: AnswerShares | None = None,
    *,
    level: float = 0.95,
) -> Rehearsal:
    """Freeze a survey's rehearsal, store the reports of simulated respondents in it, and estimate their answers.

    `survey` is a draft, a frozen survey or a rehearsal. Questions without `shares` get random ones. A rehearsal that
    has reports already is refused: two populations in one rehearsal have no truth to compare the estimates with.
    Results are withheld below the survey's minimum, as they are when it counts.

    >>> import tempfile
    >>> from sottovoce.surveys import Store, survey_from_text
    >>> draft = survey_from_text('''{title: T, asker: A, purpose: P, until: 2999-12-31, odds: 3, invitation: open,
    ...     questions: [{id: q, kind: yes_no, text: Q}]}''')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(f"{folder}/surveys.db")
    ...     rehearsal = rehearse(store, draft, 200, np.random.default_rng(1), {"q": {"no": 0.5, "yes": 0.5}})
    ...     store.close()
    >>> rehearsal.survey.rehearsal, len(rehearsal.respondents), len(rehearsal.results)
    (True, 200, 1)
    """
    trial = store.freeze(survey.as_rehearsal())
    stored = store.counts(trial.id)["reports"]
    if stored:
        rule = f"must have a rehearsal without reports; throw {trial.id} away first: sottovoce survey delete {trial.id}"
        raise SottovoceError("survey", rule, stored)
    simulated = simulate_respondents(trial, respondents, rng, {**random_shares(trial, rng), **(shares or {})})
    store.store_simulated(trial, simulated.reports() if respondents else [])
    enough = respondents >= max(trial.minimum, 1)
    return Rehearsal(trial, simulated, survey_results(trial, store.reports(trial.id), level=level) if enough else [])


def read_shares(survey: Survey, texts: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the true shares that texts state: `question=answer:share,answer:share`, or a YAML or JSON file of them.

    What is left of a question with one answer is divided equally between the answers that are not named; of several
    choices, nobody selects those that are not named.
    """
    shares: dict[str, dict[str, float]] = {}
    for text in texts:
        for name, given in (_in_line(text) if "=" in text else _in_file(Path(text))).items():
            shares[name] = complete_shares(survey.question(name), given)
    return shares


def _in_line(text: str) -> dict[str, dict[str, str]]:
    name, _, listed = text.partition("=")
    parts = [part.rpartition(":") for part in listed.split(",")]
    return {name.strip(): {answer.strip(): share.strip() for answer, _, share in parts}}


def _in_file(path: Path) -> dict[str, dict[str, str]]:
    if not path.is_file():
        raise SottovoceError("truth", "must be question=answer:share,... or a file of shares", str(path))
    with file_errors(path):
        document = read_yaml(path.read_text(encoding="utf-8"), "truth")
    return {
        name: {answer: share.text() for answer, share in given.mapping().items()}
        for name, given in document.mapping().items()
    }


def complete_shares(question: Question, given: Mapping[str, str]) -> dict[str, float]:
    """Return the share of every answer, of which some are given as texts: see `read_shares`."""
    answers = [answer.id for answer in question.answers]
    known = [*answers, *([question.no_answer] if question.no_answer else [])]
    shares = dict.fromkeys(answers, 0.0)
    for answer, text in given.items():
        if answer not in known:
            raise SottovoceError("truth", f"must name answers of {question.id}: {', '.join(known)}", answer)
        shares[answer] = _share(text)
    if question.kind == "several":
        return shares
    unnamed, left = [answer for answer in answers if answer not in given], 1 - sum(shares.values())
    if left < -TOLERANCE or (not unnamed and not isclose(left, 0, abs_tol=TOLERANCE)):
        rule = f"must state shares of {question.id} that add up to 1, or to less where answers are left out"
        raise SottovoceError("truth", rule, dict(given))
    return shares | dict.fromkeys(unnamed, max(left, 0.0) / max(len(unnamed), 1))


TOLERANCE = 1e-9
"""By how much shares that add up to 1 may miss it: they are written as decimals."""


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise SottovoceError("truth", "must state shares from 0 to 1, as in sick=yes:0.3", text)
    return share
