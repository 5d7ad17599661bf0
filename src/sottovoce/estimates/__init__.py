"""Estimates of the truth about a group from disguised reports, with their uncertainty.

May import: measures, counts, tables, plans and everything below them.
"""

from sottovoce._lazy import lazy

HOMES = {
    "estimates.groups": ("Estimates", "Comparison", "stratified"),
    "estimates.derived": ("Derived", "derive"),
    "estimates.estimate": ("Estimate", "Respondents"),
    "estimates.independence": ("IndependenceTest",),
    "estimates.laplace_costs": ("Cost", "DerivedCost", "Failures", "mechanism_costs", "reconstruction_failures"),
    "estimates.proportions": ("NeverAskedError",),
    "estimates.sample_size": ("expected_estimate", "expected_proportions", "expected_width", "respondents_needed"),
    "estimates.supports": ("Supports",),
    "estimates.two_samples": ("TwoSamples", "best_split", "solve_two_samples"),
}

__getattr__, __dir__ = lazy(__name__, HOMES)
