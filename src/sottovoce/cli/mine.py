"""`sottovoce mine`: itemsets, rules, classifiers and graphs, from disguised data alone."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli import mine_classify, mine_graph
from sottovoce.cli.options import JsonOption, LevelOption, PlanOption, ReportsArgument, option_errors, split_names
from sottovoce.cli.output import interval_header, print_table, progress_bars, say, write_json
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

MOST_ROWS = 60
"""Most rows of the printed table; the JSON has all."""

option_names = option_errors(name="attributes", table="path")


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
    level: LevelOption = 0.95,
    json: JsonOption = None,
) -> None:
    """Find frequent itemsets in disguised data, with standard errors and intervals."""
    from sottovoce.checks import one_of

    one_of("keep", keep, ("all", "maximal", "closed"))
    found = _mine(path, plan, min_support, attributes, selection, longest, target, model=model)
    shown = found if keep == "all" else found.maximal() if keep == "maximal" else found.closed()
    document = shown.to_json(level)
    write_json(document, json)
    if json != "-":
        _show_itemsets(shown, document)


def _mine(
    path: str,
    plan: str | None,
    min_support: float,
    attributes: str | None,
    selection: str,
    longest: int | None,
    target: str,
    *,
    model: bool = False,
) -> "Itemsets":
    """Find frequent itemsets in a file, with a progress bar for each length."""
    from sottovoce.mining.itemsets.frequent import frequent_itemsets
    from sottovoce.mining.itemsets.pattern_model import modelled_itemsets
    from sottovoce.tables.plan_file import plan_of_reports

    agreed = plan_of_reports(path, plan)
    options: dict[str, Any] = {"attributes": split_names(attributes) or None, "longest": longest}
    with progress_bars() as move, _printed_warnings():
        options["progress"] = lambda length, done, total: move(f"length {length}" if length else "model", done, total)
        if model:
            _check_modelled(selection, target)
            return modelled_itemsets(path, agreed, min_support, **options)
        options |= {"selection": _selection(selection), "target": target}
        return frequent_itemsets(path, agreed, min_support, **options)


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


def _show_itemsets(found: "Itemsets", document: dict[str, Any]) -> None:
    say(found.headline)
    rows = [
        (
            ", ".join(map(str, row["items"])),
            f"{row['support']:.5f}",
            f"{row['standard_error']:.5f}",
            f"{row['low']:.5f} to {row['high']:.5f}",
            f"{row['probability']:.3f}",
        )
        for row in select_rows(document["itemsets"], MOST_ROWS)
    ]
    interval = interval_header(document["level"])
    print_table(("items", "support", "standard error", interval, "probability of being frequent"), rows)
    if len(found) > MOST_ROWS:
        say(f"{len(found) - MOST_ROWS} more sets are in the JSON.")


def select_rows(rows: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Select so many sets, divided among the lengths: of each length, those with the highest supports.

    >>> sets = [(1, 0.5), (1, 0.7), (1, 0.6), (2, 0.4), (2, 0.45), (3, 0.3)]
    >>> rows = [{"length": length, "support": support} for length, support in sets]
    >>> [(row["length"], row["support"]) for row in select_rows(rows, 4)]
    [(1, 0.7), (1, 0.6), (2, 0.45), (3, 0.3)]
    """
    by_length: dict[int, list[dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: -row["support"]):
        by_length.setdefault(row["length"], []).append(row)
    selected, room, left = [], most, len(by_length)
    for of_length in sorted(by_length.values(), key=len):
        selected += of_length[: room // left]
        room, left = most - len(selected), left - 1
    return sorted(selected, key=lambda row: row["length"])


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
    level: LevelOption = 0.95,
    json: JsonOption = None,
) -> None:
    """Find association rules in disguised data, with standard errors and intervals."""
    from sottovoce.mining.rules import association_rules

    sets = _mine(path, plan, min_support, attributes, selection, longest, target, model=model)
    found = association_rules(sets, min_confidence)
    document = found.to_json(level)
    write_json(document, json)
    if json != "-":
        _show_rules(found, document)


def _show_rules(found: "Rules", document: dict[str, Any]) -> None:
    say(found.headline)
    rows = [
        (
            ", ".join(map(str, row["antecedents"])),
            ", ".join(map(str, row["consequents"])),
            f"{row['support']:.5f}",
            f"{row['confidence']:.4f}",
            f"{row['confidence_low']:.4f} to {row['confidence_high']:.4f}",
            f"{row['lift']:.3f}",
            f"{row['lift_low']:.3f} to {row['lift_high']:.3f}",
        )
        for row in document["rules"][:MOST_ROWS]
    ]
    interval = interval_header(document["level"])
    print_table(("antecedents", "consequents", "support", "confidence", interval, "lift", interval), rows)
    if len(found) > MOST_ROWS:
        say(f"{len(found) - MOST_ROWS} more rules are in the JSON.")


app = typer.Typer(help="Mine disguised data: itemsets, rules, classifiers and graphs.", no_args_is_help=True)
app.command()(itemsets)
app.command()(rules)
app.command()(mine_classify.classify)
app.command()(mine_graph.graph)
