"""Mining of disguised data alone: frequent itemsets, association rules and classifiers.

May touch: design, estimate and everything below.
"""

from sottovoce._lazy import lazy

HOMES = {
    "mining.classify.decision_tree": ("DecisionTree",),
    "mining.classify.experiments": (
        "LearningCurve",
        "accuracy_by_plan",
        "accuracy_by_respondents",
        "respondents_for_accuracy",
    ),
    "mining.classify.grouping": ("Grouping", "compare_groupings", "grouped_plan"),
    "mining.classify.learner": ("DisguisedClassifier",),
    "mining.classify.mined_privacy": ("EntryPrivacy", "MinedPrivacy", "mined_privacy"),
    "mining.classify.naive_bayes": ("LogOdds", "NaiveBayes"),
    "mining.classify.scoring": ("DisguisedScorer", "Scores", "score_disguised"),
    "mining.itemsets.evaluation": ("LengthErrors", "mining_errors", "ItemsetPrivacy", "itemset_privacy"),
    "mining.itemsets.frequent": ("ResolutionWarning", "frequent_itemsets"),
    "mining.itemsets.pattern_model": ("itemsets_of", "modelled_itemsets"),
    "mining.itemsets.result": ("Itemsets",),
    "mining.itemsets.selection": ("Recall",),
    "mining.itemsets.tuning": ("Tuning",),
    "mining.picked": ("Picked",),
    "mining.regression.result": ("LikelihoodRatio", "OddsRatios", "Predictions", "Regression"),
    "mining.rules": ("Rules", "association_rules"),
    "mining.small_set_plan": ("mining_plan",),
}

__getattr__, __dir__ = lazy(__name__, HOMES)
