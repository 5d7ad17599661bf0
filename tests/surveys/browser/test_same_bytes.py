"""What leaves the browser is the same on every path through a survey, byte by byte, but for what is random.

Paths differ in the answers, in the branches that they open or skip, in answers that are changed, in screens that are
looked at on the way, and in the language; and where reports wait for a random moment, in what is done meanwhile. An
onlooker who sees the requests, their addresses, headers and lengths learns nothing of it, and neither does whoever
finds the device afterwards.
"""

import json
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest

from tests.surveys.browser.conftest import KEPT, PHONE, Site, _serving

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


INTERVAL = 600
TIMED = DEFINITION.replace("send_interval: 0", f"send_interval: {INTERVAL}")
NOON = 1_893_499_200
"""A moment at which an interval begins, in seconds since the epoch: the coins are tossed long before the next one."""


@dataclass
class Sealed:
    """A device with a sealed report, and what was seen of it so far."""

    site: Site
    page: object
    kept: object
    sent: list
    begun: int
    states: list[dict]
    answered: int
    loaded: int
    """Number of requests up to which the page was loaded, perhaps again."""

    @property
    def state(self) -> dict:
        """What the device keeps of the report."""
        (state,) = self.kept(self.page).values()
        return state

    def note(self) -> None:
        """Note what the device keeps."""
        self.states.append(self.kept(self.page))

    def go_to(self, seconds: float) -> None:
        """Let the clock go on to so many seconds before or after the moment of the report; nothing may be late."""
        left = self.state["moment"] / 1000 + seconds - self.page.evaluate("Date.now()") / 1000
        assert left > 0
        self.page.clock.fast_forward(round(1000 * left))
        self.page.wait_for_timeout(50)

    def check_silence(self) -> None:
        """Nothing was sent since the coins were tossed, or since the page was loaded again."""
        assert len(self.sent) == self.loaded

    def seen(self) -> dict:
        """All that could be seen of this device."""
        return seen_of(self.sent, self.begun, self.answered, self.states)


def seal_on(site, page, kept, path: Path) -> Sealed:
    """Walk a path until the report is sealed, and waits for its moment in the next interval of the clock."""
    (link,) = site.invite()
    page.clock.install(time=NOON)
    sent = listen(page)
    states = [begin(page, kept, link, path)]
    begun = len(sent)
    states += toss(page, kept, path)
    sealed = Sealed(site, page, kept, sent, begun, states, len(sent), len(sent))
    assert NOON + INTERVAL <= sealed.state["moment"] / 1000 <= NOON + 2 * INTERVAL
    page.click("button.primary")
    page.wait_for_selector("[role=timer]")
    sealed.note()
    return sealed


def wait_to_the_end(sealed: Sealed, device) -> dict:
    """Leave the page open."""
    sealed.go_to(-60)
    sealed.check_silence()
    sealed.go_to(1)
    sealed.states.append(arrive(sealed.site, sealed.page, sealed.kept))
    return sealed.seen()


def reload_and_wait(sealed: Sealed, device) -> dict:
    """Load the page again; it waits on by itself, and asks the server nothing but for the page."""
    sealed.page.reload()
    sealed.page.wait_for_selector("[role=timer]")
    sealed.page.wait_for_load_state("networkidle")
    sealed.note()
    sealed.loaded = len(sealed.sent)
    return wait_to_the_end(sealed, device)


def come_back_later(sealed: Sealed, device) -> dict:
    """Close the page, and open the link when the moment has passed: the report is sent at once."""
    link = sealed.page.url
    moment = sealed.state["moment"] / 1000
    sealed.page.goto("about:blank")
    sealed.check_silence()
    sealed.page.clock.fast_forward(1000 * 2 * INTERVAL)
    assert sealed.page.evaluate("Date.now()") / 1000 > moment
    sealed.page.goto(link)
    sealed.states.append(arrive(sealed.site, sealed.page, sealed.kept))
    return sealed.seen()


def hold(sealed: Sealed) -> None:
    """Hold the report back on this device."""
    sealed.page.click("summary")
    sealed.page.locator("details > button").click()
    sealed.page.wait_for_selector("main > button.primary")
    sealed.note()


def hold_and_release(sealed: Sealed, device) -> dict:
    """Hold the report back, and release it before its moment."""
    hold(sealed)
    sealed.go_to(-120)
    sealed.check_silence()
    sealed.page.click("main > button.primary")
    sealed.page.wait_for_selector("[role=timer]")
    sealed.note()
    return wait_to_the_end(sealed, device)


def hold_for_long(sealed: Sealed, device) -> dict:
    """Hold the report back, and release it after its moment: it is sent at once."""
    hold(sealed)
    sealed.go_to(60)
    sealed.check_silence()
    sealed.page.click("main > button.primary")
    sealed.states.append(arrive(sealed.site, sealed.page, sealed.kept))
    return sealed.seen()


def carry(sealed: Sealed, device) -> dict:
    """Hold the report back here, and open its link on another device, where it waits for the same moment."""
    hold(sealed)
    other = device()
    other.clock.install(time=NOON + 1)
    there = Sealed(sealed.site, other, sealed.kept, listen(other), 0, [], 0, 0)
    other.goto(sealed.page.input_value("#carried"))
    other.wait_for_selector("[role=timer]")
    other.wait_for_load_state("networkidle")
    there.note()
    there.loaded = len(there.sent)
    other.clock.fast_forward(round(sealed.state["moment"] - 60_000 - other.evaluate("Date.now()")))
    other.wait_for_timeout(50)
    there.check_silence()
    other.clock.fast_forward(61_000)
    there.states.append(arrive(sealed.site, other, sealed.kept))
    assert there.sent[-1].post_data == sealed.state["body"]  # the very same bytes
    sealed.check_silence()
    sealed.note()
    return {"here": sealed.seen(), "there": there.seen()}


WAYS = {way.__name__: way for way in (reload_and_wait, come_back_later, hold_and_release, hold_for_long, carry)}
"""What people do while a report waits. None of it depends on the answers."""


HELD = {
    "reload_and_wait": [False],
    "come_back_later": [],
    "hold_and_release": [True, False],
    "hold_for_long": [True],
    "carry": [True, True],
}
"""Whether the device holds the report back, whenever what it keeps is looked at after the waiting has begun."""

ANSWERS = (PLAIN, OTHERS["everything"])
"""Paths on which all protected answers differ, and a question is skipped or asked."""


@pytest.fixture(scope="module")
def timed_site(tmp_path_factory):
    """The same survey with reports that wait for a random moment in the next interval of the clock."""
    with _serving(tmp_path_factory.mktemp("timed"), TIMED) as running_site:
        yield running_site


@pytest.fixture(scope="module")
def waited(timed_site, chromium):
    """What can be seen of the plainest path, on which somebody waits to the end."""
    context = chromium.new_context(**PHONE)
    sealed = seal_on(timed_site, context.new_page(), lambda page: page.evaluate(KEPT), PLAIN)
    seen = wait_to_the_end(sealed, None)
    context.close()
    return seen


def lines(requests: list) -> list[tuple]:
    """Requests without their headers, which tell how a page was loaded, but nothing of whoever loads it."""
    return [(method, path, body) for method, path, _, body in requests]


def loading(site) -> list[tuple]:
    """What is asked for when the page is loaded, beside the modules, which browsers keep."""
    home = f"/s/{site.survey.id}"
    return [("GET", home, None), ("GET", f"{home}/survey.json", None)]


def nameless(seen: dict, site) -> str:
    """What was seen, without the names of the survey and of its server."""
    return repr(seen).replace(site.survey.hash, "HASH").replace(site.survey.id, "ID").replace(site.address[7:], "HOST")


@pytest.mark.slow
def test_waiting_sends_what_a_survey_without_an_interval_sends(site, plain, timed_site, waited):
    """The device keeps the sealed report for longer, with its moment; everything else is the same."""
    *_, sealed, waiting, answered = waited["kept"]
    assert sealed == waiting
    assert sealed[0][1]["moment"] is True
    assert plain["kept"][2][0][1]["moment"] is False
    assert [*waited["kept"][:2], answered] == [*plain["kept"][:2], plain["kept"][3]]
    for part in ("modules", "requests", "while answering", "at the end"):
        assert nameless(waited[part], timed_site) == nameless(plain[part], site)


@pytest.mark.slow
@pytest.mark.parametrize("path", [WINDING, *OTHERS.values()], ids=["winding", *OTHERS])
def test_every_path_that_waits_looks_the_same(timed_site, waited, device, kept, path):
    assert wait_to_the_end(seal_on(timed_site, device(), kept, path), device) == waited


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_what_is_done_while_a_report_waits_tells_nothing_of_the_answers(timed_site, waited, device, kept, way):
    """The same is done after different answers, and looks the same, headers included. Beside that of whoever waits:

    - a reload, or a later visit, loads the page again, and nothing else: no invitation is checked;
    - a report that is held back and released is sent by the same requests; only what the device keeps says it is held;
    - a report that is carried is sent by another device, which loads the page and sends these bytes, and nothing else:
      the first device sends all but the report.
    """
    plainest, other = (WAYS[way](seal_on(timed_site, device(), kept, path), device) for path in ANSWERS)
    assert other == plainest
    here = plainest.get("here", plainest)
    assert here["while answering"] == []
    assert [state for state in here["kept"] if state[0][1]["state"] != "sealed"] == [
        state for state in waited["kept"] if state[0][1]["state"] != "sealed"
    ][: 2 if way == "carry" else 3]
    *before, report = lines(waited["requests"])
    if way == "carry":
        assert here["requests"] == waited["requests"][:-1]
        assert here["at the end"] == []
        assert lines(plainest["there"]["requests"]) == [*loading(timed_site), report]
        assert plainest["there"]["kept"] == [[], []]
    elif way in ("reload_and_wait", "come_back_later"):
        assert lines(here["requests"]) == [*before, *loading(timed_site), report]
    else:
        assert {key: here[key] for key in here if key != "kept"} == {key: waited[key] for key in here if key != "kept"}
    held = [state[0][1]["held"] for state in here["kept"] if state[0][1]["state"] == "sealed"]
    assert held == [False, False, *HELD[way]]
