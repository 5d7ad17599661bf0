"""Documents that every reader must refuse: forged by hand, and one change a time to every mechanism there is."""

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from conformance import forgeries
from conformance.forged_mechanisms import mechanisms
from conformance.plans import case_plans
from sottovoce.errors import SottovoceError
from sottovoce.plans.document import plan_from_text, plan_to_json
from sottovoce.plans.plan import Plan

HAIR = 10**18
"""A promise is lowered by one part in so many: a reader that computes in floating point does not notice."""


def vectors() -> Iterator[dict[str, Any]]:
    """Forgeries of the document, the plan, the schema and the mechanisms, those of all schemes found, and versions."""
    for wrong, parameter, text in forgeries.no_documents():
        yield _vector(wrong, parameter, text)
    kinds = (forgeries.plans, forgeries.schemas, mechanisms, _broken_promises, _broken_integers, forgeries.versions)
    for found in kinds:
        for wrong, parameter, plan in found():
            yield _vector(wrong, parameter, forgeries.document(plan))


def _vector(wrong: str, parameter: str | None, text: str) -> dict[str, Any]:
    """Make sure that it is refused; `parameter` is None where the refusal itself has to tell it."""
    try:
        plan_from_text(text)
    except SottovoceError as refusal:
        if parameter in (None, refusal.parameter):
            return {"name": wrong, "parameter": refusal.parameter, "document": text}
        raise RuntimeError(f"{wrong!r} is refused for {refusal.parameter}, not for {parameter}") from refusal
    raise RuntimeError(f"{wrong!r} is not refused")


def _broken_promises() -> Iterator[forgeries.Forgery]:
    """A promise a hair below the odds, and any promise where they are unbounded: once a scheme and sort."""
    seen = set()
    for name, plan in case_plans():
        odds = plan.guarantee.odds
        sort = (plan.groups[0].scheme, odds is None)
        if sort in seen or odds == 1:
            continue
        seen.add(sort)
        promised = Fraction(HAIR) if odds is None else odds - (odds - 1) / HAIR
        stated = f"{promised.numerator}/{promised.denominator}"
        yield f"{name}: odds above the promise", "odds", plan_to_json(plan) | {"odds": stated}


def _broken_integers() -> Iterator[forgeries.Forgery]:
    """The first plan of each kind of mechanism, with one of its integers no longer one, or lacking."""
    for kind, plan in _one_plan_a_kind().items():
        mechanism = plan_to_json(plan)["groups"][0]["mechanism"]
        for key in (key for key, value in mechanism.items() if _changed(value, int) != value):
            for wrong, change in _CHANGES.items():
                yield f"{kind}: {key} {wrong}", None, _with_mechanism(plan, mechanism | {key: change(mechanism[key])})
            lacking = {k: value for k, value in mechanism.items() if k != key}
            yield f"{kind}: {key} lacking", None, _with_mechanism(plan, lacking)


def _one_plan_a_kind() -> dict[str, Plan]:
    found: dict[str, Plan] = {}
    for _, plan in case_plans():
        found.setdefault(plan.groups[0].mechanism.kind, plan)
    return found


def _with_mechanism(plan: Plan, mechanism: Any) -> Any:
    """JSON of a plan of one group with another mechanism; copied, since plans share nothing with vectors."""
    document = json.loads(json.dumps(plan_to_json(plan)))
    document["groups"][0]["mechanism"] = mechanism
    return document


def _changed(value: Any, change: Callable[[str], Any]) -> Any:
    """Same JSON with its first integer, wherever it stands in the lists, changed."""
    if isinstance(value, list) and value:
        return [_changed(value[0], change), *value[1:]]
    return change(value) if isinstance(value, str) and value.isdecimal() else value


_CHANGES: dict[str, Callable[[Any], Any]] = {
    "not written as text": lambda value: _changed(value, int),
    "negative": lambda value: _changed(value, lambda text: f"-{text}"),
}
