"""Simulated respondents who do what the page does, and remember what was acknowledged.

Each is admitted and sends one report, the same bytes until the server has acknowledged or refused them. Nothing that
a respondent holds but disguised reports may be found anywhere afterwards, so each has an address and a browser of its
own, made up, which no other bytes resemble.
"""

import asyncio
import json
import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from random import Random
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from sottovoce.surveys.blind_rsa import CREDENTIAL_BYTES, Blinded
from sottovoce.surveys.client.client import (
    RETRIED_STATUSES,
    AdmissionRequest,
    Credential,
    SealedReport,
    seal_report,
)
from sottovoce.surveys.collect.app_state import blinded_hash
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.links import key_hash, token_hash
from sottovoce.surveys.report import receipt_of

REPLY_SECONDS = 30.0
"""Time after which a respondent gives up on a reply, and sends the same bytes again."""

PAUSES = 0.02, 0.2
"""Shortest and longest pause before bytes are sent again, in seconds."""

_DIGITS = re.compile("([0-9a-f]{2})+")
_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")


class Reply(NamedTuple):
    """A reply: its status and its JSON."""

    status: int
    content: Any


class Connection:
    """A connection to a server, kept open, which sends requests as they are given and retries nothing."""

    def __init__(self, address: str, headers: Mapping[str, str] | None = None) -> None:
        """Prepare a connection, which is opened by the first request."""
        self._parts = urlsplit(address)
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, body: bytes) -> Reply:
        """Return the reply to a request with a body; raise `OSError` or `EOFError` if there is none."""
        return await self._ask(f"POST {path}", f"Content-Type: application/json\r\nContent-Length: {len(body)}", body)

    async def get(self, path: str) -> Reply:
        """Return the reply to a request without a body."""
        return await self._ask(f"GET {path}", "Accept: application/json", b"")

    async def _ask(self, line: str, headers: str, body: bytes) -> Reply:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._parts.hostname, self._parts.port)
        reader, writer = self._streams
        head = f"{line} HTTP/1.1\r\nHost: {self._parts.netloc}\r\n{self._headers}{headers}\r\n\r\n"
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(answer)
        content = await reader.readexactly(int(length[1]) if length else 0)
        return Reply(int(answer.split()[1]), json.loads(content))

    async def close(self) -> None:
        """Close the connection, which the server may have closed already."""
        if self._streams is not None:
            self._streams[1].close()
            with suppress(OSError):
                await self._streams[1].wait_closed()


@dataclass(eq=False)
class Respondent:
    """Somebody with a report to send: what is still to do, and what the server has acknowledged."""

    number: int
    survey: Survey
    report: bytes
    token: str | None = None
    credential: bytes = field(default_factory=lambda: os.urandom(CREDENTIAL_BYTES))
    address: IPv6Address = field(default_factory=lambda: IPv6Address(b"\x20\x01\x0d\xb8" + os.urandom(12)))
    browser: str = field(default_factory=lambda: f"Drill/{os.urandom(8).hex()}")
    blinded: Blinded | None = None
    signature: str | None = None
    sealed: SealedReport | None = None
    acknowledged_at: float | None = None
    refused: Reply | None = None
    retries: int = 0

    @property
    def headers(self) -> dict[str, str]:
        """Headers as a proxy in front of the server sends them."""
        return {"X-Forwarded-For": str(self.address), "User-Agent": self.browser}

    @property
    def acknowledged(self) -> bool:
        """Whether the server has returned the receipt."""
        return self.acknowledged_at is not None

    @property
    def admitted(self) -> bool:
        """Whether a report can be sent."""
        return self.token is None or self.signature is not None

    @property
    def settled(self) -> bool:
        """Whether nothing is left to do."""
        return self.acknowledged or self.refused is not None

    @property
    def receipt(self) -> str:
        """Receipt that the server must return."""
        return "" if self.sealed is None else self.sealed.receipt

    @property
    def key(self) -> bytes:
        """Key under which the database must store the report."""
        return key_hash(self.survey.hash, self._sent_key)

    @property
    def invitation_hashes(self) -> list[bytes]:
        """What the database may know of the invitation: its hash, and the hash of the blinded message."""
        if self.token is None:
            return []
        blinded = [] if self.blinded is None else [blinded_hash(self.blinded.message)]
        return [token_hash(self.survey.hash, self.token), *blinded]

    @property
    def _sent_key(self) -> bytes:
        if self.token is not None or self.sealed is None:
            return self.credential
        return bytes.fromhex(msgspec.json.decode(self.sealed.body)["key"])

    def admission(self, message: bytes | None = None) -> bytes:
        """Return the body of the admission, or of one with another blinded message."""
        if message is None:
            if self.blinded is None:
                self.blinded = self.blind()
            message = self.blinded.message
        return msgspec.json.encode(AdmissionRequest(self.token or "", message.hex()))

    def blind(self) -> Blinded:
        """Blind the credential, differently each time."""
        key = self.survey.admission
        if key is None:
            raise TypeError("an open survey admits nobody")
        return key.blind(self.credential)

    def seal(self) -> SealedReport:
        """Return the report as it is sent, which is sealed once."""
        if self.sealed is None:
            self.sealed = seal_report(self.survey.hash, self.report, credential=self.signed())
        return self.sealed

    def seal_other(self, report: bytes) -> bytes:
        """Return the body of another report under the same key, which the server must refuse."""
        return msgspec.json.encode({**msgspec.json.decode(self.seal().body), "report": report.hex()})

    def change_report(self, report: bytes) -> None:
        """Go on with another report: the server took the one that came first."""
        body = self.seal_other(report)
        key = self._sent_key.hex()
        self.report, self.sealed = report, SealedReport(body, receipt_of(self.survey.hash, report.hex(), key))

    def signed(self) -> Credential | None:
        """Return the credential with the survey's signature; None in an open survey."""
        if self.survey.admission is None or self.blinded is None:
            return None
        blind_signature = bytes.fromhex(self.signature or "")
        signature = self.survey.admission.finalize(self.credential, blind_signature, self.blinded.inverse)
        return Credential(self.credential, signature)

    def next_request(self) -> tuple[str, bytes]:
        """Return the path and the body of what is to be sent now."""
        if not self.admitted:
            return f"/s/{self.survey.id}/admission", self.admission()
        return f"/s/{self.survey.id}/reports", self.seal().body

    def take(self, reply: Reply, now: float) -> None:
        """Remember a reply; one that asks to come again changes nothing."""
        if reply.status in RETRIED_STATUSES:
            return
        content = reply.content if isinstance(reply.content, dict) else {}
        if reply.status == 200 and not self.admitted and _DIGITS.fullmatch(str(content.get("signature"))):
            self.signature = content["signature"]
        elif reply.status in (200, 201) and self.receipt and content.get("receipt") == self.receipt:
            self.acknowledged_at = now
        else:
            self.refused = reply

    def secrets(self) -> Iterator[tuple[str, bytes]]:
        """Yield what must be found nowhere, with its name: as bytes, and as the text in which it is sent."""
        yield "address", self.address.packed
        yield "address", str(self.address).encode()
        yield "browser", self.browser.encode()
        if self.token is not None:
            yield "invitation", self.token.encode()
        for name, value in self._secret_bytes():
            yield name, value
            yield name, value.hex().encode()

    def _secret_bytes(self) -> Iterator[tuple[str, bytes]]:
        yield "credential", self._sent_key
        if self.blinded is not None:
            yield "blinded message", self.blinded.message
        if self.signature is not None:
            yield "blind signature", bytes.fromhex(self.signature)
        if self.sealed is not None and self.token is not None:
            yield "signature", bytes.fromhex(msgspec.json.decode(self.sealed.body)["signature"])


class Crowd:
    """Respondents who answer over several connections at a time, while the block runs and until all are settled."""

    def __init__(
        self,
        respondents: Sequence[Respondent],
        addresses: Callable[[], Sequence[str]],
        rng: Random,
        *,
        connections: int = 16,
        patience: float = 60.0,
        reply_seconds: float = REPLY_SECONDS,
        on_reply: Callable[[Respondent, Reply], object] = lambda _respondent, _reply: None,
        admissions_only: bool = False,
    ) -> None:
        """`addresses` are those of the servers now; `patience` is how long the crowd goes on after the block.

        With `admissions_only` everybody is admitted, and nobody sends a report yet.
        """
        self._waiting, self._addresses, self._rng = deque(respondents), addresses, rng
        self._count, self._patience, self._reply_seconds = connections, patience, reply_seconds
        self._on_reply, self._admissions_only = on_reply, admissions_only
        self._deadline = float("inf")
        self._tasks: list[asyncio.Task[None]] = []
        self.done = 0

    async def __aenter__(self) -> "Crowd":
        """Let everybody begin."""
        self._tasks = [asyncio.create_task(self._answer()) for _ in range(self._count)]
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        """Wait until everybody is settled, or patience has ended."""
        self._deadline = time.monotonic() + self._patience
        if kind is not None:
            for task in self._tasks:
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=kind is not None)

    async def reached(self, number: int) -> None:
        """Wait until so many are settled, or all."""
        while self.done < number and not all(task.done() for task in self._tasks):
            await asyncio.sleep(0.002)

    def _enough(self, respondent: Respondent) -> bool:
        return respondent.settled or (self._admissions_only and respondent.admitted)

    async def _answer(self) -> None:
        while self._waiting:
            respondent = self._waiting.popleft()
            while not self._enough(respondent) and time.monotonic() < self._deadline:
                await self._try(respondent)
            self.done += 1

    async def _try(self, respondent: Respondent) -> None:
        """Go on over a new connection until everything is done, or something fails; then pause."""
        connection = Connection(self._rng.choice(list(self._addresses()) or ["http://127.0.0.1:1"]), respondent.headers)
        try:
            async with asyncio.timeout(self._reply_seconds):
                while not self._enough(respondent):
                    reply = await connection.post(*respondent.next_request())
                    respondent.take(reply, time.monotonic())
                    self._on_reply(respondent, reply)
                    if reply.status in RETRIED_STATUSES:
                        break
        except (OSError, EOFError):
            pass
        except ValueError as reason:  # the reply is no JSON, or the signature is not the survey's
            respondent.refused = Reply(200, {"error": str(reason)})
        finally:
            await connection.close()
        if not self._enough(respondent):
            respondent.retries += 1
            await asyncio.sleep(self._rng.uniform(*PAUSES))
