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
    from sottovoce.mine.associated import association_rules
    from sottovoce.mine.classify.decision_tree import DecisionTree
    from sottovoce.mine.classify.naive_bayes import NaiveBayes
    from sottovoce.mine.classify.scoring import score_disguised
    from sottovoce.mine.frequent import frequent_itemsets
    from sottovoce.mine.graph.degrees import estimate_degrees
    from sottovoce.mine.graph.disguise import disguise_graph
    from sottovoce.mine.graph.triangles import estimate_triangles
    from sottovoce.mine.mining_plan import mining_plan
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
    "DecisionTree": "mine.classify.decision_tree",
    "Front": "design.front",
    "ItemSet": "schema.item_set",
    "NaiveBayes": "mine.classify.naive_bayes",
    "Plan": "plan.plan",
    "Schema": "schema.schema",
    "SottovoceError": "errors",
    "association_rules": "mine.associated",
    "boolean": "schema.attribute",
    "certified_front": "design.certified",
    "compare": "design.compare",
    "compare_estimates": "estimate.comparison",
    "derive": "estimate.derived",
    "disguise_column": "disguise.frames",
    "disguise_file": "disguise.files",
    "disguise_frame": "disguise.frames",
    "disguise_graph": "mine.graph.disguise",
    "disguise_record": "disguise.records",
    "disguise_transactions": "disguise.transactions",
    "disguise_value": "disguise.records",
    "estimate_by": "estimate.proportions",
    "estimate_degrees": "mine.graph.degrees",
    "estimate_proportions": "estimate.proportions",
    "estimate_supports": "estimate.itemsets",
    "estimate_triangles": "mine.graph.triangles",
    "frequent_itemsets": "mine.frequent",
    "infer_schema": "table.infer",
    "information_front": "design.certified",
    "least_error_design": "design.certified",
    "mining_plan": "mine.mining_plan",
    "named_prior": "design.prior",
    "new_plan": "plan.budget",
    "read_plan": "table.plan_file",
    "recommend": "design.recommend.recommend",
    "score_disguised": "mine.classify.scoring",
    "write_plan": "table.plan_file",
}

__all__ = [
    "Attribute",
    "Binned",
    "DecisionTree",
    "Front",
    "ItemSet",
    "NaiveBayes",
    "Plan",
    "Schema",
    "SottovoceError",
    "association_rules",
    "boolean",
    "certified_front",
    "compare",
    "compare_estimates",
    "derive",
    "disguise_column",
    "disguise_file",
    "disguise_frame",
    "disguise_graph",
    "disguise_record",
    "disguise_transactions",
    "disguise_value",
    "estimate_by",
    "estimate_degrees",
    "estimate_proportions",
    "estimate_supports",
    "estimate_triangles",
    "frequent_itemsets",
    "infer_schema",
    "information_front",
    "least_error_design",
    "mining_plan",
    "named_prior",
    "new_plan",
    "read_plan",
    "recommend",
    "score_disguised",
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
