"""`sottovoce mine rules`: what follows from what, from a disguised file."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.mine_itemsets import (
    MOST_ROWS,
    AttributesOption,
    LongestOption,
    ModelOption,
    RecallOption,
    SupportOption,
    TargetOption,
    mined,
)
from sottovoce.cli.output import FileArgument, JsonOption, LevelOption, PlanOption, emit, say, table

if TYPE_CHECKING:
    from sottovoce.mine.rules import Rules


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
    from sottovoce.mine.associated import association_rules

    sets = mined(path, plan, min_support, attributes, recall, longest, target, model=model)
    found = association_rules(sets, min_confidence)
    document = found.to_json(level)
    emit(document, json)
    if json != "-":
        _show(found, document)


def _show(found: "Rules", document: dict[str, Any]) -> None:
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
