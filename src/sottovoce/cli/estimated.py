"""What `sottovoce estimate` computes."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sottovoce.cli.output import shares_given
from sottovoce.errors import SottovoceError

if TYPE_CHECKING:
    from sottovoce.estimate.comparison import Comparison
    from sottovoce.estimate.derived import Derived
    from sottovoce.estimate.estimate import Estimate
    from sottovoce.estimate.independence import IndependenceTest

    Estimates = dict[str, Estimate]
    Watched = Callable[[str], Any]


def check_choices(
    by: str | None, strata: str | None, shares: str | None, against: str | None, *, alone: dict[str, bool]
) -> None:
    """Refuse choices that do not go together; those that are `alone` are of one estimate only."""
    if sum(choice is not None for choice in (by, strata, against)) > 1:
        raise SottovoceError("by, strata and against", "must not be used together", [by, strata, against])
    if shares is not None and strata is None:
        raise SottovoceError("shares", "must come with strata", shares)
    for choice, made in alone.items():
        if made and (by is not None or against is not None):
            raise SottovoceError(choice, "must be of one estimate, without by or against", by or against)


def groups(
    path: str, plan: str | None, attributes: list[str], column: str, asked: dict[str, Any], watched: "Watched"
) -> "Estimates":
    """Estimate of each value of a column."""
    from sottovoce.estimate.proportions import estimate_by
    from sottovoce.table.plan_file import plan_of_reports

    agreed = plan_of_reports(path, plan)
    found = estimate_by(watched(path), agreed, attributes, column, **asked)
    return {str(value): each for value, each in found.items()}


def waves(
    paths: list[str], plan: str | None, attributes: list[str], asked: dict[str, Any], watched: "Watched"
) -> "Estimates":
    """Estimate of the file, without a name, or of two; the second has its own plan if it carries one."""
    from sottovoce.estimate.proportions import estimate_proportions
    from sottovoce.table.plan_file import carries_plan, plan_of_reports

    plans = [plan_of_reports(path, plan if path is paths[0] or not carries_plan(path) else None) for path in paths]
    pairs = zip(paths, plans, strict=True)
    found = [estimate_proportions(watched(path), agreed, attributes, **asked) for path, agreed in pairs]
    return {"": found[0]} if len(found) == 1 else {"first": found[0], "second": found[1]}


def over_strata(parts: "Estimates", shares: str | None) -> "Estimate":
    """Estimate of the whole from its strata."""
    from sottovoce.estimate.strata import stratified

    return stratified(parts, None if shares is None else shares_given(shares))


def tested(
    path: str, plan: str | None, attributes: list[str], unequal: str | None, progress: Any
) -> "IndependenceTest":
    """Test that two attributes of a file are independent."""
    from sottovoce.estimate.independence import independence_test
    from sottovoce.table.plan_file import plan_of_reports

    if len(attributes) != 2:
        raise SottovoceError("independence", "must be of two attributes", attributes)
    if unequal is not None:
        raise SottovoceError("independence", "must be tested without weights or strata", unequal)
    return independence_test(path, plan_of_reports(path, plan), *attributes, progress=progress)


def save_plot(found: "Estimate", path: str, level: float, options: dict[str, Any]) -> None:
    """Picture of one estimate, as a file, with the intervals that were asked for."""
    from sottovoce.table.figure import save_figure

    save_figure(found.plot(level, **options), path)


def documented(
    found: "Estimates", derived: list[str], level: float, options: dict[str, Any]
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, "Derived"]]]:
    """Each estimate for programs, and the numbers that were asked to be derived from it."""
    documents = {name: each.to_json(level, **options) for name, each in found.items()}
    numbers = {name: _derived_numbers(each, derived, level, options) for name, each in found.items()}
    for name, document in documents.items():
        document["derived"] = {label: number.to_json() for label, number in numbers[name].items()}
    return documents, numbers


def _derived_numbers(
    found: "Estimate", wanted: list[str], level: float, options: dict[str, Any]
) -> dict[str, "Derived"]:
    """Numbers asked for by name, bootstrapped where the intervals are and the delta method fails."""
    from sottovoce.estimate.bootstrap import DRAWS
    from sottovoce.estimate.derived import derive

    how: dict[str, Any] = {name: options[name] for name in ("rng", "progress") if name in options}
    draws = DRAWS if options["kind"] == "bootstrap" else None
    return {name: derive(found, name, level, bootstrap=draws, **how) for name in wanted}


def comparison(found: "Estimates", method: str, against: str | None) -> "Comparison | None":
    """Comparison of two waves, or of two groups where the method allows it."""
    from sottovoce.estimate.comparison import compare_estimates

    if len(found) != 2 or (against is None and method not in ("inversion", "blue")):
        return None
    return compare_estimates(*found.values())


def together(documents: dict[str, dict[str, Any]], by: str | None, comparison: dict[str, Any] | None) -> dict[str, Any]:
    """One document of all."""
    if by is not None:
        return {"by": by, "groups": documents, "comparison": comparison}
    return documents[""] if "" in documents else documents | {"comparison": comparison}
