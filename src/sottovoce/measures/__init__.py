"""Measures of privacy and of utility: functions of a channel, a plan or a stack of matrices, and a prior.

A measure is a number for one matrix and an array for a stack. No reports are needed.
May import: plans and everything below, not disguises and counts.
"""

from sottovoce._lazy import lazy

HOMES = {
    "measures.association": (
        "ChiSquared",
        "GSquared",
        "LogOddsRatio",
        "MutualInformation",
        "OddsRatio",
        "PearsonCorrelation",
        "RiskDifference",
    ),
    "measures.entries": (
        "entry_privacy",
        "group_privacy",
        "literal_privacy",
        "privacy_after_mining",
        "privacy_given",
        "recoverability_known",
        "recoverability_unknown",
    ),
    "measures.functionals": (
        "ConditionalProbability",
        "Entropy",
        "Functional",
        "Mean",
        "UserFunction",
    ),
    "measures.item_privacy": (
        "basic_privacy",
        "reconstruction_of_ones",
        "reinterrogation_privacy",
    ),
    "measures.itemset_error": ("support_error",),
    "measures.privacy": (
        "Breach",
        "adversary_accuracy",
        "adversary_privacy",
        "amplification",
        "best_guess",
        "conditional_entropy",
        "entropy",
        "epsilon_of",
        "individual_reconstruction",
        "largest_posterior",
        "largest_prior",
        "mutual_information",
        "odds_of",
        "worst_breach",
        "worst_posterior",
    ),
    "measures.private_parameter": (
        "PosteriorRange",
        "posterior_range",
        "private_posterior",
        "share_below",
    ),
    "measures.summary": (
        "ColumnMeasures",
        "measure_columns",
    ),
    "measures.utility": (
        "average_mean_squared_error",
        "condition_number",
        "distortion",
        "estimate_covariance",
        "mean_squared_errors",
        "report_variances",
    ),
}

__getattr__, __dir__ = lazy(__name__, HOMES)
