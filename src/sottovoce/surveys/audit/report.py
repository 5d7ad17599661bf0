"""What an outside audit concludes: findings, a verdict, and a report that anyone can publish."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import exp, isfinite
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
STYLES = FOLDER.parent / "dashboard" / "files"
NOTHING, CONVICTED = "nothing found", "convicted"

LIMITS = (
    "Who colludes: nothing protects a respondent if everybody else tells the collector what they have sent.",
    "What the server does with what it is sent: addresses and times that it writes down are not seen from outside.",
    "Pages that are served later, or to addresses from which the audit did not look.",
    "A page that recognises the audit, for example by its clock, and is honest for as long as it is watched. Only "
    "scripts that are known exclude it.",
    "What a page that notices the log of its random numbers hides where nothing is logged: there, numbers that only "
    "look random cannot be told from chance, and shares must be far from the plan's to be noticed.",
    "Deviations that are rarer than this number of logged walks can show, if they are not at the edges of the coins.",
)
"""What no audit from outside can see."""


@dataclass(frozen=True)
class Finding:
    """Something that an honest server does not do: what was observed, what was expected, and how sure it is."""

    kind: str
    observed: str
    expected: str
    sureness: str

    def __str__(self) -> str:
        """Return the finding in a few lines."""
        return f"{self.kind}: {self.observed}\n  expected: {self.expected}\n  {self.sureness}"


@dataclass(frozen=True)
class Bound:
    """Empirical lower bound on the epsilon of some questions, and the epsilon that was promised."""

    name: str
    promised: float
    seen: float

    def __str__(self) -> str:
        """Return both as odds."""
        promised = f"{exp(self.promised):.6g} : 1 promised" if isfinite(self.promised) else "no bound promised"
        return f"{self.name}: {promised}, at least {exp(self.seen):.6g} : 1 seen"


@dataclass(frozen=True)
class OutsideAudit:
    """Verdict on a survey as it was served while the audit ran."""

    address: str
    hash: str
    title: str
    began: str
    seconds: float
    walks: int
    truths: tuple[str, ...]
    risk: float
    seed: int
    release: str
    scripts: str
    browser: str
    done: tuple[str, ...]
    bounds: tuple[Bound, ...] = ()
    findings: tuple[Finding, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    @property
    def verdict(self) -> str:
        """Verdict in a word or two."""
        return NOTHING if self.passed else CONVICTED

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON."""
        bounds = [{"name": b.name, "promised": b.promised, "at_least": b.seen} for b in self.bounds]
        listed = {name: list(getattr(self, name)) for name in ("truths", "done", "remarks")}
        findings = [asdict(finding) for finding in self.findings]
        verdict = {"verdict": self.verdict, "passed": self.passed, "limits": list(LIMITS)}
        return verdict | asdict(self) | listed | {"bounds": bounds, "findings": findings}

    def __str__(self) -> str:
        """Return the verdict, what it rests on, and what it cannot say."""
        rate = f", {self.walks / self.seconds:.1f} a second" if self.walks else ""
        lines = [
            f"{self.verdict.capitalize()}: {self.title} at {self.address}, sha256 {self.hash}",
            f"{self.walks} walks in {self.seconds:.0f} seconds{rate}; {self.browser}; Sottovoce {self.release}; "
            f"scripts: {self.scripts}.",
            *map(str, self.findings),
            *(f"remark: {remark}" for remark in self.remarks),
            *map(str, self.bounds),
            f"An honest survey is convicted with a probability of at most {self.risk:g}.",
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Return what `print` shows."""
        return str(self)

    def to_html(self) -> str:
        """Return a page of its own, without scripts, which loads nothing."""
        from sottovoce.surveys.page.files import new_templates

        styles = "".join((STYLES / name).read_text(encoding="utf-8") for name in ("colours.css", "report.css"))
        return new_templates(FOLDER).get_template("report.html").render(audit=self, limits=LIMITS, styles=styles)


def redacted(text: str, secrets: Sequence[str]) -> str:
    """Return a text without invitations and credentials, which no report may show.

    >>> redacted("/collect?who=abc", ["abc", ""])
    '/collect?who=[secret]'
    """
    for secret in filter(None, secrets):
        text = text.replace(secret, "[secret]")
    return text
