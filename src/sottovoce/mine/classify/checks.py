"""What classifiers ask of their settings and of what they learn from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.counted import categories_of
from sottovoce.plan.document import plan_hash
from sottovoce.plan.plan import Plan
from sottovoce.table.plan_file import carries_plan, read_plan


def check_carried_plan(table: Any, plan: Plan) -> None:
    """Refuse a disguised file that carries another plan."""
    if isinstance(table, str | Path) and carries_plan(table) and plan_hash(read_plan(table)) != plan_hash(plan):
        rule = "must be the one that the classifier learns under"
        raise SottovoceError("plan", rule, Words(f"another in {table}"))


def feature_names(plan: Plan, target: str, attributes: Sequence[str] | None) -> list[str]:
    """Attributes that a classifier looks at: all others than the target, or those named."""
    names = [name for name in plan.schema.names if name != target] if attributes is None else list(attributes)
    if not names or target in names or len(set(names)) < len(names):
        raise SottovoceError("attributes", "must be at least one other than the target, once each", names)
    categories_of(plan, names)
    return names


def checked_positive(parameter: str, value: Any) -> float:
    """A positive number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < np.inf:
        raise SottovoceError(parameter, "must be a positive number", value)
    return float(value)


def check_classes(classes: Sequence[Any], shares: Array) -> None:
    """Refuse a class of which reconstruction leaves nothing: there is no telling what its members are like."""
    for label, share in zip(classes, shares.tolist(), strict=True):
        if share <= 0:
            rule = f"must leave something of every class after reconstruction; of {label!r} there is"
            raise SottovoceError("reports", rule, Words(f"a share of {share:.4g}"))


def checked_choices(parameter: str, values: Any, known: Sequence[str]) -> None:
    """At least one of the names that are known, and no others."""
    if not values or isinstance(values, str) or not set(values) <= set(known):
        raise SottovoceError(parameter, f"must be some of {', '.join(known)}", values)


def checked_count(parameter: str, value: Any, most: float = np.inf) -> int:
    """A positive whole number, not above another."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        above = "" if most == np.inf else f" of at most {most:g}"
        raise SottovoceError(parameter, f"must be a positive whole number{above}", value)
    return value
