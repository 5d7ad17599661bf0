"""Sottovoce: ask sensitive questions deniably, and learn the truth about the group.

The names below are the public face; each is loaded when it is first used. The rooms behind them are
described in docs/architecture.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sottovoce.datasets.quest import quest_transactions
    from sottovoce.designs.certified import certified_front, information_front, least_error_design
    from sottovoce.designs.compare import compare
    from sottovoce.designs.front import Front
    from sottovoce.designs.goals import Goals, attain_goals
    from sottovoce.designs.mopso import mopso_front
    from sottovoce.designs.optrr.search import optrr_front
    from sottovoce.designs.recommend.recommend import recommend
    from sottovoce.designs.requirement import named_prior
    from sottovoce.designs.sweeps import subset_sweep, warner_sweep
    from sottovoce.disguises.audit.run import audit_plan
    from sottovoce.disguises.records import disguise_record, disguise_value
    from sottovoce.disguises.tables import disguise_column, disguise_file, disguise_frame
    from sottovoce.disguises.transactions import disguise_transactions
    from sottovoce.errors import SottovoceError
    from sottovoce.estimates.asked_together import estimate_covered
    from sottovoce.estimates.derived import derive
    from sottovoce.estimates.groups import compare_estimates, stratified
    from sottovoce.estimates.independence import independence_test
    from sottovoce.estimates.itemsets import estimate_supports, estimate_supports_by_size
    from sottovoce.estimates.log_linear import estimate_joint
    from sottovoce.estimates.mechanism_costs import mechanism_costs
    from sottovoce.estimates.proportions import estimate_by, estimate_proportions
    from sottovoce.estimates.sample_size import expected_width, respondents_needed
    from sottovoce.estimates.two_samples import estimate_two_samples
    from sottovoce.graphs.convert import as_graph
    from sottovoce.graphs.degrees import estimate_degrees, estimate_edges, reconstruct_graph
    from sottovoce.graphs.reports import disguise_graph
    from sottovoce.graphs.stars import estimate_stars
    from sottovoce.graphs.triangles import estimate_triangles
    from sottovoce.mining.classify.decision_tree import DecisionTree
    from sottovoce.mining.classify.experiments import accuracy_by_plan, respondents_for_accuracy
    from sottovoce.mining.classify.mined_privacy import mined_privacy
    from sottovoce.mining.classify.naive_bayes import NaiveBayes
    from sottovoce.mining.classify.scoring import score_disguised
    from sottovoce.mining.itemsets.frequent import frequent_itemsets
    from sottovoce.mining.itemsets.modelled import modelled_itemsets
    from sottovoce.mining.itemsets.privacy import itemset_privacy
    from sottovoce.mining.mining_plan import mining_plan
    from sottovoce.mining.rules import association_rules
    from sottovoce.plans.budget import new_plan
    from sottovoce.plans.plan import Plan, PriorSource
    from sottovoce.schemas.attribute import Attribute, boolean
    from sottovoce.schemas.binned import Binned
    from sottovoce.schemas.item_set import ItemSet
    from sottovoce.schemas.schema import Schema
    from sottovoce.surveys.definition.definition import survey_from_text
    from sottovoce.tables.infer import infer_schema
    from sottovoce.tables.plan_file import read_plan, write_plan

__version__ = "0.1.0"

_HOMES = {
    "Attribute": "schemas.attribute",
    "Binned": "schemas.binned",
    "DecisionTree": "mining.classify.decision_tree",
    "Front": "designs.front",
    "Goals": "designs.goals",
    "ItemSet": "schemas.item_set",
    "NaiveBayes": "mining.classify.naive_bayes",
    "Plan": "plans.plan",
    "PriorSource": "plans.plan",
    "Schema": "schemas.schema",
    "SottovoceError": "errors",
    "accuracy_by_plan": "mining.classify.experiments",
    "as_graph": "graphs.convert",
    "association_rules": "mining.rules",
    "attain_goals": "designs.goals",
    "audit_plan": "disguises.audit.run",
    "boolean": "schemas.attribute",
    "certified_front": "designs.certified",
    "compare": "designs.compare",
    "compare_estimates": "estimates.groups",
    "derive": "estimates.derived",
    "disguise_column": "disguises.tables",
    "disguise_file": "disguises.tables",
    "disguise_frame": "disguises.tables",
    "disguise_graph": "graphs.reports",
    "disguise_record": "disguises.records",
    "disguise_transactions": "disguises.transactions",
    "disguise_value": "disguises.records",
    "estimate_by": "estimates.proportions",
    "estimate_covered": "estimates.asked_together",
    "estimate_degrees": "graphs.degrees",
    "estimate_edges": "graphs.degrees",
    "estimate_joint": "estimates.log_linear",
    "estimate_proportions": "estimates.proportions",
    "estimate_stars": "graphs.stars",
    "estimate_supports": "estimates.itemsets",
    "estimate_supports_by_size": "estimates.itemsets",
    "estimate_triangles": "graphs.triangles",
    "estimate_two_samples": "estimates.two_samples",
    "expected_width": "estimates.sample_size",
    "frequent_itemsets": "mining.itemsets.frequent",
    "independence_test": "estimates.independence",
    "infer_schema": "tables.infer",
    "information_front": "designs.certified",
    "itemset_privacy": "mining.itemsets.privacy",
    "least_error_design": "designs.certified",
    "mechanism_costs": "estimates.mechanism_costs",
    "mined_privacy": "mining.classify.mined_privacy",
    "mining_plan": "mining.mining_plan",
    "modelled_itemsets": "mining.itemsets.modelled",
    "mopso_front": "designs.mopso",
    "named_prior": "designs.requirement",
    "new_plan": "plans.budget",
    "optrr_front": "designs.optrr.search",
    "quest_transactions": "datasets.quest",
    "read_plan": "tables.plan_file",
    "recommend": "designs.recommend.recommend",
    "reconstruct_graph": "graphs.degrees",
    "respondents_for_accuracy": "mining.classify.experiments",
    "respondents_needed": "estimates.sample_size",
    "score_disguised": "mining.classify.scoring",
    "stratified": "estimates.groups",
    "subset_sweep": "designs.sweeps",
    "survey_from_text": "surveys.definition.definition",
    "warner_sweep": "designs.sweeps",
    "write_plan": "tables.plan_file",
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
