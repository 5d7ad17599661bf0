"""What is computed about a draft while it is edited: mistakes, odds, margins of error, advice and the trade-off.

These functions run in the dashboard's process for estimates, and remember their last results there.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import date
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import log
from statistics import median
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.plans.plan import Group
from sottovoce.surveys.dashboard.drafts import Draft, stored_logo
from sottovoce.surveys.definition.advice import WANTED, budget_advice
from sottovoce.surveys.definition.ceilings import ceiling_warnings, protection_in_words
from sottovoce.surveys.definition.facts import CEILING, CEILING_OF_ALL, VERY_WEAK, facts_of, plan_strength, strength_of
from sottovoce.surveys.definition.mistakes import Mistake, examine
from sottovoce.surveys.definition.preview import definition_warnings, margins_of, preview, respondents_needed
from sottovoce.surveys.definition.survey import Survey

CURVE = (2, 3, 5, 7, 10, 20, 50, 100, 200, 500, 1000)
"""Odds at which the trade-off is computed."""

REMEMBERED = 32
"""Results that are remembered: of one editor, the last few changes."""


@dataclass(frozen=True)
class QuestionNumbers:
    """Numbers of one question, for the planned number of respondents."""

    id: str
    text: str
    odds: str
    strength: str
    share: float | None
    margin: float
    difference: float | None


@dataclass(frozen=True)
class BudgetPart:
    """Questions with common coins: their odds, and how many of them a report speaks of."""

    questions: tuple[str, ...]
    odds: str
    picked: str


@dataclass(frozen=True)
class Checked:
    """A draft that was read: its mistakes, and if there is a survey, its promise and its numbers."""

    mistakes: tuple[Mistake, ...]
    survey: "SurveyNumbers | None" = None


@dataclass(frozen=True)
class SurveyNumbers:
    """What a draft promises, and what is learned from the planned number of respondents.

    `document` is that of the preview: the same survey as an open rehearsal whose reports are sent at once.
    """

    document: bytes
    hash: str
    definition_hash: str
    odds: str
    strength: str
    promise: str
    warnings: tuple[str, ...]
    questions: tuple[QuestionNumbers, ...]
    public: tuple[str, ...]
    parts: tuple[BudgetPart, ...]
    sampling: str
    invitation: str
    until: date

    @property
    def worst(self) -> QuestionNumbers:
        """Question with the largest margin of error."""
        return max(self.questions, key=lambda question: question.margin)


def checked(submit: Callable[..., "Future[Checked]"], draft: Draft, today: date) -> Checked:
    """Return the mistakes and numbers of a draft, which another process computes unless they were asked for before."""
    key = (draft.text, draft.logo, draft.planned, today)
    found = _recent.get(key) or submit(check_draft, *key).result()
    _recent[key] = found
    for oldest in list(_recent)[:-REMEMBERED]:
        _recent.pop(oldest, None)  # another thread may have been faster
    return found


_recent: dict[tuple[str, bytes | None, int, date], Checked] = {}
"""What was checked last, in this process: the preview must not wait for the other one."""


def check_draft(text: str, logo: bytes | None, planned: int, today: date) -> Checked:
    """Read a draft; return its mistakes, or its promise and numbers."""
    survey, mistakes = _examined(text, logo, today)
    if survey is None:
        return Checked(mistakes)
    trial = trial_of(survey)
    whole = survey.plan.guarantee
    return Checked(
        mistakes,
        SurveyNumbers(
            document=trial.document,
            hash=trial.hash,
            definition_hash=survey.definition_hash,
            odds=_odds(whole.odds),
            strength=survey.strength,
            promise=protection_in_words(whole, all_together=True),
            warnings=(*ceiling_warnings(survey.plan), *definition_warnings(survey, planned)),
            questions=tuple(_question(survey, planned)),
            public=tuple(question.full_text(survey.languages[0]) for question in survey.public),
            parts=tuple(_part(survey, group) for group in survey.plan.groups),
            sampling=survey.plan.sampling_text,
            invitation=survey.invitation,
            until=survey.until,
        ),
    )


@lru_cache(REMEMBERED)
def _examined(text: str, logo: bytes | None, today: date) -> tuple[Survey | None, tuple[Mistake, ...]]:
    survey, mistakes = examine(text, stored_logo(logo), today)
    return survey, tuple(mistakes)


def trial_of(survey: Survey) -> Survey:
    """Return a survey as its preview has it: nothing counts, everybody may answer, and nothing waits."""
    return replace(survey, invitation="open", send_interval=0, rehearsal=True)


def _question(survey: Survey, planned: int) -> list[QuestionNumbers]:
    return [
        QuestionNumbers(
            id=each.question.id,
            text=each.question.full_text(survey.languages[0]),
            odds=_odds(each.guarantee.odds),
            strength=strength_of(each.guarantee.odds),
            share=each.share,
            margin=each.margin,
            difference=each.difference if each.difference < 1 else None,
        )
        for each in preview(survey, planned)
    ]


def _part(survey: Survey, group: Group) -> BudgetPart:
    sampled = facts_of(survey.plan, group.attributes[0]).sampled
    picked = ""
    if sampled is not None:
        number = str(sampled.picked) if sampled.least == sampled.picked else f"{sampled.least} to {sampled.picked}"
        picked = f"{number} of {sampled.of}, picked at random"
    return BudgetPart(tuple(group.attributes), _odds(group.guarantee.odds), picked)


def _odds(odds: Fraction | None) -> str:
    """Return odds with three digits, rounded up: a promise must not be made smaller than it is."""
    if odds is None:
        return "no limit"
    shown = Context(prec=3, rounding=ROUND_CEILING).divide(Decimal(odds.numerator), Decimal(odds.denominator))
    return f"{shown.normalize():,f} : 1"


@dataclass(frozen=True)
class Point:
    """Margins of error at some odds: of the worst question, and the median of all."""

    odds: float
    worst: float
    median: float


@dataclass(frozen=True)
class Outlook:
    """What takes longer to compute: respondents for a margin, advice, and margins of error at other odds."""

    needed: tuple[tuple[str, int], ...]
    wanted: float
    problem: str
    advice: tuple[str, ...]
    points: tuple[Point, ...]
    chosen: Point | None
    planned: int


@lru_cache(REMEMBERED)
def outlook(text: str, logo: bytes | None, planned: int, today: date) -> Outlook | None:
    """Return the outlook of a draft; None if it has no survey."""
    survey, _ = _examined(text, logo, today)
    if survey is None:
        return None
    needed = respondents_needed(survey, WANTED)
    advice = budget_advice(survey, planned)
    budget = survey.request.budget if survey.request else None
    return Outlook(
        needed=tuple(needed.items()),
        wanted=WANTED,
        problem=advice[0].problem if advice else "",
        advice=tuple(map(str, advice)),
        points=tuple(point for odds in CURVE if (point := _point(survey, Fraction(odds), planned)) is not None),
        chosen=None if budget is None else _point(survey, budget, planned),
        planned=planned,
    )


def _point(survey: Survey, odds: Fraction, planned: int) -> Point | None:
    """Return the margins of the same questions under another budget; None if it is too small for them."""
    if survey.request is None:
        return None
    try:
        request = replace(survey.request, budget=odds)
        plan = request.plan().with_public(survey.plan.public)
        other = replace(survey, plan=plan, request=request, weak=plan_strength(plan) == "very weak")
        found = list(margins_of(other, planned).values())
    except SottovoceError:
        return None
    return Point(float(odds), max(found), median(found))


WIDTH, HEIGHT = 440, 270
LEFT, RIGHT, TOP, BOTTOM = 36, 20, 20, 46
MARGIN_STEPS = (0.02, 0.05, 0.1, 0.2, 0.25)


@dataclass(frozen=True)
class Chart:
    """Coordinates of the picture of the trade-off: odds to the right, on a logarithmic scale, margins upwards."""

    worst: str
    median: str
    odds: tuple[tuple[float, str], ...]
    margins: tuple[tuple[float, str], ...]
    chosen: tuple[float, float, float] | None
    ceilings: tuple[tuple[float, str], ...]


def chart_of(points: Sequence[Point], chosen: Point | None) -> Chart:
    """Return the picture of some points, with the chosen one if it is within the scale."""
    highest = max((point.worst for point in points), default=0.1)
    step = next((step for step in MARGIN_STEPS if highest / step <= 5), MARGIN_STEPS[-1])
    count = int(highest / step - 1e-9) + 1

    def down(margin: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * margin / (step * count), 1)

    def line(name: str) -> str:
        return " ".join(f"{_across(point.odds)},{down(getattr(point, name))}" for point in points)

    inside = chosen is not None and CURVE[0] <= chosen.odds <= CURVE[-1]
    return Chart(
        worst=line("worst"),
        median=line("median"),
        odds=tuple((_across(odds), f"{odds:,}") for odds in (2, 5, 10, 20, 50, 100, 200, 500, 1000)),
        margins=tuple((down(step * index), f"{100 * step * index:.0f}") for index in range(count + 1)),
        chosen=(_across(chosen.odds), down(chosen.worst), down(chosen.median)) if chosen and inside else None,
        ceilings=((_across(CEILING_OF_ALL), "weak"), (_across(VERY_WEAK), "very weak")),
    )


def _across(odds: float) -> float:
    share = log(odds / CURVE[0]) / log(CURVE[-1] / CURVE[0])
    return round(LEFT + (WIDTH - LEFT - RIGHT) * share, 1)


def ceilings() -> dict[str, Any]:
    """Return the ceilings of odds, for the words beside the form's slider."""
    return {"question": CEILING, "survey": CEILING_OF_ALL, "accepted": VERY_WEAK}
