"""The page stops before the first question when anything is not as the link promises."""

import json
from hashlib import sha256

import pytest

from sottovoce.plans.document import canonical_bytes


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
    document["version"] = 2


def condition_on_a_later_question(document):
    document["questions"][1]["when"] = [{"question": "taken", "is": ["pens"]}]


def serve_instead(page, body: bytes) -> None:
    page.route("**/survey.json", lambda route: route.fulfill(status=200, content_type="application/json", body=body))


def check_it_stops(page, link: str) -> str:
    page.goto(link)
    page.wait_for_selector("[role=alert]")
    assert page.inner_text("main h1") == "Please do not answer here"
    assert page.locator("button").count() == 0
    return page.inner_text("main .note")


def test_a_changed_definition_is_not_the_links(site, phone):
    serve_instead(phone, tampered(site.survey, other_question))
    assert "not the questions that the link was made for" in check_it_stops(phone, site.link())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (raised_odds, "above the promise"),
        (promise_dropped, "cannot be denied"),
        (answers_swapped, "other answers than the plan"),
        (unknown_key, "keys"),
        (unknown_version, "unknown version"),
        (condition_on_a_later_question, "does not come before"),
    ],
)
def test_a_definition_that_breaks_a_rule_stops_the_page_even_with_its_own_hash(site, phone, change, reason):
    body = tampered(site.survey, change)
    serve_instead(phone, body)
    found = sha256(body).hexdigest()
    assert reason in check_it_stops(phone, f"{site.address}/s/{site.survey.id}#{found}")


def test_coins_that_the_script_was_not_given_stop_the_page(site, tmp_path, phone, every_kind):
    """The script holds the coins of its own survey only; a plan with others is not believed."""
    serve_instead(phone, every_kind.document)
    assert "unknown mechanism" in check_it_stops(phone, f"{site.address}/s/{site.survey.id}#{every_kind.hash}")


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
