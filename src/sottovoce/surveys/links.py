"""Links to a survey: the hash and the invitation stand behind the #, where browsers keep them to themselves."""

import re
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_urlsafe
from urllib.parse import urlsplit

from sottovoce.errors import SottovoceError

TOKEN_BYTES = 16
TOKEN = re.compile(r"[A-Za-z0-9_-]{22}")
HASH = re.compile(r"[0-9a-f]{64}")
ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class Link:
    """Where a survey is, the hash it must have, and the invitation, if it needs one."""

    server: str
    hash: str
    token: str | None = None

    @property
    def address(self) -> str:
        """Address of the survey, without its secrets."""
        return f"{self.server}/s/{self.hash[:16]}"

    def __str__(self) -> str:
        """The link as it is handed out."""
        return f"{self.address}#{self.hash}" + (f".{self.token}" if self.token else "")


def read_link(text: str) -> Link:
    """Take a link apart; refuse one whose id does not begin its hash.

    >>> read_link("http://localhost:8000/s/" + "a" * 16 + "#" + "a" * 64).token is None
    True
    """
    parts = urlsplit(text)
    server = f"{parts.scheme}://{parts.netloc}"
    found, dot, token = parts.fragment.partition(".")
    well_formed = parts.scheme in ("http", "https") and parts.netloc and HASH.fullmatch(found)
    if not well_formed or parts.path != f"/s/{found[:16]}" or (dot and not TOKEN.fullmatch(token)):
        raise SottovoceError("link", "must look like https://HOST/s/ID#HASH or https://HOST/s/ID#HASH.TOKEN", text)
    return Link(server, found, token or None)


def server_address(text: str) -> str:
    """Address of a server as links begin: scheme and host, without a slash at the end.

    >>> server_address("https://example.org/")
    'https://example.org'
    """
    parts = urlsplit(text)
    server = f"{parts.scheme}://{parts.netloc}"
    if parts.scheme not in ("http", "https") or not parts.netloc or text.rstrip("/") != server:
        raise SottovoceError("url", "must look like https://HOST", text)
    return server


def new_token() -> str:
    """An invitation nobody can guess: 16 random bytes."""
    return token_urlsafe(TOKEN_BYTES)


def token_hash(survey_hash: str, token: str) -> bytes:
    """What is stored of an invitation. It has 128 random bits: no dictionary helps against a plain hash."""
    return sha256(f"invitation {survey_hash} {token}".encode("ascii")).digest()


def key_hash(survey_hash: str, key: bytes) -> bytes:
    """Name of a stored report: random as the key is, so that the order of storage is not that of arrival."""
    return sha256(b"report " + bytes.fromhex(survey_hash) + key).digest()[:16]
