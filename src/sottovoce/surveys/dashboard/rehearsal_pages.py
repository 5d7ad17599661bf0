"""Pages of rehearsals: simulated respondents with truths of the researcher's choosing, and results beside them.

A rehearsal is a survey of its own, which says so everywhere. Rehearsing again throws the earlier rehearsal away: two
populations in one rehearsal have no truth to compare estimates with.
"""

import numpy as np
from starlette.responses import Response

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect.app_state import Refusal, RefusedError
from sottovoce.surveys.dashboard.accounts import Role
from sottovoce.surveys.dashboard.drafts import Drafts
from sottovoce.surveys.dashboard.truths import save_truths
from sottovoce.surveys.dashboard.visit import Visit, route
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.definition.questions import Question
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.definition.yaml_reader import parse_whole_number
from sottovoce.surveys.rehearsal import complete_shares, rehearse

MOST_RESPONDENTS = 20_000
"""Most simulated respondents of one rehearsal: they take some two seconds."""

TOLERANCE = 1e-8
"""By how much percentages that add up to 100 may miss it: they are written as decimals."""

SUGGESTED_SHARE = 0.6
"""Share of the first answer that the form suggests; every other has this share of what is left."""


def show_form(visit: Visit) -> Response:
    """Return the form on which the number of simulated respondents and the true shares of all answers are chosen."""
    return _form(visit, _asked(visit))


def start(visit: Visit) -> Response:
    """Throw an earlier rehearsal of the survey away, simulate respondents, and show the results beside the truth."""
    survey, store = _asked(visit), visit.store
    try:
        respondents = _respondents(visit.text("respondents"))
        shares = {question.id: _shares(visit, question) for question in survey.questions}
    except SottovoceError as mistake:
        return _form(visit, survey, str(mistake))
    if (earlier := store.frozen(survey.as_rehearsal())) is not None:
        store.delete_survey(earlier.id)
    found = rehearse(store, survey, respondents, np.random.default_rng(), shares)
    save_truths(store, found.respondents)
    return visit.to(f"/surveys/{found.survey.id}/results")


def _asked(visit: Visit) -> Survey:
    """Return the survey or the draft that the address names."""
    if "survey" in visit.request.path_params:
        return visit.survey()
    draft = Drafts(visit.store.engine).get(visit.part("draft"))
    if draft is None:
        raise RefusedError(Refusal.not_found)
    return survey_from_text(draft.text, read_file=draft.read_file)


def _form(visit: Visit, survey: Survey, reason: str | None = None) -> Response:
    language = survey.languages[0]
    questions = []
    for question in survey.questions:
        names, suggested = _fields(question), suggested_percents(question)
        words = [question.words(answer, language) for answer in _answers(question)]
        given = [visit.text(name, default) for name, default in zip(names, suggested, strict=True)]
        fields = list(zip(names, words, given, strict=True))
        questions.append((question.id, question.full_text(language), question.kind, fields))
    return visit.page(
        "rehearse.html",
        200 if reason is None else 422,
        survey=survey if visit.request.path_params.get("survey") else None,
        title=survey.default_title,
        questions=questions,
        respondents=visit.text("respondents", "1000"),
        most=MOST_RESPONDENTS,
        reason=reason,
    )


def _answers(question: Question) -> list[str]:
    """Return the answers that somebody who is asked can give, declining included."""
    declined = [] if question.no_answer is None else [question.no_answer]
    return [*(answer.id for answer in question.answers), *declined]


def _fields(question: Question) -> list[str]:
    """Return the names of the form's fields for the answers of a question."""
    return [f"{question.id}.{index}" for index in range(len(_answers(question)))]


def suggested_percents(question: Question) -> list[str]:
    """Return percentages with which a rehearsal begins: most people give the first answer, few the last, none declines.

    Of several choices, each has a share of its own; of others, the shares add up to 100.
    """
    count = len(question.answers)
    shares = [SUGGESTED_SHARE * (1 - SUGGESTED_SHARE) ** index for index in range(count)]
    percents = [round(100 * share / (1 if question.kind == "several" else sum(shares)), 1) for share in shares]
    if question.kind != "several":
        percents[0] = round(100 - sum(percents[1:]), 1)
    return [f"{percent:g}" for percent in percents] + ["0"] * (len(_answers(question)) - count)


def _shares(visit: Visit, question: Question) -> dict[str, float]:
    """Return the shares of a question's answers that the form states as percentages; an empty field is left out."""
    given = zip(_answers(question), (visit.text(name).strip() for name in _fields(question)), strict=True)
    percents = {answer: _percent(question, text) for answer, text in given if text}
    total, complete = sum(percents.values()), len(percents) == len(_answers(question))
    if question.kind != "several" and (total > 100 + TOLERANCE or (complete and total < 100 - TOLERANCE)):
        rule = "must have percentages that add up to 100, or to less where fields are empty"
        raise SottovoceError(question.id, rule, total)
    return complete_shares(question, {answer: repr(percent / 100) for answer, percent in percents.items()})


def _percent(question: Question, text: str) -> float:
    try:
        percent = float(text.replace(",", ".").removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        raise SottovoceError(question.id, "must have percentages from 0 to 100", text)
    return percent


def _respondents(text: str) -> int:
    number = parse_whole_number(text.strip())
    rule = f"must be a whole number from 1 to {MOST_RESPONDENTS:,}"
    if number is None or not 1 <= number <= MOST_RESPONDENTS:
        raise SottovoceError("respondents", rule, text)
    return number


ROUTES = [
    route("/surveys/{survey}/rehearse", show_form, role=Role.EDITOR),
    route("/surveys/{survey}/rehearse", start, role=Role.EDITOR, post=True),
    route("/drafts/{draft}/rehearse", show_form, role=Role.EDITOR),
    route("/drafts/{draft}/rehearse", start, role=Role.EDITOR, post=True),
]
