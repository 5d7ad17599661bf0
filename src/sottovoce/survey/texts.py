"""Texts in the languages of a survey: one text if there is one language, else one for each."""

import re

from sottovoce.survey.located import Located
from sottovoce.survey.question import Texts

TAG = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
"""Language tags as browsers know them, such as en, pt-BR or zh-Hant."""

RIGHT_TO_LEFT = ("ar", "fa", "he", "ur", "ps", "sd", "ug", "yi", "ckb", "dv")


def read_languages(given: Located | None) -> tuple[str, ...]:
    """Language tags that differ; English if nothing is said."""
    if given is None:
        return ("en",)
    tags = tuple(entry.text() for entry in given.entries())
    if len(set(tags)) < len(tags) or not all(TAG.fullmatch(tag) for tag in tags):
        given.fail("must be language tags that differ, such as en or pt-BR")
    return tags


def read_texts(given: Located, languages: tuple[str, ...]) -> Texts:
    """A text in every language; a plain text will do where there is one language."""
    if isinstance(given.value, dict):
        found = given.fields(required=languages)
        return {tag: found[tag].text() for tag in languages}
    if len(languages) > 1:
        given.fail(f"must have a text for each language: {', '.join(languages)}")
    return {languages[0]: given.text()}


def formula(text: str, language: str) -> str:
    r"""Signs and numbers, kept in their order where a language is written from right to left: < would look like >.

    >>> formula("< 5", "en"), formula("< 5", "ar") == "\u2066< 5\u2069"
    ('< 5', True)
    """
    return f"\u2066{text}\u2069" if language.partition("-")[0] in RIGHT_TO_LEFT else text
