"""A respondent's client in Python: checks the survey as the page does, seals once, resends the same bytes."""

import os
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

import msgspec

from sottovoce.disguises.records import disguise_codes
from sottovoce.errors import SottovoceError, Words
from sottovoce.mechanisms.coins import RandomWords, random_words
from sottovoce.schemas.attribute import Columns
from sottovoce.surveys.definition.survey import Question, Survey, survey_from_bytes
from sottovoce.surveys.links import Link
from sottovoce.surveys.report import ReportFormat, receipt_of

TRIES = 8
LONGEST_PAUSE = 30.0
TRY_AGAIN = (408, 429, 500, 502, 503, 504)
LARGEST = 2**22
"""Bytes of any answer of a server that are read."""


def truth_of(survey: Survey, answers: Mapping[str, Any]) -> dict[str, Any]:
    """One value for every attribute of the plan, in any case: skipped questions are "not asked".

    An answer is the id of one (for several choices: a list of ids), a number where bins are asked for, or None
    for declining. Answers to questions that a branch skips are refused, as are questions left open.
    """
    unknown = [name for name in answers if name not in survey.plan.schema.names]
    if unknown:
        raise SottovoceError("answers", f"must be to questions of the survey; {unknown}", list(answers))
    reached: dict[str, tuple[str, ...]] = {}
    truth: dict[str, Any] = {}
    for question in survey.questions:
        if is_asked(question, reached):
            reached[question.id] = _labels(question, answers)
        elif question.id in answers:
            raise SottovoceError(question.id, "must not be answered where a branch skips it", answers[question.id])
        labels = reached.get(question.id, (str(question.not_asked),))
        truth[question.id] = list(labels) if question.kind == "several" else labels[0]
    return truth


def truth_codes(survey: Survey, answers: Mapping[str, Any]) -> Columns:
    """The same in codes, one row."""
    return survey.plan.schema.encode({name: [value] for name, value in truth_of(survey, answers).items()})


def is_asked(question: Question, reached: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether all conditions hold for the labels of the questions reached so far."""
    return all(set(c.answers) & set(reached.get(c.question, ())) for c in question.when)


def _labels(question: Question, answers: Mapping[str, Any]) -> tuple[str, ...]:
    if question.id not in answers:
        raise SottovoceError(question.id, "must be answered, or declined with None where that is offered", None)
    given = answers[question.id]
    if given is None:
        if question.no_answer is None:
            raise SottovoceError(question.id, "must be answered: declining is not offered", given)
        return (question.no_answer,)
    if question.bins is not None and not isinstance(given, str):
        return (question.answers[_bin(question, float(given))].id,)
    chosen = tuple(given) if question.kind == "several" and not isinstance(given, str) else (given,)
    known = [answer.id for answer in question.answers]
    for label in chosen:
        if label not in known:
            raise SottovoceError(question.id, f"must be one of {', '.join(known)}", label)
    return chosen


def _bin(question: Question, number: float) -> int:
    """Number of the bin, closed on the side that the question says."""
    bins = question.bins
    edges = [float(edge) for edge in bins.edges] if bins else []
    side = bisect_right if bins and bins.closed == "left" else bisect_left
    place = side(edges, number) - 1
    if not 0 <= place < len(question.answers):
        raise SottovoceError(question.id, f"must lie between {edges[0]:g} and {edges[-1]:g}", number)
    return place


class Submission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of a submission: hash of the survey, report and idempotency key in hexadecimal, invitation."""

    survey: str
    report: str
    key: str
    token: str | None


@dataclass(frozen=True)
class Seal:
    """The bytes to send, and the receipt that the server must give for them."""

    body: bytes
    receipt: str


def seal(
    survey: Survey, answers: Mapping[str, Any], token: str | None = None, words: RandomWords | None = None
) -> Seal:
    """Follow the branches, flip the coins, and keep nothing but the report.

    Fresh coins for the same answers could be averaged: seal once, and resend the seal.
    """
    if (token is None) != (survey.invitation == "open"):
        wanted = "must be left out: the survey is open" if token else "must be given: the survey has single invitations"
        raise SottovoceError("token", wanted, token)
    columns = disguise_codes(truth_codes(survey, answers), survey.plan, words or random_words())
    (report,) = ReportFormat(survey.plan).to_bytes(columns)
    return sealed(survey.hash, report, token)


def sealed(survey_hash: str, report: bytes, token: str | None) -> Seal:
    """Seal a report that is disguised already, with a fresh key."""
    submission = Submission(survey_hash, report.hex(), os.urandom(16).hex(), token)
    return Seal(msgspec.json.encode(submission), receipt_of(survey_hash, submission.report, submission.key))


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
