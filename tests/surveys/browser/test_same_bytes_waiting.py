"""What leaves the browser while a report waits for its moment is the same whatever was answered, byte by byte.

People wait, load the page again, come back later, hold the report back, or carry it to another device. How these ways
differ from each other is stated here; how the answers differ is not to be seen in any of them.
"""

from dataclasses import dataclass

import pytest

from tests.surveys.browser.conftest import KEPT, PHONE, Site, _serving
from tests.surveys.browser.test_same_bytes import (
    DEFINITION,
    OTHERS,
    PLAIN,
    WINDING,
    Path,
    arrive,
    begin,
    listen,
    plain,  # noqa: F401  # a fixture
    seen_of,
    site,  # noqa: F401  # a fixture
    toss,
)

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


def seal_on(at: Site, page, kept, path: Path) -> Sealed:
    """Walk a path until the report is sealed, and waits for its moment in the next interval of the clock."""
    (link,) = at.invite()
    page.clock.install(time=NOON)
    sent = listen(page)
    states = [begin(page, kept, link, path)]
    begun = len(sent)
    states += toss(page, kept, path)
    sealed = Sealed(at, page, kept, sent, begun, states, len(sent), len(sent))
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


def loading(at: Site) -> list[tuple]:
    """What is asked for when the page is loaded, beside the modules, which browsers keep."""
    home = f"/s/{at.survey.id}"
    return [("GET", home, None), ("GET", f"{home}/survey.json", None)]


def nameless(seen: dict, at: Site) -> str:
    """What was seen, without the names of the survey and of its server."""
    return repr(seen).replace(at.survey.hash, "HASH").replace(at.survey.id, "ID").replace(at.address[7:], "HOST")


@pytest.mark.slow
def test_waiting_sends_what_a_survey_without_an_interval_sends(site, plain, timed_site, waited):  # noqa: F811
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
