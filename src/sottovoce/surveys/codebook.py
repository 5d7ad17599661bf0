"""The codebook of a survey: what the columns and labels of its exports mean, for people and other programs."""

import csv
from pathlib import Path

import numpy as np

from sottovoce.surveys.definition.questions import FORMULA_STARTS, Question
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.report_weights import chance_told
from sottovoce.tables.sink import check_new, new_file

NOT_PICKED = "(not picked: the report tells nothing about this question)"
"""Meaning of the label that a report has for a question that the device did not pick."""

COLUMNS = ("column", "kind", "public", "question", "label", "answer", "scheme", "odds")


def codebook(survey: Survey) -> list[tuple[str, ...]]:
    """Return a row for each label of each question, with the texts in the survey's first language.

    >>> from sottovoce.surveys.definition.definition import survey_from_text
    >>> survey = survey_from_text('''
    ... {title: T, asker: A, purpose: P, until: 2030-12-31, odds: 3, questions: [
    ...   {id: days, kind: number, text: Days, edges: [0, 1, 9], labels: [none, some]}]}
    ... ''')
    >>> codebook(survey)[1]
    ('days', 'number', 'no', 'Days', 'some', 'some', 'randomized_response', '3')
    """
    return [row for question in survey.questions for row in _rows(survey, question)]


def _rows(survey: Survey, question: Question) -> list[tuple[str, ...]]:
    language = survey.languages[0]
    about = question.id, question.kind, "yes" if question.public else "no", question.full_text(language)
    coins = ("", "") if question.public else _coins(survey, question.id)
    rows = [(label, question.words(label, language)) for label in question.labels]
    if not question.public and chance_told(survey.plan, question.id) < 1:  # not to be taken for a question left out
        column, code = survey.plan.report_schema.project([question.id]), survey.plan.schema[question.id].sizes[0]
        rows.append((str(column.decode([np.array([code])])[question.id][0]), NOT_PICKED))
    return [(*about, *row, *coins) for row in rows]


def _coins(survey: Survey, name: str) -> tuple[str, str]:
    group = survey.plan.group_of(name)
    return group.scheme, str(group.guarantee.exact)


def write_codebook(survey: Survey, path: str | Path, *, overwrite: bool = False) -> int:
    """Write the codebook as CSV and return its number of rows; no cell begins like a formula of a spreadsheet."""
    rows = codebook(survey)
    check_new(path, overwrite=overwrite)
    with new_file(path) as hidden, hidden.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return len(rows)


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell
