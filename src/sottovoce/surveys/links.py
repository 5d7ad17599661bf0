"""Links to a survey. The hash and the invitation follow the #, a part that browsers do not send to the server."""

import re
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import ip_address
from secrets import token_urlsafe
from urllib.parse import urlsplit

from sottovoce.errors import SottovoceError

TOKEN_BYTES = 16
TOKEN_LENGTH = 22
"""Characters of an invitation: its bytes in base 64."""

TOKEN = re.compile(rf"[A-Za-z0-9_-]{{{TOKEN_LENGTH}}}")
HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Link:
    """Link to a survey: the server, the hash of the survey, and an invitation if the survey needs one."""

    server: str
    hash: str
    token: str | None = None

    @property
    def address(self) -> str:
        """Address of the survey, without hash and invitation."""
        return f"{self.server}/s/{self.hash[:16]}"

    def __str__(self) -> str:
        """Return the link as respondents get it."""
        return f"{self.address}#{self.hash}" + (f".{self.token}" if self.token else "")


def read_link(text: str) -> Link:
    """Parse a link; refuse one whose id is not the beginning of its hash.

    >>> read_link("http://localhost:8000/s/" + "a" * 16 + "#" + "a" * 64).token is None
    True
    """
    parts = urlsplit(text)
    server = f"{parts.scheme}://{parts.netloc}"
    survey_hash, dot, token = parts.fragment.partition(".")
    well_formed = parts.scheme in ("http", "https") and parts.netloc and HASH.fullmatch(survey_hash)
    if not well_formed or parts.path != f"/s/{survey_hash[:16]}" or (dot and not TOKEN.fullmatch(token)):
        raise SottovoceError("link", "must look like https://HOST/s/ID#HASH or https://HOST/s/ID#HASH.TOKEN", text)
    return Link(server, survey_hash, token or None)


def server_address(text: str) -> str:
    """Return a server's address as links begin: scheme and host, without a slash at the end.

    >>> server_address("https://example.org/")
    'https://example.org'
    """
    parts = urlsplit(text)
    server = f"{parts.scheme}://{parts.netloc}"
    if parts.scheme not in ("http", "https") or not parts.netloc or text.rstrip("/") != server:
        raise SottovoceError("url", "must look like https://HOST", text)
    return server


def is_local(host: str) -> bool:
    """Return whether an address is reached from this machine only, and safe for browsers without HTTPS.

    >>> [is_local(host) for host in ("localhost", "127.0.0.5", "::1", "0.0.0.0", "survey.example.org")]
    [True, True, True, False, False]
    """
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def new_token() -> str:
    """Return a new invitation: 16 random bytes, which nobody can guess."""
    return token_urlsafe(TOKEN_BYTES)


def token_hash(survey_hash: str, token: str) -> bytes:
    """Return the hash of an invitation, which is what the server stores.

    A plain hash is enough: no dictionary contains 128 random bits.
    """
    return sha256(f"invitation {survey_hash} {token}".encode("ascii")).digest()


def key_hash(survey_hash: str, key: bytes) -> bytes:
    """Return the database key of a report. It is as random as `key`, so stored reports are not in order of arrival."""
    return sha256(b"report " + bytes.fromhex(survey_hash) + key).digest()[:16]
