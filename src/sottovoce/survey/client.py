"""A respondent's client in Python: checks the survey as the page does, seals once, resends the same bytes."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

import msgspec

from sottovoce.errors import SottovoceError, Words
from sottovoce.survey.links import Link
from sottovoce.survey.seal import Seal, seal
from sottovoce.survey.survey import Survey, survey_from_bytes

TRIES = 8
LONGEST_PAUSE = 30.0
TRY_AGAIN = (408, 429, 500, 502, 503, 504)
LARGEST = 2**22
"""Bytes of any answer of a server that are read."""


@dataclass(frozen=True)
class Reply:
    """Status, body, and how long the server asks to wait."""

    status: int
    body: bytes
    retry_after: float | None


class Client:
    """One connection to a server, kept open; several people on one device would use one each."""

    def __init__(self, server: str, *, timeout: float = 30.0, sleep: Callable[[float], None] = time.sleep) -> None:
        """Connect when it is first needed."""
        parts = urlsplit(server)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = kind(parts.netloc, timeout=timeout)
        self._sleep = sleep

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def survey(self, link: Link) -> Survey:
        """Fetch the survey of a link; refuse any other than the one whose hash the link has.

        Reading the plan recomputes all its odds from the integers.
        """
        reply = self.request("GET", f"{urlsplit(link.address).path}/survey.json")
        if reply.status != 200:
            raise SottovoceError("link", "must lead to a survey", Words(_reason(reply)))
        return survey_from_bytes(reply.body, link.hash)

    def answer(self, link: Link, answers: Mapping[str, Any]) -> str:
        """Fetch, check, seal and send: the whole way of one respondent. Returns the receipt."""
        survey = self.survey(link)
        return self.send(link, seal(survey, answers, link.token))

    def send(self, link: Link, sealed: Seal) -> str:
        """Send a sealed report, the same bytes until they are acknowledged or refused; returns the receipt."""
        path = f"{urlsplit(link.address).path}/reports"
        reply = self.request("POST", path, sealed.body)
        if reply.status not in (200, 201):
            raise SottovoceError("report", f"must be accepted; status {reply.status}", Words(_reason(reply)))
        receipt = msgspec.json.decode(reply.body).get("receipt")
        if receipt != sealed.receipt:
            raise SottovoceError("receipt", f"must be {sealed.receipt}, that of what was sent", receipt)
        return sealed.receipt

    def request(self, method: str, path: str, body: bytes | None = None) -> Reply:
        """One answer; a lost connection and a busy server are tried again after growing pauses."""
        pause, reply, lost = 0.1, None, "no answer"
        for _ in range(TRIES):
            try:
                reply = self._once(method, path, body)
            except (OSError, HTTPException) as reason:
                self._connection.close()
                reply, lost = None, f"{type(reason).__name__} {reason}"
            if reply is not None and reply.status not in TRY_AGAIN:
                return reply
            self._sleep(pause if reply is None or reply.retry_after is None else reply.retry_after)
            pause = min(2 * pause, LONGEST_PAUSE)
        if reply is None:
            raise SottovoceError("server", f"must be reachable ({lost})", self._connection.host)
        return reply

    def _once(self, method: str, path: str, body: bytes | None) -> Reply:
        headers = {} if body is None else {"Content-Type": "application/json"}
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        content = response.read(LARGEST)
        wait = response.headers.get("retry-after", "")
        return Reply(response.status, content, min(float(wait), LONGEST_PAUSE) if wait.isdecimal() else None)


def _reason(reply: Reply) -> str:
    """The server's own words, if it has any."""
    try:
        return str(msgspec.json.decode(reply.body)["reason"])
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError):
        return f"status {reply.status}"
