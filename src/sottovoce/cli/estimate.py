"""`sottovoce estimate`: the group's truth from a disguised file, by groups, over strata, or against another wave."""

from functools import partial
from typing import Annotated, Any

import typer

from sottovoce.cli.estimate_shown import show_all
from sottovoce.cli.estimated import (
    check_choices,
    comparison,
    documented,
    groups,
    over_strata,
    save_plot,
    tested,
    together,
    waves,
)
from sottovoce.cli.output import JsonOption, emit, names, progress_bars


def estimate(
    path: Annotated[str, typer.Argument(metavar="FILE", help="Disguised CSV or Parquet file, with its plan.")],
    attributes: Annotated[str, typer.Option(help="Attributes, jointly: a,b.")],
    plan: Annotated[str | None, typer.Option(help="Plan, if the file does not carry it.")] = None,
    method: Annotated[str, typer.Option(help="inversion or blue (unbiased), em or simplex.")] = "inversion",
    target: Annotated[str, typer.Option(help="population, or the table itself.")] = "population",
    level: Annotated[float, typer.Option(help="Confidence of the intervals.")] = 0.95,
    interval: Annotated[str, typer.Option(help="Intervals: wald, score or bootstrap.")] = "wald",
    simultaneous: Annotated[bool, typer.Option("--simultaneous", help="Intervals that all hold at once.")] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable bootstrap.")] = None,
    weights: Annotated[str | None, typer.Option(metavar="COLUMN", help="Survey weights, not disguised.")] = None,
    by: Annotated[str | None, typer.Option(metavar="COLUMN", help="Apart for each value of it.")] = None,
    strata: Annotated[str | None, typer.Option(metavar="COLUMN", help="Strata, not disguised.")] = None,
    shares: Annotated[str | None, typer.Option(help="Shares of the strata: a=.4,b=.6; else the sample's.")] = None,
    against: Annotated[str | None, typer.Option(metavar="FILE2", help="Compare with another wave.")] = None,
    derived: Annotated[
        str | None,
        typer.Option(
            "--derive",
            help="Also entropy or mean; of two attributes mutual-information, chi-squared, g-squared, correlation; "
            "of two yes/no ones odds-ratio, log-odds-ratio, risk-difference.",
        ),
    ] = None,
    independence: Annotated[
        bool, typer.Option("--independence", help="Test that two attributes are independent.")
    ] = False,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Draw the estimate: .png, .svg or .pdf.")] = None,
    json: JsonOption = None,
) -> None:
    """Estimate proportions, with standard errors and intervals, from reports alone."""
    from sottovoce.table.watched import WatchedSource

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
        options: dict[str, Any] = {"kind": interval, "simultaneous": simultaneous}
        if interval == "bootstrap":
            options |= {"rng": seed, "progress": progress}
        documents, numbers = documented(found, names(derived), level, options)
        test = tested(path, plan, wanted, weights or strata, partial(move, "testing")) if independence else None
    difference = comparison(found, method, against)
    if test is not None:
        documents[""]["independence"] = test.to_json()
    emit(together(documents, by, None if difference is None else difference.to_json(level)), json)
    if plot is not None:
        save_plot(found[""], plot, level, options)
    if json != "-":
        show_all(found, documents, numbers, by, difference, test)
