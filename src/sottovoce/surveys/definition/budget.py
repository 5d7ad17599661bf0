"""The budget of a whole survey, shared among its questions, and the scheme of each.

People understand plain randomized response, and it fails when they do not understand it. So another design is taken
only where it estimates with at least 15 % less variance, at equal odds: the rule of `designs.recommend`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from inspect import signature
from typing import Any, NoReturn

from sottovoce.designs.exact_scheme import Settled
from sottovoce.designs.recommend.recommend import recommend
from sottovoce.errors import SottovoceError
from sottovoce.exact import root_of_odds
from sottovoce.plans.guarantee import odds_text
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Variable
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.randomized_response import RandomizedResponse
from sottovoce.schemes.scheme import Scheme, odds_asked, schemes
from sottovoce.surveys.definition.yaml_reader import Located, whole_number

RESPONDENTS = 1000
"""The choice does not depend on their number: every error falls alike."""
MOST_ODDS = 10**305
"""Above exp(700), the most that epsilon may allow."""


def finished_scheme(given: Located) -> Scheme | None:
    """Scheme that needs no share of the budget any more; None if it waits for its odds."""
    name, parameters = _named(given)
    if not _takes_odds(name) or "odds" in parameters:
        return _made(given, name, parameters)
    try:
        return schemes()[name](**parameters)
    except (SottovoceError, TypeError):
        return None  # with its share of the odds it may be complete; if not, that error will say why


def scheme_with_odds(given: Located, odds: Fraction) -> Scheme:
    """Scheme with the odds that its question has."""
    name, parameters = _named(given)
    if not _takes_odds(name) or "odds" in parameters:
        given.fail(f"must not stand beside odds or epsilon: those of {name} follow from its parameters")
    return _made(given, name, parameters | {"odds": odds})


def _takes_odds(name: str) -> bool:
    return "odds" in signature(schemes()[name]).parameters


def _made(given: Located, name: str, parameters: Mapping[str, Any]) -> Scheme:
    try:
        return schemes()[name](**parameters)
    except SottovoceError as reason:
        given.fail(f"{name}: {reason.parameter} {reason.rule}", reason.value)
    except TypeError:
        known = ", ".join(signature(schemes()[name]).parameters)
        given.fail(f"must have the parameters of {name}, which are {known}")


def _named(given: Located) -> tuple[str, dict[str, Any]]:
    """Name and parameters of a scheme: a word, or a mapping with `name`."""
    if isinstance(given.value, dict):
        fields = given.mapping()
        if "name" not in fields:
            given.fail("must have a name")
        parameters = {key: _number(part.plain) for key, part in fields.items() if key != "name"}
        return fields["name"].choice(sorted(schemes())), parameters
    return given.choice(sorted(schemes())), {}


def _number(plain: Any) -> Any:
    """Whole numbers as such; other numbers stay text, which schemes read exactly."""
    if isinstance(plain, list):
        return [_number(part) for part in plain]
    found = whole_number(plain)
    return plain if found is None else found


def chosen_scheme(variable: Variable, odds: Fraction) -> Scheme:
    """Plain randomized response, or the design that gains more than 15 % over it.

    >>> from sottovoce.schemas.attribute import Attribute
    >>> [chosen_scheme(Attribute("a", range(k)), Fraction(3)).name for k in (5, 8)]
    ['randomized_response', 'subset_selection']
    """
    if odds == 1:
        return RandomizedResponse(odds=odds)
    group = recommend(Schema([variable]), RESPONDENTS, odds=odds).plan.groups[0]
    return Settled(group.scheme, group.mechanism)


@dataclass(frozen=True, eq=False)
class Share:
    """Questions with common coins, and what their author says about them: a scheme, odds, both or nothing."""

    questions: tuple[str, ...]
    given: Located
    scheme: Located | None
    odds: Fraction | None

    @property
    def name(self) -> str:
        """Questions, for people."""
        return " + ".join(self.questions)


def read_odds(fields: Mapping[str, Located]) -> Fraction | None:
    """Odds from `odds` or `epsilon`, if one of them is there."""
    named = {name: fields[name] for name in ("odds", "epsilon") if name in fields}
    if not named:
        return None
    if len(named) > 1:
        named["epsilon"].fail("must be left out where odds are given")
    ((name, given),) = named.items()
    if not isinstance(given.value, str):
        given.fail("must be a number, or odds such as 9:1")
    try:
        odds = odds_asked(**{name: given.value.strip()})
    except SottovoceError as reason:
        given.fail(reason.rule)
    if odds > MOST_ODDS:
        given.fail("must be at most 10^305")
    return odds


def shared_plan(schema: Schema, shares: Sequence[Share], budget: Fraction, given: Located) -> Plan:
    """Plan within the budget: shares with odds or finished schemes keep theirs, the others divide what is left."""
    settled = {share: _settled(schema, share) for share in shares}
    spent = {share: _odds(schema, share, scheme) for share, scheme in settled.items() if scheme is not None}
    used = Fraction(1)
    for odds in spent.values():
        used *= odds
    free = [share for share in shares if share not in spent]
    if used > budget or (free and used == budget):
        _refuse(spent, used, budget, free, given)
    each = root_of_odds(budget / used, len(free)) if free else Fraction(1)
    chosen: dict[str | tuple[str, ...], Scheme] = {}
    for share in shares:
        scheme = settled[share] or _with_odds(schema, share, each)
        _odds(schema, share, scheme)  # refuses what does not fit its questions, with their line
        chosen[share.questions] = scheme
    try:
        return Plan.of(schema, chosen, odds=budget)
    except SottovoceError as reason:  # a group's common report has the name of another question
        max(shares, key=lambda share: len(share.questions)).given.fail(
            f"{reason.parameter} {reason.rule}", reason.value
        )


def _refuse(
    spent: Mapping[Share, Fraction], used: Fraction, budget: Fraction, free: Sequence[Share], given: Located
) -> NoReturn:
    """Show the arithmetic."""
    waiting = ", ".join(share.name for share in free)
    if not spent:
        given.fail(f"must be above 1 : 1, to leave something for {waiting}", odds_text(budget))
    factors = " x ".join(f"{share.name} {odds_text(odds)}" for share, odds in spent.items())
    rest = f", and leave something for {waiting}" if free else ""
    rule = f"must allow for what the questions take together: {factors} = {odds_text(used)}{rest}"
    given.fail(rule, odds_text(budget))


def _settled(schema: Schema, share: Share) -> Scheme | None:
    """Scheme that needs no share of the budget any more; None if it waits for its odds."""
    if share.odds is not None:
        return _with_odds(schema, share, share.odds)
    return None if share.scheme is None else finished_scheme(share.scheme)


def _with_odds(schema: Schema, share: Share, odds: Fraction) -> Scheme:
    if share.scheme is not None:
        return scheme_with_odds(share.scheme, odds)
    if len(share.questions) > 1:
        return RandomizedResponse(odds=odds)
    return chosen_scheme(schema[share.questions[0]], odds)


def _odds(schema: Schema, share: Share, scheme: Scheme) -> Fraction:
    """Odds of a settled share, from the integers of its mechanism; refuses what does not fit its questions."""
    where = share.scheme or share.given
    try:
        odds = Plan.of(schema.project(share.questions), {share.questions: scheme}).guarantee.odds
    except SottovoceError as reason:
        where.fail(f"{scheme.name}: {reason.parameter} {reason.rule}", reason.value)
    if odds is None:
        where.fail(f"{scheme.name} is not deniable here: some reports would rule an answer out")
    if odds == 1:
        where.fail("must be asked at odds above 1 : 1, for nothing can be learned from its reports", odds_text(odds))
    return odds
