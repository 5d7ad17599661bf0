"""Invitations to hand out: links in a table for mail merge, as QR codes, and lists of links to withdraw.

Links are returned once, to the caller: the database stores their hashes only.
"""

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sottovoce.checks import whole_number
from sottovoce.errors import SottovoceError, Words
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.links import HASH, TOKEN, Link, is_local, read_link
from sottovoce.surveys.qr_codes import qr_codes, svg_file, svg_path, svg_size

if TYPE_CHECKING:
    from sottovoce.surveys.collect.store import Store

MOST_LINKS = 100_000
"""Most invitations that are made at a time."""

BATCH = 1_000
"""Invitations of one commit, or of one call that draws codes: in between, others have their turn."""

LISTED = re.compile(rf"https?://[^\s,;\"'#]+#{HASH.pattern}\.{TOKEN.pattern}(?![A-Za-z0-9_-])")
"""A link with an invitation, wherever it stands in a list."""

WHAT_TO_DO = {
    "ar": "امسح الرمز بكاميرا هاتفك لفتح الاستبيان. يصلح هذا الرمز لمشاركة واحدة.",
    "de": "Öffnen Sie die Umfrage mit der Kamera Ihres Telefons. Dieser Code gilt für eine Teilnahme.",
    "en": "Scan the code with your phone's camera to open the survey. This code is for one participation.",
    "es": "Escanee el código con la cámara de su teléfono para abrir la encuesta. Vale para una participación.",
    "fr": "Scannez le code avec l'appareil photo de votre téléphone pour ouvrir l'enquête. "
    "Ce code vaut pour une participation.",
}
"""Sentence under each code of a printed sheet, by language."""


def what_to_do(survey: Survey) -> str:
    """Return the sentence under a printed code in the survey's first language, or in English."""
    return WHAT_TO_DO.get(survey.languages[0].partition("-")[0], WHAT_TO_DO["en"])


def new_links(store: "Store", survey: Survey, count: int, server: str, *, replacing: bool = False) -> list[str]:
    """Issue invitations, and return their links; `replacing` counts them as replacements of lost ones."""
    left = whole_number("count", count, most=MOST_LINKS)
    tokens: list[str] = []
    while left:
        tokens += store.invite(survey, min(left, BATCH), replacing=replacing)
        left -= min(left, BATCH)
    return [str(Link(server, survey.hash, token)) for token in tokens]


def is_exposed(server: str) -> bool:
    """Return whether a server is reached on another machine without encryption, where browsers cannot answer.

    >>> is_exposed("http://survey.example.org"), is_exposed("https://survey.example.org"), is_exposed("http://[::1]:80")
    (True, False, False)
    """
    parts = urlsplit(server)
    return parts.scheme == "http" and not is_local(parts.hostname or "")


def links_table(links: Sequence[str], files: Sequence[str] | None = None) -> bytes:
    r"""Return links with their numbers as CSV, as mail merge takes them; also with the names of their codes' files.

    >>> links_table(["https://example.org/s/1"])
    b'number,link\r\n1,https://example.org/s/1\r\n'
    """
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(("number", "link") if files is None else ("number", "link", "file"))
    for number, link in enumerate(links, 1):
        writer.writerow((number, link) if files is None else (number, link, files[number - 1]))
    return stream.getvalue().encode()


def draw_codes(links: Sequence[str]) -> list[bytes]:
    """Return the QR codes of links to one survey as SVG files."""
    return [svg_file(code) for code in qr_codes(links)]


def draw_paths(links: Sequence[str]) -> tuple[int, list[str]]:
    """Return the width of the QR codes of links to one survey, in modules, and their paths."""
    codes = qr_codes(links)
    return svg_size(codes[0]), [svg_path(code) for code in codes]


Draw = Callable[[Sequence[str]], list[bytes]]


def codes_archive(links: Sequence[str], draw: Draw = draw_codes) -> Iterator[bytes]:
    """Return a zip archive in parts: a QR code for each link, named by its number, and the table of all links.

    `draw` makes the codes of a batch, for example in another process.
    """
    digits = len(str(len(links)))
    names = [f"{number:0{digits}}.svg" for number in range(1, len(links) + 1)]

    def files() -> Iterator[tuple[str, bytes]]:
        yield "links.csv", links_table(links, names)
        for start in range(0, len(links), BATCH):
            yield from zip(names[start : start + BATCH], draw(links[start : start + BATCH]), strict=True)

    return archive(files())


def archive(files: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """Return a zip archive of named files in parts, each as soon as it is known."""
    parts = _Parts()
    with zipfile.ZipFile(parts, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for name, content in files:
            entry = zipfile.ZipInfo(name)  # with a date that tells nothing
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
            packed.writestr(entry, content)
            if len(parts.waiting) > PART_BYTES:
                yield parts.take()
    yield parts.take()


PART_BYTES = 2**16
"""Bytes of an archive that are sent together."""


class _Parts(io.RawIOBase):
    """A file that cannot go back, whose bytes are taken away while it is written."""

    def __init__(self) -> None:
        self.waiting = bytearray()

    def write(self, content: Any) -> int:
        self.waiting += content
        return len(content)

    def take(self) -> bytes:
        part, self.waiting = bytes(self.waiting), bytearray()
        return part


@dataclass(frozen=True)
class Withdrawn:
    """How many invitations were withdrawn, how many could not be because they were used, and how many are unknown."""

    withdrawn: int
    used: int
    unknown: int


def withdraw_links(store: "Store", survey: Survey, text: str) -> Withdrawn:
    """Withdraw the unused invitations whose links are in a list: one a line, or a table such as `links_table`."""
    links = [read_link(found) for found in dict.fromkeys(LISTED.findall(text))]
    tokens = list(dict.fromkeys(str(link.token) for link in links if link.hash == survey.hash))
    if not tokens or len(tokens) < len(links):
        rule = f"must be a list of links with invitations to survey {survey.id}, and to no other"
        raise SottovoceError("links", rule, Words(f"{len(tokens)} of {len(links)} links to it"))
    withdrawn = used = 0
    for start in range(0, len(tokens), BATCH):
        gone, left = store.revoke(survey, tokens[start : start + BATCH])
        withdrawn, used = withdrawn + gone, used + left
    return Withdrawn(withdrawn, used, len(tokens) - withdrawn - used)
