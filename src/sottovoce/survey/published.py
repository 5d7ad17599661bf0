"""A frozen survey as the server sees it: rendered pages, and the checks that a report must pass."""

import re
from datetime import date
from functools import cached_property
from typing import Any

import msgspec

from sottovoce.survey.audit import audit_document
from sottovoce.survey.batch import Entry
from sottovoce.survey.files import KINDS, PageFile, templates
from sottovoce.survey.links import TOKEN, key_hash, token_hash
from sottovoce.survey.refusal import Refusal, RefusedError
from sottovoce.survey.report import ReportFormat, receipt_of
from sottovoce.survey.script import page_script
from sottovoce.survey.seal import Submission
from sottovoce.survey.survey import Survey

BODY_MARGIN = 512
"""Bytes of a body beside the report itself."""

KEY = re.compile(r"[0-9a-f]{32}")
HEXADECIMAL = re.compile(r"([0-9a-f]{2})*")
_DECODER = msgspec.json.Decoder(Submission)


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

    def entry(self, body: bytes, day: date) -> tuple[Submission, Entry]:
        """Read a submission; refuse what is malformed, foreign, late, uninvited or no report of the plan."""
        try:
            given = _DECODER.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise RefusedError(Refusal.malformed) from None
        if not KEY.fullmatch(given.key) or not HEXADECIMAL.fullmatch(given.report):
            raise RefusedError(Refusal.malformed)
        if given.survey != self.survey.hash:
            raise RefusedError(Refusal.other_survey)
        if day > self.survey.until:
            raise RefusedError(Refusal.closed)
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
