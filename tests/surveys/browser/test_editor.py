"""The editor in a real browser: form and YAML, saving, conflicts, lost sessions, numbers and the preview."""

import re
import time
from dataclasses import replace
from datetime import timedelta

import pytest

from sottovoce.surveys.collect.app_state import today
from sottovoce.surveys.dashboard.accounts import Role
from sottovoce.surveys.dashboard.drafts import Drafts
from sottovoce.surveys.definition.definition import survey_from_text

pytestmark = pytest.mark.slow  # what the server answers is tested without a browser

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
DESKTOP = {"viewport": {"width": 1280, "height": 900}}
SLOW = 60_000
"""Milliseconds for what another process computes, on a busy machine."""

SMALL = f"""title: Tax
asker: Institute
purpose: To learn.
until: {today() + timedelta(days=9)}
odds: 3:1      # little
invitation: open
questions:
  - id: tax
    kind: yes_no
    text: Did you evade tax?
"""


@pytest.fixture
def browsers(chromium, office):
    """Make pages with sessions of their own; mistakes of the scripts fail the test."""
    contexts, mistakes = [], []

    def make(role: Role = Role.OWNER, name: str | None = None, **settings):
        context = chromium.new_context(**DESKTOP | settings)
        contexts.append(context)
        context.on("weberror", lambda error: mistakes.append(str(error.error)))
        context.add_cookies(cookies(office, role, name))
        return context.new_page()

    yield make
    for context in contexts:
        context.close()
    assert mistakes == []


def cookies(office, role=Role.OWNER, name=None) -> list[dict]:
    secret = office.researcher(role, name).cookies["sottovoce_session"]
    return [{"name": "sottovoce_session", "value": secret, "domain": "127.0.0.1", "path": "/research"}]


class Editor:
    """A page with the editor of a draft."""

    def __init__(self, page, office, draft: str) -> None:
        self.page, self.office, self.draft = page, office, draft
        page.goto(f"{office.address}/research/drafts/{draft}")
        page.wait_for_selector("#editor:not([hidden])")

    @property
    def stored(self):
        return Drafts(self.office.store.engine).get(self.draft)

    def saved(self) -> str:
        """Wait until everything is saved; return the text."""
        self.page.wait_for_function(
            "() => !isDirty() && document.querySelector('#saved').textContent === 'Saved'", timeout=SLOW
        )
        return self.stored.text

    def checked(self) -> None:
        """Wait until mistakes and numbers of everything are shown."""
        self.saved()
        self.page.wait_for_function(
            "() => !document.querySelector('#panel-numbers').hasAttribute('aria-busy')", timeout=SLOW
        )


@pytest.fixture
def edit(office, browsers):
    def make(text: str = SMALL, page=None, draft: str | None = None) -> Editor:
        draft = draft or Drafts(office.store.engine).create(text, "owner").id
        return Editor(page or browsers(), office, draft)

    return make


def test_form_and_yaml_edit_one_document(edit):
    editor = edit()
    page = editor.page
    page.get_by_label("Title", exact=True).fill("Taxes: <b>all</b> of 'them' 😀")
    assert editor.saved() == SMALL.replace("title: Tax", "title: 'Taxes: <b>all</b> of ''them'' 😀'")
    assert page.inner_text("#title") == "Taxes: <b>all</b> of 'them' 😀"
    page.get_by_role("tab", name="YAML").click()
    assert page.input_value("#yaml") == editor.stored.text
    page.locator("#yaml").fill(SMALL.replace("Institute", "Somebody else") + "groups: []\n")
    editor.saved()
    page.get_by_role("tab", name="Form").click()
    assert page.get_by_label("Who asks").input_value() == "Somebody else"
    assert "groups of questions" in page.get_by_role("region", name="Only in the YAML").inner_text()
    page.get_by_label("Who asks").fill("A third one")
    assert editor.saved() == SMALL.replace("Institute", "A third one") + "groups: []\n"
    page.reload()
    assert page.get_by_label("Who asks").input_value() == "A third one"


def test_mistakes_are_beside_their_fields_and_at_their_lines(edit):
    editor = edit()
    page = editor.page
    page.get_by_label("Purpose").fill("")
    page.get_by_label("Last day").fill("2020-01-01")
    editor.checked()
    purpose = page.get_by_label("Purpose")
    assert purpose.get_attribute("aria-invalid") == "true"
    told = page.locator(f"#{purpose.get_attribute('aria-describedby').split()[-1]}").text_content()
    assert told == "purpose must be a text that is not empty. Got '' instead."
    assert page.locator("#gutter mark").all_text_contents() == ["3"]
    assert page.inner_text("#bar-numbers") == "1 mistake"
    page.get_by_label("Purpose").fill("To learn")
    editor.checked()
    assert "until must be today" in page.locator("[data-field=until] .mistake").text_content()
    page.get_by_role("tab", name="YAML").click()
    page.locator("#yaml").fill("title: [\n")
    editor.checked()
    assert page.locator("#gutter mark").count() == 1
    page.get_by_role("tab", name="Form").click()
    assert "cannot be read" in page.inner_text("#panel-form")
    page.locator("#notice-mistakes summary").click()
    page.locator("#notice-mistakes button").click()
    assert page.evaluate("document.activeElement.id") == "yaml"


KINDS = ("single", "several", "number", "scale", "matrix", "unrelated", "yes_no")


def test_questions_of_all_kinds_are_made_in_the_form(edit):
    editor = edit(SMALL.replace("3:1", "100:1"))
    page = editor.page
    for number, kind in enumerate(KINDS, 1):
        page.get_by_role("button", name="Add a question").click()
        card = page.locator(f"#question-{number}")
        page.keyboard.type(f"Question of kind {kind}")
        card.get_by_label("Kind").select_option(kind)
        card.get_by_label("Name in results").fill(f"{kind}_")
    page.locator("#question-1").get_by_role("button", name="Add an answer").click()
    page.keyboard.type("Third, really")
    page.locator("#question-2").get_by_role("button", name="Give the answers short names").click()
    page.locator("#question-2").get_by_label("Name of answer 1 in results").fill("first")
    page.locator("#question-2").get_by_label("Choose at most").fill("1")
    page.locator("#question-2").get_by_label("Shuffle").check()
    page.locator("#question-3").get_by_label("Words for the ranges").check()
    page.locator("#question-4").get_by_label("Words for every step").check()
    page.locator("#question-5").get_by_role("button", name="Add an item").click()
    page.locator("#question-6").get_by_label("Of 100 people").fill("25")
    page.locator("#question-7").get_by_label("Own words").check()
    editor.checked()
    survey = survey_from_text(editor.stored.text)
    assert [question.kind for question in survey.questions] == [
        *("yes_no", "single", "several", "number", "scale", "scale", "scale", "scale", "yes_no", "yes_no")
    ]
    assert survey.questions[1].labels == ("First answer", "Second answer", "Third, really")
    assert (survey.questions[2].labels, survey.questions[2].limits) == (("first", "Second answer"), (0, 1))
    assert survey.plan.group_of("unrelated_").scheme == "unrelated_question"
    page.locator("#question-1").get_by_label("Kind").select_option("scale")
    page.locator("#question-1").get_by_label("Kind").select_option("single")  # what was there before comes back
    assert page.locator("#question-1").get_by_label("Answer 3", exact=True).input_value() == "Third, really"


def test_a_button_that_is_pressed_slowly_is_not_lost(edit):
    """Leaving a field builds the form again, but not between the press and the release of a button."""
    page = edit(SMALL.replace("3:1", "100:1") + "  - {id: fare, kind: single, text: Fare, answers: [a, b]}\n").page
    page.locator("#question-1 > summary").click()
    page.locator("#question-1").get_by_label("Name in results").fill("ride")
    page.locator("#question-1").get_by_role("button", name="Add an answer").hover()
    page.mouse.down()
    page.wait_for_timeout(300)
    page.mouse.up()
    page.keyboard.type("Third, really")
    assert page.locator("#question-1").get_by_label("Answer 3", exact=True).input_value() == "Third, really"


def test_questions_are_moved_duplicated_removed_and_connected(edit):
    editor = edit(SMALL.replace("3:1", "100:1") + "  - {id: fare, kind: yes_no, text: Fare}\n")
    page = editor.page
    for index in (0, 1):
        page.locator(f"#question-{index} > summary").click()
    page.locator("#question-1 .options summary").click()
    page.locator("#question-1").get_by_role("button", name="Add a condition").click()
    page.locator("#question-1").get_by_label("yes", exact=True).check()
    page.get_by_role("button", name="Add a pair").click()
    assert "when:\n      tax: [yes]" in editor.saved() or "when: {tax: [yes]}" in editor.stored.text
    page.locator("#question-0").get_by_label("Name in results").fill("evaded")
    page.keyboard.press("Tab")
    text = editor.saved()
    assert "evaded: [yes]" in text
    assert "[evaded, fare]" in text
    page.locator("#question-1").get_by_role("button", name="Duplicate").click()
    page.locator("#question-2").get_by_role("button", name="Move up").click()
    assert page.evaluate("document.activeElement.textContent") == "Move up"
    editor.saved()
    assert [question.id for question in survey_from_text(editor.stored.text).questions] == ["evaded", "fare_1", "fare"]
    page.locator("#question-1").get_by_role("button", name="Remove", exact=True).last.click()
    page.locator("#question-1").get_by_label("Public").check()
    editor.checked()
    assert "must not be about a protected answer" in page.locator("#question-1 .mistake").first.inner_text()


def test_everything_about_the_survey_is_in_the_form(edit, tmp_path):
    editor = edit()
    page = editor.page
    page.get_by_label("Contact").fill("a@example.org")
    page.locator("#add-language").fill("de")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_label("Title (de)").fill("Steuer")
    page.get_by_label("Consent (en)").fill("I agree.")
    page.get_by_label("Thanks (de)").fill("Danke")
    page.get_by_label("Thanks (en)").fill("Thanks")
    page.get_by_label("Ask whether the coins").check()
    page.get_by_label("Reports before").fill("50")
    page.get_by_label("Send interval").fill("0")
    page.get_by_label("One answer for each invitation").check()
    page.get_by_label("Divide the budget").check()
    page.locator("[type=color]").fill("#7a1f3d")
    page.set_input_files("[accept*=webp]", {"name": "logo.png", "mimeType": "image/png", "buffer": PNG})
    page.locator("#odds-slider").fill("100")
    editor.checked()
    draft = editor.stored
    survey = survey_from_text(draft.text, read_file=draft.read_file)
    assert (survey.title, survey.languages) == ({"en": "Tax", "de": "Steuer"}, ("en", "de"))
    assert (survey.contact, survey.minimum, survey.send_interval) == ("a@example.org", 50, 0)
    assert (survey.invitation, survey.plan.guarantee.odds) == ("single", 1000)
    shown = survey.presentation
    assert (shown.consent["en"], shown.thanks["de"], shown.colour) == ("I agree.", "Danke", "#7a1f3d")
    assert (shown.comprehension_check, shown.logo.content) == (True, PNG)
    assert page.inner_text("#odds-words").startswith("Weak")
    page.locator("#odds").fill("5000:1")
    page.get_by_label("I accept").check()
    editor.checked()
    assert survey_from_text(editor.stored.text, read_file=draft.read_file).weak
    page.locator("#odds").fill("9:1")
    page.get_by_role("button", name="Remove German").click()
    page.get_by_role("button", name="Remove the logo").click()
    page.get_by_role("button", name="Use the usual colour").click()
    editor.checked()
    survey = survey_from_text(editor.stored.text)
    assert (survey.languages, survey.title, survey.weak, survey.logo) == (("en",), {"en": "Tax"}, False, None)


PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108020000009077"
    "53de0000000c49444154789c63606060000000040001f61738550000000049454e44ae426082"
)


def test_two_editors_of_one_draft(edit, browsers):
    mine = edit()
    theirs = edit(page=browsers(Role.EDITOR, "bob"), draft=mine.draft)
    theirs.page.get_by_label("Title", exact=True).fill("Theirs")
    theirs.saved()
    mine.page.get_by_label("Title", exact=True).fill("Mine")
    notice = mine.page.locator("#notice-conflict")
    notice.wait_for(timeout=SLOW)
    assert "bob saved this draft while you were editing it" in notice.inner_text()
    assert notice.locator("li.mine code").all_text_contents() == ["title: Mine"]
    assert notice.locator("li.theirs code").all_text_contents() == ["title: Theirs"]
    assert "title: Theirs" in mine.stored.text
    mine.page.get_by_label("Who asks").fill("More of mine")  # while it is decided, nothing is lost and nothing saved
    mine.page.wait_for_timeout(1000)
    assert "title: Theirs" in mine.stored.text
    mine.page.get_by_role("button", name="Keep mine").click()
    text = mine.saved()
    assert "title: Mine\nasker: More of mine" in text
    theirs.page.get_by_label("Title", exact=True).fill("Theirs again")
    theirs.page.get_by_role("button", name="Take theirs").click(timeout=SLOW)
    assert theirs.page.get_by_label("Title", exact=True).input_value() == "Mine"
    assert theirs.stored.text == text
    theirs.page.get_by_label("Title", exact=True).fill("Now it works")
    assert "title: Now it works" in theirs.saved()


def log_out(editor) -> None:
    editor.office.accounts.end_session("owner")


def test_a_lost_session_keeps_the_draft(edit, office):
    editor = edit()
    page = editor.page
    log_out(editor)
    page.get_by_label("Title", exact=True).fill("Written without a session")
    page.locator("#notice-paused").wait_for(timeout=SLOW)
    assert "Nothing is lost" in page.inner_text("#notice-paused")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Log in in another tab").click()
    opened.value.wait_for_selector("#password")
    page.context.add_cookies(cookies(office))  # as the login in the other tab does
    page.get_by_role("button", name="Save now").click()
    assert "title: Written without a session" in editor.saved()
    assert page.locator("#notice-paused").count() == 0


def test_another_session_in_the_same_browser_saves_on(edit, office):
    editor = edit()
    log_out(editor)
    editor.page.context.add_cookies(cookies(office))  # whose token this page does not know
    editor.page.get_by_label("Title", exact=True).fill("Saved by another session")
    assert "title: Saved by another session" in editor.saved()


def test_a_lost_session_keeps_the_draft_after_a_reload(edit, office):
    editor = edit()
    page = editor.page
    log_out(editor)
    page.get_by_label("Title", exact=True).fill("Kept in the browser")
    page.locator("#notice-paused").wait_for(timeout=SLOW)
    page.reload()
    page.wait_for_selector("#password")
    page.fill("#name", "owner")
    page.fill("#password", "correct horse battery")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_selector("#editor:not([hidden])")
    assert page.get_by_label("Title", exact=True).input_value() == "Kept in the browser"
    assert "title: Kept in the browser" in editor.saved()
    assert page.evaluate("Object.keys(localStorage).length") == 0


def test_what_another_tab_left_unsaved_is_taken_up_and_compared(edit, office):
    editor = edit()
    page = editor.page
    page.evaluate(
        """id => {
          const written = { source: "text", tree: null, text: "title: Old\\n", planned: 50, logo: null };
          const kept = { ...written, revision: 1, at: 0 };
          localStorage[`sottovoce draft ${id} other`] = JSON.stringify(kept);
        }""",
        editor.draft,
    )
    Drafts(office.store.engine).save(_changed(editor.stored, "title: Newer\n"))
    page.reload()
    page.locator("#notice-conflict").wait_for(timeout=SLOW)
    assert page.locator("li.mine code").all_text_contents() == ["title: Old"]
    page.get_by_role("button", name="Take theirs").click()
    assert page.get_by_label("Title", exact=True).input_value() == "Newer"


def _changed(draft, text):
    return replace(draft, text=text)


def test_without_a_connection_everything_is_saved_later(edit):
    editor = edit()
    page = editor.page
    page.route("**/save", lambda route: route.abort())
    page.get_by_label("Title", exact=True).fill("Offline")
    page.locator("#notice-paused").wait_for(timeout=SLOW)
    assert "No connection" in page.inner_text("#notice-paused")
    page.unroute("**/save")
    page.evaluate("dispatchEvent(new Event('online'))")
    assert "title: Offline" in editor.saved()


def test_a_draft_that_somebody_deletes_becomes_a_new_one(edit, office):
    editor = edit()
    page = editor.page
    Drafts(office.store.engine).delete(editor.draft)
    page.get_by_label("Title", exact=True).fill("Rescued")
    page.get_by_role("button", name="Make a new draft of it").click(timeout=SLOW)
    page.wait_for_selector("#editor:not([hidden])")
    assert page.get_by_label("Title", exact=True).input_value() == "Rescued"
    assert [draft.title for draft in Drafts(office.store.engine).all()] == ["Rescued"]


def test_a_frozen_draft_is_not_edited_on(edit, office):
    editor = edit()
    page = editor.page
    Drafts(office.store.engine).freeze(editor.stored, lambda: "0" * 16)
    page.get_by_label("Title", exact=True).fill("Too late")
    page.locator("#notice-conflict").wait_for(timeout=SLOW)
    assert "froze this draft" in page.inner_text("#notice-conflict")
    page.get_by_role("button", name="Make a new draft of it").click()
    page.wait_for_selector("#editor:not([hidden])")
    assert page.get_by_label("Title", exact=True).input_value() == "Too late"


def test_what_cannot_be_saved_says_so(edit):
    editor = edit()
    page = editor.page
    page.get_by_role("tab", name="YAML").click()
    page.locator("#yaml").fill("title: " + "x" * 300_000)
    page.locator("#notice-mistake").wait_for(timeout=SLOW)
    assert "262,144 characters" in page.inner_text("#notice-mistake")
    page.locator("#yaml").fill("title: short\n")
    assert editor.saved() == "title: short\n"
    assert page.locator("#notice-mistake").count() == 0


def test_readers_see_everything_and_change_nothing(edit, browsers):
    editor = edit(page=browsers(Role.READER))
    page = editor.page
    assert page.get_by_label("Title", exact=True).is_disabled()
    page.wait_for_selector("#numbers table", timeout=SLOW)
    page.get_by_role("tab", name="YAML").click()
    assert not page.locator("#yaml").is_editable()
    assert page.locator("#freeze").count() == 0
    assert editor.stored.revision == 1


def answer(frame, choice: int = 1) -> None:
    """Answer the survey of one question in the preview."""
    frame.locator("button.primary").first.click(timeout=SLOW)
    frame.locator("fieldset input").nth(choice).check()
    frame.locator("button.primary").click()
    for screen in (".answers", ".coins"):
        frame.locator(screen).wait_for()
        frame.locator("button.primary").click()
    frame.locator(".receipt").wait_for(timeout=SLOW)


def test_the_preview_can_be_answered_again_and_again(edit, office):
    editor = edit()
    page = editor.page
    editor.checked()
    page.evaluate(
        """async () => { const opening = indexedDB.open("sottovoce");
        opening.onupgradeneeded = () => opening.result.createObjectStore("states");
        await new Promise((resolve) => (opening.onsuccess = resolve));
        const put = opening.result.transaction("states", "readwrite");
        put.objectStore("states").put({ state: "answered" }, "another survey");
        await new Promise((resolve) => (put.oncomplete = resolve)); opening.result.close(); }"""
    )
    page.get_by_role("tab", name="Preview").click()
    frame = page.frame_locator("#preview")
    answer(frame)
    frame.get_by_role("button", name=re.compile("receipt|stored|check", re.IGNORECASE)).first.click()
    page.frames[-1].evaluate("location.reload()")
    frame.get_by_role("heading", name=re.compile("answered|already", re.IGNORECASE)).wait_for(timeout=SLOW)
    page.get_by_role("button", name="Start again").click()
    answer(frame, 0)
    page.get_by_label("Title", exact=True).fill("Another title")
    editor.checked()
    frame.get_by_role("heading", name="Another title").wait_for(timeout=SLOW)
    assert office.store.surveys() == []
    kept = page.evaluate(
        """async () => { const opening = indexedDB.open("sottovoce");
        await new Promise((resolve) => (opening.onsuccess = resolve));
        const keys = opening.result.transaction("states").objectStore("states").getAllKeys();
        await new Promise((resolve) => (keys.onsuccess = resolve)); opening.result.close(); return keys.result; }"""
    )
    assert kept == ["another survey"]


def test_numbers_follow_and_the_form_stays_responsive(edit):
    """A survey of ten questions: while its numbers are computed, typing is not held up."""
    questions = "".join(f"  - {{id: q{n}, kind: yes_no, text: Question {n}}}\n" for n in range(1, 10))
    editor = edit(SMALL.replace("3:1", "100:1") + questions)
    page = editor.page
    began = time.monotonic()
    page.evaluate(
        """() => { window.longest = 0; let last = performance.now();
        window.watch = setInterval(() => { const now = performance.now();
        longest = Math.max(longest, now - last); last = now; }, 10); }"""
    )
    title = page.get_by_label("Title", exact=True)
    while time.monotonic() - began < 4:
        title.press_sequentially("x")
    began = time.monotonic()
    editor.saved()
    saved = time.monotonic() - began
    page.wait_for_selector("#outlook svg", timeout=SLOW)
    shown = time.monotonic() - began
    print(f"longest pause {page.evaluate('longest'):.0f} ms; saved after {saved:.1f} s, numbers after {shown:.1f} s")
    assert page.evaluate("longest") < 1500
    before = page.inner_text("#bar-numbers")
    page.locator("#odds-slider").fill("20")
    page.locator("#planned").fill("5000")
    editor.checked()
    assert page.inner_text("#bar-numbers") != before
    assert "With 5,000 respondents" in page.inner_text("#numbers")
    assert page.locator(".question .chip.numbers").first.inner_text().count(" : 1 · ± ") == 1


def test_everything_works_by_keyboard(edit):
    editor = edit()
    page = editor.page
    page.focus("#tab-form")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-yaml"
    assert page.locator("#panel-form").is_hidden()
    page.keyboard.press("ArrowRight")
    page.focus("#add-question")
    page.keyboard.press("Enter")
    page.keyboard.type("Typed?")
    page.keyboard.press("Tab")
    page.keyboard.type("One")  # chooses the kind "One of several answers"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type(" or so")
    editor.checked()
    question = survey_from_text(editor.stored.text.replace("3:1", "100:1")).questions[1]
    assert (question.kind, question.text["en"]) == ("single", "Typed?")
    assert page.evaluate("document.activeElement.tagName") == "INPUT"


NASTY = "<img src=x onerror=alert(1)>\"'&{{7*7}} 😀 مرحبا" + "x" * 200


def test_nasty_texts_are_shown_as_they_are(edit, browsers):
    for settings in (DESKTOP, PHONE):
        page = browsers(**settings)
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        editor = edit(page=page)
        page.get_by_label("Title", exact=True).fill(NASTY)
        page.locator("#question-0 > summary").click()
        page.locator("#question-0 textarea").first.fill(NASTY)
        page.locator("#question-0").get_by_label("Name in results").fill(NASTY)
        editor.checked()
        assert page.inner_text("#title") == NASTY
        assert page.inner_text("#question-0 .asked") == NASTY
        assert survey_from_text(editor.stored.text).questions[0].id == NASTY
        assert NASTY in page.inner_text("#numbers")
        page.frame_locator("#preview").locator("h1").wait_for(timeout=SLOW, state="attached")
        width = settings["viewport"]["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.goto(f"{editor.office.address}/research")
        assert page.locator("h3 bdi").first.inner_text() == NASTY
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_axe_finds_nothing(edit, browsers, office, screen, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = browsers(**screen, color_scheme=scheme, bypass_csp=True)

    def check() -> None:
        found = Axe().run(page).response["violations"]
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= screen["viewport"]["width"]

    page.goto(f"{office.address}/research/drafts/new")
    check()
    page.get_by_label("Text", exact=True).fill("title: T\nodds: often\n")
    page.get_by_role("button", name="Make a draft").click()
    page.wait_for_selector(".lines", timeout=SLOW)
    check()
    page.goto(f"{office.address}/research/drafts/new")
    page.get_by_role("button", name="Begin with the sample Honesty at work").click()
    page.wait_for_selector("#outlook svg", timeout=SLOW)
    for summary in page.locator(".question > summary").all():
        summary.click()
    check()
    page.get_by_role("tab", name="Preview").click()
    page.frame_locator("#preview").locator("button.primary").first.wait_for(timeout=SLOW)
    check()
    page.get_by_label("Title", exact=True).fill("")
    page.locator("#notice-mistakes").wait_for(timeout=SLOW)
    page.locator("#notice-mistakes summary").click()
    check()
    page.get_by_role("tab", name="YAML").click()
    check()
    address = page.url
    page.goto(f"{address}/freeze")
    check()
    page.goto(address)
    page.get_by_label("Title", exact=True).fill("Right again")
    page.wait_for_selector("#numbers:not(.stale) table", timeout=SLOW)
    page.goto(f"{address}/freeze")
    check()
    page.goto(f"{office.address}/research")
    check()
    draft = address.rpartition("/")[2]
    editor = edit(page=page, draft=draft)
    Drafts(office.store.engine).save(_changed(editor.stored, editor.stored.text + "# theirs\n"))
    page.get_by_label("Title", exact=True).fill("Conflict")
    page.locator("#notice-conflict").wait_for(timeout=SLOW)
    check()
