"""Pages of results in a browser: axe finds nothing, nothing is wider than a phone, and the keyboard is enough."""

import os

import numpy as np
import pytest

from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.collect.entries import Entry
from sottovoce.surveys.dashboard.accounts import Role
from sottovoce.surveys.definition.definition import survey_from_text
from tests.surveys.browser.test_access import check
from tests.surveys.dashboard.conftest import serving_office

pytestmark = pytest.mark.slow  # what the pages say is tested without a browser

TEXT = """title: Life at our hospital
asker: A
purpose: P
until: 2999-12-31
invitation: open
odds: 729:1
split: true
questions:
  - {id: ward, kind: single, text: "Where do you work?", answers: [here, there], public: true}
  - {id: tax, kind: yes_no, text: "Did you evade taxes?"}
  - {id: leave, kind: yes_no, text: "هل أخفيت دخلا؟", decline: true}
  - {id: trust, kind: scale, steps: 5, ends: [low, high], text: "How much trust?", wanted: trend}
  - {id: seen, kind: several, text: "What did you see?", answers: [words, touch, "a choice of many words"]}
"""
PATHS = [
    "",
    "/groups?by=ward",
    "/cross?first=tax&second=leave",
    "/cross?first=tax&second=tax",
    "/patterns?question=seen&confidence=30",
    "/classifier?label=tax&features=ward&features=leave&model=tree",
]


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setattr("sottovoce.surveys.dashboard.accounts.MEMORY_KIB", 64)
    patch.setattr("sottovoce.surveys.dashboard.accounts.ITERATIONS", 1)
    with serving_office(str(tmp_path_factory.mktemp("results") / "surveys.db")) as found:
        survey = found.store.freeze(survey_from_text(TEXT))
        send(found.store, survey, 2000)
        yield found
    patch.undo()


def send(store, survey, count):
    reports = simulate_respondents(survey, count, np.random.default_rng(1)).reports()
    store.commit([Entry(survey.id, os.urandom(16), report) for report in reports])


def opened(office, chromium, **settings):
    """A page of somebody who is logged in as a reader."""
    reader = office.researcher(Role.READER)
    context = chromium.new_context(**settings)
    cookies = [
        {"name": name, "value": value, "url": f"{office.address}/research"} for name, value in reader.cookies.items()
    ]
    context.add_cookies(cookies)
    return context.new_page()


def go(page, office, path):
    page.goto(f"{office.address}/research/surveys/{office.store.surveys()[0]}/results{path}")
    page.get_by_text("being computed").wait_for(state="detached", timeout=60_000)


@pytest.mark.parametrize(
    ("width", "scheme", "colours"),
    [(390, "light", "none"), (1280, "light", "none"), (1280, "dark", "none"), (390, "dark", "active")],
)
def test_axe_finds_nothing_and_nothing_is_too_wide(office, chromium, width, scheme, colours):
    size = {"width": width, "height": 844}
    page = opened(office, chromium, viewport=size, color_scheme=scheme, forced_colors=colours, bypass_csp=True)
    for path in PATHS:
        go(page, office, path)
        page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
        if colours == "none":  # axe does not know forced colours
            check(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()


def test_the_keyboard_is_enough_and_nothing_breaks_the_policy(office, chromium):
    page = opened(office, chromium, viewport={"width": 1280, "height": 900})
    said = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    go(page, office, "/cross")
    page.focus("#first")
    page.keyboard.type("Did")
    page.keyboard.press("Tab")
    page.keyboard.type("Where")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("table.heat", timeout=60_000)
    assert "first=tax&second=ward" in page.url
    page.locator("details > summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details[open] table").first.is_visible()
    assert said == []
    page.context.close()


def test_new_reports_are_announced(office, chromium):
    page = opened(office, chromium)
    page.clock.install()
    go(page, office, "")
    send(office.store, office.store.select(), 3)
    page.clock.run_for(11_000)
    page.get_by_text("3 more reports have arrived").wait_for()
    page.context.close()


def test_a_printed_page_has_its_charts_and_no_forms(office, chromium):
    page = opened(office, chromium)
    go(page, office, "")
    page.emulate_media(media="print")
    assert page.locator("svg:visible").count() >= 5
    assert not page.locator("form").first.is_visible()
    assert not page.locator(".tabs").is_visible()
    page.context.close()
