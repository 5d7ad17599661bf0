"""True shares of the answers of simulated respondents, which results of rehearsals are compared with."""

import json

from sqlalchemy import delete, insert, select

from sottovoce.surveys.client.simulate import SimulatedRespondents
from sottovoce.surveys.collect.database import reading, truths, writing
from sottovoce.surveys.collect.store import Store

Truths = dict[str, dict[str, float]]
"""Share of the simulated respondents for whom an answer is true, by question and label."""


def save_truths(store: Store, respondents: SimulatedRespondents) -> None:
    """Store what is true of the simulated respondents of a rehearsal, instead of what was stored before."""
    survey = respondents.survey
    shares: Truths = {
        question.id: {label: respondents.share(question.id, label) for label in question.labels}
        for question in survey.questions
    }
    with writing(store.engine) as connection:
        connection.execute(delete(truths).where(truths.c.survey == survey.id))
        connection.execute(insert(truths), {"survey": survey.id, "shares": json.dumps(shares)})


def rehearsal_truths(store: Store, survey: str) -> Truths | None:
    """Return what is true of the simulated respondents of a rehearsal, by its id; None if nothing is known."""
    with reading(store.engine) as connection:
        shares = connection.scalar(select(truths.c.shares).where(truths.c.survey == survey))
    return None if shares is None else dict(json.loads(shares))
