"""Admission in a real browser: what a device keeps in every state, and that no request can be linked to another."""

import json
from contextlib import closing
from hashlib import sha256
from urllib.parse import urlsplit

import pytest
from sqlalchemy import update

from sottovoce.surveys.collect.database import surveys, writing
from sottovoce.surveys.collect.store import Store

CONTACT = "contact: survey@example.org\nuntil:"


class Sent:
    """Every request that a page makes with a body: what is asked for, the body, the address and the headers."""

    def __init__(self, page) -> None:
        self._requests: list = []
        page.on("request", lambda request: request.post_data and self._requests.append(request))

    def __call__(self, kind: str) -> list:
        return [request for request in self._requests if request.url.endswith(f"/{kind}")]

    def bodies(self, kind: str) -> list[dict]:
        return [request.post_data_json for request in self(kind)]

    def kinds(self) -> list[str]:
        return [request.url.rpartition("/")[2] for request in self._requests]


def item_of(site, link: str) -> str:
    """Name of what a device keeps of an invitation."""
    token = link.rpartition(".")[2]
    return f"{site.survey.hash} " + sha256(f"device {site.survey.hash} {token}".encode()).hexdigest()[:16]


def begin(page) -> None:
    page.click("button.primary")
    page.wait_for_selector("fieldset")


def test_a_device_passes_through_every_state_and_keeps_nothing_of_the_one_before(timed, phone, walk, kept, heading_is):
    """What is prepared is kept before it is sent. After admission nothing is left of what was blinded, or how."""
    phone.clock.install()
    sent = Sent(phone)
    (link,) = timed.invite()
    name = item_of(timed, link)
    phone.route("**/admission", lambda route: route.abort())
    phone.goto(link)
    phone.wait_for_selector("button.primary")
    assert kept(phone) == {}
    assert sent.kinds() == ["check"]
    phone.click("button.primary")
    phone.get_by_role("status").filter(has_text="No connection yet").wait_for()
    prepared = kept(phone)[name]
    assert prepared.keys() == {"state", "credential", "blinded", "inverse"}
    assert prepared["state"] == "prepared"
    assert sent.bodies("admission")[0] == {"token": link.rpartition(".")[2], "blinded": prepared["blinded"]}
    phone.unroute("**/admission")
    phone.clock.run_for(2000)
    phone.wait_for_selector("fieldset")
    admitted = kept(phone)[name]
    assert admitted.keys() == {"state", "credential", "signature"}
    assert (admitted["state"], admitted["credential"]) == ("admitted", prepared["credential"])
    assert timed.survey.admission.verify(*(bytes.fromhex(admitted[part]) for part in ("credential", "signature")))
    seized = everything_on(phone, kept)
    assert admitted["signature"] in seized  # the snapshot does hold what is kept
    for secret in (prepared["blinded"], prepared["inverse"]):
        assert secret not in seized
    phone.reload()
    walk(phone, 1, 1, 0)
    phone.wait_for_selector("[role=timer]")
    sealed = kept(phone)[name]
    assert sealed.keys() == {"state", "body", "moment", "held"}
    body = json.loads(sealed["body"])
    assert list(body) == ["survey", "report", "credential", "signature"]
    assert {part: body[part] for part in ("credential", "signature")}.items() <= admitted.items()
    assert sent("reports") == []
    phone.clock.fast_forward(600_000)
    phone.wait_for_selector(".receipt")
    assert kept(phone) == {name: {"state": "answered"}}
    assert [request.post_data for request in sent("reports")] == [sealed["body"]]
    assert [report.hex() for report in timed.reports()] == [body["report"]]
    phone.reload()
    heading_is(phone, "Already answered")


def everything_on(page, kept) -> str:
    """Storage of every kind, and all texts in the memory of the page's scripts, which are cleared of garbage first."""
    stored = json.dumps(kept(page)) + page.evaluate("document.cookie")
    session = page.context.new_cdp_session(page)
    parts: list[str] = []
    session.on("HeapProfiler.addHeapSnapshotChunk", lambda event: parts.append(event["chunk"]))
    session.send("HeapProfiler.collectGarbage")
    session.send("HeapProfiler.takeHeapSnapshot", {"reportProgress": False})
    session.detach()
    return stored + "".join(parts)


@pytest.mark.slow
def test_a_reload_goes_on_where_the_device_was_and_asks_the_server_nothing_again(invited, phone, walk, kept):
    """In the states prepared and admitted; the device itself may have spent the invitation."""
    sent = Sent(phone)
    (link,) = invited.invite()
    phone.route("**/admission", lambda route: route.abort())
    phone.goto(link)
    phone.click("button.primary")
    phone.get_by_role("status").filter(has_text="No connection yet").wait_for()
    prepared = kept(phone)
    phone.unroute("**/admission")
    phone.reload()
    phone.wait_for_selector("button.primary")
    assert kept(phone) == prepared
    begin(phone)
    admitted = kept(phone)
    phone.reload()
    begin(phone)
    assert kept(phone) == admitted
    assert sent.kinds().count("check") == 1
    assert len({request.post_data for request in sent("admission")}) == 1
    admissions = len(sent("admission"))
    phone.locator("main button").first.click()  # back to the welcome page
    begin(phone)
    assert len(sent("admission")) == admissions
    phone.reload()
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt")
    assert len(invited.reports()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("reload", [False, True])
def test_a_lost_answer_to_the_admission_is_asked_for_again(invited, phone, walk, reload):
    """The invitation is spent, but the same message gets the same signature again."""
    signatures: list[str] = []
    lost: list[bool] = [True]

    def lose(route):
        response = route.fetch()
        signatures.append(response.json()["signature"])
        if lost[0]:
            route.abort()
        else:
            route.fulfill(response=response)

    (link,) = invited.invite()
    phone.route("**/admission", lose)
    phone.goto(link)
    phone.click("button.primary")
    phone.get_by_role("status").filter(has_text="No connection yet").wait_for()
    lost[0] = False
    if reload:
        phone.reload()
        phone.click("button.primary")
    phone.wait_for_selector("fieldset")
    assert len(signatures) >= 2
    assert len(set(signatures)) == 1
    phone.reload()
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt")


@pytest.mark.slow
def test_two_tabs_are_one_device(timed, phone, walk, kept, heading_is):
    """They share one credential and one report, whoever is first; the other one notices that it was sent."""
    (link,) = timed.invite()
    tabs = [phone, phone.context.new_page()]
    sent = [Sent(tab) for tab in tabs]
    phone.context.clock.install()
    for tab in tabs:
        tab.goto(link)
        tab.wait_for_selector("button.primary")
    for tab in tabs:
        tab.evaluate("document.querySelector('button.primary').click()")
    for tab in tabs:
        tab.wait_for_selector("fieldset")
    assert len({request.post_data for tab in sent for request in tab("admission")}) == 1
    for tab in tabs:
        tab.reload()
        walk(tab, 0, 1, send=False)
        tab.wait_for_selector(".answers")
    for tab in tabs:
        tab.evaluate("document.querySelector('button.primary').click()")
    for tab in tabs:
        tab.wait_for_selector(".coins, [role=timer]")  # the second one finds what the first has sealed
    (sealed,) = kept(phone).values()
    phone.context.clock.fast_forward(600_000)
    for tab in tabs:
        tab.get_by_role("heading", name="Thank you").or_(tab.get_by_role("heading", name="Already answered")).wait_for()
    assert {request.post_data for tab in sent for request in tab("reports")} == {sealed["body"]}
    assert len(timed.reports()) == 1


@pytest.mark.slow
def test_two_members_of_a_household_answer_on_one_device(invited, phone, walk, kept, heading_is):
    first, second = invited.invite(2)
    for link in (first, second):
        phone.goto(link)  # in the same tab
        walk(phone, 0, 1)
        phone.wait_for_selector(".receipt")
    assert kept(phone) == {item_of(invited, link): {"state": "answered"} for link in (first, second)}
    assert len(invited.reports()) == 2
    for link in (first, second, invited.link()):
        phone.goto("about:blank")
        phone.goto(link)
        heading_is(phone, "Already answered")
        assert "Somebody else with an invitation can answer on this device" in phone.inner_text("main")


REFUSING = "IDBObjectStore.prototype.put = () => { throw new Error('full'); }"


@pytest.mark.slow
def test_a_browser_that_stores_nothing_warns_before_the_first_question_and_still_sends(
    invited, phone, walk, heading_is, kept
):
    (link,) = invited.invite()
    phone.add_init_script(REFUSING)
    sent = Sent(phone)
    phone.goto(link)
    phone.wait_for_selector("button.primary")
    assert phone.locator(".warning", has_text="a lost tab is a lost vote").count() == 1
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt")
    assert kept(phone) == {}
    assert "remembers" not in phone.inner_text("main")
    assert sent.kinds() == ["check", "admission", "reports"]
    phone.goto("about:blank")
    phone.goto(link)
    heading_is(phone, "This invitation has been used")


@pytest.mark.slow
def test_a_browser_that_keeps_what_it_is_told_warns_of_nothing(invited, phone, kept):
    (link,) = invited.invite()
    phone.goto(link)
    phone.wait_for_selector("button.primary")
    assert phone.locator(".warning", has_text="keeps nothing").count() == 0
    assert kept(phone) == {}


@pytest.mark.slow
def test_storage_that_fills_up_during_admission_keeps_no_blinding_values(invited, phone, kept):
    """The state before is erased, even where the next one cannot be stored."""
    (link,) = invited.invite()
    phone.goto(link)
    phone.wait_for_selector("button.primary")
    phone.route("**/admission", lambda route: (phone.evaluate(f"() => {{ {REFUSING} }}"), route.continue_()))
    begin(phone)
    assert kept(phone) == {}


@pytest.mark.slow
def test_links_that_cannot_be_used_say_so_before_the_first_question(tmp_path, device, serving, definition, heading_is):
    definition = definition.replace("invitation: open", "invitation: single").replace("until:", CONTACT)
    with serving(tmp_path, definition) as site:
        spent, revoked, whole = site.invite(3)
        page = device()
        page.goto(spent)
        begin(page)
        with closing(Store(str(site.database))) as store:
            store.revoke(site.survey, [revoked.rpartition(".")[2]])
        checked = {
            spent: "This invitation has been used",
            revoked: "This invitation is not known",
            site.link("x" * 22): "This invitation is not known",
        }
        unchecked = {
            site.link(): "An invitation is needed",
            f"{site.link()}.": "An invitation is needed",
            whole[:-1]: "The link is not complete",
            whole[:-21]: "The link is not complete",
            f"{whole}x": "The link has a mistake",
            f"{whole[:-1]}!": "The link has a mistake",
            f"{whole[:-1]}é": "The link has a mistake",
        }
        page = device()
        for link, title in (checked | unchecked).items():
            page.goto("about:blank")
            sent = Sent(page)
            page.goto(link)
            heading_is(page, title)
            assert "Whom to ask: survey@example.org" in page.inner_text("main")
            assert page.locator("button").count() == 0
            assert sent.kinds() == (["check"] if link in checked else [])
        page = device()
        page.goto(whole)  # looking at links spends none
        begin(page)


@pytest.mark.slow
def test_without_a_contact_the_asker_is_the_one_to_ask(invited, phone, heading_is):
    phone.goto(invited.link("x" * 22))
    heading_is(phone, "This invitation is not known")
    assert "Whom to ask: Institute of Examples" in phone.inner_text("main")


@pytest.mark.slow
def test_an_invitation_that_is_spent_after_the_check_is_said_at_begin(invited, phone, device, heading_is):
    (link,) = invited.invite()
    phone.goto(link)
    phone.wait_for_selector("button.primary")
    other = device()
    other.goto(link)
    begin(other)
    phone.click("button.primary")
    heading_is(phone, "This invitation has been used")
    assert "Whom to ask:" in phone.inner_text("main")


@pytest.mark.slow
def test_a_check_without_a_connection_is_repeated(invited, phone):
    (link,) = invited.invite()
    phone.route("**/check", lambda route: route.abort())
    phone.goto(link)
    phone.get_by_role("status").filter(has_text="Your invitation is being checked. No connection yet").wait_for()
    phone.unroute("**/check")
    phone.wait_for_selector("button.primary")


@pytest.mark.slow
def test_a_survey_that_was_closed_says_so_at_loading(invited, phone, heading_is):
    (link,) = invited.invite()
    with closing(Store(str(invited.database))) as store:
        store.close_survey(invited.survey.id)
    phone.goto(link)
    heading_is(phone, "This survey has ended")


def answer_admission(page, answer: dict) -> None:
    page.route("**/admission", lambda route: route.fulfill(json=answer))


@pytest.mark.slow
def test_a_signature_that_is_not_the_surveys_stops_the_page(invited, phone, kept):
    """Nothing is asked, and the device can go on when the server is what it should be."""
    (link,) = invited.invite()
    item = item_of(invited, link)
    for signature in ("0" * 512, f"{invited.survey.admission.modulus - 1:x}", "00", None):
        answer_admission(phone, {"signature": signature})
        phone.goto("about:blank")
        phone.goto(link)
        phone.click("button.primary")
        phone.wait_for_selector("[role=alert]")
        assert phone.inner_text("main h1") == "Please do not answer here"
        assert "signature is not by the key of this survey" in phone.inner_text("[role=alert]")
        assert "Whom to ask: Institute of Examples" in phone.inner_text("[role=alert]")
        assert phone.locator("button").count() == 0
        assert kept(phone)[item]["state"] == "prepared"
        phone.unroute("**/admission")
    phone.reload()
    begin(phone)
    assert kept(phone)[item]["state"] == "admitted"


@pytest.mark.slow
def test_a_server_without_its_key_says_that_nobody_is_admitted(invited, phone, heading_is):
    (link,) = invited.invite()
    with closing(Store(str(invited.database))) as store, writing(store._engine) as connection:
        connection.execute(update(surveys).values(secret=None))
    phone.goto(link)
    phone.click("button.primary")
    heading_is(phone, "The server cannot admit you")


@pytest.mark.slow
def test_admission_that_does_not_arrive_does_not_spend_the_invitation(invited, phone, kept, heading_is):
    (link,) = invited.invite()
    phone.route("**/admission.js", lambda route: route.abort())
    phone.goto(link)
    phone.click("button.primary")
    heading_is(phone, "No connection")
    assert kept(phone) == {}
    phone.unroute("**/admission.js")
    phone.goto("about:blank")
    phone.goto(link)
    begin(phone)


@pytest.mark.slow
@pytest.mark.parametrize("link_of", [lambda site: site.link(), lambda site: site.invite()[0]])
def test_plain_http_from_another_machine_asks_nothing(invited, phone, heading_is, link_of):
    sent = Sent(phone)
    phone.goto(link_of(invited).replace("127.0.0.1", "survey.test"))
    heading_is(phone, "Not over this connection")
    assert "begins with https" in phone.inner_text("main")
    assert phone.locator("button").count() == 0
    assert sent.kinds() == []


@pytest.mark.slow
def test_open_surveys_and_those_of_0_1_load_nothing_of_admission(site, phone):
    asked: list[str] = []
    phone.on("request", lambda request: asked.append(request.url))
    phone.goto(site.link())
    phone.wait_for_selector("button.primary")
    phone.wait_for_load_state("networkidle")
    assert not [url for url in asked if "admission" in url or "blind_rsa" in url or "/check" in url]


def values_in(request) -> set[str]:
    """Every value of a request that the page could have chosen: of its body, its headers, and parts of its address."""
    headers = {f"{name}: {value}" for name, value in request.all_headers().items() if name != "content-length"}
    address = {f"path {part}" for part in urlsplit(request.url).path.split("/")} | {
        f"query {urlsplit(request.url).query}"
    }
    return headers | address | {str(value) for value in request.post_data_json.values()}


@pytest.mark.slow
def test_a_server_that_logs_everything_finds_nothing_in_common(invited, device, walk):
    """Check and admission share with the report only what is the same for everybody."""
    common = []
    for link in invited.invite(2):
        page = device()
        sent = Sent(page)
        page.goto(link)
        walk(page, 0, 1)
        page.wait_for_selector(".receipt")
        assert sent.kinds() == ["check", "admission", "reports"]
        (check,), (admission,), (report,) = (sent(kind) for kind in ("check", "admission", "reports"))
        common.append((values_in(check) | values_in(admission)) & values_in(report))
        assert not set(admission.post_data_json.values()) & set(report.post_data_json.values())
        told = report.post_data + json.dumps(report.all_headers())
        for value in (*check.post_data_json.values(), *admission.post_data_json.values()):
            pieces = {value[start : start + 12] for start in range(len(value) - 11)}
            assert not [piece for piece in pieces if piece in told]  # not even in parts
        assert {"cookie", "referer", "authorization"}.isdisjoint(report.all_headers())
        assert link.rpartition("#")[2] not in report.url
    assert common[0] == common[1]
