"""Researchers run and publish a survey in a real browser: live, by keyboard, on phones, on paper, for everybody."""

import csv
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from sottovoce.surveys.client.client import Client
from sottovoce.surveys.client.simulate import random_shares, simulate_respondents
from sottovoce.surveys.collect.entries import Entry
from sottovoce.surveys.dashboard.accounts import Role
from sottovoce.surveys.dashboard.report import html_report
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.links import Link, read_link
from sottovoce.surveys.results import survey_results
from tests.surveys.dashboard.conftest import PASSWORD, serving_office
from tests.surveys.test_publications import MIXED

pytestmark = pytest.mark.slow  # what the server answers is tested without a browser

SINGLE = MIXED.replace("invitation: open\n", "send_interval: 0\n")
WIDE = {"viewport": {"width": 1280, "height": 900}}


@pytest.fixture
def office(tmp_path, monkeypatch):
    monkeypatch.setattr("sottovoce.surveys.dashboard.accounts.MEMORY_KIB", 64)
    monkeypatch.setattr("sottovoce.surveys.dashboard.accounts.ITERATIONS", 1)
    with serving_office(str(tmp_path / "surveys.db")) as found:
        yield found


def filled(office, text: str, count: int = 60):
    survey, rng = office.store.freeze(survey_from_text(text)), np.random.default_rng(1)
    made = simulate_respondents(survey, count, rng, random_shares(survey, rng)).reports()
    office.store.commit([Entry(survey.id, os.urandom(16), report) for report in made])
    return survey


def logged_in(office, chromium, role: Role = Role.EDITOR, **settings):
    """A page of somebody who is logged in."""
    office.researcher(role)
    page = chromium.new_context(**(WIDE | settings)).new_page()
    page.goto(f"{office.address}/research/login")
    page.fill("#name", role.label)
    page.fill("#password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{office.address}/research")
    return page


def sent(office, survey) -> None:
    """One respondent answers, in a thread of their own: a browser is driven in this one."""
    (token,) = office.store.invite(survey, 1)
    client = Client(office.address)
    answers = {"ward": "n", "sick": "no", "seen": [], "feel_work": "1", "feel_pay": "1", "job": "a"}
    client.answer(Link(office.address, survey.hash, token), answers)
    client.close()


def test_counts_follow_while_the_page_is_open(office, chromium):
    survey = office.store.freeze(survey_from_text(SINGLE))
    page = logged_in(office, chromium, Role.READER)
    page.goto(f"{office.address}/research/surveys/{survey.id}")
    assert page.locator("[data-count=reports]").inner_text() == "0"
    with ThreadPoolExecutor(1) as pool:
        pool.submit(sent, office, survey).result()
    expect(page.locator("[data-count=reports]")).to_have_text("1", timeout=30_000)
    assert [page.locator(f"[data-count={name}]").inner_text() for name in ("issued", "admitted", "unspent")] == [
        "1",
        "1",
        "0",
    ]
    page.context.close()


def test_invitations_by_keyboard_alone(office, chromium, tmp_path):
    survey = office.store.freeze(survey_from_text(SINGLE))
    page = logged_in(office, chromium)
    page.goto(f"{office.address}/research/surveys/{survey.id}/invitations")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "count":
            break
    page.keyboard.press("Control+A")
    page.keyboard.type("5")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "Everything-at-once-links.csv"
    download.value.save_as(tmp_path / "links.csv")
    rows = list(csv.DictReader((tmp_path / "links.csv").read_text().splitlines()))
    assert {read_link(row["link"]).server for row in rows} == {office.address}
    assert len(rows) == 5
    expect(page.locator("[data-count=unspent]")).to_have_text("5", timeout=30_000)
    page.set_input_files("#links", tmp_path / "links.csv")
    page.get_by_role("button", name="Withdraw these").click()
    page.wait_for_selector(".done")
    assert "5 invitations were withdrawn" in page.inner_text(".done")
    page.context.close()


def test_the_methods_paragraph_is_copied(office, chromium):
    survey = filled(office, MIXED)
    page = logged_in(office, chromium, permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{office.address}/research/surveys/{survey.id}/publish")
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("Sensitive questions were asked by randomized response [1]")
    assert survey.hash in copied
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV", exact=True).click()
    assert download.value.suggested_filename == "Everything-at-once-reports.zip"
    page.context.close()


def test_the_report_is_printed_and_loads_nothing(office, chromium, tmp_path):
    survey = filled(office, MIXED)
    results = survey_results(survey, office.store.reports(survey.id))
    path = tmp_path / "report.html"
    path.write_text(html_report(survey, results, office.store.counts(survey.id)), encoding="utf-8")
    page, loaded = chromium.new_page(**WIDE), []
    page.on("request", lambda request: loaded.append(request.url))
    page.goto(path.as_uri())
    assert loaded == [path.as_uri()]
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(office, chromium, tmp_path, scheme, width):
    """Every page for editors, the cards and the report, without scrolling sideways."""
    single, shared = filled(office, SINGLE), filled(office, MIXED.replace("Everything at once", "Open"))
    trial = office.store.freeze(single.as_rehearsal())
    few = office.store.freeze(survey_from_text(MIXED.replace("Everything at once", "Empty")))
    settings = {"viewport": {"width": width, "height": 844}, "color_scheme": scheme, "bypass_csp": True}
    page = logged_in(office, chromium, **settings)

    def check() -> None:
        found = Axe().run(page).response["violations"]
        assert [(v["id"], [node["html"] for node in v["nodes"]]) for v in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    home = f"{office.address}/research/surveys"
    for path in (
        *(f"{single.id}{end}" for end in ("", "/invitations", "/close", "/delete", "/publish", "/publish/ethics")),
        *(f"{shared.id}{end}" for end in ("", "/invitations?address=http://survey.example.org")),
        *(f"{trial.id}", f"{few.id}/publish"),
    ):
        page.goto(f"{home}/{path}")
        check()
    page.goto(f"{home}/{single.id}/invitations")
    page.check("input[value=sheet]")
    page.fill("#count", "3")
    page.get_by_role("button", name="Make invitations").click()
    page.wait_for_selector(".cut")
    check()
    results = survey_results(single, office.store.reports(single.id))
    report = tmp_path / "report.html"
    report.write_text(html_report(single, results, office.store.counts(single.id)), encoding="utf-8")
    page.goto(report.as_uri())
    check()
    page.context.close()
