"""What leaves the browser is the same on every path through a survey, byte by byte, but for what is random.

Paths differ in the answers, in the branches that they open or skip, in answers that are changed, in screens that are
looked at on the way, and in the language. An onlooker who sees the requests, their addresses, headers and lengths
learns nothing of it, and neither does whoever finds the device afterwards.
"""

import json
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest

from tests.surveys.browser.conftest import KEPT, PHONE, _serving

DEFINITION = """
title: {en: "Honesty at work", de: "Ehrlichkeit im Betrieb"}
asker: {en: "Institute of Examples", de: "Institut der Beispiele"}
purpose: {en: "To learn how common it is.", de: "Um zu erfahren, wie häufig es ist."}
languages: [en, de]
until: 2100-12-31
odds: 100:1
comprehension_check: true
invitation: single
send_interval: 0
questions:
  - id: age
    kind: single
    public: true
    text: {en: "How old are you?", de: "Wie alt sind Sie?"}
    answers: {young: {en: "Below 30", de: "Unter 30"}, old: {en: "30 or more", de: "30 oder mehr"}}
  - {id: smokes, kind: yes_no, text: {en: "Do you smoke?", de: "Rauchen Sie?"}}
  - id: much
    kind: single
    text: {en: "How much?", de: "Wie viel?"}
    when: {smokes: ["yes"]}
    answers: {little: {en: "A little", de: "Wenig"}, lots: {en: "A lot", de: "Viel"}}
    decline: true
  - id: taken
    kind: several
    text: {en: "What did you take home?", de: "Was haben Sie mitgenommen?"}
    answers: {pens: {en: "Pens", de: "Stifte"}, paper: {en: "Paper", de: "Papier"}}
  - id: feel
    kind: matrix
    text: {en: "How do you feel about", de: "Wie stehen Sie zu"}
    steps: 3
    ends: [{en: "bad", de: "schlecht"}, {en: "good", de: "gut"}]
    items: {work: {en: "your work", de: "Ihrer Arbeit"}, pay: {en: "your pay", de: "Ihrem Lohn"}}
  - {id: drinks, kind: yes_no, text: {en: "Do you drink?", de: "Trinken Sie?"}}
"""
RANDOM = ("token", "blinded", "credential", "signature", "report")
"""Fields of bodies whose digits are random; their lengths are not."""


@dataclass
class Path:
    """How somebody walks: the numbers of what is chosen on each screen, by row, and what is done on the way."""

    choices: dict[int, tuple[int, ...]]
    changes: dict[int, tuple[int, ...]] = field(default_factory=dict)
    right: bool = True
    language: str | None = None
    looks: bool = False
    goes_back: bool = False


PLAIN = Path({1: (0,), 2: (0,), 4: (), 5: (0, 0), 6: (0,)})
WINDING = Path(
    {1: (1,), 2: (1,), 3: (2,), 4: (0, 1), 5: (2, 1), 6: (1,)},
    changes={2: (0,)},
    right=False,
    language="de",
    looks=True,
    goes_back=True,
)
OTHERS = {
    "everything": Path({1: (0,), 2: (1,), 3: (1,), 4: (0, 1), 5: (2, 2), 6: (1,)}),
    "declined": Path({1: (0,), 2: (1,), 3: (2,), 4: (1,), 5: (0, 2), 6: (0,)}),
    "branch opened late": Path({1: (1,), 2: (0,), 3: (0,), 4: (), 5: (1, 1), 6: (0,)}, changes={2: (1,)}),
    "coins looked at": Path(PLAIN.choices, looks=True),
    "misunderstood": Path(PLAIN.choices, right=False),
    "gone back": Path(PLAIN.choices, goes_back=True),
    "another language": Path(PLAIN.choices, language="de"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A survey for all paths, each of which has an invitation of its own."""
    with _serving(tmp_path_factory.mktemp("same"), DEFINITION) as running_site:
        yield running_site


def choose(page, chosen: tuple[int, ...]) -> None:
    """Choose by mouse: one answer in each row of a matrix, several of a list, or one."""
    rows = page.locator(".item[role=radiogroup]")
    if rows.count():
        for row, number in enumerate(chosen):
            rows.nth(row).locator("label.option").nth(number).click()
        return
    for number in chosen:
        page.locator("label.option").nth(number).click()


def answer(page, choices: dict[int, tuple[int, ...]]) -> None:
    """Answer every screen up to the review; screens that are not used are passed."""
    while not page.locator(".answers").count():
        number = int(page.get_attribute("progress", "value") or 0)
        if not page.locator(".unused").count():
            choose(page, choices[number])
        page.click("button.primary")
        page.wait_for_function(
            "before => document.querySelector('.answers') ||"
            " document.querySelector('progress')?.getAttribute('value') !== before",
            arg=str(number),
        )


def masked(request) -> tuple:
    """A request as the network sees it, without the digits that are random; lengths stay."""
    url = urlsplit(request.url)
    assert not url.query
    assert "#" not in request.url
    headers = request.all_headers()
    body = request.post_data
    if body is None:
        return request.method, url.path, headers, None
    fields = [(key, len(value) if key in RANDOM else value) for key, value in json.loads(body).items()]
    assert body == json.dumps(json.loads(body), separators=(",", ":"))  # nothing hides between the fields
    return request.method, url.path, headers, (len(body), fields)


def listen(page) -> list:
    """Return the list of a page's requests from now on, without those for the icon, which are the browser's own."""
    sent: list = []
    page.on("request", lambda request: request.url.endswith("/icon.svg") or sent.append(request))
    return sent


def travel(site, page, kept, path: Path) -> dict:
    """Walk a path; return all that could be seen of it: requests before, during and after, and what is kept."""
    (link,) = site.invite()
    sent = listen(page)
    states = [begin(page, kept, link, path)]
    begun = len(sent)
    states += toss(page, kept, path)
    assert page.url == link
    answered = len(sent)
    page.click("button.primary")
    states.append(arrive(site, page, kept))
    return seen_of(sent, begun, answered, states)


def begin(page, kept, link: str, path: Path) -> dict:
    """Go from the link to the first question; return what is kept there."""
    page.goto(link)
    page.wait_for_selector("#pretend")
    if path.language:
        page.select_option("#language", path.language)
        page.wait_for_selector(f"html[lang={path.language}]")
        page.wait_for_selector("#pretend")
    page.click("button.primary")
    page.locator("input[name=understanding]").nth(int(path.right)).click()
    page.click("button.primary")
    page.wait_for_selector("progress")
    page.wait_for_load_state("networkidle")
    return kept(page)


def toss(page, kept, path: Path) -> list[dict]:
    """Answer everything, and toss the coins; return what is kept before and after."""
    answer(page, path.choices)
    for number, chosen in path.changes.items():
        page.locator(".answers button").nth(number - 1).click()
        page.wait_for_selector("progress")
        choose(page, chosen)
        page.click("button.primary")
        page.wait_for_selector(".answers, progress")
        answer(page, path.choices)
    if path.goes_back:
        for _ in range(3):
            page.locator("button:not(.primary)").last.click()
        page.wait_for_selector("progress")
        answer(page, path.choices | path.changes)
    before = kept(page)
    page.click("button.primary")
    page.wait_for_selector(".coins")
    if path.looks:
        page.locator("main button").nth(0).click()
    page.wait_for_timeout(50)
    return [before, kept(page)]


def arrive(site, page, kept) -> dict:
    """Wait until the report has arrived; return what is kept then."""
    page.wait_for_selector("code.receipt")
    left = kept(page)
    assert page.url == site.link()
    assert page.context.cookies() == []
    assert page.evaluate("caches.keys()") == []
    assert page.evaluate("[localStorage.length, sessionStorage.length, history.state]") == [0, 0, None]
    assert page.evaluate("indexedDB.databases().then((all) => all.map(({ name }) => name))") == ["sottovoce"]
    return left


def seen_of(sent: list, begun: int, answered: int, states: list[dict]) -> dict:
    """All that could be seen of a path; questions were asked between the requests with these numbers."""
    seen = [masked(request) for request in sent]
    words = [f"texts/{tag}.js" for tag in ("en", "de")]
    return {
        "modules": sorted(path for _, path, _, _ in seen if path.startswith("/assets/") and path[-11:] not in words),
        "requests": [one for one in seen if not one[1].startswith("/assets/")],
        "while answering": [one[1] for one in seen[begun:answered]],
        "at the end": seen[answered:],
        "kept": [shape_of(state) for state in states],
    }


def shape_of(state: dict) -> list:
    """What a device keeps: its names and fields, with the lengths of texts, and whether there is a moment, in place."""
    return [(len(name), {key: _shape(key, value) for key, value in fields.items()}) for name, fields in state.items()]


def _shape(key: str, value):
    if key == "moment":
        return value > 0
    return len(value) if isinstance(value, str) and key != "state" else value


@pytest.fixture(scope="module")
def plain(site, chromium):
    """What can be seen of the plainest path."""
    context = chromium.new_context(**PHONE)
    seen = travel(site, context.new_page(), lambda page: page.evaluate(KEPT), PLAIN)
    context.close()
    return seen


def test_the_plainest_path_sends_three_requests_of_fixed_lengths(site, plain):
    home = f"/s/{site.survey.id}"
    assert site.survey.plan.answers_per_report != (5, 5)  # some answers are picked
    sent = [(method, path, body) for method, path, _, body in plain["requests"] if body]
    length = 2 * len(site.reports()[0])
    assert [(method, path) for method, path, _ in sent] == [
        ("POST", f"{home}/check"),
        ("POST", f"{home}/admission"),
        ("POST", f"{home}/reports"),
    ]
    assert [fields for _, _, (_, fields) in sent] == [
        [("token", 22)],
        [("token", 22), ("blinded", 512)],
        [("survey", site.survey.hash), ("report", length), ("credential", 64), ("signature", 512)],
    ]
    assert plain["while answering"] == []
    assert [path for _, path, _, _ in plain["at the end"]] == [f"{home}/reports"]
    assert [[fields["state"] for _, fields in state] for state in plain["kept"]] == [
        ["admitted"],
        ["admitted"],
        ["sealed"],
        ["answered"],
    ]
    assert set(plain["kept"][2][0][1]) == {"state", "body", "moment", "held"}
    assert plain["kept"][3][0][1] == {"state": "answered"}


@pytest.mark.slow
def test_a_winding_path_looks_the_same(site, plain, phone, kept):
    """Other answers, a branch opened and closed, steps back, coins looked at, a wrong guess, and another language."""
    assert travel(site, phone, kept, WINDING) == plain


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_every_path_looks_the_same(site, plain, phone, kept, name):
    assert travel(site, phone, kept, OTHERS[name]) == plain
