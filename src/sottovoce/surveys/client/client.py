"""A respondent's client in Python, which does what the page does.

It checks the survey, disguises the answers once, and sends the same bytes until the server has acknowledged them.
"""

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
RETRIED_STATUSES = (408, 429, 500, 502, 503, 504)
MOST_BYTES = 2**22
"""Bytes of a response that are read."""


def truth_of(survey: Survey, answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return one value for every attribute of the plan; questions that a branch skips are "not asked".

    An answer is an answer's id (for several choices, a list of ids), a number for a question of kind `number`, or
    None for declining. Answers to skipped questions are refused, and so are missing answers.
    """
    unknown = [name for name in answers if name not in survey.plan.schema.names]
    if unknown:
        raise SottovoceError("answers", f"must be to questions of the survey, unlike {unknown}", list(answers))
    reached: dict[str, tuple[str, ...]] = {}
    truth: dict[str, Any] = {}
    for question in survey.questions:
        if is_asked(question, reached):
            reached[question.id] = _labels(question, answers)
        elif question.id in answers:
            rule = "must not be answered, because its condition does not hold"
            raise SottovoceError(question.id, rule, answers[question.id])
        labels = reached.get(question.id, (str(question.not_asked),))
        truth[question.id] = list(labels) if question.kind == "several" else labels[0]
    return truth


def truth_codes(survey: Survey, answers: Mapping[str, Any]) -> Columns:
    """Return the same as codes: columns of one row."""
    return survey.plan.schema.encode({name: [value] for name, value in truth_of(survey, answers).items()})


def is_asked(question: Question, reached: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether a question's conditions hold for the labels of the questions reached so far."""
    return all(set(c.answers) & set(reached.get(c.question, ())) for c in question.when)


def _labels(question: Question, answers: Mapping[str, Any]) -> tuple[str, ...]:
    if question.id not in answers:
        raise SottovoceError(question.id, "must be answered, or declined with None where that is offered", None)
    answer = answers[question.id]
    if answer is None:
        if question.no_answer is None:
            raise SottovoceError(question.id, "must be answered: declining is not offered", answer)
        return (question.no_answer,)
    if question.bins is not None and not isinstance(answer, str):
        return (question.answers[_bin_index(question, float(answer))].id,)
    chosen = tuple(answer) if question.kind == "several" and not isinstance(answer, str) else (answer,)
    known = [answer.id for answer in question.answers]
    for label in chosen:
        if label not in known:
            raise SottovoceError(question.id, f"must be one of {', '.join(known)}", label)
    return chosen


def _bin_index(question: Question, number: float) -> int:
    """Return the index of a number's bin, closed on the side that the question says."""
    bins = question.bins
    edges = [float(edge) for edge in bins.edges] if bins else []
    side = bisect_right if bins and bins.closed == "left" else bisect_left
    index = side(edges, number) - 1
    if not 0 <= index < len(question.answers):
        raise SottovoceError(question.id, f"must lie between {edges[0]:g} and {edges[-1]:g}", number)
    return index


class Submission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of a request that sends a report: survey hash, report, idempotency key (all hexadecimal), invitation."""

    survey: str
    report: str
    key: str
    token: str | None


@dataclass(frozen=True)
class SealedReport:
    """A disguised report ready to be sent, and the receipt that the server must return for it."""

    body: bytes
    receipt: str


def disguise_answers(
    survey: Survey, answers: Mapping[str, Any], token: str | None = None, words: RandomWords | None = None
) -> SealedReport:
    """Disguise a respondent's answers, and return nothing but the report.

    Call this once for each respondent and send the same report again if sending fails: somebody who sees several
    reports about the same answers can average them.
    """
    if (token is None) != (survey.invitation == "open"):
        rule = "must be left out: the survey is open" if token else "must be given: the survey has single invitations"
        raise SottovoceError("token", rule, token)
    columns = disguise_codes(truth_codes(survey, answers), survey.plan, words or random_words())
    (report,) = ReportFormat(survey.plan).to_bytes(columns)
    return seal_report(survey.hash, report, token)


def seal_report(survey_hash: str, report: bytes, token: str | None) -> SealedReport:
    """Prepare a disguised report for sending, with a new random key."""
    submission = Submission(survey_hash, report.hex(), os.urandom(16).hex(), token)
    return SealedReport(msgspec.json.encode(submission), receipt_of(survey_hash, submission.report, submission.key))


@dataclass(frozen=True)
class Response:
    """A response: status, body, and how many seconds the server asks to wait."""

    status: int
    body: bytes
    retry_after: float | None


class Client:
    """A connection to a survey's server, kept open. Not thread-safe."""

    def __init__(self, server: str, *, timeout: float = 30.0, sleep: Callable[[float], None] = time.sleep) -> None:
        """Prepare a connection, which is opened by the first request."""
        parts = urlsplit(server)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = kind(parts.netloc, timeout=timeout)
        self._sleep = sleep

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def survey(self, link: Link) -> Survey:
        """Fetch the survey of a link; refuse a survey with another hash than the link's.

        Reading the survey recomputes the odds of its plan from the integers.
        """
        response = self.request("GET", f"{urlsplit(link.address).path}/survey.json")
        if response.status != 200:
            raise SottovoceError("link", "must lead to a survey", Words(_reason(response)))
        return survey_from_bytes(response.body, link.hash)

    def answer(self, link: Link, answers: Mapping[str, Any]) -> str:
        """Fetch and check the survey, disguise the answers, send the report, and return its receipt."""
        survey = self.survey(link)
        return self.send(link, disguise_answers(survey, answers, link.token))

    def send(self, link: Link, sealed: SealedReport) -> str:
        """Send a report, the same bytes until the server accepts or refuses them, and return the receipt."""
        path = f"{urlsplit(link.address).path}/reports"
        response = self.request("POST", path, sealed.body)
        if response.status not in (200, 201):
            raise SottovoceError("report", f"must be accepted; status {response.status}", Words(_reason(response)))
        receipt = msgspec.json.decode(response.body).get("receipt")
        if receipt != sealed.receipt:
            raise SottovoceError("receipt", f"must be {sealed.receipt}, that of the report sent", receipt)
        return sealed.receipt

    def request(self, method: str, path: str, body: bytes | None = None) -> Response:
        """Return the response to a request; retry after growing pauses if connection or server fail."""
        pause, response, failure = 0.1, None, "no response"
        for _ in range(TRIES):
            try:
                response = self._request_once(method, path, body)
            except (OSError, HTTPException) as reason:
                self._connection.close()
                response, failure = None, f"{type(reason).__name__} {reason}"
            if response is not None and response.status not in RETRIED_STATUSES:
                return response
            self._sleep(pause if response is None or response.retry_after is None else response.retry_after)
            pause = min(2 * pause, LONGEST_PAUSE)
        if response is None:
            raise SottovoceError("server", f"must be reachable ({failure})", self._connection.host)
        return response

    def _request_once(self, method: str, path: str, body: bytes | None) -> Response:
        headers = {} if body is None else {"Content-Type": "application/json"}
        self._connection.request(method, path, body, headers)
        received = self._connection.getresponse()
        content = received.read(MOST_BYTES)
        wait = received.headers.get("retry-after", "")
        return Response(received.status, content, min(float(wait), LONGEST_PAUSE) if wait.isdecimal() else None)


def _reason(response: Response) -> str:
    """Return the reason that the server gives, or else the status."""
    try:
        return str(msgspec.json.decode(response.body)["reason"])
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError):
        return f"status {response.status}"
