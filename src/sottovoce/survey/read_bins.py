"""Bins of a question for a number: where it is cut, and what people read."""

from collections.abc import Mapping
from math import inf

from sottovoce.errors import SottovoceError
from sottovoce.schema.binned import Binned, Side
from sottovoce.survey.located import Located
from sottovoce.survey.question import Answer, Bins
from sottovoce.survey.texts import formula, read_texts

LEAST_EDGES = 3
MOST_BINS = 256


def read_bins(given: Located, fields: Mapping[str, Located]) -> Bins:
    """Where a number is cut: increasing numbers that make two bins or more."""
    if "edges" not in fields:
        given.fail("must have edges")
    side = fields["closed"].choice(("left", "right")) if "closed" in fields else "left"
    closed: Side = "left" if side == "left" else "right"
    if len(fields["edges"].entries()) < LEAST_EDGES:
        fields["edges"].fail(f"must be at least {LEAST_EDGES} numbers, which make two bins")
    if len(fields["edges"].entries()) > MOST_BINS + 1:
        fields["edges"].fail(f"must make at most {MOST_BINS} bins", len(fields["edges"].entries()))
    try:
        numbers = [float(entry.text()) for entry in fields["edges"].entries()]
        cut = Binned("number", numbers, closed=closed, labels=[str(bin_) for bin_ in range(len(numbers) - 1)])
    except ValueError as reason:
        rule = reason.rule if isinstance(reason, SottovoceError) else "must be numbers"
        fields["edges"].fail(rule)
    return Bins(tuple(cut.to_json()["edges"]), closed)


def bin_answers(fields: Mapping[str, Located], bins: Bins, languages: tuple[str, ...]) -> tuple[Answer, ...]:
    """Bins are called by their ends; a person reads those, or the labels that were given."""
    names = Binned("number", map(float, bins.edges), closed="left" if bins.closed == "left" else "right").categories
    if "labels" not in fields:
        ends = [_ends(bins, place) for place in range(len(names))]
        return tuple(
            Answer(str(name), {tag: formula(said, tag) for tag in languages})
            for name, said in zip(names, ends, strict=True)
        )
    labels = fields["labels"].entries()
    if len(labels) != len(names):
        fields["labels"].fail(f"must name each of the {len(names)} bins")
    return tuple(Answer(str(name), read_texts(label, languages)) for name, label in zip(names, labels, strict=True))


def _ends(bins: Bins, place: int) -> str:
    """Ends of a bin in signs that need no translation."""
    low, high = bins.edges[place : place + 2]
    below, above = ("<", "≥") if bins.closed == "left" else ("≤", ">")
    if float(low) == -inf:
        return f"{below} {high}"
    return f"{above} {low}" if float(high) == inf else f"{above} {low}, {below} {high}"
