"""Whether anything can be learned from the reports, found out before people are asked in vain."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sottovoce.errors import SottovoceError
from sottovoce.survey.people import make_people
from sottovoce.survey.results import Reports
from sottovoce.survey.survey import Survey

PEOPLE = 20
"""Made-up respondents of the rehearsal: whether there is an estimate does not depend on their number."""


def unestimable(survey: Survey) -> Iterator[tuple[str, SottovoceError]]:
    """Questions whose proportions cannot be estimated, and why: the whole way is rehearsed with made-up people."""
    reports = Reports(replace(survey, minimum=1), make_people(survey, PEOPLE, np.random.default_rng(0)).reports())
    for question in survey.questions:
        try:
            reports.result(question.id)
        except SottovoceError as reason:
            yield question.id, reason
