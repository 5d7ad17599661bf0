"""A real browser, and a real server with a survey on disk."""

import io
import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from sottovoce.surveys.collect.server import listen, make_app, running
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.links import Link

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync"
    " --no-first-run"
)
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True, "locale": "en-US"}

DEFINITION = """
title: {en: "Honesty at work", ar: "الصدق في العمل"}
asker: {en: "Institute of Examples", ar: "معهد الأمثلة"}
purpose: {en: "To learn how common it is, not who does it.", ar: "لنعرف مدى شيوعه، لا من يفعله."}
languages: [en, ar]
until: 2100-12-31
odds: 216:1
invitation: open
questions:
  - id: concealed
    kind: yes_no
    text: {en: "Did you conceal income last year?", ar: "هل أخفيت دخلا؟"}
    answers: {"no": {en: "No", ar: "لا"}, "yes": {en: "Yes", ar: "نعم"}}
  - id: amount
    kind: single
    text: {en: "How much?", ar: "كم؟"}
    when: {concealed: ["yes"]}
    answers: {little: {en: "A little", ar: "قليلا"}, lots: {en: "A lot", ar: "كثيرا"}}
    decline: {en: "I prefer not to say", ar: "أفضل عدم القول"}
  - id: taken
    kind: several
    text: {en: "What did you take from work?", ar: "ماذا أخذت من العمل؟"}
    answers: {pens: {en: "Pens", ar: "أقلام"}, paper: {en: "Paper", ar: "ورق"}}
"""


@pytest.fixture(scope="session")
def chromium():
    """The system's Chromium; where everything must be there, its absence is a failure."""
    path = shutil.which("chromium")
    if path is None:
        assert os.environ.get("CI") != "true", "chromium must be installed"
        pytest.skip("chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS.split())
        yield browser
        browser.close()


@dataclass
class Site:
    """A running server, its survey and database, and everything it logs."""

    address: str
    survey: Survey
    database: Path
    log: io.StringIO

    def link(self, token: str | None = None) -> str:
        return str(Link(self.address, self.survey.hash, token))

    def reports(self) -> list[bytes]:
        store = Store(str(self.database))
        found = store.reports(self.survey.id)
        store.close()
        return found

    def everything_stored(self) -> bytes:
        return b"".join(path.read_bytes() for path in self.database.parent.iterdir())


@pytest.fixture
def definition() -> str:
    return DEFINITION


@pytest.fixture
def small_screen() -> dict:
    return dict(PHONE)


@pytest.fixture
def site(tmp_path):
    with _serving(tmp_path, DEFINITION) as running_site:
        yield running_site


@pytest.fixture
def serving():
    return _serving


@contextmanager
def _serving(folder: Path, asked: str | Survey) -> Iterator[Site]:
    """A server over a fresh database, for as long as the block lasts; the survey, or its definition."""
    survey = survey_from_text(asked) if isinstance(asked, str) else asked
    database = folder / "surveys.db"
    store = Store(str(database))
    store.freeze(survey)
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    try:
        with running(make_app(store, per_window=None), listen("127.0.0.1", 0)) as address:
            yield Site(address, survey, database, log)
    finally:
        logging.getLogger().removeHandler(handler)


@pytest.fixture
def phone(chromium):
    """A fresh profile on a small screen; mistakes of the page's own scripts fail the test."""
    context = chromium.new_context(**PHONE)
    page = context.new_page()
    mistakes: list[str] = []
    page.on("pageerror", lambda error: mistakes.append(str(error)))
    yield page
    context.close()
    assert mistakes == []


@pytest.fixture
def walk():
    """Answer by keyboard: the numbers of the answers to each question that is asked."""
    return _answer_by_keyboard


def _answer_by_keyboard(page, *choices: int, send: bool = True) -> None:
    """Tab to the first answer of each question, go down to one, and press Enter; the focus starts at the heading."""
    page.wait_for_selector("button.primary")
    page.focus("button.primary")
    page.keyboard.press("Enter")
    for choice in choices:
        page.wait_for_selector("fieldset")
        assert page.evaluate("document.activeElement.tagName") == "H1"
        page.keyboard.press("Tab")
        if page.get_attribute(":focus", "type") == "checkbox":
            for _ in range(choice):
                page.keyboard.press("Tab")
            page.keyboard.press("Space")
        else:
            page.keyboard.press("Space")
            for _ in range(choice):
                page.keyboard.press("ArrowDown")
        before = page.inner_text("main h1")
        page.keyboard.press("Enter")
        page.wait_for_function("before => document.querySelector('main h1').innerText !== before", arg=before)
    if send:
        page.wait_for_selector(".answers")
        page.focus("button.primary")
        page.keyboard.press("Enter")
