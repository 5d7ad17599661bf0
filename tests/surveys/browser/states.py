"""Every state of the respondent's page, for all browsers: its name, and the steps that lead to it by keyboard.

The steps are data, so that Chromium (`test_states`) and Firefox (`firefox_states.mjs`) walk the very same way. A step
does something, may wait for what comes of it (`wanted`, a selector of which something must be visible), and may end in
a state that is looked at: with the focus at its heading and in the direction of the language, unless it says otherwise.
One survey uses everything.
"""

import json
import time
from contextlib import ExitStack
from pathlib import Path

import axe_playwright_python
import pytest

from sottovoce.surveys.definition.definition import survey_from_text
from tests.surveys.test_presentation import png

STATES = {
    "nobody is asked": (
        *("no hash", "no invitation", "truncated", "mistyped", "unknown", "insecure", "not arrived", "offline"),
        *("stopped", "spent", "audit", "audit, all files", "unknown survey", "ended"),
    ),
    "welcome screens": ("weak", "very weak", "rehearsal", "forgetful", "false signature"),
    "way of a respondent": (
        *("checking", "welcome", "consent", "understanding", "understanding told", "admitting", "public"),
        *("nothing chosen", "yes or no", "not asked", "number", "single", "several", "scale", "matrix", "unrelated"),
        *("review", "coins", "coins told", "waiting", "carried", "held", "carried elsewhere", "sending", "refused"),
        *("thanks", "all that was sent", "already answered"),
    ),
}
"""Names of all states, in the order in which they are seen. Nobody has answered before the last part begins."""

WIDTHS = (320, 375, 768, 1280)
COLOURS = ("forced", "dark", "light")
LANGUAGES = {"en": "ltr", "ar": "rtl"}
"""Languages in which every state is looked at, and their directions."""

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
LOOKS = (Path(__file__).parent / "looks.js").read_text(encoding="utf-8")
"""An expression: functions that run in the page and return what is wrong with it."""

COLOUR_RULES = ("color-contrast", "link-in-text-block")
"""Rules of axe that depend on colours. All others find the same in all colours."""

INTERVAL = 3600
"""Seconds of the clock's intervals in which reports of the survey that uses everything are sent."""

EVERYTHING = """
title: {en: "Honesty at work", ar: "الصدق في العمل"}
asker: {en: "Institute of Examples", ar: "معهد الأمثلة"}
purpose: "To learn how common it is, not who does it."
contact: survey@example.org
languages: [en, ar]
until: 2100-12-31
odds: 100:1
invitation: single
send_interval: 3600
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


def opened(link, wanted="main a", **told):
    """Open a link as if in a tab of its own; None is the link that the page shows, which carries a report."""
    return {"do": "open", "link": link, "wanted": wanted, **told}


def pressed(at, wanted=None, key="Enter", **told):
    """Go to an element by Tab, see that the focus shows, and press a key there."""
    return {"do": "press", "at": at, "key": key, "wanted": wanted, **told}


def answered(path, answer):
    """Let requests to a path fail, or have a status and a body in place of the server's; None lets them through."""
    return {"do": "answer", "path": path, "answer": answer}


def ran(script, wanted=None, **told):
    """Run a script in the page."""
    return {"do": "run", "script": script, "wanted": wanted, **told}


def leapt(seconds):
    """Set the page's clock forward, as on a device that was asleep."""
    return {"do": "leap", "seconds": seconds}


def english(selector, count=1):
    """So many elements must say that they are in English, on a page in Arabic; on an English page, none."""
    return {"do": "english", "selector": selector, "count": count}


FAILS = "fails"
NO_LONGER_LATE = "document.getAnimations().forEach((one) => one.finish())"
CONNECTED = "dispatchEvent(new Event('online'))"
ASIDE = {"at_heading": False}
"""Of states that do not begin at the heading: the focus stays where it was."""


def at_screen(number: int) -> str:
    """Selector of what is shown with this step of the progress."""
    return f"main:has(progress[value='{number}'])"


def steps_of(part: str, sites, language: str) -> list[dict]:
    """Return the steps of one part of the states, with new invitations."""
    steps = {"nobody is asked": nobody_is_asked, "welcome screens": welcome_screens, "way of a respondent": the_way}
    return steps[part](sites, language)


def nobody_is_asked(sites, language):
    """Ended, tampered with, mistyped, unknown, spent, offline, over an insecure connection; and the audit page."""
    site = sites["everything"]
    link, spent = site.invite(2)
    home = f"{site.address}/s/{site.survey.id}"
    tampered = json.loads(site.survey.document) | {"asker": "me"}
    return [
        opened(home, "[role=alert]", state="no hash"),
        opened(site.link(), state="no invitation"),
        opened(link[:-1], state="truncated"),
        opened(f"{link}x", state="mistyped"),
        opened(site.link("x" * 22), state="unknown"),
        opened(link.replace("127.0.0.1", "survey.test"), state="insecure"),
        answered("/main.js", FAILS),
        opened(link, "main"),
        ran(NO_LONGER_LATE, ".late", state="not arrived", direction="ltr", **ASIDE),  # in all languages at once
        answered("/main.js", None),
        answered("/survey.json", FAILS),
        opened(link, "main button", state="offline"),
        answered("/survey.json", [200, tampered]),
        opened(link, "[role=alert]", state="stopped"),
        answered("/survey.json", None),
        answered("/check", [409, {"error": "spent", "reason": "used"}]),
        opened(spent, state="spent"),
        answered("/check", None),
        opened(f"{home}/audit?language={language}", "main.audit", state="audit", **ASIDE),
        pressed("summary", "details[open]", state="audit, all files", **ASIDE),
        opened(f"{site.address}/s/{'0' * 16}", "main", state="unknown survey", **ASIDE),
        leapt(80 * 365 * 86400),
        opened(link, state="ended"),
    ]


def welcome_screens(sites, language):
    """Weak and very weak coins, a rehearsal, a browser that keeps nothing, and a false signature at the door."""
    rehearsal, forgetful = sites["rehearsal"].invite(2)
    return [
        opened(sites["weak"].link(), ".demo table", state="weak"),
        opened(sites["very weak"].link(), ".demo table", state="very weak"),
        opened(rehearsal, ".rehearsal + main .demo table", state="rehearsal"),
        {"do": "forget"},
        opened(forgetful, ".demo table", state="forgetful"),
        pressed("button.primary", ".consent"),
        pressed(".consent + p button.primary", "fieldset"),
        pressed("fieldset input", "button.primary", " "),
        answered("/admission", [200, {"signature": "0" * 512}]),
        pressed("button.primary", "[role=alert]", state="false signature"),
        answered("/admission", None),
    ]


def the_way(sites, language):
    """From the invitation to the thanks, and back again, with a connection that fails at every request."""
    (link,) = sites["everything"].invite()
    left = INTERVAL - time.time() % INTERVAL  # an interval begins, so that nothing is sent before it is looked at
    return [
        leapt(left),
        *begin(link),
        *answer(),
        *toss_and_wait(link),
        *arrive(),
        opened(link, state="already answered"),
    ]


def begin(link):
    """Check of the invitation, welcome, consent, understanding, admission."""
    return [
        answered("/check", FAILS),
        opened(link, "[role=status]", state="checking"),
        answered("/check", None),
        ran(CONNECTED, ".demo table", state="welcome"),
        english("main > p"),  # the purpose
        pressed("button.primary", ".consent", state="consent"),
        pressed("button.primary", "fieldset", state="understanding"),
        pressed("fieldset input", "button.primary", " ", state="understanding told", **ASIDE),
        answered("/admission", FAILS),
        pressed("button.primary", "main:not(:has(fieldset)) [role=status]", state="admitting"),
        answered("/admission", None),
        ran(CONNECTED, ".public", state="public"),
    ]


def answer():
    """All kinds of questions, one that is not asked, and one that nothing was chosen for."""
    return [
        pressed("button.primary", ".warning:not(:empty)", state="nothing chosen", **ASIDE),
        {"do": "key", "key": " "},  # the focus is on the first answer
        pressed("button.primary", at_screen(2), state="yes or no"),
        pressed("fieldset input", key=" "),
        pressed("button.primary", f"{at_screen(3)} .unused", state="not asked"),
        pressed(".buttons button:not(.primary)", at_screen(2)),
        pressed("fieldset input", key="ArrowDown"),
        pressed("button.primary", f"{at_screen(3)} fieldset", state="number"),
        pressed("fieldset input", key=" "),
        pressed("button.primary", at_screen(4), state="single"),
        pressed("fieldset input", key=" "),
        pressed("button.primary", at_screen(5), state="several"),
        pressed("input[value=threats]", key=" "),
        pressed("button.primary", at_screen(6), state="scale"),
        pressed("fieldset input", key=" "),
        pressed("button.primary", at_screen(7), state="matrix"),
        pressed("input[name=answer]", key=" "),
        pressed("input[name=answer1]", key=" "),
        pressed("button.primary", at_screen(8), state="unrelated"),
        english(".note bdi"),
        pressed("fieldset input", key=" "),
        pressed("button.primary", ".answers", state="review"),
        english(".answers span"),
        english(".answers strong bdi", 2),  # never, and threats
    ]


def toss_and_wait(link):
    """The coins, the time until the report is sent, a report that is held back, and the link that carries it."""
    return [
        pressed("button.primary", ".coins", state="coins"),
        english(".coins li > span"),
        pressed("p:not(.buttons) > button", ".did:not(:empty)", state="coins told", **ASIDE),
        pressed("button.primary", "[role=timer]", state="waiting"),
        pressed("summary", "#carried", state="carried", **ASIDE),
        pressed("details > button", "main > button.primary", state="held"),
        opened(None, "[role=timer]", state="carried elsewhere"),
        opened(link, "main > button.primary"),
        pressed("button.primary", "[role=timer]"),
    ]


def arrive():
    """A report without a connection, refused, and taken."""
    return [
        answered("/reports", FAILS),
        leapt(2 * INTERVAL),
        {
            "do": "wait",
            "until": "/\\p{Nd}/u.test(document.querySelector('[role=status]')?.textContent)",
            "state": "sending",
        },
        answered("/reports", [409, {"error": "signature", "reason": "forged"}]),
        ran(CONNECTED, "[role=alert]", state="refused"),
        answered("/reports", None),
        pressed("button.primary", ".receipt", state="thanks"),
        english("dt"),
        pressed(".sent summary", ".sent pre"),
        pressed(".receipt-check button", ".receipt-check p:not(:empty)", state="all that was sent", **ASIDE),
    ]
