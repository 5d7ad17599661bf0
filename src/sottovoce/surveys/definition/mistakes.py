"""All mistakes of a definition at once, each with its field and its line, for those who edit it in a form."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.surveys.definition.budget import read_odds
from sottovoce.surveys.definition.definition import (
    PRESENTATION,
    ReadFile,
    read_day,
    read_presentation,
    read_send_interval,
    survey_from_text,
)
from sottovoce.surveys.definition.question_reader import read_entry
from sottovoce.surveys.definition.questions import Question
from sottovoce.surveys.definition.survey import INVITATIONS, Survey
from sottovoce.surveys.definition.texts import read_languages, read_texts
from sottovoce.surveys.definition.yaml_reader import YamlValue, read_yaml

LINE = re.compile(r" \(line (\d+)(?:, column \d+)?\)")
DEFAULT_LANGUAGES = ("en",)


@dataclass(frozen=True)
class Mistake:
    """What is wrong with a definition: the field, such as `questions[2].text`, its line if known, and a sentence."""

    field: str
    line: int | None
    text: str

    @classmethod
    def of(cls, error: SottovoceError) -> "Mistake":
        """Return the mistake that an error of the reader describes; the sentence does not repeat the line."""
        found = LINE.search(error.rule)
        return cls(error.parameter.partition(":")[0], int(found[1]) if found else None, LINE.sub("", str(error)))

    def to_json(self) -> dict[str, Any]:
        """Return all fields as JSON."""
        return {"field": self.field, "line": self.line, "text": self.text}


def examine(text: str, read_file: ReadFile, today: date) -> tuple[Survey | None, list[Mistake]]:
    """Return the survey of a definition, or None, and all its mistakes that can be told apart.

    A last day that has passed is a mistake, but there is a survey nevertheless.

    >>> for mistake in examine("{title: T, asker: '', purpose: P, until: soon, odds: 3}", open, date(2030, 1, 1))[1]:
    ...     print(mistake.field, mistake.line, mistake.text)
    survey 1 survey must have questions. Got ['title', 'asker', 'purpose', 'until', 'odds'] instead.
    asker 1 asker must be a text that is not empty. Got '' instead.
    until 1 until must be a day such as 2030-12-31. Got 'soon' instead.
    """
    try:
        survey = survey_from_text(text, read_file=read_file)
    except SottovoceError as first:
        return None, list(dict.fromkeys([Mistake.of(first), *_others(text, read_file)]))
    if survey.until < today:
        rule = f"must be today ({today}, in UTC) or later"
        line = read_yaml(text).mapping()["until"].line
        return survey, [Mistake.of(SottovoceError("until", f"{rule} (line {line})", str(survey.until)))]
    return survey, []


def _others(text: str, read_file: ReadFile) -> Iterator[Mistake]:
    """Yield the mistakes of all parts that can be read on their own."""
    try:
        fields = read_yaml(text).mapping()
    except SottovoceError:
        return  # the whole text cannot be read, as the first mistake says
    try:
        languages = read_languages(fields.get("languages"))
    except SottovoceError:
        languages = DEFAULT_LANGUAGES
    for name, given in fields.items():
        if name == "questions" and isinstance(given.value, list):
            yield from _in_questions(given.value, languages)
        else:
            yield from _in_field(name, given, languages, read_file)


def _in_field(name: str, given: YamlValue, languages: tuple[str, ...], read_file: ReadFile) -> Iterator[Mistake]:
    readers: dict[str, Callable[[YamlValue], Any]] = {
        **dict.fromkeys(("title", "asker", "purpose"), lambda given: read_texts(given, languages)),
        "languages": read_languages,
        "contact": YamlValue.text,
        "until": read_day,
        "invitation": lambda given: given.choice(INVITATIONS),
        "minimum": lambda given: given.whole(1, 10**9),
        "send_interval": read_send_interval,
        "odds": lambda given: read_odds({"odds": given}),
        **dict.fromkeys(PRESENTATION, lambda given: read_presentation({name: given}, languages, read_file)),
    }
    try:
        if name in readers:
            readers[name](given)
    except SottovoceError as error:
        yield Mistake.of(error)


def _in_questions(entries: list[YamlValue], languages: tuple[str, ...]) -> Iterator[Mistake]:
    """Yield the first mistake of each question; conditions may be about all questions before it that can be read."""
    earlier: list[Question] = []
    for entry in entries:
        try:
            earlier += read_entry(entry, languages, earlier)
        except SottovoceError as error:
            yield Mistake.of(error)
