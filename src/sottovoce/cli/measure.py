"""`sottovoce measure`, `width`, `respondents` and `compare`: what a plan reveals and how precise it is; schemes."""

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.design import CategoriesOption, PriorNameOption, PriorOption, parse_prior
from sottovoce.cli.options import (
    JsonOption,
    LevelOption,
    PlanArgument,
    option_errors,
    parse_measure,
    parse_priors,
    split_names,
    split_numbers,
)
from sottovoce.cli.output import print_table, progress_bar, say, write_json
from sottovoce.errors import SottovoceError, Words

if TYPE_CHECKING:
    from sottovoce.measures.functionals import Functional
    from sottovoce.measures.summary import ColumnMeasures
    from sottovoce.plans.plan import Plan

MOST_ROWS = 40
"""Most rows of the printed table; the JSON has all."""
DEFAULT_SCHEMES = "randomized_response,subset_selection,optimized_unary"

MOST_COMPARED = 60
"""Most rows of the printed table; the JSON has all."""

AttributesOption = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Attributes, estimated jointly; if not given, each attribute alone."),
]
CellPriorOption = Annotated[
    str | None,
    typer.Option(
        metavar="P,P,...",
        help="Expected proportions of the cells of --attributes, the last attribute varying fastest; else uniform.",
    ),
]
DeriveOption = Annotated[
    str | None,
    typer.Option(
        metavar="MEASURE",
        help="Intervals of a measure of --attributes instead of proportions, such as entropy or odds-ratio.",
    ),
]


@option_errors(plan="path", priors="prior", name="prior")
def measure(
    path: PlanArgument,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=P,P,...",
            help="Prior of an attribute (of a set: the frequency of each item). Repeatable; uniform if not given.",
        ),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Measure what a report reveals under a prior: an adversary's accuracy, posteriors and mutual information."""
    from sottovoce.measures.summary import measure_columns
    from sottovoce.tables.plan_file import read_plan

    plan = read_plan(path)
    columns = measure_columns(plan, parse_priors(plan.schema, prior or []))
    promise = plan.guarantee
    numbers = {"odds": promise.exact, "epsilon": promise.epsilon if promise.deniable else None}
    write_json({**numbers, "attributes": [column.to_json() for column in columns]}, json)
    say(f"Whole record: {promise}", json)
    headers = ("attribute", "accuracy", "worst posterior", "mutual information", "reconstruction", "distortion")
    print_table(headers, map(_row, columns[:MOST_ROWS]), json)
    for remark in _remarks(columns):
        say(remark, json)


def _row(column: "ColumnMeasures") -> tuple[str, ...]:
    name = column.name if column.item is None else f"{column.name}: {column.item}"
    reconstruction = column.individual_reconstruction
    between = "" if reconstruction is None else f"{min(reconstruction):.4f} to {max(reconstruction):.4f}"
    numbers = (column.accuracy, column.worst_posterior, column.mutual_information)
    return (f"{name}{'' if column.prior_given else ' *'}", *map(_number, numbers), between, _number(column.distortion))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _remarks(columns: "list[ColumnMeasures]") -> list[str]:
    from sottovoce.measures.summary import OWN

    remarks = ["Accuracy: of an adversary's best guess. Mutual information: in bits."]
    if len(columns) > MOST_ROWS:
        remarks.append(f"{len(columns) - MOST_ROWS} more rows are in the JSON.")
    if not all(column.prior_given for column in columns):
        remarks.append("* no prior was given: uniform.")
    if any(column.seen == OWN for column in columns):
        remarks.append("Some groups are too large to compute: only the attribute's own columns; the others may add.")
    if any(column.seen is None for column in columns):
        remarks.append("Empty rows: the group is too large to compute, and its report cannot be split; see its odds.")
    return remarks


@option_errors(plan="path", name="attributes", functional="derive")
def width(
    path: PlanArgument,
    respondents: Annotated[int, typer.Option(help="Number of respondents.")],
    attributes: AttributesOption = None,
    prior: CellPriorOption = None,
    derive: DeriveOption = None,
    level: LevelOption = 0.95,
    json: JsonOption = None,
) -> None:
    """Predict how wide intervals will be, before anyone is asked."""
    from sottovoce.estimates.sample_size import expected_width
    from sottovoce.tables.plan_file import read_plan

    plan = read_plan(path)
    tables = []
    for names, asked in _questions(plan, attributes, prior, derive):
        widths = expected_width(plan, names, respondents, level=level, **asked).tolist()
        cells = product(*plan.categories_of(names)) if derive is None else [(derive,)]
        rows = [{"cell": list(cell), "width": value} for cell, value in zip(cells, widths, strict=True)]
        tables.append({"attributes": names, "widest": max(widths), "margin": max(widths) / 2, "cells": rows})
    write_json({"respondents": respondents, "level": level, "tables": tables}, json)
    shown = [(table, row) for table in tables for row in table["cells"]]
    rows_of_text = [
        (
            ", ".join(table["attributes"]),
            ", ".join(map(str, row["cell"])),
            f"{row['width']:.4g}",
            f"{row['width'] / 2:.4g}",
        )
        for table, row in shown[:MOST_ROWS]
    ]
    print_table(("attributes", "cell", "width", "margin of error"), rows_of_text, json)
    if len(shown) > MOST_ROWS:
        say(f"{len(shown) - MOST_ROWS} more rows are in the JSON.", json)
    if prior is None:
        say("If proportions are uniform; --prior states others.", json)


@option_errors(plan="path", name="attributes", functional="derive")
def respondents(
    path: PlanArgument,
    margin: Annotated[float | None, typer.Option(help="Wanted margin of error, half the width of intervals.")] = None,
    width: Annotated[float | None, typer.Option(help="Wanted width of intervals, instead of --margin.")] = None,
    attributes: AttributesOption = None,
    prior: CellPriorOption = None,
    derive: DeriveOption = None,
    level: LevelOption = 0.95,
    json: JsonOption = None,
) -> None:
    """Find the fewest respondents for whom no interval is expected to be wider than wanted."""
    from sottovoce.checks import number
    from sottovoce.estimates.sample_size import respondents_needed
    from sottovoce.tables.plan_file import read_plan

    wanted = {name: value for name, value in (("margin", margin), ("width", width)) if value is not None}
    if len(wanted) != 1:
        raise SottovoceError(
            "margin or width", "must be given, exactly one of them", Words("both" if wanted else "none")
        )
    ((given, value),) = wanted.items()
    widest = number(given, value, 0, open_ends=True) * (2 if given == "margin" else 1)
    plan = read_plan(path)
    rows: list[dict[str, Any]] = []
    for names, asked in _questions(plan, attributes, prior, derive):
        rows.append({"attributes": names, "respondents": respondents_needed(plan, names, widest, level=level, **asked)})
    most = max(row["respondents"] for row in rows)
    write_json({"respondents": most, "width": widest, "margin": widest / 2, "level": level, "tables": rows}, json)
    shown = [(", ".join(row["attributes"]), f"{row['respondents']:,}") for row in rows[:MOST_ROWS]]
    print_table(("attributes", "respondents"), shown, json)
    say(f"For everything: {most:,} respondents.", json)
    if prior is None:
        say("If proportions are uniform; --prior states others.", json)


def _questions(
    plan: "Plan", attributes: str | None, prior: str | None, derive: str | None
) -> "Iterator[tuple[list[str], dict[str, Any]]]":
    """Yield the attributes of each table, and arguments for its prior and the measure of it."""
    from sottovoce.schemas.item_set import ItemSet

    if attributes is None and (prior is not None or derive is not None):
        raise SottovoceError("attributes", "must be given with --prior or --derive", Words("none"))
    shares = split_numbers("prior", prior)
    tables = [split_names(attributes)]
    if attributes is None:
        tables = [[variable.name] for variable in plan.schema if not isinstance(variable, ItemSet)]
    if not tables:
        rule = "must have categories for widths to be predicted; errors of supports of items are not"
        raise SottovoceError("attributes", rule, Words("sets of items only"))
    for names in tables:
        measure = None if derive is None else _functional(plan, names, shares, derive)
        yield names, {"prior": shares, "functional": measure}


def _functional(plan: "Plan", names: list[str], prior: list[float] | None, text: str) -> "Functional":
    from sottovoce.estimates.derived import NAMED_FUNCTIONALS, functional_named
    from sottovoce.estimates.sample_size import expected_proportions

    name = parse_measure("derive", text, NAMED_FUNCTIONALS)
    return functional_named(name, expected_proportions(plan, names, prior, 1))


@option_errors(epsilon="epsilons")
def compare(
    respondents: Annotated[float, typer.Option(help="Number of respondents.")],
    schemes: Annotated[str, typer.Argument(metavar="[SCHEME,SCHEME,...]", help="Names of schemes.")] = DEFAULT_SCHEMES,
    prior: PriorOption = None,
    prior_name: PriorNameOption = None,
    categories: CategoriesOption = None,
    measures: Annotated[
        str,
        typer.Option(
            metavar="M,M,...",
            help="mse, standard-error, interval-width, respondents-needed, entropy-error, adversary-accuracy, "
            "worst-posterior, reconstruction, mutual-information or distortion.",
        ),
    ] = "interval-width,adversary-accuracy",
    epsilons: Annotated[
        str | None, typer.Option(metavar="E,E,...", help="Values of epsilon; if not given, from 0.25 to 4.")
    ] = None,
    certified: Annotated[bool, typer.Option("--certified", help="Also show the proven optimum.")] = False,
    width: Annotated[float, typer.Option(help="Width of intervals for respondents-needed.")] = 0.05,
    level: LevelOption = 0.95,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Plot the schemes: .png, .svg or .pdf.")] = None,
    json: JsonOption = None,
) -> None:
    """Compare schemes over epsilon by privacy and error."""
    from sottovoce.designs.compare import CERTIFIED, EPSILONS
    from sottovoce.designs.compare import compare as compare_schemes
    from sottovoce.designs.compare_measures import NAMES

    with progress_bar("comparing") as progress:
        comparison = compare_schemes(
            [*split_names(schemes), *([CERTIFIED] if certified else [])],
            parse_prior(prior, prior_name, categories),
            respondents,
            [parse_measure("measures", name, NAMES) for name in split_names(measures)],
            epsilons=split_numbers("epsilons", epsilons) or EPSILONS,
            width=width,
            level=level,
            progress=progress,
        )
    if plot is not None:
        comparison.plot(plot)
    write_json(comparison.to_json(), json)
    if json == "-":
        return
    shown = comparison.rows[:MOST_COMPARED]
    rows = [(row["scheme"], *(_value(row[name]) for name in ("epsilon", *comparison.measures))) for row in shown]
    print_table(("scheme", "epsilon", *(name.replace("_", " ") for name in comparison.measures)), rows)
    if len(comparison.rows) > MOST_COMPARED:
        say(f"{len(comparison.rows) - MOST_COMPARED} more rows are in the JSON.")


def _value(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.5g}"
