"""Sottovoce: ask sensitive questions deniably, and learn the truth about the group.

    import sottovoce as sv

    plan = sv.plan(people, odds="9:1")
    reports = sv.disguise(people, plan)
    reports.estimate("evaded tax")

The names below and the namespaces `schemes`, `measures`, `estimates`, `designs`, `mining`, `graphs`, `surveys` and
`datasets` are the public face; each is loaded when it is first used. docs/architecture.md describes the rooms behind
them.
"""

from sottovoce._lazy import lazy

__version__ = "0.2.0"

PACKAGES = ("schemes", "measures", "estimates", "designs", "mining", "graphs", "surveys", "datasets")
"""Namespaces: result types and what is needed less often."""

HOMES = {
    "counts.tally": ("Tally",),
    "designs.certified": ("design",),
    "designs.compare": ("compare",),
    "designs.recommend.recommend": ("recommend",),
    "disguises.audit.run": ("audit",),
    "disguises.records": ("disguise_record",),
    "errors": ("SottovoceError", "SottovoceWarning"),
    "estimates.estimate": ("Estimate",),
    "plans.plan": ("Plan",),
    "reports.reports": ("Reports",),
    "reports.verbs": ("disguise", "plan", "read"),
    "schemas.attribute": ("Attribute", "boolean"),
    "schemas.binned": ("Binned",),
    "schemas.item_set": ("ItemSet",),
    "schemas.schema": ("Schema",),
    "tables.infer": ("infer_schema",),
    "tables.plan_file": ("read_plan", "write_plan"),
}
"""Modules below this package, and the public names that are at home there."""

__getattr__, __dir__ = lazy(__name__, HOMES, PACKAGES)
