"""A recommendation: the plan to use, what the alternatives cost, and what to expect, in words and pictures."""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.designs.recommend.alternatives import Alternative, Reliance
from sottovoce.designs.recommend.expected_error import Columns
from sottovoce.designs.recommend.purpose import PURPOSES
from sottovoce.estimates.intervals import critical_value
from sottovoce.estimates.presentation import Backend, new_frame
from sottovoce.plans.document import plan_hash, plan_to_json
from sottovoce.plans.plan import Plan
from sottovoce.tables.figures import ACCENT, INK, new_axes, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sottovoce.designs.recommend.alternatives import Alternative

WORTH = 0.15
"""Gain in error variance from which another design is worth its explanation."""

MOST_LISTED = 8
"""Widths that are told one by one."""

EXPLAINED = {
    "randomized response": "plain randomized response: each answer is told truly or replaced, by a coin of its own",
    "whole sets": "randomized response with one coin for each whole set of items",
    "attribute sampling": "attribute sampling: every respondent is asked {count} of the questions, drawn at random, "
    "and the whole budget goes into the answer",
    "joint gamma-diagonal": "one coin for the whole record: it is reported as it is, or replaced as a whole",
    "subset selection": "subset selection: each report is a set of categories that holds the truth more often than "
    "chance would have it",
    "joint subset selection": "subset selection of whole records: a report is a set of them",
    "optimized unary": "optimized unary encoding: a yes or no with a coin of its own for each category",
    "certified design": "a certified design: coins made for the prior, proven to have the least error",
}
FAINT = "#b9cdd6"
"""Colour of what was passed over."""

WIDEST_DRAWN = 8
"""Times the recommended width, beyond which a bar is cut."""
LEVEL = 0.95
"""Confidence of intervals, unless another one is asked for with `replace(found, level=...)`."""


def sentences(found: "Recommendation") -> list[str]:
    """What to use, what it promises, what to expect, and what was passed over."""
    plan, chosen = found.plan, found.chosen
    names = ", ".join(map(repr, plan.schema.names[:MOST_LISTED]))
    more = len(plan.schema.names) - MOST_LISTED
    asked = f"{names} and {more} more" if more > 0 else names
    lines = [
        f"For {asked} use {EXPLAINED[chosen.name].format(count='one' if found.purpose == 'each' else 'two')}.",
        f"Promise for the whole record: {plan.guarantee}.",
        _expected(found),
        _choice(found),
    ]
    if chosen.estimator == "blue":
        lines.append('Estimate with method="blue"; plain inversion would waste a part of the reports.')
    return lines


def table_lines(found: "Recommendation") -> list[str]:
    """Alternatives in columns: error, intervals, and respondents for the same precision."""
    header = ("design", "error variance", "typical width", "respondents for the same precision")
    rows = [header, *((_name(found, each), *_numbers(found, each)) for each in found.alternatives)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    return [
        "  ".join(cell.ljust(width) if place == 0 else cell.rjust(width) for place, (cell, width) in enumerate(line))
        for line in (list(zip(row, widths, strict=True)) for row in rows)
    ]


def _expected(found: "Recommendation") -> str:
    people = f"With {found.respondents:,.0f} respondents {100 * found.level:g} % intervals of"
    if len(found.widths) > MOST_LISTED:
        low, high = (pick(width.typical for width in found.widths) for pick in (min, max))
        return f"{people} {PURPOSES[found.purpose]} will be {low:.3g} to {high:.3g} wide."
    told = []
    for width in found.widths:
        name = " x ".join(map(repr, width.columns))
        uneven = width.widest is not None and width.widest > 1.01 * width.typical
        worst = f", {width.widest:.3g} at most" if uneven else ""
        told.append(f"{name} will be about {width.typical:.3g} wide{worst}")
    return f"{people} {'; of '.join(told)}."


def _choice(found: "Recommendation") -> str:
    """Why this one: the measure, the threshold, and what the best and the plain one would do."""
    chosen, best, plain = found.chosen, found.best, found.plain
    measure = f"error variance, averaged over {PURPOSES[found.purpose]}"
    if chosen is best and chosen is plain:
        return f"Nothing that was looked at has less {measure}."
    reasons = []
    if chosen is not plain:
        gain = chosen.gain(plain)
        much = f"{gain:.0%} over" if gain < 1 else f"a factor of {1 + gain:.3g} over"
        reasons.append(f"it gains {much} plain randomized response in {measure}")
    if chosen is not best:
        rule = f"less than the {WORTH:.0%} from which it would be worth explaining"
        measured = "" if reasons else f" in {measure}"
        reasons.append(f"{best.name} would gain {best.gain(chosen):.1%} more{measured}, {rule}")
    return f"Why: {'; '.join(reasons)}."


def _name(found: "Recommendation", each: "Alternative") -> str:
    return f"{'* ' if each is found.chosen else '  '}{each.name}"


def _numbers(found: "Recommendation", each: "Alternative") -> tuple[str, str, str]:
    width = each.width(found.respondents, found.deviations)
    return f"{each.mse(found.respondents):.4g}", f"{width:.3g}", f"{each.matching(found.chosen, found.respondents):,}"


def draw(found: "Recommendation", axes: "Axes | None" = None, path: str | Path | None = None) -> "Axes":
    """Draw a bar for the typical interval of each design, the plainest on top; write a file where asked to."""
    shown = found.alternatives
    drawn = axes or new_axes(8, 1.7 + 0.45 * len(shown))
    widths = [each.width(found.respondents, found.deviations) for each in shown]
    longest = WIDEST_DRAWN * found.chosen.width(found.respondents, found.deviations)
    lengths = [min(width, longest) for width in widths]
    places = range(len(shown))
    drawn.barh(places, lengths, color=[ACCENT if each is found.chosen else FAINT for each in shown], height=0.62)
    for place, width, length in zip(places, widths, lengths, strict=True):
        cut = " (bar is cut)" if width > length else ""
        drawn.annotate(
            f"{width:.3g}{cut}", (length, place), (4, 0), textcoords="offset points", va="center", color=INK, fontsize=9
        )
    names = [f"{each.name} (recommended)" if each is found.chosen else each.name for each in shown]
    drawn.set_yticks(list(places), names)
    drawn.set_ylim(len(shown) - 0.5, -0.5)
    drawn.set_xlim(0, 1.22 * max(lengths))
    drawn.set_xlabel(f"width of a typical {100 * found.level:g} % interval\n({PURPOSES[found.purpose]})")
    drawn.set_title(f"{found.respondents:,.0f} respondents, {found.plan.guarantee}", loc="left", fontsize=11)
    if path is not None:
        save_figure(drawn, path)
    return drawn


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
    wanted: tuple[Columns, ...]
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

    def plot(self, axes: "Axes | None" = None, path: str | Path | None = None) -> "Axes":
        """Bars of the intervals to expect of each alternative; needs matplotlib (extra `plot`)."""
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

    def _expected(self, axes: Columns) -> ExpectedWidth:
        scatter = self.chosen.scatter
        scale = 2 * self.deviations / sqrt(self.respondents)
        largest = scatter.largest(axes)
        names = tuple(self.columns[axis] for axis in axes)
        widest = None if largest is None else scale * sqrt(largest)
        return ExpectedWidth(names, scale * sqrt(scatter.mean(axes)), widest)
