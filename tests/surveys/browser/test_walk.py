"""A respondent's way through a survey, in a real browser: on a phone, by keyboard, over a bad connection."""

import json
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.page.files import address
from tests.surveys.test_presentation import png


def heading(page) -> str:
    return page.inner_text("main h1")


def test_a_phone_by_keyboard_through_a_reload_and_a_lost_connection(site, phone, walk, toss, kept):
    """The only report stored is the one that was sealed before the connection came back; truths are nowhere."""
    requests: list[tuple[str, str | None]] = []
    phone.on("request", lambda request: requests.append((request.url, request.post_data)))
    phone.goto(site.link())
    walk(phone, 1, 1, send=False)
    phone.reload()  # nothing of the answers was kept: the survey begins again
    walk(phone, 1, 1, 0, send=False)
    phone.context.set_offline(True)
    toss(phone)
    phone.get_by_role("status").filter(has_text="No connection yet").wait_for()
    assert site.reports() == []
    ((name, state),) = kept(phone).items()
    assert name == site.survey.hash
    sealed = state["body"]
    phone.context.set_offline(False)
    phone.wait_for_selector(".receipt")
    assert [report.hex() for report in site.reports()] == [json.loads(sealed)["report"]]
    assert kept(phone) == {site.survey.hash: {"state": "answered"}}
    sent = {body for url, body in requests if url.endswith("/reports")}
    assert sent == {sealed}
    assert {url.split("/")[2] for url, _ in requests} == {site.address.split("/")[2]}
    phone.reload()
    phone.wait_for_function("() => document.querySelector('main h1').innerText === 'Already answered'")


@pytest.mark.slow
def test_nothing_about_a_person_is_stored_or_logged(site, phone, walk):
    agent = phone.evaluate("navigator.userAgent")
    phone.goto(site.link())
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt")
    assert phone.context.cookies() == []
    for trace in (agent, "Chrome", "127.0.0.1", "Mozilla"):
        assert trace.encode() not in site.everything_stored()
        assert trace not in site.log.getvalue()


SAID = """[...document.querySelectorAll('dd')].map((line) =>  // two answers are several nodes
    [...line.childNodes].filter((node) => node.className !== 'note').map((node) => node.textContent).join(''))"""


def test_what_was_sent_is_shown_with_a_receipt(site, phone, walk, seed_coins):
    seed_coins(phone, 1)  # pens and paper
    phone.goto(site.link())
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt")
    (report,) = site.reports()
    assert phone.inner_text(".sent code") == report.hex()
    said = phone.evaluate(SAID)
    names = [["No", "Yes"], ["A little", "A lot", "I prefer not to say", "not asked"]]
    assert said[:2] == [names[0][report[0]], names[1][report[1]]]
    sets = {(0, 0): "none of these", (1, 0): "Pens", (0, 1): "Paper", (1, 1): "Pens, Paper"}
    assert said[2] in (sets[report[2], report[3]], sets[report[2], report[3]].replace(", ", " "))


@pytest.mark.slow
def test_invitations_of_0_1_are_spent_once(tmp_path, device, serving, definition, walk, heading_is):
    """The invitation travels with the report, as the page says. Latecomers are told before the first question."""
    with serving(tmp_path, definition.replace("invitation: open", "invitation: single"), as_0_1=True) as site:
        (link,) = site.invite()
        pages = [device() for _ in range(4)]
        pages[0].goto(site.link())
        heading_is(pages[0], "An invitation is needed")
        for page in pages[1:3]:
            page.goto(link)
            page.wait_for_selector("button.primary")
            assert "sent together with your invitation" in page.inner_text("main")
        for page in pages[1:3]:
            walk(page, 0, 1)
        pages[1].wait_for_selector(".receipt")
        assert pages[1].url == site.link()  # the invitation is gone from the address bar
        pages[2].wait_for_selector("[role=alert]")
        assert "has been used" in pages[2].inner_text("[role=alert]")
        pages[3].goto(link)
        heading_is(pages[3], "This invitation cannot be used")
        assert len(site.reports()) == 1


@pytest.mark.slow
def test_a_new_invitation_of_0_1_carries_the_same_report(tmp_path, phone, device, serving, definition, walk, toss):
    """Whose invitation was used by somebody else is not locked out, and no coin is tossed again."""
    bodies: list[dict] = []
    phone.on("request", lambda request: request.url.endswith("/reports") and bodies.append(request.post_data_json))
    with serving(tmp_path, definition.replace("invitation: open", "invitation: single"), as_0_1=True) as site:
        used, new = site.invite(2)
        phone.goto(used)
        walk(phone, 0, 1, send=False)
        other = device()
        other.goto(used)
        walk(other, 0, 1)
        other.wait_for_selector(".receipt")
        toss(phone)
        phone.wait_for_selector("[role=alert]")
        assert bodies[0]["token"] == used.rpartition(".")[2]
        phone.goto(new)  # in the same tab, which loads the page again
        phone.wait_for_selector(".receipt")
        tokens = [body.pop("token") for body in bodies]
        assert tokens[-1] == new.rpartition(".")[2]
        assert all(body == bodies[0] for body in bodies)
        assert bodies[0]["report"] in {report.hex() for report in site.reports()}
        assert len(site.reports()) == 2


@pytest.mark.slow
@pytest.mark.parametrize("left", ["sealed", "answered"])
def test_what_0_1_left_on_a_device_is_taken_up(site, phone, kept, heading_is, left):
    """A report that 0.1 sealed and did not send is sent; what was answered stays answered."""
    body = json.dumps({"survey": site.survey.hash, "report": "00000000", "key": "0f" * 16, "token": None})
    item = [f"sottovoce {left} {site.survey.hash}", body if left == "sealed" else "yes"]
    phone.goto(f"{site.address}/s/{site.survey.id}/audit")
    phone.evaluate("item => localStorage.setItem(...item)", item)
    phone.goto(site.link())
    if left == "sealed":
        phone.wait_for_selector(".receipt")
        assert [report.hex() for report in site.reports()] == ["00000000"]
        assert kept(phone) == {site.survey.hash: {"state": "answered"}}
    else:
        heading_is(phone, "Already answered")


@pytest.mark.slow
def test_an_open_survey_needs_no_invitation_and_sends_none(site, phone, walk):
    phone.goto(site.link("x" * 22))
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt")
    assert len(site.reports()) == 1


@pytest.mark.slow
def test_a_browser_that_stores_nothing_still_sends_the_one_report(site, phone, walk, kept):
    """As long as the page is open it knows what it sealed, and that it was answered."""
    phone.add_init_script("IDBObjectStore.prototype.put = () => { throw new Error('full'); }")
    bodies: list[str] = []
    phone.on("request", lambda request: request.post_data and bodies.append(request.post_data))
    phone.goto(site.link())
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt")
    assert kept(phone) == {}
    assert [report.hex() for report in site.reports()] == [json.loads(body)["report"] for body in bodies]


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_false_receipt_is_noticed(site, phone, walk):
    body = json.dumps({"receipt": "0" * 16})
    phone.route("**/reports", lambda route: route.fulfill(status=201, content_type="application/json", body=body))
    phone.goto(site.link())
    walk(phone, 0, 1)
    phone.wait_for_selector("[role=alert]")
    assert "not that of your report" in phone.inner_text("[role=alert]")


@pytest.mark.slow
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
    phone.wait_for_selector(".receipt")
    assert len(site.reports()) == 1


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_coins_that_cannot_be_tried_do_not_stop_the_page(site, phone):
    phone.route("**/demo.js", lambda route: route.abort())
    phone.goto(site.link())
    phone.wait_for_selector(".demo p")
    assert "could not be loaded" in phone.inner_text(".demo")
    phone.click("button.primary")
    phone.wait_for_selector("fieldset")


@pytest.mark.slow
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
        phone.locator(".answers button").nth(0).click()  # changes an answer, and comes back
        phone.wait_for_selector("fieldset")
        assert phone.locator("input").nth(0).is_checked()
        phone.click("button.primary")
        phone.wait_for_selector(".answers")


BRANCHES = """
title: Branches
asker: Institute of Examples
purpose: To have some.
until: 2100-12-31
odds: 27:1
split: true
invitation: open
send_interval: 0
questions:
  - {id: smokes, kind: yes_no, text: "Do you smoke?"}
  - {id: much, kind: single, text: "How much?", answers: [little, lots], when: {smokes: yes}}
  - {id: where, kind: single, text: "Where?", answers: [home, work], when: {much: lots}}
"""


@pytest.mark.slow
def test_a_skipped_question_leaves_a_screen_that_is_not_used(tmp_path, phone, serving, heading_is):
    """Everybody passes as many screens, forwards, back and by keyboard; the review lists what was asked."""
    steps: list[str] = []

    def on_screen(step: int, title: str) -> None:
        heading_is(phone, title)
        steps.append(phone.inner_text(".steps"))
        assert steps[-1] == f"Screen {step} of 3"
        assert phone.evaluate("document.activeElement.tagName") == "H1"

    with serving(tmp_path, BRANCHES) as site:
        phone.goto(site.link())
        phone.click("button.primary")
        on_screen(1, "Do you smoke?")
        phone.locator("input").nth(0).check()  # no
        phone.keyboard.press("Enter")
        for step in (2, 3):
            on_screen(step, "This screen is not used")
            assert phone.locator("input").count() == 0
            for key in ("Tab", "Tab", "Enter"):
                phone.keyboard.press(key)
        heading_is(phone, "Ready to send")
        assert phone.locator(".answers span").all_inner_texts() == ["Do you smoke?"]
        for step, title in ((3, "This screen is not used"), (2, "This screen is not used"), (1, "Do you smoke?")):
            phone.get_by_role("button", name="Back").click()
            on_screen(step, title)
        phone.locator("input").nth(1).check()  # yes
        phone.keyboard.press("Enter")
        on_screen(2, "How much?")
        phone.locator("input").nth(1).check()
        phone.keyboard.press("Enter")
        on_screen(3, "Where?")
        phone.locator("input").nth(1).check()
        phone.keyboard.press("Enter")
        assert phone.locator(".answers strong").all_inner_texts() == ["Yes", "lots", "work"]
        phone.get_by_role("button", name="Change: How much?").click()
        on_screen(2, "How much?")
        phone.locator("input").nth(0).check()
        phone.keyboard.press("Enter")
        heading_is(phone, "Ready to send")
        assert phone.locator(".answers strong").all_inner_texts() == ["Yes", "little"]
        for choice, answers in ((0, ["No"]), (1, ["Yes", "little"])):  # what was answered before is known again
            phone.get_by_role("button", name="Change: Do you smoke?").click()
            on_screen(1, "Do you smoke?")
            phone.locator("input").nth(choice).check()
            phone.keyboard.press("Enter")
            heading_is(phone, "Ready to send")
            assert phone.locator(".answers strong").all_inner_texts() == answers
        phone.get_by_role("button", name="Change: How much?").click()
        on_screen(2, "How much?")
        phone.locator("input").nth(1).check()
        phone.keyboard.press("Enter")
        heading_is(phone, "Ready to send")


@pytest.mark.slow
def test_a_change_that_leads_to_a_new_question_asks_it(tmp_path, phone, serving, heading_is):
    with serving(tmp_path, BRANCHES) as site:
        phone.goto(site.link())
        phone.click("button.primary")
        phone.locator("input").nth(0).check()
        for _ in range(3):
            phone.click("button.primary")
        phone.get_by_role("button", name="Change: Do you smoke?").click()
        phone.locator("input").nth(1).check()
        phone.click("button.primary")
        heading_is(phone, "How much?")
        phone.locator("input").nth(0).check()
        phone.click("button.primary")
        heading_is(phone, "Ready to send")


@pytest.mark.slow
def test_whoever_leaves_with_answers_is_asked_first(tmp_path, phone, serving, toss):
    asked: list[str] = []
    phone.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    with serving(tmp_path, BRANCHES) as site:
        phone.goto(site.link())
        phone.click("button.primary")
        phone.locator("input").nth(0).check()
        for _ in range(3):
            phone.click("button.primary")
        phone.reload()
        assert asked == ["beforeunload"]
        phone.click("button.primary")
        phone.locator("input").nth(0).check()
        for _ in range(3):
            phone.click("button.primary")
        phone.click("button.primary")
        phone.wait_for_selector(".coins")
        phone.reload()  # the report is sealed: nothing is lost
        phone.wait_for_selector(".receipt")
        assert asked == ["beforeunload"]


def test_what_the_coins_did_is_shown_once_and_gone_with_the_send(tmp_path, phone, serving, kept, seed_coins):
    """What is shown is what is sent; the truths are compared with it on demand, and nowhere else."""
    seed_coins(phone, 1)  # others fall all the same way once in a thousand runs
    with serving(tmp_path, COINS) as site:
        phone.goto(site.link())
        phone.click("button.primary")
        for _ in range(12):
            phone.locator("input").nth(1).check()
            phone.click("button.primary")
        phone.click("button.primary")
        phone.wait_for_selector(".coins")
        sealed = json.loads(kept(phone)[site.survey.hash]["body"])["report"]
        sent = ["No" if sealed[2 * i : 2 * i + 2] == "00" else "Yes" for i in range(12)]
        assert phone.locator(".coin").all_inner_texts() == sent
        assert phone.locator(".did").all_inner_texts() == [""] * 12
        phone.get_by_role("button", name="Show what the coins did").click()
        told = {"Yes": "This is what you answered.", "No": "Changed by the coins. You answered: Yes."}
        assert phone.locator(".did").all_inner_texts() == [told[answer] for answer in sent]
        assert len(set(sent)) == 2
        phone.click("button.primary")
        phone.wait_for_selector(".receipt")
        assert "You answered" not in phone.inner_text("main")
        assert [report.hex() for report in site.reports()] == [sealed]


COINS = """
title: Coins
asker: Institute of Examples
purpose: To see them fall.
until: 2100-12-31
odds: 10:1
split: true
invitation: open
send_interval: 0
questions:
""" + "".join(f"  - {{id: q{i}, kind: yes_no, text: 'Question {i}?'}}\n" for i in range(12))


@pytest.mark.slow
def test_the_coins_are_on_the_screen_until_the_moment_of_sending_at_the_latest(timed, phone, walk, toss):
    phone.clock.install()
    phone.goto(timed.invite()[0])
    walk(phone, 0, 1, send=False)
    phone.click("button.primary")
    phone.wait_for_selector(".coins")
    assert "It is sent by itself at" in phone.inner_text("main")
    phone.clock.fast_forward(1_300_000)
    phone.wait_for_selector(".receipt")
    assert len(timed.reports()) == 1


PRESENTED = """
consent: |
  You take part of your own free will.

  You may stop at any time.
thanks: Results are published in March.
comprehension_check: true
colour: "#7a2048"
logo: logo.png
"""


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_consent_understanding_logo_and_colour(tmp_path, device, serving, toss, scheme):
    """The colour is lightened in the dark; a logo with another hash is not shown."""
    (tmp_path / "logo.png").write_bytes(png())
    phone = device(color_scheme=scheme)
    with serving(tmp_path, survey_from_text(COINS.replace("questions:", PRESENTED + "questions:"), tmp_path)) as site:
        phone.goto(site.link())
        phone.wait_for_function("() => document.querySelector('.asker img')?.naturalWidth === 2")
        colour = phone.evaluate("getComputedStyle(document.querySelector('button.primary')).backgroundColor")
        assert (colour == "rgb(122, 32, 72)") == (scheme == "light")
        phone.click("button.primary")
        assert phone.locator(".consent p").count() == 2
        phone.click("button.primary")
        assert not phone.locator("button.primary").is_visible()
        phone.locator("input").nth(0).check()
        assert phone.inner_text("[role=status]").startswith("No: nothing for certain.")
        phone.locator("input").nth(1).check()
        assert phone.inner_text("[role=status]").startswith("Yes.")
        phone.click("button.primary")
        phone.wait_for_selector("progress")
        phone.get_by_role("button", name="Back").click()
        phone.click("button.primary")  # agreed and understood: not asked again
        phone.wait_for_selector("progress")
        for _ in range(12):
            phone.locator("input").nth(1).check()
            phone.click("button.primary")
        toss(phone)
        phone.wait_for_selector(".receipt")
        assert "Results are published in March." in phone.inner_text("main")
        other = device()
        other.route("**/logo", lambda route: route.fulfill(body=png(3), content_type="image/png"))
        other.goto(site.link())
        other.wait_for_selector(".monogram")
        assert phone.request.get(f"{site.address}/s/{site.survey.id}/logo").body() == png()


def test_a_survey_without_a_logo_has_none(site, phone):
    assert phone.request.get(f"{site.address}/s/{site.survey.id}/logo").status == 404


DRAWS = """async ([assets, hash, answers, times]) => {
    const { readSurvey } = await import(`${assets}documents.js`);
    const { seal } = await import(`${assets}submission.js`);
    const response = await fetch(`/s/${hash.slice(0, 16)}/survey.json`);
    const survey = await readSurvey(new Uint8Array(await response.arrayBuffer()), hash);
    return Array.from({ length: times }, () => JSON.parse(seal(survey, hash, new Map(answers), {})).report);
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


@pytest.mark.slow
def test_ten_thousand_draws_of_the_served_sampler_follow_the_channel(site, phone, seed_coins):
    seed_coins(phone, 1)
    phone.goto(site.link())
    phone.wait_for_selector("button.primary")
    answers = [["concealed", ["yes"]], ["amount", ["lots"]], ["taken", ["pens"]]]
    reports = phone.evaluate(DRAWS, [address(""), site.survey.hash, answers, 10_000])
    check_against(reports, distribution_of(site.survey, (1, 1, 1, 0)))


@pytest.mark.slow
def test_fifty_walks_follow_the_channel(site, chromium, small_screen, walk, seed_coins):
    """Not asked how much, because the answer before was no: that truth goes through the coins too."""
    for seed in range(50):
        context = chromium.new_context(**small_screen)
        page = context.new_page()
        seed_coins(page, 1000 * seed)
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
