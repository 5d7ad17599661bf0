"""A whole survey in Firefox, which no driver of Chromium's can show: admission, coins, sending, and the receipt.

And its screens by keyboard, narrow and wide, light, dark and in forced colours, in both directions.
"""

import json
import os
import shutil
from pathlib import Path

import axe_playwright_python
import pytest

from sottovoce.surveys.collect.store import Store
from tests.surveys.browser.test_states import EVERYTHING, SMALL_TARGETS, sites  # noqa: F401  # a fixture

SCRIPT = Path(__file__).parent / "firefox.mjs"
STATES = Path(__file__).parent / "firefox_states.mjs"
AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"
PINNED = Path(__file__).parents[3] / "tools" / "browsers" / "package.json"


@pytest.fixture
def firefox(node):
    """Run a script with what it is told, and Firefox; where everything must be there, its absence is a failure."""
    program = shutil.which("firefox-esr")
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "sottovoce", "browsers")
    installed = folder / "installed.json"
    if program is None or not installed.exists() or installed.read_bytes() != PINNED.read_bytes():
        assert os.environ.get("CI") != "true", "Firefox and puppeteer-core must be installed: tools/system test"
        pytest.skip("Firefox or puppeteer-core is not installed")
    return lambda script, told: json.loads(node(script, folder, program, told))


@pytest.mark.slow
def test_a_whole_survey_in_firefox(invited, firefox):
    (link,) = invited.invite()
    seen = firefox(SCRIPT, link)
    assert seen["browser"].startswith("firefox/")
    assert seen["mistakes"] == []
    (report,) = invited.reports()
    store = Store(str(invited.database))
    assert store.receipts(invited.survey.id) == [bytes.fromhex(seen["receipt"])]
    store.close()
    home = f"/s/{invited.survey.id}"
    assert {address.split("/")[2] for address in seen["addresses"]} == {invited.address.split("/")[2]}
    assert [address for address, _ in seen["bodies"]] == [f"{home}/{end}" for end in ("check", "admission", "reports")]
    token, sent = link.rpartition(".")[2], [json.loads(body) for _, body in seen["bodies"]]
    assert [body.get("token") for body in sent] == [token, token, None]
    assert sent[2].keys() == {"survey", "report", "credential", "signature"}
    assert sent[2]["report"] == report.hex()
    assert seen["looked"] == "stored:"
    assert seen["screens"][1] == "Did you conceal income last year?"


COLOURS = {
    "light": {"layout.css.prefers-color-scheme.content-override": 1},
    "dark": {"layout.css.prefers-color-scheme.content-override": 0},
    "forced": {"browser.display.document_color_use": 2},
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "colours", "language", "seconds"),
    [(320, "light", "en", 0), (375, "dark", "ar", 300), (768, "forced", "ar", 0), (1280, "dark", "en", 300)],
)
def test_every_screen_by_keyboard(tmp_path, serving, sites, firefox, width, colours, language, seconds):  # noqa: F811
    """To the thanks, or to the screen that holds the report back; then links that cannot be used, and other surveys."""
    definition = EVERYTHING.replace("logo: logo.png\n", "").replace("send_interval: 300", f"send_interval: {seconds}")
    folder = os.environ.get("SOTTOVOCE_SCREENSHOTS")
    told = tmp_path / "told.json"
    ended = definition.replace("until: 2100-12-31", "until: 2020-12-31")
    (tmp_path / "ended").mkdir()
    with serving(tmp_path, definition) as site, serving(tmp_path / "ended", ended) as past:
        link, unused = site.invite(2)
        home, _, behind = unused.partition("#")
        others = [
            *(link, site.link(), unused[:-1], f"{unused}x", site.link("x" * 22)),
            *(f"{home}#{behind[::-1]}", home, f"{home}/audit", f"{site.address}/s/{'0' * 16}"),
            *(*past.invite(), *sites["rehearsal"].invite(), sites["weak"].link(), sites["very weak"].link()),
        ]
        settings = {
            "axe": AXE.read_text(encoding="utf-8"),
            "link": link,
            "others": others,
            "pictures": folder and f"{folder}/firefox-{language}-{width}-{colours}",
            "preferences": COLOURS[colours] | {"intl.accept_languages": language, "ui.prefersReducedMotion": 1},
            "smallTargets": SMALL_TARGETS,
            "width": width,
        }
        told.write_text(json.dumps(settings), encoding="utf-8")
        seen = firefox(STATES, told)
        assert seen["mistakes"] == []
        assert len(site.reports()) == (0 if seconds else 1)
    assert [screen for screen in seen["screens"] if screen["found"]] == []
    assert len(seen["screens"]) == 15 + len(others) + (1 if seconds else 0)
    assert (seen["direction"], seen["dark"]) == ("rtl" if language == "ar" else "ltr", colours == "dark")
    assert seen["forced"] == (colours == "forced")
