"""Reports as SPSS and Stata files, with labels of variables and values.

Every column of codes becomes a numeric variable: answers are numbered from 1 on, "no" is 0 and "yes" is 1, a scale has
its steps, and of several choices each has a variable with 0 and 1. Declining (-1) and being skipped (-2) are answers of
the disguise like any other and stay in the data. What the device did not pick (-3) is missing: a user-defined missing
value in SPSS, `.` in Stata.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import check_installed
from sottovoce.schemas.attribute import Label, Variable
from sottovoce.schemas.item_set import ItemSet
from sottovoce.surveys.definition.questions import Question, harmless
from sottovoce.surveys.definition.survey import Survey

NO_ANSWER, NOT_ASKED, NOT_PICKED = -1, -2, -3
YES_NO = {"no": 0, "yes": 1}
MOST_NAME = 31
"""Most characters of a name: Stata has one more, but not for labels of values, which are named like their variable."""

SPSS_WORDS = ("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with")
STATA_WORDS = ("byte", "double", "float", "if", "in", "int", "long", "using", "strl")
"""Names that mean something else in these programs. Those of Stata that begin with _ no variable can have."""

NOTE = (
    "These are disguised responses: each was changed at random on the respondent's",
    "device. Tables of them are not tables of answers. Estimates need the plan.",
)
REHEARSAL = "This is a rehearsal: nothing in it counts."


@dataclass(frozen=True)
class LabelledVariable:
    """A variable of a file: the column of reports that it is made of, its label, and a value for each code.

    `item` is set for a variable of one of several choices, `labels` are what reports call the codes.
    """

    name: str
    column: str
    item: Label | None
    text: str
    labels: tuple[Label, ...]
    values: tuple[int, ...]
    value_texts: tuple[str, ...]
    ordered: bool

    @cached_property
    def value_labels(self) -> dict[int, str]:
        """Texts of the values."""
        return dict(zip(self.values, self.value_texts, strict=True))


def labelled_variables(survey: Survey) -> list[LabelledVariable]:
    """Return the variables of a survey's file, one for each column of codes, with texts in the first language.

    >>> from sottovoce.surveys.definition.definition import survey_from_text
    >>> survey = survey_from_text('''
    ... {title: T, asker: A, purpose: P, until: 2030-12-31, odds: 9, split: true, questions: [
    ...   {id: call in sick, kind: yes_no, text: Sick, decline: true},
    ...   {id: seen, kind: several, text: Seen, answers: [words, blows]}]}
    ... ''')
    >>> [(variable.name, variable.value_labels) for variable in labelled_variables(survey)][:2]
    [('call_in_sick', {0: 'No', 1: 'Yes', -1: 'Prefer not to say'}), ('seen_words', {0: 'no', 1: 'yes'})]
    """
    columns = [*survey.plan.report_schema, *(question.variable for question in survey.public)]
    found = [variable for column in columns for variable in _variables(survey, column)]
    names = _names([v.column if v.item is None else f"{v.column}_{v.item}" for v in found])
    return [
        LabelledVariable(name, v.column, v.item, v.text, v.labels, v.values, v.value_texts, v.ordered)
        for name, v in zip(names, found, strict=True)
    ]


def _variables(survey: Survey, column: Variable) -> list[LabelledVariable]:
    """Return the variables of a column, with names still to be made."""
    language = survey.languages[0]
    question = next((question for question in survey.questions if question.id == column.name), None)
    text = column.name if question is None else question.full_text(language)
    if isinstance(column, ItemSet):
        chosen = [str(item) if question is None else question.words(str(item), language) for item in column.items]
        return [
            LabelledVariable("", column.name, item, f"{text}: {named}", (0, 1), (0, 1), ("no", "yes"), ordered=False)
            for item, named in zip(column.items, chosen, strict=True)
        ]
    report: Any = column.as_report()  # an attribute, since it is no set
    labels = tuple(report.categories)
    if question is None or labels[: len(question.labels)] != question.labels:
        values, texts = tuple(range(1, len(labels) + 1)), tuple(map(str, labels))
        return [LabelledVariable("", column.name, None, text, labels, values, texts, ordered=False)]
    values = tuple(_value(question, index) for index in range(len(labels)))
    picked = [question.words(label, language) for label in question.labels]
    texts = (*picked, *["not picked by the device"] * (len(labels) - len(picked)))
    return [LabelledVariable("", column.name, None, text, labels, values, texts, question.kind in ("scale", "number"))]


def _value(question: Question, index: int) -> int:
    """Return the number that stands for a code of a question."""
    if index >= len(question.labels):
        return NOT_PICKED
    label = question.labels[index]
    if label == question.no_answer:
        return NO_ANSWER
    if label == question.not_asked:
        return NOT_ASKED
    yes_no = {answer.id for answer in question.answers} == set(YES_NO)
    return YES_NO[label] if yes_no else index + 1


def _names(wanted: Sequence[str]) -> list[str]:
    """Return names that SPSS and Stata both allow, all different whatever their case.

    >>> _names(["drink", "Drink!", "to", "9 lives", "سؤال"])
    ['drink', 'Drink_', 'to_', 'v9_lives', 'v']
    """
    found: list[str] = []
    for text in wanted:
        plain = "".join(c for c in unicodedata.normalize("NFKD", text) if c.isascii())
        name = re.sub(r"[^A-Za-z0-9_]+", "_", plain)
        name = name if re.match(r"[A-Za-z]", name) else f"v{name}"
        reserved = name.lower() in (*SPSS_WORDS, *STATA_WORDS) or re.fullmatch(r"str\d+", name.lower())
        name = f"{name}_" if reserved else name
        taken, number, first = {other.lower() for other in found}, 2, name[:MOST_NAME]
        name = first
        while name.lower() in taken:
            name = f"{first[: MOST_NAME - len(str(number)) - 1]}_{number}"
            number += 1
        found.append(name)
    return found


def write_labelled(survey: Survey, columns: Sequence[NDArray[Any]], path: Path) -> None:
    """Write coded columns of reports, public ones last, to an SPSS (.sav) or Stata (.dta) file."""
    check_installed("an SPSS or Stata file", "publish", "pyreadstat")
    import pyreadstat

    stata = path.suffix.lower() == ".dta"
    variables = labelled_variables(survey)
    frame = _frame({v.name: _values(v, codes, stata) for v, codes in zip(variables, columns, strict=True)})
    cut = _cut_characters if stata else _cut_bytes
    about = f"{'Rehearsal: ' * survey.rehearsal}{survey.default_title}"
    texts: dict[str, str | None] = {v.name: cut(v.text, 80 if stata else 255) for v in variables}
    labels: dict[str, dict[int | float, str]] = {v.name: _value_texts(v, stata) for v in variables}
    if stata:
        pyreadstat.write_dta(
            frame, path, file_label=cut(about, 80), column_labels=texts, variable_value_labels=labels, version=15
        )
        return
    pyreadstat.write_sav(
        frame,
        path,
        file_label=cut(about, 64),
        column_labels=texts,
        variable_value_labels=labels,
        missing_ranges={v.name: [NOT_PICKED] for v in variables if NOT_PICKED in v.values},
        variable_measure={v.name: "ordinal" if v.ordered else "nominal" for v in variables},
        variable_format={v.name: "F8.0" for v in variables},
        row_compress=True,
        note=[*NOTE, *([REHEARSAL] if survey.rehearsal else []), "SHA-256 of the survey:", survey.hash],
    )


def _values(variable: LabelledVariable, codes: NDArray[Any], stata: bool) -> NDArray[Any]:  # noqa: FBT001
    """Return the numbers of a variable; in Stata, what was not picked is missing."""
    values: NDArray[Any] = np.array(variable.values, np.int32)
    if stata and NOT_PICKED in variable.values:
        values = np.where(values == NOT_PICKED, np.nan, values)
    return values.take(codes)


def _value_texts(variable: LabelledVariable, stata: bool) -> dict[int | float, str]:  # noqa: FBT001
    kept = {value: text for value, text in variable.value_labels.items() if not stata or value != NOT_PICKED}
    return {value: _cut_bytes(text, 120) for value, text in kept.items()}


def _frame(columns: Mapping[str, NDArray[Any]]) -> Any:
    """Return a frame of the library that is installed: the writer takes those of pandas and Polars."""
    import narwhals.stable.v2 as nw

    try:
        import polars  # noqa: F401
    except ImportError:
        check_installed("an SPSS or Stata file", "publish", "pandas")
        return nw.from_dict(dict(columns), backend="pandas").to_native()
    return nw.from_dict(dict(columns), backend="polars").to_native()


def _cut_characters(text: str, most: int) -> str:
    return _cut(text, most, len)


def _cut_bytes(text: str, most: int) -> str:
    return _cut(text, most, lambda part: len(part.encode()))


def _cut(text: str, most: int, length: Callable[[str], int]) -> str:
    """Return a harmless text on one line, cut to a length.

    >>> _cut("two  words", 7, len)
    'two wo…'
    """
    whole = harmless(" ".join(text.split()))
    if length(whole) <= most:
        return whole
    part = whole[:most]
    while length(f"{part}…") > most:
        part = part[:-1]
    return f"{part}…"
