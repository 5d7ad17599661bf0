"""One call that tells what to use: the plainest plan for a budget that nothing beats by more than 15 %."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

from sottovoce.channels.channel import Array
from sottovoce.designs.recommend.alternatives import (
    MOST_PAIRED_BY_SAMPLING,
    Alternative,
    Candidate,
    candidates,
    certified_candidate,
    measured,
    reliances,
)
from sottovoce.designs.recommend.expected_error import Columns
from sottovoce.designs.recommend.purpose import (
    LARGEST_JOINT,
    MOST_PAIRED,
    PURPOSES,
    cells_together,
    checked_purpose,
    column_names,
    expected_laws,
    prior_origin,
    targets,
)
from sottovoce.designs.recommend.recommendation import LEVEL, WORTH, Recommendation
from sottovoce.errors import MissingExtraError, SottovoceError, Words
from sottovoce.estimates.intervals import critical_value
from sottovoce.estimates.likelihood import Progress
from sottovoce.exact import Number, OddsLike
from sottovoce.measures.utility import checked_respondents
from sottovoce.plans.plan import Plan, PriorSource
from sottovoce.schemas.attribute import LARGEST_DOMAIN
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.scheme import odds_asked

Laws = Mapping[str, tuple[Array, ...]]


def recommend(
    schema: Schema,
    respondents: float,
    *,
    odds: OddsLike | None = None,
    epsilon: Number | None = None,
    prior: Any = None,
    prior_source: PriorSource | str | None = None,
    purpose: str = "each",
    progress: Progress | None = None,
) -> Recommendation:
    """Plan to use for these attributes under one budget for the WHOLE record, and what the alternatives cost.

    `purpose` is what the answers are wanted for: "each" attribute, "pairs" of them (for mining), or all "joint"ly.
    Designs are compared by the error variance of an estimated proportion, averaged over all that are wanted, if the
    truth has the law `prior` (shares by name of the attribute; uniform where left out) and attributes are independent.
    Plain randomized response is taken unless something gains more than 15 % over it: in general the plainest design
    that no other beats by more. With a prior, which `prior_source` must account for, certified designs are looked at.

    >>> from sottovoce.schemas.attribute import Attribute
    >>> found = recommend(Schema([Attribute("drug", range(8))]), respondents=5000, odds=3)
    >>> found.chosen.name, round(found.chosen.gain(found.plain), 2)
    ('subset selection', 0.19)
    """
    goal, size = checked_purpose(purpose), checked_respondents(respondents)
    goal = "each" if len(schema.sizes) == 1 else goal
    whole = odds_asked(odds=odds, epsilon=epsilon)
    if whole == 1:
        raise SottovoceError("odds", "must be above 1 : 1 for anything to be estimated", odds or epsilon)
    if goal != "each" and cells_together(schema, goal) > LARGEST_JOINT:
        raise _too_large(schema, goal, size, whole)
    origin, laws = prior_origin(prior, prior_source), expected_laws(schema, prior)
    wanted = tuple(targets(len(schema.sizes), goal))
    columns = tuple(law for name in schema.names for law in laws[name])
    promise = None if odds is None else whole
    found = [_measured(each, schema, columns, wanted, promise, origin) for each in candidates(schema, whole, goal)]
    notes = _notes(schema, goal)
    if prior is not None:
        try:
            proven = certified_candidate(schema, whole, laws, progress)
            found.append(_measured(proven, schema, columns, wanted, promise, origin))
        except MissingExtraError as missing:
            notes.append(f"Certified designs were not looked at: {missing}")
    kept = tuple(each for each in found if each is not None)
    chosen = plainest(kept)
    reliance = reliances(chosen.plan, kept[0].plan, laws) if chosen.relies_on_prior else ()
    notes += _too_wide(chosen.width(size, critical_value(LEVEL)), columns, wanted)
    names = tuple(column_names(schema))
    return Recommendation(chosen, kept, goal, size, names, wanted, reliance, tuple(notes))


def plainest(found: Sequence[Alternative]) -> Alternative:
    """First design, in order of how plain they are, that no other beats by more than 15 %."""
    least = min(each.error for each in found)
    return next(each for each in found if each.error <= (1 + WORTH) * least)


def _measured(
    candidate: Candidate,
    schema: Schema,
    columns: tuple[Array, ...],
    wanted: Sequence[Columns],
    promise: Fraction | None,
    origin: PriorSource | None,
) -> Alternative | None:
    plan = Plan.of(schema, candidate.schemes, odds=promise, prior=origin)
    return measured(candidate, plan, columns, wanted)


def _too_wide(width: float, columns: Sequence[Array], wanted: Sequence[Columns]) -> list[str]:
    """Word of caution where estimates would say little."""
    share = sum(1 / prod(len(columns[axis]) for axis in axes) for axes in wanted) / len(wanted)
    if width <= 2 * share:
        return []
    return [
        f"Expect little: a typical interval reaches {width / 2:.2g} either way, the mean proportion is {share:.2g}. "
        "Ask more people, or fewer questions, or for a coarser table."
    ]


def _notes(schema: Schema, purpose: str) -> list[str]:
    notes = []
    if schema.cells > LARGEST_DOMAIN:
        notes.append(
            f"One coin for whole records was not looked at: about {float(schema.cells):.2g} joint cells are more than "
            "can be numbered."
        )
    if purpose == "pairs" and len(schema.names) > MOST_PAIRED_BY_SAMPLING:
        notes.append(f"Asking two attributes of more than {MOST_PAIRED_BY_SAMPLING} was not looked at; ask for fewer.")
    if purpose == "pairs" and len(schema.sizes) > MOST_PAIRED:
        notes.append("Pairs of neighbouring columns stand for all pairs.")
    return notes


def _too_large(schema: Schema, goal: str, respondents: float, odds: Fraction) -> SottovoceError:
    """Say what is recommended instead of a table that nobody could estimate."""
    small = cells_together(schema, "pairs") <= LARGEST_JOINT
    other = "pairs" if small and len(schema.names) <= MOST_PAIRED_BY_SAMPLING else "each"
    instead = recommend(schema, respondents, odds=odds, purpose=other)
    rule = (
        f"must be each{' or pairs' if small else ''} where there are more than {LARGEST_JOINT} joint cells; "
        f"for {PURPOSES[other]} {instead.chosen.name} is recommended, with intervals about "
        f"{instead.chosen.width(respondents, instead.deviations):.2g} wide"
    )
    return SottovoceError("purpose", rule, Words(f"{goal}, of about {float(cells_together(schema, goal)):.2g} cells"))
