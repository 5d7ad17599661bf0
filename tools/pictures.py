"""Take the pictures of docs/first-survey.md: `python tools/pictures.py`, with Chromium and the extra `dev` installed.

A survey is created, rehearsed, frozen and answered on this machine; everything but the pictures is deleted.
"""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

from sottovoce.surveys.collect.server import listen, make_app, running
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.dashboard.accounts import first_account_link

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
PASSWORD = "four words without connection"  # noqa: S105
SIZE = {"width": 1440, "height": 900}


def take(page: Page, name: str) -> None:
    """Write a picture of what is on the screen."""
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    page.screenshot(path=FOLDER / f"{name}.png", animations="disabled")


def walk(page: Page, first: str) -> None:
    """Go the way that the page in the documentation tells, and take a picture at every step."""
    page.goto(first)
    page.get_by_label("Name").fill("anna")
    take(page, "account")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The same password again").fill(PASSWORD)
    page.get_by_role("button", name="Create the account").click()
    page.get_by_role("link", name="New survey").first.click()
    take(page, "new")
    page.get_by_role("button", name="Begin with the sample Cheating in exams").click()
    page.wait_for_selector("#outlook svg")
    take(page, "draft")
    page.get_by_role("tab", name="Preview").click()
    page.frame_locator("#preview").get_by_role("button", name="Begin").wait_for()
    page.wait_for_timeout(500)
    take(page, "preview")
    page.get_by_role("link", name="Rehearse").click()
    take(page, "rehearse")
    page.get_by_label("Made-up people").fill("2000")
    page.get_by_role("button", name="Rehearse").click()
    page.wait_for_url("**/results")
    page.locator("section.card").first.scroll_into_view_if_needed()
    take(page, "results")
    page.get_by_role("link", name="Publish").click()
    take(page, "publish")
    page.get_by_role("link", name="Surveys", exact=True).click()
    page.get_by_role("link", name="Exams, honestly").first.click()
    page.get_by_role("link", name="Freeze").click()
    take(page, "freeze")
    page.get_by_role("button", name="Freeze it for good").click()
    page.get_by_role("link", name="Invite people").click()
    page.get_by_role("heading", name="Make invitations").scroll_into_view_if_needed()
    take(page, "invite")


def main() -> None:
    """Serve a new database, and take all pictures."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        store = Store(f"{folder}/surveys.db")
        with running(make_app(Store(f"{folder}/surveys.db")), listen("127.0.0.1", 0)) as address:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            context = browser.new_context(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
            walk(context.new_page(), first_account_link(store, address) or "")
            browser.close()
        store.close()


if __name__ == "__main__":
    main()
