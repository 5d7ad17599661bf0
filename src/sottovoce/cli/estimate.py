"""`sottovoce estimate`: estimates from a disguised file, for groups, over strata, or compared with another file."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.options import (
    JsonOption,
    LevelOption,
    PlanOption,
    ReportsArgument,
    option_errors,
    parse_measure,
    parse_shares,
    split_names,
    split_numbers,
    written_name,
)
from sottovoce.cli.output import interval_header, print_table, progress_bars, say, write_json
from sottovoce.cli.tally import reports_in
from sottovoce.errors import SottovoceError, renamed_parameters

if TYPE_CHECKING:
    from sottovoce.estimates.derived import Derived
    from sottovoce.estimates.estimate import Estimate
    from sottovoce.estimates.groups import Comparison
    from sottovoce.estimates.independence import IndependenceTest

    Estimates = dict[str, Estimate]
    """Estimates by the value of `--by`, as "first" and "second", or a single one under the empty name."""

MOST_ROWS = 200
"""Most rows of the printed table; the JSON has all."""


@option_errors(kind="interval", name="attributes", variables="attributes", table="path")
def estimate(
    path: ReportsArgument,
    attributes: Annotated[str, typer.Option(metavar="A,B,...", help="Attributes, estimated jointly.")],
    plan: PlanOption = None,
    method: Annotated[str, typer.Option(help="best, inversion or blue (all unbiased), em or simplex.")] = "best",
    target: Annotated[
        str, typer.Option(help="What is estimated: the population, or the respondents in the table.")
    ] = "population",
    level: LevelOption = 0.95,
    interval: Annotated[
        str, typer.Option(help="Kind of intervals: default, exact, score, profile, wald or bootstrap.")
    ] = "default",
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="Intervals that contain all proportions at once.")
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable bootstrap.")] = None,
    weights: Annotated[str | None, typer.Option(metavar="COLUMN", help="Undisguised column of survey weights.")] = None,
    by: Annotated[str | None, typer.Option(metavar="COLUMN", help="Undisguised column: estimate each group.")] = None,
    strata: Annotated[str | None, typer.Option(metavar="COLUMN", help="Undisguised column of strata.")] = None,
    shares: Annotated[
        str | None,
        typer.Option(metavar="NAME=P,...", help="Proportions of the strata; those of the sample if not given."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="FILE2", help="Disguised file to compare with; differences are FILE minus FILE2."),
    ] = None,
    derive: Annotated[
        str | None,
        typer.Option(
            metavar="M,M,...",
            help="Also entropy or mean; of two attributes mutual-information, chi-squared, g-squared, correlation; "
            "of two yes/no attributes odds-ratio, log-odds-ratio, risk-difference.",
        ),
    ] = None,
    scores: Annotated[
        str | None,
        typer.Option(metavar="S,S,...", help="Numbers that the categories stand for, for the mean of one attribute."),
    ] = None,
    independence: Annotated[
        bool, typer.Option("--independence", help="Test whether two attributes are independent.")
    ] = False,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Plot the estimate: .png, .svg or .pdf.")] = None,
    json: JsonOption = None,
) -> None:
    """Estimate proportions from disguised reports, with standard errors and intervals."""
    from sottovoce.estimates.derived import NAMED_FUNCTIONALS
    from sottovoce.tables.source import ProgressSource

    _check_combination(by, strata, shares, against, single={"plot": plot is not None, "independence": independence})
    names = split_names(attributes)
    measures = [parse_measure("derive", name, NAMED_FUNCTIONALS) for name in split_names(derive)]
    with progress_bars() as move:
        progress = partial(move, "estimating")
        source = partial(ProgressSource, progress=partial(move, "reading"))
        options = {"method": method, "target": target, "weights": weights, "progress": progress}
        if strata is not None:
            with renamed_parameters({"by": "strata"}):
                estimates = _estimate_groups(path, plan, names, strata, options, source)
        elif by is not None:
            estimates = _estimate_groups(path, plan, names, by, options, source)
        else:
            estimates = _estimate_files([path] if against is None else [path, against], plan, names, options, source)
        if strata is not None:
            estimates = {"": _combine_strata(estimates, shares)}
        intervals: dict[str, Any] = {"kind": interval, "simultaneous": simultaneous}
        if interval == "bootstrap":
            intervals |= {"rng": seed, "progress": progress}
        given = split_numbers("scores", scores)
        documents, derived = _documents(estimates, measures, level, intervals, given)
        test = None
        if independence:
            test = _test_independence(path, plan, names, weights or strata, partial(move, "testing"))
    comparison = _compare(estimates, method, against)
    if test is not None:
        documents[""]["independence"] = test.to_json()
    write_json(_document(documents, by, None if comparison is None else comparison.to_json(level)), json)
    if plot is not None:
        _save_plot(estimates[""], plot, level, intervals)
    if json != "-":
        _show_all(estimates, documents, derived, by, comparison, test)


def _check_combination(
    by: str | None, strata: str | None, shares: str | None, against: str | None, *, single: dict[str, bool]
) -> None:
    """Refuse options that do not go together; those in `single` need a single estimate."""
    if sum(option is not None for option in (by, strata, against)) > 1:
        raise SottovoceError("by, strata and against", "must not be used together", [by, strata, against])
    if shares is not None and strata is None:
        raise SottovoceError("shares", "must come with --strata", shares)
    for name, used in single.items():
        if used and (by is not None or against is not None):
            raise SottovoceError(name, "must be used without --by or --against", by or against)


def _estimate_groups(
    path: str,
    plan: str | None,
    attributes: list[str],
    column: str,
    options: dict[str, Any],
    source: Callable[[str], Any],
) -> "Estimates":
    """Estimate each group of respondents with the same value in a column."""
    from sottovoce.estimates.proportions import estimate_by

    table, agreed, frequencies = reports_in(path, plan, source)
    estimates = estimate_by(table, agreed, attributes, column, frequencies=frequencies, **options)
    return {str(value): each for value, each in estimates.items()}


def _estimate_files(
    paths: list[str], plan: str | None, attributes: list[str], options: dict[str, Any], source: Callable[[str], Any]
) -> "Estimates":
    """Estimate one file or two; the second has its own plan if it carries one."""
    from sottovoce.counts.tally_document import is_tally
    from sottovoce.estimates.proportions import estimate_proportions
    from sottovoce.tables.plan_file import carries_plan

    estimates = []
    for path in paths:
        carried = path is not paths[0] and (is_tally(path) or carries_plan(path))
        table, agreed, frequencies = reports_in(path, None if carried else plan, source)
        estimates.append(estimate_proportions(table, agreed, attributes, frequencies=frequencies, **options))
    return {"": estimates[0]} if len(estimates) == 1 else {"first": estimates[0], "second": estimates[1]}


def _combine_strata(strata: "Estimates", shares: str | None) -> "Estimate":
    from sottovoce.estimates.groups import stratified

    return stratified(strata, None if shares is None else parse_shares(shares))


def _test_independence(
    path: str, plan: str | None, attributes: list[str], unequal: str | None, progress: Any
) -> "IndependenceTest":
    """Test whether two attributes are independent; `unequal` is a column of weights or strata, which is refused."""
    from sottovoce.estimates.independence import independence_test

    if len(attributes) != 2:
        raise SottovoceError("independence", "must be used with two attributes", attributes)
    if unequal is not None:
        raise SottovoceError("independence", "must be used without --weights or --strata", unequal)
    table, agreed, frequencies = reports_in(path, plan)
    return independence_test(table, agreed, *attributes, frequencies=frequencies, progress=progress)


def _documents(
    estimates: "Estimates", measures: list[str], level: float, intervals: dict[str, Any], scores: list[float] | None
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, "Derived"]]]:
    """Return the JSON and the derived measures of each estimate."""
    documents = {name: each.to_json(level, **intervals) for name, each in estimates.items()}
    derived = {name: _derive(each, measures, level, intervals, scores) for name, each in estimates.items()}
    for name, document in documents.items():
        document["derived"] = {measure: each.to_json() for measure, each in derived[name].items()}
    return documents, derived


def _derive(
    estimate: "Estimate", measures: list[str], level: float, intervals: dict[str, Any], scores: list[float] | None
) -> dict[str, "Derived"]:
    """Return derived measures by name, with bootstrap intervals if these were asked for."""
    from sottovoce.estimates.bootstrap import DRAWS
    from sottovoce.estimates.derived import SCORED, derive

    if scores is not None and "mean" not in measures:
        raise SottovoceError("scores", "must come with --derive mean", scores)
    options: dict[str, Any] = {name: intervals[name] for name in ("rng", "progress") if name in intervals}
    draws = DRAWS if intervals["kind"] == "bootstrap" else None
    return {
        written_name(name): derive(
            estimate, name, level, scores=scores if name in SCORED else None, bootstrap=draws, **options
        )
        for name in measures
    }


def _compare(estimates: "Estimates", method: str, against: str | None) -> "Comparison | None":
    """Compare two files, or two groups if the method has a covariance for that."""
    from sottovoce.estimates.groups import compare_estimates

    if len(estimates) != 2 or (against is None and method not in ("best", "inversion", "blue")):
        return None
    (first, one), (second, other) = estimates.items()
    return compare_estimates(one, other, (first, second))


def _document(
    documents: dict[str, dict[str, Any]], by: str | None, comparison: dict[str, Any] | None
) -> dict[str, Any]:
    """Return one JSON document for all estimates."""
    if by is not None:
        return {"by": by, "groups": documents, "comparison": comparison}
    return documents[""] if "" in documents else documents | {"comparison": comparison}


def _save_plot(estimate: "Estimate", path: str, level: float, intervals: dict[str, Any]) -> None:
    from sottovoce.tables.figures import save_figure

    save_figure(estimate.plot(level, **intervals), path)


def _show_all(
    estimates: "Estimates",
    documents: dict[str, dict[str, Any]],
    derived: dict[str, dict[str, "Derived"]],
    by: str | None,
    comparison: "Comparison | None",
    test: "IndependenceTest | None",
) -> None:
    """Print all estimates, their comparison and the test of independence."""
    for name, each in estimates.items():
        if name:
            say(name if by is None else f"{by}: {name}")
        _show(each, documents[name], derived[name])
    if comparison is not None:
        say(comparison.to_text(next(iter(documents.values()))["level"]))
    if test is not None:
        say(str(test))


def _show(estimate: "Estimate", document: dict[str, Any], derived: dict[str, "Derived"]) -> None:
    """Print one estimate as a table, with derived measures and remarks."""
    say(estimate.headline)
    rows = [
        (
            *map(str, cell["values"].values()),
            f"{cell['estimate']:.4f}",
            f"{cell['standard_error']:.4f}",
            f"{cell['low']:.4f} to {cell['high']:.4f}",
        )
        for cell in document["cells"][:MOST_ROWS]
    ]
    print_table((*estimate.attributes, "estimate", "standard error", _interval_header(document)), rows)
    if len(document["cells"]) > MOST_ROWS:
        say(f"{len(document['cells']) - MOST_ROWS} more cells are in the JSON.")
    for number in derived.values():
        say(str(number))
    for remark in estimate.notes:
        say(remark)


def _interval_header(document: dict[str, Any]) -> str:
    """Return the header of the intervals, with their method."""
    words = [document["interval"]]
    words += ["simultaneous"] if "simultaneous" in document else []
    return f"{interval_header(document['level'])} ({', '.join(words)})"
