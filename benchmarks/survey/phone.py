"""What admission costs a respondent: the page's cryptography in Chromium, on a processor as slow as a phone's."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.measure import Row
from sottovoce.surveys.blind_rsa import SecretKey, blind_sign
from sottovoce.surveys.collect.server import listen, make_app, running
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.links import Link
from sottovoce.surveys.page.files import address

LIMIT = 500.0
"""Milliseconds that a respondent may have to wait."""

RUNS = 5
SLOWDOWNS = (4, 6)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]
DEFINITION = """
title: Benchmark
asker: Nobody
purpose: To measure.
until: 2999-12-31
odds: 3:1
invitation: open
questions:
  - {id: a, kind: yes_no, text: A}
"""
PREPARE = """async ([path, admission]) => {
    window.page = await import(path);
    const start = performance.now();
    window.key = page.readKey(admission);
    window.prepared = await page.prepare(key);
    window.taken = performance.now() - start;
    return prepared.blinded;
}"""
FINALIZE = """async (signature) => {
    const start = performance.now();
    await page.finalize(key, prepared, signature);
    return taken + performance.now() - start;
}"""


def rows() -> Iterator[Row]:
    """Milliseconds from an opened page to a blinded credential, and from a blind signature to a verified one."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("no Chromium on this machine: its rows are left out", file=sys.stderr)
        return
    from playwright.sync_api import sync_playwright

    secret, survey = SecretKey.generate(), survey_from_text(DEFINITION)
    taken: dict[int, list[float]] = {slowdown: [] for slowdown in SLOWDOWNS}
    with TemporaryDirectory() as folder:
        store = Store(str(Path(folder, "surveys.db")))
        store.freeze(survey)
        with (
            running(make_app(store, per_window=None), listen("127.0.0.1", 0)) as server,
            sync_playwright() as playwright,
        ):
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            for _ in range(RUNS):
                for slowdown, times in taken.items():
                    times.append(_once(browser, str(Link(server, survey.hash)), secret, slowdown))
            browser.close()
    for slowdown, times in taken.items():
        name = f"credential on a phone, processor slowed down {slowdown} times"
        yield Row(f"{name}, median", "half a second", median(times), LIMIT, "ms")
        yield Row(f"{name}, longest of {RUNS}", "half a second", max(times), LIMIT, "ms")


def _once(browser: Any, link: str, secret: SecretKey, slowdown: int) -> float:
    """Open a page that has compiled nothing yet, and take the time as a respondent does who answers once."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(link, wait_until="networkidle")
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
    blinded = page.evaluate(PREPARE, [address("blind_rsa.js"), secret.public.to_json()])
    signature = blind_sign(bytes.fromhex(blinded), secret.public.modulus, secret.exponent)
    taken = float(page.evaluate(FINALIZE, signature.hex()))
    context.close()
    return taken
