"""What running a table or figure again gives: rows, notes, and a picture."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from papers.comparison import Row

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Rerun:
    """Rows of one table or figure. `notes` say what the rows share.

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
