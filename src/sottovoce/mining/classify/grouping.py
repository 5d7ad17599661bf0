"""Plans whose groups of attributes have independent coins: privacy against what a classifier can learn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike, root_of_odds
from sottovoce.exact import odds as exact_odds
from sottovoce.measures.entries import entry_privacy
from sottovoce.mining.classify.coding import feature_names
from sottovoce.mining.classify.joint_table import class_tables, reconstruct
from sottovoce.plans.plan import Plan
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.unrelated_question import UnrelatedQuestion

MANY = 10**9
"""Reports for which effective numbers of records are computed: enough that limits do not matter."""

Groups = Sequence[Sequence[str]]


@dataclass(frozen=True, repr=False)
class Grouping:
    """A plan by groups; `worth` is the effective number of undisguised records per report for naive Bayes' tables.

    It is the harmonic mean over the tables of an attribute with the class, under uniform distributions. `privacy` is
    the least privacy of an entry before mining; the plan's guarantee holds for the whole record.
    """

    groups: tuple[tuple[str, ...], ...]
    plan: Plan
    worth: float
    privacy: float

    def __repr__(self) -> str:
        """Summarize in one line.

        >>> from sottovoce.schemas.attribute import boolean
        >>> compare_groupings(Schema([boolean("a"), boolean("ill")]), "ill", odds=9)[0]
        <Grouping (a, ill): a report is worth 0.444 records; least privacy 0.278; 9 : 1 (epsilon 2.19723)>
        """
        groups = " ".join(f"({', '.join(group)})" for group in self.groups)
        worth = f"a report is worth {self.worth:.3f} records"
        return f"<Grouping {groups}: {worth}; least privacy {self.privacy:.3f}; {self.plan.guarantee}>"


def grouped_plan(schema: Schema, groups: Groups, *, theta: Number | None = None, odds: OddsLike | None = None) -> Plan:
    """Return a plan that asks an unrelated question for each group independently (Zhan & Matwin 2006, 6.3).

    Give theta, the same for all groups, or the `odds` of the whole record, which the groups share equally.
    """
    if (theta is None) == (odds is None):
        raise SottovoceError("theta or odds", "must be given, exactly one of them", (theta, odds))
    if theta is not None:
        return Plan.of(schema, {tuple(group): UnrelatedQuestion(theta) for group in groups})
    each = root_of_odds(exact_odds("odds", odds), len(groups))
    return Plan.of(schema, {tuple(group): UnrelatedQuestion(odds=each) for group in groups}, odds=odds)


def compare_groupings(
    schema: Schema,
    label: str,
    *,
    theta: Number | None = None,
    odds: OddsLike | None = None,
    candidates: Iterable[Groups] | None = None,
) -> list[Grouping]:
    """Return groupings, sorted by what they leave for the classifier: the given ones, or one group, two, and so on.

    If none are given, the attributes are dealt to the groups in turn, and the label is in the first.

    >>> from sottovoce.schemas.attribute import boolean
    >>> schema = Schema([boolean("a"), boolean("b"), boolean("c"), boolean("ill")])
    >>> for found in compare_groupings(schema, "ill", odds=81):
    ...     print(found.groups, round(found.worth, 3), round(found.privacy, 3))
    (('a', 'b', 'c', 'ill'),) 0.694 0.153
    (('a', 'c', 'ill'), ('b',)) 0.251 0.18
    (('a', 'ill'), ('b',), ('c',)) 0.166 0.305
    (('ill',), ('a',), ('b',), ('c',)) 0.125 0.375
    """
    names = feature_names_of(schema, label)
    given = [_deal(names, label, count) for count in range(1, len(names) + 2)] if candidates is None else candidates
    groupings = [_evaluate(grouped_plan(schema, groups, theta=theta, odds=odds), label) for groups in given]
    return sorted(groupings, key=lambda grouping: -grouping.worth)


def feature_names_of(schema: Schema, label: str) -> list[str]:
    """Return all attributes but the label."""
    plan = grouped_plan(schema, [schema.names], theta=1)
    schema[label]
    return feature_names(plan, label, None)


def _deal(names: Sequence[str], label: str, count: int) -> list[list[str]]:
    """Deal attributes to groups, the label in the first; or alone, if there is a group for it as well."""
    if count == len(names) + 1:
        return [[label], *([name] for name in names)]
    groups: list[list[str]] = [[] for _ in range(count)]
    for index, name in enumerate(names):
        groups[index % count].append(name)
    return [[*groups[0], label], *groups[1:]]


def _evaluate(plan: Plan, label: str) -> Grouping:
    costs = []
    for table in class_tables(plan, feature_names(plan, label, None), label)[1:]:
        channel = table.channel
        frequencies = channel.matvec(np.full((channel.n_in, 1), 1 / channel.n_in))
        costs.append(MANY / float(reconstruct(channel, frequencies, MANY, "simplex")[1][0]))
    sizes = [plan.schema.project([name]).cells for name in plan.schema.names]
    privacy = min(
        float(entry_privacy(plan.channel([name]).dense(), np.full(size, 1 / size)))
        for name, size in zip(plan.schema.names, sizes, strict=True)
    )
    return Grouping(tuple(group.attributes for group in plan.groups), plan, len(costs) / sum(costs), privacy)
