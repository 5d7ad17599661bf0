"""Attributes whose truths no number of reports can tell apart: which they are, and what their scheme would need."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from sottovoce.errors import SingularChannelError
from sottovoce.estimate.marginals import needed_attributes
from sottovoce.plan.plan import Plan
from sottovoce.scheme.scheme import schemes


def named_singular(reason: SingularChannelError, plan: Plan, names: Sequence[str]) -> SingularChannelError:
    """The same error with the attributes it is about, the scheme of each, and which parameter makes it so.

    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.warner import Warner
    >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {"a": Warner(p=0.5), "b": Warner(p=0.8)})
    >>> print(named_singular(SingularChannelError("channel", "must be invertible", 0), plan, ["a", "b"]).parameter)
    a (warner: p must not be 1/n, n the number of categories)
    """
    channels = {name: plan.channel(needed_attributes(plan, [name])) for name in names}
    culprits = [name for name, channel in channels.items() if np.isinf(channel.condition_number)] or names
    groups = groupby(culprits, key=lambda name: plan.group_of(name).attributes)
    which = ", ".join(f"{', '.join(own)} ({_scheme(plan, group[0])})" for group, own in groups)
    return SingularChannelError(which, f"cannot be estimated: {reason.parameter} {reason.rule}", reason.value)


def _scheme(plan: Plan, attribute: str) -> str:
    """Name of an attribute's scheme, and what its parameters must be, where that is known."""
    name = plan.group_of(attribute).scheme
    needs = getattr(schemes().get(name), "identified", "")  # a user's own scheme may say nothing
    return f"{name}: {needs}" if needs else name
