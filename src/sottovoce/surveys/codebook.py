"""The codebook of a survey: what the columns and labels of its exports mean, for people and other programs."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sottovoce.surveys.definition.questions import Question, harmless
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.labelled_files import labelled_variables
from sottovoce.surveys.report_weights import chance_told
from sottovoce.tables.sink import check_new, new_file

NOT_PICKED = "(not picked: the report tells nothing about this question)"
"""Meaning of the label that a report has for a question that the device did not pick."""

COLUMNS = ("column", "kind", "public", "question", "label", "answer", "scheme", "odds", "variable", "code")
"""The last two say what SPSS and Stata files have: the name of a variable, and the number of an answer in it."""


def codebook(survey: Survey) -> list[tuple[str, ...]]:
    """Return a row for each label of each question, with the texts in the survey's first language.

    Where reports are no answers, rows for what they can be follow.

    >>> from sottovoce.surveys.definition.definition import survey_from_text
    >>> survey = survey_from_text('''
    ... {title: T, asker: A, purpose: P, until: 2030-12-31, odds: 3, questions: [
    ...   {id: days, kind: number, text: Days, edges: [0, 1, 9], labels: [none, some]}]}
    ... ''')
    >>> codebook(survey)[1]
    ('days', 'number', 'no', 'Days', 'some', 'some', 'randomized_response', '3', 'days', '2')
    """
    codes = _codes(survey)
    known = [row for question in survey.questions for row in _rows(survey, question)]
    rows = [(*row, *codes.pop((row[0], row[4]), ("", ""))) for row in known]
    others = [(column, "report", "no", "", label, "", "", "", *code) for (column, label), code in codes.items()]
    return rows + others


def _codes(survey: Survey) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the variable and the number of each column and label."""
    codes = {}
    for variable in labelled_variables(survey):
        if variable.item is None:
            for label, value in zip(variable.labels, variable.values, strict=True):
                codes[variable.column, str(label)] = variable.name, str(value)
        else:
            codes[variable.column, str(variable.item)] = variable.name, "1"
    return codes


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
    with new_file(path) as hidden:
        hidden.write_text(codebook_text(rows), encoding="utf-8")
    return len(rows)


def codebook_text(rows: Sequence[tuple[str, ...]]) -> str:
    """Return the rows of a codebook as CSV, texts as they are and harmless."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([*map(harmless, row[:-1]), row[-1]] for row in rows)  # the last one is a number
    return stream.getvalue()
