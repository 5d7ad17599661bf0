"""A respondent's client in Python, which does what the page does.

It checks the survey, disguises the answers once, and sends the same bytes until the server has acknowledged them.
"""

import os
import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

import msgspec

from sottovoce.disguises.records import disguise_codes
from sottovoce.errors import SottovoceError, Words
from sottovoce.mechanisms.coins import RandomWords, random_words
from sottovoce.surveys.blind_rsa import CREDENTIAL_BYTES
from sottovoce.surveys.definition.questions import Question
from sottovoce.surveys.definition.survey import Survey, survey_from_bytes
from sottovoce.surveys.links import Link
from sottovoce.surveys.report import ReportFormat, receipt_of
from sottovoce.surveys.timing import send_moment

TRIES = 8
LONGEST_PAUSE = 30.0
RETRIED_STATUSES = (408, 429, 500, 502, 503, 504)
MOST_BYTES = 2**22
"""Bytes of a response that are read."""

RECEIPT = re.compile(r"[0-9a-f]{16}")
RECEIPT_PAUSE = 3.0
"""Seconds after which a receipt that is missing is looked for once more."""

MOST_WHOLE_RECEIPTS = 4096
"""Most receipts that a server lists as a whole: asking for a 256th of fewer would tell which one is meant."""


def truth_of(survey: Survey, answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return one value for every question; those that a branch skips are "not asked".

    An answer is an answer's id (for several choices, a list of ids), a number for a question of kind `number`, or
    None for declining. Answers to skipped questions are refused, and so are missing answers.
    """
    known = [question.id for question in survey.questions]
    unknown = [name for name in answers if name not in known]
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


def disguised_reports(survey: Survey, truths: Mapping[str, Sequence[Any]], words: RandomWords) -> list[bytes]:
    """Return the reports of respondents with these truths by question: disguised, and public answers as they are."""
    plan = survey.plan
    disguised = disguise_codes(plan.schema.encode(truths), plan, words)
    public = [question.variable.encode(truths[question.id])[0] for question in survey.public]
    return ReportFormat(plan).to_bytes((*disguised, *public))


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
    least, most = question.limits or (0, len(known))
    if not least <= len(set(chosen)) <= most:
        raise SottovoceError(question.id, f"must be {least} to {most} answers", list(chosen))
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


class CheckRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of a request that asks whether an invitation can be used."""

    token: str


class AdmissionRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of a request that spends an invitation for the signature of a blinded message (hexadecimal)."""

    token: str
    blinded: str


class SignedSubmission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of a request that sends a report: survey hash, report, credential and its signature (all hexadecimal)."""

    survey: str
    report: str
    credential: str
    signature: str


class Submission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The same for an open survey, or one that was frozen by 0.1, whose invitation travels with the report."""

    survey: str
    report: str
    key: str
    token: str | None


class ListedReceipts(msgspec.Struct, frozen=True):
    """Number of a survey's receipts, and all of them unless they are many."""

    count: int
    receipts: list[str] | None


@dataclass(frozen=True)
class Credential:
    """Random bytes that a survey has signed without seeing them: they admit one report, and nobody knows whose."""

    value: bytes
    signature: bytes


@dataclass(frozen=True)
class SealedReport:
    """A disguised report ready to be sent, and the receipt that the server must return for it."""

    body: bytes
    receipt: str


def disguise_answers(
    survey: Survey,
    answers: Mapping[str, Any],
    token: str | None = None,
    words: RandomWords | None = None,
    *,
    credential: Credential | None = None,
) -> SealedReport:
    """Disguise a respondent's answers, and return nothing but the report.

    Call this once for each respondent and send the same report again if sending fails: somebody who sees several
    reports about the same answers can average them. A survey with an admission key needs a `credential`
    (`Client.admit`), one that was frozen by 0.1 the `token` of an invitation, and an open one neither.
    """
    _check_admission(survey, token, credential)
    truths = {name: [value] for name, value in truth_of(survey, answers).items()}
    (report,) = disguised_reports(survey, truths, words or random_words())
    return seal_report(survey.hash, report, token, credential)


def _check_admission(survey: Survey, token: str | None, credential: Credential | None) -> None:
    if survey.admission is not None:
        if credential is None:
            raise SottovoceError("credential", "must be given: the survey has an admission key", credential)
    elif (token is None) != (survey.invitation == "open"):
        rule = "must be left out: the survey is open" if token else "must be given: the survey has single invitations"
        raise SottovoceError("token", rule, token)


def seal_report(
    survey_hash: str, report: bytes, token: str | None = None, credential: Credential | None = None
) -> SealedReport:
    """Prepare a disguised report for sending, under a credential or with a new random key."""
    if credential is not None:
        key = credential.value.hex()
        signed = SignedSubmission(survey_hash, report.hex(), key, credential.signature.hex())
        return SealedReport(msgspec.json.encode(signed), receipt_of(survey_hash, signed.report, key))
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

    def __init__(
        self,
        server: str,
        *,
        timeout: float = 30.0,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Prepare a connection, which is opened by the first request."""
        parts = urlsplit(server)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = kind(parts.netloc, timeout=timeout)
        self._sleep, self._clock = sleep, clock

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

    def check(self, link: Link) -> None:
        """Ask whether the link's invitation can be used; refuse a link whose invitation is spent or unknown."""
        body = msgspec.json.encode(CheckRequest(link.token or ""))
        response = self.request("POST", f"{urlsplit(link.address).path}/check", body)
        if response.status != 200:
            raise SottovoceError("link", "must have an invitation that can be used", Words(_reason(response)))

    def admit(self, link: Link, survey: Survey) -> Credential | None:
        """Spend the link's invitation for a credential that the server cannot recognise; None if none is needed."""
        key = survey.admission
        if key is None:
            return None
        if link.token is None:
            raise SottovoceError("link", "must have an invitation: the survey has single invitations", str(link))
        value = os.urandom(CREDENTIAL_BYTES)
        blinded = key.blind(value)
        body = msgspec.json.encode(AdmissionRequest(link.token, blinded.message.hex()))
        response = self.request("POST", f"{urlsplit(link.address).path}/admission", body)
        if response.status != 200:
            raise SottovoceError("link", "must have an invitation that can be used", Words(_reason(response)))
        try:
            signature = bytes.fromhex(msgspec.json.decode(response.body)["signature"])
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError, KeyError, TypeError):
            raise SottovoceError("signature", "must be returned by the server", Words("none")) from None
        return Credential(value, key.finalize(value, signature, blinded.inverse))

    def answer(self, link: Link, answers: Mapping[str, Any], *, at_once: bool = False) -> str:
        """Fetch and check the survey, be admitted, disguise the answers, send the report, and return its receipt.

        The report is sent at a random moment of the survey's next send interval, for which this waits: the time of
        sending then tells nothing about who sends. `at_once` does not wait.
        """
        survey = self.survey(link)
        truth_of(survey, answers)  # before the invitation is spent: answers may have to be corrected
        credential = self.admit(link, survey)
        sealed = disguise_answers(survey, answers, link.token, credential=credential)
        if not at_once:
            now = self._clock()
            self._sleep(send_moment(now, survey.send_interval) - now)
        return self.send(link, sealed)

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

    def receipt_stored(self, link: Link, receipt: str) -> bool:
        """Return whether the server lists a receipt among those of stored reports, without telling it which one.

        All receipts of the survey are downloaded, or, if they are many, all that begin with the same byte. A missing
        one is looked for once more after a moment, because lists may be some seconds old.
        """
        if not RECEIPT.fullmatch(receipt):
            raise SottovoceError("receipt", "must be 16 hexadecimal digits", receipt)
        path = f"{urlsplit(link.address).path}/receipts"
        if receipt in self._receipts(path, receipt[:2]):
            return True
        self._sleep(RECEIPT_PAUSE)
        return receipt in self._receipts(path, receipt[:2])

    def _receipts(self, path: str, first: str) -> list[str]:
        response = self.request("GET", path)
        if response.status != 200:
            raise SottovoceError("link", "must lead to a survey", Words(_reason(response)))
        try:
            listed = msgspec.json.decode(response.body, type=ListedReceipts)
            if listed.receipts is not None:
                return listed.receipts
            if listed.count > MOST_WHOLE_RECEIPTS:  # else a part would be so small that it tells which one is meant
                return msgspec.json.decode(self.request("GET", f"{path}/{first}").body, type=list[str])
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass
        raise SottovoceError("server", "must list the receipts of the survey", Words("something else"))

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
