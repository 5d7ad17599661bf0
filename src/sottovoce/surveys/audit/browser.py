"""The driven browser: Chromium behind the recording proxy, in which paths are walked through the served page."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path as FilePath
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeVar

from sottovoce.errors import SottovoceError, Words, check_installed
from sottovoce.surveys.audit.paths import Path
from sottovoce.surveys.audit.proxy import RecordingProxy, SentRequest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

Made = TypeVar("Made")

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-first-run",
    "--disable-features=AutofillServerCommunication",
    "--disable-blink-features=AutomationControlled",  # a page shall not know that it is driven
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
WALKER = FilePath(__file__).with_name("walker.js").read_text(encoding="utf-8")
SCREEN = {"width": 390, "height": 844}
MILLISECONDS = 30_000
"""Patience with a page that does not load."""


@dataclass(frozen=True)
class Draw:
    """Random bytes that a page was given: presses of buttons before, kind of the array that was filled, and content."""

    presses: int
    kind: str
    content: bytes


@dataclass(frozen=True)
class RandomLog:
    """All random bytes of a walk, in order, and how often `Math.random` was called."""

    draws: tuple[Draw, ...]
    guessed: int = 0


@dataclass(frozen=True)
class Numbers:
    """Random numbers to give a page: those of a seed, before them `words` and, in short arrays, an `extreme` byte."""

    seed: int
    words: tuple[int, ...] = ()
    extreme: int | None = None


@dataclass(frozen=True)
class Walk:
    """One walk: its path, what left the browser, when the report was sent, and what the device kept.

    `time` is that of the page's clock in milliseconds since the epoch, `elapsed` the real milliseconds between the last
    thing that was done and the end; `log` is there if random numbers were logged.
    """

    path: Path
    sent: tuple[SentRequest, ...]
    time: float
    elapsed: float
    kept: dict[str, Any]
    noted: tuple[str, ...]
    start: float
    kind: str = "walk"
    log: RandomLog | None = None


@dataclass
class Device:
    """A browser profile of its own with one page, for walks after each other."""

    page: "Page"
    proxy: RecordingProxy
    link: str
    name: str
    start: float
    logs: bool
    loaded: bool = field(default=False, init=False)

    def load(self) -> None:
        """Open the link, or load the page again."""
        with browser_errors():
            if self.loaded:
                self.page.reload(wait_until="commit", timeout=MILLISECONDS)
            else:
                self.page.goto(self.link, wait_until="commit", timeout=MILLISECONDS)
        self.loaded = True

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a function of the walker in the page."""
        with browser_errors():
            return self.page.evaluate(f"(given) => globalThis.{self.name}.{function}(...given)", list(arguments))

    def enter(self, path: Path) -> None:
        """Go to the first question, or to where the page waits for an answer of the server."""
        self.load()
        self.call("walk", {"screens": path.screens, "enters": True})

    def fail(self, path: Path) -> None:
        """Walk a path up to a report that was sent twice and not taken."""
        self.load()
        self.call("walk", {"screens": path.screens, "fails": True, "again": 1})

    def restore(self, states: list[Any]) -> None:
        """Let the device keep these states."""
        if not self.loaded:
            self.load()
        self.call("restore", states)

    def states(self) -> list[Any]:
        """Return what the device keeps of the survey."""
        kept: dict[str, Any] = self.call("kept")
        return list(kept["states"])

    def walk(
        self,
        path: Path,
        states: list[Any],
        *,
        kind: str = "walk",
        by_hand: bool = False,
        numbers: Numbers | None = None,
    ) -> Walk:
        """Walk a path to its end; then the device keeps `states` again.

        `by_hand` presses keys, which pages can tell from clicks of a script, and takes longer. A device with a seed
        takes other random numbers for each walk.
        """
        self.load()
        script = {"screens": path.screens, "restored": states, **(asdict(numbers) if numbers else {})}
        if by_hand:
            self._press(script)
        left = self.call("outcome" if by_hand else "walk", script)
        return Walk(
            path=path,
            sent=tuple(self.proxy.take()),
            time=left["time"],
            elapsed=left["elapsed"],
            kept=left["kept"],
            noted=tuple(left["noted"]),
            start=self.start,
            kind=kind,
            log=_log_of(left) if self.logs else None,
        )

    def _press(self, script: dict[str, Any]) -> None:
        self.call("begin")
        while (said := self.call("focus", script)) != "done":
            if said == "press":
                self.page.keyboard.press("Space")

    def close(self) -> None:
        """Forget the profile."""
        self.page.context.close()


def _log_of(left: dict[str, Any]) -> RandomLog:
    draws = tuple(Draw(presses, kind, bytes.fromhex(digits)) for presses, kind, digits in left["draws"])
    return RandomLog(draws, left["guessed"])


@dataclass
class DrivenBrowser:
    """A running browser, whose pages reach the network through the proxy only."""

    browser: "Browser"
    proxy: RecordingProxy

    @property
    def version(self) -> str:
        """Name and version."""
        return f"Chromium {self.browser.version}"

    @cached_property
    def agent(self) -> str:
        """What the browser calls itself, without a word about being driven."""
        major = self.browser.version.partition(".")[0]
        return (
            f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 Safari/537.36"
        )

    @contextmanager
    def device(
        self, link: str, *, seed: int | None = None, logs: bool = False, locale: str = "en-US"
    ) -> Iterator[Device]:
        """Make a device with nothing on it. `logs` logs the random numbers of its page, `seed` repeats them, too."""
        with browser_errors():
            context = self.browser.new_context(
                viewport=SCREEN,  # type: ignore[arg-type]  # a dictionary of two numbers
                locale=locale,
                user_agent=self.agent,
                ignore_https_errors=True,  # the proxy's own certificate; the proxy checks the server's
            )
            start = int(time.time() * 1000)
            logged = logs or seed is not None
            device = Device(context.new_page(), self.proxy, link, f"_{token_hex(8)}", start, logged)
            settings = {"name": device.name, "start": device.start, "seed": seed, "logs": logged}
            context.add_init_script(f"{WALKER.strip()}({json.dumps(settings)})")
        try:
            yield device
        finally:
            device.close()


def drive(proxy: RecordingProxy, program: str, work: Callable[[DrivenBrowser], Made]) -> Made:
    """Start a browser, let `work` use it, and return what that returns."""
    check_installed("an audit from outside", "audit", "playwright.sync_api")
    from playwright.sync_api import sync_playwright

    with ExitStack() as stack:  # all in one statement: Playwright goes on in another stack, where nothing is measured
        return work(DrivenBrowser(_launch(stack.enter_context(sync_playwright()), proxy, program), proxy))


def _launch(playwright: "Playwright", proxy: RecordingProxy, program: str) -> "Browser":
    """Start Chromium, which is stopped with Playwright."""
    with browser_errors():
        return playwright.chromium.launch(
            executable_path=program,
            args=list(FLAGS),
            ignore_default_args=["--enable-automation"],
            proxy={"server": f"http://127.0.0.1:{proxy.port}", "bypass": "<-loopback>"},
        )


def find_browser(program: str | None = None) -> str:
    """Return the path of Chromium: the given one, or the first that is installed."""
    found = shutil.which(program) if program else next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        rule = (
            "must be the path of Chromium" if program else "must be given: no Chromium is installed where programs are"
        )
        raise SottovoceError("browser", rule, program or Words("none"))
    return found


@contextmanager
def browser_errors() -> Iterator[None]:
    """Turn errors of the browser, and of the walker in it, into one of ours."""
    from playwright.sync_api import Error

    try:
        yield
    except Error as reason:
        said = next((line for line in reason.message.splitlines() if line.strip()), "no reason").removeprefix("Error: ")
        raise SottovoceError("page", "must lead a respondent through the survey", Words(said)) from None
