"""`sottovoce mine`: itemsets, rules, classifiers and graphs, from disguised data alone."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli import mine_classify, mine_graph
from sottovoce.cli.output import (
    FileArgument,
    JsonOption,
    LevelOption,
    PlanOption,
    emit,
    names,
    progress_bars,
    say,
    table,
)

if TYPE_CHECKING:
    from sottovoce.mining.itemsets.result import Itemsets
    from sottovoce.mining.rules import Rules

SupportOption = Annotated[float, typer.Option(help="Smallest share of the transactions.")]
AttributesOption = Annotated[str | None, typer.Option(help="Of these attributes only: a,b.")]
RecallOption = Annotated[
    float | None, typer.Option(help="Chance of a frequent set to pass; .5: bare threshold. By default, few false sets.")
]
LongestOption = Annotated[int | None, typer.Option(help="Items of a set, at the most.")]
TargetOption = Annotated[
    str | None, typer.Option(help="table (unless by a model), or the population it is a sample of.")
]
ModelOption = Annotated[
    bool, typer.Option("--model", help="By a model of joint cells: of tables under any plan, or of long sets of items.")
]

MOST_ROWS = 60
"""Rows of the table for people; the JSON has all."""


def itemsets(
    path: FileArgument,
    min_support: SupportOption,
    plan: PlanOption = None,
    attributes: AttributesOption = None,
    recall: RecallOption = None,
    longest: LongestOption = None,
    target: TargetOption = None,
    model: ModelOption = False,
    keep: Annotated[str, typer.Option(help="Show all sets, or maximal or closed ones.")] = "all",
    level: LevelOption = 0.95,
    json: JsonOption = None,
) -> None:
    """Find frequent itemsets, with standard errors and intervals, from reports alone."""
    found = mined(path, plan, min_support, attributes, recall, longest, target, model=model)
    shown = _kept(found, keep)
    document = shown.to_json(level)
    emit(document, json)
    if json != "-":
        _show_itemsets(shown, document)


def mined(
    path: str,
    plan: str | None,
    min_support: float,
    attributes: str | None,
    recall: float | None,
    longest: int | None,
    target: str | None,
    *,
    model: bool = False,
) -> "Itemsets":
    """Mine a file, with a bar for each length."""
    from sottovoce.mining.itemsets.frequent import frequent_itemsets
    from sottovoce.mining.itemsets.modelled import modelled_itemsets
    from sottovoce.tables.plan_file import plan_of_reports

    agreed = plan_of_reports(path, plan)
    options: dict[str, Any] = {"attributes": names(attributes) or None, "longest": longest}
    with progress_bars() as move, said_as_remarks():
        options["progress"] = lambda length, done, total: move(f"length {length}" if length else "model", done, total)
        if model:
            _check_modelled(recall, target)
            return modelled_itemsets(path, agreed, min_support, **options)
        options |= {"recall": recall, "target": target or "table"}
        return frequent_itemsets(path, agreed, min_support, **options)


def _check_modelled(recall: float | None, target: str | None) -> None:
    """Refuse what a model has no choice of."""
    from sottovoce.errors import SottovoceError

    if recall is not None:
        raise SottovoceError("recall", "must not be given with a model, whose supports decide by themselves", recall)
    if target not in {None, "population"}:
        raise SottovoceError("target", "must be population with a model", target)


@contextmanager
def said_as_remarks() -> Iterator[None]:
    """Say warnings in a line each, after the work is done."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in given:
        typer.echo(f"warning: {warning.message}", err=True)


def _kept(found: "Itemsets", keep: str) -> "Itemsets":
    from sottovoce.errors import SottovoceError

    ways = {"all": lambda: found, "maximal": found.maximal, "closed": found.closed}
    if keep not in ways:
        raise SottovoceError("keep", f"must be one of {', '.join(ways)}", keep)
    return ways[keep]()


def _show_itemsets(found: "Itemsets", document: dict[str, Any]) -> None:
    """Table for people."""
    say(found.headline)
    rows = [
        (
            ", ".join(map(str, row["items"])),
            f"{row['support']:.5f}",
            f"{row['standard_error']:.5f}",
            f"{row['low']:.5f} to {row['high']:.5f}",
            f"{row['probability']:.3f}",
        )
        for row in largest(document["itemsets"], MOST_ROWS)
    ]
    table(("items", "support", "standard error", f"{document['level']:.0%} interval", "truly frequent"), rows)
    if len(found) > MOST_ROWS:
        say(f"{len(found) - MOST_ROWS} more sets are in the JSON.")


def largest(rows: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """So many sets, shared among the lengths: of each those with the highest supports, the highest first.

    >>> sets = [(1, 0.5), (1, 0.7), (1, 0.6), (2, 0.4), (2, 0.45), (3, 0.3)]
    >>> rows = [{"length": length, "support": support} for length, support in sets]
    >>> [(row["length"], row["support"]) for row in largest(rows, 4)]
    [(1, 0.7), (1, 0.6), (2, 0.45), (3, 0.3)]
    """
    by_length: dict[int, list[dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: -row["support"]):
        by_length.setdefault(row["length"], []).append(row)
    shown, room, left = [], most, len(by_length)
    for own in sorted(by_length.values(), key=len):
        shown += own[: room // left]
        room, left = most - len(shown), left - 1
    return sorted(shown, key=lambda row: row["length"])


def rules(
    path: FileArgument,
    min_support: SupportOption,
    min_confidence: Annotated[
        float, typer.Option(help="Smallest share of those with the one to have the other.")
    ] = 0.8,
    plan: PlanOption = None,
    attributes: AttributesOption = None,
    recall: RecallOption = None,
    longest: LongestOption = None,
    target: TargetOption = None,
    model: ModelOption = False,
    level: LevelOption = 0.95,
    json: JsonOption = None,
) -> None:
    """Find association rules, with standard errors and intervals, from reports alone."""
    from sottovoce.mining.rules import association_rules

    sets = mined(path, plan, min_support, attributes, recall, longest, target, model=model)
    found = association_rules(sets, min_confidence)
    document = found.to_json(level)
    emit(document, json)
    if json != "-":
        _show_rules(found, document)


def _show_rules(found: "Rules", document: dict[str, Any]) -> None:
    """Table for people."""
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
    interval = f"{document['level']:.0%} interval"
    table(("antecedents", "consequents", "support", "confidence", interval, "lift", interval), rows)
    if len(found) > MOST_ROWS:
        say(f"{len(found) - MOST_ROWS} more rules are in the JSON.")


app = typer.Typer(help="Mine disguised data: what goes together, and what predicts what.", no_args_is_help=True)
app.command("itemsets")(itemsets)
app.command("rules")(rules)
app.command("classify")(mine_classify.classify)
app.command("graph")(mine_graph.graph)
