"""Recommendations: the plan to use, the alternatives, and the intervals to expect, in words, tables and pictures."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.designs.recommend.alternatives import Alternative, Reliance
from sottovoce.designs.recommend.expected_error import Columns
from sottovoce.display import html_table
from sottovoce.estimates.intervals import critical_value
from sottovoce.estimates.presentation import Backend, columns_of, new_frame
from sottovoce.estimates.sample_size import expected_widths
from sottovoce.plans.document import plan_hash, plan_to_json
from sottovoce.plans.plan import Plan
from sottovoce.plans.purpose_plan import PURPOSES
from sottovoce.tables.figures import ACCENT, INK, new_axes, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORTHWHILE_GAIN = 0.15
"""Gain in error variance above which a less simple design is recommended."""

MOST_LISTED = 8
"""Most widths and names that are listed one by one."""

DESCRIPTIONS = {
    "randomized response": "Ask every respondent {all}. {Each} answer is sent as it is or replaced at random, by a "
    "coin of its own (plain randomized response).",
    "whole sets": "Ask every respondent {all}. A set of items is sent as it is or replaced as a whole, by one coin "
    "(randomized response of whole sets).",
    "attribute sampling": "Ask each respondent {some}, chosen at random, and disguise the {answers} with the whole "
    "budget (attribute sampling).",
    "joint gamma-diagonal": "Ask every respondent {all}. The answers are sent as they are or replaced all together, by "
    "one coin (joint gamma-diagonal).",
    "subset selection": "Ask every respondent {all}. {Each} report is a set of categories that contains the true one "
    "more often than chance would have it (subset selection).",
    "joint spread matrix": "Ask every respondent {all}. The answers are replaced together by a combination drawn at "
    "random, in which several combinations are likelier than others (joint spread matrix).",
    "joint subset selection": "Ask every respondent {all}. The report is a set of combinations of answers that "
    "contains the true one more often than chance would have it (joint subset selection).",
    "optimized unary": "Ask every respondent {all}. {Each} report is a yes or no with a coin of its own for each "
    "category (optimized unary encoding).",
    "certified design": "Ask every respondent {all}. {Each} answer is replaced at random, with probabilities made for "
    "the prior that are proven to have the least error (certified design).",
}
"""What to ask, and how the answers are disguised, by the name of a design."""

_SMALL_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}

FAINT = "#b9cdd6"
"""Colour of the alternatives."""

WIDEST_DRAWN = 8
"""Multiple of the recommended width at which a bar is cut."""

LEVEL = 0.95
"""Default confidence level of intervals; `replace(recommendation, level=...)` changes it."""


def sentences(result: "Recommendation") -> list[str]:
    """Return what to use, its guarantee, what to expect, and why, a sentence each."""
    plan, chosen = result.plan, result.chosen
    least, most = plan.answers_per_report
    asked = _in_words(least) if least == most else f"{_in_words(least)} to {_in_words(most)}"
    words = {
        "all": _questions(plan.schema.names, "all"),
        "some": _questions(plan.schema.names, f"{asked} of the"),
        "answers": "answer" if most == 1 else "answers together",
        "Each": "The" if len(plan.schema.names) == 1 else "Each",
    }
    lines = [
        DESCRIPTIONS[chosen.name].format(**words),
        f"Promise for the whole record: {plan.guarantee}.",
        _expected(result),
        _choice(result),
    ]
    if chosen.estimator == "blue" and not any(group.mechanism.channel.samples for group in plan.groups):
        lines.append("Estimate with the best linear weights (method blue): some reports say more than others.")
    return lines


def _in_words(number: int) -> str:
    return _SMALL_NUMBERS.get(number, str(number))


def _questions(names: Sequence[str], which: str) -> str:
    """Return the questions in words, such as "all three questions ('a', 'b', 'c')"."""
    if len(names) == 1:
        return f"about {names[0]!r}"
    more = len(names) - MOST_LISTED
    listed = ", ".join(map(repr, names[:MOST_LISTED])) + (f" and {more} more" if more > 0 else "")
    number = "both" if which == "all" and len(names) == 2 else f"{which} {_in_words(len(names))}"
    return f"{number} questions ({listed})"


def table_lines(result: "Recommendation") -> list[str]:
    """Return the alternatives as lines of a table: error, interval width, respondents for the same precision."""
    header = ("design", "error variance", "typical width", "respondents for the same precision")
    rows = [header, *((_name(result, each), *_numbers(result, each)) for each in result.alternatives)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    return [
        "  ".join(cell.rjust(width) if column else cell.ljust(width) for column, (cell, width) in enumerate(line))
        for line in (list(zip(row, widths, strict=True)) for row in rows)
    ]


def _expected(result: "Recommendation") -> str:
    people = f"With {result.respondents:,.0f} respondents {100 * result.level:g} % intervals of"
    if len(result.widths) > MOST_LISTED:
        low, high = (pick(width.typical for width in result.widths) for pick in (min, max))
        return f"{people} {PURPOSES[result.purpose]} will be {low:.3g} to {high:.3g} wide.{_margin(result)}"
    sentences_of_widths = []
    for width in result.widths:
        name = " x ".join(map(repr, width.columns))
        uneven = width.widest is not None and width.widest > 1.01 * width.typical
        worst = f", {width.widest:.3g} at most" if uneven else ""
        sentences_of_widths.append(f"{name} will be about {width.typical:.3g} wide{worst}")
    return f"{people} {'; of '.join(sentences_of_widths)}.{_margin(result)}"


def _margin(result: "Recommendation") -> str:
    """Return the margin of error in words, if it is one for every true distribution."""
    return f" The margin of error is at most {result.margin:.3g}, whatever the truth is." if result.worst else ""


def _choice(result: "Recommendation") -> str:
    """Return why this design was chosen: the measure, the threshold, and the errors of the best and the plain one."""
    chosen, best, plain = result.chosen, result.best, result.plain
    measure = f"error variance, averaged over {PURPOSES[result.purpose]}"
    if chosen is best and chosen is plain:
        return f"No alternative has less {measure}."
    reasons = []
    if chosen is not plain:
        gain = chosen.gain(plain)
        much = f"{gain:.0%} over" if gain < 1 else f"a factor of {1 + gain:.3g} over"
        reasons.append(f"it gains {much} plain randomized response in {measure}")
    if chosen is not best:
        rule = f"less than the {WORTHWHILE_GAIN:.0%} from which it would be worth explaining"
        measured = "" if reasons else f" in {measure}"
        reasons.append(f"{best.name} would gain {best.gain(chosen):.1%} more{measured}, {rule}")
    return f"Why: {'; '.join(reasons)}."


def _name(result: "Recommendation", each: "Alternative") -> str:
    return f"{'* ' if each is result.chosen else '  '}{each.name}"


def _numbers(result: "Recommendation", each: "Alternative") -> tuple[str, str, str]:
    width = each.width(result.respondents, result.deviations)
    return (
        f"{each.mse(result.respondents):.4g}",
        f"{width:.3g}",
        f"{each.matching(result.chosen, result.respondents):,}",
    )


def draw(result: "Recommendation", axes: "Axes | None" = None, path: str | Path | None = None) -> "Axes":
    """Draw a bar for the typical interval of each alternative, the simplest on top; save it if there is a path."""
    shown = result.alternatives
    drawn = axes or new_axes(8, 1.7 + 0.45 * len(shown))
    widths = [each.width(result.respondents, result.deviations) for each in shown]
    longest = WIDEST_DRAWN * result.chosen.width(result.respondents, result.deviations)
    lengths = [min(width, longest) for width in widths]
    rows = range(len(shown))
    drawn.barh(rows, lengths, color=[ACCENT if each is result.chosen else FAINT for each in shown], height=0.62)
    for row, width, length in zip(rows, widths, lengths, strict=True):
        cut = " (bar is cut)" if width > length else ""
        drawn.annotate(
            f"{width:.3g}{cut}", (length, row), (4, 0), textcoords="offset points", va="center", color=INK, fontsize=9
        )
    names = [f"{each.name} (recommended)" if each is result.chosen else each.name for each in shown]
    drawn.set_yticks(list(rows), names)
    drawn.set_ylim(len(shown) - 0.5, -0.5)
    drawn.set_xlim(0, 1.22 * max(lengths))
    drawn.set_xlabel(f"width of a typical {100 * result.level:g} % interval\n({PURPOSES[result.purpose]})")
    drawn.set_title(f"{result.respondents:,.0f} respondents, {result.plan.guarantee}", loc="left", fontsize=11)
    if path is not None:
        save_figure(drawn, path)
    return drawn


@dataclass(frozen=True)
class ExpectedWidth:
    """Widths of the typical and the widest interval for some columns; the latter None if there are too many cells."""

    columns: tuple[str, ...]
    typical: float
    widest: float | None

    def to_json(self) -> dict[str, Any]:
        """All fields, as JSON."""
        return {"columns": list(self.columns), "typical": self.typical, "widest": self.widest}


@dataclass(frozen=True)
class Recommendation:
    """A recommended plan: `alternatives` from the simplest on, and the `chosen` one.

    `str` explains the choice; `plan` is ready for `write_plan`.
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
    worst: bool = False
    """Whether the widest intervals are those for any true distribution, not only for the expected one."""

    @property
    def plan(self) -> Plan:
        """Recommended plan."""
        return self.chosen.plan

    @property
    def plain(self) -> Alternative:
        """Plain randomized response of each attribute."""
        return self.alternatives[0]

    @property
    def best(self) -> Alternative:
        """Alternative with the least error."""
        return min(self.alternatives, key=lambda alternative: alternative.error)

    @property
    def deviations(self) -> float:
        """Half width of an interval in standard errors."""
        return critical_value(self.level)

    @property
    def margin(self) -> float:
        """Margin of error to expect: half the width of the widest interval of everything that the purpose wants."""
        return self.margin_of(self.chosen)

    def margin_of(self, alternative: Alternative) -> float:
        """Margin of error under an alternative; where cells are too many, half a typical width."""
        widths = (self._widest(alternative, axes) or self._typical(alternative, axes) for axes in self.wanted)
        return max(widths) / 2

    @cached_property
    def widths(self) -> tuple[ExpectedWidth, ...]:
        """Expected widths of intervals for everything that the purpose wants."""
        return tuple(self._expected(axes) for axes in self.wanted)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the reliance on the prior."""
        return tuple(map(str, self.reliance))

    @property
    def words(self) -> str:
        """Explanation in sentences."""
        return "\n".join(sentences(self))

    def rows(self) -> list[dict[str, Any]]:
        """Return the alternatives as dictionaries, the simplest first."""
        context = (self.plain, self.chosen, self.respondents, self.deviations)
        return [{**each.to_json(*context), "recommended": each is self.chosen} for each in self.alternatives]

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return the alternatives as a data frame, in "pandas", "polars" or "pyarrow"."""
        rows = [{**row, "schemes": ", ".join(dict.fromkeys(row["schemes"]))} for row in self.rows()]
        return new_frame(columns_of(rows), backend)

    def plot(self, axes: "Axes | None" = None, path: str | Path | None = None) -> "Axes":
        """Draw the expected interval width of each alternative; needs matplotlib (extra `plot`)."""
        return draw(self, axes, path)

    def to_json(self) -> dict[str, Any]:
        """All results as JSON, with the plan document."""
        promise = self.plan.guarantee
        return {
            "recommended": self.chosen.name,
            "structure": self.chosen.structure,
            "estimator": self.chosen.estimator,
            "purpose": self.purpose,
            "respondents": self.respondents,
            "level": self.level,
            "margin": self.margin,
            "worst_case": self.worst,
            "odds": promise.exact,
            "epsilon": promise.epsilon,
            "words": self.words,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "alternatives": self.rows(),
            "widths": [width.to_json() for width in self.widths],
            "reliance": [each.to_json() for each in self.reliance],
            "prior": None if self.plan.prior is None else self.plan.prior.to_json(),
            "sha256": plan_hash(self.plan),
            "plan": plan_to_json(self.plan),
        }

    def __str__(self) -> str:
        """Return the explanation, the table of alternatives, warnings and notes."""
        warnings = [f"Warning: {warning}" for warning in self.warnings]
        return "\n".join([self.words, "", *table_lines(self), *warnings, *self.notes])

    def __repr__(self) -> str:
        """Return the chosen design, purpose and guarantee in one line."""
        return f"<Recommendation: {self.chosen.name} for {self.purpose}, {self.plan.guarantee}>"

    def _repr_html_(self) -> str:
        header = ["design", "error variance", "typical width", "respondents for the same precision"]
        rows = [(each.name, *_numbers(self, each)) for each in self.alternatives]
        notes = [*sentences(self), *(f"Warning: {warning}" for warning in self.warnings), *self.notes]
        return html_table(f"Recommended: {self.chosen.name}", header, rows, notes)

    def _expected(self, axes: Columns) -> ExpectedWidth:
        names = tuple(self.columns[axis] for axis in axes)
        return ExpectedWidth(names, self._typical(self.chosen, axes), self._widest(self.chosen, axes))

    def _typical(self, alternative: Alternative, axes: Columns) -> float:
        """Return the width of an interval with the mean error of the cells, at their mean proportion."""
        errors = alternative.errors
        share, variance = 1 / prod(len(errors.distributions[axis]) for axis in axes), errors.mean_variance(axes)
        return float(expected_widths([share], [variance / self.respondents], self.deviations)[0])

    def _widest(self, alternative: Alternative, axes: Columns) -> float | None:
        """Return the width of the widest interval; None where there are too many cells."""
        cells = alternative.errors.cells(axes)
        if cells is None:
            return None
        if self.worst:
            largest = alternative.errors.worst_variance(axes)
            return min(2 * self.deviations * sqrt(largest / self.respondents), 1.0)
        return float(expected_widths(cells[0], cells[1] / self.respondents, self.deviations).max())
