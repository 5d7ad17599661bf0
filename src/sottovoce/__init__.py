"""Sottovoce: ask sensitive questions deniably, and learn the truth about the group.

The names below are the public face; each is loaded when it is first used. The rooms behind them are
described in docs/architecture.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sottovoce.design.certified import certified_front, information_front, least_error_design
    from sottovoce.design.compare import compare
    from sottovoce.design.front import Front
    from sottovoce.design.prior import named_prior
    from sottovoce.design.recommend.recommend import recommend
    from sottovoce.disguise.files import disguise_file
    from sottovoce.disguise.frames import disguise_column, disguise_frame
    from sottovoce.disguise.records import disguise_record, disguise_value
    from sottovoce.disguise.transactions import disguise_transactions
    from sottovoce.errors import SottovoceError
    from sottovoce.estimate.comparison import compare_estimates
    from sottovoce.estimate.derived import derive
    from sottovoce.estimate.itemsets import estimate_supports
    from sottovoce.estimate.proportions import estimate_by, estimate_proportions
    from sottovoce.plan.budget import new_plan
    from sottovoce.plan.plan import Plan
    from sottovoce.schema.attribute import Attribute, boolean
    from sottovoce.schema.binned import Binned
    from sottovoce.schema.item_set import ItemSet
    from sottovoce.schema.schema import Schema
    from sottovoce.table.infer import infer_schema
    from sottovoce.table.plan_file import read_plan, write_plan

__version__ = "0.1.0"

_HOMES = {
    "Attribute": "schema.attribute",
    "Binned": "schema.binned",
    "Front": "design.front",
    "ItemSet": "schema.item_set",
    "Plan": "plan.plan",
    "Schema": "schema.schema",
    "SottovoceError": "errors",
    "boolean": "schema.attribute",
    "certified_front": "design.certified",
    "compare": "design.compare",
    "compare_estimates": "estimate.comparison",
    "derive": "estimate.derived",
    "disguise_column": "disguise.frames",
    "disguise_file": "disguise.files",
    "disguise_frame": "disguise.frames",
    "disguise_record": "disguise.records",
    "disguise_transactions": "disguise.transactions",
    "disguise_value": "disguise.records",
    "estimate_by": "estimate.proportions",
    "estimate_proportions": "estimate.proportions",
    "estimate_supports": "estimate.itemsets",
    "infer_schema": "table.infer",
    "information_front": "design.certified",
    "least_error_design": "design.certified",
    "named_prior": "design.prior",
    "new_plan": "plan.budget",
    "read_plan": "table.plan_file",
    "recommend": "design.recommend.recommend",
    "write_plan": "table.plan_file",
}

__all__ = [
    "Attribute",
    "Binned",
    "Front",
    "ItemSet",
    "Plan",
    "Schema",
    "SottovoceError",
    "boolean",
    "certified_front",
    "compare",
    "compare_estimates",
    "derive",
    "disguise_column",
    "disguise_file",
    "disguise_frame",
    "disguise_record",
    "disguise_transactions",
    "disguise_value",
    "estimate_by",
    "estimate_proportions",
    "estimate_supports",
    "infer_schema",
    "information_front",
    "least_error_design",
    "named_prior",
    "new_plan",
    "read_plan",
    "recommend",
    "write_plan",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its room on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sottovoce' has no attribute {name!r}")
    value = getattr(import_module(f"sottovoce.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, loaded or not."""
    return [*__all__, "__version__"]
