"""The button with which a respondent checks that the report is stored: the device searches a list by itself."""

import json
import re

import pytest

from sottovoce.surveys.page.files import address

pytestmark = pytest.mark.slow  # the core of the page's tests is test_walk and test_admission

SHOW = """async ([receipts, texts, receipt, home, language]) => {
  const { receiptCheck } = await import(receipts);
  const { words } = await import(texts);
  document.querySelector("main").append(receiptCheck({ home, language, texts: words }, receipt));
}"""


@pytest.fixture
def check(site, phone, walk):
    """Send a report, and check a receipt, by default that report's; return what was said and what was asked for."""
    phone.goto(site.link())
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt")
    own = phone.inner_text(".receipt")

    def run(receipt: str = own) -> tuple[str, list[str]]:
        asked: list[str] = []
        phone.on("request", lambda request: asked.append(request.url))
        phone.evaluate("document.querySelector('.receipt-check')?.remove()")
        home = f"/s/{site.survey.id}"
        phone.evaluate(SHOW, [address("receipts.js"), address("texts/en.js"), receipt, home, "en"])
        phone.click(".receipt-check button")
        phone.locator(".receipt-check p", has_text=re.compile("stored:|not in|could not")).wait_for()
        return phone.inner_text(".receipt-check p"), [url for url in asked if "/receipts" in url and ".js" not in url]

    run.own = own
    return run


def test_a_stored_report_is_found_in_the_whole_list(site, check):
    said, asked = check()
    assert said.startswith("Your report is stored")
    assert "(receipts in it: 1)" in said
    assert asked == [f"{site.address}/s/{site.survey.id}/receipts"]


def test_a_receipt_that_is_missing_is_looked_for_twice(check):
    said, asked = check("0123456789abcdef")
    assert said.startswith("Your receipt is not in the")
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("count", "part", "said"),
    [
        (5000, True, "Your report is stored"),
        (5000, {"no": "list"}, "The list could not be loaded"),
        (4000, True, "The list could not be loaded"),  # nothing is told to a server that asks for a part of so few
    ],
)
def test_long_lists_come_in_parts(phone, check, count, part, said):
    asked = []
    whole = json.dumps({"count": count, "receipts": None})
    content = json.dumps([check.own] if part is True else part)
    phone.route("**/receipts", lambda route: route.fulfill(body=whole, content_type="application/json"))
    phone.route("**/receipts/*", lambda route: (asked.append(route.request.url), route.fulfill(body=content)))
    assert check()[0].startswith(said)
    assert [url[-3:] for url in asked] == ([f"/{check.own[:2]}"] if count > 4096 else [])


def test_without_a_connection(phone, check):
    phone.route("**/receipts", lambda route: route.abort())
    assert check()[0] == "The list could not be loaded. Try again later."
    phone.unroute("**/receipts")
    phone.route("**/receipts", lambda route: route.fulfill(status=404, body="{}"))
    assert check()[0] == "The list could not be loaded. Try again later."
