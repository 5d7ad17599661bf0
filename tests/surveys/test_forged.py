"""Forged, replayed and tampered reports: the server takes those only that a survey's coins can make, and each once."""

import json
from typing import Any

import pytest

from sottovoce.surveys.blind_rsa import SecretKey
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.survey import Survey
from tests.surveys.application import LOGO, Sent, Target, all_codes, impossible_codes, modern_survey, possible_codes


@pytest.fixture
def survey():
    return modern_survey()


@pytest.fixture
def target(database, survey, draft, secret_key, monkeypatch):
    monkeypatch.setattr(SecretKey, "generate", lambda: secret_key)
    store = Store(database)
    aimed = Target(database, {"modern": store.freeze(survey), "signed": store.freeze(draft)}, store, {})
    yield aimed
    aimed.app.close()
    store.close()


def post(target: Target, survey: Survey, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Send a report; return the status and what was answered, after the usual checks."""
    sent = Sent(
        f"/s/{survey.id}/reports", [json.dumps(body).encode()], headers=[(b"content-type", b"application/json")]
    )
    target.judge(sent, kind="reports")
    status, _, answer = target.app.ask(sent)
    return status, json.loads(answer)


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_reports_that_no_coins_can_make_are_refused(target, survey, step):
    """All of them, by exhaustion: two parts at once, too many or no answers, and public codes beyond their range."""
    assert len(possible_codes(survey)) + len(impossible_codes(survey)) == len(all_codes(survey))
    body = {"survey": survey.hash, "key": "ab" * 16, "token": None}
    for codes in impossible_codes(survey)[::step]:
        status, answer = post(target, survey, body | {"report": bytes(codes).hex()})
        assert (status, answer["error"]) == (422, "unfit"), codes
    taken = target.count()[1]
    for number, codes in enumerate(possible_codes(survey)[::step]):
        status, _ = post(target, survey, body | {"report": bytes(codes).hex(), "key": f"{number:032x}"})
        assert status == 200, codes  # the second time
    assert target.count()[1] - taken == len(possible_codes(survey)[::step])


def test_a_replayed_report_counts_once_and_cannot_be_changed(target, survey):
    """The same bytes are the same report; under the same key there is no other one, also in its public part."""
    first, *others = possible_codes(survey)
    body = {"survey": survey.hash, "report": bytes(first).hex(), "key": "cd" * 16, "token": None}
    assert post(target, survey, body)[0] == 200
    stored = target.count()
    other_ward = (*first[:-1], (first[-1] + 1) % 3)
    for codes in (other_ward, others[-1]):
        status, answer = post(target, survey, body | {"report": bytes(codes).hex()})
        assert (status, answer["error"]) == (409, "other_report")
    assert target.count() == stored


def test_a_credential_takes_one_report_and_no_forged_one_takes_any(target, survey, credential):
    """A signature is by this survey's key, and of this very credential."""
    signed = target.surveys["signed"]
    mine, other = credential(), credential()
    report = bytes([0] * 6 + [1, 1] + [0] * 7).hex()
    body = {"survey": signed.hash, "report": report, "credential": mine.value.hex(), "signature": mine.signature.hex()}
    assert post(target, signed, body)[0] == 200
    stored = target.count()
    forged = [
        (body | {"credential": other.value.hex()}, "signature"),
        (body | {"signature": other.signature.hex()}, "signature"),
        (body | {"report": "01" + report[2:]}, "other_report"),
        (body | {"survey": survey.hash}, "other_survey"),
    ]
    for changed, error in forged:
        assert post(target, signed, changed)[1]["error"] == error
    assert post(target, survey, body)[1]["error"] == "malformed"
    assert target.count() == stored


def test_the_logo_and_the_receipts_are_those_of_the_survey(target, survey):
    signed = target.surveys["signed"]
    assert target.app.ask(Sent(f"/s/{survey.id}/logo", [b""], "GET"))[2] == LOGO.content
    assert target.app.ask(Sent(f"/s/{signed.id}/logo", [b""], "GET"))[0] == 404
    codes = possible_codes(survey)[0]
    _, answer = post(
        target, survey, {"survey": survey.hash, "report": bytes(codes).hex(), "key": "00" * 16, "token": None}
    )
    found = json.loads(target.app.ask(Sent(f"/s/{survey.id}/receipts", [b""], "GET"))[2])
    assert found["receipts"] == [answer["receipt"]]
    for first in ("0", "000", "0G", "AA", "%d9%a0%d9%a0"):
        assert target.app.ask(Sent(f"/s/{survey.id}/receipts/{first}", [b""], "GET"))[0] == 404
