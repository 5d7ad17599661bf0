"""`sottovoce estimate`: estimates from a disguised file, by groups, over strata, or against another wave."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.output import (
    FileArgument,
    JsonOption,
    LevelOption,
    PlanOption,
    emit,
    names,
    progress_bars,
    say,
    shares_given,
    table,
)
from sottovoce.errors import SottovoceError

if TYPE_CHECKING:
    from sottovoce.estimates.derived import Derived
    from sottovoce.estimates.estimate import Estimate
    from sottovoce.estimates.groups import Comparison
    from sottovoce.estimates.independence import IndependenceTest

    Estimates = dict[str, Estimate]
    Watched = Callable[[str], Any]

AttributesOption = Annotated[str, typer.Option(help="Attributes, jointly: a,b.")]
MethodOption = Annotated[str, typer.Option(help="inversion or blue (unbiased), em or simplex.")]
TargetOption = Annotated[str, typer.Option(help="population, or the table itself.")]
IntervalOption = Annotated[str, typer.Option(help="Intervals: wald, score or bootstrap.")]
SimultaneousOption = Annotated[bool, typer.Option("--simultaneous", help="Intervals that all hold at once.")]
SeedOption = Annotated[int | None, typer.Option(min=0, help="Repeatable bootstrap.")]
WeightsOption = Annotated[str | None, typer.Option(metavar="COLUMN", help="Survey weights, not disguised.")]
ByOption = Annotated[str | None, typer.Option(metavar="COLUMN", help="Apart for each value of it.")]
StrataOption = Annotated[str | None, typer.Option(metavar="COLUMN", help="Strata, not disguised.")]
SharesOption = Annotated[str | None, typer.Option(help="Shares of the strata: a=.4,b=.6; else the sample's.")]
AgainstOption = Annotated[str | None, typer.Option(metavar="FILE2", help="Compare with another wave.")]
DerivedOption = Annotated[
    str | None,
    typer.Option(
        "--derive",
        help="Also entropy or mean; of two attributes mutual-information, chi-squared, g-squared, correlation; "
        "of two yes/no ones odds-ratio, log-odds-ratio, risk-difference.",
    ),
]
IndependenceOption = Annotated[bool, typer.Option("--independence", help="Test that two attributes are independent.")]
PlotOption = Annotated[str | None, typer.Option(metavar="FILE", help="Draw the estimate: .png, .svg or .pdf.")]
MOST_ROWS = 200
"""Cells of a table for people; the JSON has all."""

BOOTSTRAP = "Where there is no interval by the delta method, --interval bootstrap may give one."


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
    from sottovoce.estimates.proportions import estimate_by
    from sottovoce.tables.plan_file import plan_of_reports

    agreed = plan_of_reports(path, plan)
    found = estimate_by(watched(path), agreed, attributes, column, **asked)
    return {str(value): each for value, each in found.items()}


def waves(
    paths: list[str], plan: str | None, attributes: list[str], asked: dict[str, Any], watched: "Watched"
) -> "Estimates":
    """Estimate of the file, without a name, or of two; the second has its own plan if it carries one."""
    from sottovoce.estimates.proportions import estimate_proportions
    from sottovoce.tables.plan_file import carries_plan, plan_of_reports

    plans = [plan_of_reports(path, plan if path is paths[0] or not carries_plan(path) else None) for path in paths]
    pairs = zip(paths, plans, strict=True)
    found = [estimate_proportions(watched(path), agreed, attributes, **asked) for path, agreed in pairs]
    return {"": found[0]} if len(found) == 1 else {"first": found[0], "second": found[1]}


def over_strata(parts: "Estimates", shares: str | None) -> "Estimate":
    """Estimate of the whole from its strata."""
    from sottovoce.estimates.groups import stratified

    return stratified(parts, None if shares is None else shares_given(shares))


def tested(
    path: str, plan: str | None, attributes: list[str], unequal: str | None, progress: Any
) -> "IndependenceTest":
    """Test that two attributes of a file are independent."""
    from sottovoce.estimates.independence import independence_test
    from sottovoce.tables.plan_file import plan_of_reports

    if len(attributes) != 2:
        raise SottovoceError("independence", "must be of two attributes", attributes)
    if unequal is not None:
        raise SottovoceError("independence", "must be tested without weights or strata", unequal)
    return independence_test(path, plan_of_reports(path, plan), *attributes, progress=progress)


def save_plot(found: "Estimate", path: str, level: float, options: dict[str, Any]) -> None:
    """Picture of one estimate, as a file, with the intervals that were asked for."""
    from sottovoce.tables.figures import save_figure

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
    from sottovoce.estimates.bootstrap import DRAWS
    from sottovoce.estimates.derived import derive

    how: dict[str, Any] = {name: options[name] for name in ("rng", "progress") if name in options}
    draws = DRAWS if options["kind"] == "bootstrap" else None
    return {name: derive(found, name, level, bootstrap=draws, **how) for name in wanted}


def comparison(found: "Estimates", method: str, against: str | None) -> "Comparison | None":
    """Comparison of two waves, or of two groups where the method allows it."""
    from sottovoce.estimates.groups import compare_estimates

    if len(found) != 2 or (against is None and method not in ("inversion", "blue")):
        return None
    return compare_estimates(*found.values())


def together(documents: dict[str, dict[str, Any]], by: str | None, comparison: dict[str, Any] | None) -> dict[str, Any]:
    """One document of all."""
    if by is not None:
        return {"by": by, "groups": documents, "comparison": comparison}
    return documents[""] if "" in documents else documents | {"comparison": comparison}


def show_all(
    found: "dict[str, Estimate]",
    documents: dict[str, dict[str, Any]],
    numbers: dict[str, dict[str, "Derived"]],
    by: str | None,
    difference: "Comparison | None",
    test: "IndependenceTest | None",
) -> None:
    """Tables for people, how two of them differ, and whether two attributes are independent."""
    for name, each in found.items():
        if name:
            say(name if by is None else f"{by}: {name}")
        show(each, documents[name], numbers[name])
    if difference is not None:
        say(difference.to_text(next(iter(documents.values()))["level"]))
    if test is not None:
        say(str(test))


def show(found: "Estimate", document: dict[str, Any], numbers: dict[str, "Derived"]) -> None:
    """Table for people."""
    from sottovoce.estimates.presentation import remarks

    say(found.headline)
    rows = [
        (*map(str, cell["values"].values()), f"{cell['estimate']:.4f}", f"{cell['standard_error']:.4f}", _ends(cell))
        for cell in document["cells"][:MOST_ROWS]
    ]
    table((*found.attributes, "estimate", "standard error", _interval(document)), rows)
    if len(document["cells"]) > MOST_ROWS:
        say(f"{len(document['cells']) - MOST_ROWS} more cells are in the JSON.")
    for number in numbers.values():
        say(str(number))
    if document["interval"] != "bootstrap" and any(number.reason is not None for number in numbers.values()):
        say(BOOTSTRAP)
    for remark in remarks(found.value, found.spread):
        say(remark)


def _interval(document: dict[str, Any]) -> str:
    """Header of the intervals: their confidence, and their kind where it is not the plain one."""
    words = [document["interval"]] if document["interval"] != "wald" else []
    words += ["simultaneous"] if "simultaneous" in document else []
    kind = f" ({', '.join(words)})" if words else ""
    return f"{100 * document['level']:g}% interval{kind}"


def _ends(cell: dict[str, Any]) -> str:
    return f"{cell['low']:.4f} to {cell['high']:.4f}"


def estimate(
    path: FileArgument,
    attributes: AttributesOption,
    plan: PlanOption = None,
    method: MethodOption = "inversion",
    target: TargetOption = "population",
    level: LevelOption = 0.95,
    interval: IntervalOption = "wald",
    simultaneous: SimultaneousOption = False,
    seed: SeedOption = None,
    weights: WeightsOption = None,
    by: ByOption = None,
    strata: StrataOption = None,
    shares: SharesOption = None,
    against: AgainstOption = None,
    derived: DerivedOption = None,
    independence: IndependenceOption = False,
    plot: PlotOption = None,
    json: JsonOption = None,
) -> None:
    """Estimate proportions, with standard errors and intervals, from reports alone."""
    from sottovoce.tables.source import WatchedSource

    check_choices(by, strata, shares, against, alone={"plot": plot is not None, "independence": independence})
    wanted = names(attributes)
    with progress_bars() as move:
        progress = partial(move, "estimating")
        watched = partial(WatchedSource, progress=partial(move, "reading"))
        asked = {"method": method, "target": target, "weights": weights, "progress": progress}
        if by is not None or strata is not None:
            found = groups(path, plan, wanted, by or strata or "", asked, watched)
        else:
            found = waves([path] if against is None else [path, against], plan, wanted, asked, watched)
        if strata is not None:
            found = {"": over_strata(found, shares)}
        shown: dict[str, Any] = {"kind": interval, "simultaneous": simultaneous}
        if interval == "bootstrap":
            shown |= {"rng": seed, "progress": progress}
        documents, numbers = documented(found, names(derived), level, shown)
        test = tested(path, plan, wanted, weights or strata, partial(move, "testing")) if independence else None
    difference = comparison(found, method, against)
    if test is not None:
        documents[""]["independence"] = test.to_json()
    emit(together(documents, by, None if difference is None else difference.to_json(level)), json)
    if plot is not None:
        save_plot(found[""], plot, level, shown)
    if json != "-":
        show_all(found, documents, numbers, by, difference, test)
