"""The channel of each column of a question by itself, where reports have the columns of the truth."""

from sottovoce.channel.channel import Channel
from sottovoce.errors import SottovoceError
from sottovoce.plan.plan import Plan


def column_channels(plan: Plan, name: str) -> list[Channel]:
    """One channel for each column: of a set of items, one for each item.

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.item_set import ItemSet
    >>> from sottovoce.schema.schema import Schema
    >>> plan = new_plan(Schema([ItemSet("seen", ["words", "touch"])]), odds=3)
    >>> [str(channel.entry(1, 1)) for channel in column_channels(plan, "seen")]
    ['2/3', '2/3']
    """
    group = plan.group_of(name)
    own = plan.schema.project(group.attributes)
    alike = name in plan.report_schema.names and plan.report_schema[name] == plan.schema[name].as_report()
    if not alike:
        raise SottovoceError(name, "must have reports that look like its answers to be read by itself", group.scheme)
    return [group.mechanism.channel.marginal([axis]) for axis in range(len(own.sizes))[own.columns_of(name)]]
