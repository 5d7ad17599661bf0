"""State that requests share: the database and its writer, published surveys, the rate limit, and the date."""

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
from sottovoce.surveys.page.files import MEDIA_TYPES, PageFile, page_modules, templates
from sottovoce.surveys.report import ReportFormat, receipt_of

WINDOW_SECONDS = 10.0
MOST_ADDRESSES = 100_000
BODY_OVERHEAD = 512
"""Most bytes of a body besides the report itself."""

KEY = re.compile(r"[0-9a-f]{32}")
HEXADECIMAL = re.compile(r"([0-9a-f]{2})*")
_DECODER = msgspec.json.Decoder(Submission)


class Refusal(Enum):
    """Reasons to refuse a request: status, text, and seconds after which the same bytes may be sent again, if ever."""

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
        """Give names to the parts of the value."""
        self.status = status
        self.reason = reason
        self.retry_after = retry_after


class RefusedError(Exception):
    """Raised to answer a request with a refusal."""

    def __init__(self, refusal: Refusal) -> None:
        """Keep the refusal for the error handler."""
        self.refusal = refusal
        super().__init__(refusal.name)


class RateLimit:
    """Limit on the requests from one address within a time window, after which all addresses are forgotten.

    >>> limit = RateLimit(2, clock=lambda: 0.0)
    >>> [limit.allows("here"), limit.allows("here"), limit.allows("here"), limit.allows("there")]
    [True, True, False, True]
    """

    def __init__(self, most: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        """Allow `most` requests in a window; None allows any number."""
        self._most = most
        self._clock = clock
        self._ends = 0.0
        self._seen: Counter[str] = Counter()

    def allows(self, address: str) -> bool:
        """Count a request, and return whether it is within the limit."""
        if self._most is None:
            return True
        if self._clock() >= self._ends or len(self._seen) >= MOST_ADDRESSES:
            self._seen.clear()
            self._ends = self._clock() + WINDOW_SECONDS
        sender = _sender(address)
        self._seen[sender] += 1
        return self._seen[sender] <= self._most


def _sender(address: str) -> str:
    """Return an IPv4 address, or the network of an IPv6 address, because one household has 2^64 of those.

    >>> _sender("2001:db8::1") == _sender("2001:db8::2:3"), _sender("192.0.2.1")
    (True, '192.0.2.1')
    """
    if ":" not in address:
        return address
    try:
        parsed = IPv6Address(address)
    except ValueError:
        return address  # a proxy may send anything
    return str(parsed.ipv4_mapped or parsed.packed[:8].hex())


class PublishedSurvey:
    """A frozen survey with its pages, each made at the first request."""

    def __init__(self, survey: Survey) -> None:
        """Prepare the format of the survey's reports."""
        self.survey = survey
        self._format = ReportFormat(survey.plan)
        self.most_body_bytes = 2 * self._format.length + BODY_OVERHEAD

    @cached_property
    def page(self) -> PageFile:
        """Page for respondents."""
        return self._render("survey.html", survey_id=self.survey.id, modules=page_modules(self.survey))

    @cached_property
    def document(self) -> PageFile:
        """Canonical bytes of the survey, of which its hash is computed."""
        return PageFile(self.survey.document, MEDIA_TYPES[".json"])

    @cached_property
    def audit(self) -> dict[str, Any]:
        """What the survey promises, as JSON."""
        return audit_document(self.survey)

    @cached_property
    def audit_page(self) -> PageFile:
        """What the survey promises, as a page."""
        return self._render("audit.html", audit=self.audit)

    def read_submission(self, body: bytes) -> tuple[Submission, Entry]:
        """Parse a body; refuse what is malformed, of another survey, without invitation or no report of the plan."""
        try:
            submission = _DECODER.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise RefusedError(Refusal.malformed) from None
        if not KEY.fullmatch(submission.key) or not HEXADECIMAL.fullmatch(submission.report):
            raise RefusedError(Refusal.malformed)
        if submission.survey != self.survey.hash:
            raise RefusedError(Refusal.other_survey)
        report = bytes.fromhex(submission.report)
        if not self._format.fits(report):
            raise RefusedError(Refusal.unfit)
        key = key_hash(self.survey.hash, bytes.fromhex(submission.key))
        return submission, Entry(self.survey.id, key, report, self._token_hash(submission.token))

    def receipt(self, submission: Submission) -> dict[str, str]:
        """Return the response to a report that is stored."""
        return {"receipt": receipt_of(submission.survey, submission.report, submission.key)}

    def _token_hash(self, token: str | None) -> bytes | None:
        """Return the hash of the invitation. An open survey refuses invitations, so that none can be recorded."""
        if self.survey.invitation == "open":
            if token is not None:
                raise RefusedError(Refusal.malformed)
            return None
        if token is None or not TOKEN.fullmatch(token):
            raise RefusedError(Refusal.invitation)
        return token_hash(self.survey.hash, token)

    def _render(self, name: str, **context: Any) -> PageFile:
        common = {"language": self.survey.languages[0], "title": self.survey.default_title}
        return PageFile(templates().get_template(name).render(**common, **context).encode(), MEDIA_TYPES[".html"])


def today() -> date:
    """Return the date in UTC, the only time that the server looks at."""
    return datetime.now(UTC).date()


class AppState:
    """The database, its writer, the rate limit, the date, and the surveys read so far."""

    def __init__(self, store: Store, writer: Writer, limit: RateLimit, day: Callable[[], date]) -> None:
        """Start without any survey in memory."""
        self.store, self.writer, self.limit, self.day = store, writer, limit, day
        self._published: dict[str, PublishedSurvey] = {}
        self._reading = asyncio.Lock()

    async def published(self, request: Request) -> PublishedSurvey:
        """Return the survey that a request's address names. Frozen surveys never change, so each is read once."""
        name = request.path_params["survey"]
        if name not in self._published:
            async with self._reading:  # simultaneous first requests wait for one of them to read the survey
                await self._read(name)
        return self._published[name]

    async def _read(self, name: str) -> None:
        if name in self._published:
            return
        survey = await run_in_threadpool(self.store.survey, name)
        if survey is None:
            raise RefusedError(Refusal.unknown_survey)
        self._published[name] = PublishedSurvey(survey)
