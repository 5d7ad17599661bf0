"""What `sottovoce estimate` prints for people."""

from typing import TYPE_CHECKING, Any

from sottovoce.cli.output import say, table

if TYPE_CHECKING:
    from sottovoce.estimate.comparison import Comparison
    from sottovoce.estimate.derived import Derived
    from sottovoce.estimate.estimate import Estimate
    from sottovoce.estimate.independence import IndependenceTest

MOST_ROWS = 200
"""Cells of a table for people; the JSON has all."""

BOOTSTRAP = "Where there is no interval by the delta method, --interval bootstrap may give one."


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
    from sottovoce.estimate.remarks import remarks

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
