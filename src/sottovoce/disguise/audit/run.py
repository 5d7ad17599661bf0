"""Proof from samples that a mechanism does what it says: a lower confidence bound of its epsilon.

Reports are drawn as a respondent's device draws them, and counted. If a report comes from one truth more
often than the stated odds to another truth allow, at the stated confidence, the statement is wrong.
"""

from typing import TYPE_CHECKING, Any

from sottovoce.disguise.audit.result import Audit, GroupAudit
from sottovoce.disguise.audit.sampler import Auditable
from sottovoce.disguise.audit.task import AuditTask, Meter
from sottovoce.errors import SottovoceError
from sottovoce.exact import probability
from sottovoce.mechanism.coins import Randomness, random_words
from sottovoce.plan.plan import Plan

if TYPE_CHECKING:
    from sottovoce.disguise.files import Progress


def audit_plan(
    plan: Plan,
    *,
    samples: int | None = None,
    confidence: float = 0.99,
    rng: Randomness = None,
    progress: "Progress | None" = None,
) -> Audit:
    """Audit every group of a plan; all bounds hold together at the stated confidence (Bonferroni).

    `samples` is the number of reports drawn of each truth; left out, it is as many as should show 90 % of
    an epsilon between .5 and 3, within limits.

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> audit = audit_plan(new_plan(Schema([boolean("evaded tax")]), odds=3), rng=1)
    >>> audit.passed, 0.9 * audit.epsilon <= audit.lower_bound <= audit.epsilon
    (True, True)
    """
    risk = _risk(confidence) / len(plan.groups)
    tasks = [AuditTask(", ".join(group.attributes), group.mechanism, _checked(samples), risk) for group in plan.groups]
    words, meter = random_words(rng), Meter(sum(task.draws for task in tasks), progress)
    groups = tuple(task.run(words, meter) for task in tasks)
    return Audit(float(confidence), plan.guarantee.epsilon, groups)


def audit_mechanism(
    mechanism: Auditable,
    *,
    name: str = "mechanism",
    samples: int | None = None,
    confidence: float = 0.99,
    rng: Randomness = None,
    progress: "Progress | None" = None,
) -> GroupAudit:
    """Audit one mechanism, or anything else with `sizes`, `coins`, `respond` and the `channel` it claims.

    >>> from sottovoce.mechanism.diagonal import Diagonal
    >>> audit_mechanism(Diagonal((3,), truth=3, other=1), rng=1).verdict
    'confirmed'
    """
    task = AuditTask(name, mechanism, _checked(samples), _risk(confidence))
    return task.run(random_words(rng), Meter(task.draws, progress))


def _risk(confidence: Any) -> float:
    if not 0 < probability("confidence", confidence) < 1:
        raise SottovoceError("confidence", "must be between 0 and 1, neither of them", confidence)
    return 1 - float(confidence)


def _checked(samples: Any) -> int | None:
    if samples is not None and (isinstance(samples, bool) or not isinstance(samples, int) or samples < 1):
        raise SottovoceError("samples", "must be a positive whole number", samples)
    return samples
