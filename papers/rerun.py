"""What running a table or figure again gives: rows with a verdict each, notes, and a picture."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Progress = Callable[[int, int | None], None]
Verdict = Literal["reproduced", "differs", "claim holds", "claim fails"]


@dataclass(frozen=True)
class Row:
    """A published number or claim beside ours; `spread` is the standard deviation of ours over repetitions."""

    name: str
    published: float | int | str | None
    ours: float | int | str | None
    verdict: Verdict
    spread: float | None = None


@dataclass(frozen=True)
class Rerun:
    """Rows of one table or figure. `notes` give the investigated reason of everything that differs.

    `draw` puts the picture on a matplotlib figure.
    """

    settings: dict[str, Any]
    rows: Sequence[Row]
    notes: Sequence[str] = ()
    draw: Callable[[Any], None] | None = field(default=None, repr=False)


class Module(Protocol):
    """What a module of this folder has."""

    TITLE: str
    SOURCE: str

    @staticmethod
    def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
        """Run it; `quick` is small enough for a test, and says in its settings what it left out."""


def compared(name: str, published: float, ours: float, tolerance: float, spread: float | None = None) -> Row:
    """Row of a printed number: reproduced if ours is within the tolerance.

    >>> compared("g", 0.2507, 0.25068, tolerance=1e-4).verdict
    'reproduced'
    """
    verdict: Verdict = "reproduced" if abs(ours - published) <= tolerance else "differs"
    return Row(name, published, ours, verdict, spread)


def claimed(name: str, claim: str, ours: float | int | str, *, holds: bool) -> Row:
    """Row of a claim in words, and what we find.

    >>> claimed("range", "wider than Warner's", "wider", holds=True).verdict
    'claim holds'
    """
    return Row(name, claim, ours, "claim holds" if holds else "claim fails")
