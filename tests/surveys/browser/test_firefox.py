"""A whole survey in Firefox, which no driver of Chromium's can show: admission, coins, sending, and the receipt.

And all states of the page by keyboard, in every combination of width, colours and direction.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from sottovoce.surveys.collect.store import Store
from tests.surveys.browser.states import (
    AXE,
    COLOUR_RULES,
    COLOURS,
    LANGUAGES,
    LOOKS,
    STATES,
    WIDTHS,
    sites,  # noqa: F401  # a fixture
    steps_of,
)

SCRIPT = Path(__file__).parent / "firefox.mjs"
SCRIPT_OF_STATES = Path(__file__).parent / "firefox_states.mjs"
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


PREFERENCES = {
    "light": {"layout.css.prefers-color-scheme.content-override": 1},
    "dark": {"layout.css.prefers-color-scheme.content-override": 0},
    "forced": {"browser.display.document_color_use": 2},
}


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("colours", COLOURS)
def test_every_state_in_every_size(tmp_path, sites, firefox, colours, language):  # noqa: F811
    """The states that Chromium shows, by the same steps; axe looks at each of them once in each browser's colours."""
    folder = os.environ.get("SOTTOVOCE_SCREENSHOTS")
    settings = {
        "axe": AXE,
        "colours": colours,
        "direction": LANGUAGES[language],
        "language": language,
        "looks": LOOKS,
        "pictures": folder and f"{folder}/firefox-{colours}-{language}",
        "preferences": PREFERENCES[colours] | {"intl.accept_languages": language, "ui.prefersReducedMotion": 1},
        "rules": None if colours == "light" else COLOUR_RULES,
        "start": f"{sites['weak'].address}/s/{sites['weak'].survey.id}/audit",
        "steps": [steps_of(part, sites, language) for part in STATES],
        "widths": WIDTHS,
    }
    told = tmp_path / "told.json"
    told.write_text(json.dumps(settings), encoding="utf-8")
    before = len(sites["everything"].reports())
    seen = firefox(SCRIPT_OF_STATES, told)
    assert seen["browser"].startswith("firefox/")
    assert seen["faults"] == []
    assert seen["states"] == [state for states in STATES.values() for state in states]
    assert len(sites["everything"].reports()) == before + 1
