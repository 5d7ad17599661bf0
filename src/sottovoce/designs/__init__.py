"""Designs: the best channel for a required privacy, with a proof; fronts; comparisons; recommended plans.

May import: estimates, measures, plans and everything below.
"""

from sottovoce._lazy import lazy

HOMES = {
    "designs.certified": (
        "Request",
        "certified_front",
        "information_front",
        "solve_request",
    ),
    "designs.compare": ("SchemeComparison",),
    "designs.front": (
        "Certificate",
        "Front",
        "Objective",
        "Point",
    ),
    "designs.goals": (
        "Coins",
        "Curve",
        "Goals",
        "attain_goals",
        "equal_optima",
    ),
    "designs.mopso": ("mopso_front",),
    "designs.optrr.search": (
        "optrr_front",
        "with_iterative_error",
    ),
    "designs.recommend.alternatives": (
        "Alternative",
        "Reliance",
    ),
    "designs.recommend.recommendation": (
        "ExpectedWidth",
        "Recommendation",
    ),
    "designs.requirement": (
        "Requirement",
        "named_prior",
    ),
    "designs.sweeps": (
        "frapp_sweep",
        "subset_sweep",
        "unary_sweep",
        "uniform_perturbation_sweep",
        "warner_sweep",
    ),
    "disguises.audit.result": (
        "Audit",
        "GroupAudit",
    ),
    "plans.guarantee": ("Guarantee",),
    "plans.plan": ("PriorSource",),
}

__getattr__, __dir__ = lazy(__name__, HOMES)
