"""The Python client: checks the survey before it answers, and sends the same bytes until they are acknowledged."""

import threading
from contextlib import closing
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.surveys.client import client as client_module
from sottovoce.surveys.client.client import Client, seal_report
from sottovoce.surveys.client.simulate import send_reports, simulate_respondents
from sottovoce.surveys.links import Link
from sottovoce.surveys.timing import send_moment

ANSWERS = {"sick": "yes", "days": 2, "drink": "once", "seen": ["touch"], "job": "c", "theft": "no"}


def test_the_whole_way_of_a_respondent(server, store, survey):
    (token,) = store.invite(survey, 1)
    client = Client(server.address)
    link = server.link(survey, token)
    client.check(link)
    assert len(client.answer(link, ANSWERS, at_once=True)) == 16
    for ask in (client.check, partial(client.answer, answers=ANSWERS)):
        with pytest.raises(SottovoceError, match=r"link must have an invitation that can be used.*was used already"):
            ask(link)
    with pytest.raises(SottovoceError, match="link must have an invitation: the survey has single invitations"):
        client.answer(server.link(survey), ANSWERS)
    client.close()
    assert store.counts(survey.id) == {"issued": 1, "replaced": 0, "unspent": 0, "admitted": 1, "reports": 1}


def test_answers_that_are_refused_spend_no_invitation(server, store, survey):
    (token,) = store.invite(survey, 1)
    link = server.link(survey, token)
    with closing(Client(server.address)) as client:
        with pytest.raises(SottovoceError, match="sick must be one of"):
            client.answer(link, ANSWERS | {"sick": "perhaps"}, at_once=True)
        client.check(link)
        client.answer(link, ANSWERS, at_once=True)


def test_a_report_waits_for_a_random_moment_of_the_next_interval(server, store, survey, monkeypatch):
    """Seeded: of three moments from the system's generator, two are the same millisecond once in 100,000 runs."""
    slept = []
    monkeypatch.setattr(client_module, "send_moment", partial(send_moment, draw=np.random.default_rng(1).integers))
    client = Client(server.address, sleep=slept.append, clock=lambda: 6000.0)
    for token in store.invite(survey, 3):
        client.answer(server.link(survey, token), ANSWERS)
    client.close()
    assert len(set(slept)) == 3
    assert all(survey.send_interval <= pause < 2 * survey.send_interval for pause in slept)


def test_surveys_that_were_frozen_by_0_1(server, store, old_survey):
    (token,) = store.invite(old_survey, 1)
    client, link = Client(server.address), server.link(old_survey, token)
    client.check(link)
    assert len(client.answer(link, ANSWERS)) == 16
    with pytest.raises(SottovoceError, match=r"status 403\. Got This invitation is missing, was used already"):
        client.answer(link, ANSWERS)
    client.close()


@pytest.mark.parametrize("answer", [b"", b"{}", b'{"signature": 1}', b'{"signature": "zz"}', b"\xff"])
def test_a_server_that_does_not_sign(scripted, survey, answer):
    scripted.told = [(200, {}, answer)]
    with (
        closing(Client(scripted.address)) as client,
        pytest.raises(SottovoceError, match="signature must be returned by the server"),
    ):
        client.admit(Link(scripted.address, survey.hash, "A" * 22), survey)


def test_a_server_that_signs_something_else(scripted, survey):
    scripted.told = [(200, {}, f'{{"signature": "{"01" * 256}"}}'.encode())]
    with closing(Client(scripted.address)) as client, pytest.raises(SottovoceError, match="signature must"):
        client.admit(Link(scripted.address, survey.hash, "A" * 22), survey)


def test_a_link_that_leads_nowhere(server):
    with (
        closing(Client(server.address)) as client,
        pytest.raises(SottovoceError, match=r"link must lead to a survey\. Got There is no such survey here"),
    ):
        client.survey(Link(server.address, "00" * 32))


def test_simulated_people(server, store, survey, open_survey):
    survey, open_survey = store.freeze(survey.as_rehearsal()), store.freeze(open_survey.as_rehearsal())
    people = simulate_respondents(survey, 30, np.random.default_rng(1))
    links = [server.link(survey, token) for token in store.invite(survey, 40)]
    moved = []
    done = send_reports(survey, links, people.reports(), connections=3, progress=lambda *state: moved.append(state))
    assert done == 30
    assert moved == [(30, 30)]
    assert store.counts(survey.id) == {"issued": 40, "replaced": 0, "unspent": 10, "admitted": 30, "reports": 30}
    assert send_reports(survey, [], []) == 0
    assert send_reports(open_survey, [server.link(open_survey)] * 5, people.reports()) == 5


class Scripted(BaseHTTPRequestHandler):
    """Answers as it is told, one after the other; None hangs up."""

    protocol_version = "HTTP/1.1"

    def answer(self):
        self.server.bodies.append(self.rfile.read(int(self.headers.get("content-length", 0))))
        told = self.server.told.pop(0)
        if told is None:
            self.close_connection = True
            return
        status, headers, content = told
        self.send_response(status)
        for name, value in (headers | {"content-length": str(len(content))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = answer  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.fixture
def scripted():
    server = HTTPServer(("127.0.0.1", 0), Scripted)
    server.bodies, server.told = [], []
    server.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_same_bytes_until_they_are_acknowledged(scripted, survey):
    seal = seal_report(survey.hash, bytes(15), "A" * 22)
    receipt = f'{{"receipt":"{seal.receipt}"}}'.encode()
    scripted.told = [None, (503, {"retry-after": "7"}, b"{}"), (500, {}, b"oops"), None, (201, {}, receipt)]
    pauses = []
    client = Client(scripted.address, sleep=pauses.append)
    assert client.send(Link(scripted.address, survey.hash), seal) == seal.receipt
    assert scripted.bodies == [seal.body] * 5
    assert pauses == [0.1, 7.0, 0.4, 0.8]
    client.close()


def test_a_receipt_for_other_bytes_is_none(scripted, survey):
    scripted.told = [(201, {}, b'{"receipt":"0000"}')]
    with closing(Client(scripted.address)) as client, pytest.raises(SottovoceError, match="receipt must be"):
        client.send(Link(scripted.address, survey.hash), seal_report(survey.hash, bytes(15), None))


def test_a_server_that_stays_away_or_busy(scripted, survey):
    link, seal = Link(scripted.address, survey.hash), seal_report(survey.hash, bytes(15), None)
    client = Client(scripted.address, sleep=lambda _: None)
    scripted.told = [None] * 8
    with pytest.raises(SottovoceError, match=r"server must be reachable \(RemoteDisconnected"):
        client.send(link, seal)
    scripted.told = [(503, {}, b'{"reason": "later"}')] * 8
    with pytest.raises(SottovoceError, match=r"status 503\. Got later instead"):
        client.send(link, seal)
    scripted.told = [(400, {}, content) for content in (b"\xff", b"[]", b"{}")]
    for _ in range(3):
        with pytest.raises(SottovoceError, match="Got status 400 instead"):
            client.send(link, seal)
    client.close()


def test_secure_servers_are_spoken_to_securely():
    from http.client import HTTPSConnection

    assert isinstance(Client("https://example.org")._connection, HTTPSConnection)
