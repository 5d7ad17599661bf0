"""Definitions in YAML or JSON as values that know their lines, so that errors can name them.

Scalars stay text: `no` is a word here and not a boolean, `3:1` are odds and not 181 seconds.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NoReturn

import yaml

from sottovoce.errors import SottovoceError, Words

MOST_DIGITS = 18
"""Of a whole number: Python refuses to read much longer ones."""
MOST_CHARACTERS = 2**20
"""Length of a definition; a survey is a few kilobytes."""

DEEPEST = 20
"""Lists and mappings within each other."""

HINTS = {"mapping values are not allowed here": "a text that holds a colon needs quotation marks around it"}
"""What to do about the mistake that is made most often."""


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


def read_located(text: str, source: str = "survey") -> Located:
    """Parse YAML, or JSON, which is YAML but for its tabs; refuse aliases and repeated keys.

    >>> read_located("odds: 3:1").value["odds"].value
    '3:1'
    """
    if len(text) > MOST_CHARACTERS:
        raise SottovoceError(source, f"must have at most {MOST_CHARACTERS} characters", len(text))
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        text = text.replace("\t", " ")
    try:
        _check_events(text, source)
        node = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.reader.ReaderError as reason:
        line = text.count("\n", 0, reason.position) + 1
        raise SottovoceError(source, f"must have no control characters (line {line})", text[reason.position]) from None
    except yaml.MarkedYAMLError as reason:
        raise _unreadable(source, text, reason) from None
    if node is None:
        raise SottovoceError(source, "must not be empty", Words("nothing"))
    return _located(node, source)


def _check_events(text: str, source: str) -> None:
    """Refuse what could grow without bounds: aliases, and mappings in mappings in mappings ..."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.BaseLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent) or depth > DEEPEST:
            rule = f"must not use aliases, nor be nested deeper than {DEEPEST} (line {_line(event.start_mark)})"
            raise SottovoceError(source, rule, Words("such a text"))


def _line(mark: Any) -> int:
    return int(mark.line) + 1


def _unreadable(source: str, text: str, reason: yaml.MarkedYAMLError) -> SottovoceError:
    """What the parser says and where; also where it began, for a mistake is often noticed later than it is made."""
    noticed: Any = reason.problem_mark
    begun: Any = reason.context_mark or noticed
    rule = f"must be YAML or JSON: {reason.problem} (line {_line(noticed)}, column {noticed.column + 1})"
    if begun.line != noticed.line:
        rule += f", {reason.context} (line {_line(begun)})"
    if reason.problem in HINTS:
        rule += f"; {HINTS[reason.problem]}"
    lines = text.splitlines()
    place = begun.line if str(reason.context).startswith("while scanning") else noticed.line
    return SottovoceError(source, rule, lines[min(place, len(lines) - 1)].strip())  # the end is no line of its own


def _located(node: Any, name: str) -> Located:
    line = _line(node.start_mark)
    if isinstance(node, yaml.SequenceNode):
        return Located([_located(part, f"{name}[{place}]") for place, part in enumerate(node.value)], name, line)
    if isinstance(node, yaml.ScalarNode):
        empty = node.style is None and node.value in ("", "~", "null")
        return Located(None if empty else _joined(node.value, name, line), name, line)
    found: dict[str, Located] = {}
    for key, part in node.value:
        at = _line(key.start_mark)
        if not isinstance(key, yaml.ScalarNode) or key.value in found:
            given = key.value if isinstance(key, yaml.ScalarNode) else Words("a list or a mapping as a key")
            raise SottovoceError(name, f"must have keys that are texts and differ (line {at})", given)
        found[key.value] = _located(part, key.value if name == "survey" else f"{name}.{key.value}")
    return Located(found, name, line)


def _joined(text: str, name: str, line: int) -> str:
    """Put surrogate pairs together, as JSON writes characters beyond U+FFFF."""
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise SottovoceError(name, f"must be Unicode text (line {line})", text) from None
