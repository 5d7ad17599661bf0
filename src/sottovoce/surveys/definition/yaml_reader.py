"""YAML and JSON as values that know their names and lines, so that errors can state them.

Scalars stay text: `no` is a word and not a boolean, `3:1` are odds and not 181 seconds.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NoReturn

import yaml

from sottovoce.errors import SottovoceError, Words

MOST_DIGITS = 18
"""Most digits of a whole number; Python refuses to read much longer ones."""

MOST_CHARACTERS = 2**20
"""Most characters of a definition; a usual one has a few thousand."""

MOST_NESTED = 20
"""Most lists and mappings inside each other."""

HINTS = {"mapping values are not allowed here": "a text that contains a colon needs quotation marks around it"}
"""What to do about the most frequent mistake."""


@dataclass(frozen=True)
class YamlValue:
    """A text, list, mapping or None, with its name in the document and its line."""

    value: Any
    name: str
    line: int

    def fail(self, rule: str, value: Any = None) -> NoReturn:
        """Raise an error about this value that names its line."""
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
        """Return a text that is not empty."""
        if not isinstance(self.value, str) or not self.value.strip():
            self.fail("must be a text that is not empty")
        return self.value.strip()

    def choice(self, allowed: Collection[str]) -> str:
        """Return one of some words."""
        if self.value not in allowed:
            self.fail(f"must be one of {', '.join(allowed)}")
        return str(self.value)

    def whole(self, least: int, most: int) -> int:
        """Return a whole number in a range."""
        number = parse_whole_number(self.value)
        if number is None or not least <= number <= most:
            self.fail(f"must be a whole number from {least} to {most}")
        return number

    def entries(self) -> "list[YamlValue]":
        """Return a list that is not empty."""
        if not isinstance(self.value, list) or not self.value:
            self.fail("must be a list that is not empty")
        return list(self.value)

    def mapping(self) -> "dict[str, YamlValue]":
        """Return a mapping that is not empty."""
        if not isinstance(self.value, dict) or not self.value:
            self.fail("must be a mapping of names to values")
        return dict(self.value)

    def fields(self, required: Collection[str], optional: Collection[str] = ()) -> "dict[str, YamlValue]":
        """Return a mapping that has all required keys and no others but the optional ones."""
        fields = self.mapping()
        for key, value in fields.items():
            if key not in required and key not in optional:
                value.fail(f"is not known here; known are {', '.join([*required, *optional])}")
        for key in required:
            if key not in fields:
                self.fail(f"must have {key}", list(fields))
        return fields


def parse_whole_number(value: Any) -> int | None:
    """Return the whole number that a text represents, or None.

    >>> parse_whole_number("12"), parse_whole_number("1.5")
    (12, None)
    """
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) <= MOST_DIGITS else None


def read_yaml(text: str, source: str = "survey") -> YamlValue:
    """Parse YAML or JSON; refuse aliases, repeated keys and deep nesting.

    >>> read_yaml("odds: 3:1").value["odds"].value
    '3:1'
    """
    if len(text) > MOST_CHARACTERS:
        raise SottovoceError(source, f"must have at most {MOST_CHARACTERS} characters", len(text))
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        text = text.replace("\t", " ")  # JSON is YAML, except that it may be indented with tabs
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
    return _yaml_value(node, source)


def _check_events(text: str, source: str) -> None:
    """Refuse aliases and deep nesting, with which a short text can become very large."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.BaseLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent) or depth > MOST_NESTED:
            rule = f"must not use aliases, nor be nested deeper than {MOST_NESTED} (line {_line(event.start_mark)})"
            raise SottovoceError(source, rule, Words("such a text"))


def _line(mark: Any) -> int:
    return int(mark.line) + 1


def _unreadable(source: str, text: str, reason: yaml.MarkedYAMLError) -> SottovoceError:
    """Return an error with the parser's problem and line, and the line where the parsed part began if that differs."""
    problem: Any = reason.problem_mark
    start: Any = reason.context_mark or problem
    rule = f"must be YAML or JSON: {reason.problem} (line {_line(problem)}, column {problem.column + 1})"
    if start.line != problem.line:
        rule += f", {reason.context} (line {_line(start)})"
    if reason.problem in HINTS:
        rule += f"; {HINTS[reason.problem]}"
    lines = text.splitlines()
    shown = start.line if str(reason.context).startswith("while scanning") else problem.line
    return SottovoceError(source, rule, lines[min(shown, len(lines) - 1)].strip())  # the problem may be the end


def _yaml_value(node: Any, name: str) -> YamlValue:
    line = _line(node.start_mark)
    if isinstance(node, yaml.SequenceNode):
        return YamlValue([_yaml_value(part, f"{name}[{index}]") for index, part in enumerate(node.value)], name, line)
    if isinstance(node, yaml.ScalarNode):
        empty = node.style is None and node.value in ("", "~", "null")
        return YamlValue(None if empty else _join_surrogates(node.value, name, line), name, line)
    values: dict[str, YamlValue] = {}
    for key, part in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value in values:
            shown = key.value if isinstance(key, yaml.ScalarNode) else Words("a list or a mapping as a key")
            raise SottovoceError(name, f"must have different texts as keys (line {_line(key.start_mark)})", shown)
        values[key.value] = _yaml_value(part, key.value if name == "survey" else f"{name}.{key.value}")
    return YamlValue(values, name, line)


def _join_surrogates(text: str, name: str, line: int) -> str:
    """Join surrogate pairs, with which JSON writes characters beyond U+FFFF."""
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise SottovoceError(name, f"must be Unicode text (line {line})", text) from None
