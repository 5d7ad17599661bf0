"""`sottovoce estimate`: the group's truth from a disguised file, by groups, over strata, or against another wave."""

from functools import partial
from typing import Any

from sottovoce.cli import estimate_options as options
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
from sottovoce.cli.output import FileArgument, JsonOption, LevelOption, PlanOption, emit, names, progress_bars


def estimate(
    path: FileArgument,
    attributes: options.AttributesOption,
    plan: PlanOption = None,
    method: options.MethodOption = "inversion",
    target: options.TargetOption = "population",
    level: LevelOption = 0.95,
    interval: options.IntervalOption = "wald",
    simultaneous: options.SimultaneousOption = False,
    seed: options.SeedOption = None,
    weights: options.WeightsOption = None,
    by: options.ByOption = None,
    strata: options.StrataOption = None,
    shares: options.SharesOption = None,
    against: options.AgainstOption = None,
    derived: options.DerivedOption = None,
    independence: options.IndependenceOption = False,
    plot: options.PlotOption = None,
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
