"""Run an outside audit: look at what is served, be admitted once, walk many times, and judge what left the browser."""

import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from math import floor
from secrets import randbits
from typing import Any

import numpy as np

from sottovoce import __version__
from sottovoce.checks import Progress, number, whole_number
from sottovoce.errors import SottovoceError, Words
from sottovoce.surveys.audit.browser import Device, DrivenBrowser, Numbers, Walk, drive, find_browser
from sottovoce.surveys.audit.checks import (
    Expectations,
    Notes,
    note_admissions,
    note_constants,
    note_requests,
    note_retries,
    note_twins,
    note_walk,
)
from sottovoce.surveys.audit.edge_words import edge_numbers
from sottovoce.surveys.audit.gate import Gate
from sottovoce.surveys.audit.judgement import RISK, Judged, judge
from sottovoce.surveys.audit.paths import Path, random_path, two_truths
from sottovoce.surveys.audit.proxy import RecordingProxy, recording
from sottovoce.surveys.audit.replay import replay_findings
from sottovoce.surveys.audit.report import Finding, OutsideAudit, redacted
from sottovoce.surveys.audit.visitors import (
    Served,
    check_release,
    check_source,
    differences_between_visitors,
    fetch_all,
    visitors,
    wrong_files,
    wrong_headers,
    wrong_logo,
    wrong_statements,
)
from sottovoce.surveys.client.client import Client
from sottovoce.surveys.collect.app_state import today
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.event_loops import outside_of_loops
from sottovoce.surveys.links import Link, new_token, read_link

WALKS = 600
MINUTES = 8.0
TRIES = 3
"""Attempts to be admitted."""

BY_HAND = 9
"""One of so many walks presses keys, which a page can tell from a script's clicks."""

ROUND = 5
"""Walks after each other on one device; random numbers are logged in every second round."""

SEVERAL = 2
"""Percent of reports that are not the plan's, whose chance of being found is stated."""


@dataclass(frozen=True)
class Effort:
    """How many walks there are, after how many minutes none begins, and a seed that repeats the choice of answers.

    Before them come `edges` walks at the edges of the coins, `twins` sets of three with the same random numbers, and
    `retries` reports whose first attempts to send them fail.
    """

    walks: int = WALKS
    minutes: float = MINUTES
    seed: int | None = None
    edges: int = 100
    twins: int = 4
    retries: int = 6

    def __post_init__(self) -> None:
        """Check the numbers."""
        whole_number("walks", self.walks, least=2)
        for name in ("edges", "twins", "retries"):
            whole_number(name, getattr(self, name))
        number("minutes", self.minutes, 0, 1440, open_ends=True)
        if self.seed is not None:
            whole_number("seed", self.seed, least=0)


@dataclass
class Audit:
    """An audit that is under way."""

    survey: Survey
    link: Link
    gate: Gate
    proxy: RecordingProxy
    rng: np.random.Generator
    expected: Expectations
    notes: Notes
    browser: DrivenBrowser = field(init=False)
    remarks: list[str] = field(default_factory=list)
    states: list[Any] = field(default_factory=list)
    given: list[Walk] = field(default_factory=list)
    walks: list[Walk] = field(default_factory=list)

    @property
    def logged(self) -> list[Walk]:
        """Walks whose random numbers were logged: those with given numbers, and those of the device's own."""
        return [*self.given, *(walk for walk in self.walks if walk.log)]

    @contextmanager
    def device(
        self, seed: int | None = None, locale: str = "en-US", *, logs: bool = False, link: str | None = None
    ) -> Iterator[Device]:
        """Make a device; what it sent is looked at when it is gone."""
        with self.browser.device(link or str(self.link), seed=seed, logs=logs, locale=locale) as device:
            yield device
        note_requests(self.proxy.take(), self.expected, self.notes)

    def compare_admissions(self, path: Path) -> None:
        """Hold admissions of fresh devices back, and compare their messages. No invitation is spent.

        A survey without admission has nothing to compare.
        """
        if not self.survey.admission:
            return
        other = str(replace(self.link, token=new_token()))
        cases = [("same", 1, None, 2), ("other", 1, other, 1), ("fresh", None, None, 1), ("fresh", None, None, 1)]
        messages: dict[str, list[str]] = {"same": [], "other": [], "fresh": []}
        for index, (name, seed, link, times) in enumerate(cases):
            language = self.survey.languages[index % len(self.survey.languages)]
            with self.device(seed, language, link=link) as device:
                for _ in range(times):
                    device.restore([])
                    device.enter(path)
                    messages[name].append(_blinded(self.gate.admissions[-1]))
        note_admissions(messages, self.notes)

    def be_admitted(self, device: Device, path: Path) -> None:
        """Go to the first question; where the survey has invitations, this one is spent now."""
        self.gate.admits = True
        for _ in range(TRIES):
            device.enter(path)
            self.states = device.states()
            if not self.survey.admission:
                return
            admitted = [state for _, state in self.states if "signature" in state]
            if admitted:
                self.expected.credential = admitted[0]["credential"]
                self.notes.secrets = self.expected.secrets
                return
        raise SottovoceError("invitation", "must be admitted by the server", Words("no signature"))

    def restore(self, device: Device) -> None:
        """Let a fresh device keep what the admitted one keeps."""
        device.restore(self.states)
        note_requests(self.proxy.take(), self.expected, self.notes)

    def walk_with_given_numbers(self, first: Path, second: Path, effort: Effort) -> None:
        """Walk two truths with the same random numbers, and both with numbers at the edges of their coins."""
        with self.device(0) as device:
            self.restore(device)
            for seed in range(effort.twins):
                walks = [self._walk_given(device, path, Numbers(seed)) for path in (first, second, first)]
                self.remarks += note_twins(walks, self.expected, self.notes)
            for index in range(effort.edges):
                path = (first, second)[index // 2 % 2]  # extremes change with every walk
                self._walk_given(device, path, edge_numbers(self.survey, path, self.rng, index))

    def _walk_given(self, device: Device, path: Path, numbers: Numbers) -> Walk:
        walk = device.walk(path, self.states, kind="given", numbers=numbers)
        note_walk(walk, self.expected, self.notes)
        self.given.append(walk)
        return walk

    def retry(self, paths: Sequence[Path]) -> None:
        """Let attempts to send fail, load the page again in between, and compare the bytes."""
        with self.device() as device:
            self.restore(device)
            for path in paths:
                self.gate.reports.clear()
                self.gate.fails = deque(["server", "network", "network"])
                try:
                    device.fail(path)
                    note_walk(device.walk(path, self.states, kind="retry"), self.expected, self.notes)
                finally:
                    self.gate.fails.clear()
                    note_retries(self.gate.reports, self.notes)

    def walk_many(
        self, devices: Sequence[Device], paths: Iterator[Path], count: int, until: float, progress: Progress
    ) -> None:
        """Walk one path after the other, in rounds on one device and another, until there are enough or it is time."""
        note_requests(self.proxy.take(), self.expected, self.notes)
        while len(self.walks) < count and time.monotonic() < until:
            done = len(self.walks)
            device = devices[done // ROUND % len(devices)]
            walk = device.walk(next(paths), self.states, by_hand=done % BY_HAND == 0)
            note_walk(walk, self.expected, self.notes)
            self.walks.append(walk)
            progress(len(self.walks), count)


def _blinded(body: str) -> str:
    """Return the blinded message of an admission; of one that has another form, all of it."""
    try:
        return str(json.loads(body)["blinded"])
    except (ValueError, LookupError, TypeError):
        return body


def mixed_paths(survey: Survey, first: Path, second: Path, rng: np.random.Generator) -> Iterator[Path]:
    """Yield both truths in random order, equally often, and random paths in between."""
    while True:
        pairs = [first, second, first, second]
        yield from (pairs[index] for index in rng.permutation(4).tolist())
        yield random_path(survey, rng)


@outside_of_loops
def outside_audit(
    url: str,
    *,
    invitation: str | None = None,
    effort: Effort | None = None,
    sources: Sequence[str] = (),
    browser: str | None = None,
    any_release: bool = False,
    progress: Progress | None = None,
) -> OutsideAudit:
    """Audit a survey from outside, as anybody can who has a link to it.

    The page is driven through scripted answers; no report is sent. A survey with invitations needs one, which is spent.
    `sources` are addresses of this machine to look from, `browser` is the path of Chromium, and `any_release` judges
    scripts that are not those of the installed release by what they do.
    """
    effort = effort or Effort()
    drawn = randbits(32) if effort.seed is None else effort.seed
    link = checked_link(url, invitation)
    program, addresses = find_browser(browser), [check_source(address) for address in sources]
    began, start = datetime.now(UTC), time.monotonic()
    with closing(Client(link.server)) as client:
        survey = client.survey(link)
        _check_invitation(client, link, survey)
    served = fetch_all(link, survey, visitors(addresses or [None]))
    findings = served_findings(survey, link, served)
    home = link.address.removeprefix(link.server)
    page = next(iter(served[home].values())).body
    scripts = "changed" if findings else check_release(page, any_release=any_release)
    seen = sum(map(len, served.values()))
    result = OutsideAudit(
        address=link.address,
        hash=link.hash,
        title=survey.default_title,
        began=began.isoformat(timespec="minutes"),
        seconds=0.0,
        walks=0,
        truths=(),
        risk=RISK,
        seed=drawn,
        release=__version__,
        scripts=scripts,
        browser="no browser was started",
        done=(f"Files: {seen} requests for {len(served)} files by {len(served[home])} visitors.",),
        findings=tuple(findings),
    )
    if findings:  # whatever such a page does, it is not what was promised; the invitation is not spent
        return replace(result, seconds=time.monotonic() - start)
    gate = Gate(survey)
    proxy = RecordingProxy(link.server, gate, tuple(addresses) or (None,))
    asked = {path: got for path, got in served.items() if not path.endswith("/audit.json")}  # no page asks for that
    files = {path: sha256(next(iter(got.values())).body).hexdigest() for path, got in asked.items()}
    expected = Expectations(survey, link.server, link.token, files)
    audit = Audit(survey, link, gate, proxy, np.random.default_rng(drawn), expected, Notes(expected.secrets))
    with recording(proxy):
        return drive(proxy, program, partial(_conclude, audit, result, effort, start, progress or _unseen))


def _unseen(*_: int | None) -> None:
    """Show no progress."""


def _conclude(
    audit: Audit, result: OutsideAudit, effort: Effort, start: float, progress: Progress, browser: DrivenBrowser
) -> OutsideAudit:
    """Make all walks in a browser, and return the result with what they show."""
    audit.browser = browser
    paths = two_truths(audit.survey, audit.rng)
    try:
        judged = _walk_all(audit, paths, effort, start, progress)
    except SottovoceError as reason:
        judged = Judged(replay_findings(audit.logged, audit.expected), [])
        if not (judged.findings or audit.notes.findings(0)):
            raise
        audit.remarks.append(redacted(f"The walks were broken off: {reason}", audit.expected.secrets))
    return replace(
        result,
        seconds=time.monotonic() - start,
        walks=len(audit.walks),
        truths=tuple(path.words() for path in paths),
        browser=browser.version,
        done=(*result.done, *_done(audit, effort)),
        bounds=tuple(judged.bounds),
        findings=(*audit.notes.findings(len(audit.walks)), *judged.findings),
        remarks=tuple(dict.fromkeys([*audit.remarks, *audit.notes.remarks()])),
    )


def _walk_all(audit: Audit, paths: tuple[Path, Path], effort: Effort, start: float, progress: Progress) -> Judged:
    """Make all walks, and judge them."""
    audit.compare_admissions(paths[0])
    with audit.device() as plain, audit.device(logs=True) as logging:
        audit.be_admitted(plain, paths[0])
        audit.walk_with_given_numbers(*paths, effort)
        audit.retry([paths[index % 2] for index in range(effort.retries)])
        audit.restore(logging)
        until = start + 60 * effort.minutes
        mixed = mixed_paths(audit.survey, *paths, audit.rng)
        audit.walk_many([plain, logging], mixed, effort.walks, until, progress)
    note_constants(audit.walks, audit.expected, audit.notes)
    first, second = ([walk for walk in audit.walks if walk.path is path] for path in paths)
    others = [walk for walk in audit.walks if walk.path not in paths]
    judged = judge(first, second, others, audit.expected)
    return replace(judged, findings=[*replay_findings(audit.logged, audit.expected), *judged.findings])


def _done(audit: Audit, effort: Effort) -> list[str]:
    """Return what was done, in sentences, and what each part can show."""
    admitted = ["Admissions: five that were held back, of four fresh devices, then one that passed."]
    logged, own = len(audit.logged), len(audit.logged) - len(audit.given)
    edges = max(0, len(audit.given) - 3 * effort.twins)
    chance = 1 - (1 - SEVERAL / 100) ** own
    return [
        *(admitted if audit.survey.admission else []),
        f"Twins: {effort.twins} times three walks with the same random numbers, of different answers.",
        f"Retries: {effort.retries} reports whose sending failed three times, with the page loaded again in between.",
        f"Walks: {len(audit.walks)}, of two truths and of random paths, every {BY_HAND}th by keyboard; compared in "
        "their requests, headers, lengths, times, what the device keeps, and the reports.",
        f"Exactly: the random numbers of {logged} walks were logged, and report, key and moment of sending computed "
        f"from them by the plan; {edges} of these walks had numbers at the edges of the coins, which show odds other "
        f"than the plan's. If {SEVERAL} % of the reports were others than the plan's, whatever decides which, that is "
        f"found with a probability of {floor(1000 * chance) / 10:g} %.",
        f"By counting: the reports of {len(audit.walks) - own} walks of which nothing was logged. A page that sees the "
        "log, and is honest because of it, shows itself here, if it deviates much.",
        "No report was passed on to the server.",
    ]


def served_findings(survey: Survey, link: Link, served: Served) -> list[Finding]:
    """Return what is wrong with the files that are served."""
    home = link.address.removeprefix(link.server)
    checks: list[Callable[[], list[Finding]]] = [
        lambda: differences_between_visitors(served),
        lambda: wrong_files(survey, home, served),
        lambda: wrong_logo(survey, home, served),
        lambda: wrong_statements(survey, home, served),
        lambda: wrong_headers(home, served),
    ]
    return [finding for check in checks for finding in check()]


def checked_link(url: str, invitation: str | None) -> Link:
    """Return the link to audit, with the invitation that may be spent; refuse one to another survey."""
    link = read_link(url)
    if invitation is None:
        if link.token is not None:
            rule = "must have no invitation; if it may be spent, pass the link as --invitation"
            raise SottovoceError("link", rule, Words("a link with one"))
        return link
    try:
        invited = read_link(invitation)
    except SottovoceError as reason:
        raise SottovoceError("invitation", reason.rule, reason.value) from None
    if (invited.server, invited.hash) != (link.server, link.hash):
        raise SottovoceError(
            "invitation", f"must be to the survey at {link.address}", Words("a link to another survey")
        )
    return invited


def _check_invitation(client: Client, link: Link, survey: Survey) -> None:
    """Refuse an invitation that is missing, spent or not needed, and a survey that has ended."""
    if survey.until < today():
        raise SottovoceError("link", f"must lead to a survey that has not ended, {today()}", survey.until.isoformat())
    if survey.invitation == "open":
        if link.token is not None:
            raise SottovoceError("invitation", "must be left out: the survey is open", Words("one"))
        return
    if link.token is None:
        raise SottovoceError("invitation", "must be given: the survey has single invitations", None)
    try:
        client.check(link)
    except SottovoceError as reason:
        raise SottovoceError("invitation", reason.rule, reason.value) from None
