"""Drafts: made, edited by several people, checked, previewed and frozen; without a browser."""

import json
import re
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest
from sqlalchemy import update

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect import database
from sottovoce.surveys.collect.app_state import today
from sottovoce.surveys.dashboard import draft_numbers
from sottovoce.surveys.dashboard.accounts import Role
from sottovoce.surveys.dashboard.draft_numbers import REMEMBERED, Checked, Point, chart_of, check_draft, outlook
from sottovoce.surveys.dashboard.draft_pages import numbered_lines
from sottovoce.surveys.dashboard.drafts import FREEZING, MOST_CHARACTERS, ConflictError, Drafts, stored_logo
from sottovoce.surveys.definition.definition import sample_definition, survey_from_text
from sottovoce.surveys.definition.mistakes import Mistake
from sottovoce.surveys.report import ReportFormat

JSON = {"accept": "application/json"}
SMALL = f"""title: Tax
asker: Institute
purpose: To learn.
until: {today() + timedelta(days=9)}
odds: 3:1      # little
invitation: open
questions:
  - {{id: tax, kind: yes_no, text: Did you evade tax}}
"""


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\0\0\0")) + chunk(b"IEND", b"")
    )


class Desk:
    """Somebody with a draft."""

    def __init__(self, researcher, text: str = SMALL) -> None:
        self.who = researcher
        made = researcher.post("/research/drafts", {"kind": "text", "text": text, "anyway": "yes"})
        assert made.status == 303, made.text
        self.path = made.headers["location"]

    def state(self) -> dict:
        return self.who.get(f"{self.path}/state", **JSON).json()

    def save(self, revision: int, *, who=None, files=None, **fields):
        fields = {"revision": revision, "planned": 1000} | fields
        return (who or self.who).post(f"{self.path}/save", fields, files, **JSON)

    def check(self) -> dict:
        return self.who.get(f"{self.path}/check", **JSON).json()


@pytest.fixture
def owner(office):
    return office.researcher()


@pytest.fixture
def desk(owner):
    return Desk(owner)


@pytest.mark.parametrize("sample", ["health", "workplace", "exams", "doping"])
def test_a_survey_begins_with_a_sample(office, owner, sample):
    page = owner.get("/research/drafts/new")
    assert f'value="{sample}"' in page.text
    made = owner.post("/research/drafts", {"kind": "sample", "sample": sample})
    (draft,) = Drafts(office.store.engine).all()
    assert made.headers["location"] == f"/research/drafts/{draft.id}"
    assert draft.text == sample_definition(sample, today())
    assert (draft.editor, draft.revision, draft.planned, draft.frozen) == ("owner", 1, 1000, None)


def test_a_survey_begins_empty_and_says_what_is_missing(owner):
    path = owner.post("/research/drafts", {"kind": "empty"}).headers["location"]
    found = owner.get(f"{path}/check", **JSON).json()
    assert {mistake["field"] for mistake in found["mistakes"]} >= {"asker", "purpose", "questions"}
    assert "html" not in found
    assert owner.get(f"{path}/outlook", **JSON).json()["html"] == ""
    assert "Not yet" in owner.get(f"{path}/freeze").text


def test_an_uploaded_definition_shows_its_mistakes_at_their_lines(office, owner):
    wrong = SMALL.replace("odds: 3:1", "odds: <often>").replace("yes_no", "maybe").encode()
    page = owner.post("/research/drafts", {"kind": "text", "text": ""}, {"file": ("x.yaml", wrong)})
    assert page.status == 422
    assert "2 things in this definition are wrong" in page.text
    assert 'class="wrong" id="line-5"><span class="no">5</span><code>odds: &lt;often&gt;' in page.text
    assert 'class="wrong" id="line-8"' in page.text
    assert page.text.count("odds: &lt;often&gt;") == 2  # in the lines, and in the text that can be corrected
    assert Drafts(office.store.engine).all() == []
    made = owner.post("/research/drafts", {"kind": "text", "text": wrong.decode(), "anyway": "yes"})
    assert made.status == 303
    assert Drafts(office.store.engine).all()[0].text == wrong.decode()


def test_files_that_are_no_definition_are_refused_and_nothing_is_lost(office, owner):
    page = owner.post("/research/drafts", {"kind": "text", "text": "kept"}, {"file": ("x", b"\xff\xfe\x00")})
    assert page.status == 422
    assert "must be a text in UTF-8" in page.text
    large = b"title: " + b"x" * 2**20
    page = owner.post("/research/drafts", {"kind": "text", "text": "kept"}, {"file": ("x", large)})
    assert page.status == 422
    assert "262,144 characters" in page.text
    assert ">\nkept</textarea>" in page.text
    zero = owner.post("/research/drafts", {"kind": "text", "text": "a\0b"})
    assert "control characters" in zero.text
    assert Drafts(office.store.engine).all() == []


def test_json_is_a_definition_too(owner):
    fields = {"title": "T", "asker": "A", "purpose": "P", "until": "2999-12-31", "odds": "3"}
    text = json.dumps(fields | {"questions": [{"id": "a", "kind": "yes_no", "text": "A"}]})
    made = owner.post("/research/drafts", {"kind": "text", "text": text})
    assert made.status == 303
    assert owner.get(f"{made.headers['location']}/check", **JSON).json()["mistakes"] == []


def test_long_definitions_show_the_lines_around_their_mistakes():
    lines = numbered_lines(
        "\n" * 999, [Mistake("a", 500, "wrong"), Mistake("b", None, "whole"), Mistake("c", 2000, "far")]
    )
    numbers = [number for number, _, _ in lines]
    assert numbers == [1, 2, 3, 4, 5, None, *range(496, 505), None, *range(996, 1001)]
    assert [reasons for number, _, reasons in lines if reasons] == [["whole"], ["wrong"], ["far"]]


def test_a_change_of_the_form_keeps_the_text_that_it_does_not_touch(desk):
    state = desk.state()
    pairs = dict(map(tuple, ((key, index) for index, (key, _) in enumerate(state["tree"]["pairs"]))))
    state["tree"]["pairs"][pairs["odds"]][1] = "9:1"
    answer = desk.save(1, tree=json.dumps(state["tree"]))
    assert answer.status == 200
    assert answer.json()["text"] == SMALL.replace("3:1 ", "9:1 ")
    assert answer.json()["revision"] == 2
    assert desk.who.get(f"{desk.path}/definition.yaml").text == SMALL.replace("3:1 ", "9:1 ")


def test_the_text_can_be_broken_and_is_kept(desk):
    answer = desk.save(1, text="title: [\r\nrest\r").json()
    assert (answer["text"], answer["tree"], answer["revision"]) == ("title: [\nrest\n", None, 2)
    (mistake,) = desk.check()["mistakes"]
    assert mistake["line"] in (2, 3)
    assert "Untitled survey" in desk.who.get("/research").text


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"text": "x" * (MOST_CHARACTERS + 1)}, "characters"),
        ({"text": "x", "planned": 0}, "planned must be"),
        ({"text": "x", "revision": "one"}, "revision must be"),
        ({"tree": "{"}, "must be JSON"),
        ({"tree": "[" * 100_000}, "must be"),
        ({"tree": "[]"}, "tree must be"),
    ],
)
def test_changes_that_make_no_sense_are_refused(desk, fields, reason):
    answer = desk.save(**{"revision": 1} | fields)
    assert answer.status == 422
    assert reason in answer.json()["reason"]
    assert desk.state()["revision"] == 1


def test_two_editors_of_one_draft_overwrite_nothing(office, desk):
    other = office.researcher(Role.EDITOR, "bob")
    assert desk.save(1, text=SMALL.replace("Tax", "Theirs"), who=other).json()["revision"] == 2
    answer = desk.save(1, text=SMALL.replace("Tax", "Mine"))
    assert answer.status == 409
    told = answer.json()
    assert (told["error"], told["editor"], told["revision"]) == ("conflict", "bob", 2)
    assert told["lines"][:3] == [["mine", "title: Mine"], ["theirs", "title: Theirs"], ["both", "asker: Institute"]]
    assert "title: Mine" in told["mine"]
    assert desk.state()["text"] == SMALL.replace("Tax", "Theirs")
    assert desk.save(2, text=told["mine"]).json()["revision"] == 3  # keep mine


def test_saving_the_same_again_is_no_conflict(desk):
    """The answer to a save may be lost, and the browser saves again."""
    assert desk.save(1, text=SMALL + "# more\n").json()["revision"] == 2
    assert desk.save(1, text=SMALL + "# more\n").json()["revision"] == 2


def test_simultaneous_saves_make_one_revision(office, desk):
    with ThreadPoolExecutor(4) as pool:
        texts = [SMALL.replace("Tax", f"Tax {number}") for number in range(4)]
        answers = list(pool.map(lambda text: desk.save(1, text=text).status, texts))
    assert sorted(answers) == [200, 409, 409, 409]
    assert desk.state()["revision"] == 2


def test_a_deleted_draft_says_so(office, desk):
    assert desk.who.post(f"{desk.path}/delete").status == 303
    answer = desk.save(1, text="x")
    assert (answer.status, answer.json()["error"]) == (404, "deleted")
    assert "somebody has deleted it" in desk.who.get(desk.path).alert
    assert desk.who.get(f"{desk.path}/preview/{'0' * 16}").status == 404
    made = desk.who.post(
        "/research/drafts", {"kind": "text", "anyway": "yes", "tree": '{"pairs": [["title", "Saved"]]}'}
    )
    assert made.status == 303
    assert Drafts(office.store.engine).all()[0].text == "title: Saved\n"


def test_a_draft_that_is_deleted_while_it_is_saved(office, desk):
    drafts = Drafts(office.store.engine)
    (draft,) = drafts.all()
    drafts.delete(draft.id)
    assert drafts.save(replace(draft, text="x")) is None


def test_a_save_that_meets_a_deletion_says_so(office, desk, monkeypatch):
    monkeypatch.setattr(Drafts, "save", lambda *_: None)
    assert desk.save(1, text="x").json()["error"] == "deleted"


def test_readers_see_drafts_and_cannot_change_them(office, desk):
    reader = office.researcher(Role.READER)
    page = reader.get(desk.path)
    assert page.status == 200
    assert "You can read this draft" in page.text
    assert f"{desk.path}/freeze" not in page.text
    assert "New survey" not in reader.get("/research").text
    assert reader.get(f"{desk.path}/check", **JSON).status == 200
    for path in ("save", "copy", "delete", "freeze"):
        assert reader.post(f"{desk.path}/{path}", {"revision": 1}).status == 403
    for path in ("/research/drafts/new", f"{desk.path}/freeze"):
        assert reader.get(path).status == 403
    assert reader.post("/research/drafts", {"kind": "empty"}).status == 403


def test_without_a_session_nothing_answers(office, desk):
    address = desk.check()["preview"]["address"]
    stranger = type(desk.who)(office.address)
    ends = ("", "/state", "/check", "/outlook", "/definition.yaml", "/logo", "/freeze")
    below = ("", "/survey.json", "/audit", "/audit.json", "/logo", "/receipts")
    for path in [*(desk.path + end for end in ends), *(address + end for end in below), "/research/drafts/new"]:
        assert stranger.get(path).status == 303, path
        assert stranger.get(path, **JSON).status == 401, path
    for path in (f"{desk.path}/save", f"{desk.path}/delete", f"{address}/reports", "/research/drafts"):
        assert stranger.post(path, **JSON).status == 401, path


def test_changes_need_the_token(desk):
    desk.who.csrf = "0" * 64
    assert desk.save(1, text="x").status == 403


def test_a_logo_is_stored_with_the_draft(desk):
    assert desk.who.get(f"{desk.path}/logo", **JSON).status == 404
    text = SMALL + "logo: our logo.png\n"
    assert desk.save(1, text=text).status == 200
    (mistake,) = desk.check()["mistakes"]
    assert mistake["field"] == "logo"
    assert "choose the picture in the form" in mistake["text"]
    refused = desk.save(2, text=text, files={"logo": ("x.svg", b"<svg/>")})
    assert refused.status == 422
    assert "PNG or WebP" in refused.json()["reason"]
    assert desk.save(2, text=text, files={"logo": ("x.png", b"\x89PNG\r\n\x1a\n" + bytes(100_000))}).status == 422
    assert desk.save(2, text=text, files={"logo": ("x.png", png())}).json()["has_logo"]
    found = desk.check()
    assert found["mistakes"] == []
    logo = desk.who.get(f"{desk.path}/logo")
    assert (logo.body, logo.headers["content-type"]) == (png(), "image/png")
    assert desk.who.get(f"{found['preview']['address']}/logo").body == png()


def test_numbers_while_editing(desk):
    found = desk.check()
    assert found["summary"] == {"odds": "3 : 1", "strength": "deniable", "worst": pytest.approx(0.062, abs=0.001)}
    assert found["questions"]["tax"]["odds"] == "3 : 1"
    for words in ("by a factor of at most 3", "± 6.2", "Smallest difference", "With 1,000 respondents"):
        assert words in found["html"], words
    later = desk.who.get(f"{desk.path}/outlook", **JSON).json()["html"]
    assert "<svg" in later
    assert "style=" not in later + found["html"]
    assert "Respondents for ± 5 points" in later
    desk.save(1, text=SMALL, planned=20)
    assert "Advice" in desk.who.get(f"{desk.path}/outlook", **JSON).json()["html"]
    assert "With 20 respondents" in desk.check()["html"]


def test_numbers_of_other_surveys():
    head = SMALL.partition("questions")[0].replace("3:1", "5000:1")
    weak = (
        head + "weak: accepted\nquestions: [{id: a, kind: yes_no, text: A, odds: 20:1}, {id: b, kind: yes_no, text: B}]"
    )
    numbers = check_draft(weak, None, 500, today()).survey
    assert numbers.strength == "very weak"
    assert len(numbers.warnings) == 3
    assert [part.odds for part in numbers.parts] == ["20 : 1", "250 : 1"]
    found = outlook(weak, None, 500, today())
    assert [point.odds for point in found.points] == [50, 100, 200, 500, 1000]  # less is not enough for 20 : 1
    assert chart_of(found.points, found.chosen).chosen is None  # beyond the scale


def test_odds_without_a_limit_are_called_so():
    assert draft_numbers._odds(None) == "no limit"
    assert draft_numbers._odds(Fraction(3125, 1000)) == "3.13 : 1"
    assert draft_numbers._odds(Fraction(12345)) == "12,400 : 1"


def test_drafts_without_a_survey_have_no_outlook_and_no_logo():
    assert check_draft("title: T", None, 100, today()).survey is None
    assert outlook("title: T", None, 100, today()) is None
    with pytest.raises(FileNotFoundError):
        stored_logo(None)("logo.png")
    assert stored_logo(b"x")("logo.png") == b"x"


def test_few_results_are_remembered(office, desk):
    kept = draft_numbers._recent
    kept.update({(f"text {number}", None, 1, today()): Checked(()) for number in range(REMEMBERED)})
    desk.check()
    assert len(kept) == REMEMBERED


def test_picked_questions_are_told():
    text = sample_definition("exams", today())
    numbers = check_draft(text, None, 1000, today()).survey
    assert [part.picked for part in numbers.parts] == ["", "1 of 2, picked at random"]
    assert numbers.sampling == "Each report speaks of 3 of 4 answers, drawn at random."
    assert numbers.public == ("In which year of your studies are you?",)


def test_the_chart_has_a_scale_for_every_margin():
    high = chart_of([Point(2, 0.5, 0.4), Point(1000, 0.1, 0.05)], Point(100, 0.2, 0.1))
    assert [text for _, text in high.margins] == ["0", "10", "20", "30", "40", "50"]
    assert high.chosen is not None
    assert high.worst.startswith("36.0,")
    assert [text for _, text in chart_of([Point(2, 0.03, 0.02)], None).margins] == ["0", "2", "4"]
    assert chart_of([], None).worst == ""
    assert [text for _, text in chart_of([Point(2, 2, 2)], None).margins][-1] == "200"


def test_frozen_surveys_have_no_request_and_no_curve():
    survey = survey_from_text(SMALL)
    assert draft_numbers._point(replace(survey, request=None), 3, 100) is None


def test_the_preview_is_the_respondents_page_and_stores_nothing(office, desk):
    found = desk.check()["preview"]
    page = desk.who.get(found["address"])
    assert page.status == 200
    assert "frame-ancestors 'self'" in page.headers["content-security-policy"]
    assert page.headers["x-frame-options"] == "SAMEORIGIN"
    assert desk.who.get(desk.path).headers["x-frame-options"] == "DENY"
    assert f'href="{found["address"]}/survey.json"' in page.text
    document = desk.who.get(f"{found['address']}/survey.json")
    assert b'"rehearsal":true' in document.body
    assert "survey.json" in desk.who.get(f"{found['address']}/audit").text
    assert desk.who.get(f"{found['address']}/audit.json").json()["rehearsal"]
    assert desk.who.get(f"{found['address']}/logo", **JSON).status == 404
    survey = survey_from_text(SMALL)
    report = bytes(ReportFormat(survey.plan).length).hex()
    sent = {"survey": found["hash"], "report": report, "key": "0" * 32, "token": None}
    answer = desk.who.post(f"{found['address']}/reports", {"submission": json.dumps(sent)}, **JSON)
    assert answer.status == 201
    receipt = answer.json()["receipt"]
    assert desk.who.get(f"{found['address']}/receipts", **JSON).json() == {"count": 1, "receipts": [receipt]}
    wrong = desk.who.post(f"{found['address']}/reports", {"submission": json.dumps(sent | {"report": "ff"})}, **JSON)
    assert (wrong.status, wrong.json()["error"]) == (422, "unfit")
    assert office.store.surveys() == []
    desk.save(1, text=SMALL.replace("Tax", "Taxes"))
    assert desk.who.get(found["address"], **JSON).status == 404  # of the draft as it was


def test_freezing_shows_what_is_promised_and_is_for_good(office, desk):
    page = desk.who.get(f"{desk.path}/freeze").text
    survey = survey_from_text(SMALL)
    for words in ("by a factor of at most 3", survey.definition_hash, "cannot be changed", "One open link"):
        assert words in page, words
    answer = desk.who.post(f"{desk.path}/freeze", {"revision": 1})
    assert answer.headers["location"] == f"/research/surveys/{survey.id}"
    assert office.store.surveys() == [survey.id]
    draft = desk.state()
    assert draft["frozen"] == survey.id
    told = desk.save(1, text=SMALL + "# more\n")
    assert (told.status, told.json()["error"]) == (409, "frozen")
    assert desk.save(1, text=SMALL).status == 409
    assert f"/research/surveys/{survey.id}" in desk.who.get(desk.path).text
    assert "frozen already" in desk.who.get(f"{desk.path}/freeze").text
    assert desk.who.post(f"{desk.path}/freeze", {"revision": 1}).headers["location"] == desk.path
    listed = desk.who.get("/research").text
    assert f"/research/surveys/{survey.id}" in listed
    assert desk.path not in listed
    copied = desk.who.post(f"{desk.path}/copy").headers["location"]
    assert desk.who.get(f"{copied}/state", **JSON).json()["frozen"] is None
    office.store.delete_survey(survey.id)
    assert "its survey is not here any more" in desk.who.get(desk.path).text


def test_what_was_not_shown_is_not_frozen(office, desk):
    other = office.researcher(Role.EDITOR, "bob")
    desk.save(1, text=SMALL.replace("Tax", "Other"), who=other)
    page = desk.who.post(f"{desk.path}/freeze", {"revision": 1})
    assert page.status == 409
    assert page.alert.startswith("bob has changed the draft")
    assert office.store.surveys() == []


def test_a_past_last_day_or_weak_odds_are_not_frozen(office, desk):
    for text, field in (
        (SMALL.replace(str(today() + timedelta(days=9)), "2020-01-01"), "until"),
        (SMALL.replace("3:1", "5000:1"), "odds"),
    ):
        revision = desk.state()["revision"]
        revision = desk.save(revision, text=text).json()["revision"]
        assert [mistake["field"] for mistake in desk.check()["mistakes"]] == [field]
        page = desk.who.post(f"{desk.path}/freeze", {"revision": revision})
        assert (page.status, page.alert) == (409, "This draft cannot be frozen yet.")
    assert office.store.surveys() == []


def test_a_failed_freeze_leaves_the_draft_as_it_was(office, desk):
    drafts = Drafts(office.store.engine)
    (draft,) = drafts.all()

    def fail() -> str:
        with pytest.raises(ConflictError):  # nobody saves while the survey is being frozen
            drafts.save(replace(draft, text="x"))
        raise SottovoceError("survey", "must be", "another")

    with pytest.raises(SottovoceError):
        drafts.freeze(draft, fail)
    assert drafts.get(draft.id) == draft
    drafts.save(replace(draft, text="x"))
    assert drafts.freeze(draft, lambda: "0" * 16) is None


def test_a_freeze_that_a_crash_cut_off_is_finished_by_another(office, desk):
    survey = office.store.freeze(survey_from_text(SMALL))
    with database.writing(office.store.engine) as connection:  # what a server leaves that is killed at this moment
        connection.execute(update(database.drafts).values(frozen=FREEZING))
    assert desk.path in desk.who.get("/research").text
    page = desk.who.get(desk.path).text
    assert "not finished" in page
    assert f"{desk.path}/freeze" in page
    assert f"{desk.path}/freeze" not in office.researcher(Role.READER).get(desk.path).text
    assert desk.save(1, text=SMALL + "# more\n").status == 409
    assert "Freeze it for good" in desk.who.get(f"{desk.path}/freeze").text
    answer = desk.who.post(f"{desk.path}/freeze", {"revision": 1})
    assert answer.headers["location"] == f"/research/surveys/{survey.id}"
    assert office.store.surveys() == [survey.id]


NASTY = "<script>alert(1)</script>\"'&{{7919*7907}} 😀 مرحبا \u202e" + "x" * 300


def test_texts_come_out_harmless_and_whole(desk):
    text = f"""title: {json.dumps(NASTY, ensure_ascii=False)}
asker: {json.dumps(NASTY, ensure_ascii=False)}
purpose: P
until: 2999-12-31
odds: 100:1
questions:
  - id: {json.dumps("<i>" + NASTY, ensure_ascii=False)}
    kind: single
    text: {json.dumps(NASTY, ensure_ascii=False)}
    answers: [{json.dumps(NASTY, ensure_ascii=False)}, b]
  - {{id: pub, kind: single, public: true, text: {json.dumps(NASTY, ensure_ascii=False)}, answers: [a, b]}}
"""
    desk.save(1, text=text)
    found = desk.check()
    assert found["mistakes"] == []
    later = desk.who.get(f"{desk.path}/outlook", **JSON).json()["html"]
    pages = [
        found["html"],
        later,
        *(desk.who.get(path).text for path in (desk.path, f"{desk.path}/freeze", "/research")),
    ]
    for page in pages:
        assert "<script>alert" not in page
        assert "<i>" not in page
        assert str(7919 * 7907) not in page  # no template was filled in
    assert desk.state()["text"] == text
    name = desk.who.get(f"{desk.path}/definition.yaml").headers["content-disposition"]
    assert re.fullmatch(r'attachment; filename="[A-Za-z0-9-]{1,60}\.yaml"', name)


def test_the_list_has_all_kinds_of_surveys(office, owner):
    Desk(owner)
    survey = office.store.freeze(survey_from_text(SMALL))
    rehearsal = office.store.freeze(survey.as_rehearsal())
    ended = office.store.freeze(survey_from_text(SMALL.replace("Tax", "Ended")).as_rehearsal())
    office.store.close_survey(ended.id)
    page = owner.get("/research").text
    places = [
        page.index(words)
        for words in (">Drafts<", ">Open<", survey.id, ">Rehearsals<", rehearsal.id, ">Ended<", ended.id)
    ]
    assert places == sorted(places)


def test_titles_of_all_kinds(office):
    drafts = Drafts(office.store.engine)
    for text, title in (
        ("title: {en: '', de: Steuer}", "Steuer"),
        ("title: [a]", "Untitled survey"),
        ("[", "Untitled survey"),
        ("- a", "Untitled survey"),
        ("title:", "Untitled survey"),
    ):
        assert drafts.create(text, "ada").title == title
