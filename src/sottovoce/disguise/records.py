"""Reports from coded truths, from one value, and from one record."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sottovoce.errors import SottovoceError
from sottovoce.mechanism.coins import Randomness, RandomWords, flip, random_words
from sottovoce.plan.plan import Group, Plan
from sottovoce.schema.cells import Codes, Columns

ROWS_AT_ONCE = 2**15
"""Rows whose coins are flipped together: enough for numpy, little enough for the cache."""


def disguise_codes(columns: Sequence[Codes], plan: Plan, words: RandomWords) -> Columns:
    """Report columns of coded truths; the words used do not depend on how rows are batched."""
    parts = [
        _disguised([codes[start : start + ROWS_AT_ONCE] for codes in columns], plan, words)
        for start in range(0, max(len(columns[0]), 1), ROWS_AT_ONCE)
    ]
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def disguise_record(record: Mapping[str, Any], plan: Plan, rng: Randomness = None) -> dict[str, Any]:
    """Report of one person: a mapping from attributes to answers in, one of reports out.

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.attribute import Attribute
    >>> from sottovoce.schema.schema import Schema
    >>> plan = new_plan(Schema([Attribute("drug", ["never", "once", "often"])]), odds=3)
    >>> disguise_record({"drug": "once"}, plan, rng=1)
    {'drug': 'once'}
    """
    extra = [name for name in record if name not in plan.schema.names]
    if extra:
        raise SottovoceError("record", f"must have no attribute that the plan does not cover; {extra}", list(record))
    truth = plan.schema.encode({name: [value] for name, value in record.items()})
    report = plan.report_schema.decode(disguise_codes(truth, plan, random_words(rng)))
    return {name: _python(values[0]) for name, values in report.items()}


def disguise_value(value: Any, plan: Plan, attribute: str | None = None, rng: Randomness = None) -> Any:
    """Report of one answer to one question, whose coins no other question shares.

    `attribute` may be left out where the plan has one only.
    """
    alone = single_attribute_plan(plan, attribute)
    (report,) = disguise_record({alone.schema.names[0]: value}, alone, rng).values()
    return report


def single_attribute_plan(plan: Plan, attribute: str | None) -> Plan:
    """Part of a plan that disguises one attribute, if that attribute has coins of its own."""
    if attribute is None and len(plan.schema.names) > 1:
        raise SottovoceError("attribute", f"must be one of {', '.join(plan.schema.names)}", attribute)
    group = plan.group_of(attribute or plan.schema.names[0])
    if len(group.attributes) > 1:
        rule = f"must have coins of its own; it shares them, so disguise the record of {group.attributes}"
        raise SottovoceError("attribute", rule, attribute)
    return Plan(plan.schema.project(group.attributes), (group,), group.guarantee)


def _disguised(columns: Sequence[Codes], plan: Plan, words: RandomWords) -> list[Codes]:
    """Flip all coins of all rows, then let every group respond."""
    flips = flip(plan.coins, len(columns[0]), words)
    reports: dict[int, Codes] = {}
    used = 0
    for group in plan.groups:
        own = flips[used : used + len(group.mechanism.coins)]
        used += len(own)
        reports |= zip(plan.report_columns(group), _respond(group, columns, plan, own), strict=True)
    return [reports[position] for position in sorted(reports)]


def _respond(group: Group, columns: Sequence[Codes], plan: Plan, flips: Any) -> Columns:
    truth = tuple(columns[position] for position in plan.truth_columns(group))
    return group.mechanism.respond(truth, flips)


def _python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
