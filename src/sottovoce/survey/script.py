"""The script of a survey's page: one file, with what this survey needs."""

from collections.abc import Iterator
from functools import cache

from sottovoce.mechanism.mechanism import Mechanism
from sottovoce.mechanism.sampling import Sampling
from sottovoce.survey.files import KINDS, PageFile, page_files
from sottovoce.survey.joined import joined
from sottovoce.survey.survey import Survey

FIRST = "main.js"
"""The module that needs the others."""


def page_script(survey: Survey) -> PageFile:
    """The page's modules joined, with the survey's kinds of coins and the words of its first language."""
    kinds = {kind for group in survey.plan.groups for kind in _kinds(group.mechanism)}
    return _script(frozenset(kinds | {_spoken(survey.languages[0])}))


@cache
def _script(entries: frozenset[str]) -> PageFile:
    """The same for all surveys that need the same."""
    modules = {name: file.content.decode() for name, file in page_files().items() if name.endswith(".js")}
    return PageFile(joined(modules, FIRST, entries).encode(), KINDS[".js"])


def _kinds(mechanism: Mechanism) -> Iterator[str]:
    """Kind of a mechanism, and of those that it is made of."""
    yield mechanism.kind
    if isinstance(mechanism, Sampling):
        for _, part in mechanism.parts:
            yield from _kinds(part)


def _spoken(tag: str) -> str:
    """Language of the page's own words: the survey's, or English where it has none in it."""
    primary = tag.partition("-")[0]
    return primary if f"texts/{primary}.js" in page_files() else "en"
