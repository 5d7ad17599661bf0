"""Results of an audit: the lower bound and verdict of every group."""

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from sottovoce.display import html_table

REACHED = 0.9
"""A lower bound of at least this share of the stated epsilon confirms it."""


@dataclass(frozen=True)
class GroupAudit:
    """Lower confidence bound of one group's epsilon, from reports its mechanism drew.

    `samples` reports were drawn of each of the truths `most` and `least`; the worst `report`, or one with the same
    odds between the two, was drawn `seen_most` and `seen_least` times. If there are few reports, `cells` pairs of
    report and truth were counted as well. `enough` says whether the samples can be expected to reach 90 % of the
    stated epsilon, or to show a report that is impossible under `least`. A product of several channels, such as the
    items of a set, is also audited in its `parts`; `share_of_parts` is the smallest share of its own epsilon that any
    part reached.
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
        """Whether no count contradicts the stated odds."""
        return not self.violations

    @property
    def share(self) -> float | None:
        """Lower bound divided by the stated epsilon; None if that is zero or infinite."""
        return self.lower_bound / self.epsilon if self.epsilon > 0 and isfinite(self.epsilon) else None

    @property
    def verdict(self) -> str:
        """Result in a few words."""
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
        """All fields, share and verdict as JSON; an infinite epsilon is null, numbers of joint cells are text."""
        joint = {key: str(getattr(self, key)) for key in ("report", "most", "least")}
        verdict = {"share": self.share, "verdict": self.verdict, "passed": self.passed}
        return asdict(self) | joint | verdict | {"epsilon": _finite(self.epsilon), "violations": list(self.violations)}

    def __str__(self) -> str:
        """Return one line, and one more for each violation."""
        line = f"{self.name}: epsilon {self.epsilon:.6g}, at least {self.lower_bound:.6g} seen: {self.verdict}"
        return "\n".join([line, *(f"  {violation}" for violation in self.violations)])

    def __repr__(self) -> str:
        """Return what `print` shows."""
        return str(self)


@dataclass(frozen=True)
class Audit:
    """Audit of all groups of a plan; with probability `level` all lower bounds hold at once."""

    level: float
    epsilon: float
    groups: tuple[GroupAudit, ...]

    @property
    def passed(self) -> bool:
        """Whether no group violated its odds."""
        return all(group.passed for group in self.groups)

    @property
    def lower_bound(self) -> float:
        """Lower bound for the whole record: the sum over the groups, whose coins are independent."""
        return sum(group.lower_bound for group in self.groups)

    def to_json(self) -> dict[str, Any]:
        """Result as JSON."""
        return {
            "passed": self.passed,
            "level": self.level,
            "epsilon": _finite(self.epsilon),
            "lower_bound": self.lower_bound,
            "groups": [group.to_json() for group in self.groups],
        }

    def __str__(self) -> str:
        """Return the verdict, then a line for each group."""
        verdict = "Passed" if self.passed else "VIOLATED"
        whole = f"whole record epsilon {self.epsilon:.6g}, at least {self.lower_bound:.6g} seen"
        return "\n".join([f"{verdict} at level {self.level:.4g}: {whole}.", *map(str, self.groups)])

    def __repr__(self) -> str:
        """Return what `print` shows."""
        return str(self)

    def _repr_html_(self) -> str:
        """Table of the groups, for notebooks."""
        title, *_ = str(self).splitlines()
        rows = [(g.name, _finite(g.epsilon), g.lower_bound, g.share, g.verdict) for g in self.groups]
        notes = [f"{group.name}: {violation}" for group in self.groups for violation in group.violations]
        return html_table(title, ("group", "stated epsilon", "lower bound", "share", "verdict"), rows, notes)


def _finite(epsilon: float) -> float | None:
    return epsilon if isfinite(epsilon) else None
