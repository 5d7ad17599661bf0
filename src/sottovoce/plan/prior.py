"""Where the prior behind a design came from: a plan made from private data publishes them."""

from dataclasses import dataclass
from typing import Any

from sottovoce.errors import SottovoceError

SOURCES = ("public", "pilot", "private")


@dataclass(frozen=True)
class PriorSource:
    """`source` is "public" (a published table), "pilot" (an earlier disguised sample) or "private".

    Private priors are refused unless forced, and a forced one says so in the plan for everyone to see.

    >>> PriorSource("public", "census 2021, table 4").to_json()
    {'source': 'public', 'note': 'census 2021, table 4'}
    """

    source: str
    note: str
    forced: bool = False

    def __post_init__(self) -> None:
        """Refuse unknown sources, empty notes, and private data unless forced."""
        if self.source not in SOURCES:
            raise SottovoceError("source", f"must be one of {', '.join(SOURCES)}", self.source)
        if not isinstance(self.note, str) or not self.note:
            raise SottovoceError("note", "must say where the prior comes from", self.note)
        if self.source == "private" and not self.forced:
            rule = "must not be private: the plan is public and would publish it (force it with forced=True)"
            raise SottovoceError("source", rule, self.source)

    def to_json(self) -> dict[str, Any]:
        """Source and note, and that it was forced if it was."""
        json: dict[str, Any] = {"source": self.source, "note": self.note}
        return json | {"forced": True} if self.forced else json
