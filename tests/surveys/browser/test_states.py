"""Every state of the respondent's page, at four widths, in light, dark and forced colours, in both directions.

One survey uses everything. Each test goes through states by keyboard, and looks at each of them in all sizes. Pictures
of all are written into the folder that SOTTOVOCE_SCREENSHOTS names.
"""

import json
import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from sottovoce.surveys.definition.definition import survey_from_text
from tests.surveys.browser.test_access import check
from tests.surveys.test_presentation import png

EVERYTHING = """
title: {en: "Honesty at work", ar: "الصدق في العمل"}
asker: {en: "Institute of Examples", ar: "معهد الأمثلة"}
purpose: "To learn how common it is, not who does it."
contact: survey@example.org
languages: [en, ar]
until: 2100-12-31
odds: 100:1
invitation: single
send_interval: 300
consent:
  en: "You take part of your own free will.\\n\\nYou may stop at any time."
  ar: "تشارك بمحض إرادتك.\\n\\nويمكنك التوقف في أي وقت."
thanks: {en: "Results are published in March.", ar: "تنشر النتائج في مارس."}
comprehension_check: true
colour: "#7A2048"
logo: logo.png
questions:
  - id: ward
    kind: single
    text: {en: "Where do you work?", ar: "أين تعمل؟"}
    answers: {office: {en: "In an office", ar: "في مكتب"}, outside: {en: "Outside", ar: "في الخارج"}}
    public: true
  - id: sick
    kind: yes_no
    text: {en: "Did you call in sick although you were well?", ar: "هل أبلغت عن مرض وأنت بصحة جيدة؟"}
    help: {en: "Think of the last twelve months.", ar: "فكر في الأشهر الاثني عشر الماضية."}
    decline: true
  - id: days
    kind: number
    text: {en: "On how many days?", ar: "كم يوما؟"}
    edges: [1, 3, 6, inf]
    when: {sick: yes}
  - id: drink
    kind: single
    text: How often did you drink alcohol at work?
    answers: {never: Never, once: Once or twice, monthly: Monthly, weekly: Weekly}
  - id: seen
    kind: several
    text: {en: "What did you experience at work?", ar: "ماذا واجهت في العمل؟"}
    answers:
      words: {en: "Insults", ar: "إهانات"}
      touch: {en: "Unwanted touching", ar: "لمس غير مرغوب فيه"}
      threats: Threats
    shuffle: true
    least: 1
    most: 2
    decline: true
  - id: mood
    kind: scale
    text: {en: "How content are you with your work?", ar: "ما مدى رضاك عن عملك؟"}
    steps: 5
    ends: [{en: "not at all", ar: "غير راض"}, {en: "very", ar: "راض جدا"}]
    wanted: mean
  - id: trust
    kind: matrix
    text: {en: "I trust", ar: "أثق في"}
    items: {boss: {en: "my superiors", ar: "رؤسائي"}, peers: {en: "my colleagues", ar: "زملائي"}}
    steps: 5
    ends: [{en: "never", ar: "أبدا"}, {en: "always", ar: "دائما"}]
  - id: theft
    kind: yes_no
    text: {en: "Did you ever take home something that was not yours?", ar: "هل أخذت إلى البيت شيئا ليس لك؟"}
    scheme: {name: unrelated_question, known: [0.75, 0.25]}
    unrelated: Was your mother born in spring (March to May)?
"""

WEAK = """
title: {en: "Weak coins", ar: "عملات ضعيفة"}
asker: {en: "Institute of Examples", ar: "معهد الأمثلة"}
purpose: {en: "To see a warning.", ar: "لنرى تحذيرا."}
languages: [en, ar]
until: 2100-12-31
odds: ODDS
invitation: open
send_interval: 0
questions:
  - {id: sick, kind: yes_no, text: {en: "Were you ill?", ar: "هل كنت مريضا؟"}}
"""

SIZES = [(320, "light", "none"), (375, "dark", "none"), (768, "light", "none"), (1280, "dark", "none")]
FORCED = (320, "light", "active")

# Links inside sentences may be as high as their line (WCAG 2.2, 2.5.8); an answer is as large as its label.
SMALL_TARGETS = """() => [...document.querySelectorAll("a[href], button, input, select, summary")].filter((element) => {
  if (!element.checkVisibility()) return false;
  const inSentence = element.matches("a:not(.button)") && element.parentElement.innerText !== element.innerText;
  const { width, height } = (element.closest("label") ?? element).getBoundingClientRect();
  return !inSentence && (width < 24 || height < 24);
}).map((element) => element.outerHTML)"""

SEEN_FOCUS = """() => {
  const { activeElement } = document;
  return [activeElement, activeElement.closest(".option")].some((element) =>
    element && getComputedStyle(element).outlineStyle !== "none");
}"""


@dataclass
class Eyes:
    """Looks at a page in all sizes, and remembers which states it has seen."""

    page: object
    language: str
    seen: list[str]

    def look(self, state: str, *, at_heading: bool = True) -> None:
        """Check what holds of every state: no sideways scrolling, large targets, nothing that axe finds."""
        if at_heading:
            assert self.page.evaluate("document.activeElement === document.querySelector('main h1')"), state
        for width, scheme, forced in (FORCED, *SIZES):  # forced colours must not be on when a page is opened
            self.page.set_viewport_size({"width": width, "height": 800})
            self.page.emulate_media(color_scheme=scheme, forced_colors=forced, reduced_motion="reduce")
            assert self.page.evaluate("document.documentElement.scrollWidth") <= width, (state, width)
            assert self.page.evaluate(SMALL_TARGETS) == [], (state, width)
            if (width, forced) in ((320, "none"), (1280, "none")):
                check(self.page)
            self._take_picture(f"{self.language}-{len(self.seen):02}-{state}-{width}-{scheme}-{forced}.png")
        assert self.page.get_attribute("html", "dir") == ("rtl" if self.language == "ar" else "ltr"), state
        self.seen.append(state)

    def _take_picture(self, name: str) -> None:
        folder = os.environ.get("SOTTOVOCE_SCREENSHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=Path(folder) / name, full_page=True)

    def press(self, selector: str, key: str = "Enter") -> None:
        """Go to an element by Tab, see that the focus shows, and press a key there."""
        self.page.wait_for_selector(selector)
        for _ in range(60):
            self.page.keyboard.press("Tab")
            if self.page.evaluate("chosen => document.activeElement.matches(chosen)", selector):
                assert self.page.evaluate(SEEN_FOCUS), selector
                self.page.keyboard.press(key)
                return
        raise AssertionError(f"{selector} cannot be reached by Tab")

    def press_for(self, state: str, selector: str, wanted: str, key: str = "Enter", **looked) -> None:
        """Press, wait for what comes of it, and look."""
        self.press(selector, key)
        self.page.wait_for_selector(wanted)
        self.look(state, **looked)

    def open(self, state: str, link: str, wanted: str = "main a", *, at_heading: bool = True) -> None:
        """Open a link as if in a tab of its own, and look."""
        self.page.goto("about:blank")
        self.page.goto(link)
        self.page.wait_for_selector(wanted)
        self.look(state, at_heading=at_heading)


@pytest.fixture(scope="module")
def sites(serving, tmp_path_factory):
    """Servers of the survey that uses everything, of its rehearsal, and of surveys with weak and very weak coins."""
    folder = tmp_path_factory.mktemp("logo")
    (folder / "logo.png").write_bytes(png(48, 48))
    everything = survey_from_text(EVERYTHING, folder)
    surveys = {
        "everything": everything,
        "rehearsal": everything.as_rehearsal(),
        "weak": survey_from_text(WEAK.replace("ODDS", "99:1")),
        "very weak": survey_from_text(WEAK.replace("ODDS", "1001:1") + "weak: accepted\n"),
    }
    with ExitStack() as stack:
        yield {name: stack.enter_context(serving(tmp_path_factory.mktemp("site"), of)) for name, of in surveys.items()}


@pytest.fixture(params=["en", "ar"])
def eyes(chromium, request):
    context = chromium.new_context(locale=request.param, bypass_csp=True, reduced_motion="reduce")
    mistakes: list[str] = []
    context.on("weberror", lambda error: mistakes.append(str(error.error)))
    yield Eyes(context.new_page(), request.param, [])
    context.close()
    assert mistakes == []


def check_english(eyes, selector: str, count: int = 1) -> None:
    """So many elements must say that they are in English, on a page in Arabic; on an English page, none."""
    assert eyes.page.locator(f"{selector}[lang=en]").count() == (count if eyes.language == "ar" else 0), selector


def go_on(page) -> None:
    """The connection is back."""
    page.evaluate("dispatchEvent(new Event('online'))")


@pytest.mark.slow
def test_the_way_of_a_respondent(sites, eyes):
    """From the invitation to the thanks, and back again, with a connection that fails at every request."""
    site, page = sites["everything"], eyes.page
    (link,) = site.invite()
    page.clock.install()
    begin(eyes, link)
    answer(eyes)
    toss_and_wait(eyes)
    arrive(eyes)
    eyes.open("already answered", link)


def begin(eyes, link) -> None:
    """Check of the invitation, welcome, consent, understanding, admission."""
    page = eyes.page
    page.route("**/check", lambda route: route.abort())
    eyes.open("checking", link, "[role=status]")
    page.unroute("**/check")
    go_on(page)
    page.wait_for_selector(".demo table")
    check_english(eyes, "main > p")  # the purpose
    eyes.look("welcome")
    eyes.press_for("consent", "button.primary", ".consent")
    eyes.press_for("understanding", "button.primary", "fieldset")
    page.route("**/admission", lambda route: route.abort())
    eyes.press_for("understanding told", "fieldset input", "button.primary >> visible=true", "Space", at_heading=False)
    eyes.press_for("admitting", "button.primary", "main:not(:has(fieldset)) [role=status]")
    page.unroute("**/admission")
    go_on(page)


def answer(eyes) -> None:
    """All kinds of questions, one that is not asked, and one that nothing was chosen for."""
    page = eyes.page
    page.wait_for_selector(".public")
    eyes.look("public")
    eyes.press_for("nothing chosen", "button.primary", ".warning:not(:empty)", at_heading=False)
    page.keyboard.press("Space")  # the focus is on the first answer
    eyes.press_for("yes or no", "button.primary", at_screen(2))
    eyes.press("fieldset input", "Space")
    eyes.press_for("not asked", "button.primary", f"{at_screen(3)} .unused")
    eyes.press(".buttons button:not(.primary)")
    page.wait_for_selector(at_screen(2))
    eyes.press("fieldset input", "ArrowDown")
    eyes.press_for("number", "button.primary", f"{at_screen(3)} fieldset")
    for number, state in enumerate(("single", "several", "scale", "matrix"), 4):
        shuffled = page.locator("input[type=checkbox]").count() > 0
        eyes.press("input[value=threats]" if shuffled else "fieldset input", "Space")
        eyes.press_for(state, "button.primary", at_screen(number))
    for name in ("answer", "answer1"):
        eyes.press(f"input[name={name}]", "Space")
    eyes.press_for("unrelated", "button.primary", at_screen(8))
    check_english(eyes, ".note bdi")
    eyes.press("fieldset input", "Space")
    eyes.press_for("review", "button.primary", ".answers")
    check_english(eyes, ".answers span")
    check_english(eyes, ".answers strong bdi", 2)  # never, and threats


def at_screen(number: int) -> str:
    """Selector of what is shown with this step of the progress."""
    return f"main:has(progress[value='{number}'])"


def toss_and_wait(eyes) -> None:
    """The coins, the time until the report is sent, and a report that is held back."""
    eyes.press_for("coins", "button.primary", ".coins")
    check_english(eyes, ".coins li > span")
    eyes.press_for("coins told", "p:not(.buttons) > button", ".did:not(:empty)", at_heading=False)
    eyes.press_for("waiting", "button.primary", "[role=timer]")
    eyes.press_for("carried", "summary", "#carried >> visible=true", at_heading=False)
    eyes.press_for("held", "details > button", "main > button.primary")
    eyes.press("button.primary")
    eyes.page.wait_for_selector("[role=timer]")


def arrive(eyes) -> None:
    """A report without a connection, refused, and taken."""
    page = eyes.page
    page.route("**/reports", lambda route: route.abort())
    page.clock.fast_forward(600_000)
    page.wait_for_function("!document.querySelector('[role=timer]')")
    page.wait_for_function("/\\p{Nd}/u.test(document.querySelector('[role=status]').textContent)")
    eyes.look("sending")
    page.unroute("**/reports")
    page.route("**/reports", lambda route: route.fulfill(status=409, json={"error": "signature", "reason": "forged"}))
    go_on(page)
    page.wait_for_selector("[role=alert]")
    eyes.look("refused")
    page.unroute("**/reports")
    eyes.press_for("thanks", "button.primary", ".receipt")
    check_english(eyes, "dt")
    eyes.press(".sent summary")
    page.wait_for_selector(".sent pre >> nth=0 >> visible=true")
    eyes.press_for("all that was sent", ".receipt-check button", ".receipt-check p:not(:empty)", at_heading=False)


@pytest.mark.slow
def test_states_in_which_nobody_is_asked(sites, eyes):
    """Ended, tampered with, mistyped, unknown, spent, offline, over an insecure connection; and the audit page."""
    site, page = sites["everything"], eyes.page
    link, spent = site.invite(2)
    home = f"{site.address}/s/{site.survey.id}"
    eyes.open("no hash", home, "[role=alert]")
    eyes.open("no invitation", site.link())
    eyes.open("truncated", link[:-1])
    eyes.open("mistyped", f"{link}x")
    eyes.open("unknown", site.link("x" * 22))
    eyes.open("insecure", link.replace("127.0.0.1", "survey.test"))
    page.route("**/survey.json", lambda route: route.abort())
    eyes.open("offline", link, "main button")
    page.unroute("**/survey.json")
    page.route("**/survey.json", lambda route: route.fulfill(json=json.loads(site.survey.document) | {"asker": "me"}))
    eyes.open("stopped", link, "[role=alert]")
    page.unroute("**/survey.json")
    page.route("**/check", lambda route: route.fulfill(status=409, json={"error": "spent", "reason": "used"}))
    eyes.open("spent", spent)
    page.unroute("**/check")
    eyes.open("audit", f"{home}/audit?language={eyes.language}", "main.audit", at_heading=False)
    page.click("summary")
    eyes.look("audit, all files", at_heading=False)
    eyes.open("unknown survey", f"{site.address}/s/{'0' * 16}", "main", at_heading=False)
    page.clock.set_fixed_time("2101-01-01")
    eyes.open("ended", link)


@pytest.mark.slow
def test_states_of_the_welcome_screen(sites, eyes):
    """Weak and very weak coins, a rehearsal, a browser that keeps nothing, and a false signature at the door."""
    page = eyes.page
    for name in ("weak", "very weak"):
        eyes.open(name, sites[name].link(), ".demo table")
    rehearsal, forgetful = sites["rehearsal"].invite(2)
    eyes.open("rehearsal", rehearsal, ".rehearsal + main .demo table")
    page.add_init_script("IDBObjectStore.prototype.put = () => { throw new Error('full'); }")
    page.route("**/admission", lambda route: route.fulfill(json={"signature": "0" * 512}))
    eyes.open("forgetful", forgetful, ".demo table")
    eyes.press("button.primary")
    eyes.press(".consent + p button.primary")
    eyes.press("fieldset input", "Space")
    eyes.press_for("false signature", "button.primary", "[role=alert]")
