"""Groups of attributes with coins of their own: what is gained in privacy, and what it costs the classifier."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike, root_of_odds
from sottovoce.exact import odds as exact_odds
from sottovoce.measures.entry_privacy import entry_privacy
from sottovoce.mining.classify.coding import feature_names
from sottovoce.mining.classify.question import pair_questions, reconstructed
from sottovoce.plans.plan import Plan
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.unrelated_question import UnrelatedQuestion

MANY = 10**9
"""Reports of which the worth of one is the share."""

Groups = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Grouping:
    """A plan by groups; `worth` is how many clear records one report is worth to the tables of naive Bayes.

    It is the harmonic mean over the pairs of an attribute with the class, all values alike. `privacy` is the least
    privacy of an entry before mining; the plan's guarantee says what the whole record gets.
    """

    groups: tuple[tuple[str, ...], ...]
    plan: Plan
    worth: float
    privacy: float


def grouped_plan(schema: Schema, groups: Groups, *, theta: Number | None = None, odds: OddsLike | None = None) -> Plan:
    """Unrelated question for each group, with coins of its own (Zhan & Matwin 2006, 6.3).

    Give theta, the same for all groups, or the `odds` of the whole record, which the groups share alike.
    """
    if (theta is None) == (odds is None):
        raise SottovoceError("theta or odds", "must be given, exactly one of them", (theta, odds))
    if theta is not None:
        return Plan.of(schema, {tuple(group): UnrelatedQuestion(theta) for group in groups})
    each = root_of_odds(exact_odds("odds", odds), len(groups))
    return Plan.of(schema, {tuple(group): UnrelatedQuestion(odds=each) for group in groups}, odds=odds)


def compare_groupings(
    schema: Schema,
    target: str,
    *,
    theta: Number | None = None,
    odds: OddsLike | None = None,
    candidates: Iterable[Groups] | None = None,
) -> list[Grouping]:
    """Ways of grouping, those that leave the classifier most first: ones given by hand, or one group, two, and so on.

    Where none are given, the attributes are dealt to the groups in their order, and the class is with the first.

    >>> from sottovoce.schemas.attribute import boolean
    >>> schema = Schema([boolean("a"), boolean("b"), boolean("c"), boolean("ill")])
    >>> for found in compare_groupings(schema, "ill", odds=81):
    ...     print(found.groups, round(found.worth, 3), round(found.privacy, 3))
    (('a', 'b', 'c', 'ill'),) 0.694 0.153
    (('a', 'c', 'ill'), ('b',)) 0.251 0.18
    (('a', 'ill'), ('b',), ('c',)) 0.166 0.305
    (('ill',), ('a',), ('b',), ('c',)) 0.125 0.375
    """
    names = feature_names_of(schema, target)
    given = [_dealt(names, target, count) for count in range(1, len(names) + 2)] if candidates is None else candidates
    found = [_measured(grouped_plan(schema, groups, theta=theta, odds=odds), target) for groups in given]
    return sorted(found, key=lambda grouping: -grouping.worth)


def feature_names_of(schema: Schema, target: str) -> list[str]:
    """All attributes but the target."""
    plan = grouped_plan(schema, [schema.names], theta=1)
    schema[target]
    return feature_names(plan, target, None)


def _dealt(names: Sequence[str], target: str, count: int) -> list[list[str]]:
    """As many groups, the class in the first; in a group of its own where there are as many as attributes and class."""
    if count == len(names) + 1:
        return [[target], *([name] for name in names)]
    groups: list[list[str]] = [[] for _ in range(count)]
    for place, name in enumerate(names):
        groups[place % count].append(name)
    return [[*groups[0], target], *groups[1:]]


def _measured(plan: Plan, target: str) -> Grouping:
    costs = []
    for question in pair_questions(plan, feature_names(plan, target, None), target)[1:]:
        channel = question.channel
        seen = channel.matvec(np.full((channel.n_in, 1), 1 / channel.n_in))
        costs.append(MANY / float(reconstructed(channel, seen, MANY, "simplex")[1][0]))
    shares = [plan.schema.project([name]).cells for name in plan.schema.names]
    privacy = min(
        float(entry_privacy(plan.channel([name]).dense(), np.full(size, 1 / size)))
        for name, size in zip(plan.schema.names, shares, strict=True)
    )
    return Grouping(tuple(group.attributes for group in plan.groups), plan, len(costs) / sum(costs), privacy)
