"""Files that browsers get, and those of the respondent's page, read once: they stay as long as the server runs."""

import gzip
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

ROOM = Path(__file__).parent
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


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
    folder = ROOM / "page"
    found = sorted(path for path in folder.rglob("*") if path.suffix in (".js", ".css", ".svg"))
    return {path.relative_to(folder).as_posix(): PageFile(path.read_bytes(), KINDS[path.suffix]) for path in found}


@cache
def templates() -> Environment:
    """Templates, with everything escaped and nothing left undefined."""
    loader = FileSystemLoader([ROOM / "page", ROOM / "templates"])
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
