"""Ceilings of a survey's odds: what authors are warned about, what they must accept, and how it is called."""

from collections.abc import Sequence
from fractions import Fraction

from sottovoce.plans.guarantee import Guarantee, odds_text
from sottovoce.plans.plan import Plan
from sottovoce.surveys.definition.budget import GroupRequest
from sottovoce.surveys.definition.facts import CEILING, CEILING_OF_ALL, VERY_WEAK, plan_strength, strength_of
from sottovoce.surveys.definition.yaml_reader import YamlValue

FIX = "or write weak: accepted beside odds, and respondents are told that they are hardly protected"


def read_weak(given: YamlValue | None) -> bool:
    """Return whether the author accepts that protection is very weak, which takes the words `weak: accepted`."""
    return given is not None and given.choice(("accepted",)) == "accepted"


def check_acceptance(plan: Plan, groups: Sequence[GroupRequest], budget: YamlValue, weak: YamlValue | None) -> None:
    """Refuse a very weak plan that its author has not accepted, and an acceptance that nothing needs."""
    accepted, needed = read_weak(weak), plan_strength(plan) == "very weak"
    if weak is not None and accepted and not needed:
        whole = odds_text(plan.promise.odds or Fraction(1))
        rule = f"must be left out: nothing here is above {VERY_WEAK} : 1, and an acceptance without need misleads"
        weak.fail(rule, f"accepted, at {whole} for all questions together")
    if accepted or not needed:
        return
    for group in groups:
        odds = plan.guarantee_of(group.questions[0]).odds
        given = group.scheme or group.given
        if odds is None:
            given.fail(f"must not let a report rule out an answer to {group.name}: use another scheme, {FIX}")
        if odds > VERY_WEAK and (group.scheme is not None or group.odds is not None):
            given.fail(
                f"must have odds of at most {VERY_WEAK} : 1 for {group.name}: lower them, {FIX}", odds_text(odds)
            )
    budget.fail(
        f"must be at most {VERY_WEAK} : 1 for all questions together: lower it, {FIX}",
        odds_text(plan.promise.odds or Fraction(1)),
    )


def ceiling_warnings(plan: Plan) -> list[str]:
    """Return a sentence for every question above the ceiling of a question, and one for all above that of a survey.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> ceiling_warnings(new_plan(Schema([boolean("tax")]), odds=12))
    ['tax: odds of 12 : 1 are above 10 : 1, the ceiling of a question; the page says that its protection is weak.']
    """
    warnings = []
    for group in plan.groups:
        odds = group.guarantee.odds
        if strength_of(odds) != "deniable":
            found = "a report can rule out an answer, which is" if odds is None else f"odds of {odds_text(odds)} are"
            warnings.append(
                f"{' + '.join(group.attributes)}: {found} above {CEILING} : 1, the ceiling of a question; "
                f"the page says that its protection is {strength_of(odds)}."
            )
    whole = plan.promise.odds
    if strength_of(whole, all_together=True) != "deniable":
        found = "no odds are promised, which is" if whole is None else f"odds of {odds_text(whole)} are"
        warnings.append(
            f"All questions together: {found} above {CEILING_OF_ALL} : 1, the ceiling of a survey; "
            f"the page says that protection is {strength_of(whole, all_together=True)}."
        )
    return warnings


def protection_in_words(guarantee: Guarantee, *, all_together: bool = False) -> str:
    """State what a question, or all together, promises; above the ceilings, that it is little.

    >>> print(protection_in_words(Guarantee(Fraction(5000))))
    Protection is very weak: your report can shift anyone's odds between two ways you may have answered
    by a factor of up to 5000. Answer as if your answers were sent as they are.
    """
    strength = strength_of(guarantee.odds, all_together=all_together)
    if strength == "deniable":
        return guarantee.in_words()
    if strength == "weak":
        advised = CEILING_OF_ALL if all_together else CEILING
        return f"{guarantee.in_words()}\nProtection is weak: a factor of at most {advised} is advised here."
    if guarantee.odds is None:
        found = "your report can rule out an answer with certainty"
    else:
        factor = odds_text(guarantee.odds).removesuffix(" : 1")
        found = (
            f"your report can shift anyone's odds between two ways you may have answered\nby a factor of up to {factor}"
        )
    weak = f"Protection is very weak: {found}. Answer as if your answers were sent as they are."
    return guarantee.public_in_words() + weak
