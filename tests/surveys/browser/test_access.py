"""Everybody can use the page: axe finds nothing on any step, in light and dark, in both directions."""

from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe

from sottovoce.surveys.page.files import address, page_modules

pytestmark = pytest.mark.slow  # the core of the page's tests is test_walk and test_admission


def check(page) -> None:
    found = Axe().run(page).response["violations"]
    assert [(v["id"], [node["html"] for node in v["nodes"]]) for v in found] == []


@pytest.mark.parametrize(
    ("locale", "scheme"),
    [
        ("en-US", "light"),
        pytest.param("en-US", "dark"),
        *(pytest.param("ar", scheme) for scheme in ("light", "dark")),
    ],
)
def test_axe_finds_nothing(site, chromium, small_screen, walk, scheme, locale):
    context = chromium.new_context(**small_screen | {"color_scheme": scheme, "locale": locale}, bypass_csp=True)
    page = context.new_page()
    page.goto(site.link())
    page.wait_for_selector("button.primary")
    page.locator(".demo button").click()
    check(page)
    page.click("button.primary >> visible=true")
    page.wait_for_selector("fieldset")
    page.locator("input").nth(1).check()
    check(page)
    page.reload()
    walk(page, 1, 2, 0, send=False)
    page.wait_for_selector(".answers")
    check(page)
    page.click("button.primary")
    page.wait_for_selector(".coins")
    page.wait_for_timeout(1100)  # the coins fall, and are pale while they do
    page.locator("main p > button").first.click()
    check(page)
    page.click("button.primary")
    page.wait_for_selector(".receipt")
    check(page)
    page.reload()
    page.wait_for_selector("main a")
    check(page)
    page.click("main a")
    page.wait_for_load_state()
    check(page)
    context.close()


@pytest.mark.parametrize(
    ("locale", "scheme"),
    [
        ("en-US", "light"),
        pytest.param("en-US", "dark"),
        *(pytest.param("ar", scheme) for scheme in ("light", "dark")),
    ],
)
def test_axe_finds_nothing_in_admission_and_waiting(timed, device, walk, scheme, locale):
    """Every screen between the invitation and the thanks, on a narrow screen that needs no sideways scrolling."""
    page = device(color_scheme=scheme, locale=locale, bypass_csp=True, viewport={"width": 320, "height": 640})

    def check_screen(*selectors: str) -> None:
        for selector in selectors:
            page.wait_for_selector(selector)
        check(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320

    first, second = timed.invite(2)
    page.clock.install()
    page.route("**/check", lambda route: route.abort())
    page.goto(first)
    check_screen("[role=status]")
    page.unroute("**/check")
    page.route("**/admission", lambda route: route.abort())
    page.reload()
    page.click("button.primary")
    check_screen("[role=status]")
    page.unroute("**/admission")
    page.reload()
    page.click("button.primary")
    page.locator("input").nth(0).check()
    page.click("button.primary")
    check_screen(".unused")
    page.reload()
    walk(page, 0, 1)
    page.click("summary")
    check_screen("[role=timer]", "#carried")
    page.locator("details > button").click()
    check_screen("button.primary", "#carried")
    carried = page.input_value("#carried")
    page.click("button.primary")
    page.wait_for_selector("[role=timer]")
    page.clock.fast_forward(600_000)
    page.click(".sent summary")
    check_screen(".receipt", ".sent pre")
    page.reload()
    check_screen("main a")
    for link in (carried[:-1], first, second[:-1], timed.link("x" * 22), second.replace("127.0.0.1", "survey.test")):
        page.goto("about:blank")
        page.goto(link)
        check_screen("main a")
    page.add_init_script("IDBObjectStore.prototype.put = () => { throw new Error('full'); }")
    page.route("**/admission", lambda route: route.fulfill(json={"signature": "0" * 512}))
    page.goto("about:blank")
    page.goto(second)
    check_screen(".warning")
    page.click("button.primary")
    check_screen("[role=alert]")


def test_a_phone_needs_no_sideways_scrolling(site, phone):
    phone.set_viewport_size({"width": 320, "height": 640})
    phone.goto(site.link())
    phone.wait_for_selector(".demo table")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 320
    phone.goto(f"{site.address}/s/{site.survey.id}/audit")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 320


SETS = """
title: Illness
asker: Institute of Examples
purpose: To learn how common it is.
until: 2100-12-31
odds: 3:1
invitation: open
send_interval: 0
questions:
  - id: ill
    kind: single
    text: Which illness did you have?
    answers: [none, flu, cold, cancer, diabetes, asthma, migraine, UNBREAKABLE]
"""


def test_sets_are_told_as_such_and_long_words_are_broken(tmp_path, phone, serving, toss):
    """Reports of a question with eight answers are sets: "one of these"; the demo counts the sets with each answer."""
    with serving(tmp_path, SETS.replace("UNBREAKABLE", "x" * 90)) as site:
        phone.set_viewport_size({"width": 320, "height": 640})
        phone.goto(site.link())
        phone.wait_for_selector("button.primary")
        phone.locator(".demo button").click()
        assert "so many send a set that holds:" in phone.inner_text(".demo [role=status]")
        rows = phone.locator(".demo td:last-child").all_inner_texts()
        assert sum(map(int, rows)) == 100 * site.survey.plan.groups[0].mechanism.size
        phone.locator("button.primary").click()
        phone.wait_for_selector("fieldset")
        assert phone.inner_text(".steps") == "Screen 1 of 1"
        assert phone.evaluate("document.documentElement.scrollWidth") <= 320
        phone.click("button.primary")
        assert phone.inner_text(".warning") == "Please choose an answer."
        phone.locator("input").nth(1).check()
        assert phone.inner_text(".warning") == ""
        phone.click("button.primary")
        toss(phone)
        phone.wait_for_selector(".receipt")
        assert phone.inner_text("dd").startswith("one of these: ")
        assert phone.evaluate("document.documentElement.scrollWidth") <= 320


class Loads:
    """What crosses the connection while a page loads: paths, and bytes as they were sent."""

    def __init__(self, page) -> None:
        self._requests: list = []
        page.on("requestfinished", lambda request: self._requests.append(request))  # noqa: PLW0108  # marked by Playwright

    def taken(self) -> dict[str, int]:
        found = {urlsplit(asked.url).path: asked.sizes()["responseBodySize"] for asked in self._requests}
        assert len(found) == len(self._requests)  # nothing is loaded twice
        self._requests.clear()
        return found


TRANSFERRED = """
    performance.getEntriesByType("resource").filter(({ transferSize }) => transferSize > 0).map(({ name }) => name)
"""


def test_the_page_is_small(tmp_path, phone, serving, plain_definition):
    """Everything that crosses a bad connection before the first question, each once: page, modules, style, survey."""
    with serving(tmp_path, plain_definition) as site:
        loads = Loads(phone)
        phone.goto(site.link())
        phone.wait_for_selector("button.primary")
        phone.wait_for_load_state("networkidle")
        loaded = loads.taken()
        home = f"/s/{site.survey.id}"
        ours = [address(name) for name in (*page_modules(site.survey), "page.css", "icon.svg")]
        assert set(loaded) == {*ours, home, f"{home}/survey.json"}
        assert loaded.pop(f"{home}/survey.json") < 1_000
        assert sum(loaded.values()) < 40_000
        phone.reload()
        phone.wait_for_selector("button.primary")
        assert phone.evaluate(TRANSFERRED) == [f"{site.address}{home}/survey.json"]  # the browser has kept the rest


def test_another_language_is_one_file_more(site, chromium, small_screen):
    context = chromium.new_context(**small_screen | {"locale": "ar"})
    page = context.new_page()
    loads = Loads(page)
    page.goto(site.link())
    page.wait_for_selector("button.primary")
    page.wait_for_load_state("networkidle")
    loaded = loads.taken()
    ours = [address(name) for name in (*page_modules(site.survey), "page.css", "icon.svg")]
    assert set(loaded) - set(ours) == {
        address("texts/ar.js"),
        f"/s/{site.survey.id}",
        f"/s/{site.survey.id}/survey.json",
    }
    assert loaded[address("texts/ar.js")] < 6_000
    context.close()


def test_without_scripts_the_page_says_why(site, chromium):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.link())
    assert "needs JavaScript" in page.inner_text("main p[lang=en][dir=ltr]")
    assert "JavaScript" in page.inner_text("main p[lang=ar][dir=rtl]")
    assert not page.locator(".late >> visible=true").count()
    page.click("main a")
    assert page.url.endswith("/audit")
    context.close()
