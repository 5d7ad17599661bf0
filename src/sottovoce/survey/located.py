"""Values read from YAML or JSON that know on which line they stand, so that errors can say it.

Scalars stay text: `no` is a word here and not a boolean, `3:1` are odds and not 181 seconds.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NoReturn

from sottovoce.errors import SottovoceError, Words

MOST_DIGITS = 18
"""Of a whole number: Python refuses to read much longer ones."""


@dataclass(frozen=True)
class Located:
    """A text, a list, a mapping or nothing, its name in the document, and its line."""

    value: Any
    name: str
    line: int

    def fail(self, rule: str, value: Any = None) -> NoReturn:
        """Refuse this value: parameter, rule, line, value."""
        raise SottovoceError(self.name, f"{rule} (line {self.line})", self.plain if value is None else value)

    @property
    def plain(self) -> Any:
        """The value without names and lines."""
        if isinstance(self.value, dict):
            return {key: part.plain for key, part in self.value.items()}
        if isinstance(self.value, list):
            return [part.plain for part in self.value]
        return Words("nothing") if self.value is None else self.value

    def text(self) -> str:
        """A text that is not empty."""
        if not isinstance(self.value, str) or not self.value.strip():
            self.fail("must be a text that is not empty")
        return self.value.strip()

    def choice(self, allowed: Collection[str]) -> str:
        """One of a few words."""
        if self.value not in allowed:
            self.fail(f"must be one of {', '.join(allowed)}")
        return str(self.value)

    def whole(self, least: int, most: int) -> int:
        """A whole number in a range."""
        found = whole_number(self.value)
        if found is None or not least <= found <= most:
            self.fail(f"must be a whole number from {least} to {most}")
        return found

    def entries(self) -> "list[Located]":
        """A list that is not empty."""
        if not isinstance(self.value, list) or not self.value:
            self.fail("must be a list that is not empty")
        return list(self.value)

    def mapping(self) -> "dict[str, Located]":
        """Any keys, at least one."""
        if not isinstance(self.value, dict) or not self.value:
            self.fail("must be a mapping of names to values")
        return dict(self.value)

    def fields(self, required: Collection[str], optional: Collection[str] = ()) -> "dict[str, Located]":
        """Exactly these keys, the optional ones only if they are there."""
        found = self.mapping()
        for key, part in found.items():
            if key not in required and key not in optional:
                part.fail(f"is not known here; known are {', '.join([*required, *optional])}")
        for key in required:
            if key not in found:
                self.fail(f"must have {key}", list(found))
        return found


def whole_number(value: Any) -> int | None:
    """Whole number that a text is, if it is one.

    >>> whole_number("12"), whole_number("1.5")
    (12, None)
    """
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) <= MOST_DIGITS else None
