"""The driven browser without one: what a device calls in its page, and errors of browsers."""

from types import SimpleNamespace

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.surveys.audit.browser import Device, browser_errors, find_browser


def test_a_loaded_device_is_not_loaded_again_to_keep_something():
    called = []
    page = SimpleNamespace(evaluate=lambda function, given: called.append((function, given)))
    device = Device(page, None, "https://survey.test/s/0#0", "_walker", 0, False)
    device.loaded = True
    device.restore([["key", {}]])
    assert called == [("(given) => globalThis._walker.restore(...given)", [[["key", {}]]])]


def test_errors_of_a_browser():
    from playwright.sync_api import Error

    with pytest.raises(SottovoceError, match=r"page must lead .* Got the page stopped instead"), browser_errors():
        raise Error("Error: the page stopped\n    at walk")


def test_no_browser(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SottovoceError, match="browser must be given: no Chromium is installed"):
        find_browser()
    with pytest.raises(SottovoceError, match="browser must be the path of Chromium"):
        find_browser("/nowhere/chromium")
