"""A recommendation: the plan to use, what it costs against the alternatives, and what to expect of it."""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.design.recommend.alternative import Alternative
from sottovoce.design.recommend.reliance import Reliance
from sottovoce.design.recommend.spread import Axes
from sottovoce.design.recommend.words import sentences, table_lines
from sottovoce.estimate.intervals import critical_value
from sottovoce.estimate.rows import Backend, new_frame
from sottovoce.plan.document import plan_hash, plan_to_json
from sottovoce.plan.plan import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes as PlotAxes


LEVEL = 0.95
"""Confidence of intervals, unless another one is asked for with `replace(found, level=...)`."""


@dataclass(frozen=True)
class ExpectedWidth:
    """Of columns that are read together: a typical interval, and the widest; None where cells are too many to look."""

    columns: tuple[str, ...]
    typical: float
    widest: float | None

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return {"columns": list(self.columns), "typical": self.typical, "widest": self.widest}


@dataclass(frozen=True)
class Recommendation:
    """`alternatives` stand in order of how plain they are; `chosen` is the plainest that none beats by much.

    `str` says it in words; `plan` is ready for `write_plan`.
    """

    chosen: Alternative
    alternatives: tuple[Alternative, ...]
    purpose: str
    respondents: float
    columns: tuple[str, ...]
    wanted: tuple[Axes, ...]
    reliance: tuple[Reliance, ...] = ()
    notes: tuple[str, ...] = ()
    level: float = LEVEL

    @property
    def plan(self) -> Plan:
        """What to collect under."""
        return self.chosen.plan

    @property
    def plain(self) -> Alternative:
        """Plain randomized response, with coins of its own for each attribute."""
        return self.alternatives[0]

    @property
    def best(self) -> Alternative:
        """Least error of all that were looked at."""
        return min(self.alternatives, key=lambda found: found.error)

    @property
    def deviations(self) -> float:
        """Standard errors either way of an interval."""
        return critical_value(self.level)

    @cached_property
    def widths(self) -> tuple[ExpectedWidth, ...]:
        """Intervals to expect of everything that is wanted, with so many respondents."""
        return tuple(self._expected(axes) for axes in self.wanted)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What whoever uses the plan has to know."""
        return tuple(map(str, self.reliance))

    @property
    def words(self) -> str:
        """What to use, why, and what to expect."""
        return "\n".join(sentences(self))

    def rows(self) -> list[dict[str, Any]]:
        """Alternatives as plain Python, the plainest first."""
        context = (self.plain, self.chosen, self.respondents, self.deviations)
        return [{**found.to_json(*context), "recommended": found is self.chosen} for found in self.alternatives]

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Data frame of the alternatives, of the library named: "pandas", "polars" or "pyarrow"."""
        rows = [{**row, "schemes": ", ".join(dict.fromkeys(row["schemes"]))} for row in self.rows()]
        return new_frame({name: [row[name] for row in rows] for name in rows[0]}, backend)

    def plot(self, axes: "PlotAxes | None" = None, path: str | Path | None = None) -> "PlotAxes":
        """Bars of the intervals to expect of each alternative; needs matplotlib (extra `plot`)."""
        from sottovoce.design.recommend.picture import draw

        return draw(self, axes, path)

    def to_json(self) -> dict[str, Any]:
        """Everything, for programs; the plan as its file has it."""
        promise = self.plan.guarantee
        return {
            "recommended": self.chosen.name,
            "structure": self.chosen.structure,
            "estimator": self.chosen.estimator,
            "purpose": self.purpose,
            "respondents": self.respondents,
            "level": self.level,
            "odds": promise.exact,
            "epsilon": promise.epsilon,
            "words": self.words,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "alternatives": self.rows(),
            "widths": [width.to_json() for width in self.widths],
            "reliance": [found.to_json() for found in self.reliance],
            "prior": None if self.plan.prior is None else self.plan.prior.to_json(),
            "sha256": plan_hash(self.plan),
            "plan": plan_to_json(self.plan),
        }

    def __str__(self) -> str:
        """Words, the table of alternatives, warnings and notes."""
        warnings = [f"Warning: {warning}" for warning in self.warnings]
        return "\n".join([self.words, "", *table_lines(self), *warnings, *self.notes])

    def _expected(self, axes: Axes) -> ExpectedWidth:
        scatter = self.chosen.scatter
        scale = 2 * self.deviations / sqrt(self.respondents)
        largest = scatter.largest(axes)
        names = tuple(self.columns[axis] for axis in axes)
        widest = None if largest is None else scale * sqrt(largest)
        return ExpectedWidth(names, scale * sqrt(scatter.mean(axes)), widest)
