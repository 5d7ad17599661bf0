"""`sottovoce mine regress`: explain an outcome of a disguised file by its other columns."""

from typing import Annotated, Any

import typer

from sottovoce.cli.options import JsonOption, LevelOption, PlanOption, ReportsArgument, option_errors
from sottovoce.cli.output import interval_header, print_table, say, write_json


@option_errors(table="path", source="path")
def regress(
    path: ReportsArgument,
    formula: Annotated[str, typer.Option(help="Outcome and predictors, such as 'evaded ~ age + C(region)'.")],
    plan: PlanOption = None,
    family: Annotated[str, typer.Option(help="auto, binary, multinomial, ordinal, linear or poisson.")] = "auto",
    link: Annotated[str, typer.Option(help="logit, probit, cloglog or cauchit.")] = "logit",
    weights: Annotated[str | None, typer.Option(metavar="COLUMN", help="Survey weights.")] = None,
    clusters: Annotated[str | None, typer.Option(metavar="COLUMN", help="Clusters that were sampled.")] = None,
    strata: Annotated[str | None, typer.Option(metavar="COLUMN", help="Strata that were sampled from.")] = None,
    information: Annotated[
        str, typer.Option(help="observed or expected: where standard errors come from.")
    ] = "observed",
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Plot the coefficients: .png, .svg or .pdf.")] = None,
    level: LevelOption = 0.95,
    json: JsonOption = None,
) -> None:
    """Explain an outcome by predictors, any of which may be disguised, by maximum likelihood."""
    from sottovoce.reports.verbs import read
    from sottovoce.tables.figures import save_figure
    from sottovoce.tables.plan_file import read_plan

    given = None if plan is None else read_plan(plan)
    options: dict[str, Any] = {"weights": weights, "clusters": clusters, "strata": strata, "information": information}
    found = read(path, given).regress(formula, family=family, link=link, **options)  # type: ignore[arg-type]  # checked
    write_json(found.to_json(level), json)
    if plot is not None:
        save_figure(found.plot(level), plot)
    if json == "-":
        return
    say(found.headline)
    rows = [
        (
            row["name"],
            f"{row['estimate']:.4f}",
            f"{row['standard_error']:.4f}",
            f"{row['low']:.4f} to {row['high']:.4f}",
            f"{row['p_value']:.4g}",
        )
        for row in found.to_rows(level)
    ]
    print_table(("name", "estimate", "standard error", interval_header(level), "p-value"), rows)
    for note in found.notes:
        say(note)
