"""Accounts in a real browser: from the first link to the logout, by keyboard, on a phone, in light and dark."""

import json
from contextlib import contextmanager
from urllib.parse import quote

import pytest

from sottovoce.surveys.dashboard.accounts import MOST_FAILURES, LoginError, Role, first_account_link
from sottovoce.surveys.definition.definition import survey_from_text
from tests.surveys.browser.test_access import check
from tests.surveys.dashboard.conftest import PASSWORD, serving_office

pytestmark = pytest.mark.slow  # what the server answers is tested without a browser

HARMFUL = "</title><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{ 7 * 7 }}"
SURVEY = """
title: TITLE
asker: Institute of Examples
purpose: To learn how common it is.
until: 2999-12-31
invitation: open
odds: 3:1
questions: [{id: q, kind: yes_no, text: "Did you?"}]
"""
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
SCREENS = [
    (PHONE, "light"),
    *(pytest.param(*screen, marks=pytest.mark.slow) for screen in ((PHONE, "dark"), (DESK, "light"), (DESK, "dark"))),
]


@pytest.fixture
def office(tmp_path, monkeypatch):
    monkeypatch.setattr("sottovoce.surveys.dashboard.accounts.MEMORY_KIB", 64)
    monkeypatch.setattr("sottovoce.surveys.dashboard.accounts.ITERATIONS", 1)
    with serving_office(str(tmp_path / "surveys.db")) as found:
        yield found


@contextmanager
def watched(chromium, **settings):
    """A page, in which a dialog, an error in its console, or a request to anywhere else fails the test."""
    context, seen = chromium.new_context(**settings), []
    page = context.new_page()
    page.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda line: seen.append(line.text) if line.type in ("error", "warning") else None)
    context.on("weberror", lambda error: seen.append(str(error.error)))
    try:
        yield page, seen
    finally:
        context.close()


def fill(page, name: str, password: str) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password", exact=True).fill(password)


def show_elsewhere(page, office, body: str) -> None:
    """Show a page of another site."""
    elsewhere = f"{office.address.replace('127.0.0.1', 'survey.test')}/mail"
    page.unroute(elsewhere)
    page.route(elsewhere, lambda route: route.fulfill(body=body, content_type="text/html"))
    page.goto(elsewhere)


def fill_office(office) -> None:
    """People of every role, one of them locked out, and several sessions of the owner's."""
    office.researcher(Role.EDITOR, "editor.with.a.long.name@department.example.org")
    office.researcher(Role.READER, "ben")
    office.researcher(Role.OWNER, "anna")
    for _ in range(MOST_FAILURES):
        with pytest.raises(LoginError):
            office.accounts.log_in("ben", "wrong")


@pytest.mark.parametrize(("screen", "scheme"), SCREENS)
def test_everybody_can_use_the_pages_of_accounts(office, chromium, screen, scheme):
    link = first_account_link(office.store, office.address)
    with watched(chromium, viewport=screen, color_scheme=scheme, bypass_csp=True) as (page, _):

        def look() -> None:
            check(page)
            assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")

        page.goto(link)
        look()
        fill(page, "anna", "short password")
        page.get_by_label("The same password again").fill("another")
        page.keyboard.press("Enter")
        page.wait_for_selector("[role=alert]")
        look()
        fill(page, "anna", PASSWORD)
        page.get_by_label("The same password again").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_selector("nav")
        look()
        fill_office(office)
        page.get_by_role("link", name="Accounts").click()
        page.locator("summary").nth(1).click()
        look()
        page.get_by_role("button", name="Make a link").click()
        page.wait_for_selector("#new-link")
        look()
        page.goto(f"{office.address}/research/nothing")
        look()
        page.goto(f"{office.address}/research/accounts")
        page.get_by_role("button", name="Log out").click()
        look()
        fill(page, "anna", "wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector("[role=alert]")
        look()
        page.goto(link)
        look()
        page.goto(f"{office.address}/research/link/{office.accounts.new_link(Role.READER, 'ben')}")
        look()


def test_the_way_by_keyboard(office, chromium):
    """Log in, make a link, copy it, end the session, without a mouse; a reader sees nothing of it."""
    office.researcher(Role.OWNER, "anna")
    with watched(chromium, viewport=DESK, permissions=["clipboard-read", "clipboard-write"]) as (page, seen):

        def to(name: str) -> None:
            for _ in range(60):
                page.keyboard.press("Tab")
                if page.evaluate("document.activeElement.innerText").startswith(name):
                    return
            raise AssertionError(name)

        page.goto(f"{office.address}/research/accounts")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Tab")
        page.keyboard.type("anna")
        page.keyboard.press("Tab")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_selector("#own-sessions")
        to("Make a link")
        page.keyboard.press("Enter")
        page.wait_for_selector("#link")
        to("Copy the link")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Copied").wait_for()
        link = page.evaluate("navigator.clipboard.readText()")
        assert link == page.inner_text("#link")
        with watched(chromium) as (other, _):
            other.goto(link)
            fill(other, "ben", PASSWORD)
            other.get_by_label("The same password again").fill(PASSWORD)
            other.keyboard.press("Enter")
            other.get_by_role("link", name="Accounts").click()
            assert other.get_by_role("heading", level=2).all_inner_texts() == ["Your sessions"]
        to("End all")
        page.keyboard.press("Enter")
        page.wait_for_url("**/research/login")
        assert seen == []


def test_nothing_that_people_write_is_run(office, chromium):
    office.store.freeze(survey_from_text(SURVEY.replace("TITLE", json.dumps(HARMFUL))))
    office.researcher(Role.OWNER, "anna")
    with watched(chromium, viewport=DESK) as (page, seen):
        page.goto(f"{office.address}/research/login?next={quote(HARMFUL)}")
        fill(page, "anna", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_selector("nav")
        assert page.inner_text("h3 a") == HARMFUL
        page.click("h3 a")
        assert HARMFUL in page.inner_text("h1")
        page.goto(f"{office.address}/research/accounts")
        page.locator("select[name=role] option").first.evaluate("(option, text) => { option.value = text; }", HARMFUL)
        page.locator("select[name=role]").first.select_option(index=0)
        assert seen == []
        page.get_by_role("button", name="Change").click()
        page.wait_for_selector("[role=alert]")
        assert HARMFUL[:30] in page.inner_text("[role=alert]")
        assert [line for line in seen if "422" not in line] == []
        page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'alert(3)'}))")
        assert "Content Security Policy" in seen[-1]  # what slipped through would not run either


def test_a_link_on_another_site_finds_the_session(office, chromium):
    """The browser keeps the cookie back when another site leads here; the page asks again by itself."""
    office.researcher(Role.OWNER, "anna")
    with watched(chromium) as (page, seen):
        page.goto(f"{office.address}/research")
        fill(page, "anna", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_selector("nav")
        show_elsewhere(page, office, f'<a href="{office.address}/research/accounts">accounts</a>')
        page.click("a")
        page.wait_for_selector("#own-sessions")
        assert page.url == f"{office.address}/research/accounts"
        assert seen == []


def test_a_form_on_another_site_changes_nothing(office, chromium):
    """Neither with the visitor's cookie, which stays at home, nor without: a login in somebody else's name."""
    office.researcher(Role.OWNER, "anna")
    with watched(chromium) as (page, _):
        page.goto(f"{office.address}/research")
        fill(page, "anna", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_selector("nav")
        for path in ("/research/login", "/research/accounts/links", "/research/logout"):
            form = f'<form method=post action="{office.address}{path}"><input name=role value=owner><button>x</button>'
            show_elsewhere(page, office, form)
            with page.expect_response(f"**{path}") as answered:
                page.click("button")
            assert answered.value.status == 403
        page.goto(f"{office.address}/research/accounts")
        assert page.inner_text("#own-sessions") == "Your sessions"
        assert len(office.accounts.all()) == 1
