"""What the server gives to different visitors, compared with each other and with the installed release."""

import json
import re
import socket
import ssl
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPException
from math import isclose
from typing import Any

from sottovoce.errors import SottovoceError, Words
from sottovoce.surveys.audit.proxy import RecordingProxy, unpacked
from sottovoce.surveys.audit.report import Finding
from sottovoce.surveys.collect.app_state import PublishedSurvey
from sottovoce.surveys.collect.server import HEADERS
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.links import Link
from sottovoce.surveys.page.files import import_map, page_files, release

_WEBKIT = "(KHTML, like Gecko)"
AGENTS = {
    "Chrome on Linux": f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 {_WEBKIT} Chrome/130.0.0.0 Safari/537.36",
    "Firefox on Windows": "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Safari on an iPhone": f"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 {_WEBKIT} "
    "Version/17.5 Mobile/15E148 Safari/604.1",
    "Chrome on Android": f"Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 {_WEBKIT} Chrome/130.0.0.0 "
    "Mobile Safari/537.36",
    "a search engine": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "a program": "curl/8.9.1",
}
LANGUAGES = ("en", "de", "ar", "zh-CN", "", "fr")
ENCODINGS = ("br, gzip", "gzip", "identity", "gzip, deflate, br, zstd", "", "identity")

TELLING = {
    "accept-ch": "asks browsers to say more about themselves",
    "clear-site-data": "erases what the device keeps",
    "content-security-policy-report-only": "lets browsers report to somebody",
    "critical-ch": "asks browsers to say more about themselves",
    "integrity-policy-report-only": "lets browsers report to somebody",
    "link": "lets browsers load something else",
    "nel": "lets browsers report to somebody",
    "refresh": "leads somewhere else",
    "report-to": "lets browsers report to somebody",
    "reporting-endpoints": "lets browsers report to somebody",
    "service-worker-allowed": "lets a script stay on the device",
    "set-cookie": "marks the visitor",
    "speculation-rules": "lets browsers load something else",
}
"""Headers that no page of a survey has, and what they do."""

ASSET = re.compile(rb"/assets/([0-9a-f]{16})/([A-Za-z0-9_./-]+)")
IMPORT_MAP = re.compile(rb'<script type="importmap">(.*?)</script>', re.DOTALL)
STATED = re.compile(rb'"(/assets/[^"]+)":"(sha256-[^"]+)"')

IDENTIFYING = ("hash", "id", "invitation", "plan", "plan_hash", "send_interval", "until")
"""Parts of a survey's audit.json that every release states alike."""


@dataclass(frozen=True)
class Visitor:
    """Somebody who asks for the page: a browser, a language, and an address."""

    name: str
    headers: Mapping[str, str]
    source: str | None = None


@dataclass(frozen=True)
class Fetched:
    """What a visitor got: status, headers with lower-case names, and the body without its compression."""

    status: int
    headers: Mapping[str, str]
    body: bytes


Served = dict[str, dict[str, Fetched]]
"""What was got, by path and by visitor."""


def visitors(sources: Sequence[str | None]) -> list[Visitor]:
    """Return visitors with different browsers, languages and addresses."""
    listed = []
    for index, (name, agent) in enumerate(AGENTS.items()):
        for source in sources:
            asked = {"User-Agent": agent, "Accept-Language": LANGUAGES[index], "Accept-Encoding": ENCODINGS[index]}
            told = name if source is None else f"{name} at {source}"
            listed.append(Visitor(told, {key: value for key, value in asked.items() if value}, source))
    return listed


def check_source(address: str) -> str:
    """Return an address to look from, which must be one of this machine."""
    kind = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(kind) as bound:
        try:
            bound.bind((address, 0))
        except OSError as reason:
            raise SottovoceError("sources", f"must be an address of this machine ({reason})", address) from None
    return address


def fetch_all(link: Link, survey: Survey, everyone: Sequence[Visitor], trusted: ssl.SSLContext | None = None) -> Served:
    """Ask for the page, the survey, its audit and logo, and everything that the page names, once for each visitor."""
    served: Served = {}
    home = link.address.removeprefix(link.server)
    for visitor in everyone:
        connection = RecordingProxy(link.server, lambda _: None, (visitor.source,), trusted).connect()
        try:
            waiting = [home, f"{home}/survey.json", f"{home}/audit.json", *([f"{home}/logo"] if survey.logo else [])]
            for path in waiting:  # grows by what the page names
                connection.request("GET", path, headers=dict(visitor.headers))
                response = connection.getresponse()
                headers = {name.lower(): value for name, value in response.getheaders()}
                body = unpacked(headers.get("content-encoding"), response.read())
                served.setdefault(path, {})[visitor.name] = Fetched(response.status, headers, body)
                if path == home:
                    waiting += sorted({match.group().decode() for match in ASSET.finditer(body)})
        except (OSError, HTTPException) as reason:
            raise SottovoceError("link", f"must lead to a server that answers ({reason})", link.server) from None
        finally:
            connection.close()
    return served


def differences_between_visitors(served: Served) -> list[Finding]:
    """Return what visitors got differently."""
    findings = []
    for path, got in served.items():
        forms: dict[tuple[int, bytes, str | None], list[str]] = {}
        for visitor, fetched in got.items():
            forms.setdefault((fetched.status, fetched.body, fetched.headers.get("etag")), []).append(visitor)
        if len(forms) > 1:
            told = "; ".join(f"{', '.join(names)}: {_form(*form)}" for form, names in forms.items())
            findings.append(
                Finding("another page for some visitors", f"{path} differs: {told}", "the same bytes for all", "exact")
            )
    return findings


def _form(status: int, body: bytes, etag: str | None) -> str:
    return f"status {status}, sha256 {sha256(body).hexdigest()[:16]}" + (f", etag {etag}" if etag else "")


def release_of(page: bytes) -> str:
    """Return the release whose files a page loads, as their addresses say."""
    found = {match[1].decode() for match in ASSET.finditer(page)}
    return found.pop() if len(found) == 1 else "none"


def wrong_files(survey: Survey, home: str, served: Served) -> list[Finding]:
    """Return files that are not what the page states, or not those of the installed release under its own addresses."""
    findings = []
    page = _first(served[home]).body
    known = release_of(page) == release()
    stated = {path.decode(): digest.decode() for path, digest in STATED.findall(page)}
    for path, got in served.items():
        fetched = _first(got)
        if fetched.status != 200:
            findings.append(Finding("files", f"{path} has status {fetched.status}", "status 200", "exact"))
        elif path in stated and stated[path] != _integrity(fetched.body):
            findings.append(
                Finding(
                    "scripts", f"{path} has {_integrity(fetched.body)}", f"{stated[path]}, as the page states", "exact"
                )
            )
        elif known and path.startswith("/assets/") and not _as_released(path, fetched.body):
            findings.append(
                Finding("scripts", f"{path} is not that of the installed release", "the same bytes", "exact")
            )
    if known and page != PublishedSurvey(survey).page.content:
        findings.append(Finding("page", "the page is not that of the installed release", "the same bytes", "exact"))
    return findings


def _first(got: Mapping[str, Fetched]) -> Fetched:
    return next(iter(got.values()))


def _integrity(content: bytes) -> str:
    return f"sha256-{b64encode(sha256(content).digest()).decode()}"


def _as_released(path: str, content: bytes) -> bool:
    file = page_files().get(path.removeprefix(f"/assets/{release()}/"))
    return file is not None and file.content == content


def wrong_logo(survey: Survey, home: str, served: Served) -> list[Finding]:
    """Return a logo that is not the one that the frozen survey names."""
    if survey.logo is None:
        return []
    fetched = _first(served[f"{home}/logo"])
    got = (sha256(fetched.body).hexdigest(), fetched.headers.get("content-type"))
    wanted = (survey.logo.sha256, survey.logo.media_type)
    if fetched.status != 200 or got == wanted:
        return []  # one that is missing is a finding of its own
    told, rule = (f"sha256 {digest[:16]} of type {kind}" for digest, kind in (got, wanted))
    return [Finding("logo", f"{home}/logo has {told}", f"{rule}, as the frozen survey says", "exact")]


def wrong_statements(survey: Survey, home: str, served: Served) -> list[Finding]:
    """Return what the survey's audit.json says otherwise than the frozen survey, or than the files that are served.

    Of another release it must agree in what identifies survey, plan and files; its sentences may be others.
    """
    path = f"{home}/audit.json"
    fetched = _first(served[path])
    if fetched.status != 200:
        return []  # a finding of its own
    try:
        stated = json.loads(fetched.body)
        files = {file["path"]: file["sha256"] for file in stated["files"].values()}
    except (ValueError, LookupError, TypeError, AttributeError):
        return [Finding("statements", f"{path} is no audit of a survey", "what the survey promises, as JSON", "exact")]
    own = json.loads(json.dumps(PublishedSurvey(survey).audit))
    known = release_of(_first(served[home]).body) == release()
    names = sorted({*own, *stated}) if known else IDENTIFYING
    findings = [
        Finding("statements", f"{path} has another {name!r}", "what follows from the frozen survey", "exact")
        for name in names
        if not _alike(_without_simulations(name, stated.get(name)), _without_simulations(name, own.get(name)))
    ]
    for file, digest in files.items():
        if file in served and sha256(_first(served[file]).body).hexdigest() != digest:
            findings.append(Finding("statements", f"{path} has another hash of {file}", "that of the file", "exact"))
    return findings


def _without_simulations(name: str, value: Any) -> Any:
    """Return sentences about times without their numbers, which are simulated: libraries may round differently."""
    return [re.sub(r"\d[\d.,]*", "#", str(sentence)) for sentence in value] if name == "time" and value else value


def _alike(first: Any, second: Any) -> bool:
    """Return whether two documents are equal, but for the last digits of numbers with a fraction.

    >>> _alike({"a": [0.1 + 0.2, "b"]}, {"a": [0.3, "b"]}), _alike([1], [1, 2]), _alike({"a": 1}, {"b": 1})
    (True, False, False)
    """
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_alike(value, second[key]) for key, value in first.items())
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_alike, first, second))
    if isinstance(first, float) and isinstance(second, float):
        return isclose(first, second, rel_tol=1e-9)
    return bool(first == second)


def wrong_headers(home: str, served: Served) -> list[Finding]:
    """Return security headers of page and survey that are missing or changed, and headers that tell on visitors."""
    page = _first(served[home]).body
    found = IMPORT_MAP.search(page)
    own = _integrity(found[1]) if found else ""
    wanted = {name: value.replace(import_map().integrity, own) for name, value in HEADERS.items()}
    noticed: dict[tuple[str, str, str], list[str]] = {}
    for path in (home, f"{home}/survey.json"):
        for visitor, fetched in served[path].items():
            for name, value in wanted.items():
                got = fetched.headers.get(name)
                if got != value:
                    told = f"{name} is missing" if got is None else f"{name} is {got!r}"
                    noticed.setdefault((path, told, f"{name}: {value}"), []).append(visitor)
            for name in sorted(TELLING.keys() & fetched.headers.keys()):
                noticed.setdefault((path, f"{name} is there and {TELLING[name]}", f"no {name}"), []).append(visitor)
    return [
        Finding(
            "headers",
            f"{path}: {told}, by the server or by a proxy before it",
            expected,
            f"exact; for {', '.join(who)}",
        )
        for (path, told, expected), who in noticed.items()
    ]


def check_release(page: bytes, *, any_release: bool) -> str:
    """Return whose scripts a page loads, in words; refuse those of another release unless any will do."""
    served = release_of(page)
    if served == release():
        return f"those of the installed release, {release()}"
    if not any_release:
        rule = (
            f"must be those of the installed release, {release()}. Install the release that the server has, or judge "
            "what its page does with --any-release"
        )
        raise SottovoceError("scripts", rule, Words(f"those of {served}"))
    return (
        f"unknown ({served}, not the installed release {release()}): judged by what they do, and not by what they are"
    )
