"""What an audit found: group by group, for people and for programs."""

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

REACHED = 0.9
"""Share of the stated epsilon from which on the samples confirm it."""


@dataclass(frozen=True)
class GroupAudit:
    """Lower confidence bound of one group's epsilon, from reports its mechanism really made.

    `samples` reports were drawn of each of the truths `most` and `least`; the worst report, or one with
    the same odds between the two, came `seen_most` and `seen_least` times. Where the reports are few,
    `cells` pairs of report and truth were counted besides. `enough` says whether the samples could be
    expected to reach 90 % of the stated epsilon, or to show a zero. A product of several channels, such
    as the items of a set, is counted in its `parts` as well; `share_of_parts` is the least share of its
    own epsilon that any of them reached.
    """

    name: str
    epsilon: float
    lower_bound: float
    samples: int
    enough: bool
    report: int
    most: int
    least: int
    seen_most: int
    seen_least: int
    cells: int = 0
    parts: int = 0
    share_of_parts: float | None = None
    violations: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing was seen that the stated odds rule out."""
        return not self.violations

    @property
    def share(self) -> float | None:
        """Bound as a share of the stated epsilon, where that is neither zero nor infinite."""
        return self.lower_bound / self.epsilon if self.epsilon > 0 and isfinite(self.epsilon) else None

    @property
    def verdict(self) -> str:
        """Finding in a few words."""
        if not self.passed:
            return "VIOLATED"
        if not isfinite(self.epsilon):
            return "zero shown" if self.seen_most else "zero not seen: too rare"
        if self.share is None or self.share >= REACHED:
            return "confirmed"
        if self.share_of_parts is not None and self.share_of_parts >= REACHED:
            return f"confirmed in all {self.parts} parts"
        return "not contradicted" if self.enough else "not contradicted: too rare to confirm"

    def to_json(self) -> dict[str, Any]:
        """Every field, share and verdict; an infinite epsilon is null, numbers of joint cells are text."""
        joint = {key: str(getattr(self, key)) for key in ("report", "most", "least")}
        found = {"share": self.share, "verdict": self.verdict, "passed": self.passed}
        return asdict(self) | joint | found | {"epsilon": _finite(self.epsilon), "violations": list(self.violations)}

    def __str__(self) -> str:
        """One line, and one more for each violation."""
        line = f"{self.name}: epsilon {self.epsilon:.6g}, at least {self.lower_bound:.6g} seen: {self.verdict}"
        return "\n".join([line, *(f"  {violation}" for violation in self.violations)])


@dataclass(frozen=True)
class Audit:
    """All groups of a plan; with probability `confidence` every one of its bounds holds at once."""

    confidence: float
    epsilon: float
    groups: tuple[GroupAudit, ...]

    @property
    def passed(self) -> bool:
        """Whether no group was seen to exceed its odds."""
        return all(group.passed for group in self.groups)

    @property
    def lower_bound(self) -> float:
        """Bound of the whole record: the coins of groups are independent, so theirs add up."""
        return sum(group.lower_bound for group in self.groups)

    def to_json(self) -> dict[str, Any]:
        """Finding for programs."""
        return {
            "passed": self.passed,
            "confidence": self.confidence,
            "epsilon": _finite(self.epsilon),
            "lower_bound": self.lower_bound,
            "groups": [group.to_json() for group in self.groups],
        }

    def __str__(self) -> str:
        """Verdict first, then group by group."""
        verdict = "Passed" if self.passed else "VIOLATED"
        whole = f"whole record epsilon {self.epsilon:.6g}, at least {self.lower_bound:.6g} seen"
        return "\n".join([f"{verdict} at {self.confidence:.4g} confidence: {whole}.", *map(str, self.groups)])


def _finite(epsilon: float) -> float | None:
    return epsilon if isfinite(epsilon) else None
