"""`sottovoce mine`: itemsets, rules, classifiers, graphs and regressions, from disguised data alone."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli import mine_classify, mine_graph, mine_regress
from sottovoce.cli.options import JsonOption, LevelOption, PlanOption, ReportsArgument, option_errors, split_names
from sottovoce.cli.output import interval_header, print_table, progress_bars, say, write_json
from sottovoce.cli.tally import reports_in
from sottovoce.errors import SottovoceError

if TYPE_CHECKING:
    from sottovoce.mining.itemsets.result import Itemsets
    from sottovoce.mining.rules import Rules

MinSupportOption = Annotated[float, typer.Option(help="Smallest support: a proportion of the transactions.")]
AttributesOption = Annotated[str | None, typer.Option(metavar="A,B,...", help="Attributes to mine; all if not given.")]
SelectionOption = Annotated[
    str, typer.Option(help="smoothed, threshold, or a recall such as .9: chance of a frequent set to be reported.")
]
LongestOption = Annotated[int | None, typer.Option(help="Most items of a set.")]
TargetOption = Annotated[str, typer.Option(help="What is estimated: the population, or the respondents in the table.")]
ModelOption = Annotated[
    bool, typer.Option("--model", help="Use a model of the joint table: for any plan, or for long sets of items.")
]

HalvesOption = Annotated[
    bool,
    typer.Option(
        "--halves", help="Let a random half of the reports pick and the other half estimate; no adjustment is needed."
    ),
]
SeedOption = Annotated[int | None, typer.Option(min=0, help="Repeatable halves.")]
TopOption = Annotated[int | None, typer.Option(help="Only so many, with the intervals of so short a list.")]
RawOption = Annotated[
    bool, typer.Option("--raw", help="Show the estimates, neither shrunk nor clipped, and standard errors as well.")
]

MOST_ROWS = 60
"""Most rows of the printed table; the JSON has all."""

option_names = option_errors(name="attributes", table="path", count="top")


@option_names
def itemsets(
    path: ReportsArgument,
    min_support: MinSupportOption,
    plan: PlanOption = None,
    attributes: AttributesOption = None,
    selection: SelectionOption = "smoothed",
    longest: LongestOption = None,
    target: TargetOption = "population",
    model: ModelOption = False,
    keep: Annotated[str, typer.Option(help="Which sets to show: all, maximal or closed.")] = "all",
    top: TopOption = None,
    halves: HalvesOption = False,
    seed: SeedOption = None,
    raw: RawOption = False,
    level: LevelOption = 0.95,
    json: JsonOption = None,
) -> None:
    """Find frequent itemsets in disguised data, with intervals that hold although the sets were picked."""
    from sottovoce.checks import one_of

    one_of("keep", keep, ("all", "maximal", "closed"))
    options: dict[str, Any] = {"model": model, "halves": halves, "seed": seed}
    found = _mine(path, plan, min_support, attributes, selection, longest, target, **options)
    shown = found if keep == "all" else found.maximal() if keep == "maximal" else found.closed()
    listed = shown if top is None else shown.top(top)
    write_json(listed.to_json(level, raw=raw), json)
    if json != "-":
        _show_itemsets(listed, level, raw=raw)


def _mine(
    path: str,
    plan: str | None,
    min_support: float,
    attributes: str | None,
    selection: str,
    longest: int | None,
    target: str,
    *,
    model: bool,
    halves: bool,
    seed: int | None,
) -> "Itemsets":
    """Find frequent itemsets in a file, with a progress bar for each length."""
    from sottovoce.counts.counter import as_counter
    from sottovoce.mining.itemsets.frequent import frequent_itemsets
    from sottovoce.mining.itemsets.pattern_model import modelled_itemsets

    if seed is not None and not halves:
        raise SottovoceError("seed", "must be given with --halves, which it makes repeatable", seed)
    table, agreed, frequencies = reports_in(path, plan)
    reports = table if frequencies is None else as_counter(table, frequencies)
    options: dict[str, Any] = {"attributes": split_names(attributes) or None, "longest": longest}
    options |= {"halves": halves, "rng": seed}
    with progress_bars() as move, _printed_warnings():
        options["progress"] = lambda length, done, total: move(f"length {length}" if length else "model", done, total)
        if model:
            _check_modelled(selection, target)
            return modelled_itemsets(reports, agreed, min_support, **options)
        options |= {"selection": _selection(selection), "target": target}
        return frequent_itemsets(reports, agreed, min_support, **options)


def _selection(text: str) -> Any:
    """Return a named selection, or a recall."""
    from sottovoce.mining.itemsets.selection import Recall

    if text in ("smoothed", "threshold"):
        return text
    try:
        return Recall(float(text))
    except ValueError:  # not a number, or not a recall
        rule = "must be smoothed, threshold, or a recall of at least .5 and below 1"
        raise SottovoceError("selection", rule, text) from None


def _check_modelled(selection: str, target: str) -> None:
    """Refuse options that a model does not have."""
    if selection != "smoothed":
        raise SottovoceError("selection", "must not be given with --model, whose supports decide", selection)
    if target != "population":
        raise SottovoceError("target", "must be population with --model", target)


@contextmanager
def _printed_warnings() -> Iterator[None]:
    """Print warnings on standard error, one a line, when the block has ended; they name the option."""
    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in recorded:
        text = str(warning.message).replace("min_support", "--min-support")
        typer.echo(f"warning: {text}", err=True)


def _show_itemsets(found: "Itemsets", level: float, *, raw: bool) -> None:
    say(found.headline)
    printed = found.top(MOST_ROWS)
    rows = [
        (
            ", ".join(map(str, row["items"])),
            f"{row['support']:.5f}",
            f"{row['low']:.5f} to {row['high']:.5f}",
            *((f"{row['estimate']:.5f} +- {row['standard_error']:.5f}",) if raw else ()),
            f"{row['probability']:.3f}",
        )
        for row in printed.ranked_rows(level, raw=raw)
    ]
    estimate = ("estimate",) if raw else ()
    headers = ("items", "support", interval_header(level), *estimate, "probability of being frequent")
    print_table(headers, rows)
    if len(found) > MOST_ROWS:
        say(f"{len(found) - MOST_ROWS} more sets are in the JSON.")
    if len(found):
        say(printed.picked.note(level))


@option_names
def rules(
    path: ReportsArgument,
    min_support: MinSupportOption,
    min_confidence: Annotated[
        float, typer.Option(help="Smallest confidence: proportion of those with the antecedents who have both.")
    ] = 0.8,
    plan: PlanOption = None,
    attributes: AttributesOption = None,
    selection: SelectionOption = "smoothed",
    longest: LongestOption = None,
    target: TargetOption = "population",
    model: ModelOption = False,
    sort_by: Annotated[str, typer.Option(help="Measure that rules are sorted by: confidence, lift, leverage ...")] = (
        "confidence"
    ),
    top: TopOption = None,
    halves: HalvesOption = False,
    seed: SeedOption = None,
    raw: RawOption = False,
    level: LevelOption = 0.95,
    json: JsonOption = None,
) -> None:
    """Find association rules in disguised data, with intervals that hold although the rules were picked."""
    from sottovoce.mining.rules import association_rules

    options: dict[str, Any] = {"model": model, "halves": halves, "seed": seed}
    sets = _mine(path, plan, min_support, attributes, selection, longest, target, **options)
    found = association_rules(sets, min_confidence, sort_by=sort_by.replace("-", " "), top=top)
    write_json(found.to_json(level, raw=raw), json)
    if json != "-":
        _show_rules(found, level, raw=raw)


def _show_rules(found: "Rules", level: float, *, raw: bool) -> None:
    say(found.headline)
    printed = found.top(MOST_ROWS)
    measures = ["confidence", "lift", *({found.sort_by} - {"support", "confidence", "lift"})]
    rows = [
        (
            ", ".join(map(str, row["antecedents"])),
            ", ".join(map(str, row["consequents"])),
            f"{row['support']:.5f}",
            *(cell for name in measures for cell in _measure_cells(row, name, raw=raw)),
        )
        for row in printed.to_rows(level, raw=raw)
    ]
    estimate = ("estimate",) if raw else ()
    headers = [header for name in measures for header in (name, interval_header(level), *estimate)]
    print_table(("antecedents", "consequents", "support", *headers), rows)
    if len(found) > MOST_ROWS:
        say(f"{len(found) - MOST_ROWS} more rules are in the JSON.")
    if len(found):
        say(printed.picked.note(level))


def _measure_cells(row: dict[str, Any], name: str, *, raw: bool) -> tuple[str, ...]:
    """Return a measure, its interval and, if wanted, its estimate; a dash stands for what is infinite or undefined."""
    value, low, high = (_number(row[key]) for key in (name, f"{name}_low", f"{name}_high"))
    shown = (value, f"{low} to {high}")
    if not raw:
        return shown
    return (*shown, f"{_number(row[f'{name}_estimate'])} +- {_number(row[f'{name}_standard_error'])}")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


app = typer.Typer(
    help="Mine disguised data: itemsets, rules, classifiers, graphs and regressions.", no_args_is_help=True
)
app.command()(itemsets)
app.command()(rules)
app.command()(mine_classify.classify)
app.command()(mine_graph.graph)
app.command()(mine_regress.regress)
