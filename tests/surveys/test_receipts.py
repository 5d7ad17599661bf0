"""Whoever has a receipt can check that its report is stored; the server is not told which receipt it is."""

import json
import os
from contextlib import closing
from dataclasses import replace

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.surveys.client.client import Client, disguise_answers
from sottovoce.surveys.collect.entries import Entry
from sottovoce.surveys.collect.receipts import FRESH_SECONDS, MOST_LISTS, ReceiptList, ReceiptLists
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.links import Link

ANSWERS = {"sick": "no", "drink": "never", "seen": [], "job": "a", "theft": "no"}


def listed(server, survey, part="") -> object:
    reply = server.ask("GET", f"/s/{survey.id}/receipts{part}")
    return json.loads(reply.body) if reply.status == 200 else reply.status


@pytest.fixture
def never_kept(monkeypatch):
    """Lists are read anew for every request."""
    monkeypatch.setattr(ReceiptLists, "fresh", lambda *_: None)


def test_every_stored_report_has_its_receipt_in_the_list(server, store, survey, open_survey, credential, never_kept):
    sealed = [disguise_answers(survey, ANSWERS, credential=credential()) for _ in range(20)]
    with closing(Client(server.address)) as client:
        receipts = [client.send(server.link(survey), one) for one in sealed]
        client.send(server.link(survey), sealed[0])  # a repeated one is there once
        in_order = sorted(receipts)
        assert listed(server, survey) == {"count": 20, "receipts": in_order}
        for first in {receipt[:2] for receipt in receipts}:
            assert listed(server, survey, f"/{first}") == [one for one in in_order if one.startswith(first)]
        assert listed(server, open_survey) == {"count": 0, "receipts": []}
        assert client.receipt_stored(server.link(survey), receipts[3])
        store.close_survey(survey.id)
        assert client.receipt_stored(server.link(survey), receipts[4])
        store.delete_survey(survey.id)
        assert listed(server, survey) == listed(server, survey, "/00") == 404
        with pytest.raises(SottovoceError, match=r"link must lead to a survey\. Got There is no such survey here"):
            client.receipt_stored(server.link(survey), receipts[5])


def test_large_surveys_are_listed_in_parts(tmp_path, open_survey, served):
    store = Store(str(tmp_path / "surveys.db"), batch=2000)
    rows = [Entry(open_survey.id, os.urandom(16), b"1", None, os.urandom(8)) for _ in range(5000)]
    for start in range(0, 5000, 500):
        store.commit(rows[start : start + 500])
    store.tidy()
    store.commit([Entry(open_survey.id, os.urandom(16), b"2")])  # stored by 0.1: without a receipt
    server = served(per_window=None)
    assert listed(server, open_survey) == {"count": 5000, "receipts": None}
    known = {row.receipt.hex() for row in rows if row.receipt}
    found = [one for byte in range(256) for one in listed(server, open_survey, f"/{byte:02x}")]
    assert found == sorted(known)
    with closing(Client(server.address, sleep=lambda _: None)) as client:
        link = server.link(open_survey)
        assert client.receipt_stored(link, min(known))
        assert not client.receipt_stored(link, "f" * 16)
        with pytest.raises(SottovoceError, match="receipt must be 16 hexadecimal digits"):
            client.receipt_stored(link, "F" * 16)
    store.close()


def test_parts_that_are_none(server, survey):
    for part in ("/0", "/000", "/AB", "/zz", "/%00", "/..", "/00/", "/00/11", "/", "/%ff"):
        assert listed(server, survey, part) == 404, part


def test_receipts_have_a_rate_of_their_own(served, survey):
    server = served(per_window=2)
    assert [listed(server, survey, part) for part in ("/00", "", "")] == [[], {"count": 0, "receipts": []}, 429]


def test_a_database_that_fails(served, survey, monkeypatch):
    from sqlalchemy.exc import OperationalError

    def fail(*_):
        raise OperationalError("SELECT", {}, Exception("no disk"))

    monkeypatch.setattr(Store, "receipts", fail)
    assert listed(served(per_window=None), survey) == 503


@pytest.mark.parametrize("body", [b"[]", b"\xff", b'{"count": 5, "receipts": null}', b'{"count": 1, "receipts": [1]}'])
def test_a_server_that_lists_something_else(server, survey, body):
    """In a short list, a part would tell which receipt is meant: it is not asked for."""
    asked = []

    class Lying(Client):
        def _request_once(self, method, path, sent):
            asked.append(path)
            return replace(super()._request_once(method, path, sent), body=body)

    with (
        closing(Lying(server.address)) as client,
        pytest.raises(SottovoceError, match="server must list the receipts of the survey"),
    ):
        client.receipt_stored(server.link(survey), "0" * 16)
    assert asked == [f"/s/{survey.id}/receipts"]


def test_lists_are_kept_for_a_moment(server, survey, credential):
    now = [1000.0]
    lists = ReceiptLists(clock=lambda: now[0])
    first = lists.keep("a", ReceiptList([], now[0]))
    assert lists.fresh("a") is first
    now[0] += FRESH_SECONDS + 0.1
    assert lists.fresh("a") is lists.fresh("b") is None
    for number in range(MOST_LISTS):
        lists.keep(str(number), ReceiptList([], now[0]))
    assert "a" not in lists._lists
    assert len(lists._lists) == MOST_LISTS
    with closing(Client(server.address)) as client:
        assert listed(server, survey) == {"count": 0, "receipts": []}
        receipt = client.send(server.link(survey), disguise_answers(survey, ANSWERS, credential=credential()))
        assert listed(server, survey) == {"count": 0, "receipts": []}  # a moment old
        assert client.receipt_stored(Link(server.address, survey.hash), receipt)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_receipts_move_with_their_reports(kind, request, tmp_path, open_survey):
    database = str(tmp_path / "surveys.db") if kind == "sqlite" else request.getfixturevalue("postgres").database()
    store = Store(database, batch=4, capacity=8)
    store.freeze(open_survey)
    receipts = [os.urandom(8) for _ in range(30)]
    for number, receipt in enumerate(receipts):
        store.commit([Entry(open_survey.id, os.urandom(16), b"1", None, receipt)])
        if number % 7 == 0:
            store.tidy()
    assert store.receipts(open_survey.id) == sorted(receipts)
    store.close_survey(open_survey.id)
    assert store.receipts(open_survey.id) == sorted(receipts)
    assert store.receipts("0" * 16) is None
    store.close()
