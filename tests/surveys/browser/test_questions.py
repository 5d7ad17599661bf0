"""Public questions, scales, matrices, limits, shuffled answers and missing texts, as people meet them."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe

from sottovoce.surveys.client.client import Submission
from sottovoce.surveys.report import ReportFormat

pytestmark = pytest.mark.slow  # the core of the page's tests is test_walk and test_admission

DEFINITION = """
title: {en: Trust, de: Vertrauen}
asker: {en: Institute of Examples, de: Beispielinstitut}
purpose: To learn whom people trust.
languages: [en, de]
until: 2100-12-31
odds: 100:1
invitation: open
send_interval: 0
split: true
questions:
  - {id: ward, kind: single, text: {en: Ward, de: Bezirk}, answers: {n: North, s: South}, public: true}
  - {id: street, kind: single, text: Street, answers: {a: A, b: B}, public: true, when: {ward: n}}
  - id: seen
    kind: several
    text: Seen
    answers: {a: A, b: B, c: C, d: D, e: E, f: F, g: G, h: H}
    decline: true
    shuffle: true
    least: 1
    most: 2
  - id: trust
    kind: matrix
    text: I trust
    help: Think of last year.
    items: {press: the press, police: the police}
    steps: 5
    ends: [never, always]
  - {id: fear, kind: scale, text: Fear, steps: 3, ends: [low, high], when: {trust_press: "1"}}
"""


@pytest.fixture
def trust(tmp_path, serving):
    with serving(tmp_path, DEFINITION) as site:
        yield site


def check(page) -> None:
    found = Axe().run(page).response["violations"]
    assert [(v["id"], [node["html"] for node in v["nodes"]]) for v in found] == []


def next_screen(page) -> None:
    page.click("button.primary")


def test_the_questions_that_surveys_ask(trust, device, heading_is):
    page = device(bypass_csp=True, reduced_motion="reduce")
    sent = []
    page.on("request", lambda request: sent.append(request.post_data) if request.method == "POST" else None)
    page.goto(trust.link())
    heading_is(page, "Trust")
    assert "Questions that are marked as public are the exception" in page.inner_text(".promise")
    next_screen(page)
    heading_is(page, "Ward")
    assert page.inner_text(".steps") == "Screen 1 of 5"
    assert page.inner_text(".public").startswith("This answer is public: it is sent as you give it")
    check(page)
    page.get_by_label("North").check()
    next_screen(page)
    heading_is(page, "Street")
    page.get_by_label("B").check()
    next_screen(page)

    choose_some(page, heading_is)
    fill_the_matrix(page, heading_is)

    page.wait_for_selector(".answers")
    shown = page.inner_text(".answers")
    assert "I trust the police" in shown
    page.get_by_role("button", name="Change: I trust the police").click()
    heading_is(page, "I trust")
    next_screen(page)
    page.wait_for_selector(".answers")
    next_screen(page)
    page.wait_for_selector(".coins")
    assert page.locator(".coins .plain").all_inner_texts()[-2:] == ["North", "B"]  # as given, behind what was left out
    check(page)
    next_screen(page)
    page.wait_for_selector(".receipt")
    report = bytes.fromhex(json.loads(sent[-1])["report"])
    assert ReportFormat(trust.survey.plan).fits(report)
    assert list(report[-2:]) == [0, 1]  # north, B: as they were given
    assert trust.reports() == [report]


def choose_some(page, heading_is) -> None:
    """One of several answers, after too few and too many; their order stays when one goes back."""
    heading_is(page, "Seen")
    assert page.locator(".public").count() == 0
    assert page.inner_text("fieldset .note") == "Please choose 1 to 2."
    order = page.locator(".option").all_inner_texts()
    assert sorted(order[:-1]) == list("ABCDEFGH")
    assert order[-1] == "Prefer not to say"
    next_screen(page)
    assert page.inner_text("[role=alert]") == "Please choose 1 to 2."
    for name in ("A", "B", "C"):
        page.get_by_label(name, exact=True).check()
    next_screen(page)
    assert page.inner_text("[role=alert]") == "Please choose 1 to 2."
    page.get_by_label("Prefer not to say").check()
    assert page.locator("input:checked").count() == 1
    page.get_by_label("C", exact=True).check()
    next_screen(page)
    heading_is(page, "I trust")
    page.get_by_role("button", name="Back").click()
    heading_is(page, "Seen")
    assert page.locator(".option").all_inner_texts() == order
    assert page.locator("input:checked").get_attribute("value") == "c"
    next_screen(page)


def fill_the_matrix(page, heading_is) -> None:
    """A step for each item, after one was forgotten."""
    heading_is(page, "I trust")
    assert page.inner_text(".steps") == "Screen 4 of 5"
    check(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    press, police = page.get_by_role("radiogroup", name="the press"), page.get_by_role("radiogroup", name="the police")
    assert press.get_by_label("5 (always)").is_visible()
    press.get_by_label("4").check()
    next_screen(page)
    assert page.inner_text("[role=alert]") == "Please choose an answer in every row."
    page.keyboard.press("Space")  # the focus is on the row that is missing
    page.keyboard.press("ArrowDown")
    assert police.get_by_label("2").is_checked()
    next_screen(page)
    heading_is(page, "This screen is not used")
    page.get_by_role("button", name="Next").click()


def test_a_matrix_is_a_table_where_there_is_room_and_texts_say_their_language(trust, device, heading_is):
    page = device(viewport={"width": 1280, "height": 800}, is_mobile=False, locale="de-DE", bypass_csp=True)
    page.goto(trust.link())
    heading_is(page, "Vertrauen")
    next_screen(page)
    heading_is(page, "Bezirk")
    assert page.get_attribute("h1", "lang") is None
    assert page.get_attribute(".option span >> nth=0", "lang") == "en"
    page.get_by_label("South").check()
    next_screen(page)
    page.wait_for_selector(".unused")
    next_screen(page)
    page.get_by_label("Möchte ich nicht sagen").check()
    assert page.get_attribute("h1", "lang") == "en"
    next_screen(page)
    heading_is(page, "I trust")
    check(page)
    heads, *rows = page.locator(".matrix .item").all()
    assert heads.is_visible()
    assert len(rows) == 2
    tops = {round(option.bounding_box()["y"]) for option in rows[0].locator(".option").all()}
    assert len(tops) == 1  # all steps in one line
    for column, option in enumerate(rows[1].locator("input").all()):
        head = heads.locator("span").nth(column).bounding_box()
        box = option.bounding_box()
        assert head["x"] <= box["x"] + box["width"] / 2 <= head["x"] + head["width"]


def test_limits_are_said_in_words(tmp_path, phone, serving, heading_is):
    limits = ["least: 2, most: 2", "most: 2", "least: 1"]
    questions = "".join(
        f"  - {{id: q{i}, kind: several, text: Q{i}, answers: [a, b, c], {limit}}}\n" for i, limit in enumerate(limits)
    )
    head = DEFINITION.partition("questions:")[0].replace("languages: [en, de]\n", "")
    head = head.replace("{en: Trust, de: Vertrauen}", "Trust").replace(
        "{en: Institute of Examples, de: Beispielinstitut}", "A"
    )
    with serving(tmp_path, f"{head}questions:\n{questions}") as site:
        phone.goto(site.link())
        heading_is(phone, "Trust")
        next_screen(phone)
        for index, told in enumerate(("exactly 2", "no more than 2", "1 to 3")):
            heading_is(phone, f"Q{index}")
            assert phone.inner_text("fieldset .note") == f"Please choose {told}."
            for name in "ab":
                phone.get_by_label(name, exact=True).check()
            next_screen(phone)
        phone.wait_for_selector(".answers")


def test_a_forged_public_answer_is_refused(trust):
    from http.client import HTTPConnection
    from urllib.parse import urlsplit

    import msgspec

    connection = HTTPConnection(urlsplit(trust.address).netloc)
    length = ReportFormat(trust.survey.plan).length
    for last in (b"\x02\x00", b"\x00\x03", b"\xff\xff"):
        body = msgspec.json.encode(Submission(trust.survey.hash, (bytes(length - 2) + last).hex(), "00" * 16, None))
        headers = {"Content-Type": "application/json"}
        connection.request("POST", f"/s/{trust.survey.id}/reports", body, headers)
        response = connection.getresponse()
        assert (response.status, json.loads(response.read())["error"]) == (422, "unfit")
    connection.close()
