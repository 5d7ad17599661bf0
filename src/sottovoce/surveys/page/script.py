"""The respondent's page: its files, and its script made of readable modules."""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sottovoce.mechanisms.mechanism import Mechanism
from sottovoce.mechanisms.sampling import Sampling
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.page.joined import joined

FOLDER = Path(__file__).parent
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
FIRST = "main.js"
"""The module that needs the others."""


@dataclass(frozen=True)
class PageFile:
    """Bytes of a file, its media type and its hash."""

    content: bytes
    kind: str

    @cached_property
    def hash(self) -> str:
        """SHA-256, for the audit page: the file a browser got can be held against a release."""
        return sha256(self.content).hexdigest()

    @cached_property
    def packed(self) -> bytes:
        """The file compressed once, for connections that are slow; the same bytes at every start."""
        return gzip.compress(self.content, mtime=0)


@cache
def page_files() -> dict[str, PageFile]:
    """Scripts and styles by their path below the page's folder."""
    found = sorted(path for path in FOLDER.rglob("*") if path.suffix in (".js", ".css", ".svg"))
    return {path.relative_to(FOLDER).as_posix(): PageFile(path.read_bytes(), KINDS[path.suffix]) for path in found}


@cache
def templates() -> Environment:
    """Templates, with everything escaped and nothing left undefined."""
    loader = FileSystemLoader([FOLDER, FOLDER / "templates"])
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


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
