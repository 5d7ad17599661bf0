"""A respondent's way through a survey, in a real browser: on a phone, by keyboard, over a bad connection."""

import json
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.page.files import address


def heading(page) -> str:
    return page.inner_text("main h1")


def test_a_phone_by_keyboard_through_a_reload_and_a_lost_connection(site, phone, walk):
    """The only report stored is the one that was sealed before the connection came back; truths are nowhere."""
    requests: list[tuple[str, str | None]] = []
    phone.on("request", lambda request: requests.append((request.url, request.post_data)))
    phone.goto(site.link())
    walk(phone, 1, 1, send=False)
    phone.reload()  # nothing of the answers was kept: the survey begins again
    walk(phone, 1, 1, 0, send=False)
    phone.context.set_offline(True)
    phone.focus("button.primary")
    phone.keyboard.press("Enter")
    phone.wait_for_function("() => document.querySelector('[role=status]').innerText.includes('No connection yet')")
    assert site.reports() == []
    kept = phone.evaluate("Object.entries(localStorage)")
    assert [name for name, _ in kept] == [f"sottovoce sealed {site.survey.hash}"]
    sealed = kept[0][1]
    phone.context.set_offline(False)
    phone.wait_for_selector(".receipt", timeout=15_000)
    assert [report.hex() for report in site.reports()] == [json.loads(sealed)["report"]]
    assert phone.evaluate("Object.entries(localStorage)") == [[f"sottovoce answered {site.survey.hash}", "yes"]]
    sent = {body for url, body in requests if url.endswith("/reports")}
    assert sent == {sealed}
    assert {url.split("/")[2] for url, _ in requests} == {site.address.split("/")[2]}
    phone.reload()
    phone.wait_for_function("() => document.querySelector('main h1').innerText === 'Already answered'")


def test_nothing_about_a_person_is_stored_or_logged(site, phone, walk):
    agent = phone.evaluate("navigator.userAgent")
    phone.goto(site.link())
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt")
    assert phone.context.cookies() == []
    for trace in (agent, "Chrome", "127.0.0.1", "Mozilla"):
        assert trace.encode() not in site.everything_stored()
        assert trace not in site.log.getvalue()


def test_what_was_sent_is_shown_with_a_receipt(site, phone, walk):
    phone.goto(site.link())
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt")
    (report,) = site.reports()
    assert phone.inner_text(".sent code") == report.hex()
    said = phone.locator("dd").all_inner_texts()
    names = [["No", "Yes"], ["A little", "A lot", "I prefer not to say", "not asked"]]
    assert said[:2] == [names[0][report[0]], names[1][report[1]]]
    sets = {(0, 0): "none of these", (1, 0): "Pens", (0, 1): "Paper", (1, 1): "Pens, Paper"}
    assert said[2] in (sets[report[2], report[3]], sets[report[2], report[3]].replace(", ", " "))


def test_invitations_are_spent_once(tmp_path, chromium, serving, definition, walk, small_screen):
    with serving(tmp_path, definition.replace("invitation: open", "invitation: single")) as site:
        store = Store(str(site.database))
        (token,) = store.invite(site.survey, 1)
        store.close()
        pages = [chromium.new_context(**small_screen).new_page() for _ in range(3)]
        pages[0].goto(site.link())
        pages[0].wait_for_function("() => document.querySelector('main h1').innerText === 'An invitation is needed'")
        for page in pages[1:]:
            page.goto(site.link(token))
            walk(page, 0, 1)
        pages[1].wait_for_selector(".receipt")
        assert pages[1].url == site.link()  # the invitation is gone from the address bar
        pages[2].wait_for_selector("[role=alert]")
        assert "has been used" in pages[2].inner_text("[role=alert]")
        assert len(site.reports()) == 1
        for page in pages:
            page.context.close()


def test_a_new_invitation_carries_the_same_report(tmp_path, phone, serving, definition, walk):
    """Whose invitation was used by somebody else is not locked out, and no coin is tossed again."""
    bodies: list[dict] = []
    phone.on("request", lambda request: request.post_data and bodies.append(json.loads(request.post_data)))
    with serving(tmp_path, definition.replace("invitation: open", "invitation: single")) as site:
        phone.goto(site.link("x" * 21))  # a link that was cut off
        phone.wait_for_function("() => document.querySelector('main h1').innerText === 'An invitation is needed'")
        phone.goto("about:blank")
        phone.goto(site.link("x" * 22))
        walk(phone, 0, 1)
        phone.wait_for_selector("[role=alert]")
        store = Store(str(site.database))
        (token,) = store.invite(site.survey, 1)
        store.close()
        phone.goto("about:blank")
        phone.goto(site.link(token))
        phone.wait_for_selector(".receipt")
        assert [body.pop("token") for body in bodies] == ["x" * 22, "x" * 22, token]
        assert bodies[0] == bodies[1] == bodies[2]
        assert [report.hex() for report in site.reports()] == [bodies[0]["report"]]


def test_an_open_survey_needs_no_invitation_and_sends_none(site, phone, walk):
    phone.goto(site.link("x" * 22))
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt")
    assert len(site.reports()) == 1


def test_a_browser_that_stores_nothing_still_sends_the_one_report(site, phone, walk):
    """As long as the page is open it knows what it sealed, and that it was answered."""
    phone.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); }")
    bodies: list[str] = []
    phone.on("request", lambda request: request.post_data and bodies.append(request.post_data))
    phone.goto(site.link())
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt")
    assert phone.evaluate("localStorage.length") == 0
    assert [report.hex() for report in site.reports()] == [json.loads(body)["report"] for body in bodies]


def test_a_server_that_fails_is_not_taken_for_a_false_survey(site, phone):
    phone.route("**/survey.json", lambda route: route.fulfill(status=502, body="Bad gateway"))
    phone.goto(site.link())
    phone.wait_for_function("() => document.querySelector('main h1').innerText === 'No connection'")
    phone.unroute("**/survey.json")
    phone.click("button")
    phone.wait_for_selector("button.primary")


def test_after_a_refusal_the_same_bytes_are_sent_again(site, phone, walk):
    """Fresh coins would let a server that refuses everything average them away."""
    bodies: list[str] = []

    def refuse(route):
        bodies.append(route.request.post_data)
        if len(bodies) < 3:
            reply = {"error": "unfit", "reason": "The report has another length."}
            route.fulfill(status=422, content_type="application/json", body=json.dumps(reply))
        else:
            route.continue_()

    phone.route("**/reports", refuse)
    phone.goto(site.link())
    walk(phone, 0, 1)
    phone.wait_for_selector("[role=alert]")
    assert "another length" in phone.inner_text("[role=alert]")
    phone.reload()  # a reload does not ask again either
    phone.wait_for_selector("[role=alert]")
    phone.click("button.primary")
    phone.wait_for_selector(".receipt")
    assert len(bodies) == 3
    assert len(set(bodies)) == 1


def test_a_false_receipt_is_noticed(site, phone, walk):
    body = json.dumps({"receipt": "0" * 16})
    phone.route("**/reports", lambda route: route.fulfill(status=201, content_type="application/json", body=body))
    phone.goto(site.link())
    walk(phone, 0, 1)
    phone.wait_for_selector("[role=alert]")
    assert "not that of your report" in phone.inner_text("[role=alert]")


def test_busy_servers_are_asked_again(site, phone, walk):
    calls: list[int] = []

    def busy(route):
        calls.append(1)
        if len(calls) < 3:
            route.fulfill(status=503 if len(calls) == 1 else 429, headers={"Retry-After": "1"}, body="{}")
        else:
            route.continue_()

    phone.route("**/reports", busy)
    phone.goto(site.link())
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt", timeout=15_000)
    assert len(site.reports()) == 1


@pytest.mark.parametrize("language", ["ar", "en"])
def test_pages_speak_the_persons_language(site, chromium, small_screen, language):
    context = chromium.new_context(**small_screen | {"locale": language})
    page = context.new_page()
    page.goto(site.link())
    page.wait_for_selector("button.primary")
    assert page.get_attribute("html", "dir") == {"ar": "rtl", "en": "ltr"}[language]
    assert heading(page) == site.survey.title[language]
    before = heading(page)
    page.select_option("#language", "ar" if language == "en" else "en")
    page.wait_for_function("before => document.querySelector('main h1').innerText !== before", arg=before)
    context.close()


def test_words_that_do_not_arrive_do_not_stop_the_page(site, chromium, small_screen):
    """The questions are in the person's language, the buttons in the survey's first one."""
    context = chromium.new_context(**small_screen | {"locale": "ar"})
    page = context.new_page()
    page.route("**/texts/ar.js", lambda route: route.abort())
    page.goto(site.link())
    page.wait_for_selector("button.primary")
    assert heading(page) == site.survey.title["ar"]
    assert page.inner_text("button.primary >> visible=true") == "Begin"
    context.close()


def test_coins_that_cannot_be_tried_do_not_stop_the_page(site, phone):
    phone.route("**/demo.js", lambda route: route.abort())
    phone.goto(site.link())
    phone.click("summary")
    phone.wait_for_selector(".demo p")
    assert "could not be loaded" in phone.inner_text(".demo")
    phone.click("button.primary")
    phone.wait_for_selector("fieldset")


def test_prefer_not_to_say_excludes_other_answers(tmp_path, phone, serving, definition, walk):
    definition = definition.rstrip() + '\n    decline: {en: "I prefer not to say", ar: "أفضل"}\n'
    with serving(tmp_path, definition) as site:
        phone.goto(site.link())
        walk(phone, 0, send=False)
        boxes = phone.locator("input[type=checkbox]")
        boxes.nth(0).check()
        boxes.nth(2).check()
        assert [boxes.nth(i).is_checked() for i in range(3)] == [False, False, True]
        boxes.nth(1).check()
        assert [boxes.nth(i).is_checked() for i in range(3)] == [False, True, False]
        phone.click("button.primary")
        phone.wait_for_selector(".answers")
        assert phone.locator(".answers strong").all_inner_texts() == ["No", "Paper"]
        phone.locator(".answers button").nth(0).click()
        phone.wait_for_selector("fieldset")
        assert phone.locator("input").nth(0).is_checked()


DRAWS = """async ([assets, hash, answers, times]) => {
    const { readSurvey } = await import(`${assets}documents.js`);
    const { seal } = await import(`${assets}submission.js`);
    const response = await fetch(`/s/${hash.slice(0, 16)}/survey.json`);
    const survey = await readSurvey(new Uint8Array(await response.arrayBuffer()), hash);
    return Array.from({ length: times }, () => JSON.parse(seal(survey, hash, null, new Map(answers))).report);
}"""


def distribution_of(survey, truth: tuple[int, ...]) -> dict[str, float]:
    """Probability of each report, from the channels of the plan."""
    distribution = {"": 1.0}
    used = 0
    for group in survey.plan.groups:
        sizes = group.mechanism.sizes
        codes = truth[used : used + len(sizes)]
        used += len(sizes)
        column = group.mechanism.channel.dense()[:, np.ravel_multi_index(codes, sizes)]
        parts = ["".join(f"{code:02x}" for code in np.unravel_index(cell, sizes)) for cell in range(len(column))]
        distribution = {
            before + part: p * q for before, p in distribution.items() for part, q in zip(parts, column, strict=True)
        }
    return distribution


def check_against(reports: list[str], distribution: dict[str, float]) -> None:
    """Chi-square at a level of one in ten thousand; reports that are expected less than five times are one cell."""
    counts, total = Counter(reports), len(reports)
    assert set(counts) <= set(distribution)
    common = [report for report, p in distribution.items() if p * total >= 5]
    seen = [counts[report] for report in common] + [sum(n for r, n in counts.items() if r not in common)]
    expected = [distribution[report] * total for report in common] + [
        sum(p for r, p in distribution.items() if r not in common) * total
    ]
    cells = [i for i, e in enumerate(expected) if e > 1e-9]
    assert chisquare([seen[i] for i in cells], [expected[i] for i in cells]).pvalue > 1e-4


def test_ten_thousand_draws_of_the_served_sampler_follow_the_channel(site, phone):
    phone.goto(site.link())
    phone.wait_for_selector("button.primary")
    answers = [["concealed", ["yes"]], ["amount", ["lots"]], ["taken", ["pens"]]]
    reports = phone.evaluate(DRAWS, [address(""), site.survey.hash, answers, 10_000])
    check_against(reports, distribution_of(site.survey, (1, 1, 1, 0)))


@pytest.mark.slow
def test_fifty_walks_follow_the_channel(site, chromium, small_screen, walk):
    """Not asked how much, because the answer before was no: that truth goes through the coins too."""
    for _ in range(50):
        context = chromium.new_context(**small_screen)
        page = context.new_page()
        page.goto(site.link())
        walk(page, 0, 1)
        page.wait_for_selector(".receipt")
        context.close()
    reports = [report.hex() for report in site.reports()]
    assert len(reports) == 50
    distribution = distribution_of(site.survey, (0, 3, 0, 1))
    for column in range(4):  # fifty reports are too few for the joint distribution: each byte has its own
        own: Counter[str] = Counter()
        for report, p in distribution.items():
            own[report[2 * column : 2 * column + 2]] += p
        check_against([report[2 * column : 2 * column + 2] for report in reports], dict(own))
