"""Files of the respondent's page, and which modules the page of a survey loads.

Modules are served as they are written. Their addresses contain a hash of all files, so that browsers can keep them for
good; the page itself states the hash of each module, and browsers run no module with another one.
"""

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from posixpath import dirname, join, normpath

import brotli
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sottovoce.mechanisms.mechanism import Mechanism
from sottovoce.mechanisms.sampling import Sampling
from sottovoce.surveys.definition.survey import Survey

FOLDER = Path(__file__).parent
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
FIRST = "main.js"
"""The module that starts the page."""

SIGNATURES = "blind_rsa.js"
"""The module that checks the key of surveys with invitations."""

ADMISSION = "admission.js"
"""The module that these surveys need when somebody begins."""

PRESENTATION = "presentation.js"
"""The module of surveys whose author shows something beside the questions."""

LATER = "walk.js"
"""The module that the page needs when somebody begins, or comes back."""

LAST = "demo.js"
"""The module that the page needs last: it tries the coins below everything else."""

_IMPORTED = re.compile(r'\bfrom\s+"(\.[^"]+)"')


@dataclass(frozen=True)
class PageFile:
    """Bytes of a file, its media type and its hash."""

    content: bytes
    media_type: str

    @cached_property
    def hash(self) -> str:
        """SHA-256 in hexadecimal digits, as `sha256sum` prints it."""
        return sha256(self.content).hexdigest()

    @cached_property
    def integrity(self) -> str:
        """SHA-256 as browsers read it in a page."""
        return f"sha256-{b64encode(bytes.fromhex(self.hash)).decode()}"

    @cached_property
    def packed(self) -> dict[str, bytes]:
        """The file compressed once, by encoding, the smallest first; the same bytes at every start."""
        return {"br": brotli.compress(self.content), "gzip": gzip.compress(self.content, mtime=0)}


@cache
def page_files() -> dict[str, PageFile]:
    """Scripts, styles and pictures by their path below the page's folder."""
    paths = sorted(path for path in FOLDER.rglob("*") if path.suffix in (".js", ".css", ".svg"))
    return {
        path.relative_to(FOLDER).as_posix(): PageFile(path.read_bytes(), MEDIA_TYPES[path.suffix]) for path in paths
    }


@cache
def release() -> str:
    """Hash of the names and hashes of all files, which is part of their addresses."""
    listed = "".join(f"{file.hash}  {name}\n" for name, file in page_files().items())
    return sha256(listed.encode()).hexdigest()[:16]


def address(name: str) -> str:
    """Path of a file on the server."""
    return f"/assets/{release()}/{name}"


@cache
def import_map() -> PageFile:
    """Hash of every module, as the page states them: so also modules that others import are checked."""
    modules = {address(name): file.integrity for name, file in page_files().items() if name.endswith(".js")}
    return PageFile(json.dumps({"integrity": modules}, separators=(",", ":")).encode(), MEDIA_TYPES[".json"])


def content_security_policy(ancestors: str) -> str:
    """What browsers may load for the page, and which pages may frame it."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' '{import_map().integrity}'",  # nothing inline but the hashes of the modules
            "style-src 'self'",
            "img-src 'self' blob:",  # a logo is shown from the bytes whose hash was checked
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            f"frame-ancestors {ancestors}",
        )
    )


def new_templates(*folders: Path) -> Environment:
    """Return the templates of some folders, with everything escaped and nothing left undefined."""
    loader = FileSystemLoader(folders)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


@cache
def templates() -> Environment:
    """Templates of the respondents' page and of those that go with it."""
    environment = new_templates(FOLDER, FOLDER / "templates")
    environment.globals |= {"address": address, "files": page_files(), "import_map": import_map().content.decode()}
    return environment


def page_modules(survey: Survey) -> list[str]:
    """Modules that the page of a survey loads at once: with its kinds of coins, and the words of its first language.

    They are in the order in which a page needs them. No other modules run in a browser, except `later_modules` and the
    words of the survey's other languages in browsers that prefer those.
    """
    kinds = {kind for group in survey.plan.groups for kind in _kinds(group.mechanism)}
    mechanisms = [f"mechanisms/{kind}.js" for kind in sorted(kinds)]
    signatures = [SIGNATURES] if survey.admission else []
    presentation = [PRESENTATION] if survey.presentation else []
    modules = [FIRST, *mechanisms, words_module(survey.languages[0]), *signatures, *presentation, LAST]
    return list(dict.fromkeys(_with_imports(modules)))


def later_modules(survey: Survey) -> list[str]:
    """Modules that the page of a survey loads when somebody begins: questions, coins and sending."""
    loaded = page_modules(survey)
    modules = [LATER, ADMISSION] if survey.admission else [LATER]
    return [name for name in dict.fromkeys(_with_imports(modules)) if name not in loaded]


def words_module(language: str) -> str:
    """Module with the page's own words in a language, or in English where there are none in it."""
    name = f"texts/{language.partition('-')[0]}.js"
    return name if name in page_files() else "texts/en.js"


def _with_imports(modules: Iterable[str]) -> Iterator[str]:
    """Modules, and those that they import, which may come several times."""
    for name in modules:
        yield name
        imported = _IMPORTED.findall(page_files()[name].content.decode())
        yield from _with_imports(normpath(join(dirname(name), path)) for path in imported)


def _kinds(mechanism: Mechanism) -> Iterator[str]:
    """Kind of a mechanism, and of those that it is made of."""
    yield mechanism.kind
    if isinstance(mechanism, Sampling):
        for _, part in mechanism.parts:
            yield from _kinds(part)
