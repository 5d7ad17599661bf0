"""Conclusions from made-up walks: what is noticed about requests, bodies, times and reports, and what is not."""

import asyncio
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from hashlib import sha256
from types import SimpleNamespace

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.surveys.audit import run
from sottovoce.surveys.audit.browser import RandomLog, Walk
from sottovoce.surveys.audit.checks import (
    Notes,
    body_faults,
    note_admissions,
    note_requests,
    note_retries,
    note_twins,
)
from sottovoce.surveys.audit.gate import Gate
from sottovoce.surveys.audit.judgement import cell_in_words, judge
from sottovoce.surveys.audit.proxy import DroppedError, SentRequest
from sottovoce.surveys.audit.replay import replay_findings
from sottovoce.surveys.audit.report import Bound, Finding
from sottovoce.surveys.audit.run import Audit, Effort, _blinded, _check_invitation, checked_link
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.event_loops import outside_of_loops
from sottovoce.surveys.links import Link
from tests.cli.test_survey_audit import HONEST
from tests.surveys.audit.dishonest import AT_ONCE, INVITED, OPEN
from tests.surveys.audit.made_up import KEPT, SERVER, START, Maker
from tests.surveys.browser.conftest import KEY
from tests.surveys.browser.test_same_bytes import DEFINITION


@pytest.fixture
def maker():
    return Maker(AT_ONCE)


def told(findings) -> str:
    return "\n".join(map(str, findings))


def test_honest_walks(maker):
    assert maker.noted(maker.walk(), maker.walk(maker.paths[1])) == []
    judged = maker.judged()
    assert judged.findings == []
    assert [bound.name for bound in judged.bounds] == ["tax", "drink", "all answers together"]
    assert Maker(OPEN).judged().findings == []


def test_too_few_walks_say_nothing(maker):
    assert maker.judged(count=4).bounds == []


REQUESTS = {
    "POST /collect": SentRequest("POST", f"{SERVER}/collect", body=b"yes"),
    "GET https://elsewhere.test/pixel with a query": SentRequest("GET", "https://elsewhere.test/pixel?yes"),
    "GET /assets/0/other.js": SentRequest("GET", f"{SERVER}/assets/0/other.js"),
    "a cookie is sent": SentRequest("GET", f"{SERVER}/assets/0/main.js", (("Cookie", "a=b"),)),
    "main.js differs in the browser": SentRequest("GET", f"{SERVER}/assets/0/main.js", digest="other"),
    "PUT ": SentRequest("PUT", f"{SERVER}/x"),
}


@pytest.mark.parametrize("words", REQUESTS)
def test_requests_that_no_honest_page_makes(maker, words):
    walks = [maker.walk(more=[REQUESTS[words]]) for _ in range(2)]
    assert words in told(maker.noted(*walks))


def test_browsers_ask_their_makers(maker):
    own = SentRequest("CONNECT", "https://update.googleapis.com:443/")
    assert maker.noted(*[maker.walk(more=[own])] * 2) == []


def test_what_is_seen_once_is_a_remark(maker):
    notes = Notes(["secret"])
    note_requests([SentRequest("GET", f"{SERVER}/secret")], maker.expected, notes)
    assert notes.findings(1) == []
    assert notes.remarks() == ["request, seen once: GET /[secret]"]


WALKS = {
    "opens a WebTransport": {"noted": ("WebTransport",)},
    "something in local": {"kept": KEPT | {"local": {"a": "b"}}},
    "databases ['other']": {"kept": KEPT | {"databases": ["other"]}},
    "the header x-mark": {"headers": (("X-Mark", "1"),)},
    "a body that is no JSON object": {"body": b"?"},
    "the fields a, b": {"body": b'{"a":1,"b":2}'},
}


@pytest.mark.parametrize("words", WALKS)
def test_walks_that_no_honest_page_makes(maker, words):
    assert words in told(maker.noted(*[maker.walk(**WALKS[words])] * 2))


def test_two_reports_and_none(maker):
    walk = maker.walk()
    twice = replace(walk, sent=(*walk.sent, walk.sent[-1]))
    assert "2 reports are sent" in told(maker.noted(twice, twice))
    assert maker.noted(*[replace(twice, kind="retry")] * 2) == []
    assert "0 reports are sent" in told(maker.noted(*[replace(walk, sent=())] * 2))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"survey": "0" * 64}, "another hash of a survey"),
        ({"report": "00"}, "a report that the plan cannot produce"),
        ({"report": None}, "a report that the plan cannot produce"),
        ({"key": "0"}, "a key that is not 32 digits"),
        ({"token": "x"}, "another invitation"),
    ],
)
def test_bodies(maker, changes, fault):
    walk = maker.walk()
    assert [each for each, _ in body_faults(maker.body(walk.path, **changes), walk, maker.expected)] == [fault]


def test_public_answers_are_sent_as_they_are(maker):
    walk = maker.walk()
    report = json.loads(maker.body(walk.path))["report"]
    other = maker.body(walk.path, report=report[:-2] + ("01" if report.endswith("00") else "00"))
    assert "other public answers" in body_faults(other, walk, maker.expected)[0][0]


def test_bodies_of_surveys_of_0_1_have_their_invitation():
    maker = Maker(INVITED)  # not frozen: it has no key
    maker.expected.token = "x" * 22
    assert maker.expected.secrets == ["x" * 22]
    walk = maker.walk()
    assert "another invitation" in told(map(str, body_faults(maker.body(walk.path), walk, maker.expected)))


def test_signed_bodies():
    maker = Maker(INVITED)
    maker.sign()
    walk = maker.walk()

    def faults(**changes):
        body = json.dumps(json.loads(maker.body(walk.path)) | changes, separators=(",", ":")).encode()
        return [fault for fault, _ in body_faults(body, walk, maker.expected)]

    assert faults() == []
    assert faults(signature="0" * 512) == ["a signature that is not of the credential"]
    assert len(faults(credential="0" * 64)) == 2


def test_constants(maker):
    walks = [maker.walk(headers=(("Accept-Language", language),)) for language in ("en", "en", "en", "de", "de")]
    assert "accept-language is 'de' in some walks" in told(maker.noted(*walks))
    spaced = [maker.walk(body=maker.body(maker.paths[0]) + b" ") for _ in range(2)]
    assert "something between the fields" in told(maker.noted(*spaced, *[maker.walk() for _ in range(3)]))


def twins(maker, first, second, again) -> tuple[list[Finding], list[str]]:
    notes = Notes()
    for _ in range(2):
        remark = note_twins([first, second, again], maker.expected, notes)
    return notes.findings(3), remark


def test_twins(maker):
    first, other = maker.walk(), maker.walk()
    assert twins(maker, first, first, first) == ([], [])
    assert "do not repeat a walk" in twins(maker, first, first, other)[1][0]
    later = replace(first, time=START + 1)
    assert "0.000 seconds and 0.001 seconds" in told(twins(maker, first, later, first)[0])
    nothing = replace(first, sent=first.sent[:1])
    assert "other answers change the length" in told(twins(maker, first, nothing, first)[0])
    assert twins(maker, nothing, nothing, nothing) == ([], [])


def test_retries():
    notes = Notes()
    note_retries([b"a", b"a", b"a"], notes)
    assert notes.findings(1) == []
    note_retries([b"a", b"b"], notes)
    assert "2 different bodies in 2 attempts" in told(notes.findings(1))
    assert notes.remarks() == []


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ({"same": ["a", "a"], "other": ["a"], "fresh": ["b", "c"]}, ""),
        ({"same": ["a", "d"], "other": ["e"], "fresh": ["b", "c"]}, ""),  # random numbers repeat nothing here
        ({"same": ["a", "a"], "other": ["b"], "fresh": ["b", "c"]}, "depends on the invitation"),
        ({"same": ["a", "a"], "other": ["a"], "fresh": ["b", "b"]}, "fresh devices send the same"),
    ],
)
def test_admissions(messages, found):
    notes = Notes()
    note_admissions(messages, notes)
    assert found in told(notes.findings(1))
    assert bool(found) == bool(notes.findings(1))


def reported(maker, walk, codes: str) -> Walk:
    """The walk with another report."""
    body = json.loads(walk.sent[2].body)
    changed = json.dumps(body | {"report": codes}, separators=(",", ":")).encode()
    return replace(walk, sent=(*walk.sent[:2], replace(walk.sent[2], body=changed), *walk.sent[3:]))


def truth_of(maker, walk) -> str:
    codes = [int(column[0]) for column in maker.survey.plan.schema.encode({k: [v] for k, v in _protected(maker, walk)})]
    return bytes([*codes, *walk.path.public_codes]).hex()


def _protected(maker, walk):
    return [(question.id, walk.path.truth[question.id]) for question in maker.survey.protected]


def test_reports_of_the_truth(maker):
    judged = maker.judged(lambda walk, _: reported(maker, walk, truth_of(maker, walk)), count=150)
    said = told(judged.findings)
    assert "coins" in said
    assert "odds: tax: 3 : 1 promised, at least " in said
    assert "reports with " in said


def test_times_that_tell(maker):
    def slow(walk, first):
        return replace(walk, elapsed=walk.elapsed + 100 * first)

    assert "sending takes " in told(maker.judged(slow).findings)
    assert "reports are sent later" in told(maker.judged(lambda walk, _: replace(walk, time=START + 5)).findings)
    timed = Maker(OPEN)

    def within(share):
        return START + 1000 * 600 * (1 + share)

    shifted = timed.judged(lambda walk, first: replace(walk, time=within((timed.rng.random() + first) / 2)))
    assert "the time of sending depends on the answers" in told(shifted.findings)
    early = timed.judged(lambda walk, _: replace(walk, time=START))
    assert "outside of the next interval" in told(early.findings)
    uneven = timed.judged(lambda walk, _: replace(walk, time=within(timed.rng.random() / 3)))
    assert "not uniform" in told(uneven.findings)
    seconds = timed.judged(lambda walk, first: replace(walk, time=walk.time // 1000 * 1000 + 500 * first))
    assert "within the second" in told(seconds.findings)


def test_files_as_signs(maker):
    sign = SentRequest("GET", f"{SERVER}/assets/0/main.js", digest="main")
    judged = maker.judged(lambda walk, first: replace(walk, sent=(*walk.sent, sign)) if first else walk)
    assert "/assets/0/main.js is fetched" in told(judged.findings)


def keyed(maker, walk, key: str) -> Walk:
    body = json.dumps(json.loads(walk.sent[2].body) | {"key": key}, separators=(",", ":")).encode()
    return replace(walk, sent=(*walk.sent[:2], replace(walk.sent[2], body=body)))


def test_keys_that_tell(maker):
    marked = maker.judged(lambda walk, first: keyed(maker, walk, f"{8 * first}{os.urandom(16).hex()[1:]}"))
    assert "bit 0 of the key" in told(marked.findings)
    again = maker.judged(lambda walk, _: keyed(maker, walk, "0" * 32))
    assert "comes again" in told(again.findings)


def test_bodies_that_cannot_be_read_are_not_judged(maker):
    judged = maker.judged(lambda walk, _: reported(maker, walk, "ff"))
    assert judged.bounds == []


def test_signed_reports_have_no_keys():
    maker = Maker(INVITED)
    maker.sign()
    assert maker.judged(count=6).findings == []
    alone = [[maker.walk(path) for _ in range(6)] for path in maker.paths]
    assert judge(*alone, [], maker.expected).findings == []
    assert replay_findings([maker.logged() for _ in range(3)], maker.expected) == []


def test_cells_in_words():
    survey = survey_from_text(DEFINITION)
    names = [cell_in_words(survey, column, 1) for column in range(len(survey.plan.report_schema.sizes))]
    assert "smokes = yes" in names
    assert "taken with paper" in names
    assert cell_in_words(survey, names.index("taken with paper"), 0) == "taken without paper"


def test_findings_and_bounds_in_words():
    assert str(Finding("a", "b", "c", "d")) == "a: b\n  expected: c\n  d"
    assert str(Bound("a", float("inf"), 0.0)) == "a: no bound promised, at least 1 : 1 seen"


def test_the_gate(maker):
    gate, home = Gate(maker.survey), maker.expected.home

    def asked(method, path, body=b""):
        return gate(SentRequest(method, f"{SERVER}{path}", body=body))

    assert asked("GET", home) is None
    assert asked("GET", f"{home}/receipts").status == 404
    assert asked("POST", "/collect").status == 404
    assert asked("POST", f"{home}/check").status == 200
    assert asked("POST", f"{home}/admission").status == 503
    gate.admits = True
    assert asked("POST", f"{home}/admission", b"1") is None
    assert asked("POST", f"{home}/admission", b"2").status == 503
    assert asked("POST", f"{home}/admission", b"1") is None
    body = maker.body(maker.paths[0])
    sent = json.loads(body)
    receipt = sha256(f"{sent['survey']}{sent['report']}{sent['key']}".encode()).hexdigest()[:16]
    assert json.loads(asked("POST", f"{home}/reports", body).body) == {"receipt": receipt}
    assert asked("POST", f"{home}/reports", b"[]").status == 400
    gate.fails.extend(["server", "network"])
    assert asked("POST", f"{home}/reports", body).status == 503
    with pytest.raises(DroppedError):
        asked("POST", f"{home}/reports", body)


def test_a_server_that_admits_nobody(maker):
    maker.expected.survey = survey = replace(Maker(INVITED).survey, admission=KEY.public)
    device = SimpleNamespace(enter=lambda _: None, states=lambda: [["key", {"state": "prepared"}]])
    under_way = Audit(survey, None, Gate(survey), None, None, maker.expected, Notes())
    with pytest.raises(SottovoceError, match="invitation must be admitted by the server"):
        under_way.be_admitted(device, maker.paths[0])


def test_admissions_of_fresh_devices_are_compared(monkeypatch):
    """Here the message depends on the invitation; the admitted credential is a secret of the report."""
    maker = Maker(INVITED)
    survey = maker.expected.survey = replace(maker.survey, admission=KEY.public)
    under_way = Audit(survey, Link(SERVER, survey.hash, "x" * 22), Gate(survey), None, None, maker.expected, Notes())

    @contextmanager
    def device(self, seed=None, locale="", *, link=None):
        message = os.urandom(4).hex() if seed is None else link
        body = json.dumps({"blinded": message})
        yield SimpleNamespace(restore=lambda _: None, enter=lambda _: self.gate.admissions.append(body))

    monkeypatch.setattr(Audit, "device", device)
    under_way.compare_admissions(maker.paths[0])
    assert "depends on the invitation" in told(under_way.notes.findings(1))
    states = [["key", {"credential": "secret", "signature": "1"}]]
    under_way.be_admitted(SimpleNamespace(enter=lambda _: None, states=lambda: states), maker.paths[0])
    assert under_way.notes.secrets == ["secret"]


@pytest.fixture
def broken_off(maker, monkeypatch):
    """The result of an audit whose walks break off."""

    def stop(*_):
        raise SottovoceError("page", "must lead a respondent through the survey", "nothing")

    monkeypatch.setattr(run, "_walk_all", stop)
    under_way = Audit(maker.survey, None, Gate(maker.survey), None, maker.rng, maker.expected, Notes())
    conclude = partial(run._conclude, under_way, HONEST, Effort(), 0.0, lambda *_: None, SimpleNamespace(version="1"))
    return under_way, conclude


def test_walks_that_break_off(maker, broken_off):
    under_way, conclude = broken_off
    with pytest.raises(SottovoceError, match="page must lead"):
        conclude()
    note_retries([b"a", b"b"], under_way.notes)
    result = conclude()
    assert result.verdict == "convicted"
    assert "broken off" in result.remarks[0]


def test_walks_that_break_off_after_other_coins(maker, broken_off):
    under_way, conclude = broken_off
    under_way.given.append(maker.logged(log=RandomLog(())))
    assert {finding.kind for finding in conclude().findings} == {"coins", "key"}


def test_blinded_messages():
    assert _blinded('{"token":"a","blinded":"b"}') == "b"
    assert _blinded("?") == "?"


def test_links():
    link = Link(SERVER, "0" * 64)
    invited = Link(SERVER, "0" * 64, "x" * 22)
    assert checked_link(str(link), None) == link
    assert checked_link(str(link), str(invited)) == invited
    for url, invitation, name, rule in (
        (str(invited), None, "link", "must have no invitation"),
        (str(link), "x", "invitation", "must look like"),
        (str(link), str(Link(SERVER, "1" * 64, "x" * 22)), "invitation", "must be to the survey at"),
    ):
        with pytest.raises(SottovoceError, match=rule) as refused:
            checked_link(url, invitation)
        assert refused.value.parameter == name


@pytest.mark.parametrize(
    ("definition", "token", "parameter"),
    [
        (OPEN.replace("2100-12-31", "2020-12-31"), None, "link"),
        (OPEN, "x" * 22, "invitation"),
        (INVITED, None, "invitation"),
        (INVITED, "x" * 22, "invitation"),
    ],
)
def test_invitations_that_cannot_be_used(definition, token, parameter):
    def spent(_):
        raise SottovoceError("link", "must have an invitation that can be used", "spent")

    survey = survey_from_text(definition)
    with pytest.raises(SottovoceError) as refused:
        _check_invitation(SimpleNamespace(check=spent), Link(SERVER, survey.hash, token), survey)
    assert refused.value.parameter == parameter


def test_efforts():
    for wrong in ({"walks": 1}, {"minutes": 0}, {"seed": -1}):
        with pytest.raises(SottovoceError):
            Effort(**wrong)


def test_threads_where_loops_run():
    async def asked():
        return outside_of_loops(threading.current_thread)()

    with ThreadPoolExecutor(1) as pool:  # a browser's tests may keep a loop running in this thread
        here = pool.submit(threading.current_thread).result()
        assert pool.submit(outside_of_loops(threading.current_thread)).result() is here
        assert pool.submit(asyncio.run, asked()).result() is not here
