"""Measure how long a slow phone takes from a survey's link to its first question.

    python tools/first_question.py LINK [LINK ...] [--runs N] [--latency MS]

Each run opens a link in Chromium with an empty cache, a processor slowed down fourfold and the network of the developer
tools' "slow 4G", and presses Begin as soon as it is there. Links take turns, so that a busy machine slows all of them
alike. Prints for each link: requests, bytes as they were sent (bodies only), and milliseconds to the welcome page and
to the first question, as the median and the range of all runs.
"""

import argparse
import shutil
from dataclasses import dataclass, field
from statistics import median

from playwright.sync_api import Browser, Request, sync_playwright

SLOWDOWN = 4
LATENCY = 562.5
"""Milliseconds before each answer, as in the developer tools' "slow 4G"."""

DOWNLOAD, UPLOAD = 1.6e6 * 0.9 / 8, 0.75e6 * 0.9 / 8
"""Bytes in a second."""

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True, "locale": "en-US"}
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--ignore-certificate-errors"]
WATCH = """
    const seen = (window.seen = {});
    new MutationObserver(() => {
      const begin = document.querySelector("button.primary");
      if (begin && !seen.welcome) { seen.welcome = performance.now(); begin.click(); }
      if (document.querySelector("fieldset")) seen.question ??= performance.now();
    }).observe(document, { childList: true, subtree: true });
"""


@dataclass
class Measured:
    """What the runs of one link took."""

    requests: int = 0
    sent: int = 0
    welcome: list[float] = field(default_factory=list)
    question: list[float] = field(default_factory=list)


def run(browser: Browser, link: str, latency: float, measured: Measured) -> None:
    """Open a link once, and add what it took."""
    context = browser.new_context(**PHONE)
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
    network = {"offline": False, "latency": latency, "downloadThroughput": DOWNLOAD, "uploadThroughput": UPLOAD}
    session.send("Network.emulateNetworkConditions", network)
    finished: list[Request] = []
    page.on("requestfinished", lambda request: finished.append(request))  # noqa: PLW0108  # marked by Playwright
    page.add_init_script(WATCH)
    page.goto(link, timeout=60_000)
    page.wait_for_function("() => window.seen.question", timeout=60_000)
    seen = page.evaluate("window.seen")
    measured.welcome.append(seen["welcome"])
    measured.question.append(seen["question"])
    page.wait_for_load_state("networkidle")
    measured.requests = len(finished)
    measured.sent = sum(request.sizes()["responseBodySize"] for request in finished)
    context.close()


def stated(times: list[float]) -> str:
    """Median and range, in whole milliseconds."""
    return f"{median(times):.0f} ({min(times):.0f} to {max(times):.0f})"


def main() -> None:
    """Measure the links of the command line, in turn."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("links", nargs="+", metavar="LINK")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--latency", type=float, default=LATENCY, metavar="MS")
    given = parser.parse_args()
    measured = {link: Measured() for link in given.links}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for _ in range(given.runs):
            for link in given.links:
                run(browser, link, given.latency, measured[link])
        browser.close()
    for link, own in measured.items():
        print(
            f"{link.partition('#')[0]}: {own.requests} requests, {own.sent} bytes, "
            f"welcome {stated(own.welcome)} ms, first question {stated(own.question)} ms"
        )


if __name__ == "__main__":
    main()
