"""Sentences of the pages that the server writes, in every language in which there are some: `page/sentences`.

The respondent's page has words of its own (`page/texts`), because browsers need no more than those.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "page" / "sentences"
RIGHT_TO_LEFT = ("ar",)
FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"
"""Characters between which a text has a direction of its own."""

MOST_PREFERENCES = 50
"""Most languages of a request that are looked at."""

UNITS = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))


class Sentences:
    """The sentences of one language, by their keys."""

    def __init__(self, language: str) -> None:
        """Read the language's file."""
        self.language = language
        self.direction = "rtl" if language in RIGHT_TO_LEFT else "ltr"
        self._texts: dict[str, Any] = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))

    def __call__(self, key: str, **values: object) -> str:
        """Return a sentence with its values.

        >>> sentences_in("de")("together", odds="3 : 1")
        'Alle Antworten zusammen: 3 : 1'
        """
        return str(self._texts[key]).format(**{name: self.isolated(str(value)) for name, value in values.items()})

    def isolated(self, value: str) -> str:
        """Return a value such that a text from right to left does not turn its parts round, as in 2100-12-31."""
        return f"{FIRST_STRONG_ISOLATE}{value}{POP_ISOLATE}" if self.direction == "rtl" else value

    def several(self, key: str) -> list[str]:
        """Return a list of sentences that have no values."""
        return list(self._texts[key])

    def number(self, text: str) -> str:
        """Return a decimal number as the language writes it.

        >>> sentences_in("fr").number("2.7")
        '2,7'
        """
        return text.replace(".", self._texts["decimal"])

    def duration(self, seconds: int) -> str:
        """Return a number of seconds in the largest unit of which it is a multiple.

        >>> sentences_in("en").duration(5400), sentences_in("de").duration(1)
        ('90 minutes', '1 Sekunde')
        """
        unit, size = next((unit, size) for unit, size in UNITS if seconds % size == 0)
        count, forms = seconds // size, self._texts[unit]
        return str(forms.get(_plural(count), forms["other"])).format(n=count)


def _plural(count: int) -> str:
    """Return the grammatical number of a count; languages that do not know it have another form for it.

    >>> [_plural(count) for count in (1, 2, 7, 12, 107)]
    ['one', 'two', 'few', 'other', 'few']
    """
    return {1: "one", 2: "two"}.get(count, "few" if 3 <= count % 100 <= 10 else "other")


@cache
def languages() -> tuple[str, ...]:
    """Return the languages in which there are sentences.

    >>> languages()
    ('ar', 'de', 'en', 'es', 'fr')
    """
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


@cache
def sentences_in(tag: str) -> Sentences:
    """Return the sentences in a language, or in English where there are none in it.

    >>> sentences_in("de-AT").language, sentences_in("pt").language
    ('de', 'en')
    """
    language = tag.partition("-")[0]
    return Sentences(language if language in languages() else "en")


def preferred_language(accepted: str, offered: Sequence[str]) -> str | None:
    """Return the offered language that a request prefers (its header Accept-Language); None if it accepts none.

    >>> preferred_language("pt, de-AT;q=0.8, en;q=0.9", ["de", "en"]), preferred_language("*", ["de"])
    ('en', None)
    """
    wanted = [part.partition(";") for part in accepted.split(",", MOST_PREFERENCES)[:MOST_PREFERENCES]]
    for tag, _, _ in sorted(wanted, key=lambda part: -_quality(part[2])):
        primary = tag.strip().lower().partition("-")[0]
        for language in offered:
            if language.lower().partition("-")[0] == primary:
                return language
    return None


def _quality(text: str) -> float:
    """Return how much a language is wanted, `q=0.8`; 1 where nothing is said, and 0 where it is not understood."""
    name, _, value = text.strip().partition("=")
    if not name:
        return 1.0
    try:
        quality = float(value)
    except ValueError:
        return 0.0
    return quality if 0 <= quality <= 1 else 0.0
