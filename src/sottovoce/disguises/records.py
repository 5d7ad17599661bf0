"""Disguise coded columns, one record, or one value."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sottovoce.checks import number
from sottovoce.errors import SottovoceError, Words
from sottovoce.mechanisms.bulk import BULK_ROWS
from sottovoce.mechanisms.coins import Blocks, Randomness, RandomWords, random_words, read_blocks, take_blocks
from sottovoce.mechanisms.flips import Flips
from sottovoce.plans.plan import Group, Plan, check_plan
from sottovoce.plans.public import PublicColumn, PublicNumber
from sottovoce.schemas.attribute import Codes, Columns, check_codes
from sottovoce.schemas.item_set import ItemSet

ROWS_AT_ONCE = 2**15
"""Rows whose coins are flipped at once: enough for numpy to be fast, few enough for the cache."""


def disguise_codes(columns: Sequence[Codes], plan: Plan, words: RandomWords) -> Columns:
    """Disguise coded columns; the random words used do not depend on how rows are batched."""
    check_codes(columns, plan.schema.sizes)
    bulk = len(columns[0]) >= BULK_ROWS
    parts = [
        _disguised([codes[start : start + ROWS_AT_ONCE] for codes in columns], plan, words, bulk=bulk)
        for start in range(0, max(len(columns[0]), 1), ROWS_AT_ONCE)
    ]
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def disguise_record(record: Mapping[str, Any], plan: Plan, rng: Randomness = None) -> dict[str, Any]:
    """Disguise the answers of one respondent, a mapping from attributes to answers; return one of report columns.

    Public columns of the plan follow as they are (a binned number as its bin).

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import Attribute
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([Attribute("drug", ["never", "once", "often"])]), odds=3)
    >>> disguise_record({"drug": "once"}, plan, rng=1)
    {'drug': 'once'}
    """
    check_plan(plan)
    known = (*plan.schema.names, *plan.public_names)
    missing = [name for name in known if name not in record]
    if missing:
        rule = f"must answer {', '.join(map(repr, missing))}"
        raise SottovoceError("record", rule, Words(f"answers to {', '.join(map(repr, record)) or 'nothing'}"))
    extra = [name for name in record if name not in known]
    if extra:
        raise SottovoceError("record", f"must have no attribute that the plan does not name; {extra}", list(record))
    truth = plan.schema.encode({name: [record[name]] for name in plan.schema.names})
    public = {column.name: _passed_on(column, record[column.name]) for column in plan.public}
    report = plan.report_schema.decode(disguise_codes(truth, plan, random_words(rng)))
    return {name: _python(values[0]) for name, values in report.items()} | public


def disguise_value(value: Any, plan: Plan, attribute: str | None = None, rng: Randomness = None) -> Any:
    """Disguise one answer to one question, which must not share its coins with another.

    `attribute` may be omitted if the plan has only one.
    """
    alone = single_attribute_plan(plan, attribute)
    (report,) = disguise_record({alone.schema.names[0]: value}, alone, rng).values()
    return report


def single_attribute_plan(plan: Plan, attribute: str | None) -> Plan:
    """Restrict a plan to one attribute; refuse an attribute that shares its coins with others."""
    if attribute is None and len(plan.schema.names) > 1:
        raise SottovoceError("attribute", f"must be one of {', '.join(plan.schema.names)}", attribute)
    group = plan.group_of(attribute or plan.schema.names[0])
    if len(group.attributes) > 1:
        rule = f"must have coins of its own; it shares them, so disguise the record of {group.attributes}"
        raise SottovoceError("attribute", rule, attribute)
    return Plan(plan.schema.project(group.attributes), (group,), group.guarantee)


def _disguised(columns: Sequence[Codes], plan: Plan, words: RandomWords, *, bulk: bool) -> list[Codes]:
    """Take the random words of all coins of all rows, then let every group respond."""
    blocks = take_blocks(plan.coins, len(columns[0]), words)
    reports: dict[int, Codes] = {}
    used = 0
    for group in plan.groups:
        width = sum(coin.width for coin in group.mechanism.coins)
        answers = group_reports(group, columns, plan, blocks[:, used : used + width], bulk=bulk)
        reports |= zip(plan.report_columns(group), answers, strict=True)
        used += width
    return [reports[position] for position in sorted(reports)]


def group_reports(group: Group, columns: Sequence[Codes], plan: Plan, blocks: Blocks, *, bulk: bool) -> Columns:
    """Reports of one group from its accepted words."""
    truth = tuple(columns[position] for position in plan.truth_columns(group))
    if bulk:
        return group.mechanism.respond_in_bulk(truth, blocks)
    return group.mechanism.respond(truth, read_blocks(group.mechanism.coins, blocks))


def _passed_on(column: PublicColumn, value: Any) -> Any:
    if isinstance(column, PublicNumber):
        number(column.name, value)
        return _python(value)
    return _python(column.decode(column.encode([value]))[0])


def _python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def flipped_items(plan: Plan) -> tuple[ItemSet, Flips] | None:
    """The item set of a plan that disguises nothing else, and its coins; None for any other plan."""
    variables = plan.schema.variables
    mechanism = plan.groups[0].mechanism
    alone = len(variables) == 1 and not plan.public
    if alone and isinstance(variables[0], ItemSet) and isinstance(mechanism, Flips):
        return variables[0], mechanism
    return None
