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
    from sottovoce.design.goals.attain import attain_goals
    from sottovoce.design.goals.goals import Goals
    from sottovoce.design.mopso.front import mopso_front
    from sottovoce.design.optrr.front import optrr_front
    from sottovoce.design.prior import named_prior
    from sottovoce.design.recommend.recommend import recommend
    from sottovoce.design.sweep import subset_sweep, warner_sweep
    from sottovoce.disguise.audit.run import audit_plan
    from sottovoce.disguise.files import disguise_file
    from sottovoce.disguise.frames import disguise_column, disguise_frame
    from sottovoce.disguise.records import disguise_record, disguise_value
    from sottovoce.disguise.transactions import disguise_transactions
    from sottovoce.errors import SottovoceError
    from sottovoce.estimate.comparison import compare_estimates
    from sottovoce.estimate.covered import estimate_covered
    from sottovoce.estimate.cut_and_paste import estimate_supports_by_size
    from sottovoce.estimate.derived import derive
    from sottovoce.estimate.independence import independence_test
    from sottovoce.estimate.itemsets import estimate_supports
    from sottovoce.estimate.mechanisms import mechanism_costs
    from sottovoce.estimate.modelled import estimate_joint
    from sottovoce.estimate.proportions import estimate_by, estimate_proportions
    from sottovoce.estimate.sample_size import expected_width, respondents_needed
    from sottovoce.estimate.strata import stratified
    from sottovoce.estimate.two_samples import estimate_two_samples
    from sottovoce.mine.associated import association_rules
    from sottovoce.mine.classify.decision_tree import DecisionTree
    from sottovoce.mine.classify.experiments import accuracy_by_plan
    from sottovoce.mine.classify.mined_privacy import mined_privacy
    from sottovoce.mine.classify.naive_bayes import NaiveBayes
    from sottovoce.mine.classify.respondents import respondents_for_accuracy
    from sottovoce.mine.classify.scoring import score_disguised
    from sottovoce.mine.frequent import frequent_itemsets
    from sottovoce.mine.graph.convert import as_graph
    from sottovoce.mine.graph.degrees import estimate_degrees, estimate_edges
    from sottovoce.mine.graph.disguise import disguise_graph
    from sottovoce.mine.graph.instance import reconstruct_graph
    from sottovoce.mine.graph.stars import estimate_stars
    from sottovoce.mine.graph.triangles import estimate_triangles
    from sottovoce.mine.itemset_privacy import itemset_privacy
    from sottovoce.mine.mining_plan import mining_plan
    from sottovoce.mine.modelled import modelled_itemsets
    from sottovoce.plan.budget import new_plan
    from sottovoce.plan.plan import Plan
    from sottovoce.plan.prior import PriorSource
    from sottovoce.schema.attribute import Attribute, boolean
    from sottovoce.schema.binned import Binned
    from sottovoce.schema.item_set import ItemSet
    from sottovoce.schema.schema import Schema
    from sottovoce.survey.definition import survey_from_text
    from sottovoce.table.datasets.quest import quest_transactions
    from sottovoce.table.infer import infer_schema
    from sottovoce.table.plan_file import read_plan, write_plan

__version__ = "0.1.0"

_HOMES = {
    "Attribute": "schema.attribute",
    "Binned": "schema.binned",
    "DecisionTree": "mine.classify.decision_tree",
    "Front": "design.front",
    "Goals": "design.goals.goals",
    "ItemSet": "schema.item_set",
    "NaiveBayes": "mine.classify.naive_bayes",
    "Plan": "plan.plan",
    "PriorSource": "plan.prior",
    "Schema": "schema.schema",
    "SottovoceError": "errors",
    "accuracy_by_plan": "mine.classify.experiments",
    "as_graph": "mine.graph.convert",
    "association_rules": "mine.associated",
    "attain_goals": "design.goals.attain",
    "audit_plan": "disguise.audit.run",
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
    "estimate_covered": "estimate.covered",
    "estimate_degrees": "mine.graph.degrees",
    "estimate_edges": "mine.graph.degrees",
    "estimate_joint": "estimate.modelled",
    "estimate_proportions": "estimate.proportions",
    "estimate_stars": "mine.graph.stars",
    "estimate_supports": "estimate.itemsets",
    "estimate_supports_by_size": "estimate.cut_and_paste",
    "estimate_triangles": "mine.graph.triangles",
    "estimate_two_samples": "estimate.two_samples",
    "expected_width": "estimate.sample_size",
    "frequent_itemsets": "mine.frequent",
    "independence_test": "estimate.independence",
    "infer_schema": "table.infer",
    "information_front": "design.certified",
    "itemset_privacy": "mine.itemset_privacy",
    "least_error_design": "design.certified",
    "mechanism_costs": "estimate.mechanisms",
    "mined_privacy": "mine.classify.mined_privacy",
    "mining_plan": "mine.mining_plan",
    "modelled_itemsets": "mine.modelled",
    "mopso_front": "design.mopso.front",
    "named_prior": "design.prior",
    "new_plan": "plan.budget",
    "optrr_front": "design.optrr.front",
    "quest_transactions": "table.datasets.quest",
    "read_plan": "table.plan_file",
    "recommend": "design.recommend.recommend",
    "reconstruct_graph": "mine.graph.instance",
    "respondents_for_accuracy": "mine.classify.respondents",
    "respondents_needed": "estimate.sample_size",
    "score_disguised": "mine.classify.scoring",
    "stratified": "estimate.strata",
    "subset_sweep": "design.sweep",
    "survey_from_text": "survey.definition",
    "warner_sweep": "design.sweep",
    "write_plan": "table.plan_file",
}

__all__ = [
    "Attribute",
    "Binned",
    "DecisionTree",
    "Front",
    "Goals",
    "ItemSet",
    "NaiveBayes",
    "Plan",
    "PriorSource",
    "Schema",
    "SottovoceError",
    "accuracy_by_plan",
    "as_graph",
    "association_rules",
    "attain_goals",
    "audit_plan",
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
    "estimate_covered",
    "estimate_degrees",
    "estimate_edges",
    "estimate_joint",
    "estimate_proportions",
    "estimate_stars",
    "estimate_supports",
    "estimate_supports_by_size",
    "estimate_triangles",
    "estimate_two_samples",
    "expected_width",
    "frequent_itemsets",
    "independence_test",
    "infer_schema",
    "information_front",
    "itemset_privacy",
    "least_error_design",
    "mechanism_costs",
    "mined_privacy",
    "mining_plan",
    "modelled_itemsets",
    "mopso_front",
    "named_prior",
    "new_plan",
    "optrr_front",
    "quest_transactions",
    "read_plan",
    "recommend",
    "reconstruct_graph",
    "respondents_for_accuracy",
    "respondents_needed",
    "score_disguised",
    "stratified",
    "subset_sweep",
    "survey_from_text",
    "warner_sweep",
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
