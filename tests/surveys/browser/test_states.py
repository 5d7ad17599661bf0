"""Every state of the respondent's page in Chromium, in all combinations of width, colours and direction.

Each test walks one part of the steps in `states` by keyboard, and looks at each state in twelve ways. Pictures of all
are written into the folder that SOTTOVOCE_SCREENSHOTS names.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.surveys.browser.states import (
    AXE,
    COLOUR_RULES,
    COLOURS,
    FAILS,
    LANGUAGES,
    LOOKS,
    STATES,
    WIDTHS,
    sites,  # noqa: F401  # a fixture
    steps_of,
)

NARROW_AND_WIDE = (WIDTHS[0], WIDTHS[-1])
"""Widths at which axe looks: all rules in light colours, and those about colours in all of them."""

MOST_TABS = 60
LOOKED_AT = ("do", "wanted", "state", "at_heading", "direction")
"""Fields that steps of all kinds have."""


@dataclass
class Eyes:
    """Walks a page in Chromium, looks at it in all sizes and colours, and remembers which states it has seen."""

    page: object
    language: str
    seen: list[str] = field(default_factory=list)

    def walk(self, steps: list[dict]) -> None:
        """Take steps, and look at the states in which they end."""
        for step in steps:
            does = getattr(self, step["do"])
            does(**{key: value for key, value in step.items() if key not in LOOKED_AT})
            if step.get("wanted"):
                visible = f"wanted => ({LOOKS}).visible({{ wanted }})"
                self.page.wait_for_function(visible, arg=step["wanted"])
            if step.get("state"):
                self._look(**{key: value for key, value in step.items() if key in LOOKED_AT[2:]})

    def open(self, link: str | None) -> None:
        link = link or self.page.input_value("#carried")
        self.page.goto("about:blank")
        self.page.goto(link)

    def press(self, at: str, key: str) -> None:
        for _ in range(MOST_TABS):
            self.page.keyboard.press("Tab")
            focus = self._in_page("focus", at=at)
            if focus["there"]:
                assert focus["seen"], at
                self.page.keyboard.press(key)
                return
        raise AssertionError(f"{at} cannot be reached by Tab")

    def key(self, key: str) -> None:
        self.page.keyboard.press(key)

    def answer(self, path: str, answer) -> None:
        self.page.unroute(f"**{path}")
        if answer == FAILS:
            self.page.route(f"**{path}", lambda route: route.abort())
        elif answer:
            status, body = answer
            self.page.route(f"**{path}", lambda route: route.fulfill(status=status, json=body))

    def run(self, script: str) -> None:
        self.page.evaluate(script)

    def wait(self, until: str) -> None:
        self.page.wait_for_function(until)

    def leap(self, seconds: float) -> None:
        self.page.clock.fast_forward(round(1000 * seconds))

    def forget(self) -> None:
        self.page.add_init_script("IDBObjectStore.prototype.put = () => { throw new Error('full'); }")

    def english(self, selector: str, count: int) -> None:
        expected = count if self.language == "ar" else 0
        assert self._in_page("count", selector=f"{selector}[lang=en]") == expected, selector

    def _look(self, state: str, *, at_heading: bool = True, direction: str | None = None) -> None:
        """Look at a state in all sizes and colours; forced colours must not be on when a page is opened."""
        for colours in COLOURS:
            scheme, forced = ("light", "active") if colours == "forced" else (colours, "none")
            self.page.emulate_media(color_scheme=scheme, forced_colors=forced, reduced_motion="reduce")
            for width in WIDTHS:
                self.page.set_viewport_size({"width": width, "height": 800})
                asked = {"atHeading": at_heading, "direction": direction or LANGUAGES[self.language]}
                assert self._in_page("faults", colours=colours, width=width, **asked) == [], (state, width, colours)
                if width in NARROW_AND_WIDE:
                    rules = None if colours == "light" else COLOUR_RULES
                    assert self._findings(rules) == [], (state, width, colours)
                self._take_picture(f"{len(self.seen):02}-{state}-{width}-{colours}.png")
        self.seen.append(state)

    def _findings(self, rules) -> list[str]:
        if not self._in_page("axeIsThere"):
            self.page.evaluate(AXE)
        return self._in_page("findings", rules=rules)

    def _in_page(self, name: str, **told):
        return self.page.evaluate(f"told => ({LOOKS}).{name}(told)", told)

    def _take_picture(self, name: str) -> None:
        folder = os.environ.get("SOTTOVOCE_SCREENSHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=Path(folder) / f"chromium-{self.language}-{name}", full_page=True)


@pytest.fixture(params=LANGUAGES)
def eyes(chromium, request):
    context = chromium.new_context(locale=request.param, bypass_csp=True, reduced_motion="reduce")
    mistakes: list[str] = []
    context.on("weberror", lambda error: mistakes.append(str(error.error)))
    page = context.new_page()
    page.clock.install()
    yield Eyes(page, request.param)
    context.close()
    assert mistakes == []


@pytest.mark.slow
@pytest.mark.parametrize("part", STATES)
def test_every_state_in_every_size_and_all_colours(sites, eyes, part):  # noqa: F811
    eyes.walk(steps_of(part, sites, eyes.language))
    assert eyes.seen == list(STATES[part])
