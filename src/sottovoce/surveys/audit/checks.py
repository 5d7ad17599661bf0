"""What is concluded from walks: what must be the same whatever was answered, and what may leave at all."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from sottovoce.surveys.audit.browser import Walk
from sottovoce.surveys.audit.proxy import SentRequest
from sottovoce.surveys.audit.report import Finding, redacted
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.report import ReportFormat

BROWSER_HEADERS = {
    *("accept", "accept-encoding", "accept-language", "cache-control", "connection", "content-length", "content-type"),
    *("dnt", "host", "origin", "pragma", "priority", "sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform"),
    *("sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-storage-access", "sec-gpc", "user-agent"),
}
"""Headers that browsers add by themselves, or that the page sets for a body of JSON."""

BROWSERS_OWN = {
    *("accounts.google.com", "android.clients.google.com", "clients1.google.com", "clients2.google.com"),
    *("clients4.google.com", "clientservices.googleapis.com", "content-autofill.googleapis.com", "edgedl.me.gvt1.com"),
    *("optimizationguide-pa.googleapis.com", "redirector.gvt1.com", "safebrowsing.googleapis.com"),
    *("safebrowsingohttpgateway.googleapis.com", "sb-ssl.google.com", "update.googleapis.com"),
}
"""Hosts that Chromium asks by itself, and that belong to its makers."""

TIMES = 2
"""Walks in which something must be seen: what does not happen again convicts nobody."""


@dataclass
class Expectations:
    """What may leave the browser: addresses of the survey, the form of its report, and secrets that no report shows.

    `files` are the hashes of what other visitors get, by path.
    """

    survey: Survey
    server: str
    token: str | None
    files: Mapping[str, str]
    credential: str | None = None

    @property
    def home(self) -> str:
        """Path of the survey's page."""
        return f"/s/{self.survey.id}"

    @property
    def secrets(self) -> list[str]:
        """Texts that must not be published."""
        return [secret for secret in (self.token, self.credential) if secret]

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields of the body of a report, in their order."""
        return ("survey", "report", *(("credential", "signature") if self.survey.admission else ("key", "token")))

    def allows(self, request: SentRequest) -> bool:
        """Return whether an honest page makes such a request."""
        parts = urlsplit(request.url)
        if f"{parts.scheme}://{parts.netloc}" != self.server or parts.query:
            return parts.hostname in BROWSERS_OWN
        if request.method == "GET":
            return not request.body and parts.path in self.files
        posts = ("check", "admission", "reports")
        return request.method == "POST" and parts.path in [f"{self.home}/{name}" for name in posts]

    def is_report(self, request: SentRequest) -> bool:
        """Return whether a request sends a report."""
        return request.method == "POST" and request.path == f"{self.home}/reports"


@dataclass
class Notes:
    """Things that were noticed, and how often: those that happen again are findings, others are remarks."""

    secrets: Sequence[str] = ()
    seen: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str, str], str] = field(default_factory=dict)
    certain: set[tuple[str, str, str]] = field(default_factory=set)

    def add(self, kind: str, observed: str, expected: str, *, example: str = "", certain: bool = False) -> None:
        """Note something once more; what is `certain` cannot be an accident."""
        noted = (kind, redacted(observed, self.secrets), expected)
        self.seen[noted] += 1
        self.examples.setdefault(noted, example)
        if certain:
            self.certain.add(noted)

    def findings(self, total: int, what: str = "walks") -> list[Finding]:
        """Return what was seen at least twice, or is certain."""
        found = []
        for (kind, observed, expected), times in self.seen.items():
            noted = (kind, observed, expected)
            if times >= TIMES or noted in self.certain:
                sureness = f"exact; seen {times} {'times' if times > 1 else 'time'} in {total} {what}"
                found.append(Finding(kind, observed + self.examples[noted], expected, sureness))
        return found

    def remarks(self) -> list[str]:
        """Return what was seen once."""
        return [
            f"{noted[0]}, seen once: {noted[1]}"
            for noted, times in self.seen.items()
            if times < TIMES and noted not in self.certain
        ]


def note_requests(requests: Iterable[SentRequest], expected: Expectations, notes: Notes) -> None:
    """Note requests that an honest page does not make, and cookies."""
    for request in requests:
        if not expected.allows(request):
            parts = urlsplit(request.url)
            here = f"{parts.scheme}://{parts.netloc}" == expected.server
            told = f"{request.method} {parts.path if here else request.url.partition('?')[0]}"
            notes.add("request", f"{told}{' with a query' * bool(parts.query)}", "check, admission and report only")
        if request.digest is not None and request.digest != expected.files.get(request.path, request.digest):
            rule = "the same bytes for all"
            notes.add("another page for some visitors", f"{request.path} differs in the browser", rule)
        if request.header("cookie") is not None:
            notes.add("request", "a cookie is sent", "no cookies")


def note_walk(walk: Walk, expected: Expectations, notes: Notes) -> None:
    """Note what is wrong with one walk by itself."""
    note_requests(walk.sent, expected, notes)
    for kind in walk.noted:
        notes.add("connection", f"the page opens a {kind}, which passes no proxy", "requests over HTTP only")
    sends = [request for request in walk.sent if expected.is_report(request)]
    if len(sends) != 1 and walk.kind != "retry":
        notes.add("request", f"{len(sends)} reports are sent", "one report")
    for request in sends:
        for fault, rule in body_faults(request.body, walk, expected):
            notes.add("report", fault, rule)
        extra = sorted({name.lower() for name, _ in request.headers} - BROWSER_HEADERS)
        if extra:
            notes.add("header", f"the report has the header {', '.join(extra)}", "headers of the browser only")
    for name, value in walk.kept.items():
        if name not in ("states", "databases") and value:
            notes.add("device", f"the page leaves something in {name}", "nothing but that the survey was answered")
    if walk.kept["databases"] not in (["sottovoce"], []):
        notes.add("device", f"databases {walk.kept['databases']}", "one database, sottovoce")


def body_faults(body: bytes, walk: Walk, expected: Expectations) -> list[tuple[str, str]]:
    """Return what is wrong with the body of a report, and the rule."""
    try:
        sent: Any = json.loads(body)
        fields = tuple(sent)
    except (ValueError, TypeError):
        return [("a body that is no JSON object", "JSON")]
    if fields != expected.fields:
        return [(f"the fields {', '.join(map(str, fields))}", ", ".join(expected.fields))]
    survey = expected.survey
    exact = json.dumps(sent, separators=(",", ":"), ensure_ascii=False).encode()
    rules = [
        (exact == body, "something between the fields of the body", "nothing but the fields"),
        (sent["survey"] == survey.hash, "another hash of a survey", "the hash of the link"),
        (_fits(survey, sent["report"]), "a report that the plan cannot produce", "a report of the plan"),
        (_public_fits(walk, sent["report"]), "other public answers than were given", "public answers as they are"),
    ]
    if survey.admission:
        signed = _verified(survey, sent["credential"], sent["signature"])
        rules += [
            (signed, "a signature that is not of the credential", "the server's signature"),
            (sent["credential"] == expected.credential, "another credential than was admitted", "the admitted one"),
        ]
    else:
        wanted = None if survey.invitation == "open" else expected.token
        rules += [
            (_is_hexadecimal(sent["key"], 32), "a key that is not 32 digits", "32 random digits"),
            (sent["token"] == wanted, "another invitation", "no invitation" if wanted is None else "the invitation"),
        ]
    return [(fault, rule) for holds, fault, rule in rules if not holds]


def _is_hexadecimal(text: Any, length: int) -> bool:
    return isinstance(text, str) and len(text) == length and set(text) <= set("0123456789abcdef")


def _fits(survey: Survey, digits: Any) -> bool:
    form = ReportFormat(survey.plan)
    return _is_hexadecimal(digits, 2 * form.length) and form.fits(bytes.fromhex(digits))


def _public_fits(walk: Walk, digits: Any) -> bool:
    """Return whether the codes behind the disguised ones are those of the public answers."""
    form, public = ReportFormat(walk.path.survey.plan), walk.path.public_codes
    if not public or not _fits(walk.path.survey, digits):
        return True  # a report that does not fit is a fault of its own
    columns = form.to_columns([bytes.fromhex(digits)])
    return tuple(int(column[0]) for column in columns[len(columns) - len(public) :]) == public


def _verified(survey: Survey, credential: Any, signature: Any) -> bool:
    key = survey.admission
    whole = key is not None and _is_hexadecimal(credential, 64) and _is_hexadecimal(signature, 512)
    return bool(whole and key and key.verify(bytes.fromhex(credential), bytes.fromhex(signature)))


def note_constants(walks: Sequence[Walk], expected: Expectations, notes: Notes) -> None:
    """Note what differs between walks although it does not depend on chance: headers, lengths, and what is kept."""
    constants: list[tuple[str, Callable[[Walk, SentRequest], dict[str, str]]]] = [
        ("header", lambda _, report: {name.lower(): value for name, value in report.headers}),
        ("length", lambda _, report: {"the report's body": f"{len(report.body)} bytes"}),
        ("order of headers", lambda _, report: {"names": ", ".join(name for name, _ in report.headers)}),
        ("device", lambda walk, _: {"states": json.dumps([state for _, state in walk.kept["states"]])}),
    ]
    reports = [(walk, request) for walk in walks for request in walk.sent if expected.is_report(request)]
    for kind, values in constants:
        forms = [values(walk, request) for walk, request in reports]
        names = sorted({name for form in forms for name in form})
        for name in names:
            counted = Counter(form.get(name) for form in forms)
            usual = counted.most_common(1)[0][0]
            for value, times in counted.items():
                if value != usual:
                    for _ in range(times):
                        notes.add(kind, f"{name} is {value!r} in some walks", f"always the same, {usual!r}")


def note_twins(walks: Sequence[Walk], expected: Expectations, notes: Notes) -> list[str]:
    """Compare walks with the same random numbers: first, second, and first truth again.

    All but the report itself must be the same. Returns a remark if random numbers do not repeat a walk, so that nothing
    can be concluded.
    """
    first, second, again = (_traces(walk, expected) for walk in walks)
    if first != again:
        return ["the same random numbers do not repeat a walk; walks with them were not compared"]
    for name in sorted({*first, *second} - {"report"}):
        if first.get(name) != second.get(name):
            rule = "the same, because all random numbers are the same"
            told = "" if name != "time of sending" else f": {first[name]} and {second[name]} after the page was loaded"
            notes.add(name, f"other answers change the {name}", rule, example=told)
    return []


def _traces(walk: Walk, expected: Expectations) -> dict[str, str]:
    """Return all that could be seen of a walk, by name."""
    sends = [request for request in walk.sent if expected.is_report(request)]
    try:
        fields: dict[str, Any] = dict(json.loads(sends[0].body))
    except (ValueError, TypeError, IndexError):
        fields = {}
    traces = {name: sha256(str(value).encode()).hexdigest()[:16] for name, value in fields.items()}
    seconds = f"{(walk.time - walk.start) / 1000:.3f} seconds"
    lengths = ", ".join(str(len(request.body)) for request in sends)
    headers = sha256(repr([request.headers for request in sends]).encode()).hexdigest()[:16]
    return traces | {"time of sending": seconds, "length": lengths, "headers": headers}


def note_retries(bodies: Sequence[bytes], notes: Notes) -> None:
    """Note a report that was sent again with other bytes."""
    if len(set(bodies)) > 1:
        told = f": {len(set(bodies))} different bodies in {len(bodies)} attempts to send one report"
        rule = "the same bytes, after a reload too"
        notes.add("retry", "a report is sent again with other coins", rule, example=told, certain=True)


def note_admissions(messages: dict[str, list[str]], notes: Notes) -> None:
    """Compare blinded messages: with the same random numbers for one invitation and another, and with fresh ones.

    Nothing may be derived from the invitation, so the same random numbers give the same message whatever it is; fresh
    ones never do.
    """
    same, other, fresh = messages["same"], messages["other"], messages["fresh"]
    if len(set(same)) == 1 and set(other) != set(same):
        rule = "a message of random numbers alone"
        notes.add("credential", "the blinded message depends on the invitation", rule, certain=True)
    if len(set(fresh)) < len(fresh):
        rule = "a new one on every device"
        notes.add("credential", "fresh devices send the same blinded message", rule, certain=True)
