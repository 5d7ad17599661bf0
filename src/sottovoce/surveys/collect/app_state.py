"""State that requests share: the database and its writer, published surveys, the rate limit, and the date."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from functools import cached_property
from hashlib import sha256
from ipaddress import IPv6Address
from typing import Any, TypeVar

import msgspec
from anyio import to_thread
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from sottovoce.errors import SottovoceError
from sottovoce.surveys.blind_rsa import CREDENTIAL_BYTES, SecretKey
from sottovoce.surveys.client.client import AdmissionRequest, CheckRequest, SignedSubmission, Submission
from sottovoce.surveys.collect.audit import audit_document, audit_sentences
from sottovoce.surveys.collect.database import levels_of, reading
from sottovoce.surveys.collect.entries import Entry
from sottovoce.surveys.collect.monitoring import Health, Metrics
from sottovoce.surveys.collect.receipts import FRESH_SECONDS, ReceiptList, ReceiptLists
from sottovoce.surveys.collect.signer import Signer
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.collect.writer import Writer
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.links import TOKEN, key_hash, token_hash
from sottovoce.surveys.page.files import MEDIA_TYPES, PageFile, page_modules, templates
from sottovoce.surveys.report import ReportFormat, receipt_of
from sottovoce.surveys.sentences import languages, preferred_language, sentences_in

WINDOW_SECONDS = 10.0
MOST_ADDRESSES = 100_000
BODY_OVERHEAD = 1024
"""Most bytes of a body besides the report itself."""

ASK_SECONDS = 2.0
"""Time for which a page waits for the database to say whether its survey was deleted."""

SMALL_BODY = 2048
"""Most bytes of the body of a check or an admission."""

ID = re.compile(r"[0-9a-f]{16}")
KEY_BYTES = 16
"""Bytes of the random key of a report without a credential."""

Body = TypeVar("Body")
Found = TypeVar("Found")


class Refusal(Enum):
    """Reasons to refuse a request: status, text, and seconds after which the same bytes may be sent again, if ever."""

    malformed = (400, "The body must be JSON with exactly the fields that the survey's page sends.", None)
    invitation = (403, "This invitation is missing, was used already, or is not one of this survey's.", None)
    unknown_invitation = (403, "This invitation is not one of this survey's, or it was withdrawn.", None)
    signature = (403, "The credential does not bear the signature of this survey.", None)
    cross_site = (403, "Reports are taken from the survey's own page only.", None)
    unknown_survey = (404, "There is no such survey here.", None)
    not_found = (404, "There is nothing at this address.", None)
    method = (405, "This address does not take requests of this kind.", None)
    too_slow = (408, "The body took too long to arrive.", 1)
    other_survey = (409, "The report belongs to another survey, or to another version of this one.", None)
    other_report = (409, "This key has come with another report before. A report cannot be changed.", None)
    spent = (409, "This invitation was used already.", None)
    closed = (410, "The survey has ended.", None)
    no_key = (410, "The survey has lost its secret key and can admit nobody else. Sent reports are safe.", None)
    too_large = (413, "The body is longer than any report of this survey.", None)
    content_type = (415, "The body must be sent as application/json.", None)
    unfit = (422, "The report does not fit the survey's plan.", None)
    blinded = (422, "The blinded message must be a number between 0 and the survey's modulus.", None)
    slow_down = (429, "Too many requests from one address. Send the same bytes again later.", 10)
    failed = (500, "Something went wrong here. Send the same bytes again later.", 10)
    busy = (503, "The report could not be stored. Send the same bytes again later.", 2)

    def __init__(self, status: int, reason: str, retry_after: int | None) -> None:
        """Give names to the parts of the value."""
        self.status = status
        self.reason = reason
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the response: when to try again."""
        return {} if self.retry_after is None else {"retry-after": str(self.retry_after)}


class RefusedError(Exception):
    """Raised to answer a request with a refusal."""

    def __init__(self, refusal: Refusal) -> None:
        """Keep the refusal for the error handler."""
        self.refusal = refusal
        super().__init__(refusal.name)


async def read_body(request: Request, most: int, seconds: float) -> bytes:
    """Return a body of at most so many bytes that arrives in time."""
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                body += part
                if len(body) > most:
                    raise RefusedError(Refusal.too_large)
    except (TimeoutError, ClientDisconnect):  # after a disconnect nobody reads the response, and nothing is logged
        raise RefusedError(Refusal.too_slow) from None
    return bytes(body)


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
        self._audit_pages: dict[str, PageFile] = {}
        self.most_body_bytes = 2 * self._format.length + BODY_OVERHEAD

    @cached_property
    def page(self) -> PageFile:
        """Page for respondents, the same for all; before its script runs, it speaks all languages of the survey."""
        return self.page_at(f"/s/{self.survey.id}")

    def page_at(self, home: str, preview: Mapping[str, str] | None = None) -> PageFile:
        """Return the page for respondents at an address, with the script of a `preview` in front of all others."""
        spoken = list({say.language: say for say in map(sentences_in, self.survey.languages)}.values())
        modules = page_modules(self.survey)
        return self._render("survey.html", home=home, modules=modules, preview=preview, spoken=spoken)

    @cached_property
    def document(self) -> PageFile:
        """Canonical bytes of the survey, of which its hash is computed."""
        return PageFile(self.survey.document, MEDIA_TYPES[".json"])

    @cached_property
    def logo(self) -> PageFile | None:
        """Picture of the people who ask; the page checks its hash."""
        logo = self.survey.logo
        return None if logo is None or logo.content is None else PageFile(logo.content, logo.media_type)

    @cached_property
    def audit(self) -> dict[str, Any]:
        """What the survey promises, as JSON."""
        return audit_document(self.survey)

    def audit_page(self, language: str) -> PageFile:
        """Return what the survey promises, as a page in one of the survey's languages."""
        if language not in self._audit_pages:
            self._audit_pages[language] = self._render(
                "audit.html",
                audit=self.audit,
                say=sentences_in(language),
                told=audit_sentences(self.survey, language),
                languages={tag: _language_name(tag) for tag in self.survey.languages},
                language=language,
                title=self.audit["title"][language],
            )
        return self._audit_pages[language]

    def audit_language(self, wanted: str | None, accepted: str) -> str:
        """Return the language of the audit page: the one asked for, one that the browser accepts, or the first."""
        offered = self.survey.languages
        return wanted if wanted in offered else preferred_language(accepted, offered) or offered[0]

    def read_check(self, body: bytes) -> bytes:
        """Parse the body of a check; return the hash of the invitation."""
        return self._invitation(_decoded(body, CheckRequest).token)

    def read_admission(self, body: bytes) -> tuple[bytes, bytes]:
        """Parse the body of an admission; return the hash of the invitation and the blinded message."""
        request, key = _decoded(body, AdmissionRequest), self.survey.admission
        if key is None:
            raise RefusedError(Refusal.malformed)
        blinded = _from_hexadecimal(request.blinded, key.length)
        if not 0 < int.from_bytes(blinded) < key.modulus:
            raise RefusedError(Refusal.blinded)
        return self._invitation(request.token), blinded

    def read_submission(self, body: bytes) -> tuple[str, Entry]:
        """Parse a report; return its receipt and what is stored.

        Refuse what is malformed, of another survey, not admitted, or no report of the plan.
        """
        if self.survey.admission is None:
            return self._read_unsigned(_decoded(body, Submission))
        return self._read_signed(_decoded(body, SignedSubmission))

    def _read_unsigned(self, submission: Submission) -> tuple[str, Entry]:
        """Read a report to an open survey, or to one that was frozen by 0.1, with its invitation."""
        key = key_hash(self.survey.hash, _from_hexadecimal(submission.key, KEY_BYTES))
        report = self._report(submission.survey, submission.report)
        receipt = receipt_of(submission.survey, submission.report, submission.key)
        return receipt, Entry(self.survey.id, key, report, self._token_hash(submission.token), bytes.fromhex(receipt))

    def _read_signed(self, submission: SignedSubmission) -> tuple[str, Entry]:
        """Read a report with a credential that the survey's key has signed."""
        credential = _from_hexadecimal(submission.credential, CREDENTIAL_BYTES)
        signature = _from_hexadecimal(submission.signature)
        report = self._report(submission.survey, submission.report)
        if self.survey.admission is None or not self.survey.admission.verify(credential, signature):
            raise RefusedError(Refusal.signature)
        receipt = receipt_of(submission.survey, submission.report, submission.credential)
        key = key_hash(self.survey.hash, credential)
        return receipt, Entry(self.survey.id, key, report, receipt=bytes.fromhex(receipt))

    def _report(self, survey_hash: str, digits: str) -> bytes:
        """Return a report of this survey, which must be possible under its plan."""
        report = _from_hexadecimal(digits)
        if survey_hash != self.survey.hash:
            raise RefusedError(Refusal.other_survey)
        if not self._format.fits(report):
            raise RefusedError(Refusal.unfit)
        return report

    def _invitation(self, token: str) -> bytes:
        if self.survey.invitation == "open":
            raise RefusedError(Refusal.malformed)
        if not TOKEN.fullmatch(token):
            raise RefusedError(Refusal.unknown_invitation)
        return token_hash(self.survey.hash, token)

    def _token_hash(self, token: str | None) -> bytes | None:
        """Return the hash of the invitation. An open survey refuses invitations, so that none can be recorded."""
        if self.survey.invitation == "open":
            if token is not None:
                raise RefusedError(Refusal.malformed)
            return None
        if token is None or not TOKEN.fullmatch(token):
            raise RefusedError(Refusal.invitation)
        return token_hash(self.survey.hash, token)

    def admits(self, now: datetime) -> bool:
        """Return whether the survey's last day, in UTC, has not passed."""
        return now.date() <= self.survey.until

    def takes_reports(self, now: datetime) -> bool:
        """Return whether reports are taken: also those that were sealed in time and wait for their moment."""
        return self.admits(now - 2 * timedelta(seconds=self.survey.send_interval))

    def _render(self, name: str, **context: Any) -> PageFile:
        common = {"language": self.survey.languages[0], "title": self.survey.default_title}
        return PageFile(templates().get_template(name).render(common | context).encode(), MEDIA_TYPES[".html"])


def _language_name(tag: str) -> str:
    """Return what a language calls itself; of one without sentences, the tag."""
    return sentences_in(tag)("name") if tag.partition("-")[0] in languages() else tag


def _decoded(body: bytes, kind: type[Body]) -> Body:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise RefusedError(Refusal.malformed) from None


def _from_hexadecimal(digits: str, length: int | None = None) -> bytes:
    """Return the bytes that lower-case hexadecimal digits stand for, of any number or exactly `length`."""
    try:
        value = bytes.fromhex(digits)
    except ValueError:
        raise RefusedError(Refusal.malformed) from None
    if value.hex() != digits or length not in (None, len(value)):  # `fromhex` also takes capitals and spaces
        raise RefusedError(Refusal.malformed)
    return value


def blinded_hash(blinded: bytes) -> bytes:
    """Return the hash of a blinded message, which is what the database stores."""
    return sha256(b"blinded " + blinded).digest()


def utc_now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def today() -> date:
    """Return the date in UTC."""
    return utc_now().date()


class AppState:
    """The database, its writer, the signer, the rate limits, the time, and the surveys read so far."""

    def __init__(
        self, store: Store, writer: Writer, per_window: int | None, now: Callable[[], datetime], dashboard: Any = None
    ) -> None:
        """Start without any survey in memory; every kind of request has a limit of its own for each address."""
        self.store, self.writer, self.now, self.dashboard = store, writer, now, dashboard
        self.signer, self.metrics, self.health = Signer(), Metrics(), Health(self._ask_database)
        self.limits = {kind: RateLimit(per_window) for kind in ("check", "admission", "report", "receipts")}
        self._published: dict[str, PublishedSurvey] = {}
        self._seen_at: dict[str, float] = {}
        self._secrets: dict[str, SecretKey] = {}
        self._reading = asyncio.Lock()
        self._receipts = ReceiptLists()
        self._listing = asyncio.Lock()

    def _ask_database(self) -> None:
        """Read a row that every database has, which needs the file or the server, and not only a connection."""
        with reading(self.store.engine) as connection:
            levels_of(connection)

    async def published(self, request: Request) -> PublishedSurvey:
        """Return the survey that a request's address names.

        Frozen surveys never change, so each is read once. Whether it was deleted is asked again after a moment, by one
        request at a time: nobody waits for a database that does not answer before a survey in memory is shown.
        """
        name = request.path_params["survey"]
        if name in self._published and time.monotonic() - self._seen_at[name] > FRESH_SECONDS:
            self._seen_at[name] = time.monotonic()
            if await self._is_deleted(name):
                self.forget(name)
        if name not in self._published:
            async with self._reading:  # simultaneous first requests wait for one of them to read the survey
                await self._read(name)
        return self._published[name]

    async def _read(self, name: str) -> None:
        if name in self._published:
            return
        # Nothing but ids is asked for: PostgreSQL refuses texts with a zero byte, which is no failure of its own.
        survey = await self.asked(self.store.survey, name) if ID.fullmatch(name) else None
        if survey is None:
            raise RefusedError(Refusal.unknown_survey)
        self._published[name], self._seen_at[name] = PublishedSurvey(survey), time.monotonic()

    async def _is_deleted(self, name: str) -> bool:
        """Whether a survey is no longer there; one in memory is shown while the database fails or does not answer."""
        try:
            async with asyncio.timeout(ASK_SECONDS):
                return not await to_thread.run_sync(self.store.holds, name, abandon_on_cancel=True)
        except (SQLAlchemyError, TimeoutError):
            return False

    def forget(self, name: str) -> None:
        """Drop what is in memory of a survey that was deleted: its pages, and its secret key."""
        self._published.pop(name, None)
        self._secrets.pop(name, None)

    async def secret_key(self, survey: Survey) -> SecretKey:
        """Return the secret key of a survey, which is read and checked once: that takes longer than a signature."""
        async with self._reading:
            if survey.id not in self._secrets:
                try:
                    self._secrets[survey.id] = await self.asked(self.store.secret_key, survey)
                except SottovoceError:
                    raise RefusedError(Refusal.no_key) from None
            return self._secrets[survey.id]

    async def receipts(self, name: str) -> ReceiptList:
        """Return the receipts of a survey, which are read anew if the list is older than a moment."""
        async with self._listing:  # simultaneous requests wait for one of them to read
            if (kept := self._receipts.fresh(name)) is not None:
                return kept
            asked_at = time.monotonic()
            found = await self.asked(self.store.receipts, name)
            if found is None:
                raise RefusedError(Refusal.unknown_survey)
            return self._receipts.keep(name, await run_in_threadpool(ReceiptList, found, asked_at))

    async def asked(self, question: Callable[..., Found], *arguments: Any) -> Found:
        """Return the database's answer to a question, which is asked in another thread."""
        try:
            return await run_in_threadpool(question, *arguments)
        except SQLAlchemyError:
            raise RefusedError(Refusal.busy) from None
