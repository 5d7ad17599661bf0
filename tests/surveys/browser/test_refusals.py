"""The page stops before the first question when anything is not as the link promises."""

import json
import re
from hashlib import sha256

import pytest

from sottovoce.plans.canonical import canonical_bytes
from sottovoce.surveys.page.files import address

pytestmark = pytest.mark.slow  # the core of the page's tests is test_walk and test_admission


def tampered(survey, change) -> bytes:
    document = json.loads(survey.document)
    change(document)
    return canonical_bytes(document)


def other_question(document):
    document["questions"][0]["text"]["en"] = "Did you vote?"


def raised_odds(document):
    """The coin tells more than the plan promises, and the link was made for just this document."""
    document["plan"]["groups"][0]["mechanism"]["truth"] = "99"


def promise_dropped(document):
    document["plan"]["odds"] = None


def answers_swapped(document):
    document["questions"][0]["answers"].reverse()


def unknown_key(document):
    document["tracking"] = "on"


def unknown_version(document):
    document["version"] = 0


def newer_version(document):
    document["version"] = 3


def newer_plan(document):
    document["plan"]["version"] = 3


def public_columns(document):
    document["plan"] |= {"version": 2, "public": [{"kind": "number", "name": "weight"}]}


def unknown_coins(document):
    document["plan"]["groups"][0]["mechanism"]["kind"] = "loaded"


def condition_on_a_later_question(document):
    document["questions"][1]["when"] = [{"question": "taken", "is": ["pens"]}]


def serve_instead(page, body: bytes) -> None:
    page.route("**/survey.json", lambda route: route.fulfill(status=200, content_type="application/json", body=body))


def check_it_stops(page, link: str) -> str:
    page.goto(link)
    page.wait_for_selector("[role=alert]")
    assert page.inner_text("main h1") == "Please do not answer here"
    assert page.locator("button").count() == 0
    assert "Ask the people who sent you the link" in page.inner_text("[role=alert]")
    return page.inner_text("main .note")


def test_a_changed_definition_is_not_the_links(site, phone):
    serve_instead(phone, tampered(site.survey, other_question))
    assert "not the questions that the link was made for" in check_it_stops(phone, site.link())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (raised_odds, "above the promise"),
        (promise_dropped, "can rule out answers"),
        (answers_swapped, "other answers than the plan"),
        (newer_plan, "written by a newer version of Sottovoce (document version 3)"),
        *(
            pytest.param(*case)
            for case in [
                (unknown_key, "keys"),
                (unknown_version, "unknown version"),
                (newer_version, "written by a newer version of Sottovoce (document version 3)"),
                (public_columns, "other questions than the plan has"),
                (unknown_coins, "unknown mechanism"),
                (condition_on_a_later_question, "does not come before"),
            ]
        ),
    ],
)
def test_a_definition_that_breaks_a_rule_stops_the_page_even_with_its_own_hash(site, phone, change, reason):
    body = tampered(site.survey, change)
    serve_instead(phone, body)
    found = sha256(body).hexdigest()
    assert reason in check_it_stops(phone, f"{site.address}/s/{site.survey.id}#{found}")


def interval(seconds):
    def change(document):
        document["send_interval"] = seconds

    return change


def interval_missing(document):
    del document["send_interval"]


def nothing_new(document):
    document |= {"send_interval": 0, "admission": None, "invitation": "open"}


def rehearsal(value):
    def change(document):
        document["rehearsal"] = value

    return change


def key_missing(document):
    document["admission"] = None


def key_of_an_open_survey(document):
    document["invitation"] = "open"


def key(**changes):
    def change(document):
        document["admission"] |= changes

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (nothing_new, "version 2 without anything"),
        (rehearsal(1), "neither true nor false"),
        (key_missing, "a key for an open survey, or none for invitations"),
        (key_of_an_open_survey, "a key for an open survey, or none for invitations"),
        (key(modulus="8" + "0" * 511), "an even modulus"),
        *((interval(bad), "not 0 or 10 to 86400 seconds") for bad in (9, 86401)),
        *(
            pytest.param(*case)
            for case in [
                *((interval(bad), "not 0 or 10 to 86400 seconds") for bad in (-300, "300", None, True)),
                (interval_missing, "keys"),
                (key(exponent=3), "another exponent"),
                (key(kind="RSABSSA-SHA384-PSSZERO-Randomized"), "an unknown kind of admission"),
                (key(modulus="7" + "f" * 511), "a modulus of less than 2048 bits"),
                (key(modulus="f" * 510), "512 hexadecimal digits"),
                (key(other=1), "keys"),
            ]
        ),
    ],
)
def test_admission_that_breaks_a_rule_stops_the_page(invited, phone, change, reason):
    body = tampered(invited.survey, change)
    serve_instead(phone, body)
    link = f"{invited.address}/s/{invited.survey.id}#{sha256(body).hexdigest()}.{'x' * 22}"
    assert reason in check_it_stops(phone, link)


@pytest.mark.parametrize("seconds", [10, 86400])
def test_intervals_that_are_allowed(invited, phone, seconds):
    body = tampered(invited.survey, interval(seconds))
    serve_instead(phone, body)
    phone.route("**/check", lambda route: route.fulfill(json={"invitation": "unspent"}))
    phone.goto(f"{invited.address}/s/{invited.survey.id}#{sha256(body).hexdigest()}.{'x' * 22}")
    phone.wait_for_selector("button.primary")
    told = {10: "within 20 seconds", 86400: "within 48 hours"}
    assert told[seconds] in phone.inner_text("main")


@pytest.mark.parametrize(
    ("name", "old"),
    [
        *((name, False) for name in ("main.js", "mechanisms/diagonal.js")),
        ("rules.js", True),
        *(pytest.param(name, False) for name in ("coins.js", "rules.js", "texts/en.js")),
        pytest.param("mechanisms/diagonal.js", True),
    ],
)
def test_a_changed_byte_of_a_module_stops_the_page(site, chromium, small_screen, name, old, kept):
    """Whether others import it or the page loads it later; also where browsers know no hashes of imported modules."""
    context = chromium.new_context(**small_screen)
    page = context.new_page()
    if old:
        page.route(site.link().partition("#")[0], without_import_map)
    page.route(f"**/{name}", changed_byte)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(site.link())
    page.wait_for_load_state("networkidle")
    assert any("Failed to find a valid digest in the 'integrity' attribute" in text for text in said)
    assert page.locator("button.primary, fieldset").count() == 0
    assert kept(page) == {}
    said_instead = "could not be loaded" if name.startswith("mechanisms/") else "something changed them on their way"
    assert said_instead in page.text_content("main")
    context.close()


def test_a_changed_byte_of_a_module_for_questions_stops_the_page_at_begin(site, device):
    """Modules that are loaded at Begin: no question is asked."""
    for name in ("walk.js", "submission.js"):
        page = device()
        page.route(f"**/{name}", changed_byte)
        page.goto(site.link())
        page.click("button.primary")
        page.get_by_role("heading", level=1, name="No connection").wait_for()
        assert page.locator("fieldset").count() == 0


def changed_byte(route) -> None:
    """The module as it is, but for a space more at its end."""
    response = route.fetch()
    route.fulfill(response=response, body=response.body() + b" ")


def without_import_map(route) -> None:
    response = route.fetch()
    page = re.sub(r'<script type="importmap">.*?</script>', "", response.text())
    headers = {name: value for name, value in response.headers.items() if name != "integrity-policy"}
    route.fulfill(response=response, headers=headers, body=page)


def test_a_module_whose_hash_the_page_does_not_state_is_not_even_loaded(site, phone):
    phone.goto(site.link())
    phone.wait_for_selector("button.primary")
    answered: list[str] = []
    phone.on("response", lambda response: answered.append(response.url))
    reason = phone.evaluate("path => import(path).catch(String)", f"{address('demo.js')}?other")
    assert reason.startswith("TypeError: Failed to fetch dynamically imported module")
    assert not [url for url in answered if "?other" in url]


@pytest.mark.parametrize("written", [b"1.0", b"1e0", b"01", b"-0"])
def test_numbers_that_readers_understand_differently_stop_the_page(site, phone, written):
    body = site.survey.document.replace(b'"version":1', b'"version":' + written)
    serve_instead(phone, body)
    check_it_stops(phone, f"{site.address}/s/{site.survey.id}#{sha256(body).hexdigest()}")


def test_bytes_that_are_not_canonical_stop_the_page(site, phone):
    body = json.dumps(json.loads(site.survey.document)).encode()
    serve_instead(phone, body)
    check_it_stops(phone, f"{site.address}/s/{site.survey.id}#{sha256(body).hexdigest()}")


@pytest.mark.parametrize("fragment", ["", "#", "#abc", "#" + "0" * 64])
def test_a_link_without_the_right_hash_stops_the_page(site, phone, fragment):
    check_it_stops(phone, f"{site.address}/s/{site.survey.id}{fragment}")


def test_without_a_connection_nothing_is_lost(site, phone):
    phone.route("**/survey.json", lambda route: route.abort())
    phone.goto(site.link())
    phone.wait_for_function("() => document.querySelector('main h1').innerText === 'No connection'")
    phone.unroute("**/survey.json")
    phone.click("button")
    phone.wait_for_selector("button.primary")


def test_after_the_last_day_nobody_is_asked(site, phone):
    body = tampered(site.survey, lambda document: document.update(until="2020-01-01"))
    serve_instead(phone, body)
    phone.goto(f"{site.address}/s/{site.survey.id}#{sha256(body).hexdigest()}")
    phone.wait_for_function("() => document.querySelector('main h1').innerText === 'This survey has ended'")
