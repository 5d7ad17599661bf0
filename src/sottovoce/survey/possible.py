"""Which reports a plan can produce at all: a forged set of all categories would count for many people."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from sottovoce.plan.plan import Group, Plan

FULL = frozenset({"diagonal", "private_diagonal", "replacement", "turning", "flips", "one_hot", "cut_paste"})
"""Mechanisms that may report anything of the right shape, where their odds are bounded."""

REMEMBERED = 4096
"""Reports of a group that are looked up instead of computed."""


class PossibleReports:
    """Checks codes against the channel's entries. Under bounded odds a report is possible for all truths or for none.

    >>> from sottovoce.schema.attribute import Attribute
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.subset_selection import SubsetSelection
    >>> plan = Plan.of(Schema([Attribute("a", range(4))]), {"a": SubsetSelection(odds=3, size=2)})
    >>> [PossibleReports(plan)(codes) for codes in ([1, 0, 1, 0], [1, 1, 1, 1])]
    [True, False]
    """

    def __init__(self, plan: Plan) -> None:
        """Pick the groups that need a look."""
        self._groups = [
            (plan.report_columns(group), group.mechanism.channel.shape_out, _lookup(group))
            for group in plan.groups
            if group.mechanism.kind not in FULL
        ]

    def __call__(self, codes: Sequence[int]) -> bool:
        """Whether each group's part of a report can come about."""
        return all(possible(_joined(codes, columns, sizes)) for columns, sizes, possible in self._groups)


def _lookup(group: Group) -> Callable[[int], bool]:
    entry = group.mechanism.channel.entry
    return lru_cache(REMEMBERED)(lambda report: entry(report, 0) > 0)


def _joined(codes: Sequence[int], columns: Sequence[int], sizes: Sequence[int]) -> int:
    """Number of a joint cell, of any length: the last column varies fastest."""
    joint = 0
    for column, size in zip(columns, sizes, strict=True):
        joint = joint * size + codes[column]
    return joint
