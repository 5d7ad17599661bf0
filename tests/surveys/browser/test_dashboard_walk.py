"""From the first account to the published estimate, in the browser alone, with the server restarted on the way."""

import csv
import json
import zipfile

import pytest
from playwright.sync_api import expect

import sottovoce as sv
from sottovoce.surveys.dashboard.accounts import first_account_link
from tests.surveys.browser.conftest import PHONE
from tests.surveys.dashboard.conftest import PASSWORD, serving_office

DESK = {"viewport": {"width": 1280, "height": 900}}


@pytest.fixture
def researchers(chromium):
    """Make pages of researchers with fresh profiles; mistakes of the pages' own scripts fail the test."""
    contexts, mistakes = [], []

    def make(**settings):
        contexts.append(chromium.new_context(**(DESK | settings)))
        contexts[-1].on("weberror", lambda error: mistakes.append(str(error.error)))
        return contexts[-1].new_page()

    yield make
    for context in contexts:
        context.close()
    assert mistakes == []


def create_account(page, link: str, name: str) -> None:
    page.goto(link)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The same password again").fill(PASSWORD)
    page.get_by_role("button", name="Create the account").click()
    expect(page.get_by_role("heading", name="Surveys", exact=True)).to_be_visible()


def draft_from_sample(page) -> None:
    page.get_by_role("link", name="New survey").first.click()
    page.get_by_role("button", name="Begin with the sample Cheating in exams").click()
    expect(page.locator("#saved")).to_have_text("Saved")


def edit(page, text: str) -> None:
    """Change the definition as YAML, and wait until it is saved."""
    page.get_by_role("tab", name="YAML").click()
    page.locator("#yaml").fill(text)
    with page.expect_response(lambda answer: answer.url.endswith("/save") and answer.ok):
        page.locator("#yaml").blur()
    expect(page.locator("#saved")).to_have_text("Saved")


def preview(page) -> None:
    """Walk into the preview, and see the first question."""
    page.get_by_role("tab", name="Preview").click()
    frame = page.frame_locator("#preview")
    frame.get_by_role("button", name="Begin").click()
    expect(frame.locator("progress")).to_be_visible()


def answer_all(page, link: str) -> None:
    """Answer every question with its first answer, and send the report."""
    page.goto(link)
    page.wait_for_selector("button.primary")
    while not page.locator(".receipt").count():
        before = page.inner_text("main")
        for group in sorted({field.get_attribute("name") for field in page.locator("main input").all()}):
            page.locator(f"label:has(input[name='{group}'])").first.click()
        page.locator("main button.primary").click()
        page.wait_for_function("before => document.querySelector('main').innerText !== before", arg=before)
        page.wait_for_selector("main button.primary, .receipt")


def saved_file(page, folder, name: str):
    with page.expect_download() as download:
        page.get_by_role("link", name=name, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


@pytest.mark.slow
def test_from_the_first_account_to_the_published_estimate(tmp_path, cheap_passwords, researchers, chromium):
    database = str(tmp_path / "surveys.db")
    anna, bert = researchers(accept_downloads=True), researchers()
    with serving_office(database) as office:
        create_account(anna, first_account_link(office.store, office.address), "anna")
        anna.get_by_role("link", name="Accounts").click()
        anna.get_by_label("Somebody else, as").select_option("editor")
        anna.get_by_role("button", name="Make a link").click()
        create_account(bert, anna.inner_text(".copied"), "bert")
        anna.get_by_role("link", name="Surveys", exact=True).click()
        draft_from_sample(anna)
        text = anna.locator("#yaml").input_value()
        plain = text.replace("comprehension_check: true\n", "")
        edit(anna, f"{plain}\nsend_interval: 0\n".replace("\n\nsend_interval", "\nsend_interval"))
        preview(anna)
        both_edit(anna, bert)
        rehearse(anna, 5000)
        truth = anna.locator("main").inner_text()
        assert "5,000" in truth
        exported = export(anna, tmp_path)
        address = anna.url.partition("/surveys/")[2].partition("/")[0]
    check_export(exported)
    with serving_office(database) as office:  # restarted, at another port: sessions and rehearsals are still there
        anna.goto(f"{office.address}/research/surveys/{address}/results")
        expect(anna.get_by_text("This is a rehearsal").first).to_be_visible()
        throw_away(anna, office)
        links = freeze_and_invite(anna, office, tmp_path)
        for link in links:
            context = chromium.new_context(**PHONE)
            answer_all(context.new_page(), link)
            context.close()
        anna.get_by_role("link", name="Results").first.click()
        expect(anna.get_by_text("97", exact=False).first).to_be_visible()  # so many are missing
        (live,) = office.store.surveys()
        assert office.store.counts(live)["reports"] == 3


def both_edit(anna, bert) -> None:
    """Two editors of one draft: the second one to save is told, and chooses."""
    bert.goto(anna.url.partition("#")[0])
    expect(bert.locator("#saved")).to_have_text("Saved")
    text = anna.locator("#yaml").input_value()
    edit(anna, text.replace("title: ", "title: First "))
    bert.get_by_role("tab", name="YAML").click()
    bert.locator("#yaml").fill(text.replace("title: ", "title: Second "))
    bert.locator("#yaml").blur()
    expect(bert.locator("#notices")).to_contain_text("anna")
    bert.get_by_role("button", name="Take theirs").click()
    expect(bert.locator("#yaml")).to_have_value(anna.locator("#yaml").input_value())


def rehearse(page, people: int) -> None:
    page.get_by_role("link", name="Rehearse").click()
    page.get_by_label("Made-up people").fill(str(people))
    page.get_by_role("button", name="Rehearse").click()
    page.wait_for_url("**/results")


def export(page, folder):
    """Save the rehearsal's reports in two formats, and the estimates that go with them."""
    page.get_by_role("link", name="Publish").click()
    return [saved_file(page, folder, name) for name in ("CSV", "Parquet", "Estimates (JSON)")]


def check_export(files) -> None:
    """What was exported, read again, gives the same numbers to the last digit."""
    archive, parquet, estimates = files
    assert all("rehearsal" in path.name for path in files)
    folder = archive.with_suffix("")
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
    (table,) = (path for path in folder.rglob("*.csv") if "codebook" not in path.name)
    told = json.loads(estimates.read_text(encoding="utf-8"))
    compared = 0
    for reports in (sv.read(str(parquet)), sv.read(str(table))):
        assert len(reports) == 5000
        for result in told["results"]:
            (name,) = result["questions"]
            if name not in reports.plan.schema.names or reports.plan.schema[name].kind == "items":
                continue
            found = reports.estimate(name)
            assert [line["estimate"] for line in result["lines"]] == list(found.value)
            assert [(line["low"], line["high"]) for line in result["lines"]] == [
                (row["low"], row["high"]) for row in found.to_rows(told["level"])
            ]
            compared += 1
    assert compared >= 4


def throw_away(page, office) -> None:
    page.get_by_role("link", name="Overview").click()
    page.get_by_role("button", name="Throw the rehearsal away").click()
    expect(page.get_by_role("heading", name="Surveys", exact=True)).to_be_visible()
    assert office.store.rehearsals() == set()


def freeze_and_invite(page, office, folder) -> list[str]:
    page.get_by_role("link", name="First Exams, honestly").click()
    page.get_by_role("link", name="Freeze").click()
    page.get_by_role("button", name="Freeze it for good").click()
    page.get_by_role("link", name="Invite people").click()
    page.get_by_label("How many").fill("3")
    with page.expect_download() as download:
        page.get_by_role("button", name="Make invitations").click()
    path = folder / "links.csv"
    download.value.save_as(path)
    with path.open(newline="", encoding="utf-8-sig") as file:
        return [row["link"] for row in csv.DictReader(file)]
