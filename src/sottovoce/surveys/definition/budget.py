"""The budget of a survey, divided among its questions, and the scheme of each question.

Respondents who do not understand how they are protected do not answer truthfully, and plain randomized response is
the easiest to understand. Another scheme is chosen only if its estimates have at least 15 % less variance at equal
odds, which is the rule of `designs.recommend`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from inspect import signature
from math import inf, prod
from typing import Any, NoReturn

from sottovoce.designs.exact_scheme import ExactScheme
from sottovoce.designs.recommend.recommend import recommend
from sottovoce.errors import SottovoceError
from sottovoce.exact import odds_asked, root_of_odds
from sottovoce.plans.guarantee import odds_text
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, Variable
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.randomized_response import RandomizedResponse
from sottovoce.schemes.scheme import Scheme, all_schemes
from sottovoce.surveys.definition.facts import CEILING
from sottovoce.surveys.definition.picks import PickedGroup, pick_groups
from sottovoce.surveys.definition.yaml_reader import YamlValue, parse_whole_number

RESPONDENTS = 1000
"""Respondents for whom schemes are compared. The choice does not depend on it: all variances fall alike."""

MOST_ODDS = 10**305
"""Largest odds of a survey, above exp(700), the odds of the largest epsilon."""


def complete_scheme(given: YamlValue) -> Scheme | None:
    """Return a scheme whose odds follow from its parameters, or None if it needs a share of the budget."""
    name, parameters = _name_and_parameters(given)
    if not _takes_odds(name) or "odds" in parameters:
        return _make_scheme(given, name, parameters)
    try:
        return all_schemes()[name](**parameters)
    except (SottovoceError, TypeError):
        return None  # it may be complete once it has odds; otherwise making it then raises the error


def scheme_with_odds(given: YamlValue, odds: Fraction) -> Scheme:
    """Return a scheme with the odds of its question."""
    name, parameters = _name_and_parameters(given)
    if not _takes_odds(name) or "odds" in parameters:
        given.fail(f"must be given without odds or epsilon: those of {name} follow from its parameters")
    return _make_scheme(given, name, parameters | {"odds": odds})


def _takes_odds(name: str) -> bool:
    return "odds" in signature(all_schemes()[name]).parameters


def _make_scheme(given: YamlValue, name: str, parameters: Mapping[str, Any]) -> Scheme:
    try:
        return all_schemes()[name](**parameters)
    except SottovoceError as reason:
        given.fail(f"{name}: {reason.parameter} {reason.rule}", reason.value)
    except TypeError:
        known = ", ".join(signature(all_schemes()[name]).parameters)
        given.fail(f"must have the parameters of {name}, which are {known}")


def _name_and_parameters(given: YamlValue) -> tuple[str, dict[str, Any]]:
    """Read a scheme, which is a name or a mapping with `name` and parameters."""
    if isinstance(given.value, dict):
        fields = given.mapping()
        if "name" not in fields:
            given.fail("must have a name")
        parameters = {key: _number(part.plain) for key, part in fields.items() if key != "name"}
        return fields["name"].choice(sorted(all_schemes())), parameters
    return given.choice(sorted(all_schemes())), {}


def _number(plain: Any) -> Any:
    """Convert whole numbers; leave other numbers as text, which schemes read exactly."""
    if isinstance(plain, list):
        return [_number(part) for part in plain]
    number = parse_whole_number(plain)
    return plain if number is None else number


def choose_scheme(variable: Variable, odds: Fraction) -> Scheme:
    """Return plain randomized response, or a scheme with at least 15 % less variance.

    >>> from sottovoce.schemas.attribute import Attribute
    >>> [choose_scheme(Attribute("a", range(k)), Fraction(3)).name for k in (5, 8)]
    ['randomized_response', 'subset_selection']
    """
    if odds == 1:
        return RandomizedResponse(odds=odds)
    group = recommend(Schema([variable]), RESPONDENTS, odds=odds).plan.groups[0]
    return ExactScheme(group.scheme, group.mechanism)


@dataclass(frozen=True, eq=False)
class GroupRequest:
    """Questions that are disguised together, with the scheme and the odds that their author wrote, if any."""

    questions: tuple[str, ...]
    given: YamlValue
    scheme: YamlValue | None
    odds: Fraction | None

    @property
    def name(self) -> str:
        """Names of the questions, for error messages."""
        return " + ".join(self.questions)


def read_odds(fields: Mapping[str, YamlValue]) -> Fraction | None:
    """Return the odds in `odds` or `epsilon`, or None if both are missing."""
    budgets = {name: fields[name] for name in ("odds", "epsilon") if name in fields}
    if not budgets:
        return None
    if len(budgets) > 1:
        budgets["epsilon"].fail("must be left out if odds are given")
    ((name, given),) = budgets.items()
    if not isinstance(given.value, str):
        given.fail("must be a number, or odds such as 9:1")
    try:
        odds = odds_asked(**{name: given.value.strip()})
    except SottovoceError as reason:
        given.fail(reason.rule)
    if odds > MOST_ODDS:
        given.fail("must be at most 10^305")
    return odds


def plan_within_budget(
    schema: Schema,
    groups: Sequence[GroupRequest],
    budget: Fraction,
    given: YamlValue,
    *,
    split: bool = False,
    together: Sequence[tuple[str, ...]] = (),
) -> Plan:
    """Return a plan in which groups without odds or a complete scheme share the rest of the budget.

    The rest is shared equally with `split`. Otherwise questions of one answer for which the author wants nothing in
    particular, neither a scheme nor odds nor a group, join their shares: the device picks a few of them, unless that
    gains less than 15 % (`pick_groups`). Several choices and groups have one share each, and what the picks leave of
    theirs. Questions that are listed `together` are told together, so that they can be crossed.

    If a group's reports can rule out an answer, the plan promises nothing, which `check_acceptance` refuses unless the
    author accepts it; the budget is then that of the other groups.
    """
    schemes_given = {group: _given_scheme(schema, group) for group in groups}
    known = {group: _odds(schema, group, scheme) for group, scheme in schemes_given.items() if scheme is not None}
    spent = {group: odds for group, odds in known.items() if odds is not None}
    used = Fraction(1)
    for odds in spent.values():
        used *= odds
    waiting = [group for group in groups if group not in known]
    if used > budget or (waiting and used == budget):
        _refuse(spent, used, budget, waiting, given)
    each = root_of_odds(budget / used, len(waiting)) if waiting else Fraction(1)
    free = [] if split else [group for group in waiting if _may_be_picked(schema, group)]
    others = len(waiting) - len(free)
    picked = _picked_groups(schema, free, budget / used / each**others, together)
    if picked and others:  # what the ceiling of a question leaves of the picks' share is for the others
        left = budget / used / prod(group.odds for group in set(picked.values()))
        each = min(root_of_odds(left, others), max(each, Fraction(CEILING)))
    chosen: dict[str | tuple[str, ...], Scheme] = {}
    for group in groups:
        if group.questions[0] in picked:
            own = picked[group.questions[0]]
            alone = len(own.questions) == 1
            chosen[own.questions] = _scheme_with_odds(schema, group, own.odds) if alone else own.scheme
            continue
        scheme = schemes_given[group] or _scheme_with_odds(schema, group, each)
        _odds(schema, group, scheme)  # refuses a scheme that does not fit its questions, naming their line
        chosen[group.questions] = scheme
    try:
        return Plan.of(schema, chosen, odds=budget if len(spent) == len(known) else None)
    except SottovoceError as reason:  # the joint report of a group has the name of another question
        largest = max(groups, key=lambda group: len(group.questions))
        largest.given.fail(f"{reason.parameter} {reason.rule}", reason.value)


@dataclass(frozen=True, eq=False)
class BudgetRequest:
    """What the author of a definition asks of the budget: the arguments of `plan_within_budget`."""

    schema: Schema
    groups: tuple[GroupRequest, ...]
    budget: Fraction
    given: YamlValue
    split: bool
    together: tuple[tuple[str, ...], ...]

    def plan(self) -> Plan:
        """Return the plan."""
        return plan_within_budget(
            self.schema, self.groups, self.budget, self.given, split=self.split, together=self.together
        )


def _may_be_picked(schema: Schema, group: GroupRequest) -> bool:
    """Return whether a group is one question with one answer, and its author left the coins to us."""
    several = len(group.questions) > 1 or isinstance(schema[group.questions[0]], ItemSet)
    return group.scheme is None and not several


def _picked_groups(
    schema: Schema, free: Sequence[GroupRequest], odds: Fraction, together: Sequence[tuple[str, ...]]
) -> dict[str, PickedGroup]:
    """Return the group of every question if the device picks some of them; nothing if it does not."""
    sizes = {group.questions[0]: schema[group.questions[0]].sizes[0] for group in free}
    crossed = [names for names in (tuple(n for n in names if n in sizes) for names in together) if len(names) > 1]
    found = pick_groups(sizes, odds, crossed, alone_variance) if len(sizes) > 1 else None
    return {name: group for group in found or [] for name in group.questions}


@cache
def alone_variance(size: int, odds: Fraction) -> float:
    """Return the variance of a share, from one respondent, of a question with coins of its own (`choose_scheme`).

    All its answers are equally frequent. Infinite at 1 : 1.

    >>> alone_variance(2, Fraction(3))
    1.0
    """
    channel = choose_scheme(Attribute("a", range(size)), odds).mechanism((size,)).channel
    inside, outside = channel.inclusion or (channel.entry(0, 0), channel.entry(0, 1))
    reported = float(inside + (size - 1) * outside) / size
    return reported * (1 - reported) / float(inside - outside) ** 2 if inside > outside else inf


def _refuse(
    spent: Mapping[GroupRequest, Fraction],
    used: Fraction,
    budget: Fraction,
    waiting: Sequence[GroupRequest],
    given: YamlValue,
) -> NoReturn:
    """Raise an error that shows how the questions exceed the budget."""
    names = ", ".join(group.name for group in waiting)
    if not spent:
        given.fail(f"must be above 1 : 1, to leave something for {names}", odds_text(budget))
    factors = " x ".join(f"{group.name} {odds_text(odds)}" for group, odds in spent.items())
    rest = f", and leave something for {names}" if waiting else ""
    rule = f"must be enough for all questions together: {factors} = {odds_text(used)}{rest}"
    given.fail(rule, odds_text(budget))


def _given_scheme(schema: Schema, group: GroupRequest) -> Scheme | None:
    """Return the scheme of a group that does not depend on the rest of the budget, or None."""
    if group.odds is not None:
        return _scheme_with_odds(schema, group, group.odds)
    return None if group.scheme is None else complete_scheme(group.scheme)


def _scheme_with_odds(schema: Schema, group: GroupRequest, odds: Fraction) -> Scheme:
    if group.scheme is not None:
        return scheme_with_odds(group.scheme, odds)
    if len(group.questions) > 1:
        return RandomizedResponse(odds=odds)
    try:
        return choose_scheme(schema[group.questions[0]], odds)
    except SottovoceError as reason:  # odds that no coin of 2^64 sides has
        group.given.fail(f"{reason.parameter} {reason.rule}", reason.value)


def _odds(schema: Schema, group: GroupRequest, scheme: Scheme) -> Fraction | None:
    """Return a group's exact odds, None if unbounded; refuse a scheme that does not fit or tells nothing."""
    given = group.scheme or group.given
    try:
        odds = Plan.of(schema.project(group.questions), {group.questions: scheme}).guarantee.odds
    except SottovoceError as reason:
        given.fail(f"{scheme.name}: {reason.parameter} {reason.rule}", reason.value)
    if odds == 1:
        given.fail("must have odds above 1 : 1: at 1 : 1 nothing can be learned from reports", odds_text(odds))
    return odds
