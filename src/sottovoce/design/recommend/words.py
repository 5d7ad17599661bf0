"""A recommendation in words."""

from typing import TYPE_CHECKING

from sottovoce.design.recommend.purpose import PURPOSES

if TYPE_CHECKING:
    from sottovoce.design.recommend.alternative import Alternative
    from sottovoce.design.recommend.recommendation import Recommendation

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
