"""State that requests share: the store and its writer, published surveys, rate limits, the day."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime
from enum import Enum
from functools import cached_property
from ipaddress import IPv6Address
from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from sottovoce.surveys.client.client import Submission
from sottovoce.surveys.collect.audit import audit_document
from sottovoce.surveys.collect.store import Entry, Store
from sottovoce.surveys.collect.writer import Writer
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.links import TOKEN, key_hash, token_hash
from sottovoce.surveys.page.script import KINDS, PageFile, page_script, templates
from sottovoce.surveys.report import ReportFormat, receipt_of

WINDOW_SECONDS = 10.0
MOST_ADDRESSES = 100_000
BODY_MARGIN = 512
"""Bytes of a body beside the report itself."""

KEY = re.compile(r"[0-9a-f]{32}")
HEXADECIMAL = re.compile(r"([0-9a-f]{2})*")
_DECODER = msgspec.json.Decoder(Submission)


class Refusal(Enum):
    """Status, reason, and after how many seconds the same bytes may be sent again (None: never)."""

    malformed = (400, "The body must be JSON with survey, report, key and token, as the survey's page sends it.", None)
    invitation = (403, "This invitation is missing, was used already, or is not one of this survey's.", None)
    cross_site = (403, "Reports are taken from the survey's own page only.", None)
    unknown_survey = (404, "There is no such survey here.", None)
    not_found = (404, "There is nothing at this address.", None)
    method = (405, "This address does not take requests of this kind.", None)
    too_slow = (408, "The body took too long to arrive.", 1)
    other_survey = (409, "The report belongs to another survey, or to another version of this one.", None)
    other_report = (409, "This key has come with another report before. A report cannot be changed.", None)
    closed = (410, "The survey has ended.", None)
    too_large = (413, "The body is longer than any report of this survey.", None)
    content_type = (415, "The body must be sent as application/json.", None)
    unfit = (422, "The report does not fit the survey's plan.", None)
    slow_down = (429, "Too many reports from one address. Send the same bytes again later.", 10)
    failed = (500, "Something went wrong here. Send the same bytes again later.", 10)
    busy = (503, "The report could not be stored. Send the same bytes again later.", 2)

    def __init__(self, status: int, reason: str, retry_after: int | None) -> None:
        """Name the parts of the value."""
        self.status = status
        self.reason = reason
        self.retry_after = retry_after


class RefusedError(Exception):
    """A request that is answered with a refusal."""

    def __init__(self, refusal: Refusal) -> None:
        """Carry the refusal to where it is answered."""
        self.refusal = refusal
        super().__init__(refusal.name)


class RateLimit:
    """So many requests from an address in a window; at its end all addresses are forgotten.

    >>> limit = RateLimit(2, clock=lambda: 0.0)
    >>> [limit.allows("here"), limit.allows("here"), limit.allows("here"), limit.allows("there")]
    [True, True, False, True]
    """

    def __init__(self, most: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        """Allow `most` in a window; None allows any number."""
        self._most = most
        self._clock = clock
        self._ends = 0.0
        self._seen: Counter[str] = Counter()

    def allows(self, address: str) -> bool:
        """Count a request, and say whether it is within the limit."""
        if self._most is None:
            return True
        if self._clock() >= self._ends or len(self._seen) >= MOST_ADDRESSES:
            self._seen.clear()
            self._ends = self._clock() + WINDOW_SECONDS
        sender = _sender(address)
        self._seen[sender] += 1
        return self._seen[sender] <= self._most


def _sender(address: str) -> str:
    """Who is counted: an address, or the network of an IPv6 address, for a household has 2^64 of those.

    >>> _sender("2001:db8::1") == _sender("2001:db8::2:3"), _sender("192.0.2.1")
    (True, '192.0.2.1')
    """
    if ":" not in address:
        return address
    try:
        found = IPv6Address(address)
    except ValueError:
        return address  # whatever a proxy may say
    return str(found.ipv4_mapped or found.packed[:8].hex())


class Published:
    """One survey, ready to be served."""

    def __init__(self, survey: Survey) -> None:
        """Lay out its reports."""
        self.survey = survey
        self._form = ReportFormat(survey.plan)
        self.longest_body = 2 * self._form.length + BODY_MARGIN

    @cached_property
    def page(self) -> PageFile:
        """The respondent's page."""
        return self._rendered("survey.html", survey_id=self.survey.id)

    @cached_property
    def script(self) -> PageFile:
        """The script of the page."""
        return page_script(self.survey)

    @cached_property
    def document(self) -> PageFile:
        """The very bytes that the hash is of."""
        return PageFile(self.survey.document, KINDS[".json"])

    @cached_property
    def audit(self) -> dict[str, Any]:
        """What is promised."""
        return audit_document(self.survey)

    @cached_property
    def audit_page(self) -> PageFile:
        """The same for people."""
        return self._rendered("audit.html", audit=self.audit)

    def entry(self, body: bytes) -> tuple[Submission, Entry]:
        """Read a submission; refuse what is malformed, foreign, uninvited or no report of the plan."""
        try:
            given = _DECODER.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise RefusedError(Refusal.malformed) from None
        if not KEY.fullmatch(given.key) or not HEXADECIMAL.fullmatch(given.report):
            raise RefusedError(Refusal.malformed)
        if given.survey != self.survey.hash:
            raise RefusedError(Refusal.other_survey)
        report = bytes.fromhex(given.report)
        if not self._form.fits(report):
            raise RefusedError(Refusal.unfit)
        key = key_hash(self.survey.hash, bytes.fromhex(given.key))
        return given, Entry(self.survey.id, key, report, self._token(given.token))

    def receipt(self, submission: Submission) -> dict[str, str]:
        """Answer to a report that is stored."""
        return {"receipt": receipt_of(submission.survey, submission.report, submission.key)}

    def _token(self, token: str | None) -> bytes | None:
        """Hash of the invitation; an open survey must get none, so that none can be recorded."""
        if self.survey.invitation == "open":
            if token is not None:
                raise RefusedError(Refusal.malformed)
            return None
        if token is None or not TOKEN.fullmatch(token):
            raise RefusedError(Refusal.invitation)
        return token_hash(self.survey.hash, token)

    def _rendered(self, name: str, **context: Any) -> PageFile:
        common = {"language": self.survey.languages[0], "title": self.survey.default_title}
        return PageFile(templates().get_template(name).render(**common, **context).encode(), KINDS[".html"])


def today() -> date:
    """Day in UTC: the only time the server looks at."""
    return datetime.now(UTC).date()


class Desk:
    """What the requests share: the store, its writer, the surveys read so far, and the limit on reports."""

    def __init__(self, store: Store, writer: Writer, limit: RateLimit, day: Callable[[], date]) -> None:
        """Start with no survey read."""
        self.store, self.writer, self.limit, self.day = store, writer, limit, day
        self._published: dict[str, Published] = {}
        self._reading = asyncio.Lock()

    async def published(self, request: Request) -> Published:
        """Survey that an address names; frozen surveys never change, so it is read once."""
        name = request.path_params["survey"]
        if name not in self._published:
            async with self._reading:  # a crowd that comes at once waits for the first of it
                await self._read(name)
        return self._published[name]

    async def _read(self, name: str) -> None:
        if name in self._published:
            return
        survey = await run_in_threadpool(self.store.survey, name)
        if survey is None:
            raise RefusedError(Refusal.unknown_survey)
        self._published[name] = Published(survey)
