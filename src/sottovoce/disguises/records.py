"""Reports from coded truths, from one value, and from one record."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.bulk import BULK_ROWS, check_codes
from sottovoce.mechanisms.coins import Blocks, Randomness, RandomWords, random_words, read_blocks, take_blocks
from sottovoce.plans.plan import Group, Plan
from sottovoce.schemas.attribute import Codes, Columns

ROWS_AT_ONCE = 2**15
"""Rows whose coins are flipped together: enough for numpy, little enough for the cache."""


def disguise_codes(columns: Sequence[Codes], plan: Plan, words: RandomWords) -> Columns:
    """Report columns of coded truths; the words used do not depend on how rows are batched."""
    check_codes(columns, plan.schema.sizes)
    bulk = len(columns[0]) >= BULK_ROWS
    parts = [
        _disguised([codes[start : start + ROWS_AT_ONCE] for codes in columns], plan, words, bulk=bulk)
        for start in range(0, max(len(columns[0]), 1), ROWS_AT_ONCE)
    ]
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def disguise_record(record: Mapping[str, Any], plan: Plan, rng: Randomness = None) -> dict[str, Any]:
    """Report of one person: a mapping from attributes to answers in, one of reports out.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import Attribute
    >>> from sottovoce.schemas.schema import Schema
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


def _disguised(columns: Sequence[Codes], plan: Plan, words: RandomWords, *, bulk: bool) -> list[Codes]:
    """Take the words of all coins of all rows, then let every group respond."""
    blocks = take_blocks(plan.coins, len(columns[0]), words)
    reports: dict[int, Codes] = {}
    used = 0
    for group in plan.groups:
        width = sum(coin.width for coin in group.mechanism.coins)
        own = _respond(group, columns, plan, blocks[:, used : used + width], bulk=bulk)
        reports |= zip(plan.report_columns(group), own, strict=True)
        used += width
    return [reports[position] for position in sorted(reports)]


def _respond(group: Group, columns: Sequence[Codes], plan: Plan, blocks: Blocks, *, bulk: bool) -> Columns:
    truth = tuple(columns[position] for position in plan.truth_columns(group))
    if bulk:
        return group.mechanism.respond_in_bulk(truth, blocks)
    return group.mechanism.respond(truth, read_blocks(group.mechanism.coins, blocks))


def _python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
