"""A frozen survey is run: overview, invitations, and its end."""

import csv
import io
import re
import threading
import zipfile
from dataclasses import replace
from datetime import date
from html import unescape
from urllib.parse import unquote

import numpy as np
import pytest
import segno
from sqlalchemy import insert

from sottovoce.errors import SottovoceError
from sottovoce.surveys.client.client import Client, seal_report
from sottovoce.surveys.client.simulate import random_shares, simulate_respondents
from sottovoce.surveys.collect.admissions import Admission
from sottovoce.surveys.collect.database import invitations as invitations_table
from sottovoce.surveys.collect.database import surveys, writing
from sottovoce.surveys.collect.store import _survey_row
from sottovoce.surveys.dashboard.accounts import Role
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.invitations import LISTED, codes_archive, draw_paths, withdraw_links
from sottovoce.surveys.links import Link, new_token, read_link, token_hash
from sottovoce.surveys.qr_codes import qr_codes

SINGLE = """
title: Honesty at work
asker: Institute of Examples
purpose: To learn how common it is.
until: 2999-12-31
minimum: 5
odds: 3:1
send_interval: 0
questions: [{id: q, kind: yes_no, text: "Did you?"}]
"""
EVIL = "<script>alert(1)</script>"


@pytest.fixture
def single(office):
    return office.store.freeze(survey_from_text(SINGLE))


@pytest.fixture
def shared(office):
    return office.store.freeze(survey_from_text(SINGLE.replace("odds", "invitation: open\nodds")))


@pytest.fixture
def editor(office):
    return office.researcher(Role.EDITOR)


def home(survey) -> str:
    return f"/research/surveys/{survey.id}"


def make(editor, survey, **fields):
    fields = {"count": "3", "form": "table", "address": "https://example.org"} | fields
    return editor.post(f"{home(survey)}/invitations", fields)


def test_the_overview_shows_numbers_hash_and_link(office, single, editor):
    office.store.invite(single, 7, replacing=True)
    page = editor.get(home(single)).text
    assert re.findall(r'data-count="(\w+)">([\d,]+)<', page) == [
        ("reports", "0"),
        ("issued", "7"),
        ("admitted", "0"),
        ("unspent", "7"),
        ("replaced", "7"),
    ]
    assert single.hash in page
    assert f"{office.address}/s/{single.id}" in page
    assert f'href="/s/{single.id}/audit"' in page
    assert "Delete it" in page
    assert "Close it early" in page
    assert editor.get(f"{home(single)}/counts").json()["issued"] == 7


def test_an_open_link_is_shown_as_what_was_chosen(office, shared, editor):
    page = editor.get(home(shared)).text
    assert "You chose so" in page
    assert f"{office.address}/s/{shared.id}#{shared.hash}" in page
    assert 'data-count="issued"' not in page
    page = editor.get(f"{home(shared)}/invitations").text
    assert "There are no invitations to make" in page
    assert 'class="code"' in page
    page = editor.get(f"{home(shared)}/invitations?address=https://a.example").text
    assert f"https://a.example/s/{shared.id}#{shared.hash}" in page
    assert "You are here under" in page
    code = editor.get(f"{home(shared)}/link.svg?address=https://a.example")
    assert code.body.startswith(b"<svg ")
    assert code.headers["content-type"] == "image/svg+xml"
    assert "must look like https://HOST" in editor.get(f"{home(shared)}/link.svg?address=javascript:1").alert


def test_readers_see_numbers_and_change_nothing(office, single):
    reader = office.researcher(Role.READER)
    for path, words in (("", "Hash"), ("/invitations", "an account that may edit")):
        page = reader.get(home(single) + path)
        assert (page.status, words in page.text) == (200, True)
        assert "Make invitations" not in page.text
        assert "Delete" not in page.text
    for path in ("/close", "/delete"):
        assert reader.get(home(single) + path).status == 403
    for path in ("/invitations", "/invitations/withdraw", "/close", "/delete"):
        answer = reader.post(home(single) + path, {"count": "1", "which": "all", "title": single.default_title})
        assert answer.status == 403
    assert office.store.counts(single.id)["issued"] == 0
    assert not office.store.is_closed(single.id)


def test_invitations_as_a_table(office, single, editor):
    answer = make(editor, single)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].startswith('attachment; filename="Honesty-at-work-links.csv"')
    assert (answer.headers["x-content-type-options"], answer.headers["cache-control"]) == ("nosniff", "no-store")
    header, *rows = csv.reader(io.StringIO(answer.text))
    assert header == ["number", "link"]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    links = [read_link(link) for _, link in rows]
    assert {(link.server, link.hash) for link in links} == {("https://example.org", single.hash)}
    states = [office.store.invitation(single.id, token_hash(single.hash, link.token)) for link in links]
    assert states == [Admission.UNSPENT] * 3


def test_what_can_be_known_follows_the_survey(office, single, editor):
    assert "nothing that is stored links an invitation to a report" in editor.get(f"{home(single)}/invitations").text
    old = replace(survey_from_text(SINGLE), title={"en": "An old one"}, send_interval=0)
    with writing(office.store.engine) as connection:
        connection.execute(insert(surveys), _survey_row(old, None))
    assert "an invitation travels with its report" in editor.get(f"{home(old)}/invitations").text


def test_invitations_are_nowhere_but_in_the_response(office, single, editor, tmp_path):
    tokens = [read_link(link).token for link in LISTED.findall(make(editor, single).text)]
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    pages = "".join(editor.get(home(single) + path).text for path in ("", "/invitations", "/counts"))
    assert len(tokens) == 3
    assert not any(token.encode() in stored or token in pages for token in tokens)
    assert {column.name for column in invitations_table.columns} == {"survey", "token", "blinded"}


def test_invitations_as_codes(single, editor):
    answer = make(editor, single, form="codes", count="12", replacing="yes")
    assert answer.headers["content-type"] == "application/zip"
    packed = zipfile.ZipFile(io.BytesIO(answer.body))
    assert packed.testzip() is None
    assert packed.namelist() == ["links.csv", *(f"{number:02}.svg" for number in range(1, 13))]
    rows = list(csv.DictReader(io.StringIO(packed.read("links.csv").decode())))
    assert (rows[4]["number"], rows[4]["file"]) == ("5", "05.svg")
    drawn = packed.read("05.svg").decode()
    code = segno.make_qr(rows[4]["link"], error="m", mode="byte", boost_error=False, mask=_mask(single))
    dark = {(y, x) for y, row in enumerate(code.matrix) for x, module in enumerate(row) if module}
    assert _dark(drawn) == dark
    assert "12</span> of them to replace" in editor.get(f"{home(single)}/invitations").text


def test_an_archive_comes_in_parts(single):
    links = [str(Link("https://example.org", single.hash, new_token())) for _ in range(100)]
    parts = list(codes_archive(links))
    assert len(parts) > 1
    packed = zipfile.ZipFile(io.BytesIO(b"".join(parts)))
    assert packed.testzip() is None
    assert len(packed.namelist()) == 101
    size, paths = draw_paths(links)
    assert f'viewBox="0 0 {size} {size}"' in packed.read("001.svg").decode()
    assert f'd="{paths[0]}"' in packed.read("001.svg").decode()


def _mask(survey) -> int:
    """The mask of all codes of a survey: that of an invitation that is none."""
    base = str(Link("https://example.org", survey.hash, "A" * 22))
    return segno.make_qr(base, error="m", mode="byte", boost_error=False).mask


def _dark(svg: str) -> set:
    runs = re.findall(r"M(\d+) (\d+)\.5h(\d+)", svg)
    return {(int(y) - 4, int(x) - 4 + step) for x, y, length in runs for step in range(int(length))}


@pytest.mark.parametrize("server", ["https://survey.example.org", "https://bücher.example", "http://127.0.0.1:8000"])
def test_codes_are_those_of_the_library(server, single):
    """Drawn together by matrices, they are the same as drawn one by one."""
    links = [str(Link(server, single.hash, new_token())) for _ in range(20)]
    base = segno.make_qr(links[0][:-22] + "A" * 22, error="m", mode="byte", boost_error=False)
    settings = {"error": "m", "mode": "byte", "boost_error": False, "version": base.version, "mask": base.mask}
    for link, code in zip(links, qr_codes(links), strict=True):
        assert np.array_equal(code, np.array(segno.make_qr(link, **settings).matrix))


def test_invitations_as_cards(single, editor):
    answer = make(editor, single, form="sheet", sentence=EVIL)
    assert answer.text.count('class="cut"') == 3
    assert answer.text.count("Institute of Examples") == 3
    assert EVIL not in answer.text
    assert unescape(answer.text).count(EVIL) == 3
    assert "Scan the code" in make(editor, single, form="sheet", sentence=" ").text
    assert "style=" not in answer.text


def test_cards_of_a_rehearsal_say_so_in_the_direction_of_the_language(office, editor):
    text = SINGLE.replace("Honesty at work", "الصدق في العمل").replace("odds", "languages: [ar]\nodds")
    survey = office.store.freeze(survey_from_text(text).as_rehearsal())
    answer = make(editor, survey, form="sheet")
    assert '<html lang="ar" dir="rtl">' in answer.text
    assert answer.text.count("Rehearsal: nothing counts") == 3
    name = make(editor, survey).headers["content-disposition"]
    assert 'filename="rehearsal-links.csv"' in name
    assert unquote(name.split("filename*=UTF-8''")[1]) == "rehearsal-الصدق-في-العمل-links.csv"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"count": "0"}, "count must be a whole number from 1 to 100,000. Got '0'"),
        ({"count": "100001"}, "from 1 to 100,000"),
        ({"count": "ten"}, "from 1 to 100,000"),
        ({"count": "9" * 5000}, "from 1 to 100,000"),
        ({"count": "2001", "form": "sheet"}, "from 1 to 2,000"),
        ({"form": "pigeon"}, "form must be one of table, codes, sheet"),
        ({"address": "ftp://example.org"}, "must look like https://HOST"),
        ({"address": EVIL}, "must look like https://HOST"),
    ],
)
def test_mistakes_in_the_form(office, single, editor, fields, words):
    answer = make(editor, single, **fields)
    assert answer.status == 422
    assert words in answer.alert
    assert EVIL not in answer.text
    assert office.store.counts(single.id)["issued"] == 0


def test_no_invitations_to_a_survey_that_is_over_or_open(office, single, shared, editor):
    assert "must be single" in make(editor, shared).alert
    past = office.store.freeze(replace(survey_from_text(SINGLE), until=date(2020, 1, 1)))
    assert "must not be before today" in make(editor, past).alert
    assert "nothing to invite to" in editor.get(f"{home(past)}/invitations").text
    office.store.close_survey(single.id)
    assert "must not be closed" in make(editor, single).alert
    assert "invitations are forgotten" in editor.get(f"{home(single)}/invitations").text


def test_plain_http_on_another_machine_is_pointed_out(single, editor):
    warning = "This address has no encryption"
    assert warning not in editor.get(f"{home(single)}/invitations").text
    assert warning in editor.get(f"{home(single)}/invitations?address=http://survey.example.org").text
    assert "without encryption" in editor.get(home(single), host="survey.example.org").text


def test_invitations_are_withdrawn(office, single, editor):
    table = make(editor, single, count="5").body
    links = LISTED.findall(table.decode())
    used = read_link(links[0])
    office.store.admit(single.id, token_hash(single.hash, used.token), b"x" * 32)
    path = f"{home(single)}/invitations/withdraw"
    page = editor.post(path, {"listed": ""}, {"links": ("links.csv", b"\n".join(table.splitlines()[:4]))})
    assert "2 invitations were withdrawn. 1 had been used" in page.text
    page = editor.post(path, {"listed": links[1]}).text
    assert "0 invitations were withdrawn. 1 were not known" in page
    page = editor.post(path, {"which": "all"}).text
    assert "2 invitations were withdrawn. 1 had been used" in page
    assert office.store.counts(single.id)["unspent"] == 0
    page = editor.post(path, {"listed": "no link"})
    assert (page.status, "must be a list of links" in page.alert) == (422, True)
    other = str(Link("https://example.org", "0" * 64, new_token()))
    page = editor.post(path, {"listed": f"{links[1]} {other}"})
    assert "1 of 2 links to it" in page.alert


def test_long_lists_are_withdrawn_in_parts(office, single):
    tokens = office.store.invite(single, 1500)
    text = "\n".join(str(Link("https://example.org", single.hash, token)) for token in tokens)
    assert withdraw_links(office.store, single, text).withdrawn == 1500


def test_closing_says_what_happens_first(office, single, shared, editor):
    assert "All invitations are forgotten" in editor.get(f"{home(single)}/close").text
    assert "invitations" not in editor.get(f"{home(shared)}/close").text.split("<main")[1]
    answer = editor.post(f"{home(single)}/close")
    assert (answer.status, answer.headers["location"]) == (303, home(single))
    assert office.store.is_closed(single.id)
    assert "It is closed already" in editor.get(f"{home(single)}/close").text
    page = editor.get(home(single)).text
    assert 'chip ended">ended' in page
    assert "Close it early" not in page


def test_the_page_on_closing_knows_how_long_reports_wait(office, editor):
    survey = office.store.freeze(survey_from_text(SINGLE.replace("send_interval: 0", "send_interval: 600")))
    assert "up to 20 minutes" in editor.get(f"{home(survey)}/close").text


def test_closing_while_reports_arrive_loses_none(office, shared, editor):
    """Every report that was acknowledged is in the results, and nothing else is."""
    link, rng = Link(office.address, shared.hash), np.random.default_rng(1)
    simulated = simulate_respondents(shared, 3000, rng, random_shares(shared, rng)).reports()
    acknowledged, refused, begun = [], [], threading.Event()

    def send(part) -> None:
        client = Client(office.address)
        for report in part:
            try:
                acknowledged.append(client.send(link, seal_report(shared.hash, report)))
            except SottovoceError as reason:
                refused.append(reason)
            if len(acknowledged) > 100:
                begun.set()
        client.close()

    threads = [threading.Thread(target=send, args=(simulated[start::4],)) for start in range(4)]
    for thread in threads:
        thread.start()
    begun.wait(60)
    assert editor.post(f"{home(shared)}/close").status == 303
    for thread in threads:
        thread.join()
    assert refused
    assert office.store.counts(shared.id)["reports"] == len(acknowledged) > 100
    listed = {receipt.hex() for receipt in office.store.receipts(shared.id)}
    assert set(acknowledged) == listed


def test_deleting_needs_the_title(office, single, editor):
    page = editor.get(f"{home(single)}/delete").text
    assert "type the title" in page
    answer = editor.post(f"{home(single)}/delete", {"title": "Honesty"})
    assert (answer.status, answer.alert) == (422, "The title is another one. Nothing was deleted.")
    assert office.store.survey(single.id) is not None
    assert editor.get(f"/s/{single.id}").status == 200
    answer = editor.post(f"{home(single)}/delete", {"title": "  Honesty at  work "})
    assert (answer.status, answer.headers["location"]) == (303, "/research")
    assert office.store.survey(single.id) is None
    assert editor.get(f"/s/{single.id}").status == 404, "nothing of it stays in memory"
    assert editor.get(home(single)).status == 404


def test_a_rehearsal_is_thrown_away_with_one_click(office, single, editor):
    trial = office.store.freeze(single.as_rehearsal())
    page = editor.get(home(trial)).text
    assert "Throw the rehearsal away" in page
    assert "type the title" not in editor.get(f"{home(trial)}/delete").text
    assert editor.post(f"{home(trial)}/delete").status == 303
    assert office.store.survey(trial.id) is None


def test_titles_cannot_do_harm(office, editor):
    text = SINGLE.replace("Honesty at work", f"'{EVIL}'").replace("Institute of Examples", f"'{EVIL}'")
    survey = office.store.freeze(survey_from_text(text))
    for path in ("", "/invitations", "/close", "/delete"):
        page = editor.get(home(survey) + path).text
        assert EVIL not in page
        assert EVIL in unescape(page)
    assert EVIL not in make(editor, survey, form="sheet").text
    name = make(editor, survey).headers["content-disposition"]
    assert name.startswith('attachment; filename="script-alert-1-script-links.csv"')


def test_counts_follow_reports(office, shared, editor):
    client = Client(office.address)
    client.answer(Link(office.address, shared.hash), {"q": "yes"})
    client.close()
    assert editor.get(f"{home(shared)}/counts").json()["reports"] == 1
