"""What may be said about a question in numbers, from the exact integers of its coins, rounded against the survey."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any, Literal

from sottovoce.exact import ratio_text
from sottovoce.mechanisms.sampling import Sampling
from sottovoce.plans.plan import Group, Plan
from sottovoce.schemas.attribute import Label
from sottovoce.schemas.item_set import ItemSet
from sottovoce.surveys.definition.least_share import least_share

Form = Literal["yes_no", "answers", "set", "items", "symbols"]
Strength = Literal["deniable", "weak", "very weak"]

CEILING, CEILING_OF_ALL = 10, 100
"""Odds up to which answers are called deniable: of a question, and of all questions together."""

VERY_WEAK = 1000
"""Odds above which, of a question or of all together, the definition must accept that protection is weak."""

STRENGTHS: tuple[Strength, ...] = ("deniable", "weak", "very weak")


@dataclass(frozen=True)
class Sampled:
    """How many of a group's questions a report is about: at least and at most, and out of how many."""

    least: int
    picked: int
    of: int


@dataclass(frozen=True)
class Facts:
    """What reports of a question are, and how often its answers are sent by people for whom they are not true.

    `form` is "yes_no" or "answers" if reports are answers, "set" if a report is a set of answers to a question with
    one answer, "items" for several choices, and "symbols" if reports are no answers. `shares` has the least share of
    each label or symbol; `omitted`, for items, that of leaving a chosen item out. `odds` are those of all questions
    that share its coins; None if a report can rule out an answer.
    """

    form: Form
    odds: Fraction | None
    shares: Mapping[Label, Fraction]
    omitted: Mapping[Label, Fraction] | None
    grouped: bool
    sampled: Sampled | None
    unrelated: bool

    @property
    def strength(self) -> Strength:
        """How the odds may be called."""
        return strength_of(self.odds)

    def to_json(self) -> dict[str, Any]:
        """Return the form, and for every label its exact share and the numbers of a sentence."""
        return {
            "form": self.form,
            "strength": self.strength,
            "shares": _shares_to_json(self.shares),
            "omitted": None if self.omitted is None else _shares_to_json(self.omitted),
        }


def facts_of(plan: Plan, name: str) -> Facts:
    """Return the facts of a question.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import Attribute
    >>> from sottovoce.schemas.schema import Schema
    >>> facts = facts_of(new_plan(Schema([Attribute("tax", ["no", "yes"])]), odds=3), "tax")
    >>> facts.form, {label: str(share) for label, share in facts.shares.items()}
    ('yes_no', {'no': '1/4', 'yes': '1/4'})
    """
    group = plan.group_of(name)
    schema, mechanism = plan.schema.project(group.attributes), group.mechanism
    column, form = range(len(schema.sizes))[schema.columns_of(name)].start, _form(plan, group, name)
    omitted: dict[Label, Fraction] | None = None
    if form == "symbols":
        shares = _symbol_shares(plan, group)
    elif form == "items":
        labels = _labels(schema[name])
        shares, omitted = (
            {label: least_share(mechanism, column + index, code) for index, label in enumerate(labels)}
            for code in (1, 0)
        )
    else:
        shares = {label: least_share(mechanism, column, code) for code, label in enumerate(_labels(schema[name]))}
    return Facts(
        form=form,
        odds=group.guarantee.odds,
        shares=shares,
        omitted=omitted,
        grouped=len(group.attributes) > 1,
        sampled=_sampled(group),
        unrelated=group.scheme == "unrelated_question",
    )


def _form(plan: Plan, group: Group, name: str) -> Form:
    truths = plan.schema.project(group.attributes)
    reports = group.mechanism.report_schema(truths)
    if name not in reports.names:
        return "set" if isinstance(reports[reports.names[0]], ItemSet) else "symbols"
    truth, report = truths[name], reports[name]
    if isinstance(report, ItemSet):
        return "items" if isinstance(truth, ItemSet) else "set"
    known, sent = _labels(truth), _labels(report)
    extra = int(isinstance(group.mechanism, Sampling))
    if isinstance(truth, ItemSet) or sent[: len(sent) - extra] != known:
        return "symbols"
    return "yes_no" if len(known) == 2 else "answers"


def _labels(variable: Any) -> tuple[Label, ...]:
    return tuple(variable.items if isinstance(variable, ItemSet) else variable.as_report().categories)


def _symbol_shares(plan: Plan, group: Group) -> dict[Label, Fraction]:
    """Return the least share of each symbol over all truths."""
    (symbols,) = group.mechanism.report_schema(plan.schema.project(group.attributes))
    channel = group.mechanism.channel
    return {
        symbol: min(channel.entry(report, truth) for truth in range(channel.n_in))
        for report, symbol in enumerate(_labels(symbols))
    }


def _sampled(group: Group) -> Sampled | None:
    if not isinstance(group.mechanism, Sampling):
        return None
    asked = [len(axes) for axes, _ in group.mechanism.parts]
    return Sampled(min(asked), max(asked), len(group.attributes))


def per_hundred(share: Fraction) -> dict[str, Any]:
    """Return the numbers of a sentence about a share: `count` of 100 people, rounded down, or one in `one_in`.

    >>> per_hundred(Fraction(1, 4)), per_hundred(Fraction(2, 999)), per_hundred(Fraction(0))
    ({'count': 25}, {'one_in': 500}, {'never': True})
    """
    if share == 0:
        return {"never": True}
    return {"count": floor(100 * share)} if 100 * share >= 1 else {"one_in": ceil(1 / share)}


def _shares_to_json(shares: Mapping[Label, Fraction]) -> list[dict[str, Any]]:
    return [{"label": label, "share": ratio_text(share), **per_hundred(share)} for label, share in shares.items()]


def strength_of(odds: Fraction | None, *, all_together: bool = False) -> Strength:
    """Return how odds of a question, or of all questions together, may be called.

    >>> strength_of(Fraction(10)), strength_of(Fraction(11)), strength_of(Fraction(100), all_together=True)
    ('deniable', 'weak', 'deniable')
    """
    if odds is None or odds > VERY_WEAK:
        return "very weak"
    return "weak" if odds > (CEILING_OF_ALL if all_together else CEILING) else "deniable"


def plan_strength(plan: Plan) -> Strength:
    """Return how a whole plan may be called: its weakest question, or all together as it promises."""
    found = [strength_of(group.guarantee.odds) for group in plan.groups]
    return max([*found, strength_of(plan.promise.odds, all_together=True)], key=STRENGTHS.index)
