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
from sqlalchemy import insert

from sottovoce.surveys.blind_rsa import SecretKey
from sottovoce.surveys.collect.database import surveys, writing
from sottovoce.surveys.collect.server import listen, make_app, running
from sottovoce.surveys.collect.store import Store, _survey_row
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.links import Link
from tests.surveys.conftest import key_of
from tests.surveys.dashboard.conftest import cheap_passwords, office  # noqa: F401  # fixtures

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync"
    " --no-first-run"
)
ELSEWHERE = "--host-resolver-rules=MAP survey.test 127.0.0.1"
"""A name that browsers take for another machine."""

KEY = key_of(3)
"""The key of every survey that is served: to draw a new one each time takes a while, and shows nothing here."""

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True, "locale": "en-US"}

DEFINITION = """
title: {en: "Honesty at work", ar: "الصدق في العمل"}
asker: {en: "Institute of Examples", ar: "معهد الأمثلة"}
purpose: {en: "To learn how common it is, not who does it.", ar: "لنعرف مدى شيوعه، لا من يفعله."}
languages: [en, ar]
until: 2100-12-31
odds: 216:1
split: true
invitation: open
send_interval: 0
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
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS.split(), ELSEWHERE])
        yield browser
        browser.close()


SEEDED = """(() => {
  let state = SEED;
  const next = () => {  // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) & 0xff;
  };
  crypto.getRandomValues = (array) => {
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).forEach((_, at, bytes) => { bytes[at] = next(); });
    return array;
  };
})()"""


@pytest.fixture
def seed_coins():
    """Give a page random bytes that a seed repeats, before it is loaded: what comes out is not left to luck."""
    return lambda page, seed: page.add_init_script(SEEDED.replace("SEED", str(seed)))


@dataclass
class Site:
    """A running server, its survey and database, and everything it logs."""

    address: str
    survey: Survey
    database: Path
    log: io.StringIO

    def link(self, token: str | None = None) -> str:
        return str(Link(self.address, self.survey.hash, token))

    def invite(self, count: int = 1) -> list[str]:
        """Links of new invitations."""
        store = Store(str(self.database))
        tokens = store.invite(self.survey, count)
        store.close()
        return [self.link(token) for token in tokens]

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
def invited(tmp_path):
    """A survey with invitations, whose reports are sent as soon as they are sealed."""
    with _serving(tmp_path, DEFINITION.replace("invitation: open", "invitation: single")) as running_site:
        yield running_site


@pytest.fixture
def timed(tmp_path):
    """The same, with reports that wait for a moment in the next five minutes of the clock."""
    timed = DEFINITION.replace("invitation: open", "invitation: single").replace("interval: 0", "interval: 300")
    with _serving(tmp_path, timed) as running_site:
        yield running_site


@pytest.fixture(scope="session")
def serving():
    return _serving


@contextmanager
def _serving(folder: Path, asked: str | Survey, *, as_0_1: bool = False) -> Iterator[Site]:
    """A server over a fresh database, for as long as the block lasts; the survey, or its definition.

    A survey with invitations may be frozen as 0.1 froze it, without a key: the invitations travel with the reports.
    """
    survey = survey_from_text(asked) if isinstance(asked, str) else asked
    database = folder / "surveys.db"
    store = Store(str(database))
    if as_0_1:
        with writing(store._engine) as connection:
            connection.execute(insert(surveys), _survey_row(survey, None))
    else:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SecretKey, "generate", lambda: KEY)
            survey = store.freeze(survey)
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    try:
        with running(make_app(store, per_window=None), listen("127.0.0.1", 0)) as address:
            yield Site(address, survey, database, log)
    finally:
        logging.getLogger().removeHandler(handler)


@pytest.fixture
def device(chromium):
    """Make pages with fresh profiles on small screens; mistakes of the page's own scripts fail the test."""
    contexts: list = []
    mistakes: list[str] = []

    def make(**settings):
        contexts.append(chromium.new_context(**PHONE | settings))
        contexts[-1].on("weberror", lambda error: mistakes.append(str(error.error)))
        return contexts[-1].new_page()

    yield make
    for context in contexts:
        context.close()
    assert mistakes == []


@pytest.fixture
def phone(device):
    return device()


@pytest.fixture
def heading_is():
    """Wait for a screen by its heading."""
    return lambda page, title: page.get_by_role("heading", level=1, name=title, exact=True).wait_for()


KEPT = """async () => {
  const opening = indexedDB.open("sottovoce");
  opening.onupgradeneeded = () => opening.result.createObjectStore("states");
  const ended = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
  const states = (await ended(opening)).transaction("states").objectStore("states");
  const [names, values] = await Promise.all([ended(states.getAllKeys()), ended(states.getAll())]);
  opening.result.close();
  return Object.fromEntries(names.map((name, i) => [name, values[i]]));
}"""


@pytest.fixture
def kept():
    """What a page's device keeps, by the names of its items."""
    return lambda page: page.evaluate(KEPT) | page.evaluate("({...localStorage, ...sessionStorage})")


@pytest.fixture
def walk():
    """Answer by keyboard: the numbers of the answers to each question that is asked; other screens are passed."""
    return _answer_by_keyboard


def _answer_by_keyboard(page, *choices: int, send: bool = True) -> None:
    """Tab to the first answer of each question, go down to one, and press Enter; the focus starts at the heading."""
    page.wait_for_selector("button.primary")
    page.focus("button.primary")
    page.keyboard.press("Enter")
    for choice in choices:
        _pass_unused_screens(page)
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
    _pass_unused_screens(page)
    if send:
        for screen in (".answers", ".coins"):
            page.wait_for_selector(screen)
            page.focus("button.primary")
            page.keyboard.press("Enter")


@pytest.fixture
def toss():
    """Go on from the review: toss the coins, and send what they left."""

    def toss_and_send(page) -> None:
        for screen in (".answers", ".coins"):
            page.wait_for_selector(screen)
            page.click("button.primary")

    return toss_and_send


def _pass_unused_screens(page) -> None:
    """Go on from screens whose question is not asked, past the button that goes back."""
    page.wait_for_selector("fieldset, .unused, .answers")
    while page.locator(".unused").count():
        assert page.evaluate("document.activeElement.tagName") == "H1"
        before = page.inner_text("main")
        for key in ("Tab", "Tab", "Enter"):
            page.keyboard.press(key)
        page.wait_for_function("before => document.querySelector('main').innerText !== before", arg=before)
