"""A sealed report: what leaves the device, once and for all. Retries send these very bytes again."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from sottovoce.disguise.records import disguise_codes
from sottovoce.errors import SottovoceError
from sottovoce.mechanism.coins import RandomWords, random_words
from sottovoce.survey.report import ReportFormat, receipt_of
from sottovoce.survey.survey import Survey
from sottovoce.survey.truth import truth_codes


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
